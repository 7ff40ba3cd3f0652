/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_OPTIONS_H
#define HOOKS_OPTIONS_H

/*
 * Command lines: "--name VALUE" or "--name=VALUE", flags and operands in any order, "--" ends the flags.
 * A command gives one table for each group of flags; the library's own options make a further group by
 * themselves, so that a new option of the library is a flag of every command that checks.
 */

#include "lines.h"

struct flag {
	const char *name;     /* without the dashes; NULL ends the table */
	const char *argument; /* as the help names it; NULL: the flag takes none */
	const char *help;
	int id;               /* told to take(); in the library's group an enum imgcheck_option */
};

struct flag_group {
	const struct flag *flags;

	/* value is NULL for a flag without argument.  Returns 0, or an exit status after saying why. */
	int (*take)(void *arg, int id, const char *value);
	void *arg;
};

struct command_line {
	const char *command; /* "check"; "" for the program itself */
	const char *usage;   /* what follows the command: "[OPTION]... PATH..." */
	const char *about;   /* lines of help before and after the flags; the latter may be NULL */
	const char *notes;
	const struct flag_group *groups;
	size_t group_count;
	bool stop_at_operand; /* what follows the first operand belongs to somebody else */
};

/*
 * Reads the arguments after the command's name.  Operands are added to `operands`; with rest not NULL,
 * what stands after "--" goes there instead, and *rest stays NULL where there was no "--": borrowed from
 * argv.  STATUS_GO, or an exit status: 0 after --help or --version.
 */
int options_read(const struct command_line *c, char *const *argv, struct lines *operands, char *const **rest);

/* Library options that were given, in order, to be set after less important sources were. */
struct library_options {
	struct {
		enum imgcheck_option option;
		char *value;
	} *given;
	size_t count;
};

/* The library's options as a table of flags: new (free()). */
struct flag *options_library_flags(void);

int options_library_take(void *arg, int id, const char *value); /* arg: struct library_options */

/* The last value given for an option, or NULL: borrowed. */
const char *options_library_get(const struct library_options *l, enum imgcheck_option o);

/* Sets what was given.  0, or an exit status after saying why. */
int options_library_set(const struct library_options *l, const char *command, struct imgcheck_config *c);
void options_library_clear(struct library_options *l);

static inline void auto_library_options(struct library_options *l)
{
	options_library_clear(l);
}

#endif
