/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "memory.h"
#include "options.h"
#include "say.h"
#include "status.h"

#define MOST_REPORT ((size_t)64 << 20)

static const struct flag report_flags[] = {
	{ "format", "text|json", "as it was printed (text), or everything (json)", 0 },
	{ 0 },
};

static int report_take(void *arg, int id, const char *value)
{
	(void)id;
	if (strcmp(value, "text") && strcmp(value, "json"))
		return say_usage("report", "--format %s: it is text or json", value);
	*(bool *)arg = !strcmp(value, "json");
	return 0;
}

static int print(const char *path, bool json)
{
	AUTO(free) char *data = NULL;
	AUTO(json) json_t *report = NULL;
	const char *text;
	size_t len;
	int fault = files_read(path, MOST_REPORT, &data, &len);

	if (fault) {
		say("cannot read %s: %s", path, strerror(fault));
		return STATUS_UNREADABLE;
	}
	report = json_loadb(data, len, 0, NULL);
	text = json ? data : json_string_value(json_object_get(json_object_get(report, "hook"), "text"));
	if (!text) {
		say("cannot use %s: it is not the report of a hook", path);
		return STATUS_UNREADABLE;
	}
	return fputs(text, stdout) == EOF || fflush(stdout) ? STATUS_INTERNAL : STATUS_OK;
}

int cmd_report(char *const *argv)
{
	bool json = false;
	AUTO(lines) struct lines paths = { 0 };
	AUTO(free) char *path = NULL;
	const char *common = getenv("SNAP_COMMON");
	const struct flag_group groups[] = { { report_flags, report_take, &json } };
	const struct command_line line = {
		.command = "report", .usage = "[OPTION]... [FILE]",
		.about = "Prints the report of the last hook run: FILE, or $SNAP_COMMON/imgcheck/last-report.json.",
		.groups = groups, .group_count = COUNT(groups) };
	int status = options_read(&line, argv, &paths, NULL);

	if (status != STATUS_GO)
		return status;
	if (paths.count > 1 || (!paths.count && !common))
		return say_usage("report", "which report? give its file");
	path = paths.count ? memory_text(paths.line[0]) : files_join(common, "imgcheck/last-report.json");
	return print(path, json);
}
