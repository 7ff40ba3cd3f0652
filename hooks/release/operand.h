/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RELEASE_OPERAND_H
#define HOOKS_RELEASE_OPERAND_H

/*
 * An operand that stands for a whole release: a file, a folder or a list of images, an unpacked snap (a folder
 * with meta/imgcheck.yaml), or a packed one, which is unpacked with unsquashfs into a folder of its own and
 * removed again.  What is in a snap is hostile; nothing of it is run.
 */

#include "check/input.h"

struct operand {
	const char *name;   /* as it was given: borrowed */
	const char *path;   /* what to read, or NULL: borrowed */
	const char *target; /* a snap to read by its description, or NULL: borrowed */
	struct unsquashed unpacked;
};

/* Finds out what `name` is, for the command of that name.  0, or an exit status after saying why. */
int operand_open(struct operand *o, const char *command, const char *name);

/* Puts it where the input looks for it: its target, or the paths. */
void operand_set(const struct operand *o, struct input *in, struct lines *paths);

void operand_close(struct operand *o);

static inline void auto_operand(struct operand *o)
{
	operand_close(o);
}

#endif
