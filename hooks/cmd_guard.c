/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "commands.h"
#include "program/say.h"
#include "program/status.h"
#include "snap/snapctl.h"

static const struct flag guard_flags[] = {
	{ "veto-status", "N", "exit status on a veto (125)", 0 },
	{ 0 },
};

static int guard_take(void *arg, int id, const char *value)
{
	char *end = NULL;
	unsigned long number = strtoul(value, &end, 10);

	(void)id;
	if (*value < '0' || *value > '9' || *end || number > 255)
		return say_usage("guard", "--veto-status %s: it is a number up to 255", value);
	*(int *)arg = (int)number;
	return 0;
}

static int exec_command(char *const *command)
{
	execvp(command[0], command);
	say("cannot run %s: %s", command[0], strerror(errno));
	return errno == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_EXEC;
}

/* Whoever calls may take the status of a veto for a success; and in a snap there is a way out. */
static void tell_not_run(const char *command)
{
	const char *instance = snapctl_here() ? getenv("SNAP_INSTANCE_NAME") : NULL;

	if (instance)
		say("%s was not run; to run it unchecked:  snap set %s imgcheck.mode=off", command, instance);
	else
		say("%s was not run", command);
}

/* Whether the status says that the check was made and did not pass; else it was not made. */
static bool is_veto(int status)
{
	return status == STATUS_MISSING || status == STATUS_ACCESS || status == STATUS_UNDECIDED || status == STATUS_UNREADABLE;
}

int cmd_guard(char *const *argv)
{
	int veto_status = STATUS_VETO, status;
	char *const *command;
	AUTO(check) struct check c = { .input.command = "guard", .gate = true };
	AUTO(free) struct flag *library = options_library_flags();
	const struct flag_group groups[] = {
		{ guard_flags, guard_take, &veto_status },
		CHECK_FLAG_GROUPS(&c, library),
	};
	const struct command_line line = {
		.command = "guard",
		.usage = "[OPTION]... [PATH]... -- COMMAND [ARGUMENT]...",
		.about = "Runs COMMAND only if the check passes.  The report goes to standard error.",
		.notes = "Exit status: that of COMMAND, or 125 on a veto, 2 usage, 70 internal error, 126 or 127 where COMMAND "
			 "cannot be run.  In a snap the operator's settings hold; imgcheck.mode=off lets everything pass.",
		.groups = groups,
		.group_count = COUNT(groups),
	};

	status = options_read(&line, argv, &c.paths, &command);
	if (status != STATUS_GO)
		return status;
	if (!command || !*command)
		return say_usage("guard", "which command? it stands after --");
	status = check_run(&c, stderr);
	if (status == STATUS_OK) {
		check_clear(&c); /* with what was unpacked: nothing comes back from exec */
		return exec_command(command);
	}
	tell_not_run(*command);
	return is_veto(status) ? veto_status : status;
}
