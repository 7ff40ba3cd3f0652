/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program/files.h"
#include "program/lines.h"
#include "program/memory.h"

#define FOLDER "history"
#define KEPT 10

static void remove_file(const char *dir, const char *name)
{
	AUTO(free) char *path = files_join(dir, name);

	unlink(path); /* the next run tries again */
}

static bool is_left_over(const char *name)
{
	size_t len = strlen(name);

	return len > strlen("..new") && !strcmp(name + len - strlen(".new"), ".new");
}

/* The reports in the folder, oldest first.  What a killed run left is removed. */
static void list(const char *dir, struct lines *names)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			lines_add(names, entry->d_name);
		else if (is_left_over(entry->d_name))
			remove_file(dir, entry->d_name);
	closedir(d);
	lines_sort(names);
}

/* The time, as it sorts: new.  Where the clock was set back, a nanosecond after the newest report. */
static char *name_after(const struct lines *names)
{
	const char *newest = names->count ? names->line[names->count - 1] : "";
	struct timespec now;
	struct tm parts;
	char text[32] = "";
	AUTO(free) char *name = NULL;

	clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &parts))
		(void)!strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &parts);
	name = memory_printf("%s.%09ldZ.json", text, now.tv_nsec);
	if (strcmp(name, newest) > 0 || strlen(newest) != strlen(name))
		return TAKE(name);
	/* "20350101T000000.000000000Z.json" */
	now.tv_nsec = strtol(newest + strlen("20350101T000000."), NULL, 10) + 1;
	return memory_printf("%.15s.%09ldZ.json", newest, now.tv_nsec % 1000000000);
}

int history_add(const char *state, const char *text, size_t len)
{
	AUTO(free) char *dir = files_join(state, FOLDER), *name = NULL;
	AUTO(lines) struct lines names = { 0 };

	if (mkdir(dir, 0700) && errno != EEXIST)
		return errno;
	list(dir, &names);
	name = name_after(&names);
	for (size_t i = 0; i + KEPT - 1 < names.count; i++)
		remove_file(dir, names.line[i]);
	return files_replace(dir, name, 0600, text, len);
}
