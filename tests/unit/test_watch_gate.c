/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/gate_rule.h"

#include <stdio.h>
#include <string.h>

#include "program/memory.h"
#include "test.h"

/* Digests are told apart as texts here. */
static char name[] = "notebook", candidate[] = "r.io/a:next", served[] = "r.io/a:stable", backup[] = "r.io/a:previous";
static const struct watch_gate set = { .name = name, .candidate = candidate, .served = served, .backup = backup };

static struct state state;
static struct gate gate;

static void begin(void)
{
	state = (struct state){ .lock = -1 };
	gate = (struct gate){ &set, &state, state_gate(&state, name), 100 };
}

static enum gate_action see(const char *at_candidate, const char *at_served)
{
	gate.now++;
	return gate_decide(&gate, &(struct gate_seen){ at_candidate, at_served, NULL });
}

/* The types of the events since the last time, in order, each with its digest. */
static void expect_events(const char *expected)
{
	char text[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < state.event_count; i++) {
		const char *digest = json_string_value(json_object_get(state.events[i].data, "digest"));

		cr_assert_str_eq(state.events[i].subject, name);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", i ? ", " : "", state.events[i].type + strlen("gate."),
		                        digest ? digest : "-");
	}
	cr_expect_str_eq(text, expected);
	state_forget_events(&state, state.last_event);
}

static void expect_phase(enum state_phase phase, const char *reason)
{
	cr_expect_str_eq(state_phase_name(gate.g->phase), state_phase_name(phase));
	if (reason)
		cr_expect(gate.g->reason && strstr(gate.g->reason, reason), "%s", gate.g->reason);
	else
		cr_expect_null(gate.g->reason, "%s", gate.g->reason);
}

static void expect_served(const char *digest, const char *previous)
{
	cr_expect(gate_same(gate.g->served, digest), "served: %s", gate.g->served);
	cr_expect(gate_same(gate.g->previous, previous), "previous: %s", gate.g->previous);
}

/* The candidate is judged good and promoted, from what is served (NULL for nothing). */
static void pass(const char *digest, const char *from)
{
	cr_assert_eq(see(digest, from), GATE_VALIDATE);
	gate_pin(&gate);
	cr_expect(gate_is_judging(&gate, digest));
	expect_phase(STATE_GATE_VALIDATING, digest);
	gate_pass(&gate);
	cr_expect(gate_has_passed(&gate));
	cr_assert_eq(see(digest, from), GATE_PROMOTE);
	cr_assert_eq(see(digest, digest), GATE_WAIT);
	expect_phase(STATE_GATE_SERVED, NULL);
}

TEST(watch_gate, first_sight_takes_what_is_served_as_it_is)
{
	begin();
	cr_expect_eq(see("A", "A"), GATE_WAIT);
	expect_phase(STATE_GATE_SERVED, NULL);
	expect_served("A", NULL);
	expect_events("");
	state_close(&state);
	begin();
	pass("A", NULL);
	expect_served("A", NULL);
	expect_events("promoted A");
	state_close(&state);
}

TEST(watch_gate, one_after_the_other_is_served)
{
	begin();
	(void)see("A", "A");
	pass("B", "A");
	expect_served("B", "A");
	pass("C", "B");
	expect_served("C", "B");
	pass("B", "C");
	expect_served("B", "C");
	expect_events("promoted B, promoted C, promoted B");
	state_close(&state);
}

TEST(watch_gate, what_is_rejected_stays_so)
{
	begin();
	(void)see("A", "A");
	cr_assert_eq(see("B", "A"), GATE_VALIDATE);
	gate_pin(&gate);
	gate_reject(&gate, "exit status 1");
	expect_phase(STATE_GATE_REJECTED, "exit status 1");
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	expect_phase(STATE_GATE_REJECTED, "exit status 1");
	cr_expect_eq(see("A", "A"), GATE_WAIT);
	expect_phase(STATE_GATE_SERVED, NULL);
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	expect_phase(STATE_GATE_REJECTED, "exit status 1");
	expect_events("rejected B");
	gate_judge_again(&gate, "B");
	pass("B", "A");
	expect_events("promoted B");
	state_close(&state);
}

TEST(watch_gate, what_cannot_be_told_now_is_told_once)
{
	long long since;

	begin();
	(void)see("A", "A");
	cr_assert_eq(see("B", "A"), GATE_VALIDATE);
	gate_pin(&gate);
	gate_postpone(&gate, "later");
	since = gate.g->since;
	cr_assert_eq(see("B", "A"), GATE_VALIDATE);
	gate_pin(&gate);
	gate_postpone(&gate, "later still");
	expect_phase(STATE_GATE_OUTDATED, "later still");
	cr_expect_eq(gate.g->since, since);
	expect_events("outdated B");
	pass("B", "A");
	expect_events("promoted B");
	cr_assert_eq(see("C", "B"), GATE_VALIDATE);
	gate_pin(&gate);
	gate_postpone(&gate, "later");
	expect_events("outdated C");
	state_close(&state);
}

/* After a crash, or a registry that did not answer: the same as seen by the next process. */
TEST(watch_gate, what_was_begun_is_finished)
{
	begin();
	(void)see("A", "A");
	(void)see("B", "A");
	gate_pin(&gate);
	cr_expect_eq(see("B", "A"), GATE_VALIDATE, "a judgement begins anew");
	gate_pin(&gate);
	gate_pass(&gate);
	cr_expect_eq(see("B", "A"), GATE_PROMOTE, "no second judgement");
	cr_expect_eq(see("B", "A"), GATE_PROMOTE);
	cr_expect_eq(see("B", "B"), GATE_WAIT, "it got there");
	expect_served("B", "A");
	expect_events("promoted B");
	state_close(&state);
}

