/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_UNSQUASH_H
#define HOOKS_UNSQUASH_H

/*
 * A .snap file unpacked into a folder of its own, by unsquashfs(1), for the time of one command, however that ends.  The file is
 * hostile: what it holds is looked at first, and it may be neither large nor more than files, folders and links.
 */

#include <stdbool.h>

#include "scratch.h"

/* Whether the path is a regular file with a squashfs in it. */
bool unsquash_is_snap(const char *path);

/* A snap that is unpacked. */
struct unsquashed {
	char *dir; /* what was in the file; NULL: nothing is unpacked */
	struct scratch scratch;
};

/* Unpacks it, to be removed with unsquash_remove().  0, or an exit status after saying why not. */
int unsquash(const char *path, struct unsquashed *u);
void unsquash_remove(struct unsquashed *u);

#endif
