/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "limits.h"

#define CHUNK_BYTES 65536

static int failure(const char *path, struct imgcheck_error **err)
{
	return ic_error_errno(err, path, "cannot read");
}

int ic_file_read_fd(int fd, const char *path, struct ic_buf *out, struct imgcheck_error **err)
{
	char chunk[CHUNK_BYTES];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		int result;

		if (n == 0)
			return ic_buf_add(out, "", 0, err);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failure(path, err);
		result = ic_buf_add(out, chunk, (size_t)n, err);
		if (result < 0) {
			ic_error_place(err, path, 0, 0);
			return result;
		}
	}
}

int ic_file_open(const char *path, int *fd, size_t *size, struct imgcheck_error **err)
{
	int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), result;
	struct stat st;

	*fd = -1;
	*size = 0;
	if (opened < 0)
		return failure(path, err);
	if (fstat(opened, &st) < 0) {
		result = failure(path, err);
	} else if (!S_ISREG(st.st_mode)) {
		result = ic_error_set_at(err, IMGCHECK_ERR_IO, path, 0, 0, "cannot read: not a regular file");
	} else {
		*fd = opened;
		*size = (size_t)st.st_size;
		return 0;
	}
	(void)close(opened);
	return result;
}

int ic_file_read(const char *path, struct ic_buf *out, struct imgcheck_error **err)
{
	size_t size;
	int fd, result = ic_file_open(path, &fd, &size, err);

	if (result < 0)
		return result;
	result = ic_file_read_fd(fd, path, out, err);
	(void)close(fd);
	return result;
}

static int skip_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int ic_file_list(const char *folder, struct ic_vec *names, struct imgcheck_error **err)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, skip_dots, by_bytes), result = 0;

	ic_texts_init(names, IC_MAX_LIST_ITEMS);
	if (count < 0)
		return ic_error_errno(err, folder, "cannot read this folder");
	for (int i = 0; i < count; i++) {
		if (result == 0)
			result = ic_texts_push(names, entries[i]->d_name, strlen(entries[i]->d_name), err);
		free(entries[i]);
	}
	free(entries);
	ic_error_place(err, folder, 0, 0);
	return result;
}
