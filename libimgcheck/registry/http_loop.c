/* SPDX-License-Identifier: Apache-2.0 */
#include "http_loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS 64 /* taken from the system at once */

static bool watch(int epoll, int fd, int how, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(epoll, how, fd, &event) == 0;
}

int ic_loop_init(struct ic_loop *loop, struct imgcheck_error **err)
{
	loop->armed = -1;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	loop->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->epoll < 0 || loop->timer < 0 || loop->stop < 0 ||
	    !watch(loop->epoll, loop->timer, EPOLL_CTL_ADD, EPOLLIN) ||
	    !watch(loop->epoll, loop->stop, EPOLL_CTL_ADD, EPOLLIN))
		return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot prepare to wait for answers: %s", strerror(errno));
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void ic_loop_clear(struct ic_loop *loop)
{
	close_fd(&loop->epoll);
	close_fd(&loop->timer);
	close_fd(&loop->stop);
}

bool ic_loop_watch(struct ic_loop *loop, int fd, bool known, bool read, bool write)
{
	return watch(loop->epoll, fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U));
}

void ic_loop_forget(struct ic_loop *loop, int fd)
{
	(void)watch(loop->epoll, fd, EPOLL_CTL_DEL, 0);
}

void ic_loop_wake_at(struct ic_loop *loop, ic_msec when)
{
	struct itimerspec timer = {{0, 0}, {0, 0}};

	if (when == loop->armed)
		return;
	loop->armed = when;
	if (when == 0)
		when = 1; /* all zero would switch the timer off */
	if (when > 0) {
		timer.it_value.tv_sec = (time_t)(when / 1000);
		timer.it_value.tv_nsec = (long)(when % 1000) * 1000000;
	}
	(void)timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* Takes the expiry, so that the descriptor is quiet until the timer is set again. */
static void take_expiry(struct ic_loop *loop)
{
	uint64_t count;

	if (read(loop->timer, &count, sizeof(count)) > 0)
		loop->armed = -1;
}

int ic_loop_wait(struct ic_loop *loop, int timeout_ms, struct ic_loop_event *events, size_t most, bool *stopped,
                 struct imgcheck_error **err)
{
	struct epoll_event ready[EVENTS];
	int found = 0, n = epoll_wait(loop->epoll, ready, most < EVENTS ? (int)most : EVENTS, timeout_ms);

	if (n < 0 && errno != EINTR)
		return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot wait for answers: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		int fd = ready[i].data.fd;
		uint32_t what = ready[i].events;

		if (fd == loop->timer)
			take_expiry(loop);
		else if (fd == loop->stop)
			*stopped = true;
		else
			events[found++] = (struct ic_loop_event){fd, what & EPOLLIN, what & EPOLLOUT, what & (EPOLLERR | EPOLLHUP)};
	}
	return found;
}

void ic_loop_stop(struct ic_loop *loop)
{
	int saved = errno;
	uint64_t one = 1;
	ssize_t written = write(loop->stop, &one, sizeof(one));

	(void)written; /* fails only where the mark is set already */
	errno = saved;
}
