/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/round.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/memory.h"
#include "test.h"
#include "watch/deliver.h"
#include "watch/pull.h"

#define A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static size_t bytes_in_use(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return (size_t)mallinfo().uordblks;
#endif
}

/* An answer by a letter: A and B are digests, - is not found, . could not be told, ! was left for later. */
static void take(struct state *s, const char *ref, char letter, long long now)
{
	AUTO(free) char *name = memory_text(ref), *digest = memory_text(letter == 'A' ? A : letter == 'B' ? B : NULL);
	AUTO(free) char *reason = memory_text(digest ? NULL : "why");
	struct answer a = { .ref = name, .digest = digest, .reason = reason, .asked = letter != '!', .pulls = PULL_ALWAYS };

	a.kind = digest ? ANSWER_PRESENT : letter == '-' ? ANSWER_GONE : ANSWER_UNSURE;
	cr_assert(round_take(s, &a, now));
}

/* The events since the last look, by their first letters: "c" changed, "g" gone, "b" back, "f" failing, "r" recovered. */
static void look(struct state *s, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < s->event_count && n + 1 < size; i++)
		out[n++] = s->events[i].type[strlen("image.")];
	out[n] = '\0';
	state_forget_events(s, s->last_event);
}

TEST(watch_round, events_of_a_row_of_answers)
{
	static const struct {
		const char *answers, *events; /* one letter a round; the events of all rounds, with a blank between */
	} cases[] = {
		{"AAA", "  "},
		{"AB", " c"},
		{"ABA", " c c"},
		{"A-", " g"},
		{"A--", " g "},
		{"A-A", " g b"},
		{"A-B", " g b"},
		{"-", ""},
		{"--", " "},
		{"-A", " b"},
		{"-AB", " b c"},
		{"A..A", "   "},
		{"A...", "   f"},
		{"A....", "   f "},
		{"A...A", "   f r"},
		{"A...B", "   f rc"},
		{"A...-", "   f rg"},
		{"A-...-", " g   f r"},
		{"A-...A", " g   f rb"},
		{"...", "  f"},
		{"...A", "  f r"},
		{"...-A", "  f r b"},
		{"A..A..A", "      "},
		{"A...A...A", "   f r   f r"},
		{"A!!!A", "    "},
		{"A!!!.", "    f"},
		{"A!!!A!!!A", "        "},
		{"A.B.A", "  c  c"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(state) struct state s = { .lock = -1 };
		char all[64] = "", seen[8];

		for (size_t k = 0; cases[i].answers[k]; k++) {
			size_t used = strlen(all);

			take(&s, "r.io/a:1", cases[i].answers[k], (long long)k);
			look(&s, seen, sizeof(seen));
			(void)snprintf(all + used, sizeof(all) - used, "%s%s", k ? " " : "", seen);
		}
		cr_expect_str_eq(all, cases[i].events, "%s: \"%s\"", cases[i].answers, all);
	}
}

/* Limits that let no question through at all are worth telling in the end. */
TEST(watch_round, an_image_whose_turn_never_comes)
{
	AUTO(state) struct state s = { .lock = -1 };
	char seen[8];

	take(&s, "r.io/a:1", 'A', 0);
	for (long long k = 1; k <= ROUND_TURNS + 10; k++) {
		take(&s, "r.io/a:1", '!', k);
		look(&s, seen, sizeof(seen));
		cr_expect_str_eq(seen, k == ROUND_TURNS ? "f" : "", "round %lld: \"%s\"", k, seen);
	}
}

TEST(watch_round, what_is_known_of_an_image)
{
	AUTO(state) struct state s = { .lock = -1, .rounds = 7 };
	const struct state_image *m;
	const json_t *data;

	take(&s, "r.io/a:1", 'A', 100);
	take(&s, "r.io/a:1", 'A', 200);
	m = state_find_image(&s, "r.io/a:1");
	cr_expect_eq(m->since, 100);
	cr_expect_eq(m->asked, 7);
	cr_expect_null(m->reason);
	take(&s, "r.io/a:1", '.', 300);
	m = state_find_image(&s, "r.io/a:1");
	cr_expect_str_eq(m->digest, A);
	cr_expect_eq(m->condition, STATE_PRESENT);
	cr_expect_eq(m->since, 100);
	cr_expect_str_eq(m->reason, "why");
	s.rounds = 8;
	take(&s, "r.io/a:1", '!', 350);
	cr_expect_eq(state_find_image(&s, "r.io/a:1")->asked, 7, "it was left for later");
	take(&s, "r.io/a:1", 'B', 400);
	m = state_find_image(&s, "r.io/a:1");
	cr_expect_eq(m->since, 400);
	cr_expect_eq(m->misses, 0);
	cr_expect_null(m->reason);
	data = s.events[0].data;
	cr_expect_eq(s.events[0].time, 400);
	cr_expect_str_eq(json_string_value(json_object_get(data, "previous")), A);
	cr_expect_str_eq(json_string_value(json_object_get(data, "digest")), B);
	cr_expect(strstr(json_string_value(json_object_get(data, "nodes")), "Always: "));
}

TEST(watch_round, an_image_that_is_never_asked_for_is_not_known)
{
	AUTO(state) struct state s = { .lock = -1 };
	AUTO(free) char *ref = memory_text("r.io/a:1");

	cr_expect(round_take(&s, &(struct answer){ .ref = ref, .kind = ANSWER_SKIPPED }, 1));
	cr_expect_eq(s.image_count, 0);
}

/* ------------------------------------------------------------------ a day */

#define IMAGES 100
#define ROUNDS (24 * 4)
#define WARM_ROUNDS 24 /* until everything has happened once */

/* What each of the images is like in a round: some move, some vanish and come back, a host is away for a while. */
static char answer_at(unsigned image, unsigned round)
{
	if (image % 10 == 3 && round % 12 > 7)
		return '.';
	if (image % 10 == 5 && round % 9 > 6)
		return '-';
	return (round / 2 + image) % 10 == 0 ? 'B' : 'A';
}

static void simulate(struct state *s, struct deliver *d, unsigned round)
{
	long long now = 1800000000 + 900LL * round, due;

	s->rounds++;
	for (unsigned i = 0; i < IMAGES; i++) {
		AUTO(free) char *ref = memory_printf("registry.internal:5000/some/name/image-%u:1", i);

		take(s, ref, answer_at(i, round), now);
	}
	s->round = now;
	cr_assert_eq(state_save(s), 0);
	cr_assert_eq(deliver_events(d, s, now, &due), 0);
	cr_assert_eq(due, 0);
}

TEST(watch_round, a_day_goes_by_without_growth)
{
	char folder[] = "/tmp/imgcheck-day-XXXXXX";
	struct deliver d = { .print = true };
	size_t bytes = 0, most_bytes = 0;
	long long events = 0;
	struct stat st;

	test_folder(folder);
	cr_assert_not_null(freopen("/dev/null", "w", stdout));
	for (unsigned round = 0; round < ROUNDS; round++) {
		AUTO(free) char *path = memory_printf("%s/state", folder);
		AUTO(state) struct state s = { 0 };

		cr_assert_eq(state_open(&s, path, 0), 0);
		simulate(&s, &d, round);
		events = s.last_event;
		state_close(&s);
		cr_assert_eq(stat(path, &st), 0);
		if (round == WARM_ROUNDS) {
			bytes = bytes_in_use();
			most_bytes = (size_t)st.st_size;
		}
		cr_assert(round <= WARM_ROUNDS || (size_t)st.st_size < most_bytes + most_bytes / 5, "%zu bytes in round %u",
		          (size_t)st.st_size, round);
	}
	cr_expect_gt(events, 1000, "%lld: so little happened that this says nothing", events);
	/* the allocator counts what it keeps at hand as in use; one round takes about as much */
	cr_expect_leq(bytes_in_use(), bytes + ((size_t)256 << 10), "memory is not given back");
	for (size_t i = 0; i < 2; i++) {
		AUTO(free) char *path = memory_printf("%s/state%s", folder, i ? ".lock" : "");

		unlink(path);
	}
	rmdir(folder);
}
