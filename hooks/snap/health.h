/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_HEALTH_H
#define HOOKS_HEALTH_H

/*
 * The last report of a hook as the health of the snap, which `snap info` and `snap list` show.  A hook cannot
 * set it itself: what it sets before a veto is lost.  Called by a service of the snap, with a timer.
 */

#include "program/auto.h"

/* Publishes it; a report that stopped nothing clears it.  The exit status. */
int health_publish(const json_t *report);

#endif
