/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "limits.h"
#include "text.h"

#define FIRST_BLOCK_BYTES ((size_t)16 << 10)
#define MOST_BLOCK_BYTES ((size_t)1 << 20)
#define FEW_KEYS 16 /* mappings up to here are sorted without an allocation */
#define NOTE_BYTES 512
#define NODE_BYTES 64 /* of a text that count as a node: to visit it costs as much */
#define MERGE_TAG "tag:yaml.org,2002:merge"

struct ic_block {
	struct ic_block *next;
	size_t used, size;
	max_align_t data[];
};

struct ic_doc *ic_doc_new(unsigned line)
{
	struct ic_doc *doc = calloc(1, sizeof(*doc));

	if (!doc)
		return NULL;
	doc->line = line;
	ic_vec_init(&doc->notes, sizeof(struct imgcheck_error *), IC_MAX_NOTES);
	return doc;
}

void ic_doc_free(struct ic_doc *doc)
{
	if (!doc)
		return;
	for (size_t i = 0; i < doc->notes.count; i++)
		imgcheck_error_free(*(struct imgcheck_error **)ic_vec_at(&doc->notes, i));
	ic_vec_clear(&doc->notes);
	while (doc->blocks) {
		struct ic_block *next = doc->blocks->next;

		explicit_bzero(doc->blocks->data, doc->blocks->used); /* manifests and configurations hold logins */
		free(doc->blocks);
		doc->blocks = next;
	}
	free(doc);
}

/* A further block with room for `bytes`, in front of the others. */
static int add_block(struct ic_doc *doc, size_t bytes, struct imgcheck_error **err)
{
	size_t size = doc->blocks ? 2 * doc->blocks->size : FIRST_BLOCK_BYTES;
	struct ic_block *block;

	if (size > MOST_BLOCK_BYTES)
		size = MOST_BLOCK_BYTES;
	if (size < bytes)
		size = bytes;
	if (size > IC_MAX_DOC_BYTES - doc->bytes)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot hold a document that needs more than %zu bytes",
		                    IC_MAX_DOC_BYTES);
	block = malloc(sizeof(*block) + size);
	if (!block)
		return ic_error_nomem(err);
	block->next = doc->blocks;
	block->used = 0;
	block->size = size;
	doc->blocks = block;
	doc->bytes += size;
	return 0;
}

