/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_FILES_H
#define HOOKS_FILES_H

/*
 * Files as the programs read and write them.  Reading never blocks on a FIFO or device and stops at the
 * given ceiling; writing replaces the file as a whole or not at all.
 */

#include <stddef.h>
#include <sys/types.h>

#define FILES_MAX_JSON ((size_t)8 << 20) /* values, snap configuration, a report: real ones stay far below 1 MiB */

char *files_join(const char *dir, const char *name); /* new */
char *files_folder(const char *path);                /* new; "." where it names none */

/* The bytes of a regular file, "-" being standard input: *out is new, NUL-terminated beyond *len.  0 or an errno. */
int files_read(const char *path, size_t most, char **out, size_t *len);

/*
 * What root makes belongs to whom the file `like` belongs to, a folder or what it replaces: programs of that user could not
 * use it otherwise.
 */
void files_give(int fd, const char *like);

/*
 * Writes dir/name by way of a second file, fsync and rename.  It stays whose it was; a new one that root makes is that
 * of the folder's owner.  0 or an errno.
 */
int files_replace(const char *dir, const char *name, mode_t mode, const char *data, size_t len);

/* Writes everything.  0 or an errno. */
int files_write(int fd, const char *data, size_t len);

#endif
