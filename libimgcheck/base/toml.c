/* SPDX-License-Identifier: Apache-2.0 */
#include "toml.h"

#include <string.h>

#include "limits.h"
#include "text.h"
#include "toml_scan.h"

/*
 * While the text is read, tables can still grow (they are written in pieces), so that they are kept in a
 * tree of their own; it becomes the one of the document at the end.  All of it lives in the document.
 */
struct value {
	struct ic_node *node;
	struct entry *first, *last; /* of a table or an array */
	/*
	 * Whether and where a table was written out: 0 for one that only stands in front of others, else the
	 * number of the section.  The dotted keys of one section may add to one table, nobody else may.
	 */
	size_t section;
	bool closed;    /* an array or table written as a value: nothing can be added */
	bool of_tables; /* an array made by [[headers]] */
	unsigned depth;
};

struct entry {
	struct ic_node *key; /* NULL in an array */
	struct value *value;
	struct entry *next;
};

struct reader {
	struct ic_toml_scan scan;
	size_t keys;    /* read so far */
	size_t section; /* counts headers, from 1 */
	struct value *root, *table;
};

/* A key, dotted or not. */
struct path {
	struct ic_vec parts; /* struct ic_node * */
};

static int fail_at(const struct reader *r, const struct ic_node *key, struct imgcheck_error **err, const char *what)
{
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, r->scan.name, key->line, key->column,
	                       "cannot read this as TOML: \"%.200s\" %s", key->text, what);
}

/* ------------------------------------------------------------------ keys */

static int read_key_part(struct reader *r, struct ic_node **out, struct imgcheck_error **err)
{
	struct ic_toml_scan *s = &r->scan;
	size_t len = 0;
	int result;

	*out = NULL;
	if (r->keys++ == IC_MAX_TOML_KEYS)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, s->name, s->line, 0, "cannot read more than %zu keys",
		                       IC_MAX_TOML_KEYS);
	if (ic_toml_peek(s, 0) == '"' || ic_toml_peek(s, 0) == '\'')
		return ic_toml_quoted(s, out, err);
	while (ic_is_alnum(ic_toml_peek(s, len)) || ic_toml_peek(s, len) == '_' || ic_toml_peek(s, len) == '-')
		len++;
	if (len == 0)
		return ic_toml_fail(s, err, "a key is expected");
	result = ic_toml_take(s, len, out, err);
	/* Quoted, as all keys: a key is never anything but its text. */
	if (result == 0)
		(*out)->style = IC_STYLE_QUOTED;
	return result;
}

static void path_init(struct path *p)
{
	ic_vec_init(&p->parts, sizeof(struct ic_node *), IC_MAX_TOML_DEPTH);
}

static void ic_auto_path(struct path *p)
{
	ic_vec_clear(&p->parts);
}

static struct ic_node *part(const struct path *p, size_t i)
{
	return *(struct ic_node **)ic_vec_at(&p->parts, i);
}

static struct ic_node *last_part(const struct path *p)
{
	return part(p, p->parts.count - 1);
}

static int read_path(struct reader *r, struct path *p, struct imgcheck_error **err)
{
	struct ic_node *key;
	int result;

	do {
		ic_toml_blanks(&r->scan);
		result = read_key_part(r, &key, err);
		if (result == 0)
			result = ic_vec_push(&p->parts, &key, err);
		if (result < 0)
			return result;
		ic_toml_blanks(&r->scan);
	} while (ic_toml_peek(&r->scan, 0) == '.' && r->scan.at++);
	return 0;
}

/* ------------------------------------------------------------------ tables and arrays */

static int new_value(struct reader *r, unsigned depth, struct value **out, struct imgcheck_error **err)
{
	void *memory;
	int result;

	*out = NULL;
	if (depth > IC_MAX_TOML_DEPTH)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, r->scan.name, r->scan.line, 0,
		                       "cannot read what is nested more than %d levels deep", IC_MAX_TOML_DEPTH);
	result = ic_doc_alloc(r->scan.doc, sizeof(struct value), &memory, err);
	if (result < 0)
		return result;
	*out = memory;
	(*out)->depth = depth;
	return 0;
}

