/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

#define WALK_FDS 16
#define WAKE SIGUSR1 /* what tells the keeper that the folder is to go */

/* Another child of a process that was killed may still write for a moment. */
#define TRIES 100
#define PAUSE_NS 20000000

/* ---------------------------------------------------------------- removing */

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
	remove(path); /* what cannot be removed is tried again */
	return 0;
}

static void remove_tree(const char *dir)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (int i = 0; i < TRIES; i++) {
		nftw(dir, open_up, WALK_FDS, FTW_PHYS);
		nftw(dir, remove_one, WALK_FDS, FTW_DEPTH | FTW_PHYS);
		if (access(dir, F_OK))
			return;
		nanosleep(&pause, NULL);
	}
}

/* ---------------------------------------------------------------- the keeper */

/* All signals are blocked here.  A session and streams of its own: it must not be ended with the others, nor hold a pipe. */
static _Noreturn void keep(const char *dir, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), told;
	sigset_t wake;

	setsid();
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	sigemptyset(&wake);
	sigaddset(&wake, WAKE);
	prctl(PR_SET_PDEATHSIG, WAKE);
	/* It may have died before the line above; being stopped and continued interrupts the wait. */
	do
		told = getppid() == parent ? sigwaitinfo(&wake, NULL) : WAKE;
	while (told != WAKE);
	remove_tree(dir);
	_exit(0);
}

/* Makes the folder and its keeper; no signal may come between. */
static int make(struct scratch *s, char *dir)
{
	pid_t parent = getpid(), child;
	int fault;

	if (!mkdtemp(dir))
		return errno;
	child = fork();
	if (child == 0)
		keep(dir, parent);
	if (child < 0) {
		fault = errno;
		rmdir(dir);
		return fault;
	}
	s->keeper = child;
	return 0;
}

int scratch_make(struct scratch *s)
{
	const char *temporary = getenv("TMPDIR");
	AUTO(free) char *dir = memory_printf("%s/imgcheck-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	sigset_t all, before;
	int fault;

	*s = (struct scratch){ 0 };
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before); /* cannot fail with these */
	fault = make(s, dir);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!fault)
		s->dir = TAKE(dir);
	return fault;
}

void scratch_remove(struct scratch *s)
{
	if (!s->dir)
		return;
	kill(s->keeper, WAKE);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	free(s->dir);
	*s = (struct scratch){ 0 };
}
