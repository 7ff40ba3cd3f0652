/* SPDX-License-Identifier: Apache-2.0 */
#include "revisions.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "program/files.h"
#include "program/lines.h"
#include "program/memory.h"

#define RECORD "known-revisions"
#define MOST_RECORD ((size_t)64 << 10)
#define MOST_SNAP_YAML ((size_t)1 << 20)

/* ---------------------------------------------------------------- names and snap.yaml */

bool revisions_is_name(const char *text)
{
	const char *digits = text + (*text == 'x');

	return *digits >= '1' && *digits <= '9' && strspn(digits, "0123456789") == strlen(digits) &&
	       strlen(text) < REVISIONS_MOST_NAME;
}

/* The value of a top-level key of a snap.yaml: new, or NULL.  snapd itself accepts plain and quoted scalars here. */
static char *snap_yaml_value(const char *text, const char *key)
{
	size_t len = strlen(key), end;

	for (; text; text = strchr(text, '\n'), text += text ? 1 : 0) {
		const char *value = text + len;

		if (strncmp(text, key, len) || *value++ != ':')
			continue;
		value += strspn(value, " \t");
		if (*value == '"' || *value == '\'')
			return memory_text_cut(value + 1, strcspn(value + 1, (char[]){ *value, '\n', '\0' }));
		end = strcspn(value, "\r\n#");
		while (end && (value[end - 1] == ' ' || value[end - 1] == '\t'))
			end--;
		return memory_text_cut(value, end);
	}
	return NULL;
}

/* snapd's alphabet for versions; anything else is not worth showing. */
static bool is_version(const char *text)
{
	return strlen(text) <= 32 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:.+~-_") == strlen(text);
}

static bool is_snap_name(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

/*
 * Whether the folder is a revision of our snap; a stale mount point is empty.  YAML can say a name in more ways than are
 * read here, or behind more than is read, and a revision that is not seen is not judged: only one that plainly has another
 * name is no candidate.  *version is new.
 */
static bool read_snap_yaml(const char *folder, const char *name, char **version)
{
	AUTO(free) char *path = files_join(folder, "meta/snap.yaml"), *text = NULL, *found = NULL, *says = NULL;
	size_t len;
	int fault = files_read(path, MOST_SNAP_YAML, &text, &len);

	if (fault && fault != EFBIG)
		return false;
	found = snap_yaml_value(text, "name");
	if (found && is_snap_name(found) && strcmp(found, name))
		return false;
	says = snap_yaml_value(text, "version");
	*version = says && is_version(says) ? TAKE(says) : memory_text("");
	return true;
}

/* ---------------------------------------------------------------- the list */

/* The names of all folders that look like revisions, sorted. */
static int list_names(const char *root, struct lines *names)
{
	DIR *dir = opendir(root);
	struct dirent *entry;

	if (!dir)
		return errno;
	while ((entry = readdir(dir)))
		if (revisions_is_name(entry->d_name))
			lines_add(names, entry->d_name);
	closedir(dir);
	lines_sort(names);
	return 0;
}

static void read_record(const struct revisions_place *place, struct revisions *r, struct lines *known)
{
	AUTO(free) char *path = files_join(place->state, RECORD), *text = NULL;
	char *line, *rest;
	struct stat st;
	size_t len;

	if (stat(path, &st) || files_read(path, MOST_RECORD, &text, &len))
		return;
	r->recorded = true;
	r->record_time = st.st_mtim;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			lines_add(known, line);
}

static void look_at_blob(const struct revisions_place *place, struct revision *item)
{
	AUTO(free) char *path = memory_printf("%s/%s_%s.snap", place->blobs, place->instance, item->name);
	struct stat st;

	if (stat(path, &st))
		return;
	item->has_blob = true;
	item->blob_time = st.st_mtim;
}

bool revisions_list(const struct revisions_place *place, struct revisions *r)
{
	AUTO(lines) struct lines names = { 0 }, known = { 0 };

	*r = (struct revisions){ 0 };
	if (list_names(place->root, &names))
		return false;
	read_record(place, r, &known);
	for (size_t i = 0; i < names.count; i++) {
		AUTO(free) char *folder = files_join(place->root, names.line[i]);
		struct revision item = { .known = lines_has(&known, names.line[i]) };

		if (!strcmp(names.line[i], place->current) || !read_snap_yaml(folder, place->name, &item.version))
			continue;
		memcpy(item.name, names.line[i], strlen(names.line[i])); /* revisions_is_name() bounds it; the rest is zero */
		look_at_blob(place, &item);
		r->item = memory_grow(r->item, r->count + 1, sizeof(*r->item));
		r->item[r->count++] = item;
	}
	return true;
}

/* ---------------------------------------------------------------- the choice */

static int compare_times(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static size_t count_chosen(const struct revisions *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++)
		count += r->item[i].chosen;
	return count;
}

/*
 * What came since the record was made: not in it, or downloaded again since (a refresh that failed after
 * its post-refresh hook leaves a record of a revision that is gone).
 */
static bool is_fresh(const struct revisions *r, const struct revision *item)
{
	return !item->known || (r->recorded && item->has_blob && compare_times(&item->blob_time, &r->record_time) > 0);
}

/* Of several chosen ones leaves that with the newest blob, if all have one and none is as new as it. */
static void choose_newest(struct revisions *r)
{
	const struct revision *newest = NULL;
	bool certain = true;

	for (size_t i = 0; i < r->count; i++) {
		const struct revision *item = &r->item[i];
		int order = newest ? compare_times(&item->blob_time, &newest->blob_time) : 1;

		if (!item->chosen)
			continue;
		if (!item->has_blob)
			return;
		if (order > 0)
			newest = item;
		certain = order > 0 || (certain && order < 0);
	}
	for (size_t i = 0; certain && i < r->count; i++)
		r->item[i].chosen = &r->item[i] == newest;
}

size_t revisions_choose(struct revisions *r)
{
	size_t fresh;

	for (size_t i = 0; i < r->count; i++)
		r->item[i].chosen = is_fresh(r, &r->item[i]);
	fresh = count_chosen(r);
	/*
	 * Nothing came: a refresh to a revision that is kept.  Which of them cannot be told by the age of its
	 * blob, which dates from when it came first.
	 */
	for (size_t i = 0; !fresh && i < r->count; i++)
		r->item[i].chosen = true;
	if (fresh > 1)
		choose_newest(r);
	return count_chosen(r);
}

/* ---------------------------------------------------------------- the record */

int revisions_record(const struct revisions_place *place)
{
	AUTO(lines) struct lines names = { 0 };
	AUTO(free) char *text = NULL;
	int fault = list_names(place->root, &names);

	if (fault)
		return fault;
	text = lines_join(&names);
	return files_replace(place->state, RECORD, 0644, text, strlen(text));
}

void revisions_clear(struct revisions *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->item[i].version);
	free(r->item);
	*r = (struct revisions){ 0 };
}
