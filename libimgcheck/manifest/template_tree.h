/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_TREE_H
#define IC_MANIFEST_TEMPLATE_TREE_H

/*
 * The tree of a parsed template: what the parser builds and the evaluation walks.  Each part knows the text it
 * was parsed from, for messages.  IC_MAX_TEMPLATE_PARTS bounds its size, IC_MAX_EXPR_DEPTH its depth, so that
 * walking it by recursion is safe.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum ic_part_kind {
	/* expressions */
	IC_PART_LITERAL,   /* value */
	IC_PART_NAME,      /* word */
	IC_PART_ATTRIBUTE, /* a . word */
	IC_PART_SUBSCRIPT, /* a [ b ] */
	IC_PART_CALL,      /* a . word ( list ) */
	IC_PART_FILTER,    /* a | word ( list ) */
	IC_PART_TEST,      /* a is word */
	IC_PART_ARGUMENT,  /* in a list: a, with word where it is named */
	IC_PART_NOT,       /* a */
	IC_PART_AND,       /* a, b */
	IC_PART_OR,        /* a, b */
	IC_PART_SIGN,      /* op ('+' or '-') a */
	IC_PART_BINARY,    /* a op b */
	IC_PART_COMPARE,   /* a and, in the list, its comparisons */
	IC_PART_OPERAND,   /* in a comparison: op a */
	IC_PART_CONDITION, /* a if b else c (NULL: undefined) */
	IC_PART_LIST,      /* list */
	IC_PART_MAP,       /* list of pairs */
	IC_PART_PAIR,      /* a : b */
	/* statements */
	IC_PART_DATA,   /* its text */
	IC_PART_PRINT,  /* a */
	IC_PART_IF,     /* branches in the list */
	IC_PART_BRANCH, /* a (NULL: else), body in the list */
	IC_PART_FOR,    /* in a; names in the list, body in c (a branch), body for nothing in d (a branch or NULL) */
	IC_PART_SET,    /* word = a */
	IC_PART_BODY    /* the template: list of statements */
};

enum ic_operator {
	IC_OP_NONE,
	IC_OP_ADD,
	IC_OP_SUBTRACT,
	IC_OP_MULTIPLY,
	IC_OP_DIVIDE,
	IC_OP_FLOOR_DIVIDE,
	IC_OP_MODULO,
	IC_OP_POWER,
	IC_OP_JOIN, /* ~ */
	IC_OP_EQUAL,
	IC_OP_UNEQUAL,
	IC_OP_LESS,
	IC_OP_LESS_EQUAL,
	IC_OP_GREATER,
	IC_OP_GREATER_EQUAL,
	IC_OP_IN,
	IC_OP_NOT_IN
};

struct ic_part {
	enum ic_part_kind kind;
	enum ic_operator op;
	unsigned line;
	unsigned depth;   /* levels below this part, itself included */
	const char *text; /* where it stands in the source, borrowed */
	size_t len;
	json_t *value; /* a literal; a word as a string; of a body with a scope, an object with the names it sets */
	struct ic_part *a, *b, *c, *d;
	struct ic_part *list; /* first of its list */
	struct ic_part *last; /* last of its list, while parsing */
	struct ic_part *next; /* in the list that holds this one */
	struct ic_part *made_before;
};

struct ic_tree {
	struct ic_part *made; /* all parts, for ic_tree_clear() */
	size_t count;
};

/* A new part that the tree owns.  Errors: NOMEM, LIMIT. */
int ic_tree_add(struct ic_tree *tree, enum ic_part_kind kind, unsigned line, const char *text, struct ic_part **out,
                struct imgcheck_error **err) IC_MUST_CHECK;
void ic_tree_clear(struct ic_tree *tree);

static inline void ic_auto_tree(struct ic_tree *tree)
{
	ic_tree_clear(tree);
}

/* Appends to the list of a part. */
void ic_part_append(struct ic_part *part, struct ic_part *item);

/* Computes the depth from the children, when all are there.  Errors: LIMIT beyond IC_MAX_EXPR_DEPTH. */
int ic_part_close(struct ic_part *part, struct imgcheck_error **err) IC_MUST_CHECK;

/* The word of a part: borrowed; "" where it has none. */
const char *ic_part_word(const struct ic_part *part);

#endif
