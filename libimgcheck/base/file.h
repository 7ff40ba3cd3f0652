/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_FILE_H
#define IC_BASE_FILE_H

/*
 * Reading regular files whole, within a ceiling.  A device, a pipe or a folder in their place is an
 * error, and opening never blocks.
 */

#include "buf.h"

/*
 * Opens a regular file for reading: *fd is new (close()), *size its length now.  Errors: IO, with path as
 * place.
 */
int ic_file_open(const char *path, int *fd, size_t *size, struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends the bytes from the descriptor's place to the file's end; path is the place of errors. */
int ic_file_read_fd(int fd, const char *path, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends the file's bytes to out, whose ceiling holds.  Errors: IO, LIMIT, NOMEM, with path as place. */
int ic_file_read(const char *path, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The names in a folder, sorted by their bytes; names is initialized here (ic_texts_clear()).  Errors: IO, LIMIT, NOMEM. */
int ic_file_list(const char *folder, struct ic_vec *names, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
