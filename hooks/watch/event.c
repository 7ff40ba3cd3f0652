/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "program/document.h"
#include "program/memory.h"

char *event_time(long long seconds)
{
	time_t when = (time_t)seconds;
	char text[32] = "";
	struct tm utc;

	if (gmtime_r(&when, &utc))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return memory_text(text);
}

/* Unique for this state, and the same for the same event. */
static char *event_id(const struct state *s, const struct state_event *e)
{
	return memory_printf("%s-%lld", s->id, e->number);
}

char *event_json(const struct state *s, const struct state_event *e)
{
	AUTO(json) json_t *event = document_object();
	AUTO(free) char *id = event_id(s, e), *type = memory_printf(EVENT_PREFIX "%s", e->type), *when = event_time(e->time);
	AUTO(free) char *source = memory_printf("/imgcheck/watch/%s", s->id);

	document_set_text(event, "specversion", "1.0");
	document_set_text(event, "id", id);
	document_set_text(event, "source", source);
	document_set_text(event, "type", type);
	document_set_text(event, "subject", e->subject);
	document_set_text(event, "time", when);
	document_set_text(event, "datacontenttype", "application/json");
	document_set(event, "data", json_incref(e->data));
	return memory_must(json_dumps(event, JSON_COMPACT));
}

/* A member of the data as a variable; what is neither text nor number is for those who read JSON. */
static void add_variable(const char *name, const json_t *value, struct lines *out)
{
	AUTO(free) char *upper = memory_text(name);

	for (char *c = upper; *c; c++)
		*c = (char)(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_');
	if (json_is_string(value))
		lines_addf(out, "IMGCHECK_%s=%s", upper, json_string_value(value));
	else if (json_is_integer(value))
		lines_addf(out, "IMGCHECK_%s=%lld", upper, (long long)json_integer_value(value));
}

void event_environment(const struct state *s, const struct state_event *e, struct lines *out)
{
	AUTO(free) char *id = event_id(s, e);
	const char *name;
	json_t *value;

	json_object_foreach(e->data, name, value)
		add_variable(name, value, out);
	/* last, so that they count */
	lines_addf(out, "IMGCHECK_EVENT=%s", e->type);
	lines_addf(out, "IMGCHECK_EVENT_ID=%s", id);
	lines_addf(out, "IMGCHECK_SUBJECT=%s", e->subject);
}

char *event_line(const struct state_event *e)
{
	AUTO(free) char *when = event_time(e->time);
	const char *digest = json_string_value(json_object_get(e->data, "digest"));
	const char *previous = json_string_value(json_object_get(e->data, "previous"));
	const char *reason = json_string_value(json_object_get(e->data, "reason"));

	return memory_printf("%s %s %s%s%s%s%s%s%s", when, e->type, e->subject, digest ? ": " : "", previous ? previous : "",
			     previous ? " -> " : "", digest ? digest : "", reason ? ": " : "", reason ? reason : "");
}