/* An empty table or array that starts at the place of the text. */
static int new_container(struct reader *r, enum ic_node_kind kind, unsigned depth, struct value **out,
                         struct imgcheck_error **err)
{
	void *memory;
	int result = new_value(r, depth, out, err);

	if (result == 0)
		result = ic_doc_alloc(r->scan.doc, sizeof(struct ic_node), &memory, err);
	if (result < 0)
		return result;
	(*out)->node = memory;
	(*out)->node->kind = kind;
	(*out)->node->line = r->scan.line;
	(*out)->node->column = (unsigned)(r->scan.at - r->scan.line_start) + 1;
	return 0;
}

static int append(struct reader *r, struct value *to, struct ic_node *key, struct value *value, struct imgcheck_error **err)
{
	struct entry *entry;
	void *memory;
	int result = ic_doc_alloc(r->scan.doc, sizeof(*entry), &memory, err);

	if (result < 0)
		return result;
	entry = memory;
	*entry = (struct entry){.key = key, .value = value};
	if (to->last)
		to->last->next = entry;
	else
		to->first = entry;
	to->last = entry;
	return 0;
}

static struct value *lookup(const struct value *table, const struct ic_node *key)
{
	for (const struct entry *e = table->first; e; e = e->next)
		if (e->key->len == key->len && memcmp(e->key->text, key->text, key->len) == 0)
			return e->value;
	return NULL;
}

static bool is_table(const struct value *v)
{
	return v->node->kind == IC_NODE_MAPPING;
}

static int add_table(struct reader *r, struct value *to, struct ic_node *key, struct value **out, struct imgcheck_error **err)
{
	int result = new_container(r, IC_NODE_MAPPING, to->depth + 1, out, err);

	return result < 0 ? result : append(r, to, key, *out, err);
}

/* The table below one part of a header that is not its last. */
static int enter(struct reader *r, struct value **table, struct ic_node *key, struct imgcheck_error **err)
{
	struct value *found = lookup(*table, key);

	if (!found)
		return add_table(r, *table, key, table, err);
	if (found->closed || (!is_table(found) && !found->of_tables))
		return fail_at(r, key, err, "is a value already, nothing can be added to it");
	*table = is_table(found) ? found : found->last->value;
	return 0;
}

static int open_table(struct reader *r, struct value *parent, struct ic_node *key, struct imgcheck_error **err)
{
	struct value *found = lookup(parent, key);
	int result = 0;

	if (!found)
		result = add_table(r, parent, key, &found, err);
	else if (!is_table(found) || found->closed || found->section)
		return fail_at(r, key, err, "is defined already");
	if (result < 0)
		return result;
	found->section = r->section;
	r->table = found;
	return 0;
}

static int open_table_of_array(struct reader *r, struct value *parent, struct ic_node *key, struct imgcheck_error **err)
{
	struct value *array = lookup(parent, key);
	int result = 0;

	if (!array) {
		result = new_container(r, IC_NODE_SEQUENCE, parent->depth + 1, &array, err);
		if (result == 0) {
			array->of_tables = true;
			result = append(r, parent, key, array, err);
		}
	} else if (!array->of_tables) {
		return fail_at(r, key, err, "is no array of tables");
	}
	if (result == 0)
		result = add_table(r, array, NULL, &r->table, err);
	if (result == 0)
		r->table->section = r->section;
	return result;
}

/* [table] or [[table]] */
static int read_header(struct reader *r, struct imgcheck_error **err)
{
	struct path p IC_AUTO(path);
	struct value *table = r->root;
	bool many = ic_toml_starts(&r->scan, "[[");
	int result;

	path_init(&p);
	r->section++;
	r->scan.at += many ? 2 : 1;
	result = read_path(r, &p, err);
	if (result < 0)
		return result;
	if (!ic_toml_starts(&r->scan, many ? "]]" : "]"))
		return ic_toml_fail(&r->scan, err, many ? "]] is expected" : "] is expected");
	r->scan.at += many ? 2 : 1;
	for (size_t i = 0; i + 1 < p.parts.count && result == 0; i++) {
		result = enter(r, &table, part(&p, i), err);
		if (result == 0 && !many)
			table->node->headed = true;
	}
	if (result == 0)
		result = many ? open_table_of_array(r, table, last_part(&p), err) : open_table(r, table, last_part(&p), err);
	if (result == 0)
		r->table->node->headed = !many;
	return result;
}

