/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REPORT_PAGE_H
#define IC_REPORT_PAGE_H

/*
 * A page of ASCII text with a ceiling on its bytes and on its lines, for the text report.  Texts may be
 * hostile: all that is added is printable.
 *
 * The first failure sticks: what is added afterwards is dropped, and `result` tells at the end.  LIMIT
 * means that something did not fit, so that the writer can cut back and try with less.
 */

#include "base/buf.h"

struct ic_page {
	struct ic_buf text;
	size_t lines, max_lines;
	int result; /* 0, LIMIT or NOMEM */
};

void ic_page_init(struct ic_page *p, size_t max_bytes, size_t max_lines);
void ic_page_clear(struct ic_page *p);

static inline void ic_auto_page(struct ic_page *p)
{
	ic_page_clear(p);
}

/* Text of our own, printable and short. */
void ic_page_add(struct ic_page *p, const char *format, ...) IC_PRINTF(2, 3);

/* Text from outside: escaped, and cut after `most` bytes.  NULL adds nothing. */
void ic_page_add_foreign(struct ic_page *p, const char *text, size_t most);

/* Text from outside that is escaped already, as messages are: its backslashes stay as they are. */
void ic_page_add_escaped(struct ic_page *p, const char *text, size_t most);

void ic_page_end_line(struct ic_page *p);

/* Takes back what was added since the page was `len` bytes and `lines` lines long, and a LIMIT with it. */
void ic_page_cut(struct ic_page *p, size_t len, size_t lines);

#endif
