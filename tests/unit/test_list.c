/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/list.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

/* "path:line:column text" of each find, "!" before unresolved ones. */
static int write_down(void *arg, const struct ic_found *f, struct imgcheck_error **err)
{
	return ic_buf_printf(arg, err, "%s%s:%u:%u %.*s\n", f->form == IC_FORM_UNRESOLVED ? "!" : "",
	                     f->place.path ? f->place.path : "", f->place.line, f->column, (int)f->len, f->text);
}

TEST(list, recognised)
{
	static const struct {
		const char *text;
		bool is_list;
	} rows[] = {
		{"nginx\n", true},
		{"docker.io/a/b:1\n\n# comment\r\nquay.io/c/d  # comment\r\n", true},
		{"v1-static: a.io/b:1 c.io/d:{{ arch }}\n", true},
		{"quay.io/wrong/:1\n", true},
		{"${REGISTRY}/a:1\n", true},
		{"", false},
		{"# only a comment\n", false},
		{"kind: Pod\n", false},
		{"image: nginx\n", false},
		{"v1: a/b:1 nginx:1\n", true},
		{"v1: a/b:1 nginx\n", false},
		{"a: b/c:1\nat: 12:30\n", false},
		{"[::1]:5000/a:1\nb\n", true},
		{"[a, b]\n", false},
		{"a: b/c:1\nd:\n", true},
		{"d:\na: b/c:1 e/f:1\n", true},
		{"a: b/c:1\nd:\n  e: f/g:1\n", false},
		{"d:\n", false},
		{"- a/b:1\n", false},
		{"---\n", false},
		{"{\"a\": 1}\n", false},
		{"two words\n", false},
		{"https://example.com/a\n", false},
		{"\"a/b:1\"\n", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_list_is(rows[i].text, strlen(rows[i].text)), rows[i].is_list, "%s", rows[i].text);
}

TEST(list, read)
{
	static const struct {
		const char *text, *key, *found;
		size_t lines;
	} rows[] = {
		{"a.io/b:1 # x\n\n  c\r\n", NULL, ":1:1 a.io/b:1\n:3:3 c\n", 2},
		{"k: a.io/b:1  c.io/d:1\nl: e.io/f:1", NULL, "k:1:4 a.io/b:1\nk:1:14 c.io/d:1\nl:2:4 e.io/f:1\n", 2},
		{"k: a.io/b:1\nl: e.io/f:1\n", "l", "l:2:4 e.io/f:1\n", 1},
		{"k: a.io/b:1\n", "m", "", 0},
		{"k: a.io/b:1\nm:\n", "m", "", 0},
		{"m:\nk: a.io/b:1\n", NULL, "k:2:4 a.io/b:1\n", 1},
		{"k: a.io/b-{{ arch }}:1\n", NULL, "!k:1:4 a.io/b-{{ arch }}:1\n", 1},
		{"a.io/:1\n", NULL, "!:1:1 a.io/:1\n", 1},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_buf out;
		const struct ic_sink sink = {.found = write_down, .arg = &out};
		size_t lines;

		ic_buf_init(&out, 4096);
		cr_assert_eq(ic_list_read(rows[i].text, strlen(rows[i].text), rows[i].key, &sink, &lines, NULL), 0);
		cr_expect_str_eq(ic_buf_text(&out), rows[i].found, "row %zu", i);
		cr_expect_eq(lines, rows[i].lines, "row %zu", i);
		ic_buf_clear(&out);
	}
}

TEST(list, failing_sink)
{
	struct ic_buf out;
	const struct ic_sink sink = {.found = write_down, .arg = &out};
	size_t lines;

	ic_buf_init(&out, 4);
	cr_expect_eq(ic_list_read("a.io/b:1\n", 9, NULL, &sink, &lines, NULL), IMGCHECK_ERR_LIMIT);
	ic_buf_clear(&out);
}