/* ------------------------------------------------------------------ values */

static int read_value(struct reader *r, unsigned depth, struct value **out, struct imgcheck_error **err);

/* The table below one part of a dotted key that is not its last. */
static int enter_dotted(struct reader *r, struct value **table, struct ic_node *key, struct imgcheck_error **err)
{
	struct value *found = lookup(*table, key);
	int result = 0;

	if (!found)
		result = add_table(r, *table, key, &found, err);
	else if (!is_table(found) || found->closed || (found->section && found->section != r->section))
		return fail_at(r, key, err, "is defined already, nothing can be added to it here");
	if (result < 0)
		return result;
	found->section = r->section;
	*table = found;
	return 0;
}

static int read_pair(struct reader *r, struct value *table, struct imgcheck_error **err)
{
	struct path p IC_AUTO(path);
	struct value *value;
	int result;

	path_init(&p);
	result = read_path(r, &p, err);
	if (result < 0)
		return result;
	if (ic_toml_peek(&r->scan, 0) != '=')
		return ic_toml_fail(&r->scan, err, "= is expected behind the key");
	r->scan.at++;
	for (size_t i = 0; i + 1 < p.parts.count && result == 0; i++)
		result = enter_dotted(r, &table, part(&p, i), err);
	if (result < 0)
		return result;
	if (lookup(table, last_part(&p)))
		return fail_at(r, last_part(&p), err, "is defined already");
	ic_toml_blanks(&r->scan);
	result = read_value(r, table->depth + 1, &value, err);
	return result < 0 ? result : append(r, table, last_part(&p), value, err);
}

/* Over blanks, line ends and comments, as they may stand between the values of an array. */
static int skip_lines(struct reader *r, struct imgcheck_error **err)
{
	int result;

	do {
		ic_toml_blanks(&r->scan);
		result = ic_toml_comment(&r->scan, err);
	} while (result == 0 && ic_toml_newline(&r->scan));
	return result;
}

static int read_array(struct reader *r, unsigned depth, struct value **out, struct imgcheck_error **err)
{
	struct value *item;
	int result = new_container(r, IC_NODE_SEQUENCE, depth, out, err);

	r->scan.at++;
	while (result == 0) {
		result = skip_lines(r, err);
		if (result < 0 || ic_toml_peek(&r->scan, 0) == ']')
			break;
		result = read_value(r, depth + 1, &item, err);
		if (result == 0)
			result = append(r, *out, NULL, item, err);
		if (result == 0)
			result = skip_lines(r, err);
		if (result < 0 || ic_toml_peek(&r->scan, 0) == ']')
			break;
		if (ic_toml_peek(&r->scan, 0) != ',')
			return ic_toml_fail(&r->scan, err, ", or ] is expected in an array");
		r->scan.at++;
	}
	r->scan.at += result == 0;
	return result;
}

/* On one line, and without a comma at the end. */
static int read_inline_table(struct reader *r, unsigned depth, struct value **out, struct imgcheck_error **err)
{
	int result = new_container(r, IC_NODE_MAPPING, depth, out, err);

	r->scan.at++;
	ic_toml_blanks(&r->scan);
	if (result == 0 && ic_toml_peek(&r->scan, 0) == '}') {
		r->scan.at++;
		return 0;
	}
	while (result == 0) {
		result = read_pair(r, *out, err);
		ic_toml_blanks(&r->scan);
		if (result < 0 || ic_toml_peek(&r->scan, 0) == '}')
			break;
		if (ic_toml_peek(&r->scan, 0) != ',')
			return ic_toml_fail(&r->scan, err, ", or } is expected in a table on one line");
		r->scan.at++;
	}
	r->scan.at += result == 0;
	return result;
}

