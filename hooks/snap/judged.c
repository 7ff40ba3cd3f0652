/* SPDX-License-Identifier: Apache-2.0 */
#include "judged.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"

#define FILE_NAME "judged-revisions"
#define MOST_FILE ((size_t)4096)
#define LEFT "left " /* before a name */
#define FROM "from "

int judged_forget(const char *state)
{
	AUTO(free) char *path = files_join(state, FILE_NAME);

	return unlink(path) && errno != ENOENT ? errno : 0;
}

int judged_write(const struct refresh *r, bool left)
{
	AUTO(lines) struct lines names = { 0 };
	AUTO(free) char *text = NULL;

	for (size_t i = 0; i < r->revisions.count; i++)
		if (r->revisions.item[i].chosen)
			lines_addf(&names, "%s%s", left ? LEFT : "", r->revisions.item[i].name);
	if (*r->before.name)
		lines_addf(&names, FROM "%s", r->before.name);
	text = lines_join(&names);
	return files_replace(r->hook->state, FILE_NAME, 0644, text, strlen(text));
}

static bool has_line(const char *state, const char *wanted)
{
	AUTO(free) char *path = files_join(state, FILE_NAME), *text = NULL;
	char *line, *rest;
	size_t len;

	if (files_read(path, MOST_FILE, &text, &len))
		return false;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (!strcmp(line, wanted))
			return true;
	return false;
}

bool judged_has(const char *state, const char *revision)
{
	return has_line(state, revision);
}

bool judged_left(const char *state, const char *revision)
{
	AUTO(free) char *line = memory_printf(LEFT "%s", revision);

	return has_line(state, line);
}

bool judged_from(const char *state, const char *revision)
{
	AUTO(free) char *line = memory_printf(FROM "%s", revision);

	return has_line(state, line);
}
