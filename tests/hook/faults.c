/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/*
 * Preloaded into a program.  The child number FORKS_BAD, from 1, dies by signal FORKS_SIGNAL as soon as it is made; with
 * signal 0 it is not made at all, since there is no more room for processes.  Before change number KILL_AT of a folder,
 * by rename() or unlink(), the program is killed.  To list a folder takes FOLDER_SECONDS, by what the clocks say.
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

static long listed;

int scandir(const char *path, struct dirent ***out, int (*wanted)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
	union {
		void *symbol;
		int (*call)(const char *, struct dirent ***, int (*)(const struct dirent *),
			    int (*)(const struct dirent **, const struct dirent **));
	} real = { dlsym(RTLD_NEXT, "scandir") };

	listed++;
	return real.call(path, out, wanted, order);
}

static long seconds_ahead(void)
{
	long seconds = number_of("FOLDER_SECONDS");

	return seconds > 0 ? seconds * listed : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int fault = (int)syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += seconds_ahead();
	return fault;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	struct itimerspec real = *value;

	if ((flags & TFD_TIMER_ABSTIME) && real.it_value.tv_sec)
		real.it_value.tv_sec -= seconds_ahead();
	return (int)syscall(SYS_timerfd_settime, fd, flags, &real, old);
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
