/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules on small cases: tests/data/rules/CASE/input.yaml must give exactly the lines of images.txt,
 * "class reference path:line", and of unresolved.txt, where that is there.
 */
#include "manifest/rules.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/yaml.h"
#include "manifest/images.h"
#include "manifest/reader.h"
#include "test.h"

#define LINE_BYTES 2048

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All origins of all images, sorted, a line each: new. */
static char *all_images(const struct imgcheck_images *s)
{
	struct ic_vec lines;
	struct ic_buf out;

	ic_texts_init(&lines, 1000);
	ic_buf_init(&out, 1 << 20);
	for (size_t i = 0; i < imgcheck_images_count(s); i++) {
		const struct imgcheck_image *m = imgcheck_images_get(s, i);

		for (size_t o = 0; imgcheck_image_origin(m, o, IMGCHECK_FIELD_CLASS); o++) {
			char line[LINE_BYTES];
			const char *path = imgcheck_image_origin(m, o, IMGCHECK_FIELD_PATH);

			(void)snprintf(line, sizeof(line), "%s %s %s:%s\n", imgcheck_image_origin(m, o, IMGCHECK_FIELD_CLASS),
			               imgcheck_image_ref(m), path, imgcheck_image_origin(m, o, IMGCHECK_FIELD_LINE));
			cr_assert_eq(ic_texts_push(&lines, line, strlen(line), NULL), 0);
		}
	}
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(char *), by_text);
	for (size_t i = 0; i < lines.count; i++)
		cr_assert_eq(ic_buf_add_text(&out, ic_texts_get(&lines, i), NULL), 0);
	ic_texts_clear(&lines);
	return ic_buf_take(&out);
}

/* What the problems "cannot resolve the image 'VALUE' (" quote, a line each: new. */
static char *all_unresolved(const struct imgcheck_images *s)
{
	const struct imgcheck_error *e;
	struct ic_buf out;

	ic_buf_init(&out, 1 << 20);
	for (size_t i = 0; (e = imgcheck_images_problem(s, i)); i++) {
		const char *start = strchr(imgcheck_error_message(e), '\''), *end = start ? strstr(start, "' (") : NULL;

		if (imgcheck_error_code(e) == IMGCHECK_ERR_FINDING)
			continue;
		cr_assert_eq(imgcheck_error_code(e), IMGCHECK_ERR_UNRESOLVED, "%s", imgcheck_error_message(e));
		cr_assert(end, "%s", imgcheck_error_message(e));
		cr_assert_eq(ic_buf_add(&out, start + 1, (size_t)(end - start) - 1, NULL), 0);
		cr_assert_eq(ic_buf_add_char(&out, '\n', NULL), 0);
	}
	return ic_buf_take(&out);
}

static void expect_file(const char *folder, const char *name, char *found)
{
	char path[LINE_BYTES], *expected;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	expected = access(path, R_OK) == 0 ? test_read_file(path, NULL) : strdup("");
	cr_expect_str_eq(found, expected, "%s:\n--- found\n%s--- expected\n%s", path, found, expected);
	free(expected);
	free(found);
}

TEST(rules, cases)
{
	char pattern[LINE_BYTES];
	glob_t folders;

	(void)snprintf(pattern, sizeof(pattern), "%s/*", test_data("rules"));
	cr_assert_eq(glob(pattern, GLOB_ONLYDIR, NULL, &folders), 0);
	cr_assert_gt(folders.gl_pathc, 5);
	for (size_t i = 0; i < folders.gl_pathc; i++) {
		struct imgcheck_images *s = NULL;
		char input[LINE_BYTES];

		(void)snprintf(input, sizeof(input), "%s/input.yaml", folders.gl_pathv[i]);
		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_add_path(s, input, NULL), 0);
		expect_file(folders.gl_pathv[i], "images.txt", all_images(s));
		expect_file(folders.gl_pathv[i], "unresolved.txt", all_unresolved(s));
		imgcheck_images_free(s);
	}
	globfree(&folders);
}

