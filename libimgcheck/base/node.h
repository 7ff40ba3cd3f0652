/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_NODE_H
#define IC_BASE_NODE_H

/*
 * The tree of one document, YAML or JSON: what base/yaml.h and JSON are read into and everybody
 * else walks.  All of a tree lives in its document and dies with it (ic_doc_free).
 *
 * Trees come from hostile input.  They are never cyclic, at most IC_MAX_DEPTH deep and IC_MAX_DOC_BYTES
 * large.  Through aliases a node can stand in several places; visited as often as it stands, a tree has
 * at most IC_MAX_ALIAS_NODES nodes more than were written, so that a plain recursive walk is safe.
 * Merge keys (<<) are resolved where they stand, and of duplicate keys the last one counts, as kubectl has it.
 */

#include <jansson.h>

#include "buf.h"

enum ic_node_kind { IC_NODE_SCALAR, IC_NODE_SEQUENCE, IC_NODE_MAPPING };
enum ic_node_style { IC_STYLE_PLAIN, IC_STYLE_QUOTED, IC_STYLE_LITERAL, IC_STYLE_FOLDED };

struct ic_node {
	enum ic_node_kind kind : 8;
	enum ic_node_style style : 8; /* of a scalar; plain ones may be null, a number or a Boolean */
	bool headed;                  /* in TOML: see there */
	unsigned line, column;        /* from 1; in JSON the line on which the document starts, and 0 */
	const char *tag;              /* as written and resolved ("tag:yaml.org,2002:str", "!Sub"), or NULL */
	union {
		const char *text;      /* of a scalar: NUL-terminated, never NULL, may hold NULs */
		struct ic_item *items; /* of a sequence or mapping: in the order written, NULL when empty */
	};
	size_t len;             /* bytes of text, or number of items */
	size_t nodes;           /* the node and all below it, counted as often as they stand there; a long text as several */
	struct ic_item *hidden; /* of a mapping: items whose key is written again behind them */
};

/* One entry of a sequence (key NULL) or mapping. */
struct ic_item {
	const struct ic_node *key;
	const struct ic_node *value;
	struct ic_item *next;
	enum { IC_ITEM_COUNTS, IC_ITEM_HIDDEN, IC_ITEM_GONE } state; /* while a mapping is being ended */
	bool merged; /* brought by a merge key */
};

struct ic_doc {
	struct ic_node *root;  /* NULL: an empty document */
	unsigned line;         /* on which it starts, from 1 */
	struct ic_vec notes;   /* struct imgcheck_error *: findings such as a duplicate key, with line and column */
	struct ic_block *blocks; /* memory of the tree */
	size_t bytes;
	size_t aliased;          /* nodes that stand in it only through aliases and merge keys */
};

/* for (const struct ic_item *i = ic_node_items(node); i; i = i->next): nothing for NULL and scalars. */
const struct ic_item *ic_node_items(const struct ic_node *node);

/* The member of a mapping: NULL where absent, or where node is NULL or no mapping. */
const struct ic_node *ic_node_get(const struct ic_node *node, const char *key);

/* The text of a scalar that is not null: borrowed.  NULL for anything else, also for text with NULs. */
const char *ic_node_text(const struct ic_node *node);

/* The text of a member, as ic_node_text(). */
const char *ic_node_get_text(const struct ic_node *node, const char *key);

/* Whether the node is absent (NULL) or a null: plain and empty, "~" or "null". */
bool ic_node_is_null(const struct ic_node *node);

/*
 * Whether the node is a scalar that Kubernetes takes as a string: not a plain null, Boolean or number as
 * YAML 1.1 has them ("no", "0o14", "1e3"); a plain date is a string.
 */
bool ic_node_is_string(const struct ic_node *node);

static inline bool ic_node_is(const struct ic_node *node, enum ic_node_kind kind)
{
	return node && node->kind == kind;
}

/* Whether the node is a scalar with exactly this text. */
bool ic_node_equals(const struct ic_node *node, const char *text);

/* A document from a JSON value (left as it is), all of it on `line`: *out is new.  Errors: NOMEM, LIMIT. */
int ic_doc_from_json(json_t *value, unsigned line, struct ic_doc **out, struct imgcheck_error **err) IC_MUST_CHECK;

void ic_doc_free(struct ic_doc *doc);
IC_DEFINE_AUTO(doc, struct ic_doc, ic_doc_free)

/* For readers that build trees. */

/* An empty document: new, NULL without memory. */
struct ic_doc *ic_doc_new(unsigned line);

/* Zeroed memory that dies with the document.  *out is NULL on failure.  Errors: NOMEM, LIMIT. */
int ic_doc_alloc(struct ic_doc *doc, size_t bytes, void **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* A scalar node with a copy of text. */
int ic_doc_scalar(struct ic_doc *doc, const char *text, size_t len, struct ic_node **out,
                  struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Appends an item to a sequence or mapping; *last is the item before (NULL for the first) and becomes
 * this one.
 */
int ic_doc_append(struct ic_doc *doc, struct ic_node *parent, struct ic_item **last, const struct ic_node *key,
                  const struct ic_node *value, struct imgcheck_error **err) IC_MUST_CHECK;

/* Adds a finding about the node; beyond IC_MAX_NOTES there are enough.  Errors: NOMEM. */
int ic_doc_note(struct ic_doc *doc, const struct ic_node *node, struct imgcheck_error **err, const char *format, ...) IC_MUST_CHECK
    IC_PRINTF(4, 5);

/* Counts a node that is about to stand in one more place.  Errors: LIMIT beyond IC_MAX_ALIAS_NODES. */
int ic_doc_reuse(struct ic_doc *doc, const struct ic_node *node, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Ends a sequence or mapping once all its items are there, and counts its nodes.  In a mapping it takes
 * the items of merge keys in where they are not written, and hides all but the last of duplicate keys,
 * with a note.  Until then `nodes` is 0: the node must not stand in itself.  Errors: SYNTAX, NOMEM, LIMIT.
 */
int ic_doc_close(struct ic_doc *doc, struct ic_node *node, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
