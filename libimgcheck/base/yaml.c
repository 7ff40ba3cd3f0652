/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml.h"

#include <string.h>
#include <yaml.h>

#include "limits.h"

#define ANCHOR_BUCKETS 4096
#define BYTE_ORDER_MARK 0xfeff

/* A sequence or mapping that is still open. */
struct frame {
	struct ic_node *node;
	struct ic_item *last;
	const struct ic_node *key; /* of a mapping: written, its value not yet */
};

struct anchor {
	struct anchor *next;
	const char *name;
	struct ic_node *node;
};

struct ic_yaml {
	yaml_parser_t parser;
	const char *name;
	ic_yaml_read_fn read;
	void *arg;
	const char *text; /* where the source is memory */
	size_t left;
	bool ready, done;

	/* The source as it is handed to libyaml. */
	unsigned char pending[3]; /* the start of a character whose rest was not read yet */
	size_t pending_len;
	unsigned line, column;    /* of the next character, from 1 */
	bool after_cr;
	size_t characters;        /* handed over so far */
	size_t since_event;       /* bytes read since the last event */
	struct imgcheck_error *cut; /* why the input ends early, or NULL */

	/* The document in work. */
	struct ic_doc *doc;
	struct ic_vec frames; /* struct frame */
	struct anchor **anchors; /* ANCHOR_BUCKETS lists in the document's memory, or NULL */
	size_t anchor_count;
};

static int read_memory(void *arg, char *out, size_t size, size_t *got, struct imgcheck_error **err)
{
	struct ic_yaml *y = arg;

	(void)err;
	*got = size < y->left ? size : y->left;
	if (*got)
		memcpy(out, y->text, *got);
	y->text += *got;
	y->left -= *got;
	return 0;
}

/* Length of the character that starts with this byte, 0 where none can. */
static size_t character_length(unsigned char c)
{
	return c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* The code point of a whole sequence of n bytes, or 0 where it is no valid UTF-8 (Unicode, table 3-7). */
static unsigned decode(const unsigned char *p, size_t n)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned code = n == 1 ? p[0] : p[0] & (0x7fU >> n);

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fU);
	}
	return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : code;
}

/* The characters that YAML 1.1 (5.1) takes; a byte order mark is looked at before. */
static bool is_allowed(unsigned code)
{
	return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0x7f) || code == 0x85 ||
	       (code >= 0xa0 && code < 0xfffe && code != BYTE_ORDER_MARK) || code >= 0x10000;
}

static void advance(struct ic_yaml *y, unsigned char c)
{
	y->characters++;
	if (c == '\n' && y->after_cr) {
		y->after_cr = false;
		return;
	}
	y->after_cr = c == '\r';
	if (c == '\n' || c == '\r') {
		y->line++;
		y->column = 1;
	} else {
		y->column++;
	}
}

/* Most of any text: as many bytes as are printable ASCII, and no ends of lines. */
static size_t plain_run(const unsigned char *data, size_t len)
{
	size_t n = 0;

	while (n < len && data[n] >= 0x20 && data[n] < 0x7f)
		n++;
	return n;
}

static void advance_plain(struct ic_yaml *y, size_t n)
{
	y->characters += n;
	y->column += (unsigned)n;
	y->after_cr = false;
}

static void cut_at(struct ic_yaml *y, unsigned char byte, bool is_utf8)
{
	if (is_utf8)
		(void)ic_error_set_at(&y->cut, IMGCHECK_ERR_SYNTAX, y->name, y->line, y->column,
		                      "cannot read YAML: a control character or byte order mark (byte 0x%02x), which text must not hold",
		                      byte);
	else
		(void)ic_error_set_at(&y->cut, IMGCHECK_ERR_SYNTAX, y->name, y->line, y->column,
		                      "cannot read YAML: invalid UTF-8 (byte 0x%02x); save the file as UTF-8", byte);
}

/* The whole character at data, or 0 where it is none; *n is its length. */
static unsigned next_character(const unsigned char *data, size_t len, size_t *n)
{
	*n = character_length(data[0]);
	return *n == 0 || *n > len ? 0 : decode(data, *n);
}

static size_t move(unsigned char *data, size_t to, size_t from, size_t n)
{
	if (to != from)
		memmove(data + to, data + from, n);
	return n;
}

/*
 * Takes byte order marks at the start of a line out of data, keeps the start of an unfinished character
 * for the next time and stops before a byte that is no text.  Returns the number of bytes that are left.
 */
