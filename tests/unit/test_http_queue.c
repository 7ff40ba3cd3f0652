/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/http_queue.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

#define ROOM ((size_t)1000)
#define MANY 2000

static struct ic_job jobs[MANY];

static void add(struct ic_queue *q, const char *key, struct ic_job *job)
{
	cr_assert_eq(ic_queue_add(q, key, job, NULL), 0);
}

static void add_many(struct ic_queue *q, const char *key, size_t from, size_t count)
{
	for (size_t i = from; i < from + count; i++) {
		jobs[i] = (struct ic_job){.most = 10};
		add(q, key, &jobs[i]);
	}
}

/* Starts all that may start; gives how many. */
static size_t start_all(struct ic_queue *q, ic_msec now)
{
	size_t count = 0;

	while (ic_queue_next(q, now))
		count++;
	return count;
}

/* Ends everything, so that the queue may be cleared. */
static void finish(struct ic_queue *q)
{
	while (ic_queue_take(q, UINT64_MAX))
		;
	cr_assert_eq(q->count, 0);
	cr_assert_eq(q->running_count, 0);
	cr_assert_eq(q->busy, 0);
	cr_assert_eq(q->held, 0);
	cr_assert_null(q->turn);
	ic_queue_clear(q);
}

static struct ic_job *first_ends(struct ic_queue *q, enum ic_lesson lesson)
{
	struct ic_job *job = ic_queue_next(q, 0);

	cr_assert(job);
	cr_assert_null(ic_queue_next(q, 0), "the first goes alone");
	(void)ic_queue_done(q, job, lesson, false);
	return job;
}

TEST(http_queue, the_first_answer_sets_how_many_run)
{
	static const struct {
		enum ic_lesson lesson;
		size_t then;
	} rows[] = {
		{IC_LESSON_NONE, 1}, {IC_LESSON_HTTP1, IC_MAX_CONNECTIONS}, {IC_LESSON_HTTP2, IC_SURE_STREAMS + 1},
		{IC_LESSON_MUTE, IC_MAX_CONNECTIONS}, {IC_LESSON_UNREACHABLE, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_queue q;

		ic_queue_init(&q, ROOM);
		add_many(&q, "a", 0, 300);
		cr_expect_eq(first_ends(&q, rows[i].lesson), &jobs[0]);
		cr_expect_eq(start_all(&q, 0), rows[i].then, "row %zu", i);
		cr_expect_eq(q.running.first, &jobs[1], "in the order of arrival");
		finish(&q);
	}
}

TEST(http_queue, a_lost_host_is_tried_alone_again)
{
	struct ic_queue q;
	struct ic_job *one, *two, *three;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 10);
	add_many(&q, "b", 10, 10);
	one = ic_queue_next(&q, 0);
	cr_assert(ic_queue_next(&q, 0));
	cr_expect(ic_queue_done(&q, one, IC_LESSON_UNREACHABLE, false), "never reached");
	for (size_t i = 1; i < 10; i++)
		cr_expect_eq(ic_queue_take_waiting(&q, one->host, q.last_number), &jobs[i]);
	cr_expect_null(ic_queue_take_waiting(&q, one->host, q.last_number), "the other host's are not meant");
	cr_expect_eq(q.count, 10);

	add_many(&q, "a", 20, 20);
	one = ic_queue_next(&q, 0);
	cr_assert_eq(one, &jobs[20]);
	cr_expect_not(ic_queue_done(&q, one, IC_LESSON_HTTP1, false));
	two = ic_queue_next(&q, 0);
	three = ic_queue_next(&q, 0);
	cr_expect_not(ic_queue_done(&q, two, IC_LESSON_UNREACHABLE, false), "one connection that fails says little");
	cr_expect_null(ic_queue_next(&q, 0), "but no more are sent until it is clear");
	cr_expect_not(ic_queue_done(&q, three, IC_LESSON_HTTP1, false));
	cr_expect_eq(start_all(&q, 0), 2, "and then few");
	finish(&q);
}

TEST(http_queue, those_of_later_numbers_do_not_share_an_end)
{
	struct ic_queue q;
	struct ic_job *one;
	uint64_t last;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 3);
	one = ic_queue_next(&q, 0);
	cr_expect(ic_queue_done(&q, one, IC_LESSON_UNREACHABLE, false));
	last = q.last_number;
	add_many(&q, "a", 3, 3);
	cr_expect_eq(ic_queue_take_waiting(&q, one->host, last), &jobs[1]);
	cr_expect_eq(ic_queue_take_waiting(&q, one->host, last), &jobs[2]);
	cr_expect_null(ic_queue_take_waiting(&q, one->host, last));
	cr_expect_eq(q.count, 3);
	finish(&q);
}

