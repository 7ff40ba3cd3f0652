/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_DELIVER_H
#define HOOKS_WATCH_DELIVER_H

/*
 * Tells the events of the outbox to everybody who is to be told (the sinks), each in order and at least once: an event
 * is told from what was saved, and forgotten once all have been told.  A sink that fails is left alone for a while
 * that doubles up to a quarter of an hour, or as long as the receiver asks; the others go on.  Receivers tell a
 * repetition by its id.
 */

#include "state.h"

#define DELIVER_COMMAND_SECONDS 60

struct deliver {
	const char *command; /* a shell's command line, or NULL */
	const char *webhook; /* URL, or NULL */
	bool syslog;
	bool print;          /* on standard output, always as the first */
	/*
	 * What was told in this process, for a state that could not be saved afterwards: it is not told once more each time
	 * that the state is read.  It holds for the state of this id: another can have taken its place.
	 */
	long long told[4];
	char id[64];
};

/*
 * Marks the sinks of this process as in use, before a turn.  An event waits for those of other processes with the same
 * state too: a look by hand takes none from a watch that has more to tell them to.  One that is not seen for two weeks was
 * given up.
 */
void deliver_begin(const struct deliver *d, struct state *s, long long now);

/*
 * Tells what is due, and saves what was told.  *due is when to come back, in seconds since 1970; 0: all are told.  0, or
 * an exit status where the state cannot be saved.
 */
int deliver_events(struct deliver *d, struct state *s, long long now, long long *due);

/* Seconds to leave a sink alone after so many failures in a row. */
long long deliver_pause(long long failures, long retry_after);

#endif
