/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into imgcheck: ends it with SIGKILL at the KILL_AT-th of the moments that matter, right before or right after
 * a call that others can see: a file written out or renamed, bytes sent, a process forked.  How many there were up to the
 * end is written to the file KILL_COUNT.  Children and other programs are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t watched;
static long moments, last = -1;

static void moment(void)
{
	if (getpid() == watched && ++moments == last)
		(void)kill(watched, SIGKILL);
}

__attribute__((constructor))
static void begin(void)
{
	const char *at = getenv("KILL_AT");

	if (strcmp(program_invocation_short_name, "imgcheck") != 0)
		return;
	watched = getpid();
	last = at ? strtol(at, NULL, 10) : -1;
}

__attribute__((destructor))
static void end(void)
{
	const char *path = getenv("KILL_COUNT");
	FILE *out = path && getpid() == watched ? fopen(path, "w") : NULL;

	if (!out)
		return;
	(void)fprintf(out, "%ld\n", moments);
	(void)fclose(out);
}

/* The real function of this name. */
static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		_exit(99);
	return found;
}

#define WRAP(type, name, parameters, arguments)                          \
	type name parameters                                             \
	{                                                                \
		type (*real) parameters;                                 \
		void *found = next(#name);                               \
		type result;                                             \
                                                                         \
		memcpy(&real, &found, sizeof(real));                     \
		moment();                                                \
		result = real arguments;                                 \
		moment();                                                \
		return result;                                           \
	}

WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags))
WRAP(int, fsync, (int fd), (fd))
WRAP(pid_t, fork, (void), ())
