/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <signal.h>
#include <time.h>

#include "program/process.h"

static void held(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

void signals_hold(void)
{
	sigset_t set;

	held(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Pending ones are left pending: the answer does not change. */
bool signals_end(void)
{
	sigset_t pending;

	return !sigpending(&pending) && (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT));
}

bool signals_wait(int64_t until)
{
	sigset_t hup, set;

	held(&set);
	sigemptyset(&hup);
	sigaddset(&hup, SIGHUP);
	while (!signals_end()) {
		const struct timespec none = { 0 };
		int64_t left = until - process_clock();
		struct timespec wait = { .tv_sec = left > 0 ? left / 1000 : 0, .tv_nsec = left > 0 ? left % 1000 * 1000000 : 0 };
		int number;

		if (sigtimedwait(&hup, NULL, &none) == SIGHUP)
			return true;
		if (left <= 0)
			return false;
		number = sigtimedwait(&set, NULL, &wait);
		if (number == SIGTERM || number == SIGINT)
			raise(number); /* pending again, for signals_end() */
		if (number == SIGHUP)
			return true;
	}
	return false;
}
