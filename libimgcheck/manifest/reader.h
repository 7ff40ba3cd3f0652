/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_READER_H
#define IC_MANIFEST_READER_H

/*
 * Reads files into a set of images: what imgcheck_images_add_path() and _add_data() do, and the description
 * of a target for each of its files.  What cannot be read or evaluated becomes a problem of the set, and
 * what was read before it counts.
 */

#include "images.h"

/*
 * Reads one file; name stands for it in origins and problems.  values is an object (borrowed): template marks
 * are rendered with it; or NULL: nothing is rendered.  The caller ends with ic_images_settle().
 * Errors: NOMEM, LIMIT of the whole set.
 */
int ic_reader_add_file(struct imgcheck_images *s, const char *path, const char *name, const json_t *values,
                       struct imgcheck_error **err) IC_MUST_CHECK;

#endif
