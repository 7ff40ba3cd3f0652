/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_HTTP_QUEUE_H
#define IC_REGISTRY_HTTP_QUEUE_H

/*
 * Which request goes out next: a queue per host, with a cap on how many run at once, and one budget of
 * bytes for all bodies in memory.  Pure bookkeeping for the transport (http.c): it knows no sockets and
 * no clock, and apart from a host's first appearance it never allocates.
 *
 * The rules:
 *   A host's first request goes alone.  The HTTP version of its answer sets the cap: IC_SURE_STREAMS on
 *   HTTP/2, IC_MAX_CONNECTIONS on HTTP/1.1.  Where a connection came about but no answer, the others try
 *   side by side as on HTTP/1.1; where none came about, those waiting share that end, and the next
 *   request is the first again.
 *   On HTTP/2 one connection is opened at a time and the others wait for it: after a server ended one,
 *   libcurl would open one for each.
 *   How many streams an HTTP/2 server admits is not told, but libcurl asks for a second connection when there
 *   is no room for one more.  So the cap grows beyond IC_SURE_STREAMS, twice as much more each time that all
 *   of it was used, until libcurl asks so, and at most to IC_MAX_STREAMS.  An eighth of what was found stays
 *   free, and where bodies are cut all of it: a server can take a stream for open which we know to have ended,
 *   and may then refuse a new one.
 *   A host that says "too many requests" gets half as many at once, and so does one that is known to answer and now
 *   gives no answer to one among several.  As many other answers as are let run at once add one again, and more are
 *   wanted of a host that was held.
 *   No more than IC_MAX_RUNNING run in all.  Hosts take turns, and none takes more than its share of that
 *   number, so that a host that hangs never keeps the others waiting.
 *   On HTTP/1.1 a body that is cut costs its connection, so only IC_MAX_CUTS such run at once.
 *   Bodies take room from the budget as they grow.  One that finds none is given up and waits in front of
 *   its host's queue until the room for its whole body can be set aside.  No host holds more than half.
 */

#include "base/buf.h"
#include "base/clock.h"

struct ic_host;
struct ic_jobs;

/* One request; a part of the transport's own record, which the queue links but never owns. */
struct ic_job {
	ic_msec not_before; /* set by the caller: earliest start, 0 for at once */
	size_t most;        /* set by the caller: the largest body that it may bring */
	bool cut;           /* set by the caller: its body is cut after the first byte */
	bool whole;         /* room for the whole body is set aside */
	bool sent;          /* it has a connection, and on HTTP/2 a stream */
	bool beside;        /* others of its host ran when it was started */
	uint64_t start;     /* of its host's, from 1 */
	bool crowded;       /* once it has ended: others ran beside it, at a host that answers */
	size_t held;        /* bytes of the budget in use */
	uint64_t number;    /* in order of arrival, from 1 */
	struct ic_host *host;
	struct ic_jobs *in; /* the list that links it */
	struct ic_job *prev, *next;
};

struct ic_jobs {
	struct ic_job *first, *last;
};

struct ic_queue {
	void *hosts;            /* tree of struct ic_host by key */
	struct ic_host *turn;   /* ring of the hosts with jobs that wait: whose turn it is */
	size_t busy;            /* hosts with jobs */
	struct ic_jobs later;   /* not_before lies ahead; the earliest first */
	struct ic_jobs running;
	size_t count, running_count;
	uint64_t last_number;
	size_t room, held;      /* the budget, and how much of it is in use */
	ic_msec wake;           /* when a host that was told to wait may be asked again; -1: none */
};

/* room: bytes that all bodies may hold together. */
void ic_queue_init(struct ic_queue *q, size_t room);
void ic_queue_clear(struct ic_queue *q); /* no job may be linked any more */

/* Appends a job.  key names the host, and behind a blank how it is reached.  Errors: NOMEM, and the job is not linked. */
int ic_queue_add(struct ic_queue *q, const char *key, struct ic_job *job, struct imgcheck_error **err) IC_MUST_CHECK;

/* The job to start now; it counts as running.  NULL: none. */
struct ic_job *ic_queue_next(struct ic_queue *q, ic_msec now);

/* When ic_queue_next(), which just gave NULL, can give a job without another one's end; -1: unknown. */
ic_msec ic_queue_wake(const struct ic_queue *q);

/* Gives a running job room for a body of `size` bytes.  False: there is none; give the job up, then ic_queue_again(). */
bool ic_queue_grow(struct ic_queue *q, struct ic_job *job, size_t size) IC_MUST_CHECK;

/* A running job was given up unanswered: it waits again, in front.  for_room: until its whole body has room. */
void ic_queue_again(struct ic_queue *q, struct ic_job *job, bool for_room);

/* A running job is about to open a connection.  False: it is to be given up, then ic_queue_again(). */
bool ic_queue_open(struct ic_job *job) IC_MUST_CHECK;

/* A running job has a connection that works: its request goes out. */
void ic_queue_opened(struct ic_job *job);

/* What a job's end says about its host. */
enum ic_lesson {
	IC_LESSON_NONE,        /* nothing */
	IC_LESSON_HTTP1,       /* an answer */
	IC_LESSON_HTTP2,
	IC_LESSON_MUTE,        /* a connection, but no answer */
	IC_LESSON_UNREACHABLE  /* no connection */
};

/*
 * A running job has ended; it is linked no more and its room is free.  too_many: the answer asks for fewer
 * requests.  job->crowded tells whether the end may be due to the others.  True: the host cannot be reached, and
 * those waiting (ic_queue_take_waiting()) share this end.
 */
bool ic_queue_done(struct ic_queue *q, struct ic_job *job, enum ic_lesson lesson, bool too_many);

/* Nothing is sent before then to the host of this key, and those whose keys only add a blank and more to it. */
void ic_queue_hold(struct ic_queue *q, const char *key, ic_msec until);

/* Unlinks and gives one of the host's waiting jobs whose time has come, with a number up to `last`; NULL: none is left. */
struct ic_job *ic_queue_take_waiting(struct ic_queue *q, struct ic_host *host, uint64_t last);

/* Unlinks and gives any job with a number up to `last`, running or not; NULL: none is left. */
struct ic_job *ic_queue_take(struct ic_queue *q, uint64_t last);

#endif
