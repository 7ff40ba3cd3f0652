/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/images.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

static void add(struct imgcheck_images *s, const char *text, enum imgcheck_class class, enum ic_certainty certainty)
{
	const struct ic_place place = {.file = "f", .line = 7, .class = class, .certainty = certainty};

	cr_assert_eq(ic_images_add(s, text, strlen(text), &place, NULL, NULL), 0);
}

/* All texts, a blank behind each. */
static void join(const struct imgcheck_images *s, char out[1024])
{
	out[0] = '\0';
	for (size_t i = 0; i < imgcheck_images_count(s); i++)
		(void)snprintf(out + strlen(out), 1024 - strlen(out), "%s ", imgcheck_image_ref(imgcheck_images_get(s, i)));
}

TEST(images, unique_and_sorted)
{
	struct imgcheck_images *s = NULL;
	const struct imgcheck_image *m;
	char all[1024];

	cr_assert_eq(imgcheck_images_new(&s), 0);
	add(s, "b/c:1", IMGCHECK_CLASS_HINT, IC_CERTAIN);
	add(s, "a", IMGCHECK_CLASS_REQUIRED, IC_CERTAIN);
	add(s, "b/c:1", IMGCHECK_CLASS_MENTIONED, IC_CERTAIN);
	add(s, "b/c", IMGCHECK_CLASS_REQUIRED, IC_CERTAIN);
	cr_assert_eq(imgcheck_images_add_ref(s, "Not a reference", NULL), 0);
	join(s, all);
	cr_expect_str_eq(all, "Not a reference a b/c b/c:1 ");
	m = imgcheck_images_get(s, 3);
	cr_expect_eq(imgcheck_image_class(m), IMGCHECK_CLASS_MENTIONED);
	cr_expect_str_eq(imgcheck_image_origin(m, 0, IMGCHECK_FIELD_CLASS), "hint");
	cr_expect_str_eq(imgcheck_image_origin(m, 1, IMGCHECK_FIELD_LINE), "7");
	cr_expect_str_eq(imgcheck_image_origin(m, 1, IMGCHECK_FIELD_FILE), "f");
	cr_expect_null(imgcheck_image_origin(m, 1, IMGCHECK_FIELD_OBJECT));
	cr_expect_null(imgcheck_image_origin(m, 2, IMGCHECK_FIELD_CLASS));
	cr_expect_null(imgcheck_image_source(m));
	cr_expect(m->valid);
	cr_expect_str_eq(m->ref.repository, "b/c");
	m = imgcheck_images_get(s, 0);
	cr_expect_not(m->valid);
	cr_expect_null(imgcheck_image_origin(m, 0, IMGCHECK_FIELD_FILE));
	cr_expect_null(imgcheck_image_origin(m, 0, IMGCHECK_FIELD_LINE));
	cr_expect_str_eq(imgcheck_image_origin(m, 0, IMGCHECK_FIELD_CLASS), "required");
	cr_expect_null(imgcheck_images_get(s, 4));
	imgcheck_images_free(s);
}

TEST(images, settle)
{
	static const struct {
		const char *text[4];
		enum ic_certainty certainty[4];
		const char *left;
	} rows[] = {
		{{"r.example/b/c:1", "b/c:1"}, {IC_CERTAIN, IC_PARTIAL}, "r.example/b/c:1 "},
		{{"r.example/b/c:1", "b/c:1"}, {IC_CERTAIN, IC_CERTAIN}, "b/c:1 r.example/b/c:1 "},
		{{"r.example/b/c:1", "b/c:1", "b/c:1"}, {IC_CERTAIN, IC_PARTIAL, IC_CERTAIN}, "b/c:1 r.example/b/c:1 "},
		{{"r.example/b/c:1", "b/c:2"}, {IC_CERTAIN, IC_PARTIAL}, "b/c:2 r.example/b/c:1 "},
		{{"xb/c:1", "b/c:1"}, {IC_CERTAIN, IC_PARTIAL}, "b/c:1 xb/c:1 "},
		{{"a/b/c:1", "b/c:1", "c:1"}, {IC_PARTIAL, IC_PARTIAL, IC_PARTIAL}, "a/b/c:1 "},
		{{"r.example:5000/b", "r.example:5000/b:2"}, {IC_CERTAIN, IC_REWRITE}, "r.example:5000/b "},
		{{"r.example/b", "r.example/b@sha256:1"}, {IC_CERTAIN, IC_REWRITE}, "r.example/b "},
		{{"r.example/b:1", "r.example/b:2"}, {IC_CERTAIN, IC_REWRITE}, "r.example/b:1 r.example/b:2 "},
		{{"r.example/b:2"}, {IC_REWRITE}, "r.example/b:2 "},
	};

	for (size_t r = 0; r < IC_COUNT(rows); r++) {
		struct imgcheck_images *s = NULL;
		char all[1024];

		cr_assert_eq(imgcheck_images_new(&s), 0);
		for (size_t i = 0; i < 4 && rows[r].text[i]; i++)
			add(s, rows[r].text[i], IMGCHECK_CLASS_HINT, rows[r].certainty[i]);
		ic_images_settle(s);
		join(s, all);
		cr_expect_str_eq(all, rows[r].left, "row %zu: %s", r, all);
		imgcheck_images_free(s);
	}
}

