/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_OPTION_H
#define IC_SOURCE_OPTION_H

/*
 * The one table of options: names, help, defaults and what their values may be.  Command-line flags,
 * settings of a snap and manual pages follow it.  Values come from operators; no error repeats one that
 * can hold a password.
 */

#include "base/error.h"

struct ic_option {
	const char *name;          /* "plain-http" */
	const char *argument;      /* "HOST", NULL for a switch */
	const char *help;          /* one line */
	bool list;                 /* each value adds, otherwise the last one counts */
	const char *initial;       /* the value where none was set, or NULL */
	const char *const *words;  /* the only values allowed, NULL-terminated, or NULL */
	/* Validates a value that is no word.  The error needs no name of the option. */
	int (*check)(const char *value, struct imgcheck_error **err);
};

enum { IC_OPTION_COUNT = IMGCHECK_OPTION_REMEDY + 1 };

/* Static; NULL past the last option. */
const struct ic_option *ic_option_get(enum imgcheck_option o);

/* Whether the option takes the value.  Errors: CONFIG with the option's name and the reason, ARGUMENT, NOMEM. */
int ic_option_check(enum imgcheck_option o, const char *value, struct imgcheck_error **err) IC_MUST_CHECK;

/* Which of the option's words the value is; the value must be one. */
unsigned ic_option_word(enum imgcheck_option o, const char *value);

#endif
