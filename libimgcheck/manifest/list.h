/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_LIST_H
#define IC_MANIFEST_LIST_H

/*
 * Image lists: one reference a line, or lines `KEY: ref ref ...`; `#` begins a comment.  All of them are
 * required.  Input is hostile; a list is read in one pass and holds no memory.
 */

#include "rules.h"

/* Whether every line with something on it is one of a list, and there is at least one. */
bool ic_list_is(const char *text, size_t len);

/*
 * Gives the references of a list to the sink, with line, column and the key as path; of one key only
 * where key is not NULL.  *lines counts the lines that held any.  Errors: those of the sink.
 */
int ic_list_read(const char *text, size_t len, const char *key, const struct ic_sink *sink, size_t *lines,
                 struct imgcheck_error **err) IC_MUST_CHECK;

#endif
