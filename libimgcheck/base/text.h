/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_TEXT_H
#define IC_BASE_TEXT_H

/*
 * Small helpers over (pointer, length) text, all independent of the locale.  Inputs are hostile and may
 * hold NULs, control bytes and broken UTF-8.
 */

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

/* ASCII only, whatever the locale. */
static inline bool ic_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool ic_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}
static inline bool ic_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}
static inline bool ic_is_alpha(char c)
{
	return ic_is_lower(c) || ic_is_upper(c);
}
static inline bool ic_is_alnum(char c)
{
	return ic_is_alpha(c) || ic_is_digit(c);
}
static inline bool ic_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
static inline char ic_to_lower(char c)
{
	return ic_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

bool ic_text_equal(const char *a, size_t len, const char *b);         /* a[0..len) is the text b */
bool ic_text_equal_nocase(const char *a, size_t len, const char *b);  /* the same without regard to ASCII case */
bool ic_text_starts(const char *text, size_t len, const char *prefix);
bool ic_text_ends(const char *text, size_t len, const char *suffix);

/* Whole text as a decimal number within [0, max]; no sign, no blanks. */
bool ic_text_to_size(const char *text, size_t len, size_t max, size_t *out) IC_MUST_CHECK;

/* A copy of len bytes, NUL-terminated: new.  NULL without memory. */
char *ic_text_copy(const char *text, size_t len);

/*
 * Appends untrusted bytes as printable ASCII: others become \xNN, a backslash is doubled, and after
 * `most` output bytes the rest is cut and "..." stands for it.
 */
int ic_text_escape(struct ic_buf *out, const char *text, size_t len, size_t most, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether text matches the shell pattern: `*` any run of bytes, '/' too; `?` one byte; no other special. */
bool ic_text_glob(const char *pattern, const char *text);

/* The offset of the first byte that is not valid UTF-8, or len. */
size_t ic_text_utf8_check(const char *text, size_t len);

#endif
