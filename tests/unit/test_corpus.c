/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real addons with an independent list of their images (../shared/corpus): what the rules find must be
 * exactly that list, case for case, and what they cannot resolve exactly the placeholders in it.
 */
#include "test.h"

#include <ftw.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "imgcheck.h"
#include "manifest/images.h"
#include "manifest/reader.h"

#define PATH_BYTES 1024
#define MAX_LINES 4096

struct score {
	size_t cases, references, missed, wrong;
};

IC_PRINTF(2, 3) static void set_path(char path[PATH_BYTES], const char *format, ...)
{
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(path, PATH_BYTES, format, arguments);
	va_end(arguments);
	cr_assert(len >= 0 && len < PATH_BYTES);
}

/* The lines of a file that are not empty, each once; nothing where there is no file. */
static void read_lines(const char *path, struct ic_vec *lines)
{
	char *text, *rest, *line;

	if (access(path, R_OK) != 0)
		return;
	rest = text = test_read_file(path, NULL);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			cr_assert_eq(ic_texts_push(lines, line, strlen(line), NULL), 0);
	free(text);
}

static bool has_line(const struct ic_vec *lines, const char *line)
{
	for (size_t i = 0; i < lines->count; i++)
		if (strcmp(ic_texts_get(lines, i), line) == 0)
			return true;
	return false;
}

static void add_once(struct ic_vec *lines, const char *text, size_t len)
{
	char line[PATH_BYTES];

	set_path(line, "%.*s", (int)len, text);
	if (!has_line(lines, line))
		cr_assert_eq(ic_texts_push(lines, line, strlen(line), NULL), 0);
}

static void images_of(const struct imgcheck_images *s, struct ic_vec *out)
{
	for (size_t i = 0; i < imgcheck_images_count(s); i++)
		add_once(out, imgcheck_image_ref(imgcheck_images_get(s, i)), strlen(imgcheck_image_ref(imgcheck_images_get(s, i))));
}

/* The values of problems "cannot resolve the image 'VALUE' (...": what they quote. */
static void unresolved_of(const struct imgcheck_images *s, struct ic_vec *out)
{
	const struct imgcheck_error *e;

	for (size_t i = 0; (e = imgcheck_images_problem(s, i)); i++) {
		const char *start = strchr(imgcheck_error_message(e), '\''), *end = start ? strstr(start, "' (") : NULL;

		if (imgcheck_error_code(e) != IMGCHECK_ERR_UNRESOLVED)
			continue;
		cr_assert(start && end, "%s", imgcheck_error_message(e));
		add_once(out, start + 1, (size_t)(end - start) - 1);
	}
}

static const struct imgcheck_error *unreadable_of(const struct imgcheck_images *s)
{
	const struct imgcheck_error *e;

	for (size_t i = 0; (e = imgcheck_images_problem(s, i)); i++)
		if (imgcheck_error_code(e) != IMGCHECK_ERR_UNRESOLVED && imgcheck_error_code(e) != IMGCHECK_ERR_FINDING)
			return e;
	return NULL;
}

/* Counts and tells what is in one list and not in the other; accepted are those that may be found. */
static void compare(const char *name, const struct ic_vec *expected, const struct ic_vec *accepted, const struct ic_vec *found,
                    struct score *score)
{
	score->references += expected->count;
	for (size_t i = 0; i < expected->count; i++)
		if (!has_line(found, ic_texts_get(expected, i))) {
			cr_expect(false, "%s: missed %s", name, ic_texts_get(expected, i));
			score->missed++;
		}
	for (size_t i = 0; i < found->count; i++)
		if (!has_line(expected, ic_texts_get(found, i)) && !has_line(accepted, ic_texts_get(found, i))) {
			cr_expect(false, "%s: false %s", name, ic_texts_get(found, i));
			score->wrong++;
		}
}

