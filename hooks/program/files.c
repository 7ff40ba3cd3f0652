/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

char *files_join(const char *dir, const char *name)
{
	return memory_printf("%s/%s", dir, name);
}

char *files_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? memory_text_cut(path, slash == path ? 1 : (size_t)(slash - path)) : memory_text(".");
}

/* Reads up to `most` bytes; one more is EFBIG. */
static int read_all(int fd, size_t most, char **out, size_t *len)
{
	AUTO(secret) char *data = NULL;
	size_t used = 0, room = 0;
	ssize_t got;

	do {
		if (room - used < 2) {
			room = room ? room * 2 : 16384;
			data = memory_replace(data, used, room);
		}
		got = read(fd, data + used, room - used - 1);
		if (got < 0 && errno != EINTR)
			return errno;
		used += got > 0 ? (size_t)got : 0;
		if (used > most)
			return EFBIG;
	} while (got);
	data[used] = '\0';
	*out = TAKE(data);
	*len = used;
	return 0;
}

int files_read(const char *path, size_t most, char **out, size_t *len)
{
	struct stat st;
	int fd, fault;

	*out = NULL;
	*len = 0;
	if (!strcmp(path, "-"))
		return read_all(STDIN_FILENO, most, out, len);
	/* O_NONBLOCK: a FIFO must not stop us; for regular files it means nothing. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	if (fstat(fd, &st))
		fault = errno;
	else if (!S_ISREG(st.st_mode))
		fault = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	else
		fault = read_all(fd, most, out, len);
	close(fd);
	return fault;
}

int files_write(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t put = write(fd, data, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		data += put;
		len -= (size_t)put;
	}
	return 0;
}

void files_give(int fd, const char *like)
{
	struct stat st;

	/* Where it cannot be done the file is root's, as it would have been. */
	if (geteuid() == 0 && !lstat(like, &st) && st.st_uid != 0 && fchown(fd, st.st_uid, st.st_gid))
		return;
}

/* The content is on disk under its second name before the rename makes it visible. */
static int write_new(const char *path, const char *like, mode_t mode, const char *data, size_t len)
{
	int fd, fault;

	if (unlink(path) && errno != ENOENT)
		return errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return errno;
	files_give(fd, like);
	fault = files_write(fd, data, len);
	if (!fault && (fchmod(fd, mode) || fsync(fd)))
		fault = errno;
	if (close(fd) && !fault)
		fault = errno;
	return fault;
}

/* So that the rename survives a crash too. */
static void sync_folder(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* In a folder for all, such as /tmp, what is there already can be anybody's. */
static bool is_shared(const char *dir)
{
	struct stat st;

	return stat(dir, &st) || (st.st_mode & S_ISVTX);
}

int files_replace(const char *dir, const char *name, mode_t mode, const char *data, size_t len)
{
	AUTO(free) char *path = files_join(dir, name);
	AUTO(free) char *fresh = memory_printf("%s/.%s.new", dir, name);
	int fault = write_new(fresh, is_shared(dir) || access(path, F_OK) ? dir : path, mode, data, len);

	if (!fault && rename(fresh, path))
		fault = errno;
	if (fault)
		unlink(fresh);
	else
		sync_folder(dir);
	return fault;
}
