/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_TREE_H
#define IC_MANIFEST_TEMPLATE_TREE_H

/*
 * The tree of a parsed template: what the parser builds and the evaluation walks.  Each node knows the text it
 * was parsed from, for messages.  IC_MAX_TEMPLATE_NODES bounds its size, IC_MAX_EXPR_DEPTH its depth, so that
 * walking it by recursion is safe.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

enum ic_node_kind {
	/* expressions */
	IC_NODE_LITERAL,   /* value */
	IC_NODE_NAME,      /* word */
	IC_NODE_ATTRIBUTE, /* a . word */
	IC_NODE_SUBSCRIPT, /* a [ b ] */
	IC_NODE_CALL,      /* a . word ( list ) */
	IC_NODE_FILTER,    /* a | word ( list ) */
	IC_NODE_TEST,      /* a is word */
	IC_NODE_ARGUMENT,  /* in a list: a, with word where it is named */
	IC_NODE_NOT,       /* a */
	IC_NODE_AND,       /* a, b */
	IC_NODE_OR,        /* a, b */
	IC_NODE_SIGN,      /* op ('+' or '-') a */
	IC_NODE_BINARY,    /* a op b */
	IC_NODE_COMPARE,   /* a and, in the list, its comparisons */
	IC_NODE_OPERAND,   /* in a comparison: op a */
	IC_NODE_CONDITION, /* a if b else c (NULL: undefined) */
	IC_NODE_LIST,      /* list */
	IC_NODE_MAP,       /* list of pairs */
	IC_NODE_PAIR,      /* a : b */
	/* statements */
	IC_NODE_DATA,      /* its text */
	IC_NODE_PRINT,     /* a */
	IC_NODE_IF,        /* branches in the list */
	IC_NODE_BRANCH,    /* a (NULL: else), body in the list */
	IC_NODE_FOR,       /* in a; names in the list, body in c (a branch), body for nothing in d (a branch or NULL) */
	IC_NODE_SET,       /* word = a */
	IC_NODE_BODY       /* the template: list of statements */
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

struct ic_node {
	enum ic_node_kind kind;
	enum ic_operator op;
	unsigned line;
	unsigned depth;       /* levels below this node, itself included */
	const char *text;     /* where it stands in the source, borrowed */
	size_t len;
	json_t *value;        /* a literal; a word as a string; of a body with a scope, an object with the names it sets */
	struct ic_node *a, *b, *c, *d;
	struct ic_node *list; /* first of its list */
	struct ic_node *last; /* last of its list, while parsing */
	struct ic_node *next; /* in the list that holds this one */
	struct ic_node *made_before;
};

struct ic_tree {
	struct ic_node *made; /* all nodes, for ic_tree_clear() */
	size_t count;
};

/* A new node that the tree owns.  Errors: NOMEM, LIMIT. */
int ic_tree_add(struct ic_tree *tree, enum ic_node_kind kind, unsigned line, const char *text, struct ic_node **out,
                struct imgcheck_error **err) IC_MUST_CHECK;
void ic_tree_clear(struct ic_tree *tree);

static inline void ic_auto_tree(struct ic_tree *tree)
{
	ic_tree_clear(tree);
}

/* Appends to the list of a node. */
void ic_node_append(struct ic_node *node, struct ic_node *item);

/* Computes the depth from the children, when all are there.  Errors: LIMIT beyond IC_MAX_EXPR_DEPTH. */
int ic_node_close(struct ic_node *node, struct imgcheck_error **err) IC_MUST_CHECK;

/* The word of a node: borrowed; "" where it has none. */
const char *ic_node_word(const struct ic_node *node);

#endif
