/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_lexer.h"

#include <string.h>

#include "base/text.h"
#include "manifest/template_text.h"

void ic_lexer_init(struct ic_lexer *x, const char *name, unsigned line, const char *text, size_t len,
                   enum ic_lexer_state state)
{
	*x = (struct ic_lexer){.name = name, .text = text, .len = len, .line = line, .state = state};
}

static const char *rest(const struct ic_lexer *x)
{
	return x->text + x->at;
}

static size_t left(const struct ic_lexer *x)
{
	return x->len - x->at;
}

static void advance(struct ic_lexer *x, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		x->line += x->text[x->at + i] == '\n';
	x->at += bytes;
}

static bool follows(const struct ic_lexer *x, size_t ahead, const char *text)
{
	return ahead <= left(x) && ic_text_starts(rest(x) + ahead, left(x) - ahead, text);
}

/* Takes the next `bytes` bytes as a token. */
static void take(struct ic_lexer *x, struct ic_token *token, enum ic_token_kind kind, size_t bytes)
{
	*token = (struct ic_token){kind, rest(x), bytes, x->line};
	advance(x, bytes);
}

/* The offset, from here, of the next "{{", "{%" or "{#"; what is left where there is none. */
static size_t find_tag(const struct ic_lexer *x)
{
	const char *from = rest(x);

	for (size_t i = 0; i + 1 < left(x); i++) {
		const char *brace = memchr(from + i, '{', left(x) - 1 - i);

		if (!brace)
			break;
		i = (size_t)(brace - from);
		if (from[i + 1] == '{' || from[i + 1] == '%' || from[i + 1] == '#')
			return i;
	}
	return left(x);
}

/* Bytes from here to the end of "tag%}" with its white-space control ("-%}" takes the blanks behind it); 0: not here. */
static size_t tag_end(const struct ic_lexer *x, size_t ahead, const char *end, bool plus)
{
	bool minus = follows(x, ahead, "-");
	size_t at = ahead + (minus || (plus && follows(x, ahead, "+")));

	if (!follows(x, at, end))
		return 0;
	at += strlen(end);
	return minus ? at + ic_template_spaces_front(rest(x) + at, left(x) - at) : at;
}

/* Bytes of "{% word %}" from here, with white-space control at both ends; 0: something else stands here. */
static size_t word_tag(const struct ic_lexer *x, const char *word, bool plus)
{
	size_t at = 2;

	if (!follows(x, 0, "{%"))
		return 0;
	at += follows(x, at, "-") || follows(x, at, "+");
	at += ic_template_spaces_front(rest(x) + at, left(x) - at);
	if (!follows(x, at, word))
		return 0;
	at += strlen(word);
	at += ic_template_spaces_front(rest(x) + at, left(x) - at);
	return tag_end(x, at, "%}", plus);
}

/* Moves behind a comment. */
static int skip_comment(struct ic_lexer *x, struct imgcheck_error **err)
{
	unsigned line = x->line;

	advance(x, 2);
	if (follows(x, 0, "-") || follows(x, 0, "+"))
		advance(x, 1);
	for (size_t i = 0; i < left(x); i++) {
		size_t bytes = tag_end(x, i, "#}", true);

		if (bytes) {
			advance(x, bytes);
			return 0;
		}
	}
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, x->name, line, 0,
	                       "cannot evaluate the template: this comment has no end (#})");
}

/* A whole raw block from here: its content is the token.  begin is the length of its first tag. */
static int take_raw(struct ic_lexer *x, size_t begin, struct ic_token *token, struct imgcheck_error **err)
{
	unsigned line = x->line;

	advance(x, begin);
	for (size_t i = 0; i < left(x); i++) {
		struct ic_lexer there = *x;
		size_t bytes;

		there.at += i;
		bytes = word_tag(&there, "endraw", true);
		if (!bytes)
			continue;
		*token = (struct ic_token){IC_TOKEN_DATA, rest(x), i, x->line};
		if (follows(x, i + 2, "-"))
			token->len -= ic_template_spaces_back(token->text, token->len);
		advance(x, i + bytes);
		return 0;
	}
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, x->name, line, 0,
	                       "cannot evaluate the template: this raw block has no end ({%% endraw %%})");
}

