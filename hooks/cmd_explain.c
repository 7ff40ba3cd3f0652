/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "check.h"
#include "commands.h"
#include "say.h"
#include "status.h"

int cmd_explain(char *const *argv)
{
	AUTO(check) struct check c = { .input.command = "explain" };
	AUTO(free) struct flag *library = options_library_flags();
	const struct flag_group groups[] = {
		{ input_target_flags, input_take, &c.input },
		{ node_files_flags, node_files_take, &c.files },
		{ check_flags, check_take, &c },
		{ library, options_library_take, &c.options },
	};
	const struct command_line line = {
		.command = "explain",
		.usage = "[OPTION]... REF...",
		.about = "Prints who would be asked for an image, in order, with which credentials, certificates and proxy,\n"
			 "without asking anybody.  The options are those of check.",
		.notes = "Exit status: 0, 2 usage or configuration, 70 internal error.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &c.paths, NULL);

	if (status != STATUS_GO)
		return status;
	return c.paths.count ? check_explain(&c, stdout) : say_usage("explain", "which image?");
}
