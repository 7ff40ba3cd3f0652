/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "document.h"
#include "input.h"
#include "say.h"
#include "status.h"

enum format { FORMAT_TEXT, FORMAT_LIST, FORMAT_JSON };
enum { TAKE_CLASS, TAKE_FORMAT };

struct listing {
	enum imgcheck_class class; /* the weakest class to list */
	enum format format;
};

static const struct flag listing_flags[] = {
	{ "class", "required|mentioned|all", "image fields only, arguments and values too, or hints as well (all)", TAKE_CLASS },
	{ "format", "text|json|list", "one a line (text), with places (json), all in one line (list)", TAKE_FORMAT },
	{ 0 },
};

static int pick(const char *const *words, const char *value)
{
	int i = 0;

	while (words[i] && strcmp(words[i], value))
		i++;
	return words[i] ? i : -1;
}

static int listing_take(void *arg, int id, const char *value)
{
	/* In the order of the enumerators. */
	static const char *const classes[] = { "required", "mentioned", "all", NULL };
	static const char *const formats[] = { "text", "list", "json", NULL };
	struct listing *l = arg;
	int i = pick(id == TAKE_CLASS ? classes : formats, value);

	if (i < 0 && id == TAKE_CLASS)
		return say_usage("images", "--class %s: it is required, mentioned or all", value);
	if (i < 0)
		return say_usage("images", "--format %s: it is text, json or list", value);
	if (id == TAKE_CLASS)
		l->class = (enum imgcheck_class)i;
	else
		l->format = (enum format)i;
	return 0;
}

static json_t *json_origin(const struct imgcheck_image *m, size_t i)
{
	static const struct {
		const char *name;
		enum imgcheck_field field;
	} texts[] = {
		{ "file", IMGCHECK_FIELD_FILE },   { "object", IMGCHECK_FIELD_OBJECT },          { "path", IMGCHECK_FIELD_PATH },
		{ "class", IMGCHECK_FIELD_CLASS }, { "pullPolicy", IMGCHECK_FIELD_PULL_POLICY },
	};
	const char *line = imgcheck_image_origin(m, i, IMGCHECK_FIELD_LINE);
	json_t *origin = document_object();

	for (size_t k = 0; k < COUNT(texts); k++)
		document_set_text(origin, texts[k].name, imgcheck_image_origin(m, i, texts[k].field));
	document_set(origin, "line", line ? json_integer(strtoll(line, NULL, 10)) : json_null());
	return origin;
}

static json_t *json_image(const struct imgcheck_image *m)
{
	json_t *image = document_object(), *origins = document_array();

	document_set_text(image, "reference", imgcheck_image_ref(m));
	document_set_text(image, "source", imgcheck_image_source(m));
	for (size_t i = 0; imgcheck_image_origin(m, i, IMGCHECK_FIELD_CLASS); i++)
		document_add(origins, json_origin(m, i));
	document_set(image, "origins", origins);
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

static int print_json(const struct imgcheck_images *s, const struct listing *l)
{
	AUTO(json) json_t *all = document_object();
	json_t *images = document_array(), *problems = document_array();
	const struct imgcheck_error *e;

	for (size_t i = 0; i < imgcheck_images_count(s); i++)
		if (imgcheck_image_class(imgcheck_images_get(s, i)) <= l->class)
			document_add(images, json_image(imgcheck_images_get(s, i)));
	for (size_t i = 0; (e = imgcheck_images_problem(s, i)); i++)
		if (imgcheck_error_code(e) != IMGCHECK_ERR_FINDING)
			document_add(problems, json_problem(e));
	document_set_number(all, "version", 1);
	document_set(all, "images", images);
	document_set(all, "problems", problems);
	return json_dumpf(all, stdout, JSON_INDENT(1)) || putchar('\n') == EOF;
}

static void print_plain(const struct imgcheck_images *s, const struct listing *l)
{
	bool line = l->format == FORMAT_LIST;

	if (line)
		fputs("images:", stdout);
	for (size_t i = 0; i < imgcheck_images_count(s); i++) {
		const struct imgcheck_image *m = imgcheck_images_get(s, i);

		if (imgcheck_image_class(m) <= l->class)
			printf(line ? " %s" : "%s\n", imgcheck_image_ref(m));
	}
	if (line)
		putchar('\n');
}

static int print_images(const struct input *in, const struct listing *l)
{
	int status = input_say_problems(in->images);

	if (l->format == FORMAT_JSON ? print_json(in->images, l) : (print_plain(in->images, l), 0)) {
		say("cannot write to standard output");
		return STATUS_INTERNAL;
	}
	if (fflush(stdout)) {
		say("cannot write to standard output");
		return STATUS_INTERNAL;
	}
	return status;
}

int cmd_images(char *const *argv)
{
	struct listing listing = { .class = IMGCHECK_CLASS_HINT };
	AUTO(input) struct input in = { .command = "images" };
	AUTO(lines) struct lines paths = { 0 };
	const struct flag_group groups[] = {
		{ listing_flags, listing_take, &listing },
		{ input_target_flags, input_take, &in },
		{ input_value_flags, input_take, &in },
	};
	const struct command_line line = { .command = "images", .usage = "[OPTION]... [PATH]...",
					   .about = "Prints the images that files and folders need, sorted, each once.  What is no reference, and\n"
						    "what cannot be read, is told on standard error with its place.",
					   .notes = "Exit status: 0, 2 usage, 5 a manifest cannot be read or evaluated, 70 internal error.",
					   .groups = groups, .group_count = COUNT(groups) };
	int status = options_read(&line, argv, &paths, NULL);

	if (status != STATUS_GO)
		return status;
	if (!paths.count && !in.target.dir)
		return say_usage("images", "which files? give a path or --target");
	status = input_open(&in);
	status = status ? status : input_collect(&in, &paths);
	return status ? status : print_images(&in, &listing);
}
