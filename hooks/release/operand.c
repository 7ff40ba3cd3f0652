/* SPDX-License-Identifier: Apache-2.0 */
#include "release/operand.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"
#include "program/process.h"
#include "program/say.h"
#include "program/status.h"

#define UNPACK_MS 300000
#define MOST_OUTPUT ((size_t)1 << 20)
#define WALK_FDS 16

/* Whether it is a file that starts as a squashfs image does. */
static bool is_packed(const char *path)
{
	char magic[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, magic, sizeof(magic));
	close(fd);
	return got == (ssize_t)sizeof(magic) && !memcmp(magic, "hsqs", sizeof(magic));
}

struct unpacking {
	const char *from, *to;
};

static int run_unsquashfs(void *arg)
{
	const struct unpacking *u = arg;

	execlp("unsquashfs", "unsquashfs", "-quiet", "-no-progress", "-no-xattrs", "-dest", u->to, u->from, (char *)NULL);
	return errno == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_EXEC;
}

static int unpack(const char *path, const char *dir)
{
	AUTO(process_result) struct process_result r = { 0 };
	struct unpacking u = { path, dir };
	struct process p = { .main = run_unsquashfs, .arg = &u, .until = process_clock() + UNPACK_MS, .most = MOST_OUTPUT };

	process_run(&p, &r);
	if (r.end == PROCESS_EXITED && r.status == 0)
		return 0;
	if (r.end == PROCESS_EXITED && r.status == STATUS_NO_COMMAND) {
		say("cannot unpack %s: unsquashfs is not installed (package squashfs-tools)", path);
		return STATUS_UNREADABLE;
	}
	r.err[strcspn(r.err, "\n")] = '\0';
	say_printable(r.err, false);
	say("cannot unpack %s: unsquashfs failed%s%s", path, *r.err ? ": " : "", r.err);
	return STATUS_UNREADABLE;
}

static int open_packed(struct operand *o)
{
	const char *tmp = getenv("TMPDIR");
	AUTO(free) char *dir = memory_printf("%s/imgcheck-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (!mkdtemp(dir)) {
		say("cannot make a folder to unpack %s in: %s: %s", o->name, dir, strerror(errno));
		return STATUS_INTERNAL;
	}
	o->unpacked = TAKE(dir);
	return unpack(o->name, o->unpacked);
}

int operand_open(struct operand *o, const char *command, const char *name)
{
	int status;

	*o = (struct operand){ .name = name, .path = name };
	if (is_packed(name)) {
		status = open_packed(o);
		if (status)
			return status;
		o->path = o->unpacked;
		if (!input_is_snap(o->path))
			return say_usage(command, "%s: a snap without meta/imgcheck.yaml: unpack it and name its folders", name);
	}
	if (input_is_snap(o->path)) {
		o->target = o->path;
		o->path = NULL;
	}
	return 0;
}

void operand_set(const struct operand *o, struct input *in, struct lines *paths)
{
	in->target.dir = o->target;
	/* A configuration is for snaps: beside a folder there may be one for the other operand. */
	if (!o->target)
		in->snap_config = NULL;
	if (o->path)
		lines_add(paths, o->path);
}

/* Folders come here before what is in them, and can be read-only in a snap. */
static int open_up(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)where;
	if (kind == FTW_D || kind == FTW_DNR)
		(void)!chmod(path, S_IRWXU);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	(void)!remove(path);
	return 0;
}

void operand_close(struct operand *o)
{
	if (o->unpacked) {
		nftw(o->unpacked, open_up, WALK_FDS, FTW_PHYS);
		nftw(o->unpacked, remove_one, WALK_FDS, FTW_PHYS | FTW_DEPTH);
	}
	free(o->unpacked);
	*o = (struct operand){ 0 };
}
