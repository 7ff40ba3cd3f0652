/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "gate.h"
#include "program/memory.h"
#include "program/output.h"
#include "program/process.h"
#include "program/say.h"
#include "program/status.h"
#include "show.h"
#include "signals.h"
#include "turn.h"

#define OPEN_MS 3000      /* for a command that is at work on the state */
#define ONCE_FAILURES 2   /* attempts to tell an event, where nobody comes back soon */
#define RETRY_MS 5000     /* until a state that was in use is looked at again */
#define BROKEN_SECONDS 60 /* until one that could not be written is */
#define ALL "0/1"         /* the shard of a watch that is alone */

static long long now_seconds(void)
{
	return (long long)time(NULL);
}

/* ------------------------------------------------------------------ what others see */

static int write_view(const struct show *v, void (*print)(const struct show *v, FILE *out), const char *path)
{
	AUTO(output) struct output page = { 0 };

	if (!path)
		return 0;
	output_open(&page);
	print(v, page.stream);
	return output_finish(&page, NULL, path);
}

/* Neither is of such weight that a round counts as failed without it. */
static void write_views(const struct watch *w, const struct state *s)
{
	for (size_t i = 0; i < w->config.gate_count; i++) {
		struct state_gate *g = state_find_gate(s, w->config.gates[i].name);

		if (g)
			g->used = true;
	}
	const struct show v = { s, w->last.images, now_seconds(), w->last.seconds, w->last.problems };

	write_view(&v, show_metrics, w->metrics);
	write_view(&v, show_page, w->page);
}

/* ------------------------------------------------------------------ one turn */

/* Locks and reads the state, which must be of the same shard. */
static int open_state(const struct watch *w, struct state *s)
{
	AUTO(free) char *shard = w->shard.count ? memory_printf("%u/%u", w->shard.index, w->shard.count) : NULL;
	int status = state_open(s, w->state_path, OPEN_MS);

	if (status)
		return status;
	if (!s->last_event && !s->image_count && !s->round)
		state_set_text(&s->shard, shard);
	if (!strcmp(s->shard ? s->shard : ALL, shard ? shard : ALL))
		return 0;
	say("cannot use the state %s: it is of shard %s, not %s; give each shard a state of its own", w->state_path,
	    s->shard ? s->shard : ALL, shard ? shard : ALL);
	state_close(s);
	return STATUS_USAGE;
}

/* With or without a round: tells what is to be told.  *due as deliver_events() has it. */
static int take_turn(struct watch *w, bool round, long long *due)
{
	AUTO(state) struct state s = { 0 };
	int status = open_state(w, &s), told;

	*due = 0;
	if (status)
		return status;
	deliver_begin(&w->deliver, &s, now_seconds());
	if (round)
		status = turn_round(w, &s, now_seconds());
	if (status == STATUS_INTERNAL || status == TURN_STOPPED)
		return status; /* what is in memory is not what was saved */
	told = deliver_events(&w->deliver, &s, now_seconds(), due);
	if (round && !told) {
		int gates = gates_run(&w->config, &w->shard, &s);

		if (gates)
			return gates;
		told = deliver_events(&w->deliver, &s, now_seconds(), due);
	}
	write_views(w, &s);
	return told ? told : status;
}

/* ------------------------------------------------------------------ once */

/* Some seconds more for a receiver that is just restarting; what is not told then stays for the next time. */
static int run_once(struct watch *w)
{
	long long due;
	int status = take_turn(w, true, &due);

	for (int i = 1; due && i < ONCE_FAILURES && !signals_end(); i++) {
		long long wait = due - now_seconds();
		int again;

		if (wait > RETRY_MS / 1000)
			break;
		signals_wait(process_clock() + (wait > 0 ? wait : 0) * 1000);
		again = take_turn(w, false, &due);
		status = again ? again : status;
	}
	if (status == TURN_STOPPED)
		return STATUS_OK;
	return status || !due ? status : STATUS_UNDECIDED;
}

/* ------------------------------------------------------------------ for ever */

/* Up to a tenth of the interval, at random, so that many do not ask at the same moment. */
static int64_t jitter(const struct watch *w)
{
	uint32_t number = 0;

	if (!w->jitter || getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return 0;
	return w->interval * 100 * (int64_t)number / UINT32_MAX;
}

/* A configuration that became wrong does not end a watch: the one before it stays. */
static void read_again(struct watch *w)
{
	struct watch_config fresh;

	if (!watch_config_read(w->config_path, &fresh)) {
		watch_config_clear(&w->config);
		w->config = fresh;
		return;
	}
	watch_config_clear(&fresh);
	say("the configuration stays as it was");
}

/* Whether a watch ends for this instead of trying again: at its first round somebody looks, and may have mistyped. */
static bool is_final(int status, bool first)
{
	return first && (status == STATUS_USAGE || status == STATUS_INTERNAL);
}

/* Between two rounds: tells what becomes due, until `next` or SIGHUP. */
static int wait_for(struct watch *w, int64_t next, long long due)
{
	while (!signals_end()) {
		int64_t clock = process_clock(), until = next;
		int status;

		if (due) {
			int64_t then = clock + (due > now_seconds() ? (due - now_seconds()) * 1000 : 0);

			until = then < next ? then : next;
		}
		if (signals_wait(until)) {
			read_again(w);
			return 0;
		}
		if (signals_end() || process_clock() >= next)
			return 0;
		status = take_turn(w, false, &due);
		if (status == STATUS_UNDECIDED || status == STATUS_INTERNAL)
			due = now_seconds() + (status == STATUS_INTERNAL ? BROKEN_SECONDS : RETRY_MS / 1000);
		else if (status)
			return status;
	}
	return 0;
}

static int run_for_ever(struct watch *w)
{
	int64_t next = process_clock();
	bool first = true;

	while (!signals_end()) {
		long long due = 0;
		int status;

		if (wait_for(w, process_clock() + jitter(w), 0) || signals_end())
			break;
		next = process_clock() + w->interval * 1000;
		status = take_turn(w, true, &due);
		if (is_final(status, first))
			return status;
		if (status == STATUS_UNDECIDED)
			next = process_clock() + RETRY_MS;
		first = false;
		status = wait_for(w, next, due);
		if (status)
			return status;
	}
	return STATUS_OK;
}

int watch_run(struct watch *w)
{
	int status, lock = -1;

	if (!w->once) {
		lock = state_lock_watcher(w->state_path);
		if (lock < 0)
			return STATUS_INTERNAL;
	}
	signals_hold();
	if (w->once && w->jitter)
		signals_wait(process_clock() + jitter(w));
	status = w->once ? run_once(w) : run_for_ever(w);
	if (lock >= 0)
		close(lock);
	return status;
}

void watch_clear(struct watch *w)
{
	free(w->state_path);
	watch_config_clear(&w->config);
	imgcheck_images_free(w->last.images);
	free(w->last.said);
}
