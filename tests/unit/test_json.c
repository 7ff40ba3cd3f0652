/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

static int parse(const char *text, json_t **out, struct imgcheck_error **err)
{
	return ic_json_parse("x.json", text, strlen(text), out, err);
}

TEST(json, one_value_and_blanks)
{
	json_t *v IC_AUTO(json) = NULL;

	cr_assert_eq(parse(" {\"a\": \"b\", \"a\": \"c\"} \n", &v, NULL), 0);
	cr_assert_str_eq(ic_json_text(v, "a"), "c");
	cr_assert_null(ic_json_text(v, "b"));
}

TEST(json, errors_name_the_place)
{
	struct imgcheck_error *err = NULL;
	unsigned line, column;
	json_t *v;

	cr_assert_eq(parse("{\n  \"a\": }", &v, &err), IMGCHECK_ERR_SYNTAX);
	cr_assert_null(v);
	cr_assert_str_eq(imgcheck_error_place(err, &line, &column), "x.json");
	cr_assert_eq(line, 2);
	cr_assert_gt(column, 1);
	imgcheck_error_free(err);
	cr_assert_eq(parse("{} {}", &v, NULL), IMGCHECK_ERR_SYNTAX);
	cr_assert_eq(parse("", &v, NULL), IMGCHECK_ERR_SYNTAX);
	cr_assert_eq(parse("123456789012345678901234567890", &v, NULL), IMGCHECK_ERR_SYNTAX);
}

/* The parser is given more than the text; none of that is seen. */
TEST(json, is_read_as_if_it_stood_alone)
{
	static const struct {
		const char *text, *message; /* NULL: it is good */
		unsigned line, column;
	} rows[] = {
		{"1, 2", "cannot read JSON: end of file expected", 1, 0},
		{"1] 2", "cannot read JSON: end of file expected near '2'", 1, 4},
		{"{\"a\": 1", "cannot read JSON: '}' expected near end of file", 1, 8},
		{"\n [1", "cannot read JSON: ']' expected near end of file", 2, 4},
		{"x", "cannot read JSON: invalid token near 'x'", 1, 1},
		{"", "cannot read JSON: unexpected token near end of file", 1, 1},
		{"\"a longer text than the first size of any buffer, with an \\\" escape and \\u00e9\"", NULL, 0, 0},
		{"-12345678901234567.25e1", NULL, 0, 0},
		{" true ", NULL, 0, 0},
		{"[\"]\", {\"[\": \",\"}]", NULL, 0, 0},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		unsigned line, column;
		json_t *v;

		cr_assert_eq(parse(rows[i].text, &v, &err), rows[i].message ? IMGCHECK_ERR_SYNTAX : 0, "%s", rows[i].text);
		cr_expect_str_eq(imgcheck_error_message(err), rows[i].message ? rows[i].message : "", "%s: %s", rows[i].text,
		                 imgcheck_error_message(err));
		(void)imgcheck_error_place(err, &line, &column);
		cr_expect(line == rows[i].line && column == rows[i].column, "%s: %u:%u", rows[i].text, line, column);
		if (!rows[i].message) {
			char *again = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
			json_t *same;

			cr_assert_eq(parse(again, &same, NULL), 0);
			cr_expect(json_equal(v, same), "%s", again);
			json_decref(same);
			free(again);
		}
		json_decref(v);
		imgcheck_error_free(err);
	}
}

TEST(json, next_value)
{
	const char *text = "{\"a\": 1}\n[2]";
	size_t used = 0;
	json_t *v IC_AUTO(json) = NULL;

	cr_assert_eq(ic_json_parse_next("x", text, strlen(text), &v, &used, NULL), 0);
	cr_assert_eq(used, 8);
	cr_assert(json_is_object(v));
}

TEST(json, structure_is_counted_before_it_is_built)
{
	size_t len = 4 << 20;
	char *text = malloc(len);
	struct imgcheck_error *err = NULL;
	json_t *v;

	for (size_t i = 0; i < len; i++)
		text[i] = "{},"[i % 3];
	text[0] = '[';
	cr_assert_eq(ic_json_parse("x", text, len, &v, &err), IMGCHECK_ERR_LIMIT);
	imgcheck_error_free(err);
	/* the same bytes inside a string are only text */
	text[0] = '"';
	text[len - 1] = '"';
	cr_assert_eq(ic_json_parse("x", text, len, &v, NULL), 0);
	json_decref(v);
	free(text);
}
