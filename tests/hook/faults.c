/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Preloaded into a program.  The child number FORKS_BAD, from 1, dies by signal FORKS_SIGNAL as soon as it is made; with
 * signal 0 it is not made at all, since there is no more room for processes.  Before change number KILL_AT of a folder,
 * by rename() or unlink(), the program is killed.
 */

static long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : -1;
}

static void count_change(void)
{
	static long count;

	if (++count == number_of("KILL_AT"))
		kill(getpid(), SIGKILL);
}

int rename(const char *from, const char *to)
{
	count_change();
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
	count_change();
	return unlinkat(AT_FDCWD, path, 0);
}

pid_t fork(void)
{
	static long count;
	union {
		void *symbol;
		pid_t (*call)(void);
	} real = { dlsym(RTLD_NEXT, "fork") };
	long signal_number = number_of("FORKS_SIGNAL");
	int bad = ++count == number_of("FORKS_BAD");
	pid_t pid;

	if (bad && !signal_number) {
		errno = EAGAIN;
		return -1;
	}
	pid = real.call();
	if (bad && pid == 0)
		kill(getpid(), (int)signal_number);
	return pid;
}
