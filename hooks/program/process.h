/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_PROCESS_H
#define HOOKS_PROCESS_H

/*
 * A child process with a time limit and a ceiling on what it may print.  The caller never waits beyond
 * the limit: the child is then killed by its id, with its group where it made itself the leader of one.  Its end counts, and
 * not that of what it left behind with the same output.  A
 * child dies with its parent, so that a killed hook leaves nothing behind (snapd refuses a refresh while a
 * snap has processes).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process {
	/* Runs in the child: its result is the exit status.  Standard output and error are collected, input is empty. */
	int (*main)(void *arg);
	void *arg;
	int64_t until; /* on process_clock() */
	size_t most;   /* bytes of output taken; more ends the child */
	bool tail;     /* of standard error the end is kept, not the start */
	bool (*stop)(void); /* asked now and then where it is not NULL: true ends the child as one that is late */
};

enum process_end {
	PROCESS_EXITED,
	PROCESS_SIGNALLED,
	PROCESS_LATE,       /* out of time or stopped, killed */
	PROCESS_TOO_MUCH,   /* printed more than was allowed, killed */
	PROCESS_NOT_STARTED /* no process could be made */
};

struct process_result {
	enum process_end end;
	int status; /* exit status, number of the signal, or errno of the start */
	char *out;  /* new, NUL-terminated beyond len; never NULL */
	size_t len;
	char *err;  /* new: the start, or the end, of what went to standard error */
};

/* Milliseconds on the monotonic clock. */
int64_t process_clock(void);

void process_run(const struct process *p, struct process_result *r);
void process_result_clear(struct process_result *r);

static inline void auto_process_result(struct process_result *r)
{
	process_result_clear(r);
}

#endif
