/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "status.h"

#define MOST_ERROR_TEXT ((size_t)4096)
#define LOOK_MS 200 /* from one look whether to stop, or whether the child has ended, to the next */
#define END_MS 2000 /* from the kill to the end of the child; or from its end to that of its output */

/* One stream of the child. */
struct stream {
	int fd; /* -1 once it has ended */
	char *data;
	size_t len, room, most;
	bool cut;  /* beyond `most`: drop the rest, or else it is a fault */
	bool tail; /* ... and rather the start than the end */
	bool over;
};

int64_t process_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In the child: streams in place, then the work.  stdio is flushed, but no handler of the parent runs. */
static _Noreturn void child(const struct process *p, const int *out, const int *err, pid_t parent)
{
	int null, status;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may block or ignore signals; whatever runs here is to be ended by them. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (getppid() != parent)
		_exit(STATUS_INTERNAL); /* it died before the line above */
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0)
		_exit(STATUS_INTERNAL);
	memory_exit_status(STATUS_INTERNAL);
	status = p->main(p->arg);
	if (fflush(stdout))
		status = STATUS_INTERNAL;
	_exit(status);
}

/* What a child prints can be a secret. */
static void keep(struct stream *s, const char *bytes, size_t count)
{
	if (s->room - s->len <= count) {
		s->room = 2 * s->room + count + 1;
		s->data = memory_replace(s->data, s->len, s->room);
	}
	memcpy(s->data + s->len, bytes, count);
	s->len += count;
	s->data[s->len] = '\0';
}

/* Makes room for the end of the output, by dropping its start.  How much of the new bytes is dropped too. */
static size_t drop_start(struct stream *s, size_t some)
{
	size_t over = s->len + some - s->most, old = over < s->len ? over : s->len;

	if (old)
		memmove(s->data, s->data + old, s->len -= old);
	return over - old;
}

/* Takes what is there to read.  False when the stream has ended or went beyond its ceiling. */
static bool take(struct stream *s)
{
	char bytes[16384];
	ssize_t got = read(s->fd, bytes, sizeof(bytes));
	size_t some, from = 0;

	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0)
		return false;
	some = (size_t)got;
	if (s->tail && some > s->most - s->len)
		from = drop_start(s, some);
	some -= from;
	if (some > s->most - s->len) {
		some = s->most - s->len;
		s->over = !s->cut;
	}
	keep(s, bytes + from, some);
	explicit_bzero(bytes, sizeof(bytes));
	return !s->over;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/* Whether the child ended so long ago that its own output is there; *ended is when that was seen, 0 at first. */
static bool is_left_behind(pid_t pid, int64_t now, int64_t *ended)
{
	if (!*ended && has_ended(pid))
		*ended = now;
	return *ended && now - *ended >= END_MS;
}

/*
 * Collects both streams until they end, or until the child has, and what it left behind goes on holding them.  False: out
 * of time, or too much.
 */
static bool collect(struct stream *streams, const struct process *p, pid_t pid)
{
	int64_t ended = 0;

	while (streams[0].fd >= 0 || streams[1].fd >= 0) {
		struct pollfd fds[2] = { { streams[0].fd, POLLIN, 0 }, { streams[1].fd, POLLIN, 0 } };
		int64_t now = process_clock(), left = p->until - now;

		if (is_left_behind(pid, now, &ended))
			return true;
		if (left <= 0 || (p->stop && p->stop()))
			return false;
		if (poll(fds, 2, left > LOOK_MS ? LOOK_MS : (int)left) < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < 2; i++)
			if (fds[i].revents && !take(&streams[i]))
				close_fd(&streams[i].fd);
		if (streams[0].over)
			return false;
	}
	return true;
}

/* Waits for the end of the child, but not for ever: one that is stuck in the kernel cannot be reaped.  stop may be NULL. */
static bool reap(pid_t pid, int64_t until, bool (*stop)(void), int *status)
{
	for (long pause = 1;; pause = pause < LOOK_MS / 2 ? pause * 2 : LOOK_MS) {
		const struct timespec wait = { .tv_nsec = pause * 1000000 };
		pid_t done = waitpid(pid, status, WNOHANG);

		if (done == pid)
			return true;
		if ((done < 0 && errno != EINTR) || process_clock() >= until || (stop && stop()))
			return false;
		nanosleep(&wait, NULL);
	}
}

/* A child that closes its output, as one that writes to a file of its own, has not ended by that. */
static void finish(pid_t pid, const struct process *p, bool collected, bool over, struct process_result *r)
{
	int status = 0;

	if (collected && reap(pid, p->until, p->stop, &status)) {
		r->end = WIFSIGNALED(status) ? PROCESS_SIGNALLED : PROCESS_EXITED;
		r->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
		return;
	}
	kill(-pid, SIGKILL); /* nobody, unless the child leads a group: nobody else can lead one of this number */
	kill(pid, SIGKILL);
	reap(pid, process_clock() + END_MS, NULL, &status);
	r->end = over ? PROCESS_TOO_MUCH : PROCESS_LATE;
}

static void run_with_pipes(const struct process *p, int *out, int *err, struct process_result *r)
{
	struct stream streams[2] = { { .fd = out[0], .most = p->most },
				     { .fd = err[0], .most = MOST_ERROR_TEXT, .cut = true, .tail = p->tail } };
	pid_t parent = getpid(), pid;
	bool collected;

	fflush(NULL); /* else the child would print it again */
	pid = fork();
	if (pid == 0)
		child(p, out, err, parent);
	close_fd(&out[1]);
	close_fd(&err[1]);
	if (pid < 0) {
		r->status = errno;
		return;
	}
	collected = collect(streams, p, pid);
	finish(pid, p, collected, streams[0].over, r);
	out[0] = streams[0].fd;
	err[0] = streams[1].fd;
	r->out = streams[0].data;
	r->len = streams[0].len;
	r->err = streams[1].data;
}

void process_run(const struct process *p, struct process_result *r)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };

	*r = (struct process_result){ .end = PROCESS_NOT_STARTED };
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		r->status = errno;
	else
		run_with_pipes(p, out, err, r);
	for (int i = 0; i < 2; i++) {
		close_fd(&out[i]);
		close_fd(&err[i]);
	}
	r->out = r->out ? r->out : memory_text("");
	r->err = r->err ? r->err : memory_text("");
}

void process_result_clear(struct process_result *r)
{
	memory_forget(r->out);
	memory_forget(r->err);
	*r = (struct process_result){ 0 };
}
