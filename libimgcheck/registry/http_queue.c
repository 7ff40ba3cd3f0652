/* SPDX-License-Identifier: Apache-2.0 */
#include "http_queue.h"

#include <search.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#define HELD_CAUTION ((size_t)8) /* to be turned away again costs a host's whole queue a second or more */

struct ic_host {
	char *key;
	enum ic_lesson version; /* NONE until a connection came about */
	size_t window;          /* lowered where the host asks for fewer requests */
	size_t answered;        /* good answers since the window was changed */
	uint64_t starts;        /* of jobs, ever */
	size_t jobs;            /* that exist: running, waiting and later */
	size_t running, cuts;   /* cuts: those of the running ones whose body is cut */
	size_t sent;            /* those that are sent */
	size_t streams;         /* on HTTP/2: how many are surely admitted, at least IC_SURE_STREAMS */
	bool full;              /* the server admits no more */
	bool cuts_some;         /* a body was cut: its stream is still one to the server for a moment */
	size_t held;            /* bytes of the budget */
	ic_msec until;          /* nothing is sent before */
	bool was_held;          /* it was told to wait before */
	const struct ic_job *opening; /* opens the only HTTP/2 connection; NULL: none does */
	struct ic_jobs again;   /* given up for want of room; nothing else starts before them */
	struct ic_jobs plain, cut;
	struct ic_host *prev, *next; /* the ring; NULL where nothing waits */
};

/* ------------------------------------------------------------------ lists */

static void link_after(struct ic_jobs *list, struct ic_job *job, struct ic_job *before)
{
	job->in = list;
	job->prev = before;
	job->next = before ? before->next : list->first;
	if (job->next)
		job->next->prev = job;
	else
		list->last = job;
	if (before)
		before->next = job;
	else
		list->first = job;
}

static void unlink_job(struct ic_job *job)
{
	struct ic_jobs *list = job->in;

	if (job->prev)
		job->prev->next = job->next;
	else
		list->first = job->next;
	if (job->next)
		job->next->prev = job->prev;
	else
		list->last = job->prev;
	job->prev = job->next = NULL;
	job->in = NULL;
}

static void enter_ring(struct ic_queue *q, struct ic_host *host)
{
	if (host->next)
		return;
	if (!q->turn) {
		host->prev = host->next = q->turn = host;
		return;
	}
	/* behind all others: in front of the one whose turn it is */
	host->next = q->turn;
	host->prev = q->turn->prev;
	host->prev->next = host;
	host->next->prev = host;
}

static void leave_ring_if_idle(struct ic_queue *q, struct ic_host *host)
{
	if (!host->next || host->again.first || host->plain.first || host->cut.first)
		return;
	if (q->turn == host)
		q->turn = host->next == host ? NULL : host->next;
	host->prev->next = host->next;
	host->next->prev = host->prev;
	host->prev = host->next = NULL;
}

/* ------------------------------------------------------------------ hosts */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct ic_host *)a)->key, ((const struct ic_host *)b)->key);
}

static void free_host(void *host)
{
	free(((struct ic_host *)host)->key);
	free(host);
}

/* Known or new.  NULL: no memory. */
static struct ic_host *get_host(struct ic_queue *q, const char *key)
{
	struct ic_host *host = calloc(1, sizeof(*host)), **found;

