/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_SIGNALS_H
#define HOOKS_WATCH_SIGNALS_H

/*
 * SIGTERM, SIGINT and SIGHUP for a process that works in steps: they are blocked, so that no step is cut in two, and
 * looked for between steps.  No handler runs.  Whoever stops reading what is printed ends nothing (SIGPIPE).  What
 * never called signals_hold() is ended by them as usual.
 */

#include <stdbool.h>
#include <stdint.h>

void signals_hold(void);

/* Whether the process is to end (SIGTERM, SIGINT): it stays so. */
bool signals_end(void);

/* Waits for a signal, or until then on process_clock().  True: SIGHUP came. */
bool signals_wait(int64_t until);

#endif
