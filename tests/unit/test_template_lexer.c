/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/template_lexer.h"

/* The tokens as "kind:text" of one letter each, separated by blanks; an error ends the list with "!". */
static void list(const char *text, enum ic_lexer_state state, char *out, size_t size)
{
	static const char letters[] = "D{}[]nsifo$"; /* by enum ic_token_kind */
	struct ic_lexer lexer;
	struct ic_token token = {.kind = IC_TOKEN_DATA};
	size_t len = 0;

	out[0] = '\0';
	ic_lexer_init(&lexer, "t", 1, text, strlen(text), state);
	while (token.kind != IC_TOKEN_END && len < size) {
		if (ic_lexer_next(&lexer, &token, NULL) < 0) {
			(void)snprintf(out + len, size - len, "!");
			return;
		}
		if (token.kind != IC_TOKEN_END)
			len += (size_t)snprintf(out + len, size - len, "%c:%.*s ", letters[token.kind], (int)token.len, token.text);
	}
}

TEST(template_lexer, cuts_as_jinja2_does)
{
	static const struct {
		const char *text, *tokens;
	} rows[] = {
		{"", ""},
		{"a {b", "D:a {b "},
		{"a{{ b }}c", "D:a {:{{ n:b }:}} D:c "},
		{"a \n{{- b -}} \n c", "D:a {:{{- n:b }:-}} \n  D:c "},
		{"a {{+ b }}", "D:a  {:{{+ n:b }:}} "},
		{"{%- if a -%} {%+ endif +%} ", "[:{%- n:if n:a ]:-%}  [:{%+ n:endif ]:+%} D:  "},
		{"{{ {'a': {}} }}", "{:{{ o:{ s:'a' o:: o:{ o:} o:} }:}} "},
		{"{{ '}}' }}", "{:{{ s:'}}' }:}} "},
		{"{{ \"a\\\"b\" 'c' }}", "{:{{ s:\"a\\\"b\" s:'c' }:}} "},
		{"a{# {{ x }} #}b", "D:a D:b "},
		{"a {#- x -#} b", "D:a D:b "},
		{"{# x", "!"},
		{"{%raw%}{{ a }}{%endraw%}", "D:{{ a }} "},
		{"a {%- raw -%} b {%- endraw -%} c", "D:a D:b D:c "},
		{"{% raw %}a{% raw %}{% endraw %}", "D:a{% raw %} "},
		{"{% raw %}a", "!"},
		{"{% rawx %}", "[:{% n:rawx ]:%} "},
		{"{{ a.1.5 }}", "{:{{ n:a o:. i:1 o:. i:5 }:}} "},
		{"{{ 1.5 1e3 1_0.2E+1 07 0x_f 0b2 1. }}", "{:{{ f:1.5 f:1e3 f:1_0.2E+1 i:0 i:7 i:0x_f i:0 n:b2 i:1 o:. }:}} "},
		{"{{ a//b**c>=d!=e~f }}", "{:{{ n:a o:// n:b o:** n:c o:>= n:d o:!= n:e o:~ n:f }:}} "},
		{"{{ a? }}", "{:{{ n:a !"},
		{"{{ a] }}", "{:{{ n:a !"},
		{"{{ 'a }}", "{:{{ !"},
		{"{{ a\xc2\xa0}}", "{:{{ n:a }:}} "},
		{"{{ a", "{:{{ n:a "},
		{"{% a }} %}", "[:{% n:a !"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char tokens[256];

		list(rows[i].text, IC_LEXER_TEXT, tokens, sizeof(tokens));
		cr_assert_str_eq(tokens, rows[i].tokens, "%s", rows[i].text);
	}
}

TEST(template_lexer, reads_one_expression)
{
	char tokens[256];

	list("config['a'] == 'b' }}", IC_LEXER_EXPRESSION, tokens, sizeof(tokens));
	cr_assert_str_eq(tokens, "n:config o:[ s:'a' o:] o:== s:'b' !");
}

TEST(template_lexer, counts_lines)
{
	const char *text = "a\n{#\n#}\n{{ b\n}}{% raw %}\n{% endraw %}c";
	static const unsigned lines[] = {1, 3, 4, 4, 5, 5, 6, 6};
	struct ic_lexer lexer;
	struct ic_token token;
	size_t i = 0;

	ic_lexer_init(&lexer, "t", 1, text, strlen(text), IC_LEXER_TEXT);
	do {
		cr_assert_eq(ic_lexer_next(&lexer, &token, NULL), 0);
		cr_assert_lt(i, sizeof(lines) / sizeof(lines[0]));
		cr_assert_eq(token.line, lines[i], "token %zu: line %u", i, token.line);
		i++;
	} while (token.kind != IC_TOKEN_END);
	cr_assert_eq(i, sizeof(lines) / sizeof(lines[0]));
}

TEST(template_lexer, resolves_escapes)
{
	static const struct {
		const char *literal, *value; /* NULL: refused */
	} rows[] = {
		{"''", ""},
		{"'a\\nb\\t\\\\\\''", "a\nb\t\\'"},
		{"\"\\a\\b\\f\\v\\r\"", "\a\b\f\v\r"},
		{"'\\x41\\101\\u00e9\\U0001F600'", "A"
	                                       "A\xc3\xa9\xf0\x9f\x98\x80"},
		{"'\\777'", "\xc7\xbf"},
		{"'\\d\\ '", "\\d\\ "},
		{"'a\\\nb'", "ab"},
		{"'\\x4'", NULL},
		{"'\\u12'", NULL},
		{"'\\ud800'", NULL},
		{"'\\U00110000'", NULL},
		{"'\\N{DASH}'", NULL},
		{"'\\\xc3\xa9'", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ic_token token = {IC_TOKEN_STRING, rows[i].literal, strlen(rows[i].literal), 1};
		struct ic_buf value;
		int result;

		ic_buf_init(&value, 64);
		result = ic_token_string(&token, &value, NULL);
		cr_assert_eq(result == 0, rows[i].value != NULL, "%s", rows[i].literal);
		cr_assert(result < 0 || strcmp(ic_buf_text(&value), rows[i].value) == 0, "%s", rows[i].literal);
		ic_buf_clear(&value);
	}
}
