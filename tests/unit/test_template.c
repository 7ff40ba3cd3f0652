/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template.h"

/* The engine by itself; test_template_jinja.c compares it with Jinja2, test_template_corpus.c with real files. */

static const char values_text[] =
	"{\"registry\": \"r.example:5000\", \"arch\": \"amd64\", \"empty\": \"\", \"none\": null, \"yes\": true,"
	" \"n\": 3, \"half\": 0.5, \"hosts\": [\"a\", \"b\"], \"pillar\": {\"dns\": \"x\", \"items\": 1},"
	" \"cluster\": 7, \"tag\": 2, \"wide\": \"\\u00e9\"}";

static int render(const char *text, size_t len, struct ic_buf *out, struct ic_vec *lines, struct imgcheck_error **err)
{
	json_t *values = NULL;
	int result;

	cr_assert_eq(ic_json_parse("values", values_text, strlen(values_text), &values, NULL), 0);
	result = ic_template_render("t.yaml", text, len, values, out, lines, err);
	json_decref(values);
	return result;
}

TEST(template, renders)
{
	static const struct {
		const char *template, *output;
	} rows[] = {
		{"", ""},
		{"\n", ""},
		{"a\n", "a"},
		{"a\n\n", "a\n"},
		{"a\r\nb\rc\r\n", "a\nb\nc"},
		{"image: {{ registry|default('docker.io') }}/x-{{ arch }}:1", "image: r.example:5000/x-amd64:1"},
		{"{{missing|default(\"docker.io\")}}{{ empty|d('x') }}{{ empty|d('x', true) }}", "docker.iox"},
		{"{{ missing }}|{{ none }}|{{ yes }}|{{ n }}|{{ half }}|{{ hosts }}|{{ pillar }}",
	     "|None|True|3|0.5|['a', 'b']|{'dns': 'x', 'items': 1}"},
		{"{{ pillar['dns'] }}{{ pillar.dns }}{{ pillar.get('dns') }}{{ pillar.get('no', 'z') }}{{ pillar['no'] }}", "xxxz"},
		{"{{ cluster-tag }}", "5"},
		{"{% if yes %}1{% elif missing.x %}2{% else %}3{% endif %}", "1"},
		{"{% if not yes %}1{% elif n > 2 %}2{% else %}3{% endif %}", "2"},
		{"a {%- if yes %} b {% endif -%} c", "a b c"},
		{"a\n  {%+ if yes +%}\nb{% endif %}", "a\n  \nb"},
		{"{% for h in hosts %}{{ loop.index }}/{{ loop.length }}{{ h }}{% if not loop.last %},{% endif %}{% endfor %}",
	     "1/2a,2/2b"},
		{"{% for h in missing %}x{% else %}none{% endfor %}", "none"},
		{"{% for k, v in pillar.items() %}{{ k }}={{ v }};{% endfor %}", "dns=x;items=1;"},
		{"{% for h in hosts %}{% set s = h %}{% endfor %}[{{ s }}]{% set s = 1 %}{{ s }}", "[]1"},
		{"{% set a = 'x' %}{% if yes %}{% set a = 'y' %}{% endif %}{{ a }}", "y"},
		{"a{# {{ b }} #}c{#- d -#} e", "ace"},
		{"{% raw %}{{ a }}{% if %}{% endraw %} {%- raw -%} b {%- endraw -%} c", "{{ a }}{% if %}bc"},
		{"{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 6 / 2 }} {{ 2 ** 3 ** 2 }} {{ 0.1 + 0.2 }}",
	     "7 3 -4 2 3.0 64 0.30000000000000004"},
		{"{{ 'a' ~ 1 ~ none ~ missing }} {{ 'ab' * 2 }} {{ 'a' 'b' }}", "a1None abab ab"},
		{"{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ '1' == 1 }} {{ missing == missing }} {{ 'a' in hosts }} {{ 'x' not in 'xyz' }}",
	     "True True False True True False"},
		{"{{ 'y' if yes else 'n' }}{{ 'y' if missing }}", "y"},
		{"{{ yes and n }} {{ empty or 'e' }} {{ not empty }}", "3 e True"},
		{"{{ {'a': {'b': 1}}['a'].b }}{{ [1, 2,][-1] }}{{ hosts[9] }}{{ hosts.1 }}", "12b"},
		{"{{ '}}' }}{{ \"%}\" }}{{ 'it\\'s\\t\\x41\\u00e9' }}", "}}%}it's\tA\xc3\xa9"},
		{"{{ wide }}{{ wide|length }}", "\xc3\xa9"
	                                    "1"},
		{"{ { }} %} #} {", "{ { }} %} #} {"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_buf out;

		ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
		cr_assert_eq(render(rows[i].template, strlen(rows[i].template), &out, NULL, &err), 0, "%s: %s", rows[i].template,
		             imgcheck_error_message(err));
		cr_assert_str_eq(ic_buf_text(&out), rows[i].output, "%s", rows[i].template);
		ic_buf_clear(&out);
	}
}

TEST(template, refuses_and_names_the_construct)
{
	static const struct {
		const char *template, *message;
		unsigned line;
		enum imgcheck_err code;
	} rows[] = {
		{"a\n{{ missing.x }}", "'missing' is undefined", 2, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ missing['x']|default(1) }}", "'missing' is undefined", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"\n\n{{ missing + 1 }}", "'missing' is undefined", 3, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ 'a' + 1 }}", "between a text and a number", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ 1 / 0 }}", "divides by zero", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ 9223372036854775807 + 1 }}", "beyond 64 bits", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ 1 < 'a' }}", "the order of a number and a text", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ pillar.items }}", "'items' is a method", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ arch.upper() }}", "'arch.upper()'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ wide|upper }}", "beyond ASCII", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ [wide] }}", "not ASCII", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ [missing] }}", "'missing' is undefined", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ {1: 2} }}", "a key that is not a text", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ x|to_nice_yaml }}", "the filter 'to_nice_yaml'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% if no %}\n{{ x|unknown }}{% endif %}", "the filter 'unknown'", 2, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ x is divisibleby 3 }}", "the test 'divisibleby'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ x is defined y }}", "argument of a test 'y'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ x|default(a, b, c) }}", "this argument of the filter", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ x|replace('a') }}", "needs one more argument", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ range(3) }}", "the call of 'range'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ namespace }}", "this name of Jinja2", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ hosts[0:1] }}", "slice", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ (1, 2) }}", "tuple", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ 1, 2 }}", "more than one value", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% macro a() %}{% endmacro %}", "the tag 'macro'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% include 'x' %}", "the tag 'include'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% set a, b = 1 %}", "a set without '='", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% set loop = 1 %}", "an assignment to 'loop'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a in hosts if a %}{% endfor %}", "a for loop with 'if'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a in hosts %}{{ loop }}{% endfor %}", "the loop as a value", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a in pillar.items() %}{% endfor %}", "items() with two names", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a, b in hosts %}{% endfor %}", "more than one name", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a in n %}{% endfor %}", "to go through a number", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a in hosts %}{{ late }}{% endfor %}{% set late = 1 %}", "before it is set", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{% if yes %}", "has no end (endif)", 1, IMGCHECK_ERR_SYNTAX},
		{"\n{% endif %}", "the tag 'endif' here", 2, IMGCHECK_ERR_UNSUPPORTED},
		{"{% for a in hosts %}{% endif %}", "the tag 'endif' here", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ }}", "stands where an expression should stand", 1, IMGCHECK_ERR_SYNTAX},
		{"{{ a b }}", "'b' stands where", 1, IMGCHECK_ERR_SYNTAX},
		{"{{ a", "it ends where", 1, IMGCHECK_ERR_SYNTAX},
		{"{{ (a }}", "'}' has no counterpart", 1, IMGCHECK_ERR_SYNTAX},
		{"{{ 'a }}", "unexpected character", 1, IMGCHECK_ERR_SYNTAX},
		{"{{ \xc3\xa9 }}", "unexpected character", 1, IMGCHECK_ERR_SYNTAX},
		{"{{ '\\xZZ' }}", "hexadecimal", 1, IMGCHECK_ERR_SYNTAX},
		{"a\n{# x", "comment has no end", 2, IMGCHECK_ERR_SYNTAX},
		{"{% raw %}x", "raw block has no end", 1, IMGCHECK_ERR_SYNTAX},
		{"a\nb\xff", "not UTF-8", 2, IMGCHECK_ERR_SYNTAX},
		{"a\n{{- include \"x\" . }}", "'{{- include \"x\" . }}': this is a Go template; render it first", 2,
	     IMGCHECK_ERR_UNSUPPORTED},
		{"{{ .Values.image }}", "this is a Go template", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ toYaml .Values.x | nindent 4 }}", "this is a Go template", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ if .x }}a{{ end }}", "this is a Go template", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{ $x := 1 }}", "this is a Go template", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"{{/* note */}}", "this is a Go template", 1, IMGCHECK_ERR_UNSUPPORTED},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_buf out;
		unsigned line;

		ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
		cr_assert_eq(render(rows[i].template, strlen(rows[i].template), &out, NULL, &err), (int)rows[i].code, "%s: %s",
		             rows[i].template, imgcheck_error_message(err));
		cr_assert_eq(strncmp(imgcheck_error_message(err), "cannot evaluate", strlen("cannot evaluate")), 0, "%s",
		             imgcheck_error_message(err));
		cr_assert(strstr(imgcheck_error_message(err), rows[i].message), "%s: %s", rows[i].template,
		          imgcheck_error_message(err));
		cr_assert_str_eq(imgcheck_error_place(err, &line, NULL), "t.yaml");
		cr_assert_eq(line, rows[i].line, "%s: line %u", rows[i].template, line);
		cr_assert_eq(out.len, 0);
		imgcheck_error_free(err);
	}
}

