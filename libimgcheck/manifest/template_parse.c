/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_parse.h"

#include "base/text.h"
#include "manifest/template_expr.h"

static int parse_body(struct ic_parser *p, const char *const *ends, struct ic_part *body, struct imgcheck_error **err);

/* The rest of a tag's head. */
static int end_of_tag(struct ic_parser *p, struct imgcheck_error **err)
{
	return ic_parser_expect(p, IC_TOKEN_BLOCK_END, NULL, err);
}

/* From here on names are set in `body`. */
static int open_scope(struct ic_parser *p, struct ic_part *body, struct imgcheck_error **err)
{
	body->value = json_object();
	p->scope = body;
	return body->value ? 0 : ic_error_nomem(err);
}

/* What stands behind the word of a tag, up to one of the words of `ends`, which is left as the current token. */
static int parse_branch(struct ic_parser *p, struct ic_part *branch, const char *const *ends, struct imgcheck_error **err)
{
	int result = end_of_tag(p, err);

	if (result == 0)
		result = parse_body(p, ends, branch, err);
	return result < 0 ? result : ic_parser_close(p, branch, err);
}

static int parse_if(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const char *const ends[] = {"elif", "else", "endif", NULL}, *const last[] = {"endif", NULL};
	int result = ic_parser_part(p, IC_PART_IF, out, err);
	bool more = true;

	while (result == 0 && more) {
		struct ic_part *branch;
		bool final = ic_token_is_name(&p->token, "else");

		result = ic_parser_part(p, IC_PART_BRANCH, &branch, err);
		if (result == 0)
			result = ic_parser_advance(p, err);
		if (result == 0 && !final)
			result = ic_parser_expression(p, false, &branch->a, err);
		if (result == 0)
			result = parse_branch(p, branch, final ? last : ends, err);
		if (result < 0)
			return result;
		ic_part_append(*out, branch);
		more = !ic_token_is_name(&p->token, "endif");
	}
	return result < 0 ? result : ic_parser_advance(p, err);
}

/* for a in x, for a, b in x */
static int parse_for_head(struct ic_parser *p, struct ic_part *loop, struct imgcheck_error **err)
{
	int result = ic_parser_advance(p, err);

	for (bool more = true; result == 0 && more;) {
		struct ic_part *target;

		result = ic_parser_target(p, &target, err);
		if (result < 0)
			return result;
		ic_part_append(loop, target);
		more = ic_token_is_operator(&p->token, ",");
		if (more)
			result = ic_parser_advance(p, err);
	}
	if (result == 0)
		result = ic_parser_expect(p, IC_TOKEN_NAME, "in", err);
	return result < 0 ? result : ic_parser_expression(p, false, &loop->a, err);
}

/* A body of a loop has a scope of its own. */
static int parse_for_body(struct ic_parser *p, const char *const *ends, struct ic_part **out, struct imgcheck_error **err)
{
	struct ic_part *outer = p->scope;
	int result = ic_parser_part(p, IC_PART_BRANCH, out, err);

	if (result == 0)
		result = open_scope(p, *out, err);
	if (result == 0)
		result = parse_branch(p, *out, ends, err);
	p->scope = outer;
	return result;
}

static int parse_for(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const char *const ends[] = {"else", "endfor", NULL}, *const last[] = {"endfor", NULL};
	int result = ic_parser_part(p, IC_PART_FOR, out, err);

	if (result == 0)
		result = parse_for_head(p, *out, err);
	if (result == 0 && (ic_token_is_name(&p->token, "if") || ic_token_is_name(&p->token, "recursive")))
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, p->lexer.name, p->token.line, 0,
		                       "cannot evaluate a for loop with '%.*s': not supported", (int)p->token.len, p->token.text);
	if (result == 0)
		result = parse_for_body(p, ends, &(*out)->c, err);
	if (result == 0 && ic_token_is_name(&p->token, "else")) {
		result = ic_parser_advance(p, err);
		if (result == 0)
			result = parse_for_body(p, last, &(*out)->d, err);
	}
	return result < 0 ? result : ic_parser_advance(p, err);
}

static int parse_set(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	struct ic_part *target;
	int result = ic_parser_part(p, IC_PART_SET, out, err);

	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result == 0)
		result = ic_parser_target(p, &target, err);
	if (result < 0)
		return result;
	(*out)->value = json_incref(target->value);
	if (json_object_set(p->scope->value, ic_part_word(target), target->value) < 0)
		return ic_error_nomem(err);
	if (!ic_token_is_operator(&p->token, "="))
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, p->lexer.name, p->token.line, 0,
		                       "cannot evaluate a set without '=' behind its one name: not supported");
	result = ic_parser_advance(p, err);
	if (result == 0)
		result = ic_parser_expression(p, true, &(*out)->a, err);
	if (result == 0 && ic_token_is_operator(&p->token, ","))
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, p->lexer.name, p->token.line, 0,
		                       "cannot evaluate a set of more than one value: not supported");
	return result;
}

