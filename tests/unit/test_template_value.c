/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template_value.h"

/* NULL: undefined. */
static json_t *value_of(const char *text)
{
	json_t *value = NULL;

	cr_assert(!text || ic_json_parse("v", text, strlen(text), &value, NULL) == 0, "%s", text);
	return value;
}

TEST(template_value, prints_and_is_true_as_in_python)
{
	static const struct {
		const char *value, *text, *kind;
		bool truth;
	} rows[] = {
		{NULL, "", "undefined", false},
		{"null", "None", "none", false},
		{"true", "True", "a Boolean", true},
		{"false", "False", "a Boolean", false},
		{"0", "0", "a number", false},
		{"-1", "-1", "a number", true},
		{"0.0", "0.0", "a number", false},
		{"\"\"", "", "a text", false},
		{"\"a'b\"", "a'b", "a text", true},
		{"[]", "[]", "a list", false},
		{"[1, \"a\", null, [true]]", "[1, 'a', None, [True]]", "a list", true},
		{"{}", "{}", "a mapping", false},
		{"{\"a\": \"it's\", \"b\": {}}", "{'a': \"it's\", 'b': {}}", "a mapping", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *value = value_of(rows[i].value);
		struct ic_work work;
		struct ic_buf text;

		ic_work_init(&work);
		ic_buf_init(&text, 128);
		cr_assert_eq(ic_value_add_text(&work, value, &text, NULL), 0);
		cr_assert_str_eq(ic_buf_text(&text), rows[i].text);
		cr_assert_str_eq(ic_value_kind(value), rows[i].kind);
		cr_assert_eq(ic_value_truth(value), rows[i].truth, "%s", rows[i].kind);
		ic_buf_clear(&text);
		json_decref(value);
	}
}

TEST(template_value, compares_as_python_does)
{
	static const struct {
		const char *a, *b;
		enum ic_operator op;
		int result; /* -1: refused */
	} rows[] = {
		{NULL, NULL, IC_OP_EQUAL, 1},
		{NULL, "null", IC_OP_EQUAL, 0},
		{NULL, "\"\"", IC_OP_UNEQUAL, 1},
		{"1", "1.0", IC_OP_EQUAL, 1},
		{"1", "true", IC_OP_EQUAL, 1},
		{"1", "\"1\"", IC_OP_EQUAL, 0},
		{"[1, {\"a\": 2}]", "[1.0, {\"a\": 2}]", IC_OP_EQUAL, 1},
		{"[1, 2]", "[1]", IC_OP_EQUAL, 0},
		{"{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", IC_OP_EQUAL, 1},
		{"{\"a\": 1}", "{\"b\": 1}", IC_OP_EQUAL, 0},
		{"\"a\"", "\"b\"", IC_OP_LESS, 1},
		{"\"a\"", "\"ab\"", IC_OP_LESS, 1},
		{"\"Z\"", "\"a\"", IC_OP_GREATER, 0},
		{"\"a\"", "\"a\"", IC_OP_LESS_EQUAL, 1},
		{"2", "1.5", IC_OP_GREATER_EQUAL, 1},
		{"1", "\"a\"", IC_OP_LESS, -1},
		{"null", "1", IC_OP_LESS, -1},
		{"[1]", "[2]", IC_OP_LESS, -1},
		{NULL, "1", IC_OP_GREATER, -1},
		{"\"b\"", "\"abc\"", IC_OP_IN, 1},
		{"\"\"", "\"\"", IC_OP_IN, 1},
		{"1", "\"1\"", IC_OP_IN, -1},
		{"1.0", "[1]", IC_OP_IN, 1},
		{"\"a\"", "{\"a\": 0}", IC_OP_IN, 1},
		{"1", "{\"a\": 0}", IC_OP_NOT_IN, 1},
		{"[]", "{\"a\": 0}", IC_OP_IN, -1},
		{"1", NULL, IC_OP_IN, 0},
		{"1", "2", IC_OP_IN, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *a = value_of(rows[i].a), *b = value_of(rows[i].b);
		struct ic_work work;
		bool holds;
		int result;

		ic_work_init(&work);
		result = ic_value_compare(&work, rows[i].op, a, b, &holds, NULL);
		cr_assert_eq(result == 0 ? (int)holds : -1, rows[i].result, "row %zu", i);
		json_decref(a);
		json_decref(b);
	}
}

TEST(template_value, looks_up_as_python_does)
{
	static const struct {
		const char *base, *key, *found; /* NULL: undefined; "!": refused */
	} rows[] = {
		{"{\"a\": 1}", "\"a\"", "1"},
		{"{\"a\": 1}", "\"b\"", NULL},
		{"{\"a\": 1}", "1", NULL},
		{"{\"a\": 1}", "\"keys\"", "!"},
		{"{\"keys\": 1}", "\"keys\"", "1"},
		{"[1, 2]", "-1", "2"},
		{"[1, 2]", "true", "2"},
		{"[1, 2]", "2", NULL},
		{"[1, 2]", "-3", NULL},
		{"[1, 2]", "0.5", NULL},
		{"[1, 2]", "\"a\"", "!"},
		{"\"h\\u00e9\"", "1", "\"\\u00E9\""},
		{"\"h\\u00e9\"", "-2", "\"h\""},
		{"\"h\"", "9", NULL},
		{"5", "0", NULL},
		{"null", "\"a\"", NULL},
		{NULL, "0", "!"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *base = value_of(rows[i].base), *key = value_of(rows[i].key), *found;
		int result = ic_value_item(base, key, &found, NULL);
		char *text = found ? json_dumps(found, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;

		cr_assert_eq(result == 0, !rows[i].found || strcmp(rows[i].found, "!") != 0, "row %zu", i);
		if (result == 0)
			cr_assert(rows[i].found ? text && strcmp(text, rows[i].found) == 0 : !text, "row %zu: %s", i,
			          text ? text : "undefined");
		free(text);
		json_decref(found);
		json_decref(base);
		json_decref(key);
	}
}

TEST(template_value, stops_when_the_budget_is_spent)
{
	json_t *list = value_of("[\"0123456789\", \"0123456789\"]"), *items = NULL;
	struct ic_work work = {.steps = 1, .bytes = 100};
	struct imgcheck_error *err = NULL;
	struct ic_buf text;
	bool same;

	cr_assert_eq(ic_work_step(&work, NULL), 0);
	cr_assert_eq(ic_work_step(&work, &err), IMGCHECK_ERR_LIMIT);
	imgcheck_error_free(err);
	ic_buf_init(&text, 128);
	cr_assert_eq(ic_value_add_text(&work, list, &text, NULL), 0);
	cr_assert_eq(ic_value_add_text(&work, list, &text, NULL), IMGCHECK_ERR_LIMIT);
	cr_assert_eq(ic_value_compare(&work, IC_OP_EQUAL, list, list, &same, NULL), IMGCHECK_ERR_LIMIT);
	cr_assert_eq(ic_value_items(&work, json_array_get(list, 0), &items, NULL), IMGCHECK_ERR_LIMIT);
	cr_assert_eq(ic_value_check_depth(&work, list, NULL), IMGCHECK_ERR_LIMIT);
	ic_buf_clear(&text);
	json_decref(list);
}
