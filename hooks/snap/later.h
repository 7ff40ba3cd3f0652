/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_LATER_H
#define HOOKS_LATER_H

/*
 * Whether the post-refresh hook of a revision is ours, so that what the old revision's checker cannot read may be
 * left to it.  Who is taken for ours and is not would never judge it: in doubt it is not.
 *
 * The files of the new revision are the input here: none of them is run, and what is read of them is bounded.
 */

#include <stdbool.h>

/*
 * Ours is this program, of whatever version, and a shell script that runs it by a path below $SNAP: on a line of its
 * own, outside of any block, in such a way that its status becomes that of the script.
 */
bool later_is_ours(const char *folder);

#endif