TEST(images, found_a_moment_ago)
{
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_ref(s, "a.b/c:1", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(s, "Not a reference", NULL), 0);
	cr_expect_eq(imgcheck_images_mark_found(s, "a.b/c:2", "a.b", "sha256:1", NULL), 0);
	cr_expect_eq(imgcheck_images_mark_found(s, "Not a reference", "a.b", "sha256:1", NULL), 0);
	cr_expect_null(imgcheck_images_get(s, 0)->found_digest);
	cr_expect_null(imgcheck_images_get(s, 1)->found_digest);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(imgcheck_images_mark_found(s, "a.b/c:1", "a.b", i ? "sha256:2" : "sha256:1", NULL), 0);
	cr_expect_str_eq(imgcheck_images_get(s, 1)->found_digest, "sha256:1");
	cr_expect_str_eq(imgcheck_images_get(s, 1)->found_host, "a.b");
	cr_expect_eq(imgcheck_images_mark_found(s, "a.b/c:1", NULL, "x", NULL), IMGCHECK_ERR_ARGUMENT);
	imgcheck_images_free(s);
}

TEST(images, known_and_ignored)
{
	struct imgcheck_images *s = NULL, *before = NULL;
	struct ic_vec globs;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_new(&before), 0);
	cr_assert_eq(imgcheck_images_add_ref(s, "a/b:1", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(s, "a/b:2", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(before, "a/b:1", NULL), 0);
	cr_assert_eq(imgcheck_images_mark_known(s, before, NULL), 0);
	cr_expect(imgcheck_images_get(s, 0)->known);
	cr_expect_not(imgcheck_images_get(s, 1)->known);
	ic_texts_init(&globs, 8);
	cr_assert_eq(ic_texts_push(&globs, "*:2", 3, NULL), 0);
	ic_images_ignore(s, &globs);
	cr_expect_not(imgcheck_images_get(s, 0)->ignored);
	cr_expect(imgcheck_images_get(s, 1)->ignored);
	cr_expect_not(ic_image_is_local(imgcheck_images_get(s, 0)));
	ic_texts_clear(&globs);
	imgcheck_images_free(s);
	imgcheck_images_free(before);
}

/* What was there before in a weaker way was not needed: it is no excuse, and it is new. */
TEST(images, needed_as_much)
{
	static const struct {
		const char *before, *after;
		const char *ignored;
		bool needed;
	} rows[] = {
		{"containers: [{image: 'r/x:1'}]", "containers: [{image: 'r/x:1'}]", NULL, true},
		{"containers: [{image: 'r/x:1'}]", "containers: [{args: ['--x=r/x:1']}]", NULL, true},
		{"containers: [{args: ['--x=r/x:1']}]", "containers: [{image: 'r/x:1'}]", NULL, false},
		{"note: 'r/x:1'", "containers: [{image: 'r/x:1'}]", NULL, false},
		{"note: 'r/x:1'", "note: 'r/x:1'", NULL, true},
		{"containers: [{image: 'r/x:1', imagePullPolicy: Never}]", "containers: [{image: 'r/x:1'}]", NULL, false},
		{"containers: [{image: 'r/x:1', imagePullPolicy: Never}]",
		 "containers: [{image: 'r/x:1', imagePullPolicy: Never}]", NULL, true},
		{"containers: [{image: 'r/x:1'}]", "containers: [{image: 'r/x:1'}]", "r/*", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL, *before = NULL;
		struct ic_vec globs;

		ic_texts_init(&globs, 8);
		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_new(&before), 0);
		cr_assert_eq(imgcheck_images_add_data(before, "x.yaml", rows[i].before, strlen(rows[i].before), NULL), 0);
		cr_assert_eq(imgcheck_images_add_data(s, "x.yaml", rows[i].after, strlen(rows[i].after), NULL), 0);
		cr_assert_eq(imgcheck_images_count(s), 1, "row %zu", i);
		cr_assert_eq(imgcheck_images_count(before), 1, "row %zu", i);
		if (rows[i].ignored)
			cr_assert_eq(ic_texts_push(&globs, rows[i].ignored, strlen(rows[i].ignored), NULL), 0);
		ic_images_ignore(before, &globs);
		cr_assert_eq(imgcheck_images_mark_known(s, before, NULL), 0);
		cr_expect_eq(imgcheck_images_get(s, 0)->known, rows[i].needed, "row %zu", i);
		cr_assert_eq(imgcheck_images_subtract(s, before, NULL), 0);
		cr_expect_eq(imgcheck_images_count(s), rows[i].needed ? 0 : 1, "row %zu", i);
		ic_texts_clear(&globs);
		imgcheck_images_free(s);
		imgcheck_images_free(before);
	}
}

TEST(images, subtract)
{
	struct imgcheck_images *s = NULL, *before = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_new(&before), 0);
	for (const char *const *ref = (const char *const[]){"a/b:1", "a/b:2", "c/d:1", NULL}; *ref; ref++)
		cr_assert_eq(imgcheck_images_add_ref(s, *ref, NULL), 0);
	cr_assert_eq(imgcheck_images_subtract(s, before, NULL), 0);
	cr_expect_eq(imgcheck_images_count(s), 3);
	cr_assert_eq(imgcheck_images_add_ref(before, "a/b:2", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(before, "e/f:1", NULL), 0);
	cr_assert_eq(imgcheck_images_subtract(s, before, NULL), 0);
	cr_expect_eq(imgcheck_images_count(s), 2);
	cr_expect_str_eq(imgcheck_image_ref(imgcheck_images_get(s, 0)), "a/b:1");
	cr_expect_str_eq(imgcheck_image_ref(imgcheck_images_get(s, 1)), "c/d:1");
	cr_expect_eq(imgcheck_images_subtract(s, s, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_subtract(NULL, s, NULL), IMGCHECK_ERR_ARGUMENT);
	imgcheck_images_free(s);
	imgcheck_images_free(before);
}

TEST(images, parts)
{
	static const struct {
		const char *ref, *parts[4];
	} rows[] = {
		{"busybox", {"docker.io", "library/busybox", "latest", NULL}},
		{"r.example:5000/a/b:v1", {"r.example:5000", "a/b", "v1", NULL}},
		{"q.example/a:v1@sha256:0123456789012345678901234567890123456789012345678901234567890123",
		 {"q.example", "a", NULL, "sha256:0123456789012345678901234567890123456789012345678901234567890123"}},
		{"No/Reference", {NULL, NULL, NULL, NULL}},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;

		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_add_ref(s, rows[i].ref, NULL), 0);
		for (int part = IMGCHECK_PART_REGISTRY; part <= IMGCHECK_PART_DIGEST; part++) {
			const char *found = imgcheck_image_part(imgcheck_images_get(s, 0), (enum imgcheck_part)part);

			cr_expect((!found && !rows[i].parts[part]) || (found && rows[i].parts[part] && !strcmp(found, rows[i].parts[part])),
				  "%s: part %d is %s", rows[i].ref, part, found ? found : "none");
		}
		imgcheck_images_free(s);
	}
	cr_expect_null(imgcheck_image_part(NULL, IMGCHECK_PART_TAG));
}

TEST(images, values)
{
	static const struct {
		const char *json;
		int result;
	} rows[] = {
		{"{}", 0}, {"{\"a\": {\"b\": 1}}", 0}, {"[]", IMGCHECK_ERR_SYNTAX}, {"{", IMGCHECK_ERR_SYNTAX}, {"", IMGCHECK_ERR_SYNTAX},
	};
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(imgcheck_images_set_values(s, rows[i].json, strlen(rows[i].json), NULL), rows[i].result, "%s", rows[i].json);
	cr_expect_eq(json_object_size(s->values), 1, "what failed changes nothing");
	cr_expect_eq(imgcheck_images_set_value(s, "c", "d", NULL), 0);
	cr_expect_str_eq(json_string_value(json_object_get(s->values, "c")), "d");
	cr_expect_eq(imgcheck_images_set_value(s, "c", NULL, NULL), 0);
	cr_expect_null(json_object_get(s->values, "c"));
	cr_expect_eq(imgcheck_images_set_value(s, "c", "\xff", NULL), IMGCHECK_ERR_SYNTAX);
	imgcheck_images_free(s);
}

TEST(images, arguments)
{
	static char long_ref[IC_MAX_REF_BYTES + 2];
	struct imgcheck_images *s = NULL;

	memset(long_ref, 'a', sizeof(long_ref) - 1);
	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_expect_eq(imgcheck_images_new(NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_add_ref(s, NULL, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_add_ref(NULL, "a", NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_add_ref(s, long_ref, NULL), IMGCHECK_ERR_LIMIT);
	cr_expect_eq(imgcheck_images_mark_known(s, NULL, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_set_values(s, NULL, 1, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_set_values(s, "{}", IC_MAX_VALUES_BYTES + 1, NULL), IMGCHECK_ERR_LIMIT);
	cr_expect_eq(imgcheck_images_set_value(s, "", "x", NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_add_path(s, NULL, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_add_data(s, "x", NULL, 1, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_add_data(s, NULL, "x", 1, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_render(s, NULL, NULL, NULL, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_images_count(NULL), 0);
	cr_expect_null(imgcheck_images_get(NULL, 0));
	cr_expect_null(imgcheck_images_problem(NULL, 0));
	cr_expect_null(imgcheck_images_problem(s, 0));
	cr_expect_null(imgcheck_image_ref(NULL));
	cr_expect_null(imgcheck_image_source(NULL));
	cr_expect_null(imgcheck_image_origin(NULL, 0, IMGCHECK_FIELD_FILE));
	imgcheck_images_free(s);
	imgcheck_images_free(NULL);
}