/* The tag that starts here.  *more: it gave no token (a comment, an empty raw block). */
static int take_tag(struct ic_lexer *x, struct ic_token *token, bool *more, struct imgcheck_error **err)
{
	bool print = follows(x, 0, "{{");
	size_t raw = word_tag(x, "raw", false);

	*more = false;
	if (follows(x, 0, "{#")) {
		*more = true;
		return skip_comment(x, err);
	}
	if (raw) {
		int result = take_raw(x, raw, token, err);

		*more = result == 0 && token->len == 0;
		return result;
	}
	take(x, token, print ? IC_TOKEN_PRINT_BEGIN : IC_TOKEN_BLOCK_BEGIN, follows(x, 2, "-") || follows(x, 2, "+") ? 3 : 2);
	x->state = print ? IC_LEXER_PRINT : IC_LEXER_BLOCK;
	x->opened = 0;
	return 0;
}

static int next_in_text(struct ic_lexer *x, struct ic_token *token, struct imgcheck_error **err)
{
	bool more = true;
	int result = 0;

	while (result == 0 && more) {
		size_t tag = find_tag(x), kept = tag;

		if (follows(x, tag + 2, "-") && tag < left(x))
			kept -= ic_template_spaces_back(rest(x), tag);
		*token = (struct ic_token){kept ? IC_TOKEN_DATA : IC_TOKEN_END, rest(x), kept, x->line};
		advance(x, tag);
		if (kept || !left(x))
			return 0;
		result = take_tag(x, token, &more, err);
	}
	return result;
}

/* Digits that may stand in groups ("1_000"); `hex` takes a-f too. */
static size_t digits(const char *text, size_t len, bool hex)
{
	size_t at = 0;

	while (at < len) {
		size_t digit = at + (at && text[at] == '_');
		char c = digit < len ? ic_to_lower(text[digit]) : '\0';

		if (!ic_is_digit(c) && !(hex && c >= 'a' && c <= 'f'))
			break;
		at = digit + 1;
	}
	return at;
}

/* Bytes of the floating-point number at the front, 0 where there is none. */
static size_t float_bytes(const char *text, size_t len)
{
	size_t whole = digits(text, len, false), at = whole, more, sign;

	if (!whole)
		return 0;
	if (at < len && text[at] == '.' && (more = digits(text + at + 1, len - at - 1, false)) > 0)
		at += 1 + more;
	if (at < len && ic_to_lower(text[at]) == 'e') {
		sign = at + 1 < len && (text[at + 1] == '+' || text[at + 1] == '-');
		more = digits(text + at + 1 + sign, len - at - 1 - sign, false);
		if (more)
			at += 1 + sign + more;
	}
	return at > whole ? at : 0;
}

/* Bytes of a run of digits below `base` behind the prefix "0x", "0o" or "0b"; 0 where it is not one. */
static size_t prefixed_bytes(const char *text, size_t len)
{
	char kind = len > 2 && text[0] == '0' ? ic_to_lower(text[1]) : '\0';
	char most = kind == 'b' ? '1' : '7';
	size_t at = 2;

	if (kind == 'x') {
		size_t first = text[2] == '_', more = digits(text + 2 + first, len - 2 - first, true);

		return more ? 2 + first + more : 0;
	}
	if (kind != 'b' && kind != 'o')
		return 0;
	while (at < len) {
		size_t digit = at + (text[at] == '_');

		if (digit >= len || text[digit] < '0' || text[digit] > most)
			break;
		at = digit + 1;
	}
	return at > 2 ? at : 0;
}

