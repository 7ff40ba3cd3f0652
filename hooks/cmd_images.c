/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "commands.h"
#include "program/document.h"
#include "program/output.h"
#include "release/needs.h"
#include "program/say.h"
#include "program/status.h"

enum format { FORMAT_TEXT, FORMAT_LIST, FORMAT_JSON };
enum { TAKE_CLASS, TAKE_FORMAT, TAKE_KEY };

struct listing {
	enum imgcheck_class class; /* the weakest class to list */
	enum format format;
	const char *key;
};

static const struct flag listing_flags[] = {
	{ "class", "required|mentioned|all", "image fields only, arguments and values too, or hints as well (all)", TAKE_CLASS },
	{ "format", "text|json|list", "one a line (text), with places (json), all in one line (list)", TAKE_FORMAT },
	{ "key", "KEY", "what that line starts with (images)", TAKE_KEY },
	{ 0 },
};

static int take_format(struct listing *l, const char *value)
{
	/* In the order of the enumerators. */
	static const char *const formats[] = { "text", "list", "json" };

	for (size_t i = 0; i < COUNT(formats); i++)
		if (!strcmp(value, formats[i])) {
			l->format = (enum format)i;
			return 0;
		}
	return say_usage("images", "--format %s: it is text, json or list", value);
}

static bool is_key(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static int listing_take(void *arg, int id, const char *value)
{
	struct listing *l = arg;

	switch (id) {
	case TAKE_CLASS:
		if (input_class(value, &l->class))
			return 0;
		return say_usage("images", "--class %s: it is required, mentioned or all", value);
	case TAKE_FORMAT:
		return take_format(l, value);
	default:
		if (!is_key(value))
			return say_usage("images", "--key %s: it is a word of letters, digits, ., _ and -", value);
		l->key = value;
		return 0;
	}
}

static json_t *json_image(const struct need *n, const struct lines *archs)
{
	json_t *image = document_object();

	document_set_text(image, "reference", n->ref);
	document_set_text(image, "class", needs_class_name(n->class));
	document_set_text(image, "source", imgcheck_image_source(n->image));
	if (archs->count)
		document_set(image, "architectures", needs_arch_json(archs, n->archs));
	document_set(image, "origins", needs_origins_json(n));
	return image;
}

static json_t *json_problem(const struct imgcheck_error *e)
{
	unsigned line = 0;
	const char *place = imgcheck_error_place(e, &line, NULL);
	bool unresolved = imgcheck_error_code(e) == IMGCHECK_ERR_UNRESOLVED;
	json_t *problem = document_object();

	document_set_text(problem, "class",
			  imgcheck_outcome_name(unresolved ? IMGCHECK_OUTCOME_UNRESOLVED : IMGCHECK_OUTCOME_UNREADABLE));
	document_set_text(problem, "file", place);
	document_set(problem, "line", line ? json_integer(line) : json_null());
	document_set_text(problem, "message", imgcheck_error_message(e));
	return problem;
}

/* Those of all architectures, the same only once. */
static json_t *json_problems(const struct needs *needs)
{
	json_t *problems = document_array();
	const struct imgcheck_error *e;
	AUTO(lines) struct lines seen = { 0 };

	for (size_t i = 0; i < needs->input_count; i++) {
		for (size_t k = 0; (e = imgcheck_images_problem(needs->inputs[i].images, k)); k++) {
			AUTO(free) char *text = say_text(e);

			if (imgcheck_error_code(e) == IMGCHECK_ERR_FINDING || (i && lines_has(&seen, text)))
				continue;
			document_add(problems, json_problem(e));
			lines_add(&seen, text);
		}
	}
	return problems;
}

static void print_json(const struct needs *needs, const struct lines *archs, FILE *out)
{
	AUTO(json) json_t *all = document_object();
	AUTO(free) char *text = NULL;
	json_t *images = document_array();

	for (size_t i = 0; i < needs->count; i++)
		document_add(images, json_image(&needs->need[i], archs));
	document_set_number(all, "version", 1);
	document_set(all, "images", images);
	document_set(all, "problems", json_problems(needs));
	text = document_render(all);
	fputs(text, out);
}

static void print_plain(const struct needs *needs, const struct listing *l, FILE *out)
{
	bool line = l->format == FORMAT_LIST;

	if (line)
		fprintf(out, "%s:", l->key);
	for (size_t i = 0; i < needs->count; i++)
		fprintf(out, line ? " %s" : "%s\n", needs->need[i].ref);
	if (line)
		fputc('\n', out);
}

/* Names that an addon makes from Debian's word for an architecture, which no build of an image uses. */
static void say_misspelt(const struct needs *needs, const struct lines *archs)
{
	for (size_t i = 0; i < needs->count; i++) {
		for (size_t k = 0; k < archs->count; k++) {
			AUTO(free) char *right = NULL;

			if (needs->need[i].archs >> k & 1)
				right = needs_respell(needs->need[i].ref, archs->line[k]);
			if (right)
				say("%s: cannot be right: %s is Debian's word, images have it as in %s", needs->need[i].ref,
				    archs->line[k], right);
		}
	}
}

static int print_images(struct needs *needs, const struct listing *l, const struct lines *archs)
{
	AUTO(output) struct output out = { 0 };
	int status = needs_say_problems(needs), fault;

	needs_keep(needs, l->class);
	output_open(&out);
	if (l->format == FORMAT_JSON)
		print_json(needs, archs, out.stream);
	else
		print_plain(needs, l, out.stream);
	say_misspelt(needs, archs);
	fault = output_finish(&out, stdout, NULL);
	return fault ? fault : status;
}

int cmd_images(char *const *argv)
{
	struct listing listing = { .class = IMGCHECK_CLASS_HINT, .key = "images" };
	AUTO(input) struct input in = { .command = "images" };
	AUTO(lines) struct lines paths = { 0 };
	AUTO(needs) struct needs needs = { 0 };
	const struct flag_group groups[] = {
		{ listing_flags, listing_take, &listing },
		{ input_arch_flags, input_take, &in },
		{ input_target_flags, input_take, &in },
		{ input_value_flags, input_take, &in },
	};
	const struct command_line line = { .command = "images", .usage = "[OPTION]... [PATH]...",
					   .about = "Prints the images that files and folders need, sorted, each once.  What is no reference, and "
						    "what cannot be read, is told on standard error with its place.",
					   .notes = "Exit status: 0, 2 usage, 5 a manifest cannot be read or evaluated, 70 internal error.",
					   .groups = groups, .group_count = COUNT(groups) };
	int status = options_read(&line, argv, &paths, NULL);

	if (status != STATUS_GO)
		return status;
	if (!paths.count && !in.target.dir)
		return say_usage("images", "which files? give a path or --target");
	status = needs_collect(&needs, &in, &paths);
	return status ? status : print_images(&needs, &listing, &in.archs);
}
