/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_JUDGED_H
#define HOOKS_JUDGED_H

/*
 * What pre-refresh leaves for post-refresh: which revisions it has judged, and which it could not read.  A
 * revision that it has not judged is judged by its own post-refresh hook: it could not be read, or it is the
 * first with a hook of ours and not named at all.
 */

#include "refresh.h"

/* Before anything is judged and when a refresh is done or stopped: what it left is for no other.  0 or an errno. */
int judged_forget(const char *state);

/* left: what could not be read of it, or will not be, is left to post-refresh.  0 or an errno. */
int judged_write(const struct refresh *r, bool left);

/* Whether the revision was judged. */
bool judged_has(const char *state, const char *revision);

/* Whether what could not be read of it was left. */
bool judged_left(const char *state, const char *revision);

/* Whether it was the revision that the refresh came from. */
bool judged_from(const char *state, const char *revision);

#endif