/* What `list` fills in from the set against the lines of a file; those of a second file (or NULL) may be found. */
static void compare_file(const struct imgcheck_images *s, void (*list)(const struct imgcheck_images *, struct ic_vec *),
                         const char *path, const char *also, struct score *score)
{
	struct ic_vec expected, accepted, found;

	ic_texts_init(&expected, MAX_LINES);
	ic_texts_init(&accepted, MAX_LINES);
	ic_texts_init(&found, MAX_LINES);
	read_lines(path, &expected);
	if (also)
		read_lines(also, &accepted);
	list(s, &found);
	compare(path, &expected, &accepted, &found, score);
	ic_texts_clear(&expected);
	ic_texts_clear(&accepted);
	ic_texts_clear(&found);
}

static void expect_readable(const char *name, const struct imgcheck_images *s)
{
	const struct imgcheck_error *e = unreadable_of(s);
	unsigned line = 0;
	const char *place = imgcheck_error_place(e, &line, NULL);

	cr_expect_null(e, "%s: %s:%u: %s", name, place, line, imgcheck_error_message(e));
}

static void print_score(const char *what, const struct score *score)
{
	fprintf(stderr, "%s: %zu cases, %zu references, %zu missed, %zu false\n", what, score->cases, score->references,
	        score->missed, score->wrong);
	cr_assert_gt(score->cases, 0);
	cr_expect_eq(score->missed, 0);
	cr_expect_eq(score->wrong, 0);
}

/* Cases without templates, and templates that were rendered by somebody else. */
static void run_case(const char *folder, const char *manifests, struct score *score)
{
	struct imgcheck_images *s = NULL;
	struct imgcheck_error *err = NULL;
	char path[PATH_BYTES], published[PATH_BYTES];

	cr_assert_eq(imgcheck_images_new(&s), 0);
	set_path(path, "%s/%s", folder, manifests);
	cr_assert_eq(imgcheck_images_add_path(s, path, &err), 0, "%s", imgcheck_error_message(err));
	expect_readable(folder, s);
	set_path(path, "%s/images.txt", folder);
	set_path(published, "%s/published.txt", folder);
	/* The list of the rendered case was made of container images alone: one in a ConfigMap is published, and right. */
	compare_file(s, images_of, path, strcmp(manifests, "manifests") == 0 ? NULL : published, score);
	set_path(path, "%s/unresolved.txt", folder);
	compare_file(s, unresolved_of, path, NULL, score);
	score->cases++;
	imgcheck_images_free(s);
}

TEST(corpus, plain_cases)
{
	struct score score = {0};
	glob_t folders;

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	cr_assert_eq(glob("../shared/corpus/*-*", GLOB_ONLYDIR, NULL, &folders), 0);
	for (size_t i = 0; i < folders.gl_pathc; i++) {
		char path[PATH_BYTES];

		set_path(path, "%s/expected", folders.gl_pathv[i]);
		if (access(path, R_OK) != 0) {
			run_case(folders.gl_pathv[i], "manifests", &score);
			continue;
		}
		set_path(path, "%s/expected/rendered", folders.gl_pathv[i]);
		if (access(path, R_OK) == 0)
			run_case(folders.gl_pathv[i], "expected/rendered", &score);
	}
	globfree(&folders);
	print_score("plain cases", &score);
}

/* ------------------------------------------------------------------ classes */

/* Where a place of refs.tsv stands in the documents, and the weakest class that it may have. */
static enum imgcheck_class class_of(const char *name)
{
	if (strcmp(name, "container-image") == 0 || strcmp(name, "image-key") == 0)
		return IMGCHECK_CLASS_REQUIRED;
	if (strcmp(name, "annotation") == 0 || strcmp(name, "other-key") == 0)
		return IMGCHECK_CLASS_HINT;
	return IMGCHECK_CLASS_MENTIONED;
}

TEST(corpus, classes)
{
	glob_t tables;
	size_t rows = 0;

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	cr_assert_eq(glob("../shared/corpus/*/refs.tsv", 0, NULL, &tables), 0);
	for (size_t t = 0; t < tables.gl_pathc; t++) {
		const char *path = tables.gl_pathv[t];
		struct imgcheck_images *s = NULL;
		char manifests[PATH_BYTES], *text = test_read_file(path, NULL), *rest = text, *line;

		set_path(manifests, "%.*s/manifests", (int)(strrchr(path, '/') - path), path);
		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_add_path(s, manifests, NULL), 0);
		while ((line = strsep(&rest, "\n"))) {
			const char *ref = strsep(&line, "\t"), *class = line ? strsep(&line, "\t") : NULL;
			const struct imgcheck_image *m = NULL;

			for (size_t i = 0; class && i < imgcheck_images_count(s) && !m; i++)
				if (strcmp(imgcheck_image_ref(imgcheck_images_get(s, i)), ref) == 0)
					m = imgcheck_images_get(s, i);
			if (!m)
				continue;
			cr_expect_leq(imgcheck_image_class(m), class_of(class), "%s: %s is weaker than %s", path, ref, class);
			rows++;
		}
		imgcheck_images_free(s);
		free(text);
	}
	globfree(&tables);
	fprintf(stderr, "classes: %zu rows\n", rows);
	cr_assert_gt(rows, 100);
}

