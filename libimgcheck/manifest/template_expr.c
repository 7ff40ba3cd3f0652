/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_expr.h"

#include <string.h>

#include "base/text.h"
#include "manifest/template_filter.h"
#include "manifest/template_number.h"

#define SHOWN 60 /* bytes of source that a message quotes */

static const char *const reserved[] = {"and", "or", "not", "in", "is", "if", "else", "elif"};
static const char *const constants[] = {"true", "false", "none", "True", "False", "None"};

int ic_parser_init(struct ic_parser *p, const struct ic_lexer *lexer, struct ic_tree *tree, struct imgcheck_error **err)
{
	*p = (struct ic_parser){.lexer = *lexer, .tree = tree, .end = lexer->text};
	return ic_lexer_next(&p->lexer, &p->token, err);
}

int ic_parser_advance(struct ic_parser *p, struct imgcheck_error **err)
{
	p->end = p->token.text + p->token.len;
	if (p->peeked) {
		p->token = p->ahead;
		p->peeked = false;
		return 0;
	}
	return ic_lexer_next(&p->lexer, &p->token, err);
}

/* Reads the token behind the current one. */
static int peek(struct ic_parser *p, struct imgcheck_error **err)
{
	int result = p->peeked ? 0 : ic_lexer_next(&p->lexer, &p->ahead, err);

	p->peeked = p->peeked || result == 0;
	return result;
}

static const char *name_of(const struct ic_parser *p)
{
	return p->lexer.name;
}

int ic_parser_unexpected(struct ic_parser *p, const char *wanted, struct imgcheck_error **err)
{
	const struct ic_token *t = &p->token;

	if (t->kind == IC_TOKEN_END)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name_of(p), t->line, 0,
		                       "cannot evaluate the template: it ends where %s should stand", wanted);
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name_of(p), t->line, 0,
	                       "cannot evaluate the template: '%.*s' stands where %s should stand",
	                       t->len < SHOWN ? (int)t->len : SHOWN, t->text, wanted);
}

static int unsupported(struct ic_parser *p, const char *what, const struct ic_token *t, struct imgcheck_error **err)
{
	return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, name_of(p), t->line, 0, "cannot evaluate %s '%.*s': not supported",
	                       what, t->len < SHOWN ? (int)t->len : SHOWN, t->text);
}

static bool at_operator(const struct ic_parser *p, const char *text)
{
	return ic_token_is_operator(&p->token, text);
}

static bool at_name(const struct ic_parser *p, const char *text)
{
	return ic_token_is_name(&p->token, text);
}

int ic_parser_expect(struct ic_parser *p, enum ic_token_kind kind, const char *text, struct imgcheck_error **err)
{
	if (p->token.kind != kind || (text && !ic_text_equal(p->token.text, p->token.len, text)))
		return ic_parser_unexpected(p, text ? text : "the end of the tag", err);
	return ic_parser_advance(p, err);
}

int ic_parser_part(struct ic_parser *p, enum ic_part_kind kind, struct ic_part **out, struct imgcheck_error **err)
{
	int result = ic_tree_add(p->tree, kind, p->token.line, p->token.text, out, err);

	ic_error_place(err, name_of(p), p->token.line, 0);
	return result;
}

int ic_parser_close(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	int result = ic_part_close(part, err);

	part->len = p->end > part->text ? (size_t)(p->end - part->text) : 0;
	ic_error_place(err, name_of(p), part->line, 0);
	return result;
}

int ic_parser_enter(struct ic_parser *p, struct imgcheck_error **err)
{
	if (p->depth == IC_MAX_EXPR_DEPTH)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, name_of(p), p->token.line, 0,
		                       "cannot evaluate a template nested deeper than %d levels", IC_MAX_EXPR_DEPTH);
	p->depth++;
	return 0;
}

void ic_parser_leave(struct ic_parser *p)
{
	p->depth--;
}

