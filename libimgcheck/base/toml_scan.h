/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_TOML_SCAN_H
#define IC_BASE_TOML_SCAN_H

/*
 * What toml.c puts together: a place in TOML text, and the strings, numbers and dates that stand there.
 * Text is hostile; it was checked to be UTF-8 before.
 */

#include "node.h"

struct ic_toml_scan {
	const char *name;
	const char *at, *end;
	const char *line_start;
	unsigned line;
	struct ic_doc *doc;
};

/* The byte `ahead` of the place, 0 past the end (a NUL in the text is no better than the end: both are refused). */
static inline char ic_toml_peek(const struct ic_toml_scan *s, size_t ahead)
{
	return ahead < (size_t)(s->end - s->at) ? s->at[ahead] : '\0';
}

/* Whether the text goes on like this. */
bool ic_toml_starts(const struct ic_toml_scan *s, const char *text);

/* Sets a SYNTAX error at the place. */
int ic_toml_fail(const struct ic_toml_scan *s, struct imgcheck_error **err, const char *what) IC_MUST_CHECK;

/* Over blanks and tabs. */
void ic_toml_blanks(struct ic_toml_scan *s);

/* Over one line end, LF or CRLF.  False where there is none. */
bool ic_toml_newline(struct ic_toml_scan *s);

/* Over a comment up to the end of its line, where one starts here. */
int ic_toml_comment(struct ic_toml_scan *s, struct imgcheck_error **err) IC_MUST_CHECK;

/* A scalar at the place, with line and column. */
int ic_toml_scalar(struct ic_toml_scan *s, struct ic_node **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* A string in quotes on one line, as keys may be. */
int ic_toml_quoted(struct ic_toml_scan *s, struct ic_node **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* A copy of len bytes from the place on, and the place behind them. */
int ic_toml_take(struct ic_toml_scan *s, size_t len, struct ic_node **out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