/* ------------------------------------------------------------------ templates with their values */

/* The template of "<context folder>/<name>[.N].ctx.json": "<case>/<templates or manifests>/<name>". */
static bool find_template(const char *folder, const char *relative, char path[PATH_BYTES])
{
	static const char *const folders[] = {"templates", "manifests"};
	size_t len = strlen(relative) - strlen(".ctx.json");

	for (int without_number = 0; without_number < 2; without_number++) {
		for (size_t i = 0; i < IC_COUNT(folders); i++) {
			set_path(path, "%s/%s/%.*s", folder, folders[i], (int)len, relative);
			if (access(path, R_OK) == 0)
				return true;
		}
		while (len && relative[len - 1] != '.')
			len--;
		len -= len > 0;
	}
	return false;
}

static struct imgcheck_images *current_set;
static char current_folder[PATH_BYTES];
static size_t current_context_len, current_templates;

static json_t *read_values(const char *path)
{
	size_t len;
	char *text = test_read_file(path, &len);
	json_t *values = NULL;

	cr_assert_eq(ic_json_parse(path, text, len, &values, NULL), 0);
	free(text);
	return values;
}

static int add_template(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t len = strlen(path), end = strlen(".ctx.json");
	char template[PATH_BYTES];
	struct imgcheck_error *err = NULL;
	json_t *values;

	(void)st;
	(void)ftw;
	if (type != FTW_F || len < end || strcmp(path + len - end, ".ctx.json") != 0)
		return 0;
	cr_assert(find_template(current_folder, path + current_context_len + 1, template), "no template for %s", path);
	values = read_values(path);
	cr_assert_eq(ic_reader_add_file(current_set, template, template, values, &err), 0, "%s", imgcheck_error_message(err));
	json_decref(values);
	current_templates++;
	return 0;
}

/* One folder of contexts, one value file for each template. */
static void run_context(const char *context, struct score *score)
{
	const char *raw = strstr(context, "/expected/raw/");
	char images[PATH_BYTES];

	set_path(current_folder, "%.*s", (int)(raw - context), context);
	set_path(images, "%s/expected/images.%s.txt", current_folder, raw + strlen("/expected/raw/"));
	cr_assert_eq(imgcheck_images_new(&current_set), 0);
	current_context_len = strlen(context);
	current_templates = 0;
	cr_assert_eq(nftw(context, add_template, 16, FTW_PHYS), 0);
	ic_images_settle(current_set);
	if (current_templates > 0) {
		expect_readable(context, current_set);
		compare_file(current_set, images_of, images, NULL, score);
		score->cases++;
	}
	imgcheck_images_free(current_set);
	current_set = NULL;
}

/* Folders of templates that share one file of values. */
static void run_shared_values(const char *context, struct score *score)
{
	struct imgcheck_images *s = NULL;
	size_t len;
	char *values = test_read_file(context, &len), path[PATH_BYTES];
	const char *expected = strstr(context, "/expected/"), *name = strstr(context, "/context.") + strlen("/context.");

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_set_values(s, values, len, NULL), 0);
	set_path(path, "%.*s/manifests", (int)(expected - context), context);
	cr_assert_eq(imgcheck_images_add_path(s, path, NULL), 0);
	expect_readable(context, s);
	set_path(path, "%.*s/images.%.*s.txt", (int)(name - context) - (int)strlen("/context."), context,
	               (int)(strlen(name) - strlen(".json")), name);
	compare_file(s, images_of, path, NULL, score);
	score->cases++;
	imgcheck_images_free(s);
	free(values);
}

