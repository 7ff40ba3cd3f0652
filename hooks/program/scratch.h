/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_SCRATCH_H
#define HOOKS_SCRATCH_H

/*
 * A folder below $TMPDIR that does not outlive the process.  A process of its own removes it, when told to or when
 * the one that made it is gone: so it makes no difference whether that ends, is interrupted or is killed.
 */

#include <sys/types.h>

struct scratch {
	char *dir; /* NULL: none was made */
	pid_t keeper;
};

/* Makes one, readable by us alone.  0 or an errno. */
int scratch_make(struct scratch *s);

/* Removes it, and waits until it is gone. */
void scratch_remove(struct scratch *s);

#endif
