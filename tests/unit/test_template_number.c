/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/template_number.h"

static json_t *literal(const char *text)
{
	json_t *value = NULL;
	size_t len = strlen(text);
	bool real = strpbrk(text, ".") || (strpbrk(text, "eE") && strncmp(text, "0x", 2) != 0);
	int result = real ? ic_number_float_literal(text, len, &value, NULL)
	                  : ic_number_integer_literal(text, len, &value, NULL);

	cr_assert_eq(result == 0, value != NULL, "%s", text);
	return value;
}

static void print(const json_t *number, char *out, size_t size)
{
	struct ic_buf text;

	ic_buf_init(&text, 64);
	cr_assert_eq(ic_number_add_text(number, &text, NULL), 0);
	(void)snprintf(out, size, "%s", text.data);
	ic_buf_clear(&text);
}

TEST(template_number, prints_literals_as_python_does)
{
	static const struct {
		const char *literal, *text; /* NULL: refused */
	} rows[] = {
		{"0", "0"},
		{"000", "0"},
		{"1_000", "1000"},
		{"0x1F", "31"},
		{"0o17", "15"},
		{"0b1_01", "5"},
		{"9223372036854775807", "9223372036854775807"},
		{"9223372036854775808", NULL},
		{"0.5", "0.5"},
		{"00.50", "0.5"},
		{"1.0", "1.0"},
		{"100.0", "100.0"},
		{"0.1", "0.1"},
		{"1e3", "1000.0"},
		{"1.5E-3", "0.0015"},
		{"0.0001", "0.0001"},
		{"0.00001", "1e-05"},
		{"1.25e-7", "1.25e-07"},
		{"1e15", "1000000000000000.0"},
		{"1e16", "1e+16"},
		{"1e22", "1e+22"},
		{"123456789012345680.0", "1.2345678901234568e+17"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"5e-324", "5e-324"},
		{"2.2250738585072014e-308", "2.2250738585072014e-308"},
		{"0.30000000000000004", "0.30000000000000004"},
		{"1e400", NULL},
		{"1e-400", "0.0"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *value = literal(rows[i].literal);
		char text[64] = "";

		cr_assert_eq(value != NULL, rows[i].text != NULL, "%s", rows[i].literal);
		if (value) {
			print(value, text, sizeof(text));
			cr_assert_str_eq(text, rows[i].text, "%s", rows[i].literal);
		}
		json_decref(value);
	}
}

/* Where the program's locale writes a comma, templates still read and write a point. */
TEST(template_number, does_not_follow_the_locale)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
	locale_t comma = (locale_t)0, before;
	json_t *value;
	char text[64];

	for (size_t i = 0; !comma && i < sizeof(names) / sizeof(names[0]); i++)
		comma = newlocale(LC_NUMERIC_MASK, names[i], (locale_t)0);
	if (!comma)
		cr_skip("no locale with a decimal comma is installed");
	before = uselocale(comma);
	value = literal("1234.5");
	print(value, text, sizeof(text));
	(void)uselocale(before);
	freelocale(comma);
	cr_assert_str_eq(text, "1234.5");
	json_decref(value);
}

