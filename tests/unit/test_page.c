/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include <string.h>

#include "test.h"

TEST(page, holds_its_bytes_and_lines)
{
	struct ic_page p;

	ic_page_init(&p, 8, 2);
	ic_page_add(&p, "%s", "abc");
	ic_page_end_line(&p);
	ic_page_add(&p, "def");
	ic_page_end_line(&p);
	cr_assert(p.result == 0 && p.lines == 2);
	ic_page_add(&p, "g");
	cr_assert_eq(p.result, IMGCHECK_ERR_LIMIT);
	ic_page_cut(&p, 4, 1);
	cr_assert(p.result == 0);
	cr_assert_str_eq(ic_buf_text(&p.text), "abc\n");
	ic_page_end_line(&p);
	cr_assert(p.result == 0);
	ic_page_end_line(&p);
	cr_assert_eq(p.result, IMGCHECK_ERR_LIMIT, "a third line");
	cr_assert_eq(p.text.len, 5);
	ic_page_clear(&p);
}

TEST(page, the_first_failure_sticks)
{
	struct ic_page p;

	ic_page_init(&p, 4, 9);
	ic_page_add(&p, "12345");
	ic_page_add(&p, "1");
	ic_page_add_foreign(&p, "2", 9);
	ic_page_add_escaped(&p, "3", 9);
	ic_page_end_line(&p);
	cr_assert(p.result == IMGCHECK_ERR_LIMIT && p.lines == 0);
	cr_assert_str_eq(ic_buf_text(&p.text), "");
	ic_page_clear(&p);
}

TEST(page, foreign_text_is_escaped_once_and_cut)
{
	static const struct {
		const char *text;
		size_t most;
		const char *foreign, *escaped;
	} rows[] = {
		{"plain", 9, "plain", "plain"},
		{"a\\x1bb", 9, "a\\\\x1bb", "a\\x1bb"},
		{"\x1b[2J\n", 20, "\\x1b[2J\\x0a", "?[2J?"},
		{"0123456789", 4, "0123...", "0123..."},
		{"0123", 4, "0123", "0123"},
		{"", 4, "", ""},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_page p;

		ic_page_init(&p, 100, 9);
		ic_page_add_foreign(&p, rows[i].text, rows[i].most);
		cr_assert_str_eq(ic_buf_text(&p.text), rows[i].foreign, "row %zu", i);
		ic_page_cut(&p, 0, 0);
		ic_page_add_escaped(&p, rows[i].text, rows[i].most);
		cr_assert_str_eq(ic_buf_text(&p.text), rows[i].escaped, "row %zu", i);
		ic_page_clear(&p);
	}
}
