/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_GATE_RULE_H
#define HOOKS_WATCH_GATE_RULE_H

/*
 * What is to be done about a gate, from what is remembered of it and where its tags are seen.  Pure: nobody is asked, and
 * the clock is the caller's.  gate.h does what is said here.
 *
 * Two steps are remembered before they begin, with the digest that they are about (pinned):
 *
 *   validate   the command judges the digest; after a crash it begins anew
 *   promote    the digest has passed: the backup tag is set to what is served, then the served tag to the digest
 *   rollback   an operator goes back: the served tag is set to the digest
 *
 * and a served tag that is found at the pinned digest of the latter two has got there, whatever became of the process
 * that set it.  So a process may end at any moment: what it began is then either done, or begun anew.
 *
 * Events: gate.promoted, gate.rejected, gate.rolledback; gate.outdated once, when a candidate cannot be judged or promoted,
 * until it can; gate.conflict when another writer has set the served tag.
 */

#include "config.h"
#include "state.h"

/* A gate at work. */
struct gate {
	const struct watch_gate *set;
	struct state *state;
	struct state_gate *g; /* in the state */
	long long now;        /* seconds since 1970 */
};

/* Where its tags are: digests, NULL where there is no such tag. */
struct gate_seen {
	const char *candidate, *served;
	const char *copy_fault; /* why the candidate could not be fetched from its source, or NULL */
};

enum gate_action {
	GATE_WAIT,     /* nothing: phase and reason tell why */
	GATE_VALIDATE, /* the candidate: gate_pin() first */
	GATE_PROMOTE,  /* the pinned digest: it has passed */
	GATE_ROLL_BACK /* to the pinned digest */
};

/* The served tag is where a step that was begun wanted it: the step is done, and told. */
void gate_settle(struct gate *t, const char *served);

/* Whether the served tag is where nobody of us has set it, and that is not known yet. */
bool gate_is_news(const struct gate *t, const char *served);

/* Takes in what was seen. */
enum gate_action gate_decide(struct gate *t, const struct gate_seen *seen);

/* The candidate is judged from here on; whether that is still so, after other commands could work on the state. */
void gate_pin(struct gate *t);
bool gate_is_judging(const struct gate *t, const char *digest);
bool gate_has_passed(const struct gate *t); /* ... and it was found good */

/* How the judgement ended. */
void gate_pass(struct gate *t);
void gate_reject(struct gate *t, const char *reason);

/* Nothing can be said or done about the candidate now: tried again in the next round. */
void gate_postpone(struct gate *t, const char *reason);

/* The candidate is left to the next round. */
void gate_defer(struct gate *t);

/* What an operator wants.  The served tag is where it was seen, whoever set it. */
void gate_force(struct gate *t, const struct gate_seen *seen);           /* the candidate is promoted as it is */
void gate_go_back(struct gate *t, const char *served, const char *to);   /* from the served digest, which is held then */
void gate_hold(struct gate *t);
void gate_release(struct gate *t);
void gate_judge_again(struct gate *t, const char *digest);               /* forgets that it was rejected */

/* Texts of digests, NULL for none. */
bool gate_same(const char *a, const char *b);

#endif
