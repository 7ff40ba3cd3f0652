/* SPDX-License-Identifier: Apache-2.0 */
#include "deliver.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "event.h"
#include "program/command.h"
#include "program/memory.h"
#include "program/say.h"
#include "signals.h"
#include "webhook.h"

#define FIRST_PAUSE 1
#define MOST_PAUSE 900
#define SHOWN_OUTPUT 300
#define READ_MS 2000 /* for whoever reads the output */
#define LOOK_MS 200  /* from one look whether the process is to end to the next */
#define MOST_ABSENCE (14LL * 86400) /* two of the longest intervals: a sink that is not seen for so long was given up */
#define SAVE_MS 500 /* so much of what was told may be told again after a crash; each save writes the whole state */

/* What became of telling one event. */
struct outcome {
	char *problem; /* new; NULL: it is told */
	long retry_after;
};

/* Whether something can be written there without waiting for longer than that. */
static bool is_read(int fd, int64_t wait_ms)
{
	struct pollfd out = { fd, POLLOUT, 0 };
	const int64_t until = process_clock() + wait_ms;
	int64_t left = wait_ms;

	while (!poll(&out, 1, left > LOOK_MS ? LOOK_MS : (int)left)) {
		left = until - process_clock();
		if (left <= 0 || signals_end())
			return false;
	}
	return true;
}

static struct outcome print(const struct deliver *d, const struct state *s, const struct state_event *e)
{
	AUTO(free) char *line = event_line(e);

	(void)d;
	(void)s;
	if (!is_read(STDOUT_FILENO, READ_MS))
		return (struct outcome){ .problem = memory_text("whoever reads it does not go on") };
	/* Nobody may be reading it: that is no reason to keep the event for ever. */
	if (puts(line) == EOF || fflush(stdout))
		clearerr(stdout);
	return (struct outcome){ 0 };
}

static struct outcome log_event(const struct deliver *d, const struct state *s, const struct state_event *e)
{
	AUTO(free) char *line = event_line(e);
	bool good = !strcmp(e->type, "image.recovered") || !strcmp(e->type, "image.back");

	(void)d;
	(void)s;
	syslog(good ? LOG_NOTICE : LOG_WARNING, "%s", line);
	return (struct outcome){ 0 };
}

static struct outcome run_command(const struct deliver *d, const struct state *s, const struct state_event *e)
{
	AUTO(lines) struct lines words = { 0 }, environment = { 0 };
	AUTO(free) char *json = event_json(s, e), *input = memory_printf("%s\n", json);
	AUTO(process_result) struct process_result r = { 0 };
	const struct command c = { .words = &words, .environment = &environment, .input = input, .seconds = DELIVER_COMMAND_SECONDS };
	struct outcome out = { 0 };

	lines_add(&words, "/bin/sh");
	lines_add(&words, "-c");
	lines_add(&words, d->command);
	event_environment(s, e, &environment);
	command_run(&c, &r);
	if (r.end != PROCESS_EXITED || r.status) {
		AUTO(free) char *end = command_end(&c, &r);

		out.problem = memory_printf("%s%s%.*s", end, *r.err ? ": " : "", SHOWN_OUTPUT, r.err);
	} else if (*r.err) {
		say("%s", r.err);
	}
	return out;
}

static struct outcome post(const struct deliver *d, const struct state *s, const struct state_event *e)
{
	AUTO(free) char *json = event_json(s, e);
	struct webhook_answer answer;

	webhook_post(d->webhook, EVENT_MEDIA_TYPE, json, &answer);
	return (struct outcome){ answer.problem, answer.retry_after };
}

/* In the order in which they are told. */
static const struct sink_kind {
	const char *name;
	struct outcome (*tell)(const struct deliver *d, const struct state *s, const struct state_event *e);
} kinds[] = {
	{ "output", print },
	{ "syslog", log_event },
	{ "command", run_command },
	{ "webhook", post },
};

_Static_assert(COUNT(kinds) == COUNT(((struct deliver *)0)->told), "a place for each sink");

static bool is_wanted(const struct deliver *d, size_t kind)
{
	const bool wanted[] = { d->print, d->syslog, d->command != NULL, d->webhook != NULL };

	return wanted[kind];
}

long long deliver_pause(long long failures, long retry_after)
{
	long long pause = FIRST_PAUSE;

	for (long long i = 1; i < failures && pause < MOST_PAUSE; i++)
		pause *= 2;
	if (pause > MOST_PAUSE)
		pause = MOST_PAUSE;
	return retry_after > pause ? retry_after : pause;
}

