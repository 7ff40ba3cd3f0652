/* SPDX-License-Identifier: Apache-2.0 */
#include "base/toml.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "test.h"
#include "toml.h"

/*
 * A valid case is <case>.toml and <case>.json, which holds the values as tests/toml/tomllib-cases tells them;
 * an invalid one is <case>.toml and <case>.expected with "LINE COLUMN MESSAGE-PART".
 */
typedef void check_case(const char *path, const char *text, size_t len, char *expected);

static size_t each_case(const char *pattern, const char *ending, check_case *check)
{
	glob_t found;
	size_t count;

	cr_assert_eq(glob(test_data(pattern), 0, NULL, &found), 0, "no cases in %s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char beside[512], *text, *expected;
		size_t len, stem = strlen(found.gl_pathv[i]) - strlen(".toml");

		(void)snprintf(beside, sizeof(beside), "%.*s%s", (int)stem, found.gl_pathv[i], ending);
		text = test_read_file(found.gl_pathv[i], &len);
		expected = test_read_file(beside, NULL);
		check(found.gl_pathv[i], text, len, expected);
		free(expected);
		free(text);
	}
	count = found.gl_pathc;
	globfree(&found);
	return count;
}

static void check_valid(const char *path, const char *text, size_t len, char *expected)
{
	struct imgcheck_error *err = NULL;
	struct ic_doc *doc;
	json_t *wanted = json_loads(expected, 0, NULL), *told;

	cr_assert(wanted, "%s", path);
	cr_assert_eq(ic_toml_parse(path, text, len, &doc, &err), 0, "%s: %s", path, imgcheck_error_message(err));
	told = tell_toml(doc->root);
	cr_assert(json_equal(told, wanted), "%s", path);
	json_decref(told);
	json_decref(wanted);
	ic_doc_free(doc);
}

static void check_invalid(const char *path, const char *text, size_t len, char *expected)
{
	struct imgcheck_error *err = NULL;
	struct ic_doc *doc;
	unsigned line, column, wanted_line, wanted_column;
	int at;

	expected[strcspn(expected, "\n")] = '\0';
	cr_assert_eq(sscanf(expected, "%u %u %n", &wanted_line, &wanted_column, &at), 2, "%s", path);
	cr_assert_eq(ic_toml_parse("given", text, len, &doc, &err), IMGCHECK_ERR_SYNTAX, "%s", path);
	cr_assert_null(doc);
	cr_assert_str_eq(imgcheck_error_place(err, &line, &column), "given");
	cr_assert(strstr(imgcheck_error_message(err), expected + at), "%s: %s", path, imgcheck_error_message(err));
	cr_assert_eq(line, wanted_line, "%s: line %u", path, line);
	cr_assert_eq(column, wanted_column, "%s: column %u", path, column);
	imgcheck_error_free(err);
}

TEST(toml, reads_valid_cases)
{
	cr_assert_geq(each_case("toml/valid/*.toml", ".json", check_valid), 9);
}

TEST(toml, refuses_invalid_cases_at_their_place)
{
	cr_assert_geq(each_case("toml/invalid/*.toml", ".expected", check_invalid), 40);
}

TEST(toml, keeps_order_and_places)
{
	static const char text[] = "z = 1\n\n[b]\n  [a.\"x\"]\n  y = 'v'\n";
	struct ic_doc *doc;
	const struct ic_item *i;

	cr_assert_eq(ic_toml_parse("given", text, strlen(text), &doc, NULL), 0);
	i = ic_node_items(doc->root);
	cr_assert(ic_node_equals(i->key, "z") && ic_node_equals(i->next->key, "b") && ic_node_equals(i->next->next->key, "a"));
	i = ic_node_items(ic_node_get(ic_node_get(doc->root, "a"), "x"));
	cr_assert_str_eq(ic_node_text(i->value), "v");
	cr_assert(i->key->line == 5 && i->key->column == 3 && i->value->line == 5 && i->value->column == 7);
	ic_doc_free(doc);
}

TEST(toml, tells_booleans_from_texts)
{
	static const char text[] = "a = true\nb = false\nc = 'true'\n";
	struct ic_doc *doc;
	bool is;

	cr_assert_eq(ic_toml_parse("given", text, strlen(text), &doc, NULL), 0);
	cr_assert(ic_toml_bool(ic_node_get(doc->root, "a"), &is) && is);
	cr_assert(!ic_toml_bool(ic_node_get(doc->root, "b"), &is) && is);
	cr_assert(!ic_toml_bool(ic_node_get(doc->root, "c"), &is) && !is);
	cr_assert(!ic_toml_bool(NULL, &is) && !is);
	ic_doc_free(doc);
}

static int parse_repeated(const char *before, const char *part, size_t count, struct imgcheck_error **err)
{
	struct ic_doc *doc;
	struct ic_buf text;
	int result;

	ic_buf_init(&text, (size_t)64 << 20);
	cr_assert_eq(ic_buf_add_text(&text, before, NULL), 0);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(ic_buf_add_text(&text, part, NULL), 0);
	result = ic_toml_parse("given", ic_buf_text(&text), text.len, &doc, err);
	ic_doc_free(doc);
	ic_buf_clear(&text);
	return result;
}

TEST(toml, keeps_to_its_ceilings)
{
	static const struct {
		const char *before, *part;
		size_t count;
	} rows[] = {
		{"a = ", "[", IC_MAX_TOML_DEPTH + 1},
		{"a = ", "{a = ", IC_MAX_TOML_DEPTH + 1},
		{"", "[[a]]\n", IC_MAX_TOML_KEYS + 1},
		{"a", ".a", IC_MAX_TOML_DEPTH},
		{"[a", ".a", IC_MAX_TOML_DEPTH},
	};
	struct imgcheck_error *err = NULL;

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		cr_assert_eq(parse_repeated(rows[i].before, rows[i].part, rows[i].count, &err), IMGCHECK_ERR_LIMIT, "row %zu: %s", i,
		             imgcheck_error_message(err));
		cr_assert_str_eq(imgcheck_error_place(err, NULL, NULL), "given");
		imgcheck_error_free(err);
		err = NULL;
	}
	cr_assert_eq(parse_repeated("", "[[a]]\n", IC_MAX_TOML_KEYS, &err), 0, "%s", imgcheck_error_message(err));
	cr_assert_eq(parse_repeated("a = [", "1, ", 200000, &err), IMGCHECK_ERR_SYNTAX);
	imgcheck_error_free(err);
}
