/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_WALK_H
#define IC_MANIFEST_WALK_H

/*
 * Where a walk over a document stands, and what a find at that place tells: object, field path, line, pull
 * secrets.  Used by rules.c alone, so that the rules hold nothing but rules.
 */

#include "rules.h"

/* One step down the tree, on the stack of the function that goes it. */
struct ic_step {
	const struct ic_step *up;
	enum { IC_STEP_KEY, IC_STEP_INDEX, IC_STEP_INSIDE } kind; /* INSIDE: into a document that a value holds */
	const struct ic_node *key;
	size_t index;
};

struct ic_walk {
	const struct ic_sink *sink;
	const struct ic_node *object; /* the innermost Kubernetes object, or NULL */
	const struct ic_node *pod;    /* the mapping that holds the list of containers, or NULL */
	const char *pull_policy;      /* of the container or volume, or NULL */
	unsigned nesting;             /* documents inside of values, how deep */
	unsigned base_line;           /* of the value that holds the document, or 0 */
	bool fixed_line;              /* the value's lines are not those of the file */
	bool hidden;                  /* below a key that is written again: a hint at most */
};

/* The line in the file on which a node stands. */
unsigned ic_walk_line(const struct ic_walk *w, const struct ic_node *node);

/* The key under which a step stands, sequences left out, or NULL. */
const struct ic_node *ic_step_name(const struct ic_step *at);

/*
 * Gives text, which stands at node, to the sink.  Inside of a value everything is mentioned; below a hidden
 * key all references are hints, and nothing is unresolved.
 */
struct ic_find {
	enum ic_form form; /* IC_FORM_OTHER: nothing happens */
	enum imgcheck_class class;
	enum ic_certainty certainty;
	const char *note; /* or NULL */
};

int ic_walk_find(const struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, const char *text, size_t len,
                 struct ic_find find, struct imgcheck_error **err) IC_MUST_CHECK;

/* An image that is no string, which alone is one to Kubernetes; `image: {{ name }}` is a mapping to YAML. */
int ic_walk_find_no_text(const struct ic_walk *w, const struct ic_step *at, const struct ic_node *node,
                         struct imgcheck_error **err) IC_MUST_CHECK;

/* Counts the aliases of a document, of which there may be any number, each within its own ceiling.  Errors: LIMIT. */
int ic_walk_count_aliases(const struct ic_walk *w, const struct ic_doc *doc, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