TEST(corpus, template_cases)
{
	struct score score = {0};
	glob_t found;

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	cr_assert_eq(glob("../shared/corpus/*/expected/raw/*", GLOB_ONLYDIR, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		run_context(found.gl_pathv[i], &score);
	globfree(&found);
	cr_assert_eq(glob("../shared/corpus/*/expected/context.*.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		run_shared_values(found.gl_pathv[i], &score);
	globfree(&found);
	print_score("template cases", &score);
}

/* ------------------------------------------------------------------ traps */

/* Values of the traps that are templates, and the ones whose note leaves the choice. */
static const struct trap {
	const char *name;
	const char *values;
	bool may_miss; /* the note accepts an error, or nothing, in place of the images */
} special[] = {
	{"10-crd-openapi-schema", NULL, true},
	{"46-go-template", NULL, true},
	{"49-jinja-unrendered", "{}", false},
	{"50-jinja-edge", "{\"mounter\": \"fuse\", \"default\": false, \"pillar\": {\"dns_domain\": \"cluster.local\"}}", false},
	{"53-billion-laughs", NULL, true},
};

static struct trap trap_of(const char *name)
{
	for (size_t i = 0; i < IC_COUNT(special); i++)
		if (strcmp(special[i].name, name) == 0)
			return special[i];
	return (struct trap){.name = name};
}

/* ".unresolved" may say in brackets why. */
static void cut_reasons(struct ic_vec *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		char *line = *(char **)ic_vec_at(lines, i), *bracket = strstr(line, " (");

		if (bracket)
			*bracket = '\0';
	}
}

static bool is_for_newer_libyaml(const char *path)
{
	char *text = test_read_file(path, NULL);
	bool reads = test_libyaml_reads(text);

	free(text);
	return !reads;
}

static void check_trap(const char *path, struct score *score)
{
	char stem[PATH_BYTES], side[PATH_BYTES];
	const char *name = strrchr(path, '/') + 1;
	struct imgcheck_images *s = NULL;
	struct ic_vec expected, found, none = {0};
	struct trap trap;
	bool is_error;

	set_path(stem, "%.*s", (int)strcspn(name, "."), name);
	trap = trap_of(stem);
	cr_assert_eq(imgcheck_images_new(&s), 0);
	if (trap.values)
		cr_assert_eq(imgcheck_images_set_values(s, trap.values, strlen(trap.values), NULL), 0);
	cr_assert_eq(imgcheck_images_add_path(s, path, NULL), 0);
	ic_texts_init(&expected, MAX_LINES);
	ic_texts_init(&found, MAX_LINES);
	set_path(side, "../shared/corpus/traps/%s.expected", stem);
	read_lines(side, &expected);
	images_of(s, &found);
	if (!trap.may_miss || found.count > 0)
		compare(stem, &expected, &none, &found, score);
	ic_texts_clear(&expected);
	ic_texts_clear(&found);
	set_path(side, "../shared/corpus/traps/%s.error", stem);
	is_error = access(side, R_OK) == 0;
	if (is_error)
		cr_expect_not_null(unreadable_of(s), "%s must be an error", stem);
	else if (!trap.may_miss)
		expect_readable(stem, s);
	set_path(side, "../shared/corpus/traps/%s.unresolved", stem);
	read_lines(side, &expected);
	cut_reasons(&expected);
	unresolved_of(s, &found);
	if (!is_error)
		compare(stem, &expected, &none, &found, score);
	ic_texts_clear(&expected);
	ic_texts_clear(&found);
	score->cases++;
	imgcheck_images_free(s);
}

TEST(corpus, traps)
{
	struct score score = {0};
	glob_t files;

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	cr_assert_eq(glob("../shared/corpus/traps/[0-9]*", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *end = strrchr(files.gl_pathv[i], '.');

		if ((strcmp(end, ".yaml") == 0 || strcmp(end, ".json") == 0 || strcmp(end, ".txt") == 0) &&
		    !is_for_newer_libyaml(files.gl_pathv[i]))
			check_trap(files.gl_pathv[i], &score);
	}
	globfree(&files);
	print_score("traps", &score);
}