static int read_value(struct reader *r, unsigned depth, struct value **out, struct imgcheck_error **err)
{
	int result;

	if (ic_toml_peek(&r->scan, 0) == '[') {
		result = read_array(r, depth, out, err);
	} else if (ic_toml_peek(&r->scan, 0) == '{') {
		result = read_inline_table(r, depth, out, err);
	} else {
		result = new_value(r, depth, out, err);
		return result < 0 ? result : ic_toml_scalar(&r->scan, &(*out)->node, err);
	}
	if (result == 0)
		(*out)->closed = true;
	return result;
}

/* ------------------------------------------------------------------ the whole text */

static int read_line(struct reader *r, struct imgcheck_error **err)
{
	int result = 0;

	ic_toml_blanks(&r->scan);
	if (ic_toml_peek(&r->scan, 0) == '[')
		result = read_header(r, err);
	else if (r->scan.at < r->scan.end && !strchr("#\r\n", *r->scan.at))
		result = read_pair(r, r->table, err);
	if (result < 0)
		return result;
	ic_toml_blanks(&r->scan);
	result = ic_toml_comment(&r->scan, err);
	if (result == 0 && r->scan.at < r->scan.end && !ic_toml_newline(&r->scan))
		return ic_toml_fail(&r->scan, err, "the end of the line is expected here");
	return result;
}

/* Depth is bounded by new_value(). */
static int finish(struct ic_doc *doc, const struct value *v, struct imgcheck_error **err)
{
	struct ic_item *last = NULL;

	if (v->node->kind == IC_NODE_SCALAR)
		return 0;
	for (const struct entry *e = v->first; e; e = e->next) {
		int result = finish(doc, e->value, err);

		if (result == 0)
			result = ic_doc_append(doc, v->node, &last, e->key, e->value->node, err);
		if (result < 0)
			return result;
	}
	return ic_doc_close(doc, v->node, err);
}

static int check_utf8(const struct ic_toml_scan *s, struct imgcheck_error **err)
{
	struct ic_toml_scan bad = *s;
	size_t offset = ic_text_utf8_check(s->at, (size_t)(s->end - s->at));

	if (offset == (size_t)(s->end - s->at))
		return 0;
	for (size_t i = 0; i < offset; i++)
		if (s->at[i] == '\n') {
			bad.line++;
			bad.line_start = s->at + i + 1;
		}
	bad.at += offset;
	return ic_toml_fail(&bad, err, "a byte that is not UTF-8");
}

int ic_toml_parse(const char *name, const char *text, size_t len, struct ic_doc **out, struct imgcheck_error **err)
{
	struct ic_doc *doc IC_AUTO(doc) = ic_doc_new(1);
	struct reader r = {.scan = {name, text, text + len, text, 1, doc}, .section = 1};
	int result;

	*out = NULL;
	if (!doc)
		return ic_error_nomem(err);
	result = check_utf8(&r.scan, err);
	if (result == 0)
		result = new_container(&r, IC_NODE_MAPPING, 0, &r.root, err);
	r.table = r.root;
	while (result == 0 && r.scan.at < r.scan.end)
		result = read_line(&r, err);
	if (result == 0)
		result = finish(doc, r.root, err);
	if (result < 0) {
		ic_error_place(err, name, r.scan.line, 0);
		return result;
	}
	doc->root = r.root->node;
	*out = IC_TAKE(doc);
	return 0;
}

const struct ic_node *ic_toml_get(const struct ic_node *table, const char *key)
{
	const struct ic_node *found = ic_node_get(table, key);

	if (!ic_node_is(table, IC_NODE_MAPPING))
		return NULL;
	for (const struct ic_item *i = table->items; i && !found; i = i->next)
		if (ic_text_equal_nocase(i->key->text, i->key->len, key))
			found = i->value;
	return found;
}

bool ic_toml_bool(const struct ic_node *node, bool *is)
{
	bool value = ic_node_equals(node, "true") && node->style == IC_STYLE_PLAIN;

	if (is)
		*is = value || (ic_node_equals(node, "false") && node->style == IC_STYLE_PLAIN);
	return value;
}