/* The statement whose word is the current token, up to the end of its last tag. */
static int parse_statement(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const struct {
		const char *word;
		int (*parse)(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err);
	} statements[] = {{"if", parse_if}, {"for", parse_for}, {"set", parse_set}};
	int result = 0;
	size_t i = 0;

	while (i < IC_COUNT(statements) && !ic_token_is_name(&p->token, statements[i].word))
		i++;
	if (i == IC_COUNT(statements) && p->token.kind == IC_TOKEN_NAME)
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, p->lexer.name, p->token.line, 0,
		                       "cannot evaluate the tag '%.*s' here: not supported", (int)p->token.len, p->token.text);
	if (i == IC_COUNT(statements))
		return ic_parser_unexpected(p, "the word of a tag", err);
	result = statements[i].parse(p, out, err);
	if (result == 0)
		result = ic_parser_close(p, *out, err);
	return result < 0 ? result : end_of_tag(p, err);
}

static int parse_print(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = ic_parser_part(p, IC_PART_PRINT, out, err);

	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result == 0)
		result = ic_parser_expression(p, true, &(*out)->a, err);
	if (result == 0 && ic_token_is_operator(&p->token, ","))
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, p->lexer.name, p->token.line, 0,
		                       "cannot evaluate more than one value in {{ }}: not supported");
	if (result == 0)
		result = ic_parser_close(p, *out, err);
	return result < 0 ? result : ic_parser_expect(p, IC_TOKEN_PRINT_END, NULL, err);
}

static int parse_data(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = ic_parser_part(p, IC_PART_DATA, out, err);

	if (result < 0)
		return result;
	(*out)->len = p->token.len;
	return ic_parser_advance(p, err);
}

static bool is_end(const struct ic_token *t, const char *const *ends)
{
	for (; ends && *ends; ends++) {
		if (ic_token_is_name(t, *ends))
			return true;
	}
	return false;
}

/* One piece of a body; *ended: the current token is a word of `ends`. */
static int parse_piece(struct ic_parser *p, const char *const *ends, struct ic_part *body, bool *ended,
                       struct imgcheck_error **err)
{
	struct ic_part *piece = NULL;
	int result;

	p->tag = p->token.text;
	if (p->token.kind == IC_TOKEN_DATA) {
		result = parse_data(p, &piece, err);
	} else if (p->token.kind == IC_TOKEN_PRINT_BEGIN) {
		result = parse_print(p, &piece, err);
	} else {
		result = ic_parser_advance(p, err);
		*ended = result == 0 && is_end(&p->token, ends);
		if (result == 0 && !*ended)
			result = parse_statement(p, &piece, err);
	}
	if (result == 0 && piece)
		ic_part_append(body, piece);
	return result;
}

/* Pieces up to a tag with one of the words of `ends`, or, where that is NULL, to the end of the source. */
static int parse_body(struct ic_parser *p, const char *const *ends, struct ic_part *body, struct imgcheck_error **err)
{
	bool ended = false;
	int result = ic_parser_enter(p, err);

	if (result < 0)
		return result;
	while (result == 0 && !ended && p->token.kind != IC_TOKEN_END)
		result = parse_piece(p, ends, body, &ended, err);
	ic_parser_leave(p);
	if (result == 0 && ends && !ended)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, p->lexer.name, body->line, 0,
		                       "cannot evaluate the template: a tag of this line has no end (%s)",
		                       ends[1] ? ends[ends[2] ? 2 : 1] : ends[0]);
	return result;
}

int ic_parse_template(const struct ic_source *source, struct ic_tree *tree, struct ic_part **root, const char **tag,
                      struct imgcheck_error **err)
{
	struct ic_lexer lexer;
	struct ic_parser p;
	int result;

	*root = NULL;
	*tag = NULL;
	ic_lexer_init(&lexer, source->name, source->line, source->text, source->len, IC_LEXER_TEXT);
	result = ic_parser_init(&p, &lexer, tree, err);
	if (result == 0)
		result = ic_parser_part(&p, IC_PART_BODY, root, err);
	if (result == 0)
		result = open_scope(&p, *root, err);
	if (result == 0)
		result = parse_body(&p, NULL, *root, err);
	if (result == 0)
		result = ic_parser_close(&p, *root, err);
	if (result < 0)
		*tag = p.tag;
	return result;
}

int ic_parse_expression(const struct ic_source *source, struct ic_tree *tree, struct ic_part **root,
                        struct imgcheck_error **err)
{
	struct ic_lexer lexer;
	struct ic_parser p;
	int result;

	*root = NULL;
	ic_lexer_init(&lexer, source->name, source->line, source->text, source->len, IC_LEXER_EXPRESSION);
	result = ic_parser_init(&p, &lexer, tree, err);
	if (result == 0)
		result = ic_parser_expression(&p, true, root, err);
	if (result == 0 && p.token.kind != IC_TOKEN_END)
		return ic_parser_unexpected(&p, "the end", err);
	return result;
}
