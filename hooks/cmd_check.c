/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "check.h"
#include "commands.h"
#include "status.h"

int cmd_check(char *const *argv)
{
	AUTO(check) struct check c = { .input.command = "check" };
	AUTO(free) struct flag *library = options_library_flags();
	const struct flag_group groups[] = {
		{ input_target_flags, input_take, &c.input },
		{ input_image_flags, input_take, &c.input },
		{ input_value_flags, input_take, &c.input },
		{ node_files_flags, node_files_take, &c.files },
		{ check_flags, check_take, &c },
		{ library, options_library_take, &c.options },
	};
	const struct command_line line = {
		.command = "check",
		.usage = "[OPTION]... [PATH]...",
		.about = "Asks the registry for every image that the files and folders need, and reports.",
		.notes = "Exit status: 0 all can be pulled (or only warnings), 1 something is missing, 2 usage, 3 access refused,\n"
			 "4 could not be decided, 5 a manifest cannot be read, 70 internal error.\n"
			 "Logins come from --authfile and --creds, or from the file named by REGISTRY_AUTH_FILE.  Those that docker\n"
			 "or podman keep in a home directory are not used unless named so: the nodes of a cluster do not have them.\n"
			 "Proxies come from --proxy, or from http_proxy, https_proxy and no_proxy as curl reads them.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &c.paths, NULL);

	return status == STATUS_GO ? check_run(&c, stdout) : status;
}
