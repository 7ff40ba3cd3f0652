/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_TURN_H
#define HOOKS_WATCH_TURN_H

/*
 * One round: asks for every image of this shard, takes the answers in, and saves what was noticed together with its
 * events, which are told later.  Of a registry that wants no more requests the rest is left for a later round, and
 * then comes first.
 */

#include "watch.h"

#define TURN_STOPPED (-2) /* the process is to end: nothing was taken in */

/*
 * 0; TURN_STOPPED; STATUS_UNREADABLE where manifests could not be read: what they needed before is then still known, the
 * rest of the round was done; or another exit status after saying why.
 */
int turn_round(struct watch *w, struct state *s, long long now);

#endif
