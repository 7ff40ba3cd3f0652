/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_COMMAND_H
#define HOOKS_COMMAND_H

/*
 * A program that somebody configured, run with a time limit: as process.h runs a child, in a group of its own that
 * is killed with it.  Of what it prints, to either stream, the end is kept as far as
 * process.h keeps standard error; it may print as much as it wants.
 */

#include "lines.h"
#include "process.h"

struct command {
	const struct lines *words;       /* the program, looked for in PATH where it has no slash, and its arguments */
	const struct lines *environment; /* NAME=VALUE, besides what is there already; or NULL */
	const char *folder;              /* to run in, or NULL */
	const char *input;               /* standard input, or NULL for none */
	unsigned seconds;                /* after which it is killed */
	bool (*stop)(void);              /* as in process.h */
};

/*
 * Runs it; r->err is what it printed, without blanks at the end.  126 and 127 are the statuses of what could not be run,
 * or is not there.
 */
void command_run(const struct command *c, struct process_result *r);

/* How it ended, for people: "exit status 1", "killed after 60 s": new. */
char *command_end(const struct command *c, const struct process_result *r);

#endif
