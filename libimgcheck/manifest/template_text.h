/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_TEXT_H
#define IC_MANIFEST_TEMPLATE_TEXT_H

/*
 * Text as Python sees it, which Jinja2 builds on: Unicode white space, characters, line ends, repr().  Called by
 * the lexer and the filters of templates.  All text here is valid UTF-8 of (pointer, length) and may hold NULs.
 */

#include "base/buf.h"

/* Bytes of the white-space character (str.isspace) that text begins or ends with; 0 where it is another one. */
size_t ic_template_space_front(const char *text, size_t len);
size_t ic_template_space_back(const char *text, size_t len);

/* str.lstrip() and str.rstrip(): how many bytes of white space stand in front, or behind. */
size_t ic_template_spaces_front(const char *text, size_t len);
size_t ic_template_spaces_back(const char *text, size_t len);

/* Bytes of the first character, at least 1 and at most len; len must not be 0. */
size_t ic_template_char_bytes(const char *text, size_t len);

/* How many characters (code points) the text has. */
size_t ic_template_char_count(const char *text, size_t len);

/* The line up to the first line end of str.splitlines(): its length; *end is how many bytes that line end has. */
size_t ic_template_line_bytes(const char *text, size_t len, size_t *end);

/* Whether all bytes are ASCII. */
bool ic_template_is_ascii(const char *text, size_t len);

/*
 * Appends repr(text).  Errors: UNSUPPORTED beyond ASCII, where it would need the Unicode tables of Python; LIMIT;
 * NOMEM.
 */
int ic_template_add_repr(struct ic_buf *out, const char *text, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;

/* \r\n and \r become \n in place; the new length. */
size_t ic_template_unify_newlines(char *text, size_t len);

#endif
