/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_CHECK_H
#define HOOKS_CHECK_H

/* The check as a command line describes it: what `imgcheck check` and `imgcheck guard` have in common. */

#include <stdio.h>

#include "input.h"
#include "node_files.h"
#include "options.h"

struct check {
	struct input input;
	struct lines paths;
	struct library_options options;
	struct node_files files;
	struct lines warn;
	const char *creds, *proxy;
	enum imgcheck_format format;
	bool has_registry; /* known from a flag or the target */
	bool gate; /* a guard: the setting mode=off lets everything pass */
};

extern const struct flag check_flags[];
int check_take(void *arg, int id, const char *value); /* arg: struct check */

/* Runs the check, prints the report to out and everything else to standard error.  The exit status. */
int check_run(struct check *c, FILE *out);

/* Prints who would be asked for the references that stand where paths do, without asking.  The exit status. */
int check_explain(struct check *c, FILE *out);

void check_clear(struct check *c);

static inline void auto_check(struct check *c)
{
	check_clear(c);
}

#endif
