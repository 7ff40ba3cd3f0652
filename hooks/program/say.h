/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_SAY_H
#define HOOKS_SAY_H

/* Messages of the programs to standard error, one line each. */

#include "auto.h"
#include "lines.h"

/* "imgcheck: text". */
void say(const char *format, ...) PRINTF(1, 2);

/* Says what is wrong with a command line and where its help is; returns STATUS_USAGE. */
int say_usage(const char *command, const char *format, ...) PRINTF(2, 3);

/* Puts ? for every byte that is not printable ASCII; newlines stay where they are wanted. */
void say_printable(char *text, bool newlines);

/* "place:line:column: message" of an error of the library: new. */
char *say_text(const struct imgcheck_error *e);

/* Says an error of the library; returns the exit status that goes with its code. */
int say_error(const struct imgcheck_error *e);

/* The same where the library refused configuration, which is a matter of usage whatever its code. */
int say_refused(const struct imgcheck_error *e);

/* The exit status for an error of the library. */
int say_status(enum imgcheck_err code);

#endif
