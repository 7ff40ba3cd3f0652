/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template.h"
#include "manifest/template_filter.h"

/* Each filter and test through the engine, over one value `v`. */

static void evaluate(const char *expression, const char *value, char *out, size_t size)
{
	char template[256];
	json_t *values = json_object(), *v = NULL;
	struct ic_buf text;

	if (value) {
		cr_assert_eq(ic_json_parse("v", value, strlen(value), &v, NULL), 0, "%s", value);
		cr_assert_eq(json_object_set_new(values, "v", v), 0);
	}
	(void)snprintf(template, sizeof(template), "{{ %s }}", expression);
	ic_buf_init(&text, IC_MAX_TEMPLATE_BYTES);
	if (ic_template_render("t", template, strlen(template), values, &text, NULL, NULL) == 0)
		(void)snprintf(out, size, "%s", ic_buf_text(&text));
	else
		(void)snprintf(out, size, "!");
	ic_buf_clear(&text);
	json_decref(values);
}

TEST(template_filter, gives_what_jinja2_gives)
{
	static const struct {
		const char *expression, *value, *output; /* value NULL: undefined; output "!": refused */
	} rows[] = {
		{"v|default('x')", NULL, "x"},
		{"v|default", NULL, ""},
		{"v|default('x')", "\"\"", ""},
		{"v|default('x', true)", "\"\"", "x"},
		{"v|d('x', boolean=true)", "false", "x"},
		{"v|d(default_value='x')", NULL, "x"},
		{"v|default(boolean=true)", "0", ""},
		{"v|string ~ 1", "1.50", "1.51"},
		{"v|string", NULL, ""},
		{"v|int", "\"12\"", "12"},
		{"v|int", "\"x\"", "0"},
		{"v|int(7)", "\"x\"", "7"},
		{"v|int(default='n')", "[]", "n"},
		{"v|int", "-3.9", "-3"},
		{"v|int", "true", "1"},
		{"v|int", "null", "0"},
		{"v|int", NULL, "!"},
		{"v|int('1', 16)", "\"f\"", "!"},
		{"v|float", "\"1\"", "1.0"},
		{"v|float", "\"x\"", "0.0"},
		{"v|float('y')", "\"x\"", "y"},
		{"v|float", "3", "3.0"},
		{"v|float", NULL, "!"},
		{"v|lower ~ v|upper", "\"aB\"", "abAB"},
		{"v|upper", "null", "NONE"},
		{"v|upper", NULL, ""},
		{"v|trim", "\" \\u00a0a b\\n\"", "a b"},
		{"v|trim", "5", "5"},
		{"v|trim('x')", "\"x\"", "!"},
		{"v|replace('a', 'bb')", "\"aca\"", "bbcbb"},
		{"v|replace('a', 'b', 1)", "\"aca\"", "bca"},
		{"v|replace('a', 'b', count=0)", "\"aca\"", "aca"},
		{"v|replace('a', '', -1)", "\"aca\"", "c"},
		{"v|replace(1, 2)", "\"1x1\"", "2x2"},
		{"v|replace('', 'x')", "\"a\"", "!"},
		{"v|replace('a', 'b', 1.5)", "\"a\"", "!"},
		{"v|join", "[1, \"a\", null]", "1aNone"},
		{"v|join(', ')", "[1, 2]", "1, 2"},
		{"v|join('-')", "\"abc\"", "a-b-c"},
		{"v|join(d=0)", "{\"a\": 1, \"b\": 2}", "a0b"},
		{"v|join", NULL, ""},
		{"v|join", "3", "!"},
		{"v|length ~ v|count", "\"h\\u00e9\"", "22"},
		{"v|length", "{\"a\": 1}", "1"},
		{"v|length", NULL, "0"},
		{"v|length", "3", "!"},
		{"v|first ~ v|last", "[1, 2, 3]", "13"},
		{"v|first ~ v|last", "\"h\\u00e9\"", "h\xc3\xa9"},
		{"v|first", "{\"k\": 1}", "k"},
		{"v|first|default('none')", "[]", "none"},
		{"v|last|default('none')", NULL, "none"},
		{"v|last", "true", "!"},
		{"v|list", "\"ab\"", "['a', 'b']"},
		{"v|list", "{\"a\": 1}", "['a']"},
		{"v|list", NULL, "[]"},
		{"v|indent", "\"a\\nb\\n\\nc\"", "a\n    b\n\n    c"},
		{"v|indent(2, true)", "\"a\\nb\\n\"", "  a\n  b\n"},
		{"v|indent(width=1, blank=true)", "\"a\\n\\nb\"", "a\n \n b"},
		{"v|indent('> ')", "\"a\\r\\nb\\u2028c\\r\"", "a\n> b\n> c"},
		{"v|indent(1, first=true)", "\"\"", " "},
		{"v|indent", "3", "!"},
		{"v|indent(true)", "\"a\"", "!"},
		{"v|default('x', 'y', 'z')", "1", "!"},
		{"v|default('x', default_value='y')", "1", "!"},
		{"v|default(other='y')", "1", "!"},
		{"v|bool", "1", "!"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char output[128];

		evaluate(rows[i].expression, rows[i].value, output, sizeof(output));
		cr_assert_str_eq(output, rows[i].output, "%s of %s", rows[i].expression,
		                 rows[i].value ? rows[i].value : "undefined");
	}
}

/* One letter a value: T true, F false. */
TEST(template_filter, tests_as_jinja2_does)
{
	static const char *const values[] = {NULL, "null", "true", "false", "1", "1.5", "\"\"", "[]", "{}"};
	static const struct {
		const char *test, *truth;
	} rows[] = {
		{"defined", "FTTTTTTTT"},  {"undefined", "TFFFFFFFF"}, {"none", "FTFFFFFFF"},    {"boolean", "FFTTFFFFF"},
		{"true", "FFTFFFFFF"},     {"false", "FFFTFFFFF"},     {"integer", "FFFFTFFFF"}, {"float", "FFFFFTFFF"},
		{"number", "FFTTTTFFF"},   {"string", "FFFFFFTFF"},    {"mapping", "FFFFFFFFT"}, {"sequence", "TFFFFFTTT"},
		{"iterable", "TFFFFFTTT"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
			char expression[64], output[16];

			(void)snprintf(expression, sizeof(expression), "v is %s", rows[i].test);
			evaluate(expression, values[k], output, sizeof(output));
			cr_assert_eq(output[0], rows[i].truth[k], "%s is %s", values[k] ? values[k] : "undefined", rows[i].test);
			(void)snprintf(expression, sizeof(expression), "v is not %s", rows[i].test);
			evaluate(expression, values[k], output, sizeof(output));
			cr_assert_neq(output[0], rows[i].truth[k], "%s is not %s", values[k] ? values[k] : "undefined", rows[i].test);
		}
	}
}

TEST(template_filter, knows_its_names)
{
	cr_assert(ic_filter_exists("default") && ic_filter_exists("indent") && !ic_filter_exists("safe") &&
	          !ic_filter_exists(""));
	cr_assert(ic_test_exists("defined") && !ic_test_exists("divisibleby"));
	cr_assert_eq(ic_filter_argument("replace", "count"), 2);
	cr_assert_eq(ic_filter_argument("replace", "boolean"), -1);
	cr_assert_eq(ic_filter_argument("lower", "x"), -1);
	cr_assert_eq(ic_filter_argument("safe", "x"), -1);
}