TEST(http_queue, hosts_take_turns_and_have_shares)
{
	struct ic_queue q;
	char key[16];

	ic_queue_init(&q, ROOM);
	for (size_t host = 0; host < 10; host++) {
		(void)snprintf(key, sizeof(key), "%zu", host);
		add_many(&q, key, host * 200, 200);
	}
	for (size_t host = 0; host < 10; host++)
		cr_expect_eq(ic_queue_next(&q, 0), &jobs[host * 200], "one of each host first");
	cr_expect_null(ic_queue_next(&q, 0));
	for (size_t host = 0; host < 10; host++)
		(void)ic_queue_done(&q, &jobs[host * 200], IC_LESSON_HTTP2, false);
	cr_expect_eq(start_all(&q, 0), IC_MAX_RUNNING / 10 * 10);
	for (size_t host = 0; host < 10; host++) {
		const struct ic_job *last = &jobs[host * 200 + IC_MAX_RUNNING / 10];

		cr_expect(last->in == &q.running && last[1].in != &q.running);
	}
	finish(&q);
}

TEST(http_queue, more_hosts_than_may_run_at_all)
{
	struct ic_queue q;
	char key[16];

	ic_queue_init(&q, ROOM);
	for (size_t host = 0; host < MANY / 2; host++) {
		(void)snprintf(key, sizeof(key), "%zu", host);
		add_many(&q, key, 2 * host, 2);
	}
	cr_expect_eq(start_all(&q, 0), IC_MAX_RUNNING);
	(void)ic_queue_done(&q, &jobs[0], IC_LESSON_HTTP1, false);
	cr_expect_eq(ic_queue_next(&q, 0), &jobs[2 * IC_MAX_RUNNING], "the next host's turn, not the first one's again");
	finish(&q);
}

TEST(http_queue, on_http1_two_bodies_are_cut_at_once)
{
	struct ic_queue q;

	for (int lesson = IC_LESSON_HTTP1; lesson <= IC_LESSON_HTTP2; lesson++) {
		ic_queue_init(&q, ROOM);
		for (size_t i = 0; i < 40; i++) {
			jobs[i] = (struct ic_job){.most = 10, .cut = i >= 1 && i <= 20};
			add(&q, "a", &jobs[i]);
		}
		(void)first_ends(&q, (enum ic_lesson)lesson);
		cr_expect_eq(start_all(&q, 0), lesson == IC_LESSON_HTTP1 ? 16 : 39);
		if (lesson == IC_LESSON_HTTP1) {
			cr_expect(jobs[2].in == &q.running && jobs[3].in != &q.running);
			cr_expect(jobs[34].in == &q.running && jobs[35].in != &q.running);
			(void)ic_queue_done(&q, &jobs[1], IC_LESSON_HTTP1, false);
			cr_expect_eq(ic_queue_next(&q, 0), &jobs[3]);
		}
		finish(&q);
	}
}

TEST(http_queue, a_host_that_asks_for_fewer_gets_fewer)
{
	struct ic_queue q;
	struct ic_job *job;
	size_t next = 0;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 1000);
	(void)first_ends(&q, IC_LESSON_HTTP2);
	cr_expect_eq(start_all(&q, 0), 101);
	for (size_t i = 1; i <= 101; i++)
		(void)ic_queue_done(&q, &jobs[i], IC_LESSON_HTTP2, true);
	cr_expect_eq(start_all(&q, 0), 1, "all were refused: one at a time");
	for (size_t i = 102; i < 112; i++) {
		(void)ic_queue_done(&q, &jobs[i], IC_LESSON_HTTP2, false);
		next += start_all(&q, 0);
	}
	cr_expect_eq(next, 14, "as many answers as run at once let one more run");
	cr_expect_eq(q.running_count, 5);
	while ((job = q.running.first)) {
		(void)ic_queue_done(&q, job, IC_LESSON_HTTP2, false);
		(void)start_all(&q, 0);
		cr_assert_leq(q.running_count, 101);
	}
	finish(&q);
}

