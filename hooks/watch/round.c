/* SPDX-License-Identifier: Apache-2.0 */
#include "round.h"

#include <string.h>

#include "program/document.h"
#include "pull.h"

/* What it means for nodes. */
static void tell_nodes(json_t *data, enum pull_case what, unsigned pulls)
{
	AUTO(free) char *text = pull_text(what, pulls);

	document_set_text(data, "nodes", text);
}

/* Adds an event about the image as it is now: its data, borrowed. */
static json_t *tell(struct state *s, const struct state_image *m, long long now, const char *type, const char *previous)
{
	json_t *data = document_object();

	document_set_text(data, "reference", m->ref);
	document_set_text(data, "digest", m->digest);
	if (previous)
		document_set_text(data, "previous", previous);
	if (m->host)
		document_set_text(data, "host", m->host);
	if (m->reason)
		document_set_text(data, "reason", m->reason);
	if (m->misses)
		document_set_number(data, "rounds", m->misses);
	state_add_event(s, now, type, m->ref, data);
	return data;
}

static void take_unsure(struct state *s, struct state_image *m, const struct answer *a, long long now)
{
	m->misses++;
	state_set_text(&m->reason, a->reason);
	if (m->misses < (a->asked ? ROUND_MISSES : ROUND_TURNS) || m->failing)
		return;
	m->failing = now;
	tell(s, m, now, "image.failing", NULL);
}

static void take_present(struct state *s, struct state_image *m, const struct answer *a, long long now)
{
	bool other = m->digest && strcmp(m->digest, a->digest);
	char *previous = other ? TAKE(m->digest) : NULL;
	enum state_condition before = (enum state_condition)m->condition;

	m->condition = STATE_PRESENT;
	state_set_text(&m->digest, a->digest);
	if (before != STATE_PRESENT || other)
		m->since = now;
	if (before == STATE_GONE)
		tell(s, m, now, "image.back", previous);
	else if (before == STATE_PRESENT && other)
		tell_nodes(tell(s, m, now, "image.changed", previous), PULL_MOVED, a->pulls);
	free(previous);
}

static void take_gone(struct state *s, struct state_image *m, const struct answer *a, long long now)
{
	enum state_condition before = (enum state_condition)m->condition;

	state_set_text(&m->reason, a->reason);
	m->condition = STATE_GONE;
	if (before != STATE_GONE)
		m->since = now;
	if (before == STATE_PRESENT)
		tell_nodes(tell(s, m, now, "image.gone", NULL), PULL_GONE, a->pulls);
}

static void recover(struct state *s, struct state_image *m, long long now)
{
	state_set_text(&m->reason, NULL);
	if (m->failing)
		tell(s, m, now, "image.recovered", NULL);
	m->failing = 0;
	m->misses = 0;
}

bool round_take(struct state *s, const struct answer *a, long long now)
{
	struct state_image *m = a->kind == ANSWER_SKIPPED ? NULL : state_image(s, a->ref);

	if (a->kind == ANSWER_SKIPPED)
		return true;
	if (!m)
		return false;
	m->used = true;
	if (a->asked)
		m->asked = s->rounds;
	if (a->host)
		state_set_text(&m->host, a->host);
	if (a->kind == ANSWER_UNSURE) {
		take_unsure(s, m, a, now);
		return true;
	}
	recover(s, m, now);
	if (a->kind == ANSWER_PRESENT)
		take_present(s, m, a, now);
	else
		take_gone(s, m, a, now);
	return true;
}
