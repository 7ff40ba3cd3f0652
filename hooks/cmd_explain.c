/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "check/check.h"
#include "commands.h"
#include "program/say.h"
#include "program/status.h"

static const struct flag explain_flags[] = {
	{ "format", "text|json", "how to print it (text)", 0 },
	{ 0 },
};

static int explain_take(void *arg, int id, const char *value)
{
	const struct rendering *r = render_find(value);

	(void)id;
	if (!r || r->print)
		return say_usage("explain", "--format %s: it is text or json", value);
	*(enum imgcheck_format *)arg = r->format;
	return 0;
}

int cmd_explain(char *const *argv)
{
	enum imgcheck_format format = IMGCHECK_FORMAT_TEXT;
	AUTO(check) struct check c = { .input.command = "explain" };
	AUTO(free) struct flag *library = options_library_flags();
	const struct flag_group groups[] = {
		{ explain_flags, explain_take, &format },
		{ input_target_flags, input_take, &c.input },
		{ node_files_flags, node_files_take, &c.files },
		{ check_flags, check_take, &c },
		{ library, options_library_take, &c.options },
	};
	const struct command_line line = {
		.command = "explain",
		.usage = "[OPTION]... REF...",
		.about = "Prints who would be asked for an image, in order, with which credentials, certificates and proxy, "
			 "without asking anybody.  The options are those of check; those that only matter for an answer change nothing.",
		.notes = "Exit status: 0, 2 usage or configuration, 5 a target cannot be read, 70 internal error.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &c.paths, NULL);

	if (status != STATUS_GO)
		return status;
	return c.paths.count ? check_explain(&c, format, stdout) : say_usage("explain", "which image?");
}