static size_t filter(struct ic_yaml *y, unsigned char *data, size_t len, bool at_end)
{
	size_t kept = 0, n;

	for (size_t i = 0; i < len; i += n) {
		unsigned code;

		n = plain_run(data + i, len - i);
		if (n > 0) {
			advance_plain(y, n);
			kept += move(data, kept, i, n);
			continue;
		}
		code = next_character(data + i, len - i, &n);
		if (n > len - i && !at_end) {
			y->pending_len = len - i;
			memcpy(y->pending, data + i, len - i);
			break;
		}
		if (code == BYTE_ORDER_MARK && y->column == 1)
			continue;
		if (!is_allowed(code)) {
			cut_at(y, data[i], code != 0 || data[i] == 0);
			break;
		}
		advance(y, data[i]);
		kept += move(data, kept, i, n);
	}
	return kept;
}

/* yaml_read_handler_t: 0 stops libyaml, and y->cut says why. */
static int feed(void *arg, unsigned char *out, size_t size, size_t *size_read)
{
	struct ic_yaml *y = arg;

	*size_read = 0;
	while (!y->cut && *size_read == 0) {
		size_t before = y->pending_len, got;

		memcpy(out, y->pending, before);
		y->pending_len = 0;
		if (y->read(y->arg, (char *)out + before, size - before, &got, &y->cut) < 0)
			return 0;
		y->since_event += got;
		if (y->since_event > 2 * IC_MAX_SCALAR_BYTES) {
			(void)ic_error_set_at(&y->cut, IMGCHECK_ERR_LIMIT, y->name, y->line, 0,
			                      "cannot read a single value or comment of more than %zu bytes", IC_MAX_SCALAR_BYTES);
			return 0;
		}
		*size_read = filter(y, out, before + got, got == 0);
		if (got == 0)
			break;
	}
	return 1;
}

int ic_yaml_new(const char *name, ic_yaml_read_fn read, void *arg, struct ic_yaml **out, struct imgcheck_error **err)
{
	struct ic_yaml *y = calloc(1, sizeof(*y));

	*out = NULL;
	if (!y)
		return ic_error_nomem(err);
	ic_vec_init(&y->frames, sizeof(struct frame), IC_MAX_DEPTH);
	y->name = name;
	y->read = read;
	y->arg = arg;
	y->line = y->column = 1;
	if (!yaml_parser_initialize(&y->parser)) {
		free(y);
		return ic_error_nomem(err);
	}
	y->ready = true;
	yaml_parser_set_encoding(&y->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input(&y->parser, feed, y);
	*out = y;
	return 0;
}

int ic_yaml_new_text(const char *name, const char *text, size_t len, struct ic_yaml **out, struct imgcheck_error **err)
{
	int result = ic_yaml_new(name, read_memory, NULL, out, err);

	if (result < 0)
		return result;
	(*out)->arg = *out;
	(*out)->text = text;
	(*out)->left = len;
	return 0;
}

void ic_yaml_free(struct ic_yaml *y)
{
	if (!y)
		return;
	yaml_parser_delete(&y->parser);
	imgcheck_error_free(y->cut);
	ic_doc_free(y->doc);
	ic_vec_clear(&y->frames);
	free(y);
}

/* Hands y->cut over to the caller. */
static int report_cut(struct ic_yaml *y, struct imgcheck_error **err)
{
	int result = imgcheck_error_code(y->cut);

	if (err && !*err)
		*err = IC_TAKE(y->cut);
	return result;
}

static int report_parser(struct ic_yaml *y, struct imgcheck_error **err)
{
	const yaml_parser_t *p = &y->parser;
	const char *problem = p->problem ? p->problem : "unknown problem";
	unsigned line, column;

	if (p->error == YAML_MEMORY_ERROR)
		return ic_error_nomem(err);
	/* libyaml reads ahead: what it finds before the cut is the first error. */
	if (y->cut && (p->error == YAML_READER_ERROR || p->problem_mark.index >= y->characters))
		return report_cut(y, err);
	line = (unsigned)p->problem_mark.line + 1;
	column = (unsigned)p->problem_mark.column + 1;
	if (p->context)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, y->name, line, column,
		                       "cannot read YAML: syntax error: %s, %s that starts on line %zu", problem, p->context,
		                       p->context_mark.line + 1);
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, y->name, line, column, "cannot read YAML: syntax error: %s", problem);
}

/* The next event; one of the stream's end where the input was cut is the cut's error. */
static int next_event(struct ic_yaml *y, yaml_event_t *event, struct imgcheck_error **err)
{
	y->since_event = 0;
	if (!yaml_parser_parse(&y->parser, event))
		return report_parser(y, err);
	if (event->type == YAML_STREAM_END_EVENT && y->cut)
		return report_cut(y, err);
	return 0;
}

static size_t bucket_of(const char *name)
{
	size_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % ANCHOR_BUCKETS;
}