TEST(http_queue, a_host_that_was_held_is_asked_for_more_with_care)
{
	struct ic_queue q;
	size_t answers = 0;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 1000);
	(void)first_ends(&q, IC_LESSON_HTTP2);
	(void)start_all(&q, 0);
	while (q.running_count > 0)
		(void)ic_queue_done(&q, q.running.first, IC_LESSON_HTTP2, true);
	ic_queue_hold(&q, "a", 5);
	cr_expect_eq(start_all(&q, 4), 0);
	cr_expect_eq(start_all(&q, 5), 1);
	for (; q.running_count == 1; answers++) {
		(void)ic_queue_done(&q, q.running.first, IC_LESSON_HTTP2, false);
		(void)start_all(&q, 5);
	}
	cr_expect_eq(answers, 8, "%zu", answers);
	finish(&q);
}

TEST(http_queue, who_ran_beside_others_is_told)
{
	struct ic_queue q;
	struct ic_job *first;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 4);
	first = first_ends(&q, IC_LESSON_HTTP1);
	cr_expect_not(first->crowded, "it went alone");
	cr_expect_eq(start_all(&q, 0), 3);
	(void)ic_queue_done(&q, &jobs[3], IC_LESSON_HTTP1, false);
	(void)ic_queue_done(&q, &jobs[2], IC_LESSON_HTTP1, false);
	(void)ic_queue_done(&q, &jobs[1], IC_LESSON_HTTP1, false);
	cr_expect(jobs[1].crowded && jobs[2].crowded && jobs[3].crowded, "whoever ended before it");
	add_many(&q, "a", 4, 1);
	cr_expect_eq(start_all(&q, 0), 1);
	(void)ic_queue_done(&q, &jobs[4], IC_LESSON_HTTP1, false);
	cr_expect_not(jobs[4].crowded, "those before it had ended");
	finish(&q);
}

TEST(http_queue, a_host_that_answers_and_then_gives_no_connection_is_asked_by_fewer)
{
	static const enum ic_lesson lessons[] = {IC_LESSON_UNREACHABLE, IC_LESSON_MUTE};

	for (size_t i = 0; i < sizeof(lessons) / sizeof(lessons[0]); i++) {
		struct ic_queue q;

		ic_queue_init(&q, ROOM);
		add_many(&q, "a", 0, 100);
		(void)first_ends(&q, IC_LESSON_HTTP1);
		cr_expect_eq(start_all(&q, 0), 16);
		for (size_t n = 1; n <= 3; n++)
			cr_expect_not(ic_queue_done(&q, &jobs[n], lessons[i], false), "others are answered");
		cr_expect_eq(start_all(&q, 0), 0, "13 run where 7 may");
		while (q.running_count > 0)
			(void)ic_queue_done(&q, q.running.first, lessons[i], false);
		cr_expect_eq(start_all(&q, 0), 1);
		cr_expect_not(ic_queue_done(&q, q.running.first, lessons[i], false), "alone, for the first time");
		cr_expect_eq(start_all(&q, 0), 1);
		cr_expect_eq(ic_queue_done(&q, q.running.first, lessons[i], false), lessons[i] == IC_LESSON_UNREACHABLE);
		finish(&q);
	}
}

/* Gives streams to the running jobs up to the limit; those beyond are turned away, as libcurl does: how many. */
static size_t send_all(struct ic_queue *q, size_t limit)
{
	size_t sent = 0, turned_away = 0;

	for (struct ic_job *job = q->running.first, *next; job; job = next) {
		next = job->next;
		if (sent++ < limit) {
			ic_queue_opened(job);
			continue;
		}
		cr_expect_not(ic_queue_open(job), "no second connection");
		ic_queue_again(q, job, false);
		turned_away++;
	}
	return turned_away;
}

TEST(http_queue, as_many_streams_as_the_server_admits)
{
	static const struct {
		size_t limit, then, turned_away;
	} rows[] = {{100, 100, 1}, {128, 112, 3}, {180, 158, 20}, {250, 200, 0}, {1000, 200, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t turned_away = 0;
		struct ic_queue q;

		ic_queue_init(&q, ROOM);
		add_many(&q, "a", 0, 1000);
		(void)first_ends(&q, IC_LESSON_HTTP2);
		while (start_all(&q, 0) > 0)
			turned_away += send_all(&q, rows[i].limit);
		cr_expect_eq(turned_away, rows[i].turned_away, "row %zu: %zu", i, turned_away);
		while (q.running_count > 40)
			(void)ic_queue_done(&q, q.running.first, IC_LESSON_HTTP2, false);
		(void)start_all(&q, 0);
		cr_expect_eq(q.running_count, rows[i].then, "row %zu: %zu", i, q.running_count);
		while (q.running_count > 40)
			(void)ic_queue_done(&q, q.running.first, IC_LESSON_HTTP2, false);
		cr_expect(ic_queue_open(q.running.first), "with few under way the connection is lost");
		finish(&q);
	}
}

TEST(http_queue, no_stream_too_many_where_bodies_are_cut)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	for (size_t i = 0; i < 1000; i++) {
		jobs[i] = (struct ic_job){.most = 10, .cut = i % 10 == 5};
		add(&q, "a", &jobs[i]);
	}
	(void)first_ends(&q, IC_LESSON_HTTP2);
	while (start_all(&q, 0) > 0)
		(void)send_all(&q, 1000);
	cr_expect_eq(q.running_count, IC_SURE_STREAMS);
	finish(&q);
}

