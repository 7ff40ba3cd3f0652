/* SPDX-License-Identifier: Apache-2.0 */
#include "unsquash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "memory.h"
#include "process.h"
#include "say.h"
#include "status.h"

/* The largest snaps of Kubernetes distributions have about 1 GiB. */
#define MOST_BYTES ((unsigned long long)4 << 30)
#define MOST_LISTING ((size_t)64 << 20) /* half a million entries */
#define LIMIT_MS 300000

#define INNER "snap" /* unsquashfs makes the folder that it unpacks into */

static const char magic[] = { 'h', 's', 'q', 's' };

bool unsquash_is_snap(const char *path)
{
	char head[sizeof(magic)];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
		  !memcmp(head, magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

static int exec_unsquashfs(void *arg)
{
	const struct rlimit size = { MOST_BYTES, MOST_BYTES }, core = { 0, 0 };
	char *const *argv = arg;

	umask(077);
	if (setrlimit(RLIMIT_FSIZE, &size) || setrlimit(RLIMIT_CORE, &core))
		return STATUS_INTERNAL;
	execvp(argv[0], argv);
	return errno == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_EXEC;
}

/* Says why unsquashfs did not do it.  The exit status. */
static int fail(const char *path, const struct process_result *r)
{
	if (r->end == PROCESS_EXITED && r->status == STATUS_NO_COMMAND) {
		say("cannot unpack %s: unsquashfs is not installed (package squashfs-tools)", path);
		return STATUS_USAGE;
	}
	say_printable(r->err, false);
	if (r->end == PROCESS_LATE)
		say("cannot unpack %s: not done within %d seconds", path, LIMIT_MS / 1000);
	else if (r->end == PROCESS_TOO_MUCH)
		say("cannot unpack %s: it holds too many files", path);
	else
		say("cannot unpack %s: unsquashfs failed: %.200s", path, r->err);
	return STATUS_UNREADABLE;
}

static int run(const char *path, char *const *argv, struct process_result *r)
{
	union {
		char *const *in;
		void *out;
	} arg = { .in = argv };

	process_run(&(struct process){ .main = exec_unsquashfs, .arg = arg.out, .until = process_clock() + LIMIT_MS,
				       .most = MOST_LISTING }, r);
	return r->end == PROCESS_EXITED && !r->status ? 0 : fail(path, r);
}

/* One line of the listing, "-rw-r--r-- 0/0 123 2026-01-01 00:00 squashfs-root/a"; others are no entries. */
static bool take_entry(const char *line, unsigned long long *bytes)
{
	const char *word = line;
	char *end;

	if (strlen(line) < 11 || !strchr("-dlbcps", line[0]) || strspn(line + 1, "rwxsStT-") < 9)
		return true;
	if (line[0] == '-') {
		for (int i = 0; i < 2; i++) {
			word += strcspn(word, " ");
			word += strspn(word, " ");
		}
		*bytes += strtoull(word, &end, 10);
	}
	return strchr("-dl", line[0]) && *bytes <= MOST_BYTES;
}

static int check_content(const char *path, char *listing)
{
	unsigned long long bytes = 0;
	char *line, *rest = listing;

	while ((line = strsep(&rest, "\n")))
		if (!take_entry(line, &bytes)) {
			say("cannot unpack %s: it holds more than %llu MiB, or a device", path, MOST_BYTES >> 20);
			return STATUS_UNREADABLE;
		}
	return 0;
}

static int unpack(const char *path, const char *dir)
{
	AUTO(process_result) struct process_result listing = { 0 }, result = { 0 };
	AUTO(free) char *program = memory_text("unsquashfs"), *list = memory_text("-lln");
	AUTO(free) char *file = memory_printf("%s%s", *path == '-' ? "./" : "", path);
	AUTO(free) char *quiet = memory_text("-no-progress"), *plain = memory_text("-no-xattrs"), *dest = memory_text("-dest");
	AUTO(free) char *inner = files_join(dir, INNER);
	char *const look[] = { program, list, file, NULL };
	char *const take[] = { program, quiet, plain, dest, inner, file, NULL };
	int status = run(path, look, &listing);

	status = status ? status : check_content(path, listing.out);
	return status ? status : run(path, take, &result);
}

int unsquash(const char *path, struct unsquashed *u)
{
	int status, fault;

	*u = (struct unsquashed){ 0 };
	fault = scratch_make(&u->scratch);
	if (fault) {
		say("cannot unpack %s: cannot make a folder below TMPDIR: %s", path, strerror(fault));
		return STATUS_INTERNAL;
	}
	u->dir = files_join(u->scratch.dir, INNER);
	status = unpack(path, u->scratch.dir);
	if (status)
		unsquash_remove(u);
	return status;
}

void unsquash_remove(struct unsquashed *u)
{
	scratch_remove(&u->scratch);
	free(u->dir);
	*u = (struct unsquashed){ 0 };
}