/* What a find tells besides its path: the first of these, in the case "pod". */
TEST(rules, fields)
{
	static const struct {
		const char *ref;
		enum imgcheck_field field;
		const char *value;
	} rows[] = {
		{"nginx", IMGCHECK_FIELD_OBJECT, "Pod ns/p"},
		{"nginx", IMGCHECK_FIELD_NAMESPACE, "ns"},
		{"nginx", IMGCHECK_FIELD_PULL_SECRETS, "one two"},
		{"nginx", IMGCHECK_FIELD_NODE_ARCH, "arm64"},
		{"nginx", IMGCHECK_FIELD_PULL_POLICY, NULL},
		{"r.example/init:1", IMGCHECK_FIELD_PULL_POLICY, "Never"},
		{"r.example/volume:1", IMGCHECK_FIELD_PULL_POLICY, "Always"},
		{"r.example/volume:1", IMGCHECK_FIELD_PULL_SECRETS, "one two"},
	};
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_path(s, test_data("rules/pod/input.yaml"), NULL), 0);
	for (size_t r = 0; r < IC_COUNT(rows); r++) {
		const struct imgcheck_image *m = NULL;
		const char *value;

		for (size_t i = 0; i < imgcheck_images_count(s); i++)
			if (strcmp(imgcheck_image_ref(imgcheck_images_get(s, i)), rows[r].ref) == 0)
				m = imgcheck_images_get(s, i);
		cr_assert_not_null(m, "%s", rows[r].ref);
		value = imgcheck_image_origin(m, 0, rows[r].field);
		cr_expect((!value && !rows[r].value) || (value && rows[r].value && strcmp(value, rows[r].value) == 0), "row %zu: %s", r,
		          value ? value : "NULL");
	}
	for (size_t i = 0; i < imgcheck_images_count(s); i++)
		cr_expect_eq(ic_image_is_local(imgcheck_images_get(s, i)),
		             strcmp(imgcheck_image_ref(imgcheck_images_get(s, i)), "r.example/init:1") == 0);
	imgcheck_images_free(s);
}

/* A sink's failure ends the walk at once. */
static int fail(void *arg, const struct ic_found *found, struct imgcheck_error **err)
{
	(void)found;
	++*(int *)arg;
	return ic_error_set(err, IMGCHECK_ERR_LIMIT, "enough");
}

TEST(rules, failing_sink)
{
	static const char *const texts[] = {
		"{containers: [{image: a}, {image: b}]}",
		"{volumes: [{image: {reference: a}}, {image: {reference: b}}]}",
		"{args: [a/b:c, d/e:f]}",
		"{env: [{name: A, value: a/b:c}, {name: B, value: d/e:f}]}",
		"{image: a/b:c, x: d/e:f}",
		"{annotations: {a: a/b:c, b: d/e:f}}",
		"{kind: ConfigMap, data: {a: a/b:c, b: d/e:f}}",
		"{kind: ConfigMap, data: {a: \"containers: [{image: a}, {image: b}]\"}}",
		"{a: {repository: a/b, tag: c}, b: d/e:f}",
		"{images: [{name: a/b, newTag: c}, {name: d/e, newTag: f}]}",
		"{kind: ConfigMap, data: {a: \"image=x\\na=a/b:c\\nb=d/e:f\"}}",
		"{kind: DockerImage, name: a}",
		"{command: 'x r.example/a:1 r.example/b:1'}",
		"{env: [{name: A, value: 'a=a/b:c,b=d/e:f'}]}",
		"{image: [{image: a/b:c}, d/e:f]}",
		"{a: {repository: a/b, tag: ''}}",
	};

	for (size_t i = 0; i < IC_COUNT(texts); i++) {
		struct ic_doc *doc = NULL;
		int calls = 0;
		const struct ic_sink sink = {.found = fail, .arg = &calls};

		cr_assert_eq(ic_yaml_parse("f", texts[i], strlen(texts[i]), &doc, NULL), 0, "%s", texts[i]);
		cr_expect_eq(ic_rules_apply(doc, &sink, NULL), IMGCHECK_ERR_LIMIT, "%s", texts[i]);
		cr_expect_eq(calls, 1, "%s", texts[i]);
		ic_doc_free(doc);
	}
}