int ic_doc_alloc(struct ic_doc *doc, size_t bytes, void **out, struct imgcheck_error **err)
{
	*out = NULL;
	if (bytes > IC_MAX_DOC_BYTES - sizeof(max_align_t))
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot hold %zu bytes in a document", bytes);
	bytes = (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
	if (!doc->blocks || doc->blocks->size - doc->blocks->used < bytes) {
		int result = add_block(doc, bytes, err);

		if (result < 0)
			return result;
	}
	*out = (char *)doc->blocks->data + doc->blocks->used;
	doc->blocks->used += bytes;
	memset(*out, 0, bytes);
	return 0;
}

int ic_doc_scalar(struct ic_doc *doc, const char *text, size_t len, struct ic_node **out, struct imgcheck_error **err)
{
	void *memory;
	char *copy;
	int result;

	*out = NULL;
	if (len > IC_MAX_SCALAR_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot hold a value longer than %zu bytes", IC_MAX_SCALAR_BYTES);
	result = ic_doc_alloc(doc, sizeof(struct ic_node) + len + 1, &memory, err);
	if (result < 0)
		return result;
	*out = memory;
	copy = (char *)memory + sizeof(struct ic_node);
	if (len)
		memcpy(copy, text, len);
	(*out)->kind = IC_NODE_SCALAR;
	(*out)->text = copy;
	(*out)->len = len;
	(*out)->nodes = 1 + len / NODE_BYTES;
	return 0;
}

int ic_doc_append(struct ic_doc *doc, struct ic_node *parent, struct ic_item **last, const struct ic_node *key,
                  const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_item *item;
	void *memory;
	int result = ic_doc_alloc(doc, sizeof(*item), &memory, err);

	if (result < 0)
		return result;
	item = memory;
	item->key = key;
	item->value = value;
	if (*last)
		(*last)->next = item;
	else
		parent->items = item;
	*last = item;
	parent->len++;
	return 0;
}

int ic_doc_reuse(struct ic_doc *doc, const struct ic_node *node, struct imgcheck_error **err)
{
	if (node->nodes > IC_MAX_ALIAS_NODES - doc->aliased)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot follow aliases that expand to more than %zu values",
		                    IC_MAX_ALIAS_NODES);
	doc->aliased += node->nodes;
	return 0;
}

int ic_doc_note(struct ic_doc *doc, const struct ic_node *node, struct imgcheck_error **err, const char *format, ...)
{
	struct imgcheck_error *note = NULL;
	char text[NOTE_BYTES];
	va_list arguments;
	int result;

	if (doc->notes.count == doc->notes.max)
		return 0;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (ic_error_set_at(&note, IMGCHECK_ERR_FINDING, NULL, node->line, node->column, "%s", text) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	result = ic_vec_push(&doc->notes, &note, err);
	if (result < 0)
		imgcheck_error_free(note);
	return result;
}

static bool is_merge_key(const struct ic_node *key)
{
	if (!ic_node_is(key, IC_NODE_SCALAR))
		return false;
	if (key->tag)
		return strcmp(key->tag, MERGE_TAG) == 0;
	return key->style == IC_STYLE_PLAIN && ic_text_equal(key->text, key->len, "<<");
}

/* What was merged so far goes on at *last. */
static int merge_mapping(struct ic_doc *doc, struct ic_node *into, struct ic_item **last, const struct ic_node *from,
                         struct imgcheck_error **err)
{
	if (from->kind != IC_NODE_MAPPING)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot merge (<<) what is not a mapping");
	for (const struct ic_item *i = from->items; i; i = i->next) {
		int result = ic_doc_reuse(doc, i->value, err);

		if (result == 0)
			result = ic_doc_append(doc, into, last, i->key, i->value, err);
		if (result < 0)
			return result;
		(*last)->merged = true;
	}
	return 0;
}

/* Puts the first `len` items, up to *tail, behind *last. */
static void append_items(struct ic_node *into, struct ic_item **last, struct ic_item *first, struct ic_item *tail, size_t len)
{
	if (*last)
		(*last)->next = first;
	else
		into->items = first;
	*last = tail;
	into->len += len;
}

/* Of several mappings the first wins, so it comes last. */
static int merge_sequence(struct ic_doc *doc, struct ic_node *into, struct ic_item **last, const struct ic_node *from,
                          struct imgcheck_error **err)
{
	struct ic_item *first = NULL, *tail = NULL;
	size_t len = 0;

	for (const struct ic_item *i = from->items; i; i = i->next) {
		struct ic_node block = {.kind = IC_NODE_MAPPING};
		struct ic_item *end = NULL;
		int result = merge_mapping(doc, &block, &end, i->value, err);

		if (result < 0)
			return result;
		if (!end)
			continue;
		end->next = first;
		first = block.items;
		len += block.len;
		tail = tail ? tail : end;
	}
	if (tail)
		append_items(into, last, first, tail, len);
	return 0;
}

static int merge_value(struct ic_doc *doc, struct ic_node *into, struct ic_item **last, const struct ic_node *value,
                       struct imgcheck_error **err)
{
	if (ic_node_is_null(value))
		return 0;
	return (value->kind == IC_NODE_SEQUENCE ? merge_sequence : merge_mapping)(doc, into, last, value, err);
}

/* Puts what a merge key brings in its place. */
static int merge(struct ic_doc *doc, struct ic_node *node, struct imgcheck_error **err)
{
	struct ic_item *item = node->items, *last = NULL;

	node->items = NULL;
	node->len = 0;
	for (struct ic_item *next; item; item = next) {
		int result = 0;

		next = item->next;
		item->next = NULL;
		if (is_merge_key(item->key))
			result = merge_value(doc, node, &last, item->value, err);
		else
			append_items(node, &last, item, item, 1);
		if (result < 0)
			return result;
	}
	return 0;
}

struct entry {
	struct ic_item *item;
	size_t order;
};

static int compare_keys(const struct entry *x, const struct entry *y)
{
	const struct ic_node *a = x->item->key, *b = y->item->key;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return a->len ? memcmp(a->text, b->text, a->len) : 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by_key = compare_keys(x, y);

	return by_key ? by_key : x->order < y->order ? -1 : 1;
}

/*
 * Of the entries of one key the last counts, also where a merge key behind a written one brings it, as kubectl has it;
 * other readers of YAML take the written one, which is told.
 */
static int choose(struct ic_doc *doc, const struct entry *group, size_t count, struct imgcheck_error **err)
{
	const struct ic_item *winner = group[count - 1].item, *written = NULL;

	for (size_t i = 0; i + 1 < count; i++) {
		struct ic_item *loser = group[i].item;

		loser->state = loser->merged ? IC_ITEM_GONE : IC_ITEM_HIDDEN;
		written = loser->merged ? written : loser;
	}
	if (!written)
		return 0;
	if (winner->merged)
		return ic_doc_note(doc, written->key, err, "the key \"%.200s\" is written, and a merge key (<<) behind it brings it "
		                   "again; kubectl takes the merged one", written->key->text);
	return ic_doc_note(doc, winner->key, err, "the key \"%.200s\" is written more than once; the last one counts",
	                   winner->key->text);
}

/* Takes the losers out of the items, and keeps the written ones apart. */
static void drop_losers(struct ic_node *node)
{
	struct ic_item **link = &node->items, **hidden = &node->hidden;

	node->len = 0;
	while (*link) {
		struct ic_item *item = *link;

		if (item->state == IC_ITEM_COUNTS) {
			node->len++;
			link = &item->next;
			continue;
		}
		*link = item->next;
		item->next = NULL;
		if (item->state == IC_ITEM_HIDDEN) {
			*hidden = item;
			hidden = &item->next;
		}
	}
}

static int sort_out(struct ic_doc *doc, struct ic_node *node, struct entry *entries, struct imgcheck_error **err)
{
	size_t count = 0, order = 0, end;
	bool lost = false;

	for (struct ic_item *i = node->items; i; i = i->next, order++)
		if (ic_node_is(i->key, IC_NODE_SCALAR))
			entries[count++] = (struct entry){i, order};
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t start = 0; start < count; start = end) {
		int result;

		for (end = start + 1; end < count && compare_keys(&entries[start], &entries[end]) == 0; end++)
			lost = true;
		result = end - start > 1 ? choose(doc, entries + start, end - start, err) : 0;
		if (result < 0)
			return result;
	}
	if (lost)
		drop_losers(node);
	return 0;
}

/* Whether two keys of a small mapping are the same, which is rare; comparing them all is less than sorting them. */
static bool has_twins(const struct ic_node *node)
{
	for (const struct ic_item *i = node->items; i; i = i->next)
		for (const struct ic_item *j = i->next; j; j = j->next)
			if (i->key->kind == IC_NODE_SCALAR && j->key->kind == IC_NODE_SCALAR && i->key->len == j->key->len &&
			    memcmp(i->key->text, j->key->text, i->key->len) == 0)
				return true;
	return false;
}

static int resolve_keys(struct ic_doc *doc, struct ic_node *node, struct imgcheck_error **err)
{
	struct entry few[FEW_KEYS], *many IC_AUTO(free) = NULL;
	bool merges = false;

	for (const struct ic_item *i = node->items; i && !merges; i = i->next)
		merges = is_merge_key(i->key);
	if (merges) {
		int result = merge(doc, node, err);

		if (result < 0)
			return result;
	}
	if (node->len <= FEW_KEYS && !has_twins(node))
		return 0;
	if (node->len > FEW_KEYS) {
		many = calloc(node->len, sizeof(*many));
		if (!many)
			return ic_error_nomem(err);
	}
	return sort_out(doc, node, many ? many : few, err);
}

int ic_doc_close(struct ic_doc *doc, struct ic_node *node, struct imgcheck_error **err)
{
	size_t nodes = 1;

	if (node->kind == IC_NODE_MAPPING) {
		int result = resolve_keys(doc, node, err);

		if (result < 0)
			return result;
	}
	for (const struct ic_item *i = node->items; i; i = i->next)
		nodes += i->value->nodes + (i->key ? i->key->nodes : 0);
	node->nodes = nodes;
	return 0;
}

const struct ic_item *ic_node_items(const struct ic_node *node)
{
	return node && node->kind != IC_NODE_SCALAR ? node->items : NULL;
}

bool ic_node_equals(const struct ic_node *node, const char *text)
{
	return ic_node_is(node, IC_NODE_SCALAR) && ic_text_equal(node->text, node->len, text);
}

const struct ic_node *ic_node_get(const struct ic_node *node, const char *key)
{
	size_t len;

	if (!ic_node_is(node, IC_NODE_MAPPING))
		return NULL;
	len = strlen(key);
	for (const struct ic_item *i = node->items; i; i = i->next)
		if (i->key->kind == IC_NODE_SCALAR && i->key->len == len && memcmp(i->key->text, key, len) == 0)
			return i->value;
	return NULL;
}

bool ic_node_is_null(const struct ic_node *node)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (!node)
		return true;
	if (node->kind != IC_NODE_SCALAR || node->style != IC_STYLE_PLAIN || node->tag)
		return false;
	for (size_t i = 0; i < IC_COUNT(nulls); i++)
		if (ic_text_equal(node->text, node->len, nulls[i]))
			return true;
	return false;
}

