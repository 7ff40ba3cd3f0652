/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ref.h"

#include <string.h>

#include "base/limits.h"
#include "test.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Our words for a fault of the table; any other for "invalid reference format". */
static const char *our_words(const char *fault)
{
	if (strcmp(fault, "repository name must be lowercase") == 0)
		return "must be lower case";
	if (strcmp(fault, "repository name must not be more than 255 characters") == 0)
		return "longer than 255 bytes";
	if (strcmp(fault, "invalid checksum digest length") == 0 || strcmp(fault, "unsupported digest algorithm") == 0)
		return "its digest is not sha256";
	return "cannot read '";
}

static void check_valid(const struct test_table *t, size_t row, const char *input, size_t len)
{
	const char *id = test_table_get(t, row, "id");
	struct imgcheck_error *err = NULL;
	struct ic_ref ref;

	cr_assert(ic_ref_parse(input, len, &ref, &err) == 0, "%s: %s", id, imgcheck_error_message(err));
	cr_assert_str_eq(ref.registry, test_table_get(t, row, "registry"), "%s", id);
	cr_assert_str_eq(ref.repository, test_table_get(t, row, "repository"), "%s", id);
	cr_assert_str_eq(or_empty(ref.tag), test_table_get(t, row, "tag_used"), "%s", id);
	cr_assert_str_eq(or_empty(ref.digest), test_table_get(t, row, "digest_used"), "%s", id);
	cr_assert(ref.tag_ignored == (test_table_get(t, row, "tag_ignored")[0] != '\0'), "%s", id);
	cr_assert_str_eq(ic_ref_request_host(&ref), test_table_get(t, row, "request_host"), "%s", id);
	ic_ref_clear(&ref);
}

static void check_invalid(const struct test_table *t, size_t row, const char *input, size_t len)
{
	const char *id = test_table_get(t, row, "id");
	struct imgcheck_error *err = NULL;
	struct ic_ref ref;

	cr_assert(ic_ref_parse(input, len, &ref, &err) == IMGCHECK_ERR_SYNTAX, "%s: %s", id, input);
	cr_assert(strstr(imgcheck_error_message(err), our_words(test_table_get(t, row, "error"))), "%s: %s", id,
	          imgcheck_error_message(err));
	cr_assert_null(ref.registry);
	imgcheck_error_free(err);
}

/* The column cimage_short_name, for runtimes with short-name rules of their own, is not looked at. */
static void check_table(const char *path)
{
	struct test_table *t = test_table_open(path);

	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *input = test_table_get(t, row, "input");
		size_t len = strcmp(input, "\"\"") == 0 ? 0 : strlen(input);
		bool valid = strcmp(test_table_get(t, row, "valid"), "yes") == 0;

		cr_assert(ic_ref_is_valid(input, len) == valid, "%s: %s", test_table_get(t, row, "id"), input);
		(valid ? check_valid : check_invalid)(t, row, input, len);
	}
	test_table_close(t);
}

TEST(ref, own_rows)
{
	check_table(test_data("ref/own.tsv"));
}

TEST(ref, rows_of_the_facts)
{
	const char *path = test_shared("facts/refs.tsv");

	if (!path)
		cr_skip("no shared facts here");
	check_table(path);
}

TEST(ref, has_domain_only_where_one_is_written)
{
	static const struct {
		const char *text;
		bool has_domain;
	} rows[] = {{"nginx", false}, {"a/nginx", false}, {"docker.io/nginx", true}, {"localhost/x", true}, {"X/y", true}};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_ref ref;

		cr_assert(ic_ref_parse(rows[i].text, strlen(rows[i].text), &ref, NULL) == 0);
		cr_assert(ref.has_domain == rows[i].has_domain, "%s", rows[i].text);
		ic_ref_clear(&ref);
	}
}

TEST(ref, strict_wants_a_slash_and_a_tag_or_digest)
{
	static const struct {
		const char *text;
		bool strict;
	} rows[] = {
		{"nginx", false}, {"nginx:1", false}, {"library/nginx", false}, {"library/nginx:1", true},
		{"a.b/c:1", true}, {"a.b/c", false}, {"/etc/passwd:1", false}, {"http://a/b:1", false}, {"", false},
		{"a/b@sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", true},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_assert(ic_ref_is_strict(rows[i].text, strlen(rows[i].text)) == rows[i].strict, "%s", rows[i].text);
}

TEST(ref, logins_are_not_repeated)
{
	static const char *const rows[][2] = {
		{"user:hunter2@registry.internal/a/b:1", "***@registry.internal/a/b:1"},
		{"https://user:hunter2@registry.internal/a:1", "https://***@registry.internal/a:1"},
		{"user:hun@ter2@h/a", "***@h/a"},
		{"registry.internal/a@sha256:0123", "registry.internal/a@sha256:0123"},
		{"a:1@sha256:0123", "a:1@sha256:0123"},
		{"", ""},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_buf out;
		const char *text = rows[i][0];
		size_t len = strlen(text);

		cr_assert_eq(ic_ref_hide_login(&text, &len, &out, NULL), 0);
		cr_expect_eq(len, strlen(rows[i][1]));
		cr_expect(strncmp(text, rows[i][1], len) == 0, "%.*s", (int)len, text);
		ic_buf_clear(&out);
	}
}

TEST(ref, input_is_bounded_and_may_hold_anything)
{
	static char text[IC_MAX_REF_BYTES + 2];
	struct imgcheck_error *err = NULL;
	struct ic_ref ref;

	cr_assert_not(ic_ref_is_valid("a\0b", 3));
	cr_assert_not(ic_ref_is_valid("a.b/c:1\0", 8));
	cr_assert_not(ic_ref_is_valid("\0/a", 3));
	for (int byte = 1; byte < 256; byte++) {
		char one[] = {'a', '.', 'b', '/', 'c', (char)byte, 'd'};
		bool expected = strchr("0123456789abcdefghijklmnopqrstuvwxyz._-/:", byte) != NULL;

		cr_assert(ic_ref_is_valid(one, sizeof(one)) == expected, "byte %d", byte);
	}
	memset(text, '-', sizeof(text));
	cr_assert(ic_ref_parse(text, sizeof(text) - 1, &ref, &err) == IMGCHECK_ERR_SYNTAX);
	cr_assert(strstr(imgcheck_error_message(err), "longer than 1024 bytes"));
	cr_assert_lt(strlen(imgcheck_error_message(err)), 300);
	imgcheck_error_free(err);
}
