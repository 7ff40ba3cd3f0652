/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_rule.h"

#include <string.h>

#include "program/document.h"
#include "program/memory.h"

#define VALIDATE "validate"
#define PROMOTE "promote"
#define ROLLBACK "rollback"
#define NO_TAG "no digest" /* in state_gate.found: somebody took the served tag away */

bool gate_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_at(const struct state_gate *g, const char *step)
{
	return g->step && g->pinned && !strcmp(g->step, step);
}

static void set_step(struct state_gate *g, const char *step, const char *digest)
{
	AUTO(free) char *copy = memory_text(digest); /* it may be one of those that are replaced */

	state_set_text(&g->step, step);
	state_set_text(&g->pinned, copy);
}

/* ------------------------------------------------------------------ phases and events */

static void set_phase(struct gate *t, enum state_phase phase, const char *reason)
{
	struct state_gate *g = t->g;

	if (g->phase != (long long)phase)
		g->since = t->now;
	g->phase = phase;
	state_set_text(&g->reason, reason);
	if (phase != STATE_GATE_OUTDATED && phase != STATE_GATE_VALIDATING)
		g->outdated = 0;
}

static void tell(const struct gate *t, const char *type, const char *digest, const char *previous, const char *reason)
{
	json_t *data = document_object();

	document_set_text(data, "reference", t->set->served);
	document_set_text(data, "candidate", t->set->candidate);
	if (digest)
		document_set_text(data, "digest", digest);
	if (previous)
		document_set_text(data, "previous", previous);
	if (reason)
		document_set_text(data, "reason", reason);
	state_add_event(t->state, t->now, type, t->set->name, data);
}

void gate_postpone(struct gate *t, const char *reason)
{
	struct state_gate *g = t->g;

	set_phase(t, STATE_GATE_OUTDATED, reason);
	if (!g->outdated) {
		g->outdated = t->now;
		tell(t, "gate.outdated", g->candidate, g->served, reason);
	}
	g->since = g->outdated;
}

/* ------------------------------------------------------------------ what was seen */

static bool is_done(const struct state_gate *g, const char *served)
{
	return served && (is_at(g, PROMOTE) || is_at(g, ROLLBACK)) && gate_same(g->pinned, served) && !gate_same(g->served, served);
}

void gate_settle(struct gate *t, const char *served)
{
	struct state_gate *g = t->g;
	bool back = is_at(g, ROLLBACK);
	char *before;

	if (!is_done(g, served))
		return;
	before = TAKE(g->served);
	tell(t, back ? "gate.rolledback" : "gate.promoted", g->pinned, before, NULL);
	g->served = TAKE(g->pinned);
	if (back) {
		free(before);
	} else {
		free(g->previous);
		g->previous = before;
	}
	set_step(g, NULL, NULL);
	state_set_text(&g->found, NULL);
}

bool gate_is_news(const struct gate *t, const char *served)
{
	const struct state_gate *g = t->g;

	return g->known && !gate_same(g->served, served) && !(served && gate_same(g->pinned, served)) &&
	       !gate_same(g->found, served ? served : NO_TAG);
}

/* Somebody else has set the served tag: it is left alone until an operator says otherwise, or it is set back. */
static bool is_overtaken(struct gate *t, const char *served)
{
	const char *found = served ? served : NO_TAG;
	struct state_gate *g = t->g;
	AUTO(free) char *reason = NULL;

	if (gate_same(g->served, served)) {
		state_set_text(&g->found, NULL);
		return false;
	}
	reason = memory_printf("another writer moved %s from %s to %s; imgcheck gate release %s takes it as it is", t->set->served,
			       g->served ? g->served : NO_TAG, found, t->set->name);
	if (!gate_same(g->found, found))
		tell(t, "gate.conflict", served, g->served, reason);
	state_set_text(&g->found, found);
	set_step(g, NULL, NULL);
	if (!g->outdated)
		g->outdated = t->now;
	set_phase(t, STATE_GATE_OUTDATED, reason);
	g->since = g->outdated;
	return true;
}