static bool listed(const char *const *list, size_t count, const struct ic_token *t)
{
	for (size_t i = 0; i < count; i++) {
		if (ic_token_is_name(t, list[i]))
			return true;
	}
	return false;
}

/* Gives the part the current token, a name, as its word and uses it. */
static int take_word(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	if (p->token.kind != IC_TOKEN_NAME)
		return ic_parser_unexpected(p, "a name", err);
	part->value = json_stringn(p->token.text, p->token.len);
	if (!part->value)
		return ic_error_nomem(err);
	return ic_parser_advance(p, err);
}

int ic_parser_target(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result;

	if (p->token.kind != IC_TOKEN_NAME)
		return ic_parser_unexpected(p, "a name to set", err);
	if (listed(reserved, IC_COUNT(reserved), &p->token) || listed(constants, IC_COUNT(constants), &p->token) ||
	    at_name(p, "loop") || at_name(p, "self"))
		return unsupported(p, "an assignment to", &p->token, err);
	result = ic_parser_part(p, IC_PART_NAME, out, err);
	if (result == 0)
		result = take_word(p, *out, err);
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

/* A part that begins where `first` begins, which becomes its part a. */
static int wrap(struct ic_parser *p, enum ic_part_kind kind, struct ic_part *first, struct ic_part **out,
                struct imgcheck_error **err)
{
	int result = ic_parser_part(p, kind, out, err);

	if (result < 0)
		return result;
	(*out)->text = first->text;
	(*out)->line = first->line;
	(*out)->a = first;
	return 0;
}

/* ---- primary expressions */

/* One or more string literals, which become one. */
static int take_strings(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = 0;

	ic_buf_init(&text, IC_MAX_TEMPLATE_BYTES);
	while (result == 0 && p->token.kind == IC_TOKEN_STRING) {
		result = ic_token_string(&p->token, &text, err);
		if (result < 0)
			ic_error_prefix(err, "cannot evaluate a string: ");
		ic_error_place(err, name_of(p), p->token.line, 0);
		if (result == 0)
			result = ic_parser_advance(p, err);
	}
	if (result < 0)
		return result;
	part->value = json_stringn(ic_buf_text(&text), text.len);
	return part->value ? 0 : ic_error_nomem(err);
}

static int take_number(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	const struct ic_token *t = &p->token;
	int result = t->kind == IC_TOKEN_INTEGER ? ic_number_integer_literal(t->text, t->len, &part->value, err)
	                                         : ic_number_float_literal(t->text, t->len, &part->value, err);

	if (result < 0)
		ic_error_prefix(err, "cannot evaluate '%.*s': ", t->len < SHOWN ? (int)t->len : SHOWN, t->text);
	ic_error_place(err, name_of(p), t->line, 0);
	return result < 0 ? result : ic_parser_advance(p, err);
}

/* Items up to the closing bracket; a comma may stand behind the last one. */
static int parse_list(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	int result = ic_parser_advance(p, err);

	while (result == 0 && !at_operator(p, "]")) {
		struct ic_part *item;

		result = ic_parser_expression(p, true, &item, err);
		if (result < 0)
			return result;
		ic_part_append(part, item);
		if (!at_operator(p, "]"))
			result = ic_parser_expect(p, IC_TOKEN_OPERATOR, ",", err);
	}
	return result < 0 ? result : ic_parser_advance(p, err);
}

static int parse_pair(struct ic_parser *p, struct ic_part *map, struct imgcheck_error **err)
{
	struct ic_part *key, *pair;
	int result = ic_parser_expression(p, true, &key, err);

	if (result == 0)
		result = wrap(p, IC_PART_PAIR, key, &pair, err);
	if (result == 0)
		result = ic_parser_expect(p, IC_TOKEN_OPERATOR, ":", err);
	if (result == 0)
		result = ic_parser_expression(p, true, &pair->b, err);
	if (result < 0)
		return result;
	ic_part_append(map, pair);
	return ic_parser_close(p, pair, err);
}

static int parse_map(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	int result = ic_parser_advance(p, err);

	while (result == 0 && !at_operator(p, "}")) {
		result = parse_pair(p, part, err);
		if (result == 0 && !at_operator(p, "}"))
			result = ic_parser_expect(p, IC_TOKEN_OPERATOR, ",", err);
	}
	return result < 0 ? result : ic_parser_advance(p, err);
}

static int parse_group(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	struct ic_token start = p->token;
	int result = ic_parser_advance(p, err);

	if (result == 0 && at_operator(p, ")"))
		return unsupported(p, "a tuple", &start, err);
	if (result == 0)
		result = ic_parser_expression(p, true, out, err);
	if (result == 0 && at_operator(p, ","))
		return unsupported(p, "a tuple", &start, err);
	if (result == 0)
		result = ic_parser_expect(p, IC_TOKEN_OPERATOR, ")", err);
	if (result < 0)
		return result;
	(*out)->text = start.text;
	(*out)->len = (size_t)(p->end - start.text);
	return 0;
}

static int parse_word(struct ic_parser *p, struct ic_part *part, struct imgcheck_error **err)
{
	if (listed(reserved, IC_COUNT(reserved), &p->token))
		return ic_parser_unexpected(p, "an expression", err);
	if (at_name(p, "self"))
		return unsupported(p, "the name", &p->token, err);
	if (!listed(constants, IC_COUNT(constants), &p->token)) {
		part->kind = IC_PART_NAME;
		return take_word(p, part, err);
	}
	if (ic_to_lower(p->token.text[0]) == 'n')
		part->value = json_null();
	else
		part->value = json_boolean(ic_to_lower(p->token.text[0]) == 't');
	return ic_parser_advance(p, err);
}

static int parse_primary(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	enum ic_token_kind kind = p->token.kind;
	int result;

	if (at_operator(p, "("))
		return parse_group(p, out, err);
	result = ic_parser_part(p, IC_PART_LITERAL, out, err);
	if (result < 0)
		return result;
	if (kind == IC_TOKEN_NAME) {
		result = parse_word(p, *out, err);
	} else if (kind == IC_TOKEN_STRING) {
		result = take_strings(p, *out, err);
	} else if (kind == IC_TOKEN_INTEGER || kind == IC_TOKEN_FLOAT) {
		result = take_number(p, *out, err);
	} else if (at_operator(p, "[")) {
		(*out)->kind = IC_PART_LIST;
		result = parse_list(p, *out, err);
	} else if (at_operator(p, "{")) {
		(*out)->kind = IC_PART_MAP;
		result = parse_map(p, *out, err);
	} else {
		return ic_parser_unexpected(p, "an expression", err);
	}
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

/* ---- what may follow one */

/* name=value or value. */
static int parse_argument(struct ic_parser *p, struct ic_part *call, struct imgcheck_error **err)
{
	struct ic_part *argument;
	int result = ic_parser_part(p, IC_PART_ARGUMENT, &argument, err);

	if (result == 0)
		result = peek(p, err);
	if (result < 0)
		return result;
	if (at_operator(p, "*") || at_operator(p, "**"))
		return unsupported(p, "the argument", &p->token, err);
	if (p->token.kind == IC_TOKEN_NAME && ic_token_is_operator(&p->ahead, "=")) {
		result = take_word(p, argument, err);
		if (result == 0)
			result = ic_parser_advance(p, err);
	} else if (call->last && call->last->value) {
		return ic_parser_unexpected(p, "a named argument", err);
	}
	if (result == 0)
		result = ic_parser_expression(p, true, &argument->a, err);
	if (result < 0)
		return result;
	ic_part_append(call, argument);
	return ic_parser_close(p, argument, err);
}

static int parse_arguments(struct ic_parser *p, struct ic_part *call, struct imgcheck_error **err)
{
	int result = ic_parser_expect(p, IC_TOKEN_OPERATOR, "(", err);

	while (result == 0 && !at_operator(p, ")")) {
		result = parse_argument(p, call, err);
		if (result == 0 && !at_operator(p, ")"))
			result = ic_parser_expect(p, IC_TOKEN_OPERATOR, ",", err);
	}
	return result < 0 ? result : ic_parser_advance(p, err);
}

/* a[b] */
static int parse_subscript(struct ic_parser *p, struct ic_part *base, struct ic_part **out, struct imgcheck_error **err)
{
	int result = wrap(p, IC_PART_SUBSCRIPT, base, out, err);

	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result == 0 && at_operator(p, ":"))
		return unsupported(p, "the slice", &p->token, err);
	if (result == 0)
		result = ic_parser_expression(p, true, &(*out)->b, err);
	if (result == 0 && (at_operator(p, ":") || at_operator(p, ",")))
		return unsupported(p, "the slice", &p->token, err);
	if (result == 0)
		result = ic_parser_expect(p, IC_TOKEN_OPERATOR, "]", err);
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

/* a.word, a.word(...) and a.0 */
static int parse_attribute(struct ic_parser *p, struct ic_part *base, struct ic_part **out, struct imgcheck_error **err)
{
	int result = wrap(p, IC_PART_ATTRIBUTE, base, out, err);

	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result < 0)
		return result;
	if (p->token.kind == IC_TOKEN_INTEGER) {
		(*out)->kind = IC_PART_SUBSCRIPT;
		result = parse_primary(p, &(*out)->b, err);
	} else {
		result = take_word(p, *out, err);
		if (result == 0 && at_operator(p, "(")) {
			(*out)->kind = IC_PART_CALL;
			result = parse_arguments(p, *out, err);
		}
	}
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

static int parse_postfix(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = 0;

	while (result == 0) {
		if (at_operator(p, "."))
			result = parse_attribute(p, *out, out, err);
		else if (at_operator(p, "["))
			result = parse_subscript(p, *out, out, err);
		else
			break;
	}
	if (result == 0 && at_operator(p, "("))
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, name_of(p), p->token.line, 0,
		                       "cannot evaluate the call of '%.*s': not supported",
		                       (*out)->len < SHOWN ? (int)(*out)->len : SHOWN, (*out)->text);
	return result;
}

static int parse_filter(struct ic_parser *p, struct ic_part *base, struct ic_part **out, struct imgcheck_error **err)
{
	struct ic_token name;
	int result = wrap(p, IC_PART_FILTER, base, out, err);

	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result < 0)
		return result;
	name = p->token;
	result = take_word(p, *out, err);
	if (result < 0)
		return result;
	if (!ic_filter_exists(ic_part_word(*out)) || at_operator(p, "."))
		return unsupported(p, "the filter", &name, err);
	if (at_operator(p, "("))
		result = parse_arguments(p, *out, err);
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

/* Whether a token behind a test would be taken as its argument by Jinja2. */
static bool starts_argument(const struct ic_token *t)
{
	if (t->kind == IC_TOKEN_NAME)
		return !ic_token_is_name(t, "else") && !ic_token_is_name(t, "or") && !ic_token_is_name(t, "and");
	return t->kind == IC_TOKEN_STRING || t->kind == IC_TOKEN_INTEGER || t->kind == IC_TOKEN_FLOAT ||
	       ic_token_is_operator(t, "(") || ic_token_is_operator(t, "[") || ic_token_is_operator(t, "{");
}

/* is word, is not word */
static int parse_test(struct ic_parser *p, struct ic_part *base, struct ic_part **out, struct imgcheck_error **err)
{
	struct ic_part *test;
	struct ic_token name;
	bool negated;
	int result = ic_parser_advance(p, err);

	negated = result == 0 && at_name(p, "not");
	if (negated)
		result = ic_parser_advance(p, err);
	if (result == 0)
		result = wrap(p, IC_PART_TEST, base, &test, err);
	if (result < 0)
		return result;
	name = p->token;
	result = take_word(p, test, err);
	if (result < 0)
		return result;
	if (!ic_test_exists(ic_part_word(test)) || at_operator(p, "."))
		return unsupported(p, "the test", &name, err);
	if (starts_argument(&p->token))
		return unsupported(p, "the argument of a test", &p->token, err);
	*out = test;
	result = ic_parser_close(p, test, err);
	if (result < 0 || !negated)
		return result;
	result = wrap(p, IC_PART_NOT, test, out, err);
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

static int parse_filters(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = 0;

	while (result == 0) {
		if (at_operator(p, "|"))
			result = parse_filter(p, *out, out, err);
		else if (at_name(p, "is"))
			result = parse_test(p, *out, out, err);
		else
			break;
	}
	return result;
}

/* ---- operators, by rising precedence from the end of this file upwards */

static int parse_signed(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err);

static int parse_sign(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	enum ic_operator op = at_operator(p, "-") ? IC_OP_SUBTRACT : IC_OP_ADD;
	int result = ic_parser_part(p, IC_PART_SIGN, out, err);

	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result == 0)
		result = ic_parser_enter(p, err);
	if (result < 0)
		return result;
	(*out)->op = op;
	result = parse_signed(p, &(*out)->a, err);
	ic_parser_leave(p);
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

/* A sign binds tighter than filters, and looser than what is directly behind the value. */
static int parse_signed(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = at_operator(p, "-") || at_operator(p, "+") ? parse_sign(p, out, err) : parse_primary(p, out, err);

	return result < 0 ? result : parse_postfix(p, out, err);
}

static int parse_unary(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = parse_signed(p, out, err);

	return result < 0 ? result : parse_filters(p, out, err);
}

struct level {
	struct {
		const char *text;
		enum ic_operator op;
	} operators[4];
	int (*operand)(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err);
};

static enum ic_operator operator_of(const struct ic_parser *p, const struct level *level)
{
	for (size_t i = 0; i < IC_COUNT(level->operators) && level->operators[i].text; i++) {
		if (at_operator(p, level->operators[i].text))
			return level->operators[i].op;
	}
	return IC_OP_NONE;
}

/* Operands of one level, joined from the left. */
static int parse_level(struct ic_parser *p, const struct level *level, struct ic_part **out, struct imgcheck_error **err)
{
	int result = level->operand(p, out, err);
	enum ic_operator op;

	while (result == 0 && (op = operator_of(p, level)) != IC_OP_NONE) {
		result = wrap(p, IC_PART_BINARY, *out, out, err);
		if (result == 0)
			result = ic_parser_advance(p, err);
		if (result < 0)
			break;
		(*out)->op = op;
		result = level->operand(p, &(*out)->b, err);
		if (result == 0)
			result = ic_parser_close(p, *out, err);
	}
	return result;
}

static int parse_power(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const struct level level = {{{"**", IC_OP_POWER}}, parse_unary};

	return parse_level(p, &level, out, err);
}

static int parse_product(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const struct level level = {
		{{"*", IC_OP_MULTIPLY}, {"/", IC_OP_DIVIDE}, {"//", IC_OP_FLOOR_DIVIDE}, {"%", IC_OP_MODULO}}, parse_power};

	return parse_level(p, &level, out, err);
}

static int parse_joined(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const struct level level = {{{"~", IC_OP_JOIN}}, parse_product};

	return parse_level(p, &level, out, err);
}

static int parse_sum(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	static const struct level level = {{{"+", IC_OP_ADD}, {"-", IC_OP_SUBTRACT}}, parse_joined};

	return parse_level(p, &level, out, err);
}

/* The comparison that begins at the current token; its words are used.  IC_OP_NONE where there is none. */
static int take_comparison(struct ic_parser *p, enum ic_operator *op, struct imgcheck_error **err)
{
	static const struct level signs[] = {
		{{{"==", IC_OP_EQUAL}, {"!=", IC_OP_UNEQUAL}, {"<", IC_OP_LESS}, {"<=", IC_OP_LESS_EQUAL}}, NULL},
		{{{">", IC_OP_GREATER}, {">=", IC_OP_GREATER_EQUAL}}, NULL},
	};
	int result = 0;

	*op = operator_of(p, &signs[0]);
	if (*op == IC_OP_NONE)
		*op = operator_of(p, &signs[1]);
	if (at_name(p, "in"))
		*op = IC_OP_IN;
	if (at_name(p, "not")) {
		result = peek(p, err);
		if (result < 0 || !ic_token_is_name(&p->ahead, "in"))
			return result;
		*op = IC_OP_NOT_IN;
		result = ic_parser_advance(p, err);
	}
	return result < 0 || *op == IC_OP_NONE ? result : ic_parser_advance(p, err);
}

/* a < b == c: each neighbour is compared, as in Python. */
static int parse_comparison(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	struct ic_part *first = NULL, *operand;
	enum ic_operator op = IC_OP_NONE;
	int result = parse_sum(p, &first, err);

	*out = first;
	if (result == 0)
		result = take_comparison(p, &op, err);
	if (result == 0 && op != IC_OP_NONE)
		result = wrap(p, IC_PART_COMPARE, first, out, err);
	while (result == 0 && op != IC_OP_NONE) {
		result = ic_parser_part(p, IC_PART_OPERAND, &operand, err);
		if (result < 0)
			break;
		operand->op = op;
		result = parse_sum(p, &operand->a, err);
		if (result == 0)
			result = ic_parser_close(p, operand, err);
		ic_part_append(*out, operand);
		if (result == 0)
			result = take_comparison(p, &op, err);
	}
	return result < 0 || *out == first ? result : ic_parser_close(p, *out, err);
}

static int parse_not(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result;

	if (!at_name(p, "not"))
		return parse_comparison(p, out, err);
	result = ic_parser_part(p, IC_PART_NOT, out, err);
	if (result == 0)
		result = ic_parser_advance(p, err);
	if (result == 0)
		result = ic_parser_enter(p, err);
	if (result < 0)
		return result;
	result = parse_not(p, &(*out)->a, err);
	ic_parser_leave(p);
	return result < 0 ? result : ic_parser_close(p, *out, err);
}

/* Operands joined from the left by a word. */
static int parse_words(struct ic_parser *p, enum ic_part_kind kind, struct ic_part **out, struct imgcheck_error **err)
{
	bool all = kind == IC_PART_AND;
	int result = all ? parse_not(p, out, err) : parse_words(p, IC_PART_AND, out, err);

	while (result == 0 && at_name(p, all ? "and" : "or")) {
		result = wrap(p, kind, *out, out, err);
		if (result == 0)
			result = ic_parser_advance(p, err);
		if (result < 0)
			break;
		result = all ? parse_not(p, &(*out)->b, err) : parse_words(p, IC_PART_AND, &(*out)->b, err);
		if (result == 0)
			result = ic_parser_close(p, *out, err);
	}
	return result;
}

/* x if y else z: x stands in a, y in b, z in c. */
static int parse_condition(struct ic_parser *p, struct ic_part **out, struct imgcheck_error **err)
{
	int result = 0;

	while (result == 0 && at_name(p, "if")) {
		result = wrap(p, IC_PART_CONDITION, *out, out, err);
		if (result == 0)
			result = ic_parser_advance(p, err);
		if (result == 0)
			result = parse_words(p, IC_PART_OR, &(*out)->b, err);
		if (result == 0 && at_name(p, "else")) {
			result = ic_parser_advance(p, err);
			if (result == 0)
				result = ic_parser_expression(p, true, &(*out)->c, err);
		}
		if (result == 0)
			result = ic_parser_close(p, *out, err);
	}
	return result;
}

int ic_parser_expression(struct ic_parser *p, bool condition, struct ic_part **out, struct imgcheck_error **err)
{
	int result = ic_parser_enter(p, err);

	*out = NULL;
	if (result < 0)
		return result;
	result = parse_words(p, IC_PART_OR, out, err);
	if (result == 0 && condition)
		result = parse_condition(p, out, err);
	ic_parser_leave(p);
	return result;
}