/* An integer or a fraction, with an exponent or not (YAML 1.1, the types int and float, without base 60). */
static bool is_number(const char *text)
{
	static const struct {
		const char *prefix, *set;
	} bases[] = {{"0x", "0123456789abcdefABCDEF_"}, {"0o", "01234567_"}, {"0b", "01_"}};
	size_t before, after = 0;

	text += *text == '-' || *text == '+';
	for (size_t i = 0; i < IC_COUNT(bases); i++)
		if (strncmp(text, bases[i].prefix, 2) == 0)
			return text[2] && text[2 + strspn(text + 2, bases[i].set)] == '\0';
	before = strspn(text, "0123456789_");
	text += before;
	if (*text == '.') {
		after = strspn(++text, "0123456789_");
		text += after;
	}
	if (before + after == 0)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		if (!strspn(text, "0123456789"))
			return false;
		text += strspn(text, "0123456789");
	}
	return *text == '\0';
}

static bool is_boolean(const char *text)
{
	static const char *const words[] = {"y",    "Y",    "yes",  "Yes",   "YES",   "n",     "N",  "no", "No", "NO",  "true",
	                                    "True", "TRUE", "false", "False", "FALSE", "on",    "On", "ON", "off", "Off", "OFF"};

	for (size_t i = 0; i < IC_COUNT(words); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

bool ic_node_is_string(const struct ic_node *node)
{
	if (!ic_node_is(node, IC_NODE_SCALAR) || ic_node_is_null(node))
		return false;
	if (node->style != IC_STYLE_PLAIN || node->tag || strlen(node->text) != node->len)
		return true;
	return !is_number(node->text) && !is_boolean(node->text);
}

const char *ic_node_text(const struct ic_node *node)
{
	if (!ic_node_is(node, IC_NODE_SCALAR) || ic_node_is_null(node) || memchr(node->text, '\0', node->len))
		return NULL;
	return node->text;
}

const char *ic_node_get_text(const struct ic_node *node, const char *key)
{
	return ic_node_text(ic_node_get(node, key));
}

static int convert(struct ic_doc *doc, json_t *value, unsigned depth, struct ic_node **out, struct imgcheck_error **err);

static int convert_scalar(struct ic_doc *doc, const json_t *value, struct ic_node **out, struct imgcheck_error **err)
{
	char number[64];
	int result;

	switch (json_typeof(value)) {
	case JSON_STRING:
		result = ic_doc_scalar(doc, json_string_value(value), json_string_length(value), out, err);
		if (result == 0)
			(*out)->style = IC_STYLE_QUOTED;
		return result;
	case JSON_INTEGER:
		(void)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return ic_doc_scalar(doc, number, strlen(number), out, err);
	case JSON_REAL:
		(void)snprintf(number, sizeof(number), "%.17g", json_real_value(value));
		return ic_doc_scalar(doc, number, strlen(number), out, err);
	case JSON_TRUE:
		return ic_doc_scalar(doc, "true", 4, out, err);
	case JSON_FALSE:
		return ic_doc_scalar(doc, "false", 5, out, err);
	case JSON_NULL:
		return ic_doc_scalar(doc, "null", 4, out, err);
	case JSON_OBJECT:
	case JSON_ARRAY:
		break;
	}
	return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot convert a JSON value");
}

static int convert_array(struct ic_doc *doc, json_t *array, unsigned depth, struct ic_node *node, struct imgcheck_error **err)
{
	struct ic_item *last = NULL;
	struct ic_node *value;

	for (size_t i = 0; i < json_array_size(array); i++) {
		int result = convert(doc, json_array_get(array, i), depth + 1, &value, err);

		if (result == 0)
			result = ic_doc_append(doc, node, &last, NULL, value, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static int convert_object(struct ic_doc *doc, json_t *object, unsigned depth, struct ic_node *node, struct imgcheck_error **err)
{
	struct ic_item *last = NULL;
	struct ic_node *key, *value;

	for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
		const char *name = json_object_iter_key(i); /* jansson's parser takes no NUL in a key */
		int result = ic_doc_scalar(doc, name, strlen(name), &key, err);

		if (result < 0)
			return result;
		key->style = IC_STYLE_QUOTED;
		key->line = doc->line;
		result = convert(doc, json_object_iter_value(i), depth + 1, &value, err);
		if (result == 0)
			result = ic_doc_append(doc, node, &last, key, value, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static int convert_container(struct ic_doc *doc, json_t *value, unsigned depth, struct ic_node **out, struct imgcheck_error **err)
{
	void *memory;
	int result;

	if (depth >= IC_MAX_DEPTH)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot read what is nested more than %d levels deep", IC_MAX_DEPTH);
	result = ic_doc_alloc(doc, sizeof(**out), &memory, err);
	if (result < 0)
		return result;
	*out = memory;
	if (json_is_array(value)) {
		(*out)->kind = IC_NODE_SEQUENCE;
		result = convert_array(doc, value, depth, *out, err);
	} else {
		(*out)->kind = IC_NODE_MAPPING;
		result = convert_object(doc, value, depth, *out, err);
	}
	return result < 0 ? result : ic_doc_close(doc, *out, err);
}

static int convert(struct ic_doc *doc, json_t *value, unsigned depth, struct ic_node **out, struct imgcheck_error **err)
{
	int result;

	*out = NULL;
	if (json_is_array(value) || json_is_object(value))
		result = convert_container(doc, value, depth, out, err);
	else
		result = convert_scalar(doc, value, out, err);
	if (result == 0)
		(*out)->line = doc->line;
	return result;
}

int ic_doc_from_json(json_t *value, unsigned line, struct ic_doc **out, struct imgcheck_error **err)
{
	struct ic_doc *doc IC_AUTO(doc) = ic_doc_new(line);
	int result;

	*out = NULL;
	if (!doc)
		return ic_error_nomem(err);
	result = convert(doc, value, 0, &doc->root, err);
	if (result == 0)
		*out = IC_TAKE(doc);
	return result;
}
