/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "commands.h"
#include "check/input.h"
#include "program/say.h"
#include "program/status.h"

static int render(struct input *in, const char *path)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *text = NULL;
	size_t len;
	int status;

	if (imgcheck_images_render(in->images, path, &text, &len, &e)) {
		status = say_error(e);
		return status == STATUS_INTERNAL ? status : STATUS_UNREADABLE;
	}
	if (fwrite(text, 1, len, stdout) == len && !fflush(stdout))
		return STATUS_OK;
	say("cannot write to standard output");
	return STATUS_INTERNAL;
}

int cmd_render(char *const *argv)
{
	AUTO(input) struct input in = { .command = "render" };
	AUTO(lines) struct lines paths = { 0 };
	const struct flag_group groups[] = { { input_value_flags, input_take, &in } };
	const struct command_line line = { .command = "render", .usage = "[OPTION]... TEMPLATE",
					   .about = "Prints the template as Jinja2 would, byte for byte.",
					   .notes = "Exit status: 0, 2 usage, 5 the template cannot be read or evaluated, 70 internal error.",
					   .groups = groups, .group_count = COUNT(groups) };
	int status = options_read(&line, argv, &paths, NULL);

	if (status != STATUS_GO)
		return status;
	if (paths.count != 1)
		return say_usage("render", "which template?");
	status = input_open(&in);
	return status ? status : render(&in, paths.line[0]);
}
