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
	static const char *const templates[] = {".j2", ".in", ".tmpl", ".tpl"};
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
	return ic_error_set_at(err, IMGCHECK_ERR_IO, path, 0, 0, "cannot read the folder: %s", strerror(errno));
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int list(const char *path, unsigned depth, struct ic_vec *files, struct imgcheck_error **err);

static int take_entry(const char *folder, const char *name, unsigned depth, struct ic_vec *files, struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf);
	struct stat st;
	int result;

	ic_buf_init(&path, IC_MAX_PATH_BYTES);
	result = ic_buf_printf(&path, err, "%s%s%s", folder, ic_text_ends(folder, strlen(folder), "/") ? "" : "/", name);
	if (result < 0)
		return result;
	if (lstat(path.data, &st) < 0)
		return failure(path.data, err);
	if (S_ISDIR(st.st_mode))
		return list(path.data, depth + 1, files, err);
	if (S_ISLNK(st.st_mode) && (stat(path.data, &st) < 0 || !S_ISREG(st.st_mode)))
		return 0;
	return ic_folder_is_manifest(name) ? ic_texts_push(files, path.data, path.len, err) : 0;
}

static int list(const char *path, unsigned depth, struct ic_vec *files, struct imgcheck_error **err)
{
	struct dirent **entries = NULL;
	int count, result = 0;

	if (depth > MAX_FOLDERS_DEEP)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, path, 0, 0, "cannot read folders more than %d levels deep",
		                       MAX_FOLDERS_DEEP);
	count = scandir(path, &entries, is_visible, by_bytes);
	if (count < 0)
		return errno == ENOMEM ? ic_error_nomem(err) : failure(path, err);
	for (int i = 0; i < count; i++) {
		if (result == 0)
			result = take_entry(path, entries[i]->d_name, depth, files, err);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int ic_folder_list(const char *path, struct ic_vec *files, struct imgcheck_error **err)
{
	return list(path, 0, files, err);
}
