/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_STATUS_H
#define HOOKS_STATUS_H

/* Exit statuses of the commands.  The worst that counts wins: 70, 2, 5, 1, 3, 4. */

enum status {
	STATUS_OK = 0,
	STATUS_DIFFERENT = 1,  /* diff, audit */
	STATUS_MISSING = 1,    /* an image cannot be pulled; in a hook: the veto */
	STATUS_USAGE = 2,      /* usage or configuration */
	STATUS_ACCESS = 3,     /* access refused */
	STATUS_UNDECIDED = 4,  /* could not be decided */
	STATUS_UNREADABLE = 5, /* a manifest cannot be read or evaluated */
	STATUS_INTERNAL = 70,
	STATUS_VETO = 125,     /* guard: the check did not pass, the command was not run */
	STATUS_CANNOT_EXEC = 126,
	STATUS_NO_COMMAND = 127
};

/* Not a status: the command line was read and the command goes on. */
#define STATUS_GO (-1)

#endif
