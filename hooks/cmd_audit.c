/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "commands.h"
#include "program/memory.h"
#include "program/output.h"
#include "release/audit_print.h"
#include "release/operand.h"
#include "program/say.h"
#include "program/status.h"

enum { TAKE_CLASS, TAKE_FORMAT, TAKE_PREFIX };

struct request {
	enum imgcheck_class class; /* the weakest class that has to be listed */
	audit_print_fn print;
	const char *prefix;
};

static const struct {
	const char *name;
	audit_print_fn print;
} formats[] = {
	{ "text", audit_print_text },
	{ "json", audit_print_json },
	{ "markdown", audit_print_markdown },
	{ "list", audit_print_list },
};

static const struct flag audit_flags[] = {
	{ "class", "required|mentioned|all", "image fields only, arguments and values too, or hints as well (mentioned)", TAKE_CLASS },
	{ "prefix", "REGISTRY", "what stands before each name of the list: host[:port][/prefix]", TAKE_PREFIX },
	{ "format", "text|json|markdown|list", "how to print what was found (text)", TAKE_FORMAT },
	{ 0 },
};

static int audit_take(void *arg, int id, const char *value)
{
	struct request *r = arg;

	switch (id) {
	case TAKE_CLASS:
		if (input_class(value, &r->class))
			return 0;
		return say_usage("audit", "--class %s: it is required, mentioned or all", value);
	case TAKE_PREFIX:
		r->prefix = value;
		return 0;
	default:
		for (size_t i = 0; i < COUNT(formats); i++)
			if (!strcmp(value, formats[i].name)) {
				r->print = formats[i].print;
				return 0;
			}
		return say_usage("audit", "--format %s: it is text, json, markdown or list", value);
	}
}

/* The list is one for all architectures, though `{{ arch }}` may stand in it. */
static int collect_list(struct needs *n, const struct input *what, const char *list, const char *prefix)
{
	AUTO(lines) struct lines paths = { 0 };
	AUTO(input) struct input in = { 0 };
	int status;

	input_copy(what, NULL, &in);
	in.target.dir = in.old.dir = in.snap_config = NULL;
	lines_add(&paths, list);
	status = needs_collect(n, &in, &paths);
	n->is_list = true;
	return !status && prefix ? needs_prefix(n, prefix) : status;
}

/* A packed snap among the paths is unpacked; an unpacked one is the target. */
static int collect_needs(struct needs *n, const struct input *what, const struct lines *paths, enum imgcheck_class class)
{
	AUTO(operand) struct operand operand = { 0 };
	AUTO(lines) struct lines rest = { 0 };
	AUTO(input) struct input in = { 0 };
	int status = 0;

	input_copy(what, NULL, &in);
	if (paths->count == 2 && !what->target.dir) {
		status = operand_open(&operand, what->command, paths->line[1]);
		if (status)
			return status;
		operand_set(&operand, &in, &rest);
	} else {
		for (size_t i = 1; i < paths->count; i++)
			lines_add(&rest, paths->line[i]);
	}
	status = needs_collect(n, &in, &rest);
	if (!status)
		needs_keep(n, class);
	return status;
}

static int run(const struct request *r, const struct input *what, const struct lines *paths)
{
	AUTO(needs) struct needs list = { 0 };
	AUTO(needs) struct needs needs = { 0 };
	AUTO(comparison) struct comparison comparison = { 0 };
	AUTO(output) struct output out = { 0 };
	struct audit a = { &comparison, paths->line[0], &what->archs };
	int status = collect_list(&list, what, paths->line[0], r->prefix), unread;

	status = status ? status : collect_needs(&needs, what, paths, r->class);
	if (status)
		return status;
	unread = needs_say_problems(&list);
	unread |= needs_say_problems(&needs);
	compare_needs(&comparison, &list, &needs);
	output_open(&out);
	r->print(&a, out.stream);
	status = output_finish(&out, stdout, NULL);
	if (status || unread)
		return status ? status : STATUS_UNREADABLE;
	return audit_missing(&a) ? STATUS_DIFFERENT : STATUS_OK;
}

int cmd_audit(char *const *argv)
{
	struct request r = { .class = IMGCHECK_CLASS_MENTIONED, .print = audit_print_text };
	AUTO(input) struct input in = { .command = "audit" };
	AUTO(lines) struct lines paths = { 0 };
	const struct flag_group groups[] = {
		{ audit_flags, audit_take, &r },
		{ input_arch_flags, input_take, &in },
		{ input_target_flags, input_take, &in },
		{ input_value_flags, input_take, &in },
	};
	const struct command_line line = {
		.command = "audit",
		.usage = "[OPTION]... LIST [PATH]...",
		.about = "Prints which images the files and folders need that the list does not have, and which it has for nothing.  "
			 "LIST#KEY is one line of a list.",
		.notes = "Exit status: 0 all that is needed is listed, 1 something is not, 2 usage, 5 something cannot be read, "
			 "70 internal error.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &paths, NULL);

	if (status != STATUS_GO)
		return status;
	if (!paths.count)
		return say_usage("audit", "which list? give LIST and what needs the images");
	if (paths.count == 1 && !in.target.dir)
		return say_usage("audit", "who needs the images? give a path or --target");
	return run(&r, &in, &paths);
}