	if (!host)
		return NULL;
	host->window = IC_MAX_STREAMS;
	host->streams = IC_SURE_STREAMS;
	host->key = ic_text_copy(key, strlen(key));
	found = host->key ? tsearch(host, &q->hosts, by_key) : NULL;
	if (found && *found == host)
		return host;
	free_host(host);
	return found ? *found : NULL;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Streams on HTTP/2: those known to be admitted, and while it is not known that these are all, some more. */
static size_t stream_cap(const struct ic_host *host)
{
	size_t known = host->streams;

	/* one stream too many ends a connection */
	if (host->cuts_some)
		return IC_SURE_STREAMS;
	return host->full ? known : least(IC_MAX_STREAMS, 2 * known - IC_SURE_STREAMS + 1);
}

/* How many of a host's requests may run at once. */
static size_t host_cap(const struct ic_queue *q, const struct ic_host *host)
{
	size_t share = q->busy < IC_MAX_RUNNING ? IC_MAX_RUNNING / q->busy : 1;

	switch (host->version) {
	case IC_LESSON_NONE:
	case IC_LESSON_UNREACHABLE:
		return 1;
	case IC_LESSON_HTTP2:
		return least(least(stream_cap(host), share), host->window);
	case IC_LESSON_HTTP1:
	case IC_LESSON_MUTE:
		break;
	}
	return least(least(IC_MAX_CONNECTIONS, share), host->window);
}

static void count_job(struct ic_queue *q, struct ic_host *host)
{
	q->busy += host->jobs == 0;
	host->jobs++;
	q->count++;
}

static void uncount_job(struct ic_queue *q, struct ic_host *host)
{
	q->count--;
	host->jobs--;
	q->busy -= host->jobs == 0;
}

/* ------------------------------------------------------------------ the budget */

static bool has_room(const struct ic_queue *q, const struct ic_host *host, size_t more)
{
	size_t half = q->room / 2;

	return more <= half && host->held <= half - more && q->held <= q->room - more;
}

static void hold(struct ic_queue *q, struct ic_job *job, size_t more)
{
	job->held += more;
	job->host->held += more;
	q->held += more;
}

static void release(struct ic_queue *q, struct ic_job *job)
{
	job->host->held -= job->held;
	q->held -= job->held;
	job->held = 0;
}

bool ic_queue_grow(struct ic_queue *q, struct ic_job *job, size_t size)
{
	if (size <= job->held)
		return true;
	if (!has_room(q, job->host, size - job->held))
		return false;
	hold(q, job, size - job->held);
	return true;
}

/* ------------------------------------------------------------------ the queue */

void ic_queue_init(struct ic_queue *q, size_t room)
{
	*q = (struct ic_queue){.room = room, .wake = -1};
}

void ic_queue_clear(struct ic_queue *q)
{
	tdestroy(q->hosts, free_host);
	ic_queue_init(q, q->room);
}

static void make_ready(struct ic_queue *q, struct ic_job *job)
{
	struct ic_jobs *list = job->cut ? &job->host->cut : &job->host->plain;

	link_after(list, job, list->last);
	enter_ring(q, job->host);
}

int ic_queue_add(struct ic_queue *q, const char *key, struct ic_job *job, struct imgcheck_error **err)
{
	struct ic_job *before = q->later.last;

	job->host = get_host(q, key);
	if (!job->host)
		return ic_error_nomem(err);
	job->number = ++q->last_number;
	job->held = 0;
	job->whole = job->sent = false;
	count_job(q, job->host);
	if (job->not_before <= 0) {
		make_ready(q, job);
		return 0;
	}
	/* retries mostly come in the order of their times: searched from the end */
	while (before && before->not_before > job->not_before)
		before = before->prev;
	link_after(&q->later, job, before);
	return 0;
}

/* The host's job that may start, or NULL. */
static struct ic_job *startable(struct ic_queue *q, const struct ic_host *host, ic_msec now)
{
	struct ic_job *plain = host->plain.first, *cut = host->cut.first;

	if (host->until > now) {
		if (q->wake < 0 || host->until < q->wake)
			q->wake = host->until;
		return NULL;
	}
	if (host->opening || host->running >= host_cap(q, host))
		return NULL;
	if (host->again.first) {
		size_t whole = least(host->again.first->most, q->room / 2);

		return has_room(q, host, whole) ? host->again.first : NULL;
	}
	if (cut && host->version != IC_LESSON_HTTP2 && host->cuts >= IC_MAX_CUTS)
		cut = NULL;
	if (!plain || !cut)
		return plain ? plain : cut;
	return plain->number < cut->number ? plain : cut;
}

static void start(struct ic_queue *q, struct ic_job *job)
{
	struct ic_host *host = job->host;

	if (job->in == &host->again) {
		job->whole = true;
		hold(q, job, least(job->most, q->room / 2));
	}
	unlink_job(job);
	q->turn = host->next;
	leave_ring_if_idle(q, host);
	link_after(&q->running, job, q->running.last);
	q->running_count++;
	job->beside = host->running > 0;
	job->start = ++host->starts;
	host->running++;
	host->cuts += job->cut;
	host->cuts_some |= job->cut;
}

struct ic_job *ic_queue_next(struct ic_queue *q, ic_msec now)
{
	struct ic_host *host, *first;

