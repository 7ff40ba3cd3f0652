/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_ERROR_H
#define IC_BASE_ERROR_H

/*
 * Error objects (imgcheck.h) as the library makes them.  An error is set once, at the lowest point that
 * understands the failure, and the first one wins: setting over an existing error keeps the old one.
 * Arguments may hold hostile bytes: the message is escaped and cut when it is stored.
 */

#include "cleanup.h"
#include "imgcheck.h"

/* Sets *err (where err is not NULL) and returns code, so that a caller can `return ic_error_set(...)`. */
int ic_error_set(struct imgcheck_error **err, enum imgcheck_err code, const char *format, ...) IC_PRINTF(3, 4);

/* The same with a place: file or host (copied, may be NULL), line and column from 1, 0 where unknown. */
int ic_error_set_at(struct imgcheck_error **err, enum imgcheck_err code, const char *place, unsigned line,
                    unsigned column, const char *format, ...) IC_PRINTF(6, 7);

/* What errno says about a file or folder (may be NULL): "what: no such file", IO; or NOMEM where that is the reason. */
int ic_error_errno(struct imgcheck_error **err, const char *place, const char *what);

/* Out of memory: a static object, so that it can always be told. */
int ic_error_nomem(struct imgcheck_error **err);

/* Puts text before the message of *err, "cannot use X: " + message, where that can be done. */
void ic_error_prefix(struct imgcheck_error **err, const char *format, ...) IC_PRINTF(2, 3);

/* Gives *err the place, where it has none yet. */
void ic_error_place(struct imgcheck_error **err, const char *place, unsigned line, unsigned column);

IC_DEFINE_AUTO(error, struct imgcheck_error, imgcheck_error_free)

#endif
