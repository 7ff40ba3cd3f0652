/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "memory.h"
#include "say.h"
#include "status.h"

void output_open(struct output *o)
{
	*o = (struct output){ 0 };
	o->stream = memory_must(open_memstream(&o->text, &o->len));
}

/* As a shell's redirection would make the file. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/*
 * Whether a rename would put a file in the place of something else: a device, a pipe, or what /dev/stdout leads to.
 * Links to files are replaced, since who may write the folder may have no right to the file.
 */
static bool is_special(const char *path, bool *standard)
{
	struct stat st, out;

	if (stat(path, &st) || S_ISDIR(st.st_mode))
		return false;
	*standard = !fstat(STDOUT_FILENO, &out) && out.st_dev == st.st_dev && out.st_ino == st.st_ino;
	return *standard || !S_ISREG(st.st_mode);
}

static int write_special(const struct output *o, const char *path, bool standard)
{
	int fd = standard ? STDOUT_FILENO : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), fault;

	if (fd < 0)
		return errno;
	fault = files_write(fd, o->text, o->len);
	if (!standard && close(fd) && !fault)
		fault = errno;
	return fault;
}

static int replace_file(const struct output *o, const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO(free) char *dir = files_folder(path);

	return files_replace(dir, slash ? slash + 1 : path, usual_mode(), o->text, o->len);
}

static int write_file(const struct output *o, const char *path)
{
	bool standard = false;
	int fault = is_special(path, &standard) ? write_special(o, path, standard) : replace_file(o, path);

	if (!fault)
		return 0;
	say("cannot write %s: %s", path, strerror(fault));
	return STATUS_INTERNAL;
}

int output_finish(struct output *o, FILE *to, const char *path)
{
	FILE *stream = TAKE(o->stream);
	bool failed = ferror(stream);

	if (fclose(stream) || failed)
		memory_must(NULL);
	if (path)
		return write_file(o, path);
	if (fwrite(o->text, 1, o->len, to) == o->len && !fflush(to))
		return 0;
	say("cannot write the output");
	return STATUS_INTERNAL;
}

void output_clear(struct output *o)
{
	if (o->stream)
		fclose(o->stream);
	free(o->text);
	*o = (struct output){ 0 };
}
