/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_LEXER_H
#define IC_MANIFEST_TEMPLATE_LEXER_H

/*
 * Cuts a template into the tokens that Jinja2's lexer would cut it into: stretches of text between tags, with
 * white-space control, comments and raw blocks applied, and the tokens inside `{{ }}` and `{% %}`.  Called by the
 * template parser.  The source is hostile; open brackets are bounded by IC_MAX_EXPR_DEPTH.
 */

#include "base/limits.h"
#include "base/buf.h"

enum ic_token_kind {
	IC_TOKEN_DATA,        /* text to print as it is */
	IC_TOKEN_PRINT_BEGIN, /* {{ */
	IC_TOKEN_PRINT_END,   /* }} */
	IC_TOKEN_BLOCK_BEGIN, /* {% */
	IC_TOKEN_BLOCK_END,   /* %} */
	IC_TOKEN_NAME,
	IC_TOKEN_STRING, /* with its quotes and escapes */
	IC_TOKEN_INTEGER,
	IC_TOKEN_FLOAT,
	IC_TOKEN_OPERATOR, /* one or two characters */
	IC_TOKEN_END       /* of the source */
};

struct ic_token {
	enum ic_token_kind kind;
	const char *text; /* within the source */
	size_t len;
	unsigned line;
};

enum ic_lexer_state { IC_LEXER_TEXT, IC_LEXER_PRINT, IC_LEXER_BLOCK, IC_LEXER_EXPRESSION };

struct ic_lexer {
	const char *name; /* for errors; may be NULL */
	const char *text; /* the source, borrowed; line ends are \n */
	size_t len, at;
	unsigned line;
	enum ic_lexer_state state;
	char open[IC_MAX_EXPR_DEPTH]; /* brackets that wait for their end */
	size_t opened;
};

/* state is IC_LEXER_TEXT for a template, IC_LEXER_EXPRESSION for one expression.  Does not allocate. */
void ic_lexer_init(struct ic_lexer *x, const char *name, unsigned line, const char *text, size_t len,
                   enum ic_lexer_state state);

/* The next token; after the last one IC_TOKEN_END for ever.  Errors: SYNTAX, UNSUPPORTED, LIMIT, with the place. */
int ic_lexer_next(struct ic_lexer *x, struct ic_token *token, struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends the value of a string token, its escapes resolved.  Errors: SYNTAX, UNSUPPORTED, LIMIT, NOMEM, no place. */
int ic_token_string(const struct ic_token *token, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether the token is this name, or this operator. */
bool ic_token_is_name(const struct ic_token *token, const char *name);
bool ic_token_is_operator(const struct ic_token *token, const char *text);

#endif
