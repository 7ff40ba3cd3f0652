/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "manifest/template_text.h"

TEST(template_text, knows_the_white_space_of_python)
{
	static const struct {
		const char *text;
		size_t front, back;
	} rows[] = {
		{"", 0, 0},
		{"x", 0, 0},
		{" \t\n\v\f\r\x1c\x1f x ", 9, 1},
		{"\xc2\xa0x\xe2\x80\x83", 2, 3},
		{"\xe3\x80\x80 \xc2\x85", 6, 6},
		{"\xc3\xa9", 0, 0},
		{"\xe2\x80\x8b", 0, 0}, /* zero width space is none */
		{"x\x08", 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(ic_template_spaces_front(rows[i].text, strlen(rows[i].text)), rows[i].front, "%zu", i);
		cr_assert_eq(ic_template_spaces_back(rows[i].text, strlen(rows[i].text)), rows[i].back, "%zu", i);
	}
}

TEST(template_text, counts_characters)
{
	cr_assert_eq(ic_template_char_count("", 0), 0);
	cr_assert_eq(ic_template_char_count("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10), 4);
	cr_assert_eq(ic_template_char_bytes("\xf0\x9f\x98\x80z", 5), 4);
	cr_assert_eq(ic_template_char_bytes("az", 2), 1);
	cr_assert(ic_template_is_ascii("az\x7f", 3));
	cr_assert_not(ic_template_is_ascii("a\xc3\xa9", 3));
}

TEST(template_text, ends_lines_as_python_does)
{
	static const struct {
		const char *text;
		size_t line, end;
	} rows[] = {
		{"", 0, 0},
		{"a", 1, 0},
		{"a\nb", 1, 1},
		{"a\r\nb", 1, 2},
		{"a\rb", 1, 1},
		{"a\vb", 1, 1},
		{"a\x1c"
	     "b",
	     1, 1},
		{"a\x1f"
	     "b",
	     3, 0},
		{"a\xe2\x80\xa8", 1, 3},
		{"\xc2\x85", 0, 2},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t end;

		cr_assert_eq(ic_template_line_bytes(rows[i].text, strlen(rows[i].text), &end), rows[i].line, "%zu", i);
		cr_assert_eq(end, rows[i].end, "%zu", i);
	}
}

TEST(template_text, quotes_as_python_does)
{
	static const struct {
		const char *text, *repr;
	} rows[] = {
		{"", "''"},     {"a", "'a'"},       {"it's", "\"it's\""},
		{"\"", "'\"'"}, {"'\"", "'\\'\"'"}, {"\\\n\r\t\x01\x7f", "'\\\\\\n\\r\\t\\x01\\x7f'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_buf out;

		ic_buf_init(&out, 64);
		cr_assert_eq(ic_template_add_repr(&out, rows[i].text, strlen(rows[i].text), NULL), 0);
		cr_assert_str_eq(out.data, rows[i].repr);
		cr_assert_eq(ic_template_add_repr(&out, "\xc3\xa9", 2, NULL), IMGCHECK_ERR_UNSUPPORTED);
		ic_buf_clear(&out);
	}
}

TEST(template_text, unifies_newlines)
{
	char text[] = "a\r\nb\rc\n\r\r\n";
	size_t len = ic_template_unify_newlines(text, strlen(text));

	cr_assert_eq(len, 8);
	cr_assert_eq(memcmp(text, "a\nb\nc\n\n\n", 8), 0);
}
