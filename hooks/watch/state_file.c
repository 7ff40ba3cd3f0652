/* SPDX-License-Identifier: Apache-2.0 */
#include "state_file.h"

#include <stddef.h>
#include <string.h>

#include "program/document.h"
#include "program/memory.h"

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_WORD, FIELD_OBJECT };

/* One member of a record. */
struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;
	const char *(*word)(long long number); /* FIELD_WORD: its words, NULL past the last */
};

/* A list of records, told in the file as an object by their names, or as an array where they have none. */
struct table {
	const char *name; /* of the list in the file */
	const struct field *fields;
	size_t field_count;
	size_t size;      /* of a record */
	size_t most;
	size_t items, count; /* offsets in what holds the list */
	const struct table *inner; /* a list in each record, or NULL */
};

#define FIELD(record, kind, member) { #member, kind, offsetof(struct record, member), NULL }
#define WORD(record, member, words) { #member, FIELD_WORD, offsetof(struct record, member), words }

static const struct field image_fields[] = {
	FIELD(state_image, FIELD_TEXT, ref),
	WORD(state_image, condition, state_condition_name),
	FIELD(state_image, FIELD_TEXT, digest),
	FIELD(state_image, FIELD_TEXT, host),
	FIELD(state_image, FIELD_NUMBER, since),
	FIELD(state_image, FIELD_NUMBER, asked),
	FIELD(state_image, FIELD_NUMBER, misses),
	FIELD(state_image, FIELD_NUMBER, failing),
	FIELD(state_image, FIELD_TEXT, reason),
};

static const struct field rejected_fields[] = {
	FIELD(state_rejected, FIELD_TEXT, digest),
	FIELD(state_rejected, FIELD_TEXT, reason),
	FIELD(state_rejected, FIELD_NUMBER, time),
};

static const struct field gate_fields[] = {
	FIELD(state_gate, FIELD_TEXT, name),
	WORD(state_gate, phase, state_phase_name),
	FIELD(state_gate, FIELD_NUMBER, since),
	FIELD(state_gate, FIELD_TEXT, reason),
	FIELD(state_gate, FIELD_TEXT, candidate),
	FIELD(state_gate, FIELD_TEXT, served),
	FIELD(state_gate, FIELD_TEXT, previous),
	FIELD(state_gate, FIELD_TEXT, pinned),
	FIELD(state_gate, FIELD_TEXT, step),
	FIELD(state_gate, FIELD_TEXT, held),
	FIELD(state_gate, FIELD_NUMBER, hold),
	FIELD(state_gate, FIELD_TEXT, found),
	FIELD(state_gate, FIELD_NUMBER, outdated),
	FIELD(state_gate, FIELD_NUMBER, known),
};

static const struct field event_fields[] = {
	FIELD(state_event, FIELD_NUMBER, number),
	FIELD(state_event, FIELD_NUMBER, time),
	FIELD(state_event, FIELD_TEXT, type),
	FIELD(state_event, FIELD_TEXT, subject),
	FIELD(state_event, FIELD_OBJECT, data),
};

static const struct field sink_fields[] = {
	FIELD(state_sink, FIELD_TEXT, name),
	FIELD(state_sink, FIELD_NUMBER, told),
	FIELD(state_sink, FIELD_NUMBER, seen),
	FIELD(state_sink, FIELD_NUMBER, failures),
	FIELD(state_sink, FIELD_NUMBER, not_before),
	FIELD(state_sink, FIELD_TEXT, reason),
};

static const struct field host_fields[] = {
	FIELD(state_host, FIELD_TEXT, name),
	FIELD(state_host, FIELD_NUMBER, until),
	FIELD(state_host, FIELD_NUMBER, round),
	FIELD(state_host, FIELD_TEXT, reason),
};

#define FIELDS(fields) fields, COUNT(fields)

