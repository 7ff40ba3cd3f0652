/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_FILE_H
#define IC_BASE_FILE_H

/*
 * Reading regular files whole, within a ceiling.  A device, a pipe or a folder in their place is an
 * error, and opening never blocks.
 */

#include "buf.h"

/* Appends the file's bytes to out, whose ceiling holds.  Errors: IO, LIMIT, NOMEM, with path as place. */
int ic_file_read(const char *path, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
