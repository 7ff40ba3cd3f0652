/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_HOOK_H
#define HOOKS_HOOK_H

/*
 * What a hook of a snap is given.  snapd passes everything by the environment; the few flags are for a
 * rehearsal by hand.
 */

#include <stdint.h>

#include "revisions.h"

struct hook {
	const char *snap;     /* SNAP: the folder of our own revision */
	const char *name;     /* SNAP_NAME */
	const char *instance; /* SNAP_INSTANCE_NAME, for snap(1) and the .snap files */
	const char *revision; /* SNAP_REVISION: the old one, in pre-refresh */
	const char *common;   /* SNAP_COMMON */
	char *root;           /* the folder that holds SNAP */
	char *state;          /* our folder below SNAP_COMMON */
	const char *target;   /* --target: the new revision, instead of looking for it; or NULL */
	const char *blobs, *environment;
	int64_t began; /* on process_clock() */
};

/* Fills in what snapd gave.  0, or an exit status after saying what is missing. */
int hook_init(struct hook *h);
void hook_clear(struct hook *h);

static inline void auto_hook(struct hook *h)
{
	hook_clear(h);
}

/*
 * While two runs write below `state`, each has it for itself: there may be a rehearsal, or a run that a snapd which was
 * restarted does not know of.  Whoever holds it for seconds holds up no refresh, though.  A descriptor, or -1.
 */
int hook_lock(const struct hook *h);
void hook_unlock(int lock);

/* Where revisions are looked for. */
struct revisions_place hook_place(const struct hook *h);

/* The hooks: each returns the exit status. */
int hook_pre_refresh(const struct hook *h);
int hook_post_refresh(const struct hook *h);
int hook_record(const struct hook *h); /* install */
int hook_configure(const struct hook *h);

#endif
