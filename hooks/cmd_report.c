/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "program/files.h"
#include "snap/health.h"
#include "program/memory.h"
#include "program/options.h"
#include "program/output.h"
#include "render/nagios.h"
#include "render/render.h"
#include "program/say.h"
#include "program/status.h"

#define MOST_REPORT ((size_t)64 << 20)

enum { TAKE_FORMAT, TAKE_OUTPUT, TAKE_HEALTH };

struct request {
	const struct rendering *rendering; /* NULL: the text as it was printed */
	const char *output;
	bool health;
};

static const struct flag report_flags[] = {
	{ "format", RENDER_NAMES, "as it was printed (text), everything (json), or in another format", TAKE_FORMAT },
	{ "output", "FILE", "write it to this file, by way of a rename", TAKE_OUTPUT },
	{ "health", NULL, "print nothing, publish it as the health of the snap (snapctl set-health)", TAKE_HEALTH },
	{ 0 },
};

static int report_take(void *arg, int id, const char *value)
{
	struct request *r = arg;

	if (id == TAKE_OUTPUT) {
		r->output = value;
		return 0;
	}
	if (id == TAKE_HEALTH) {
		r->health = true;
		return 0;
	}
	r->rendering = render_find(value);
	if (r->rendering)
		return 0;
	return say_usage("report", "--format %s: it is one of " RENDER_NAMES, value);
}

/* The reports that files hold, and when they were written. */
struct kept {
	char **texts;
	json_t **reports;
	size_t count;
	long long time; /* the oldest; -1 where not known */
};

static int read_report(struct kept *k, const char *path)
{
	AUTO(free) char *data = NULL;
	AUTO(json) json_t *report = NULL;
	struct stat st;
	size_t len;
	int fault = files_read(path, MOST_REPORT, &data, &len);

	if (fault) {
		say("cannot read %s: %s", path, strerror(fault));
		return STATUS_UNREADABLE;
	}
	report = json_loadb(data, len, 0, NULL);
	if (!json_is_string(json_object_get(report, "decision"))) {
		say("cannot use %s: it is not a report", path);
		return STATUS_UNREADABLE;
	}
	k->texts = memory_grow(k->texts, k->count + 1, sizeof(*k->texts));
	k->reports = memory_grow(k->reports, k->count + 1, sizeof(*k->reports));
	k->texts[k->count] = TAKE(data);
	k->reports[k->count++] = TAKE(report);
	if (!stat(path, &st) && (k->time < 0 || st.st_mtime < k->time))
		k->time = (long long)st.st_mtime;
	return 0;
}

static void kept_clear(struct kept *k)
{
	for (size_t i = 0; i < k->count; i++) {
		free(k->texts[i]);
		json_decref(k->reports[i]);
	}
	free(k->texts);
	free(k->reports);
}

static inline void auto_kept(struct kept *k)
{
	kept_clear(k);
}

static int print(const struct kept *k, const struct request *r, const char *path)
{
	AUTO(output) struct output out = { 0 };
	const char *text = json_string_value(json_object_get(json_object_get(k->reports[0], "hook"), "text"));
	struct view view = { k->reports, k->count, k->time, -1 };
	bool json = r->rendering && r->rendering->format == IMGCHECK_FORMAT_JSON;
	int status;

	output_open(&out);
	if (r->rendering && r->rendering->print) {
		r->rendering->print(&view, out.stream);
	} else if (json || text) {
		fputs(json ? k->texts[0] : text, out.stream);
	} else {
		say("cannot print the text of %s: it is not the report of a hook; there are other formats", path);
		return STATUS_UNREADABLE;
	}
	status = output_finish(&out, stdout, r->output);
	if (r->rendering && r->rendering->print == render_nagios)
		return status ? NAGIOS_UNKNOWN : (int)nagios_state(k->reports[0]);
	return status;
}

static int run(const struct request *r, const struct lines *paths)
{
	AUTO(kept) struct kept k = { .time = -1 };
	int status;

	if (r->health && access(paths->line[0], F_OK) && errno == ENOENT)
		return STATUS_OK; /* no hook has run yet: there is nothing to say */
	for (size_t i = 0; i < paths->count; i++) {
		status = read_report(&k, paths->line[i]);
		if (status)
			return r->rendering && r->rendering->print == render_nagios ? NAGIOS_UNKNOWN : status;
	}
	return r->health ? health_publish(k.reports[0]) : print(&k, r, paths->line[0]);
}

int cmd_report(char *const *argv)
{
	struct request r = { 0 };
	AUTO(lines) struct lines paths = { 0 };
	const char *common = getenv("SNAP_COMMON");
	const struct flag_group groups[] = { { report_flags, report_take, &r } };
	const struct command_line line = {
		.command = "report", .usage = "[OPTION]... [FILE]...",
		.about = "Prints the report of the last hook run, or that in FILE, which `check --format json` writes too.  "
			 "The format html makes one page of several, say of one for each platform.",
		.notes = "Exit status: 0, 2 usage, 5 the file cannot be read; with --format nagios that of a plugin.",
		.groups = groups, .group_count = COUNT(groups) };
	int status = options_read(&line, argv, &paths, NULL);

	if (status != STATUS_GO)
		return status;
	if (!paths.count && !common)
		return say_usage("report", "which report? give its file");
	if (paths.count > 1 && (!r.rendering || r.rendering->print != render_html))
		return say_usage("report", "only --format html takes several reports");
	if (!paths.count)
		lines_addf(&paths, "%s/imgcheck/last-report.json", common);
	return run(&r, &paths);
}