static size_t integer_bytes(const char *text, size_t len)
{
	size_t at = prefixed_bytes(text, len);

	if (at || text[0] != '0')
		return at ? at : digits(text, len, false);
	for (at = 1; at < len; at++) {
		if (text[at] == '_' && at + 1 < len && text[at + 1] == '0')
			at++;
		else if (text[at] != '0')
			break;
	}
	return at;
}

/* Bytes of the string literal at the front; 0 where its end is missing. */
static size_t string_bytes(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == text[0])
			return i + 1;
	}
	return 0;
}

static size_t name_bytes(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && (ic_is_alnum(text[at]) || text[at] == '_'))
		at++;
	return at;
}

static size_t operator_bytes(const char *text, size_t len)
{
	static const char *const twins[] = {"//", "**", "==", "!=", ">=", "<="};

	for (size_t i = 0; i < IC_COUNT(twins); i++) {
		if (ic_text_starts(text, len, twins[i]))
			return 2;
	}
	return text[0] && strchr("+-/*%~[](){}><=.:|,;", text[0]) ? 1 : 0;
}

/* Keeps the open brackets: within them "}}" and "%}" do not end the tag. */
static int balance(struct ic_lexer *x, char c, struct imgcheck_error **err)
{
	const char *closing = strchr(")]}", c), *opening = strchr("([{", c);

	if (opening) {
		if (x->opened == sizeof(x->open))
			return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, x->name, x->line, 0,
			                       "cannot evaluate an expression with more than %zu open brackets", sizeof(x->open));
		x->open[x->opened++] = ")]}"[opening - "([{"];
	} else if (closing) {
		if (!x->opened || x->open[x->opened - 1] != c)
			return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, x->name, x->line, 0,
			                       "cannot evaluate the template: '%c' has no counterpart", c);
		x->opened--;
	}
	return 0;
}

static int take_operator(struct ic_lexer *x, struct ic_token *token, struct imgcheck_error **err)
{
	size_t bytes = operator_bytes(rest(x), left(x));
	int result = 0;

	if (!bytes)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, x->name, x->line, 0,
		                       "cannot evaluate the template: unexpected character '%.*s'",
		                       (int)ic_template_char_bytes(rest(x), left(x)), rest(x));
	if (bytes == 1)
		result = balance(x, rest(x)[0], err);
	take(x, token, IC_TOKEN_OPERATOR, bytes);
	return result;
}

/* Bytes of the end of the current tag, 0 where it does not end here. */
static size_t current_tag_end(const struct ic_lexer *x)
{
	if (x->opened || x->state == IC_LEXER_EXPRESSION)
		return 0;
	return x->state == IC_LEXER_PRINT ? tag_end(x, 0, "}}", false) : tag_end(x, 0, "%}", true);
}

static int next_in_tag(struct ic_lexer *x, struct ic_token *token, struct imgcheck_error **err)
{
	size_t end, bytes;
	bool after_dot;

	for (;;) {
		end = current_tag_end(x);
		if (end || !ic_template_space_front(rest(x), left(x)))
			break;
		advance(x, ic_template_space_front(rest(x), left(x)));
	}
	if (end) {
		take(x, token, x->state == IC_LEXER_PRINT ? IC_TOKEN_PRINT_END : IC_TOKEN_BLOCK_END, end);
		x->state = IC_LEXER_TEXT;
		return 0;
	}
	if (!left(x)) {
		take(x, token, IC_TOKEN_END, 0);
		return 0;
	}
	after_dot = x->at > 0 && x->text[x->at - 1] == '.';
	if (!after_dot && (bytes = float_bytes(rest(x), left(x))) > 0)
		take(x, token, IC_TOKEN_FLOAT, bytes);
	else if (ic_is_digit(rest(x)[0]))
		take(x, token, IC_TOKEN_INTEGER, integer_bytes(rest(x), left(x)));
	else if ((bytes = name_bytes(rest(x), left(x))) > 0)
		take(x, token, IC_TOKEN_NAME, bytes);
	else if ((rest(x)[0] == '"' || rest(x)[0] == '\'') && (bytes = string_bytes(rest(x), left(x))) > 0)
		take(x, token, IC_TOKEN_STRING, bytes);
	else
		return take_operator(x, token, err);
	return 0;
}