static const struct table rejected_table = {
	"rejected", FIELDS(rejected_fields), sizeof(struct state_rejected), STATE_MOST_REJECTED,
	offsetof(struct state_gate, rejected), offsetof(struct state_gate, rejected_count), NULL
};

static const struct table tables[] = {
	{ "images", FIELDS(image_fields), sizeof(struct state_image), STATE_MOST_IMAGES, offsetof(struct state, images),
	  offsetof(struct state, image_count), NULL },
	{ "gates", FIELDS(gate_fields), sizeof(struct state_gate), STATE_MOST_GATES, offsetof(struct state, gates),
	  offsetof(struct state, gate_count), &rejected_table },
	{ "events", FIELDS(event_fields), sizeof(struct state_event), STATE_MOST_EVENTS, offsetof(struct state, events),
	  offsetof(struct state, event_count), NULL },
	{ "sinks", FIELDS(sink_fields), sizeof(struct state_sink), STATE_MOST_SINKS, offsetof(struct state, sinks),
	  offsetof(struct state, sink_count), NULL },
	{ "hosts", FIELDS(host_fields), sizeof(struct state_host), STATE_MOST_HOSTS, offsetof(struct state, hosts),
	  offsetof(struct state, host_count), NULL },
};

/* What the file says of itself. */
static const struct field state_fields[] = {
	FIELD(state, FIELD_TEXT, id),
	FIELD(state, FIELD_TEXT, shard),
	FIELD(state, FIELD_NUMBER, last_event),
	FIELD(state, FIELD_NUMBER, round),
	FIELD(state, FIELD_NUMBER, rounds),
};

/* Where a member of a record is. */
static void *at(void *record, size_t offset)
{
	return (char *)record + offset;
}

static const void *at_const(const void *record, size_t offset)
{
	return (const char *)record + offset;
}

/* The list of a table: a pointer to records of whatever kind. */
static char *get_items(const void *holder, const struct table *t)
{
	char *items;

	memcpy(&items, at_const(holder, t->items), sizeof(items));
	return items;
}

static char *new_items(void *holder, const struct table *t, size_t count)
{
	char *items = memory_grow(NULL, count, t->size);

	memset(items, 0, count * t->size);
	memcpy(at(holder, t->items), &items, sizeof(items));
	return items;
}

/* ------------------------------------------------------------------ writing */

static void write_field(json_t *out, const void *record, const struct field *f)
{
	const void *member = at_const(record, f->offset);
	long long number = f->kind == FIELD_NUMBER || f->kind == FIELD_WORD ? *(const long long *)member : 0;

	switch (f->kind) {
	case FIELD_TEXT:
		if (*(char *const *)member)
			document_set_text(out, f->name, *(char *const *)member);
		break;
	case FIELD_NUMBER:
		if (number)
			document_set_number(out, f->name, number);
		break;
	case FIELD_WORD:
		document_set_text(out, f->name, f->word(number));
		break;
	case FIELD_OBJECT:
		document_set(out, f->name, json_incref(*(json_t *const *)member));
		break;
	}
}

static void write_table(json_t *out, const void *holder, const struct table *t)
{
	const char *items = get_items(holder, t);
	size_t count = *(const size_t *)at_const(holder, t->count);
	json_t *list = document_array();

	for (size_t i = 0; i < count; i++) {
		const void *record = items + i * t->size;
		json_t *object = document_object();

		for (size_t k = 0; k < t->field_count; k++)
			write_field(object, record, &t->fields[k]);
		if (t->inner)
			write_table(object, record, t->inner);
		document_add(list, object);
	}
	document_set(out, t->name, list);
}

json_t *state_file_write(const struct state *s)
{
	json_t *document = document_object();

	document_set_number(document, "version", STATE_VERSION);
	for (size_t i = 0; i < COUNT(state_fields); i++)
		write_field(document, s, &state_fields[i]);
	for (size_t i = 0; i < COUNT(tables); i++)
		write_table(document, s, &tables[i]);
	return document;
}

/* ------------------------------------------------------------------ reading */