TEST(http_queue, waits_for_times)
{
	static const ic_msec times[] = {300, 100, 200, 200, 50, 0};
	static const size_t order[] = {5, 4, 1, 2, 3, 0};
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	for (size_t i = 0; i < 6; i++) {
		jobs[i] = (struct ic_job){.most = 10, .not_before = times[i]};
		add(&q, "a", &jobs[i]);
	}
	for (size_t i = 0; i < 6; i++) {
		ic_msec due = times[order[i]];
		struct ic_job *job;

		if (due > 0 && times[order[i - 1]] != due) {
			cr_expect_null(ic_queue_next(&q, due - 1));
			cr_expect_eq(ic_queue_wake(&q), due);
		}
		job = ic_queue_next(&q, due);
		cr_assert_eq(job, &jobs[order[i]]);
		(void)ic_queue_done(&q, job, IC_LESSON_HTTP1, false);
	}
	cr_expect_null(ic_queue_next(&q, 1000));
	cr_expect_eq(ic_queue_wake(&q), -1);
	finish(&q);
}

TEST(http_queue, holds_a_host_and_not_the_others)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	ic_queue_hold(&q, "unknown", 500);
	add_many(&q, "a", 0, 2);
	add_many(&q, "b", 2, 2);
	ic_queue_hold(&q, "a", 500);
	ic_queue_hold(&q, "a", 400);
	cr_expect_eq(ic_queue_next(&q, 100), &jobs[2]);
	cr_expect_null(ic_queue_next(&q, 499));
	cr_expect_eq(ic_queue_wake(&q), 500);
	cr_expect_eq(ic_queue_next(&q, 500), &jobs[0]);
	finish(&q);
}

TEST(http_queue, one_http2_connection_is_opened_at_a_time)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 10);
	jobs[3].cut = true;
	cr_assert_eq(ic_queue_next(&q, 0), &jobs[0]);
	cr_expect(ic_queue_open(&jobs[0]));
	(void)ic_queue_done(&q, &jobs[0], IC_LESSON_HTTP2, false);
	for (size_t i = 1; i < 5; i++)
		cr_assert_eq(ic_queue_next(&q, 0), &jobs[i]);
	cr_expect(ic_queue_open(&jobs[2]));
	cr_expect(ic_queue_open(&jobs[2]), "at its second address");
	cr_expect_not(ic_queue_open(&jobs[1]));
	ic_queue_again(&q, &jobs[1], false);
	cr_expect_null(ic_queue_next(&q, 0), "all others wait");
	ic_queue_opened(&jobs[3]);
	cr_expect_null(ic_queue_next(&q, 0), "another one's old connection says nothing");
	ic_queue_opened(&jobs[2]);
	cr_expect_eq(ic_queue_next(&q, 0), &jobs[1], "in front");
	cr_expect(ic_queue_open(&jobs[1]));
	(void)ic_queue_done(&q, &jobs[1], IC_LESSON_UNREACHABLE, false);
	cr_expect(ic_queue_open(&jobs[3]), "who failed is out of the way");
	finish(&q);
}

TEST(http_queue, on_http1_all_may_open_connections)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	add_many(&q, "a", 0, 10);
	(void)first_ends(&q, IC_LESSON_HTTP1);
	cr_expect_eq(start_all(&q, 0), 9);
	for (size_t i = 1; i < 10; i++)
		cr_expect(ic_queue_open(&jobs[i]));
	finish(&q);
}

/* ------------------------------------------------------------------ the budget */

static void start_with_most(struct ic_queue *q, const char *key, size_t from, size_t count, size_t most)
{
	struct ic_job first = {.most = most};

	add(q, key, &first);
	cr_assert_eq(ic_queue_next(q, 0), &first);
	(void)ic_queue_done(q, &first, IC_LESSON_HTTP1, false);
	for (size_t i = from; i < from + count; i++) {
		jobs[i] = (struct ic_job){.most = most};
		add(q, key, &jobs[i]);
		cr_assert_eq(ic_queue_next(q, 0), &jobs[i]);
	}
}