TEST(watch_gate, one_that_moved_on_meanwhile_is_not_promoted)
{
	begin();
	(void)see("A", "A");
	(void)see("B", "A");
	gate_pin(&gate);
	gate_pass(&gate);
	cr_expect_eq(see("C", "A"), GATE_VALIDATE);
	gate_pin(&gate);
	cr_expect_not(gate_is_judging(&gate, "B"));
	gate_pass(&gate);
	cr_expect_eq(see("A", "A"), GATE_WAIT, "withdrawn");
	expect_phase(STATE_GATE_SERVED, NULL);
	cr_expect_eq(see("C", "A"), GATE_VALIDATE, "its judgement is forgotten with it");
	expect_events("");
	state_close(&state);
}

TEST(watch_gate, another_writer_is_told_once_and_left_alone)
{
	begin();
	(void)see("A", "A");
	cr_expect_eq(see("B", "X"), GATE_WAIT);
	expect_phase(STATE_GATE_OUTDATED, "another writer moved r.io/a:stable from A to X");
	cr_expect_eq(see("B", "X"), GATE_WAIT);
	expect_events("conflict X");
	cr_expect_eq(see("B", "Y"), GATE_WAIT);
	expect_events("conflict Y");
	cr_expect_eq(see("B", NULL), GATE_WAIT);
	expect_phase(STATE_GATE_OUTDATED, "from A to no digest");
	expect_events("conflict -");
	cr_expect_eq(see("B", "B"), GATE_WAIT, "nobody judged it");
	expect_events("conflict B");
	cr_expect_eq(see("B", "A"), GATE_VALIDATE, "it was set back");
	(void)see("B", "X");
	gate_release(&gate);
	pass("B", "X");
	expect_served("B", "X");
	expect_events("conflict X, promoted B");
	state_close(&state);
}

TEST(watch_gate, another_writer_before_the_promotion)
{
	begin();
	(void)see("A", "A");
	(void)see("B", "A");
	gate_pin(&gate);
	gate_pass(&gate);
	cr_expect_eq(see("B", "X"), GATE_WAIT);
	expect_events("conflict X");
	cr_expect_eq(see("B", "A"), GATE_VALIDATE);
	state_close(&state);
}

TEST(watch_gate, a_hold_ends_with_a_release)
{
	begin();
	(void)see("A", "A");
	gate_hold(&gate);
	expect_phase(STATE_GATE_HELD, "gate hold");
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	expect_phase(STATE_GATE_HELD, "gate hold");
	gate_release(&gate);
	cr_expect_eq(see("B", "A"), GATE_VALIDATE);
	gate_pin(&gate);
	gate_hold(&gate);
	cr_expect_not(gate_is_judging(&gate, "B"), "held while it was judged");
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	expect_events("");
	state_close(&state);
}

TEST(watch_gate, a_way_back)
{
	begin();
	(void)see("A", "A");
	pass("B", "A");
	expect_events("promoted B");
	gate_settle(&gate, "B");
	gate_go_back(&gate, "B", "A");
	cr_expect_eq(see("B", "B"), GATE_ROLL_BACK);
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	expect_phase(STATE_GATE_HELD, "rolled back");
	expect_served("A", "A");
	expect_events("rolledback A");
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	pass("C", "A");
	expect_served("C", "A");
	expect_events("promoted C");
	cr_expect_eq(see("B", "C"), GATE_WAIT, "B is still held");
	gate_release(&gate);
	pass("B", "C");
	state_close(&state);
}

/* An operator comes before the step that a crash cut off was told. */
TEST(watch_gate, a_way_back_from_what_was_not_told_yet)
{
	begin();
	(void)see("A", "A");
	(void)see("B", "A");
	gate_pin(&gate);
	gate_pass(&gate);
	gate_settle(&gate, "A");
	expect_events("");
	gate_settle(&gate, "B");
	expect_events("promoted B");
	expect_served("B", "A");
	gate_go_back(&gate, "B", gate.g->previous);
	cr_expect_eq(see("B", "B"), GATE_ROLL_BACK);
	cr_expect_eq(see("B", "A"), GATE_WAIT);
	expect_events("rolledback A");
	state_close(&state);
}

TEST(watch_gate, promoted_as_it_is)
{
	begin();
	(void)see("A", "A");
	(void)see("B", "A");
	gate_pin(&gate);
	gate_reject(&gate, "no");
	gate_hold(&gate);
	gate_force(&gate, &(struct gate_seen){ "B", "X", NULL });
	cr_expect_eq(see("B", "X"), GATE_PROMOTE, "whatever was decided before");
	cr_expect_eq(see("B", "B"), GATE_WAIT);
	expect_phase(STATE_GATE_SERVED, NULL);
	expect_served("B", "X");
	cr_expect_eq(gate.g->rejected_count, 0);
	expect_events("rejected B, promoted B");
	state_close(&state);
}

TEST(watch_gate, no_candidate_and_no_source)
{
	const struct gate_seen cut_off = { "A", "A", "the copy failed" }, newer = { "B", "A", "the copy failed" };

	begin();
	(void)see("A", "A");
	cr_expect_eq(see(NULL, "A"), GATE_WAIT);
	expect_phase(STATE_GATE_OUTDATED, "there is no r.io/a:next");
	expect_events("outdated -");
	(void)see("A", "A");
	cr_expect_eq(gate_decide(&gate, &cut_off), GATE_WAIT);
	expect_phase(STATE_GATE_OUTDATED, "the copy failed");
	expect_events("outdated A");
	cr_expect_eq(gate_decide(&gate, &newer), GATE_VALIDATE, "what is there is judged all the same");
	state_close(&state);
}