static struct ic_node *find_anchor(const struct ic_yaml *y, const char *name)
{
	const struct anchor *a = y->anchors ? y->anchors[bucket_of(name)] : NULL;

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	return a ? a->node : NULL;
}

static int copy_text(struct ic_doc *doc, const char *text, const char **out, struct imgcheck_error **err)
{
	size_t len = strlen(text);
	void *memory;
	int result = ic_doc_alloc(doc, len + 1, &memory, err);

	if (result == 0)
		*out = memcpy(memory, text, len);
	return result;
}

/* A later anchor of the same name hides the earlier one. */
static int add_anchor(struct ic_yaml *y, const char *name, struct ic_node *node, struct imgcheck_error **err)
{
	struct anchor *a;
	void *memory;
	int result;

	if (!y->anchors) {
		result = ic_doc_alloc(y->doc, ANCHOR_BUCKETS * sizeof(struct anchor *), &memory, err);
		if (result < 0)
			return result;
		y->anchors = memory;
	}
	if (++y->anchor_count > IC_MAX_ANCHORS)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot read more than %zu anchors in a document", IC_MAX_ANCHORS);
	result = ic_doc_alloc(y->doc, sizeof(*a), &memory, err);
	if (result < 0)
		return result;
	a = memory;
	a->node = node;
	result = copy_text(y->doc, name, &a->name, err);
	if (result < 0)
		return result;
	a->next = y->anchors[bucket_of(name)];
	y->anchors[bucket_of(name)] = a;
	return 0;
}

static struct frame *top(const struct ic_yaml *y)
{
	return y->frames.count ? ic_vec_at(&y->frames, y->frames.count - 1) : NULL;
}

/* Puts a node where it stands: as root, entry, key or value. */
static int place(struct ic_yaml *y, struct ic_node *node, struct imgcheck_error **err)
{
	struct frame *f = top(y);
	const struct ic_node *key;

	if (!f) {
		y->doc->root = node;
		return 0;
	}
	if (f->node->kind == IC_NODE_MAPPING && !f->key) {
		f->key = node;
		return 0;
	}
	key = f->key;
	f->key = NULL;
	return ic_doc_append(y->doc, f->node, &f->last, key, node, err);
}

static int finish_node(struct ic_yaml *y, struct ic_node *node, const yaml_event_t *event, const yaml_char_t *anchor,
                       const yaml_char_t *tag, struct imgcheck_error **err)
{
	int result = 0;

	node->line = (unsigned)event->start_mark.line + 1;
	node->column = (unsigned)event->start_mark.column + 1;
	if (tag)
		result = copy_text(y->doc, (const char *)tag, &node->tag, err);
	if (result == 0 && anchor)
		result = add_anchor(y, (const char *)anchor, node, err);
	return result < 0 ? result : place(y, node, err);
}

static enum ic_node_style style_of(yaml_scalar_style_t style)
{
	switch (style) {
	case YAML_ANY_SCALAR_STYLE:
	case YAML_PLAIN_SCALAR_STYLE:
		return IC_STYLE_PLAIN;
	case YAML_SINGLE_QUOTED_SCALAR_STYLE:
	case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
		return IC_STYLE_QUOTED;
	case YAML_LITERAL_SCALAR_STYLE:
		return IC_STYLE_LITERAL;
	case YAML_FOLDED_SCALAR_STYLE:
		return IC_STYLE_FOLDED;
	}
	return IC_STYLE_PLAIN;
}

static int take_scalar(struct ic_yaml *y, const yaml_event_t *event, struct imgcheck_error **err)
{
	struct ic_node *node;
	int result = ic_doc_scalar(y->doc, (const char *)event->data.scalar.value, event->data.scalar.length, &node, err);

	if (result < 0)
		return result;
	node->style = style_of(event->data.scalar.style);
	return finish_node(y, node, event, event->data.scalar.anchor, event->data.scalar.tag, err);
}

/* An alias inside of what it names would never end: a null stands in its place, with a note. */
static int cut_cycle(struct ic_yaml *y, const yaml_event_t *event, struct ic_node **out, struct imgcheck_error **err)
{
	int result = ic_doc_scalar(y->doc, "", 0, out, err);

	if (result < 0)
		return result;
	(*out)->line = (unsigned)event->start_mark.line + 1;
	(*out)->column = (unsigned)event->start_mark.column + 1;
	return ic_doc_note(y->doc, *out, err, "the alias *%.100s stands inside what it names; it is left out, and kubectl refuses it",
	                   (const char *)event->data.alias.anchor);
}