TEST(http_queue, no_host_holds_more_than_half_of_the_room)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	start_with_most(&q, "a", 0, 3, 400);
	start_with_most(&q, "b", 3, 3, 400);
	start_with_most(&q, "c", 6, 3, 400);
	cr_expect(ic_queue_grow(&q, &jobs[0], 300));
	cr_expect(ic_queue_grow(&q, &jobs[0], 200), "what it has already");
	cr_expect_eq(q.held, 300);
	cr_expect(ic_queue_grow(&q, &jobs[1], 200));
	cr_expect_not(ic_queue_grow(&q, &jobs[2], 1), "half of it is full");
	cr_expect(ic_queue_grow(&q, &jobs[3], 400));
	cr_expect(ic_queue_grow(&q, &jobs[6], 100));
	cr_expect_not(ic_queue_grow(&q, &jobs[7], 1), "all of it is full");
	(void)ic_queue_done(&q, &jobs[3], IC_LESSON_HTTP1, false);
	cr_expect_eq(q.held, 600);
	cr_expect(ic_queue_grow(&q, &jobs[7], 1));
	finish(&q);
}

TEST(http_queue, one_without_room_waits_for_all_that_it_may_need)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	start_with_most(&q, "a", 0, 4, 300);
	add_many(&q, "a", 10, 1);
	cr_expect(ic_queue_grow(&q, &jobs[0], 250));
	cr_expect(ic_queue_grow(&q, &jobs[1], 250));
	cr_expect_not(ic_queue_grow(&q, &jobs[2], 10));
	ic_queue_again(&q, &jobs[2], true);
	cr_expect_not(ic_queue_grow(&q, &jobs[3], 10));
	ic_queue_again(&q, &jobs[3], true);
	cr_expect_null(ic_queue_next(&q, 0), "nothing starts before it: there is no room yet");
	(void)ic_queue_done(&q, &jobs[0], IC_LESSON_HTTP1, false);
	cr_expect_null(ic_queue_next(&q, 0));
	(void)ic_queue_done(&q, &jobs[1], IC_LESSON_HTTP1, false);
	cr_expect_eq(ic_queue_next(&q, 0), &jobs[2]);
	cr_expect(jobs[2].whole && jobs[2].held == 300);
	cr_expect(ic_queue_grow(&q, &jobs[2], 300));
	cr_expect_null(ic_queue_next(&q, 0));
	(void)ic_queue_done(&q, &jobs[2], IC_LESSON_HTTP1, false);
	cr_expect_eq(ic_queue_next(&q, 0), &jobs[3]);
	cr_expect_eq(ic_queue_next(&q, 0), &jobs[10], "then the others");
	finish(&q);
}

TEST(http_queue, one_that_may_need_more_than_there_is_gets_half_of_it)
{
	struct ic_queue q;

	ic_queue_init(&q, ROOM);
	start_with_most(&q, "a", 0, 1, SIZE_MAX);
	cr_expect_not(ic_queue_grow(&q, &jobs[0], 501));
	cr_expect_not(ic_queue_grow(&q, &jobs[0], SIZE_MAX));
	ic_queue_again(&q, &jobs[0], true);
	cr_expect_eq(ic_queue_next(&q, 0), &jobs[0]);
	cr_expect_eq(jobs[0].held, ROOM / 2);
	cr_expect_not(ic_queue_grow(&q, &jobs[0], 501), "and is too large then");
	finish(&q);
}

TEST(http_queue, gives_up_everything)
{
	struct ic_queue q;
	size_t count = 0;
	uint64_t last;

	ic_queue_init(&q, ROOM);
	start_with_most(&q, "a", 0, 3, 400);
	cr_expect(ic_queue_grow(&q, &jobs[0], 300));
	cr_expect_not(ic_queue_grow(&q, &jobs[1], 300));
	ic_queue_again(&q, &jobs[1], true);
	add_many(&q, "b", 10, 5);
	add_many(&q, "a", 20, 5);
	jobs[30] = (struct ic_job){.not_before = 1000};
	add(&q, "c", &jobs[30]);
	last = q.last_number;
	add_many(&q, "b", 40, 5);
	while (ic_queue_take(&q, last))
		count++;
	cr_expect_eq(count, 3 + 5 + 5 + 1);
	cr_expect_eq(q.count, 5, "what came later stays");
	finish(&q);
}
