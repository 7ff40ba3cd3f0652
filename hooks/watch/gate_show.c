/* SPDX-License-Identifier: Apache-2.0 */
/* What a gate is like, since when and why: from the state alone, so that it can be told at any time. */
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "gate.h"
#include "program/document.h"

static void set_time(json_t *object, const char *name, long long seconds)
{
	AUTO(free) char *text = seconds ? event_time(seconds) : NULL;

	document_set_text(object, name, text);
}

static void set_tag(json_t *object, const char *name, const char *reference, const char *digest)
{
	json_t *tag = document_object();

	document_set_text(tag, "reference", reference);
	document_set_text(tag, "digest", digest);
	document_set(object, name, tag);
}

static json_t *rejected_document(const struct state_gate *g)
{
	json_t *all = document_array();

	for (size_t i = 0; i < g->rejected_count; i++) {
		json_t *one = document_object();

		document_set_text(one, "digest", g->rejected[i].digest);
		set_time(one, "time", g->rejected[i].time);
		document_set_text(one, "reason", g->rejected[i].reason);
		document_add(all, one);
	}
	return all;
}

static json_t *one_document(const struct watch_gate *set, const struct state_gate *g)
{
	static const struct state_gate none = { .phase = STATE_GATE_NEW };
	json_t *object = document_object();
	bool unseen = !g || (g->phase == STATE_GATE_NEW && !g->reason);

	g = g ? g : &none;
	document_set_text(object, "name", set->name);
	document_set_text(object, "phase", state_phase_name(g->phase));
	set_time(object, "since", g->since);
	document_set_text(object, "reason", unseen ? "no round has looked at it yet" : g->reason);
	set_tag(object, "candidate", set->candidate, g->candidate);
	set_tag(object, "served", set->served, g->served);
	set_tag(object, "backup", set->backup, g->previous);
	document_set_text(object, "held", g->held);
	set_time(object, "hold", g->hold);
	document_set(object, "rejected", rejected_document(g));
	return object;
}

json_t *gate_document(const struct watch_config *c, const char *name, const struct state *s)
{
	json_t *document = document_object(), *all = document_array();

	for (size_t i = 0; i < c->gate_count; i++)
		if (!name || !strcmp(name, c->gates[i].name))
			document_add(all, one_document(&c->gates[i], state_find_gate(s, c->gates[i].name)));
	document_set(document, "gates", all);
	return document;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void print_tag(const json_t *gate, const char *name, FILE *out)
{
	const json_t *tag = json_object_get(gate, name);
	const char *digest = text_of(tag, "digest");

	fprintf(out, "  %-9s  %s  %s\n", name, text_of(tag, "reference"), digest ? digest : "-");
}

static void print_one(const json_t *gate, FILE *out)
{
	const char *since = text_of(gate, "since"), *reason = text_of(gate, "reason");
	const json_t *rejected;
	size_t i;

	fprintf(out, "%s: %s%s%s%s%s\n", text_of(gate, "name"), text_of(gate, "phase"), since ? " since " : "", since ? since : "",
		reason ? ": " : "", reason ? reason : "");
	print_tag(gate, "candidate", out);
	print_tag(gate, "served", out);
	print_tag(gate, "backup", out);
	json_array_foreach(json_object_get(gate, "rejected"), i, rejected)
		fprintf(out, "  rejected   %s  %s  %s\n", text_of(rejected, "digest"), text_of(rejected, "time"),
			text_of(rejected, "reason"));
}

void gate_print(const json_t *document, FILE *out)
{
	const json_t *gate;
	size_t i;

	json_array_foreach(json_object_get(document, "gates"), i, gate)
		print_one(gate, out);
}