static void fail(struct state_sink *sink, const struct outcome *o, long long now)
{
	AUTO(free) char *before = TAKE(sink->reason);

	state_set_text(&sink->reason, o->problem);
	/* Each kind of failure is said once, not at each attempt; and not to who is stuck, which may be the same. */
	if ((!before || strcmp(before, sink->reason)) && is_read(STDERR_FILENO, 0))
		say("cannot tell an event by %s: %s; it is kept and tried again", sink->name, sink->reason);
	sink->failures++;
	sink->not_before = now + deliver_pause(sink->failures, o->retry_after);
}

/* Whether the sink is to be left alone; a clock that was set back does not make that for ever. */
static bool is_paused(const struct state_sink *sink, long long now)
{
	return sink->not_before > now && sink->not_before - now <= MOST_PAUSE + 3600;
}

/* Tells one event to one sink, if that is due.  True: the state has changed. */
static bool tell(struct deliver *d, struct state *s, size_t kind, const struct state_event *e, long long now)
{
	struct state_sink *sink = state_sink(s, kinds[kind].name);
	const int64_t start = process_clock();
	struct outcome o;

	if (!sink || sink->told >= e->number || is_paused(sink, now))
		return false;
	o = kinds[kind].tell(d, s, e);
	if (o.problem) {
		fail(sink, &o, now + (process_clock() - start) / 1000);
		free(o.problem);
		return true;
	}
	if (sink->failures)
		say("telling events by %s works again", sink->name);
	sink->failures = 0;
	sink->not_before = 0;
	state_set_text(&sink->reason, NULL);
	sink->told = d->told[kind] = e->number;
	return true;
}

/* The number up to which every sink has been told, also those of other processes with this state. */
static long long told_by_all(const struct state *s)
{
	long long least = s->last_event;

	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].told < least)
			least = s->sinks[i].told;
	return least;
}

/* When the first sink that has something to be told is due. */
static long long next_due(const struct deliver *d, struct state *s, long long now)
{
	long long due = 0;

	for (size_t i = 0; i < COUNT(kinds) && s->event_count; i++) {
		const struct state_sink *sink = is_wanted(d, i) ? state_sink(s, kinds[i].name) : NULL;
		long long when = sink && is_paused(sink, now) ? sink->not_before : now;

		if (sink && sink->told < s->last_event && (!due || when < due))
			due = when;
	}
	return due;
}

/* Tells one event to all that are due.  True: the state has changed. */
static bool tell_all(struct deliver *d, struct state *s, const struct state_event *e, long long now)
{
	bool changed = false;

	for (size_t kind = 0; kind < COUNT(kinds); kind++)
		if (is_wanted(d, kind))
			changed = tell(d, s, kind, e, now) || changed;
	return changed;
}

/* What this process told and could not save: of this state, not of one that is in its place now. */
static void remember_told(struct deliver *d, struct state *s)
{
	if (strcmp(d->id, s->id))
		memset(d->told, 0, sizeof(d->told));
	(void)snprintf(d->id, sizeof(d->id), "%s", s->id);
	for (size_t kind = 0; kind < COUNT(kinds); kind++) {
		struct state_sink *sink = is_wanted(d, kind) ? state_sink(s, kinds[kind].name) : NULL;

		if (sink && sink->told < d->told[kind] && d->told[kind] <= s->last_event)
			sink->told = d->told[kind];
	}
}

static int save(struct deliver *d, const struct state *s)
{
	int status = state_save(s);

	if (!status)
		memset(d->told, 0, sizeof(d->told));
	return status;
}

void deliver_begin(const struct deliver *d, struct state *s, long long now)
{
	for (size_t kind = 0; kind < COUNT(kinds); kind++) {
		struct state_sink *sink = is_wanted(d, kind) ? state_sink(s, kinds[kind].name) : NULL;

		if (sink)
			sink->seen = now;
	}
	for (size_t i = s->sink_count; i-- > 0;) {
		if (s->sinks[i].seen > now) /* the clock was set back */
			s->sinks[i].seen = now;
		if (now - s->sinks[i].seen > MOST_ABSENCE)
			state_forget_sink(s, &s->sinks[i]);
	}
	state_forget_events(s, told_by_all(s));
}

int deliver_events(struct deliver *d, struct state *s, long long now, long long *due)
{
	int64_t saved = process_clock();
	bool changed = false;
	int status = 0;

	remember_told(d, s);
	for (size_t i = 0; i < s->event_count && !status && !signals_end();) {
		long long number = s->events[i].number, told;

		changed = tell_all(d, s, &s->events[i], now) || changed;
		told = told_by_all(s);
		state_forget_events(s, told);
		/* Where this one is forgotten, so are all before it. */
		i = told >= number ? 0 : i + 1;
		if (!changed || process_clock() - saved < SAVE_MS)
			continue;
		status = save(d, s);
		saved = process_clock();
		changed = false;
	}
	if (changed && !status)
		status = save(d, s);
	*due = next_due(d, s, now);
	return status;
}