TEST(template_number, computes_as_python_does)
{
	static const struct {
		const char *a, *b, *result; /* NULL: refused */
		enum ic_operator op;
	} rows[] = {
		{"7", "2", "9", IC_OP_ADD},
		{"7", "2.0", "9.0", IC_OP_ADD},
		{"0.1", "0.2", "0.30000000000000004", IC_OP_ADD},
		{"9223372036854775807", "1", NULL, IC_OP_ADD},
		{"2", "7", "-5", IC_OP_SUBTRACT},
		{"4611686018427387904", "2", NULL, IC_OP_MULTIPLY},
		{"1e308", "10.0", NULL, IC_OP_MULTIPLY},
		{"6", "2", "3.0", IC_OP_DIVIDE},
		{"1", "3", "0.3333333333333333", IC_OP_DIVIDE},
		{"1", "0", NULL, IC_OP_DIVIDE},
		{"1.0", "0.0", NULL, IC_OP_DIVIDE},
		{"9007199254740993", "3", NULL, IC_OP_DIVIDE},
		{"7", "2", "3", IC_OP_FLOOR_DIVIDE},
		{"7.5", "2", "3.0", IC_OP_FLOOR_DIVIDE},
		{"1", "0", NULL, IC_OP_MODULO},
		{"7", "3", "1", IC_OP_MODULO},
		{"7.5", "2", "1.5", IC_OP_MODULO},
		{"2", "10", "1024", IC_OP_POWER},
		{"2", "0.5", "1.4142135623730951", IC_OP_POWER},
		{"0", "0", "1", IC_OP_POWER},
		{"2", "63", NULL, IC_OP_POWER},
		{"2", "62", "4611686018427387904", IC_OP_POWER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *a = literal(rows[i].a), *b = literal(rows[i].b), *result = NULL;
		struct imgcheck_error *err = NULL;
		char text[64];

		cr_assert_eq(ic_number_compute(rows[i].op, a, b, &result, &err) == 0, rows[i].result != NULL, "row %zu", i);
		cr_assert_eq(imgcheck_error_code(err), rows[i].result ? IMGCHECK_OK : IMGCHECK_ERR_UNSUPPORTED);
		if (result) {
			print(result, text, sizeof(text));
			cr_assert_str_eq(text, rows[i].result, "row %zu", i);
		}
		imgcheck_error_free(err);
		json_decref(a);
		json_decref(b);
		json_decref(result);
	}
}

TEST(template_number, rounds_signs_as_python_does)
{
	static const struct {
		json_int_t a, b, quotient, rest;
	} rows[] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {-6, 2, -3, 0}, {0, -5, 0, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *a = json_integer(rows[i].a), *b = json_integer(rows[i].b), *quotient, *rest;

		cr_assert_eq(ic_number_compute(IC_OP_FLOOR_DIVIDE, a, b, &quotient, NULL), 0);
		cr_assert_eq(ic_number_compute(IC_OP_MODULO, a, b, &rest, NULL), 0);
		cr_assert_eq(json_integer_value(quotient), rows[i].quotient, "row %zu", i);
		cr_assert_eq(json_integer_value(rest), rows[i].rest, "row %zu", i);
		json_decref(a);
		json_decref(b);
		json_decref(quotient);
		json_decref(rest);
	}
}

TEST(template_number, compares_without_rounding)
{
	json_t *integer = json_integer(9007199254740993), *real = json_real(9007199254740992.0), *huge = json_real(1e300);

	cr_assert_gt(ic_number_compare(integer, real), 0);
	cr_assert_lt(ic_number_compare(real, integer), 0);
	cr_assert_lt(ic_number_compare(integer, huge), 0);
	cr_assert_gt(ic_number_compare(huge, integer), 0);
	cr_assert_eq(ic_number_compare(json_true(), json_true()), 0);
	json_decref(integer);
	integer = json_integer(1);
	cr_assert_eq(ic_number_compare(integer, json_true()), 0);
	json_decref(integer);
	json_decref(real);
	json_decref(huge);
}

TEST(template_number, reads_texts_as_python_does)
{
	static const struct {
		const char *text, *integer, *real; /* "": no number; NULL: refused */
	} rows[] = {
		{"42", "42", "42.0"},
		{" 42\n", "42", "42.0"},
		{"-7", "-7", "-7.0"},
		{"+7", "7", "7.0"},
		{"1_000", "1000", "1000.0"},
		{"42.9", "42", "42.9"},
		{"-42.9", "-42", "-42.9"},
		{"1e3", "1000", "1000.0"},
		{".5", "0", "0.5"},
		{"5.", "5", "5.0"},
		{"010", "10", "10.0"},
		{"", "", ""},
		{"x", "", ""},
		{"0x1F", "", ""},
		{"1__0", "", ""},
		{"_1", "", ""},
		{"1 2", "", ""},
		{"-", "", ""},
		{".", "", ""},
		{"1e", "", ""},
		{"inf", NULL, NULL},
		{"-Infinity", NULL, NULL},
		{"NaN", NULL, NULL},
		{"\xd9\xa1", NULL, NULL},
		{"1e300", NULL, "1e+300"},
		{"99999999999999999999", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *value = json_string(rows[i].text), *number;
		char text[64] = "";
		int result = ic_number_to_integer(value, &number, NULL);

		cr_assert_eq(result == 0, rows[i].integer != NULL, "%s", rows[i].text);
		if (number)
			print(number, text, sizeof(text));
		cr_assert(!rows[i].integer || strcmp(text, rows[i].integer) == 0, "%s: %s", rows[i].text, text);
		json_decref(number);
		text[0] = '\0';
		result = ic_number_to_float(value, &number, NULL);
		cr_assert_eq(result == 0, rows[i].real != NULL, "%s", rows[i].text);
		if (number)
			print(number, text, sizeof(text));
		cr_assert(!rows[i].real || strcmp(text, rows[i].real) == 0, "%s: %s", rows[i].text, text);
		json_decref(number);
		json_decref(value);
	}
}