int ic_lexer_next(struct ic_lexer *x, struct ic_token *token, struct imgcheck_error **err)
{
	return x->state == IC_LEXER_TEXT ? next_in_text(x, token, err) : next_in_tag(x, token, err);
}

bool ic_token_is_name(const struct ic_token *token, const char *name)
{
	return token->kind == IC_TOKEN_NAME && ic_text_equal(token->text, token->len, name);
}

bool ic_token_is_operator(const struct ic_token *token, const char *text)
{
	return token->kind == IC_TOKEN_OPERATOR && ic_text_equal(token->text, token->len, text);
}

/* A code point as UTF-8.  0, surrogates and what is beyond Unicode cannot stand in a value. */
static int add_code_point(struct ic_buf *out, unsigned long c, struct imgcheck_error **err)
{
	char bytes[4];
	size_t len = 0;

	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "\\u%04lx is no character", c);
	if (c < 0x80) {
		bytes[len++] = (char)c;
	} else {
		unsigned tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
		unsigned mark = tail == 1 ? 0xc0 : tail == 2 ? 0xe0 : 0xf0;

		bytes[len++] = (char)(mark | (c >> (6 * tail)));
		while (tail--)
			bytes[len++] = (char)(0x80 | ((c >> (6 * tail)) & 0x3f));
	}
	return ic_buf_add(out, bytes, len, err);
}

/* Exactly `count` hexadecimal digits as a number. */
static bool hex_number(const char *text, size_t len, size_t count, unsigned long *out)
{
	*out = 0;
	if (len < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		char c = ic_to_lower(text[i]);

		if (ic_is_digit(c))
			*out = *out * 16 + (unsigned long)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*out = *out * 16 + (unsigned long)(c - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* The escapes with digits; text is what follows the backslash, *used how much of it was read. */
static int add_number_escape(const char *text, size_t len, size_t *used, struct ic_buf *out, struct imgcheck_error **err)
{
	size_t count = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : 8;
	unsigned long c = 0;

	if (text[0] >= '0' && text[0] <= '7') {
		for (*used = 0; *used < 3 && *used < len && text[*used] >= '0' && text[*used] <= '7'; ++*used)
			c = c * 8 + (unsigned long)(text[*used] - '0');
		return add_code_point(out, c, err);
	}
	if (!hex_number(text + 1, len - 1, count, &c))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "\\%c in a string needs %zu hexadecimal digits", text[0], count);
	*used = 1 + count;
	return add_code_point(out, c, err);
}

/* One escape of Python's unicode-escape; text is what follows the backslash. */
static int add_escape(const char *text, size_t len, size_t *used, struct ic_buf *out, struct imgcheck_error **err)
{
	static const char letters[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
	const char *letter = text[0] ? strchr(letters, text[0]) : NULL;

	*used = 1;
	if (letter)
		return ic_buf_add_char(out, meanings[letter - letters], err);
	if (text[0] == '\n')
		return 0;
	if (text[0] == 'N' || !ic_template_is_ascii(text, 1))
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED,
		                    "\\N and a backslash before a letter beyond ASCII are not supported");
	if ((text[0] >= '0' && text[0] <= '7') || text[0] == 'x' || text[0] == 'u' || text[0] == 'U')
		return add_number_escape(text, len, used, out, err);
	*used = 0;
	return ic_buf_add_char(out, '\\', err);
}

int ic_token_string(const struct ic_token *token, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *text = token->text + 1;
	size_t len = token->len - 2;
	int result = 0;

	for (size_t i = 0; result == 0 && i < len;) {
		size_t used = 1;

		if (text[i] == '\\') {
			result = add_escape(text + i + 1, len - i - 1, &used, out, err);
			used++;
		} else {
			result = ic_buf_add_char(out, text[i], err);
		}
		i += used;
	}
	return result;
}
