/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "test.h"

static void add(struct ic_buf *out, const char *text, size_t len)
{
	cr_assert_eq(ic_buf_add(out, text, len, NULL), 0);
}

/* With line ends and the folder's name filled in: new. */
static char *fill_in(const char *text, size_t len, const char *folder)
{
	struct ic_buf out;

	ic_buf_init(&out, (size_t)1 << 20);
	for (size_t i = 0; i < len; i++) {
		bool pair = i + 1 < len;

		if (pair && text[i] == '\\' && text[i + 1] == 'n')
			add(&out, "\n", 1);
		else if (pair && text[i] == '%' && text[i + 1] == 'D')
			add(&out, folder, strlen(folder));
		else
			add(&out, text + i, 1);
		i += pair && ((text[i] == '\\' && text[i + 1] == 'n') || (text[i] == '%' && text[i + 1] == 'D'));
	}
	return ic_buf_take(&out);
}

/* The folders in front of a file's name. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

static void write_file(const char *folder, const char *name, size_t name_len, const char *text)
{
	char path[512], beside[128], *content;
	size_t len;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%.*s", folder, (int)name_len, name);
	make_folders(path);
	if (name[name_len - 1] == '/')
		return;
	(void)snprintf(beside, sizeof(beside), "mirrors/%.100s", text[0] ? text + 1 : "");
	content = text[0] == '@' ? test_read_file(test_data(beside), &len) : strdup(text);
	f = fopen(path, "w");
	cr_assert(f, "%s", path);
	cr_assert(fputs(content, f) >= 0);
	(void)fclose(f);
	free(content);
}

void tree_make(char *folder, const char *files)
{
	test_folder(folder);
	while (*files) {
		const char *end = strstr(files, " ;; "), *sign;
		size_t len = end ? (size_t)(end - files) : strlen(files);
		char *text;

		sign = memmem(files, len, " := ", 4);
		cr_assert(sign || files[len - 1] == '/', "%s", files);
		text = sign ? fill_in(sign + 4, len - (size_t)(sign + 4 - files), folder) : strdup("");
		write_file(folder, files, sign ? (size_t)(sign - files) : len, text);
		free(text);
		files = end ? end + 4 : files + len;
	}
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *at)
{
	(void)status;
	(void)flag;
	(void)at;
	return remove(path);
}

bool tree_try_remove(const char *folder)
{
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0;
}

void tree_remove(const char *folder)
{
	cr_assert(tree_try_remove(folder));
}