/* Each output line's first byte that is no blank decides. */
TEST(template, tells_the_lines)
{
	static const struct {
		const char *template;
		unsigned lines[8];
	} rows[] = {
		{"a\nb\nc", {1, 2, 3}},
		{"a\r\nb\r\n", {1, 2}},
		{"{% if yes %}\na\n{% endif %}\nb", {1, 2, 3, 4}},
		{"{% if yes -%}\na\n{%- endif %}\nb", {2, 4}},
		{"a\n  {% for h in hosts -%}\n    - {{ h }}\n  {% endfor -%}\nz", {1, 3, 3, 5}},
		{"{{ 'x\ny\nz' }}\nb", {1, 1, 1, 4}},
		{"{# a\nb #}c\nd", {2, 3}},
		{"{% raw %}\na\n{% endraw %}b", {1, 2, 3}},
		{"", {0}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_buf out;
		struct ic_vec lines;
		size_t count = 0;

		ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
		ic_vec_init(&lines, sizeof(unsigned), IC_MAX_TEMPLATE_BYTES);
		cr_assert_eq(render(rows[i].template, strlen(rows[i].template), &out, &lines, NULL), 0, "%s", rows[i].template);
		while (count < 8 && rows[i].lines[count])
			count++;
		cr_assert_eq(lines.count, count, "%s: %zu lines", rows[i].template, lines.count);
		for (size_t k = 0; k < count; k++)
			cr_assert_eq(*(unsigned *)ic_vec_at(&lines, k), rows[i].lines[k], "%s: line %zu", rows[i].template, k);
		ic_vec_clear(&lines);
		ic_buf_clear(&out);
	}
}

TEST(template, sees_marks)
{
	static const struct {
		const char *text;
		bool marks;
	} rows[] = {
		{"", false},          {"{", false},           {"a: {b: c}", false},
		{"{{", true},         {"a: {{ b }}", true},   {"{% if", true},
		{"{# note #}", true}, {"${#list[@]}", false}, {"${#a} ${#b} #}", true},
		{"} } #}", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(ic_template_has_marks(rows[i].text, strlen(rows[i].text)), rows[i].marks, "%s", rows[i].text);
}

TEST(template, tests_expressions)
{
	static const struct {
		const char *text;
		int truth; /* -1: an error */
	} rows[] = {
		{"yes", 1},
		{"missing", 0},
		{"pillar['dns'] == 'x'", 1},
		{"not n", 0},
		{"registry and arch", 1},
		{" 0 ", 0},
		{"''", 0},
		{"missing.x", -1},
		{"", -1},
		{"a b", -1},
		{"}}", -1},
		{"{{ a }}", -1},
		{"yes %}", -1},
	};
	json_t *values = NULL;

	cr_assert_eq(ic_json_parse("values", values_text, strlen(values_text), &values, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct imgcheck_error *err = NULL;
		unsigned line;
		bool truth;
		int result = ic_expression_test("f", 7, rows[i].text, strlen(rows[i].text), values, &truth, &err);

		cr_assert_eq(result == 0 ? truth : -1, rows[i].truth, "%s", rows[i].text);
		if (err) {
			cr_assert_str_eq(imgcheck_error_place(err, &line, NULL), "f");
			cr_assert_eq(line, 7);
		}
		imgcheck_error_free(err);
	}
	json_decref(values);
}

TEST(template, finds_keys)
{
	static const struct {
		const char *text, *keys; /* separated by blanks; NULL: an error */
	} rows[] = {
		{"config['a-b'] == 'true'", "a-b"},
		{"config.a and config.get('b', 'x') or not config['a']", "a b"},
		{"config['a'] if config['b'] else config['c']", "a b c"},
		{"config['a']|default(config['b']) in [config.c, 'x']", "a b c"},
		{"true", ""},
		{"config", NULL},
		{"config[x]", NULL},
		{"config['a' ~ 'b']", NULL},
		{"other['a']", NULL},
		{"config['a'] == enable", NULL},
		{"'a' in config", NULL},
		{"config.get(config.a)", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_vec keys;
		char found[64] = "";
		int result;

		ic_texts_init(&keys, 16);
		result = ic_expression_keys("f", 1, rows[i].text, strlen(rows[i].text), "config", &keys, NULL);
		for (size_t k = 0; k < keys.count; k++)
			(void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", k ? " " : "",
			               ic_texts_get(&keys, k));
		cr_assert_eq(result == 0, rows[i].keys != NULL, "%s", rows[i].text);
		cr_assert(!rows[i].keys || strcmp(found, rows[i].keys) == 0, "%s: %s", rows[i].text, found);
		ic_texts_clear(&keys);
	}
}

/* `count` times a text. */
static char *repeat(const char *begin, const char *text, size_t count, const char *end)
{
	size_t size = strlen(begin) + count * strlen(text) + strlen(end) + 1;
	char *out = malloc(size), *at = out;

	cr_assert(out);
	at += snprintf(at, size, "%s", begin);
	for (size_t i = 0; i < count; i++) {
		memcpy(at, text, strlen(text));
		at += strlen(text);
	}
	(void)snprintf(at, size - (size_t)(at - out), "%s", end);
	return out;
}

TEST(template, is_bounded)
{
	static const struct {
		const char *begin, *text;
		size_t count;
		const char *end;
	} rows[] = {
		{"{{ ", "(", 100000, ""},
		{"{{ ", "[", 250, ""},
		{"{{ ", "-", 100000, "1 }}"},
		{"{{ ", "not ", 100000, "1 }}"},
		{"{{ 1", "+1", 100000, " }}"},
		{"{{ a", ".b", 100000, " }}"},
		{"{{ a", "|string", 100000, " }}"},
		{"{{ 1", " if 1 else 1", 100000, " }}"},
		{"{{ 1", " < 1", 300000, " }}"},
		{"", "{% if 1 %}", 100000, ""},
		{"", "{% for a in [1, 2] %}", 1000, ""},
		{"{{ [", "1,", 300000, "] }}"},
		{"{% set a = 'xxxxxxxxxxxxxxxx' %}", "{% set a = a ~ a %}", 40, "{{ a|length }}"},
		{"{% set a = [1] %}", "{% set a = a + a %}", 40, "{{ a|length }}"},
		{"{% set a = [] %}", "{% set a = [a, a] %}", 60, "{{ a }}"},
		{"{% set a = [] %}", "{% set a = [a] %}", 5000, "{{ a }}"},
		{"{% set l = [1,2,3,4,5,6,7,8,9,10] %}", "{% for a in l %}", 9,
	     "{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}"},
		{"{{ 'x' * 99999999999 }}", "", 0, ""},
		{"{{ 'x'|indent(99999999999) }}", "", 0, ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *template = repeat(rows[i].begin, rows[i].text, rows[i].count, rows[i].end);
		struct imgcheck_error *err = NULL;
		struct ic_buf out;

		ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
		cr_assert_lt(render(template, strlen(template), &out, NULL, &err), 0, "%zu", i);
		cr_assert_eq(imgcheck_error_code(err), IMGCHECK_ERR_LIMIT, "%zu: %s", i, imgcheck_error_message(err));
		cr_assert_str_eq(imgcheck_error_place(err, NULL, NULL), "t.yaml", "%zu", i);
		imgcheck_error_free(err);
		free(template);
	}
}

TEST(template, output_keeps_its_ceiling)
{
	struct imgcheck_error *err = NULL;
	struct ic_buf out;

	ic_buf_init(&out, 8);
	cr_assert_eq(render("12345678", 8, &out, NULL, NULL), 0);
	cr_assert_eq(render("{{ '12345678' }}9", 17, &out, NULL, &err), IMGCHECK_ERR_LIMIT);
	cr_assert_eq(out.len, 0);
	imgcheck_error_free(err);
	ic_buf_clear(&out);
}

TEST(template, takes_nuls)
{
	struct ic_buf out;

	ic_buf_init(&out, 64);
	cr_assert_eq(render("a\0b{{ 'c\0d' }}", 14, &out, NULL, NULL), 0);
	cr_assert_eq(out.len, 6);
	cr_assert_eq(memcmp(out.data, "a\0bc\0d", 6), 0);
	ic_buf_clear(&out);
}
