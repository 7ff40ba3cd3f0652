/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "commands.h"
#include "program/output.h"
#include "release/diff_print.h"
#include "release/operand.h"
#include "program/say.h"
#include "program/status.h"

enum { TAKE_CLASS, TAKE_FORMAT };

struct request {
	enum imgcheck_class class; /* the weakest class to compare */
	diff_print_fn print;
};

static const struct {
	const char *name;
	diff_print_fn print;
} formats[] = {
	{ "text", diff_print_text },
	{ "json", diff_print_json },
	{ "markdown", diff_print_markdown },
	{ "list", diff_print_list },
};

static const struct flag diff_flags[] = {
	{ "class", "required|mentioned|all", "image fields only, arguments and values too, or hints as well (all)", TAKE_CLASS },
	{ "format", "text|json|markdown|list", "how to print what changed (text)", TAKE_FORMAT },
	{ 0 },
};

static int diff_take(void *arg, int id, const char *value)
{
	struct request *r = arg;

	if (id == TAKE_CLASS) {
		if (input_class(value, &r->class))
			return 0;
		return say_usage("diff", "--class %s: it is required, mentioned or all", value);
	}
	for (size_t i = 0; i < COUNT(formats); i++)
		if (!strcmp(value, formats[i].name)) {
			r->print = formats[i].print;
			return 0;
		}
	return say_usage("diff", "--format %s: it is text, json, markdown or list", value);
}

static int collect(struct needs *n, const struct input *what, const char *name, enum imgcheck_class class)
{
	AUTO(operand) struct operand operand = { 0 };
	AUTO(lines) struct lines paths = { 0 };
	AUTO(input) struct input one = { 0 };
	int status = operand_open(&operand, what->command, name);

	if (status)
		return status;
	input_copy(what, NULL, &one);
	operand_set(&operand, &one, &paths);
	status = needs_collect(n, &one, &paths);
	n->is_list = needs_are_listed(n);
	if (!status)
		needs_keep(n, class);
	return status;
}

static int print(const struct diff *d, diff_print_fn print_it)
{
	AUTO(output) struct output out = { 0 };

	output_open(&out);
	print_it(d, out.stream);
	return output_finish(&out, stdout, NULL);
}

static int run(const struct request *r, const struct input *what, const struct lines *names)
{
	AUTO(needs) struct needs before = { 0 };
	AUTO(needs) struct needs after = { 0 };
	AUTO(comparison) struct comparison comparison = { 0 };
	struct diff d = { &comparison, names->line[0], names->line[1], &what->archs };
	int status = collect(&before, what, names->line[0], r->class), unread;

	status = status ? status : collect(&after, what, names->line[1], r->class);
	if (status)
		return status;
	unread = needs_say_problems(&before);
	unread |= needs_say_problems(&after);
	compare_needs(&comparison, &before, &after);
	status = print(&d, r->print);
	if (status || unread)
		return status ? status : STATUS_UNREADABLE;
	return comparison.count ? STATUS_DIFFERENT : STATUS_OK;
}

int cmd_diff(char *const *argv)
{
	struct request r = { IMGCHECK_CLASS_HINT, diff_print_text };
	AUTO(input) struct input in = { .command = "diff" };
	AUTO(lines) struct lines names = { 0 };
	const struct flag_group groups[] = {
		{ diff_flags, diff_take, &r },
		{ input_arch_flags, input_take, &in },
		{ input_config_flags, input_take, &in },
		{ input_value_flags, input_take, &in },
	};
	const struct command_line line = {
		.command = "diff",
		.usage = "[OPTION]... OLD NEW",
		.about = "Prints which images NEW needs and OLD does not, and the other way round.  Each is a file, a folder, a list "
			 "of images (LIST#KEY is one line of it), an unpacked snap with meta/imgcheck.yaml, or a packed one.",
		.notes = "Exit status: 0 the same images, 1 different ones, 2 usage, 5 something cannot be read, 70 internal error.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &names, NULL);

	if (status != STATUS_GO)
		return status;
	if (names.count != 2)
		return say_usage("diff", "which two? give OLD and NEW");
	return run(&r, &in, &names);
}