static bool read_word(const struct field *f, const char *text, long long *out)
{
	for (long long i = 0; text && f->word(i); i++)
		if (!strcmp(f->word(i), text)) {
			*out = i;
			return true;
		}
	return false;
}

/* False: the value cannot be that member.  Only what may be absent is absent: see the first field of each table. */
static bool read_field(void *record, const struct field *f, json_t *value)
{
	void *member = at(record, f->offset);

	switch (f->kind) {
	case FIELD_TEXT:
		if (!value)
			return true;
		if (!json_is_string(value) || json_string_length(value) > 2 * STATE_MOST_TEXT)
			return false;
		*(char **)member = memory_text(json_string_value(value));
		return true;
	case FIELD_NUMBER:
		*(long long *)member = json_integer_value(value);
		return !value || (json_is_integer(value) && json_integer_value(value) >= 0 &&
				  json_integer_value(value) <= STATE_MOST_NUMBER);
	case FIELD_WORD:
		return read_word(f, json_string_value(value), member);
	case FIELD_OBJECT:
		*(json_t **)member = json_is_object(value) ? json_incref(value) : document_object();
		return json_is_object(value);
	}
	return false;
}

static char *read_table(void *holder, const struct table *t, const json_t *list);

static char *read_record(void *record, const struct table *t, const json_t *object)
{
	if (!json_object_get(object, t->fields[0].name))
		return memory_printf("an entry of '%s' lacks its '%s'", t->name, t->fields[0].name);
	for (size_t i = 0; i < t->field_count; i++)
		if (!read_field(record, &t->fields[i], json_object_get(object, t->fields[i].name)))
			return memory_printf("'%s' in '%s' has a value that it cannot have", t->fields[i].name, t->name);
	return t->inner ? read_table(record, t->inner, json_object_get(object, t->inner->name)) : NULL;
}

static char *read_table(void *holder, const struct table *t, const json_t *list)
{
	size_t *count = at(holder, t->count), size = json_array_size(list);
	char *items, *fault = NULL;

	if (!json_is_array(list))
		return memory_printf("'%s' is not there, or no list", t->name);
	if (size > t->most)
		return memory_printf("'%s' has %zu entries, more than %zu", t->name, size, t->most);
	items = new_items(holder, t, size);
	for (; !fault && *count < size; (*count)++)
		fault = read_record(items + *count * t->size, t, json_array_get(list, *count));
	return fault;
}

char *state_file_read(struct state *s, const json_t *document)
{
	char *fault = NULL;

	for (size_t i = 0; i < COUNT(state_fields); i++)
		if (!read_field(s, &state_fields[i], json_object_get(document, state_fields[i].name)))
			return memory_printf("'%s' has a value that it cannot have", state_fields[i].name);
	if (!s->id)
		return memory_text("it has no 'id'");
	for (size_t i = 0; i < COUNT(tables) && !fault; i++)
		fault = read_table(s, &tables[i], json_object_get(document, tables[i].name));
	return fault;
}

/* ------------------------------------------------------------------ the end */

static void clear_field(void *record, const struct field *f)
{
	switch (f->kind) {
	case FIELD_TEXT:
		free(*(char **)at(record, f->offset));
		break;
	case FIELD_OBJECT:
		json_decref(*(json_t **)at(record, f->offset));
		break;
	case FIELD_NUMBER:
	case FIELD_WORD:
		break;
	}
}

static void clear_table(void *holder, const struct table *t)
{
	char *items = get_items(holder, t);
	size_t count = *(size_t *)at(holder, t->count);

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < t->field_count; k++)
			clear_field(items + i * t->size, &t->fields[k]);
		if (t->inner)
			clear_table(items + i * t->size, t->inner);
	}
	free(items);
}

void state_file_clear(struct state *s)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		clear_table(s, &tables[i]);
	for (size_t i = 0; i < COUNT(state_fields); i++)
		clear_field(s, &state_fields[i]);
}
