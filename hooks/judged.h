/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_JUDGED_H
#define HOOKS_JUDGED_H

/*
 * What pre-refresh leaves for post-refresh: which revisions it has judged, and which was the old one.  A
 * revision that is not named there is judged by its own post-refresh hook: it is the first with a hook of
 * ours, or the old one could not read it.
 */

#include "refresh.h"

/* Before anything is judged: what an earlier refresh left does not count.  0 or an errno. */
int judged_forget(const char *state);

/* After the report is written.  0 or an errno. */
int judged_write(const struct refresh *r);

/* Whether the revision was judged. */
bool judged_has(const char *state, const char *revision);

/* Whether the hook in a revision's folder is one of ours, or calls it. */
bool judged_later_by(const char *folder);

#endif