static int take_alias(struct ic_yaml *y, const yaml_event_t *event, struct imgcheck_error **err)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct ic_node *node = find_anchor(y, name);
	int result;

	if (!node)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot read YAML: the alias *%.100s has no anchor", name);
	result = node->nodes == 0 ? cut_cycle(y, event, &node, err) : ic_doc_reuse(y->doc, node, err);
	return result < 0 ? result : place(y, node, err);
}

static int open_container(struct ic_yaml *y, const yaml_event_t *event, struct imgcheck_error **err)
{
	bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
	struct frame f = {0};
	void *memory;
	int result;

	if (y->frames.count >= IC_MAX_DEPTH)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot read YAML: nesting too deep, more than %d levels", IC_MAX_DEPTH);
	result = ic_doc_alloc(y->doc, sizeof(*f.node), &memory, err);
	if (result < 0)
		return result;
	f.node = memory;
	f.node->kind = is_mapping ? IC_NODE_MAPPING : IC_NODE_SEQUENCE;
	if (is_mapping)
		result = finish_node(y, f.node, event, event->data.mapping_start.anchor, event->data.mapping_start.tag, err);
	else
		result = finish_node(y, f.node, event, event->data.sequence_start.anchor, event->data.sequence_start.tag, err);
	return result < 0 ? result : ic_vec_push(&y->frames, &f, err);
}

static int close_container(struct ic_yaml *y, struct imgcheck_error **err)
{
	struct ic_node *node = top(y)->node;

	y->frames.count--;
	return ic_doc_close(y->doc, node, err);
}

/* One event within a document. */
static int take_event(struct ic_yaml *y, const yaml_event_t *event, struct imgcheck_error **err)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(y, event, err);
	case YAML_ALIAS_EVENT:
		return take_alias(y, event, err);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return open_container(y, event, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_container(y, err);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot read YAML: an event out of order");
}

static int start_document(struct ic_yaml *y, const yaml_event_t *event, struct imgcheck_error **err)
{
	y->doc = ic_doc_new((unsigned)event->start_mark.line + 1);
	if (!y->doc)
		return ic_error_nomem(err);
	y->frames.count = 0;
	y->anchors = NULL;
	y->anchor_count = 0;
	return 0;
}

/* Hands the document over, unless the byte at which the input was cut stands in it. */
static int end_document(struct ic_yaml *y, const yaml_event_t *event, struct ic_doc **out, struct imgcheck_error **err)
{
	if (y->cut && event->data.document_end.implicit && event->start_mark.index >= y->characters)
		return report_cut(y, err);
	*out = IC_TAKE(y->doc);
	return 0;
}

/* One event; sets *more to false when it ended a document or the stream. */
static int step(struct ic_yaml *y, struct ic_doc **out, bool *more, struct imgcheck_error **err)
{
	yaml_event_t event;
	int result = next_event(y, &event, err);

	if (result < 0)
		return result;
	switch (event.type) {
	case YAML_STREAM_START_EVENT:
		break;
	case YAML_DOCUMENT_START_EVENT:
		result = start_document(y, &event, err);
		break;
	case YAML_DOCUMENT_END_EVENT:
		result = end_document(y, &event, out, err);
		*more = false;
		break;
	case YAML_NO_EVENT:
	case YAML_STREAM_END_EVENT:
		y->done = true;
		*more = false;
		break;
	case YAML_ALIAS_EVENT:
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_START_EVENT:
	case YAML_MAPPING_END_EVENT:
		result = take_event(y, &event, err);
		break;
	}
	if (result < 0)
		ic_error_place(err, y->name, (unsigned)event.start_mark.line + 1, (unsigned)event.start_mark.column + 1);
	yaml_event_delete(&event);
	return result;
}

int ic_yaml_next(struct ic_yaml *y, struct ic_doc **out, struct imgcheck_error **err)
{
	bool more = !y->done;

	*out = NULL;
	while (more) {
		int result = step(y, out, &more, err);

		if (result < 0) {
			y->done = true;
			return result;
		}
	}
	return 0;
}

int ic_yaml_parse(const char *name, const char *text, size_t len, struct ic_doc **out, struct imgcheck_error **err)
{
	struct ic_yaml *y IC_AUTO(yaml) = NULL;
	struct ic_doc *first IC_AUTO(doc) = NULL, *second IC_AUTO(doc) = NULL;
	int result;

	*out = NULL;
	result = ic_yaml_new_text(name, text, len, &y, err);
	if (result == 0)
		result = ic_yaml_next(y, &first, err);
	if (result == 0)
		result = ic_yaml_next(y, &second, err);
	if (result < 0)
		return result;
	if (second)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, second->line, 1, "cannot read YAML: more than one document");
	if (!first) {
		first = ic_doc_new(1);
		if (!first)
			return ic_error_nomem(err);
	}
	*out = IC_TAKE(first);
	return 0;
}