	while (q->later.first && q->later.first->not_before <= now) {
		struct ic_job *due = q->later.first;

		unlink_job(due);
		make_ready(q, due);
	}
	q->wake = q->later.first ? q->later.first->not_before : -1;
	host = first = q->turn;
	if (!host || q->running_count >= IC_MAX_RUNNING)
		return NULL;
	do {
		struct ic_job *job = startable(q, host, now);

		if (job) {
			start(q, job);
			return job;
		}
		host = host->next;
	} while (host != first);
	return NULL;
}

ic_msec ic_queue_wake(const struct ic_queue *q)
{
	return q->wake;
}

static void close_opening(const struct ic_job *job)
{
	if (job->host->opening == job)
		job->host->opening = NULL;
}

static void stop(struct ic_queue *q, struct ic_job *job)
{
	unlink_job(job);
	release(q, job);
	q->running_count--;
	job->host->running--;
	job->host->cuts -= job->cut;
	job->host->sent -= job->sent;
	job->sent = false;
	close_opening(job);
}

void ic_queue_again(struct ic_queue *q, struct ic_job *job, bool for_room)
{
	struct ic_host *host = job->host;

	stop(q, job);
	job->whole = false;
	if (for_room)
		link_after(&host->again, job, host->again.last);
	else
		link_after(job->cut ? &host->cut : &host->plain, job, NULL);
	enter_ring(q, host);
}

bool ic_queue_open(struct ic_job *job)
{
	struct ic_host *host = job->host;

	if (host->version != IC_LESSON_HTTP2)
		return true;
	if (host->sent >= IC_SURE_STREAMS) {
		size_t kept = host->sent - host->sent / 8;

		/* not for want of a connection: it has no room for one more stream */
		host->full = true;
		host->streams = kept > IC_SURE_STREAMS ? least(host->streams, kept) : IC_SURE_STREAMS;
		return false;
	}
	if (!host->opening)
		host->opening = job;
	return host->opening == job;
}

void ic_queue_opened(struct ic_job *job)
{
	struct ic_host *host = job->host;

	close_opening(job);
	host->sent += !job->sent;
	job->sent = true;
	if (host->version == IC_LESSON_HTTP2 && !host->full && host->sent > host->streams)
		host->streams = host->sent;
}

/* Others ran beside it, at a host that answers: what went wrong can be due to their number. */
static bool is_crowded(const struct ic_job *job)
{
	const struct ic_host *host = job->host;

	return (job->beside || host->starts > job->start) &&
	       (host->version == IC_LESSON_HTTP1 || host->version == IC_LESSON_HTTP2);
}

static void adapt_window(struct ic_host *host, bool too_many)
{
	if (too_many) {
		host->window = (least(host->window, host->running + 1) + 1) / 2;
		host->answered = 0;
	} else if (host->window < IC_MAX_STREAMS && ++host->answered >= host->window * (host->was_held ? HELD_CAUTION : 1)) {
		host->window++;
		host->answered = 0;
	}
}

bool ic_queue_done(struct ic_queue *q, struct ic_job *job, enum ic_lesson lesson, bool too_many)
{
	struct ic_host *host = job->host;
	bool hopeless = lesson == IC_LESSON_UNREACHABLE && (host->version == IC_LESSON_NONE || host->version == lesson);

	job->crowded = is_crowded(job);
	stop(q, job);
	uncount_job(q, host);
	if (job->crowded && (lesson == IC_LESSON_MUTE || lesson == IC_LESSON_UNREACHABLE)) {
		adapt_window(host, true);
		return false;
	}
	/* one mute request among answered ones says nothing about the host */
	if (lesson == IC_LESSON_UNREACHABLE || lesson == IC_LESSON_HTTP1 || lesson == IC_LESSON_HTTP2 ||
	    (lesson == IC_LESSON_MUTE && host->version == IC_LESSON_NONE))
		host->version = lesson;
	if (lesson == IC_LESSON_HTTP1 || lesson == IC_LESSON_HTTP2)
		adapt_window(host, too_many);
	return hopeless;
}

struct holding {
	const char *key;
	size_t len;
	ic_msec until;
};

/* The host itself, and it in all ways in which it is reached. */
static void hold_one(const void *node, VISIT visit, void *arg)
{
	const struct holding *holding = arg;
	struct ic_host *host = *(struct ic_host *const *)node;

	if (visit != postorder && visit != leaf)
		return;
	if (strncmp(host->key, holding->key, holding->len) != 0 || (host->key[holding->len] && host->key[holding->len] != ' '))
		return;
	if (host->until < holding->until)
		host->until = holding->until;
	host->was_held = true;
}

void ic_queue_hold(struct ic_queue *q, const char *key, ic_msec until)
{
	struct holding holding = {key, strlen(key), until};

	twalk_r(q->hosts, hold_one, &holding);
}

/* Unlinks a job that does not run. */
static struct ic_job *take(struct ic_queue *q, struct ic_job *job)
{
	unlink_job(job);
	leave_ring_if_idle(q, job->host);
	uncount_job(q, job->host);
	return job;
}

struct ic_job *ic_queue_take_waiting(struct ic_queue *q, struct ic_host *host, uint64_t last)
{
	struct ic_jobs *lists[] = {&host->again, &host->plain, &host->cut};

	/* a retry that came late may stand before a lower number, so a list is not sorted */
	for (size_t i = 0; i < IC_COUNT(lists); i++)
		for (struct ic_job *job = lists[i]->first; job; job = job->next)
			if (job->number <= last)
				return take(q, job);
	return NULL;
}

struct ic_job *ic_queue_take(struct ic_queue *q, uint64_t last)
{
	struct ic_job *job;

	for (job = q->running.first; job; job = job->next)
		if (job->number <= last) {
			struct ic_host *host = job->host;

			stop(q, job);
			uncount_job(q, host);
			return job;
		}
	for (job = q->later.first; job; job = job->next)
		if (job->number <= last)
			return take(q, job);
	for (size_t hosts = q->busy; q->turn && hosts > 0; hosts--) {
		job = ic_queue_take_waiting(q, q->turn, last);
		if (job)
			return job;
		q->turn = q->turn->next;
	}
	return NULL;
}