/* What keeps the candidate from being promoted, if anything does: the phase then tells. */
static bool is_barred(struct gate *t, const struct gate_seen *seen)
{
	struct state_gate *g = t->g;
	const struct state_rejected *rejected = seen->candidate ? state_rejected(g, seen->candidate) : NULL;
	AUTO(free) char *reason = NULL;

	if (g->hold) {
		set_phase(t, STATE_GATE_HELD, "by imgcheck gate hold");
	} else if (!seen->candidate) {
		reason = memory_printf("there is no %s", t->set->candidate);
		gate_postpone(t, seen->copy_fault ? seen->copy_fault : reason);
	} else if (gate_same(seen->candidate, g->served) && seen->copy_fault) {
		gate_postpone(t, seen->copy_fault);
	} else if (gate_same(seen->candidate, g->served)) {
		set_phase(t, STATE_GATE_SERVED, NULL);
	} else if (gate_same(seen->candidate, g->held)) {
		set_phase(t, STATE_GATE_HELD, "the candidate was rolled back; another one, or imgcheck gate release, ends this");
	} else if (rejected) {
		set_phase(t, STATE_GATE_REJECTED, rejected->reason);
	} else {
		return false;
	}
	return true;
}

enum gate_action gate_decide(struct gate *t, const struct gate_seen *seen)
{
	struct state_gate *g = t->g;

	state_set_text(&g->candidate, seen->candidate);
	gate_settle(t, seen->served);
	if (!g->known) { /* first sight: what is served is taken as it is */
		state_set_text(&g->served, seen->served);
		g->known = t->now;
	}
	if (is_overtaken(t, seen->served))
		return GATE_WAIT;
	if (is_at(g, ROLLBACK) && !gate_same(g->pinned, seen->served))
		return GATE_ROLL_BACK;
	if (is_barred(t, seen)) {
		set_step(g, NULL, NULL);
		return GATE_WAIT;
	}
	/* one that has moved on meanwhile was withdrawn, for all that is known */
	return is_at(g, PROMOTE) && gate_same(g->pinned, seen->candidate) ? GATE_PROMOTE : GATE_VALIDATE;
}

/* ------------------------------------------------------------------ judging */

void gate_pin(struct gate *t)
{
	AUTO(free) char *reason = memory_printf("%s is being validated", t->g->candidate);

	set_step(t->g, VALIDATE, t->g->candidate);
	set_phase(t, STATE_GATE_VALIDATING, reason);
}

bool gate_is_judging(const struct gate *t, const char *digest)
{
	return is_at(t->g, VALIDATE) && gate_same(t->g->pinned, digest);
}

bool gate_has_passed(const struct gate *t)
{
	return is_at(t->g, PROMOTE);
}

void gate_pass(struct gate *t)
{
	set_step(t->g, PROMOTE, t->g->pinned);
}

void gate_reject(struct gate *t, const char *reason)
{
	struct state_gate *g = t->g;

	state_reject(g, t->now, g->pinned, reason);
	tell(t, "gate.rejected", g->pinned, g->served, reason);
	set_step(g, NULL, NULL);
	set_phase(t, STATE_GATE_REJECTED, reason);
}

void gate_defer(struct gate *t)
{
	set_phase(t, STATE_GATE_OUTDATED, "the next round looks at the candidate");
}

/* ------------------------------------------------------------------ what an operator wants */

void gate_judge_again(struct gate *t, const char *digest)
{
	state_forgive(t->g, digest);
}

static void take_over(struct gate *t, const char *served)
{
	state_set_text(&t->g->served, served);
	state_set_text(&t->g->found, NULL);
	t->g->known = t->now;
	if (t->g->phase == STATE_GATE_NEW)
		set_phase(t, STATE_GATE_OUTDATED, NULL);
}

void gate_force(struct gate *t, const struct gate_seen *seen)
{
	struct state_gate *g = t->g;

	take_over(t, seen->served);
	state_forgive(g, seen->candidate);
	state_set_text(&g->held, NULL);
	g->hold = 0;
	set_step(g, PROMOTE, seen->candidate);
}

void gate_go_back(struct gate *t, const char *served, const char *to)
{
	/* where somebody took the tag away, what it was at is what is not wanted */
	state_set_text(&t->g->held, served ? served : t->g->served);
	take_over(t, served);
	set_step(t->g, ROLLBACK, to);
}

void gate_hold(struct gate *t)
{
	t->g->hold = t->now;
	set_step(t->g, NULL, NULL);
	set_phase(t, STATE_GATE_HELD, "by imgcheck gate hold");
}

/* The next round looks at it as for the first time, but for what was rejected. */
void gate_release(struct gate *t)
{
	struct state_gate *g = t->g;

	g->hold = 0;
	state_set_text(&g->held, NULL);
	set_step(g, NULL, NULL);
	gate_defer(t);
	if (g->found)
		g->known = 0;
	state_set_text(&g->found, NULL);
}
