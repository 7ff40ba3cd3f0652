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
