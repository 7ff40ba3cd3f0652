/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RECENT_H
#define HOOKS_RECENT_H

/*
 * Images that a run has found a moment ago, so that one which is started again and again asks only for what was
 * not there.  What was not found is never remembered, nor anything that was asked for in other ways (settings_ways()): with
 * another login what was there may be out of reach.
 *
 * The list stands in a file of our own below $SNAP_COMMON, replaced as a whole.
 */

#include "program/auto.h"

#define RECENT_SECONDS 900

/* The entries of the file that still hold in these ways (NULL: none do): new, an object by reference; maybe empty. */
json_t *recent_read(const char *state, const json_t *ways);

/* Tells the set what need not be asked.  0, or an exit status of an internal error. */
int recent_mark(const json_t *recent, struct imgcheck_images *images);

/* Writes the file anew from a report; what was in `recent` keeps its time.  0 or an errno. */
int recent_write(const char *state, const json_t *ways, const json_t *recent, const json_t *report);

#endif
