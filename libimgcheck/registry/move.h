/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_MOVE_H
#define IC_REGISTRY_MOVE_H

/*
 * Pointing a tag at a digest (imgcheck_tag_move): what is decided on the way, without a network.  Answers are hostile:
 * where a tag is follows from the bytes that it names, never from a header field.
 *
 * Registries know no compare-and-swap (distribution's specification has none, and docker-registry ignores If-Match): the
 * tag is read before the write and after it, and the write is sent once.
 */

#include "base/buf.h"

/* Where a tag is, by the bytes that it names. */
enum ic_place {
	IC_PLACE_WANTED,   /* at the digest that it is to be moved to */
	IC_PLACE_EXPECTED, /* where it was expected: at the other digest, or absent where absence was expected */
	IC_PLACE_ABSENT,   /* not there, though it was expected to be */
	IC_PLACE_OTHER     /* anywhere else */
};

/* body NULL: there is no such tag.  expected NULL: there should be none. */
enum ic_place ic_move_place(const char *wanted, const char *expected, const struct ic_buf *body);

/*
 * The line "Content-Type: ..." with which a manifest or an index is written that came with this Content-Type (NULL for
 * none).  Errors: SYNTAX for any other media type; NOMEM.
 */
int ic_move_type(const char *content_type, char **line, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
