/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_CHECK_H
#define HOOKS_CHECK_H

/* The check as a command line describes it: what the commands check, guard, plan and explain have in common. */

#include <stdio.h>

#include "input.h"
#include "node_files.h"
#include "program/options.h"
#include "render/render.h"

struct check {
	struct input input;
	struct lines paths;
	struct library_options options;
	struct node_files files;
	struct lines warn;
	const char *creds, *proxy;
	const struct rendering *rendering; /* NULL: text */
	const char *output;                /* the file for the report, or NULL */
	bool verbose, quiet;
	bool gate; /* a guard: the setting mode=off lets everything pass */

	/* Known from check_ask() on. */
	char *registry;        /* from a flag or the target, or NULL */
	char *surroundings;    /* the proxy that the surroundings set, in words, or NULL */
	struct lines plain_http, skip_verify; /* hosts that are asked without TLS, or without verifying it */
	double seconds;        /* how long it took */
};

extern const struct flag check_flags[];        /* how to ask */
extern const struct flag check_report_flags[]; /* how to tell */
int check_take(void *arg, int id, const char *value); /* arg: struct check */

/* The groups of all flags that a check has, for an array of struct flag_group; library: options_library_flags(). */
#define CHECK_FLAG_GROUPS(c, library)                     \
	{ input_target_flags, input_take, &(c)->input },      \
	{ input_image_flags, input_take, &(c)->input },       \
	{ input_value_flags, input_take, &(c)->input },       \
	{ node_files_flags, node_files_take, &(c)->files },   \
	{ check_flags, check_take, (c) },                     \
	{ check_report_flags, check_take, (c) },              \
	{ (library), options_library_take, &(c)->options }

/*
 * Asks.  0 and a new report, or NULL where a target says that this unit is not set up, or a guard is off; or an
 * exit status after saying why.  Progress is shown where `out`, to which the answer will go, is a terminal.
 */
int check_ask(struct check *c, FILE *out, struct imgcheck_report **report);

/* The report as its JSON document: new, or NULL after saying why. */
json_t *check_document(const struct imgcheck_report *report);

/* Prints the report to out, or to the file of --output.  The exit status. */
int check_print(const struct check *c, const struct imgcheck_report *report, FILE *out);

/* Both.  The exit status. */
int check_run(struct check *c, FILE *out);

/* Prints who would be asked for the references that stand where paths do, without asking.  The exit status. */
int check_explain(struct check *c, enum imgcheck_format format, FILE *out);

void check_clear(struct check *c);

static inline void auto_check(struct check *c)
{
	check_clear(c);
}

#endif
