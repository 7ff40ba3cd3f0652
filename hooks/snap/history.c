/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <dirent.h>
#include <errno.h>
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

static void remove_old(const char *dir)
{
	AUTO(lines) struct lines names = { 0 };
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while ((entry = readdir(d))) {
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] != '.')
			lines_add(&names, entry->d_name);
		else if (len > strlen("..new") && !strcmp(entry->d_name + len - strlen(".new"), ".new"))
			remove_file(dir, entry->d_name);
	}
	closedir(d);
	lines_sort(&names);
	for (size_t i = 0; i + KEPT < names.count; i++)
		remove_file(dir, names.line[i]);
}

/* Sorts by time: new. */
static char *name_now(void)
{
	struct timespec now;
	struct tm parts;
	char text[32] = "";

	clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &parts))
		(void)!strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &parts);
	return memory_printf("%s.%09ldZ.json", text, now.tv_nsec);
}

int history_add(const char *state, const char *text, size_t len)
{
	AUTO(free) char *dir = files_join(state, FOLDER), *name = name_now();
	int fault;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return errno;
	fault = files_replace(dir, name, 0600, text, len);
	remove_old(dir);
	return fault;
}
