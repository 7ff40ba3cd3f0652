/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_UNSQUASH_H
#define HOOKS_UNSQUASH_H

/*
 * A .snap file unpacked into a folder of its own, by unsquashfs(1), for the time of one command.  The file is
 * hostile: what it holds is looked at first, and it may be neither large nor more than files, folders and links.
 */

#include <stdbool.h>

/* Whether the path is a regular file with a squashfs in it. */
bool unsquash_is_snap(const char *path);

/* Unpacks it: *dir is new, to be removed with unsquash_remove().  0, or an exit status after saying why not. */
int unsquash(const char *path, char **dir);

/* Removes what unsquash() made, and frees it. */
void unsquash_remove(char *dir);

#endif
