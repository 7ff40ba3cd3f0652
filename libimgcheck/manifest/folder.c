/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/text.h"

#define MAX_FOLDERS_DEEP 64

bool ic_folder_is_manifest(const char *name)
{
	static const char *const templates[] = {".j2", ".jinja", ".jinja2", ".in", ".tmpl", ".tpl", ".gotmpl", ".template"};
	static const char *const endings[] = {".yaml", ".yml", ".json"};
	size_t len = strlen(name);

	for (size_t i = 0; i < IC_COUNT(templates); i++) {
		if (ic_text_ends(name, len, templates[i])) {
			len -= strlen(templates[i]);
			break;
		}
	}
	for (size_t i = 0; i < IC_COUNT(endings); i++)
		if (ic_text_ends(name, len, endings[i]))
			return true;
	return false;
}

static int failure(const char *path, struct imgcheck_error **err)
{
	return ic_error_errno(err, path, "cannot read the folder");
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* A folder being read, and those above it. */
struct level {
	const struct level *above;
	unsigned depth;
	dev_t device;
	ino_t inode;
};

struct listing {
	struct ic_vec *files;
	size_t folders;
};

static int list(struct listing *l, const char *path, const struct level *above, struct imgcheck_error **err);

static int take_entry(struct listing *l, const char *folder, const char *name, const struct level *here,
                      struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf);
	struct stat st;
	int result;

	ic_buf_init(&path, IC_MAX_PATH_BYTES);
	result = ic_buf_printf(&path, err, "%s%s%s", folder, ic_text_ends(folder, strlen(folder), "/") ? "" : "/", name);
	if (result < 0)
		return result;
	if (stat(path.data, &st) == 0 && S_ISDIR(st.st_mode))
		return list(l, path.data, here, err);
	/* What is no file, or a link to nothing, is told when it is read. */
	return ic_folder_is_manifest(name) ? ic_texts_push(l->files, path.data, path.len, err) : 0;
}

/* Whether the folder is one of those above it: a link leads back, to what is read anyway. */
static bool is_above(const struct level *above, const struct stat *st)
{
	for (; above; above = above->above)
		if (above->device == st->st_dev && above->inode == st->st_ino)
			return true;
	return false;
}

static int list(struct listing *l, const char *path, const struct level *above, struct imgcheck_error **err)
{
	struct level here = {.above = above, .depth = above ? above->depth + 1 : 0};
	struct dirent **entries = NULL;
	struct stat st;
	int count, result = 0;

	if (stat(path, &st) < 0)
		return failure(path, err);
	if (is_above(above, &st))
		return 0;
	here.device = st.st_dev;
	here.inode = st.st_ino;
	if (here.depth > MAX_FOLDERS_DEEP || ++l->folders > IC_MAX_FILES)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, path, 0, 0,
		                       "cannot read folders more than %d levels deep, nor more than %zu of them", MAX_FOLDERS_DEEP,
		                       IC_MAX_FILES);
	count = scandir(path, &entries, is_visible, by_bytes);
	if (count < 0)
		return failure(path, err);
	for (int i = 0; i < count; i++) {
		if (result == 0)
			result = take_entry(l, path, entries[i]->d_name, &here, err);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int ic_folder_list(const char *path, struct ic_vec *files, struct imgcheck_error **err)
{
	struct listing l = {.files = files};

	return list(&l, path, NULL, err);
}
