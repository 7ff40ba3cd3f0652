/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_EXPR_H
#define IC_MANIFEST_TEMPLATE_EXPR_H

/*
 * Expressions of templates as Jinja2's parser reads them, one function for each of its levels of precedence.
 * Called by the template parser and for the conditions of a target.  Hostile source: recursion is bounded by
 * IC_MAX_EXPR_DEPTH.
 */

#include "manifest/template_lexer.h"
#include "manifest/template_tree.h"

struct ic_parser {
	struct ic_lexer lexer;
	struct ic_tree *tree;
	struct ic_token token; /* the current one, not used yet */
	struct ic_token ahead; /* the one behind it, where peeked is set */
	bool peeked;
	const char *end;       /* behind the last token that was used */
	const char *tag;       /* the tag that is being parsed, for messages */
	struct ic_part *scope; /* the body whose names a set changes: the template's or the innermost loop's */
	unsigned depth;        /* of the recursion */
};

/* Reads the first token.  Errors: those of the lexer. */
int ic_parser_init(struct ic_parser *p, const struct ic_lexer *lexer, struct ic_tree *tree,
                   struct imgcheck_error **err) IC_MUST_CHECK;

/* Uses the current token and reads the next one. */
int ic_parser_advance(struct ic_parser *p, struct imgcheck_error **err) IC_MUST_CHECK;

/* Uses this operator or word, or is an error that names what stands there instead. */
int ic_parser_expect(struct ic_parser *p, enum ic_token_kind kind, const char *text,
                     struct imgcheck_error **err) IC_MUST_CHECK;

/* The error that the current token is not what should stand here: SYNTAX. */
int ic_parser_unexpected(struct ic_parser *p, const char *wanted, struct imgcheck_error **err) IC_MUST_CHECK;

/* A name to assign to: the current token, used, as a part.  Errors: SYNTAX, UNSUPPORTED for reserved ones. */
int ic_parser_target(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* A part that begins at the current token; ic_parser_close() gives it its text and depth, when its parts are there. */
int ic_parser_part(struct ic_parser *p, enum ic_part_kind kind, struct ic_part **out,
                   struct imgcheck_error **err) IC_MUST_CHECK;
int ic_parser_close(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err) IC_MUST_CHECK;

/* Enters one more level of recursion; ic_parser_leave() ends it. */
int ic_parser_enter(struct ic_parser *p, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_parser_leave(struct ic_parser *p);

/* One expression; `condition` says whether "x if y else z" may stand here.  Errors: SYNTAX, UNSUPPORTED, LIMIT, NOMEM. */
int ic_parser_expression(struct ic_parser *p, bool condition, struct ic_part **out,
                         struct imgcheck_error **err) IC_MUST_CHECK;

#endif
