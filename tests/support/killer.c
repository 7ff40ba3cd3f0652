/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * To be loaded in front of a program (LD_PRELOAD): kills it with SIGKILL at the step that KILL_AT names, counted from 1.
 * A step is the moment before, and the one after, each call by which the program leaves something behind: on the disk, in
 * another process, or on a connection.  Programs that it starts are spared.
 */

static long kill_at, steps;
static pid_t self;

static void step(void)
{
	if (getpid() == self && ++steps == kill_at)
		raise(SIGKILL);
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("KILL_AT");

	kill_at = at ? strtol(at, NULL, 10) : 0;
	self = getpid();
	unsetenv("LD_PRELOAD");
}

/* The call itself, between two steps. */
#define STEP(result, name, parameters, arguments)                                  \
	result name parameters                                                     \
	{                                                                          \
		result(*real) parameters;                                          \
		result value;                                                      \
                                                                                   \
		*(void **)&real = dlsym(RTLD_NEXT, #name);                         \
		step();                                                            \
		value = real arguments;                                            \
		step();                                                            \
		return value;                                                      \
	}

STEP(int, unlink, (const char *path), (path))
STEP(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))
STEP(int, rename, (const char *from, const char *to), (from, to))
STEP(int, fsync, (int fd), (fd))
STEP(int, fchmod, (int fd, mode_t mode), (fd, mode))
STEP(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags))
STEP(pid_t, fork, (void), ())
