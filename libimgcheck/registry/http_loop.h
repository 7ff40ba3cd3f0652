/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_HTTP_LOOP_H
#define IC_REGISTRY_HTTP_LOOP_H

/*
 * What the transport waits for: sockets, one timer and a stop mark, behind a single descriptor (epoll,
 * timerfd, eventfd) that a program may watch in a loop of its own.
 */

#include "base/clock.h"
#include "base/error.h"

struct ic_loop {
	int epoll, timer, stop;
	ic_msec armed; /* when the timer goes off; -1: never */
};

struct ic_loop_event {
	int fd;
	bool read, write, error;
};

/* Errors: INTERNAL.  Cleared with ic_loop_clear() in any case. */
int ic_loop_init(struct ic_loop *loop, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_loop_clear(struct ic_loop *loop);

/* Waits for a descriptor from now on, or in another way than so far (known).  False: the system refuses. */
bool ic_loop_watch(struct ic_loop *loop, int fd, bool known, bool read, bool write) IC_MUST_CHECK;
void ic_loop_forget(struct ic_loop *loop, int fd);

/* The descriptor becomes readable at that time, however long ago; -1: never.  Replaces the earlier time. */
void ic_loop_wake_at(struct ic_loop *loop, ic_msec when);

/*
 * Waits up to timeout_ms (-1: as long as it takes) and fills at most `most` events of watched descriptors;
 * the timer and the mark only end the waiting.  Gives their number; a signal ends the waiting with 0.
 * *stopped: the mark is set.  Errors: INTERNAL.
 */
int ic_loop_wait(struct ic_loop *loop, int timeout_ms, struct ic_loop_event *events, size_t most, bool *stopped,
                 struct imgcheck_error **err) IC_MUST_CHECK;

/* Sets the mark, for good.  Async-signal-safe. */
void ic_loop_stop(struct ic_loop *loop);

#endif
