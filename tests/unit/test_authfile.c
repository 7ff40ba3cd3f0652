/* SPDX-License-Identifier: Apache-2.0 */
#include "source/authfile.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "source/secret.h"
#include "test.h"

/*
 * A case is two files: <case>.json, and <case>.expected with the lines "entry KEY AUTH-USER AUTH-SECRET USER
 * SECRET TOKEN" and "helper KEY NAME" (tabs between, - for none), or with the one line "CODE LINE MESSAGE-PART".
 */
typedef void check_case(const char *path, const char *text, size_t len, const char *expected);

static void each_case(const char *pattern, check_case *check)
{
	glob_t found;

	cr_assert_eq(glob(test_data(pattern), 0, NULL, &found), 0, "no cases in %s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *expected_path = strdup(found.gl_pathv[i]), *text, *expected;
		size_t len;

		cr_assert(expected_path);
		expected_path = realloc(expected_path, strlen(expected_path) + strlen("expected") + 1);
		cr_assert(expected_path);
		(void)snprintf(strrchr(expected_path, '.'), sizeof(".expected"), ".expected");
		text = test_read_file(found.gl_pathv[i], &len);
		expected = test_read_file(expected_path, NULL);
		check(found.gl_pathv[i], text, len, expected);
		free(expected);
		free(text);
		free(expected_path);
	}
	globfree(&found);
}

static const char *shown(const char *text)
{
	return text ? text : "-";
}

static void describe(const struct ic_authfile *f, struct ic_buf *out)
{
	for (size_t i = 0; i < f->entries.count; i++) {
		const struct ic_auth_entry *e = ic_vec_at(&f->entries, i);

		cr_assert_eq(ic_buf_printf(out, NULL, "entry\t%s\t%s\t%s\t%s\t%s\t%s\n", e->key, shown(e->auth_user), shown(e->auth_secret),
		                           shown(e->user), shown(e->secret), shown(e->identity_token)),
		             0);
	}
	for (size_t i = 0; i < f->helpers.count; i++) {
		const struct ic_auth_helper *h = ic_vec_at(&f->helpers, i);

		cr_assert_eq(ic_buf_printf(out, NULL, "helper\t%s\t%s\n", shown(h->key), h->name), 0);
	}
}

static void check_valid(const char *path, const char *text, size_t len, const char *expected)
{
	struct imgcheck_error *err = NULL;
	struct ic_authfile f;
	struct ic_buf out;

	ic_buf_init(&out, 1 << 16);
	cr_assert_eq(ic_authfile_parse("given", text, len, &f, &err), 0, "%s: %s", path, imgcheck_error_message(err));
	cr_assert_str_eq(f.name, "given");
	describe(&f, &out);
	cr_assert_str_eq(ic_buf_text(&out), expected, "%s", path);
	ic_buf_clear(&out);
	ic_authfile_clear(&f);
}

/* The secret in every invalid case is "hunter2", plain or in base64. */
static void check_invalid(const char *path, const char *text, size_t len, const char *expected)
{
	struct imgcheck_error *err = NULL;
	struct ic_authfile f;
	char code[16], part[200];
	unsigned line, found_line;
	int result = ic_authfile_parse("given.json", text, len, &f, &err);

	cr_assert_eq(sscanf(expected, "%15s %u %199[^\n]", code, &line, part), 3, "%s", path);
	cr_assert_eq(result, strcmp(code, "SYNTAX") == 0 ? IMGCHECK_ERR_SYNTAX : IMGCHECK_ERR_CONFIG, "%s", path);
	cr_assert_eq(imgcheck_error_code(err), (enum imgcheck_err)result, "%s", path);
	cr_assert(strstr(imgcheck_error_message(err), part), "%s: %s", path, imgcheck_error_message(err));
	cr_assert_str_eq(imgcheck_error_place(err, &found_line, NULL), "given.json", "%s", path);
	cr_assert_eq(found_line, line, "%s: line %u", path, found_line);
	cr_assert(!strstr(imgcheck_error_message(err), "hunter2"), "%s: %s", path, imgcheck_error_message(err));
	cr_assert(!strstr(imgcheck_error_message(err), "aHVudGVyM"), "%s: %s", path, imgcheck_error_message(err));
	cr_assert(!f.name && !f.entries.count);
	imgcheck_error_free(err);
}

TEST(authfile, reads_valid_cases)
{
	each_case("authfile/valid/*.json", check_valid);
}

TEST(authfile, refuses_invalid_cases_without_telling_secrets)
{
	each_case("authfile/invalid/*.json", check_invalid);
}

TEST(authfile, bounds_entries_and_structure)
{
	struct ic_buf text;
	struct ic_authfile f;
	struct imgcheck_error *err = NULL;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	cr_assert_eq(ic_buf_add_text(&text, "{\"auths\": {", NULL), 0);
	for (size_t i = 0; i <= IC_MAX_LIST_ITEMS; i++)
		cr_assert_eq(ic_buf_printf(&text, NULL, "%s\"h%zu\": {}", i ? "," : "", i), 0);
	cr_assert_eq(ic_buf_add_text(&text, "}}", NULL), 0);
	cr_assert_eq(ic_authfile_parse("given", text.data, text.len, &f, &err), IMGCHECK_ERR_LIMIT);
	cr_assert_str_eq(imgcheck_error_place(err, NULL, NULL), "given");
	imgcheck_error_free(err);
	err = NULL;
	ic_buf_clear(&text);
	for (size_t i = 0; i <= IC_MAX_JSON_TOKENS; i++)
		cr_assert_eq(ic_buf_add_char(&text, ',', NULL), 0);
	cr_assert_eq(ic_authfile_parse("given", text.data, text.len, &f, &err), IMGCHECK_ERR_LIMIT);
	imgcheck_error_free(err);
	ic_buf_clear(&text);
}

/* Looks at the bytes before they are released: the extra reference keeps them. */
TEST(authfile, overwrites_json_texts)
{
	static const char text[] = "{\"auths\": {\"a\": {\"auth\": \"hunter2\", \"list\": [\"hunter2\"]}}}";
	json_t *root, *entry;

	cr_assert_eq(ic_json_parse(NULL, text, strlen(text), &root, NULL), 0);
	entry = json_incref(json_object_get(json_object_get(root, "auths"), "a"));
	ic_secret_free_json(root);
	cr_assert_eq(json_string_value(json_object_get(entry, "auth"))[0], '\0');
	cr_assert_eq(json_string_value(json_array_get(json_object_get(entry, "list"), 0))[0], '\0');
	json_decref(entry);
	ic_secret_free_json(NULL);
	ic_secret_free(NULL);
}
