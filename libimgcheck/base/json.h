/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_JSON_H
#define IC_BASE_JSON_H

/*
 * The one place where JSON text is parsed and written.  jansson can need 80 times the text in memory, so structural
 * bytes are counted first; depth is bounded by jansson itself (2,048).  Input is hostile.
 */

#include <jansson.h>

#include "buf.h"

/*
 * Parses exactly one JSON value with nothing but blanks behind it.  Duplicate keys: the last wins, as in
 * Go.  Integers beyond 64 bits become an error.  *out is new (json_decref).
 * Errors: SYNTAX with line and column, LIMIT, NOMEM; name (may be NULL) is the place.
 */
int ic_json_parse(const char *name, const char *text, size_t len, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The same for what may be secret: no error repeats a byte of it, where others quote the text near a fault. */
int ic_json_parse_secret(const char *name, const char *text, size_t len, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Parses the value at the front of text; *used is how many bytes it took, for concatenated documents.
 */
int ic_json_parse_next(const char *name, const char *text, size_t len, json_t **out, size_t *used,
                       struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends the value as text (flags of jansson).  Errors: NOMEM, LIMIT. */
int ic_json_dump(struct ic_buf *out, const json_t *value, size_t flags, struct imgcheck_error **err) IC_MUST_CHECK;

/* The same as a text of its own: new. */
int ic_json_text_of(const json_t *value, size_t flags, char **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* A member that is a string: borrowed, NULL where absent or of another type. */
const char *ic_json_text(const json_t *object, const char *key);

/* A member as Go reads it: by exactly this name, or else by one that differs in case.  Borrowed, NULL where absent. */
json_t *ic_json_member(const json_t *object, const char *key);

IC_DEFINE_AUTO(json, json_t, json_decref)

#endif
