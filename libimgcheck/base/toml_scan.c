/* SPDX-License-Identifier: Apache-2.0 */
#include "toml_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "limits.h"
#include "text.h"

/* ------------------------------------------------------------------ the place */

bool ic_toml_starts(const struct ic_toml_scan *s, const char *text)
{
	return ic_text_starts(s->at, (size_t)(s->end - s->at), text);
}

int ic_toml_fail(const struct ic_toml_scan *s, struct imgcheck_error **err, const char *what)
{
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, s->name, s->line, (unsigned)(s->at - s->line_start) + 1,
	                       "cannot read this as TOML: %s", what);
}

void ic_toml_blanks(struct ic_toml_scan *s)
{
	while (ic_toml_peek(s, 0) == ' ' || ic_toml_peek(s, 0) == '\t')
		s->at++;
}

bool ic_toml_newline(struct ic_toml_scan *s)
{
	if (ic_toml_peek(s, 0) == '\r' && ic_toml_peek(s, 1) == '\n')
		s->at++;
	if (ic_toml_peek(s, 0) != '\n')
		return false;
	s->at++;
	s->line++;
	s->line_start = s->at;
	return true;
}

/* Control bytes that may stand neither in a comment nor in a string. */
static bool is_control(char c)
{
	return (c >= '\0' && c < ' ' && c != '\t') || c == '\x7f';
}

int ic_toml_comment(struct ic_toml_scan *s, struct imgcheck_error **err)
{
	if (ic_toml_peek(s, 0) != '#')
		return 0;
	while (s->at < s->end && *s->at != '\n' && !ic_toml_starts(s, "\r\n")) {
		if (is_control(*s->at))
			return ic_toml_fail(s, err, "a control character in a comment");
		s->at++;
	}
	return 0;
}

/* A scalar that starts at `from`. */
static int make(struct ic_toml_scan *s, const struct ic_toml_scan *from, const char *text, size_t len,
                enum ic_node_style style, struct ic_node **out, struct imgcheck_error **err)
{
	int result = ic_doc_scalar(s->doc, text, len, out, err);

	if (result < 0)
		return result;
	(*out)->style = style;
	(*out)->line = from->line;
	(*out)->column = (unsigned)(from->at - from->line_start) + 1;
	return 0;
}

int ic_toml_take(struct ic_toml_scan *s, size_t len, struct ic_node **out, struct imgcheck_error **err)
{
	int result = make(s, s, s->at, len, IC_STYLE_PLAIN, out, err);

	s->at += len;
	return result;
}

/* ------------------------------------------------------------------ strings */

static int add_code_point(struct ic_buf *out, unsigned long c, struct imgcheck_error **err)
{
	char bytes[4];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char marks[] = {0, 0x00, 0xC0, 0xE0, 0xF0};

	for (size_t i = len; i-- > 0; c >>= 6)
		bytes[i] = (char)(i ? 0x80 | (c & 0x3F) : marks[len] | c);
	return ic_buf_add(out, bytes, len, err);
}

static int hex_digit(char c)
{
	if (ic_is_digit(c))
		return c - '0';
	c = ic_to_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \uXXXX and \UXXXXXXXX: Unicode scalar values. */
static int add_unicode(struct ic_toml_scan *s, size_t digits, struct ic_buf *out, struct imgcheck_error **err)
{
	unsigned long c = 0;

	for (size_t i = 0; i < digits; i++) {
		int digit = hex_digit(ic_toml_peek(s, 2 + i));

		if (digit < 0)
			return ic_toml_fail(s, err, "\\u needs 4 and \\U 8 hexadecimal digits");
		c = c << 4 | (unsigned)digit;
	}
	if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return ic_toml_fail(s, err, "there is no such character");
	s->at += 2 + digits;
	return add_code_point(out, c, err);
}

/* A backslash at the end of a line, which swallows all blanks and line ends up to the next text. */
static bool skip_line_end(struct ic_toml_scan *s)
{
	struct ic_toml_scan ahead = *s;

	ahead.at++;
	ic_toml_blanks(&ahead);
	if (!ic_toml_newline(&ahead))
		return false;
	do
		ic_toml_blanks(&ahead);
	while (ic_toml_newline(&ahead));
	*s = ahead;
	return true;
}

static int add_escape(struct ic_toml_scan *s, bool many_lines, struct ic_buf *out, struct imgcheck_error **err)
{
	static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
	char c = ic_toml_peek(s, 1);
	const char *found = c ? strchr(letters, c) : NULL;

	if (c == 'u' || c == 'U')
		return add_unicode(s, c == 'u' ? 4 : 8, out, err);
	if (many_lines && skip_line_end(s))
		return 0;
	if (!found)
		return ic_toml_fail(s, err, "there is no such escape sequence");
	s->at += 2;
	return ic_buf_add_char(out, meant[found - letters], err);
}

/* One character of a string, or an escape sequence. */
static int add_character(struct ic_toml_scan *s, bool many_lines, bool escapes, struct ic_buf *out,
                         struct imgcheck_error **err)
{
	const char *from = s->at;

	if (s->at == s->end)
		return ic_toml_fail(s, err, "a string without an end");
	if (many_lines && ic_toml_newline(s))
		return ic_buf_add_char(out, '\n', err);
	if (*from == '\n' || ic_toml_starts(s, "\r\n"))
		return ic_toml_fail(s, err, "a string that does not end on its line");
	if (is_control(*from))
		return ic_toml_fail(s, err, "a control character in a string");
	if (escapes && *from == '\\')
		return add_escape(s, many_lines, out, err);
	s->at++;
	return ic_buf_add_char(out, *from, err);
}

/* Up to the closing quote, which is swallowed. */
static int add_line(struct ic_toml_scan *s, char quote, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = 0;

	while (result == 0 && (s->at == s->end || *s->at != quote))
		result = add_character(s, false, quote == '"', out, err);
	s->at += result == 0;
	return result;
}

/* Up to three closing quotes; one or two more in front of them belong to the string. */
static int add_lines(struct ic_toml_scan *s, char quote, struct ic_buf *out, struct imgcheck_error **err)
{
	const char closing[] = {quote, quote, quote, '\0'};
	int result = 0;

	(void)ic_toml_newline(s);
	while (result == 0 && !ic_toml_starts(s, closing))
		result = add_character(s, true, quote == '"', out, err);
	for (int i = 0; i < 2 && result == 0 && ic_toml_peek(s, 3) == quote; i++, s->at++)
		result = ic_buf_add_char(out, quote, err);
	s->at += result == 0 ? 3 : 0;
	return result;
}

static int read_string(struct ic_toml_scan *s, bool many_lines, struct ic_node **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	struct ic_toml_scan from = *s;
	char quote = *s->at;
	int result;

	ic_buf_init_secret(&text, IC_MAX_SCALAR_BYTES);
	s->at += many_lines ? 3 : 1;
	result = many_lines ? add_lines(s, quote, &text, err) : add_line(s, quote, &text, err);
	return result < 0 ? result : make(s, &from, ic_buf_text(&text), text.len, IC_STYLE_QUOTED, out, err);
}

int ic_toml_quoted(struct ic_toml_scan *s, struct ic_node **out, struct imgcheck_error **err)
{
	return read_string(s, false, out, err);
}

/* ------------------------------------------------------------------ dates and times */

/* Two or four digits as a number within [low, high]. */
static bool digits_within(const char *text, size_t count, unsigned low, unsigned high)
{
	unsigned value = 0;

	for (size_t i = 0; i < count; i++) {
		if (!ic_is_digit(text[i]))
			return false;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	return value >= low && value <= high;
}

static unsigned days_of(const char *year, const char *month)
{
	static const unsigned char days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned y = 0, m = (unsigned)(month[0] - '0') * 10 + (unsigned)(month[1] - '0');

	for (int i = 0; i < 4; i++)
		y = y * 10 + (unsigned)(year[i] - '0');
	if (m == 2 && y % 4 == 0 && (y % 100 != 0 || y % 400 == 0))
		return 29;
	return days[m];
}

/* YYYY-MM-DD at the front: its length, else 0. */
static size_t date_length(const char *text, size_t len)
{
	if (len < 10 || text[4] != '-' || text[7] != '-')
		return 0;
	if (!digits_within(text, 4, 0, 9999) || !digits_within(text + 5, 2, 1, 12))
		return 0;
	return digits_within(text + 8, 2, 1, days_of(text, text + 5)) ? 10 : 0;
}

/* HH:MM:SS with a fraction or not. */
static size_t time_length(const char *text, size_t len)
{
	size_t n = 8;

	if (len < n || text[2] != ':' || text[5] != ':')
		return 0;
	if (!digits_within(text, 2, 0, 23) || !digits_within(text + 3, 2, 0, 59) || !digits_within(text + 6, 2, 0, 59))
		return 0;
	if (n + 1 < len && text[n] == '.' && ic_is_digit(text[n + 1]))
		for (n++; n < len && ic_is_digit(text[n]);)
			n++;
	return n;
}

static size_t offset_length(const char *text, size_t len)
{
	if (len > 0 && ic_to_lower(text[0]) == 'z')
		return 1;
	if (len < 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':')
		return 0;
	return digits_within(text + 1, 2, 0, 23) && digits_within(text + 4, 2, 0, 59) ? 6 : 0;
}

/* A date, a time or both (then with an offset or not): its length, else 0. */
static size_t moment_length(const char *text, size_t len)
{
	size_t date = date_length(text, len), time;

	if (!date)
		return time_length(text, len);
	if (date == len || (ic_to_lower(text[date]) != 't' && text[date] != ' '))
		return date;
	time = time_length(text + date + 1, len - date - 1);
	if (!time)
		return date;
	date += 1 + time;
	return date + offset_length(text + date, len - date);
}

/* ------------------------------------------------------------------ numbers and Booleans */

/* The length of digits with single underscores between them, 0 where they are not so. */
static size_t digits_length(const char *text, size_t len, int base)
{
	size_t n = 0;

	for (; n < len; n++) {
		int digit = hex_digit(text[n]);

		if (text[n] == '_' && n > 0 && text[n - 1] != '_')
			continue;
		if (digit < 0 || digit >= base)
			break;
	}
	return n > 0 && text[n - 1] == '_' ? 0 : n;
}

/* Digits with underscores as a number.  False beyond max. */
static bool to_number(const char *text, size_t len, unsigned base, uint64_t max, uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++) {
		uint64_t digit = (uint64_t)hex_digit(text[i]);

		if (text[i] == '_')
			continue;
		if (value > (max - digit) / base)
			return false;
		value = value * base + digit;
	}
	*out = value;
	return true;
}

static int make_integer(struct ic_toml_scan *s, const struct ic_toml_scan *from, bool negative, const char *digits,
                        unsigned base, struct ic_node **out, struct imgcheck_error **err)
{
	char text[32];
	uint64_t value = 0;

	if (!to_number(digits, (size_t)(s->at - digits), base, (uint64_t)INT64_MAX + negative, &value))
		return ic_toml_fail(from, err, "an integer beyond 64 bits");
	(void)snprintf(text, sizeof(text), "%s%" PRIu64, negative && value ? "-" : "", value);
	return make(s, from, text, strlen(text), IC_STYLE_PLAIN, out, err);
}

/* 0x, 0o and 0b, without a sign. */
static int read_based(struct ic_toml_scan *s, int base, struct ic_node **out, struct imgcheck_error **err)
{
	struct ic_toml_scan from = *s;
	size_t len = digits_length(s->at + 2, (size_t)(s->end - s->at - 2), base);

	if (len == 0)
		return ic_toml_fail(s, err, "a number without digits of its base, or with an underscore at an end");
	s->at += 2 + len;
	return make_integer(s, &from, false, from.at + 2, (unsigned)base, out, err);
}

/* The length of a fraction and an exponent behind the whole part, 0 where there is neither or one is not complete. */
static size_t fraction_length(const char *text, size_t len)
{
	size_t n = 0, digits;

	if (len > 0 && text[0] == '.') {
		digits = digits_length(text + 1, len - 1, 10);
		if (!digits)
			return 0;
		n = 1 + digits;
	}
	if (n < len && ic_to_lower(text[n]) == 'e') {
		size_t sign = n + 1 < len && (text[n + 1] == '+' || text[n + 1] == '-');

		digits = digits_length(text + n + 1 + sign, len - n - 1 - sign, 10);
		n = digits ? n + 1 + sign + digits : 0;
	}
	return n;
}

static int make_float(struct ic_toml_scan *s, const struct ic_toml_scan *from, struct ic_node **out,
                      struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = 0;

	ic_buf_init(&text, IC_MAX_SCALAR_BYTES);
	for (const char *c = from->at + (*from->at == '+'); c < s->at && result == 0; c++)
		if (*c != '_')
			result = ic_buf_add_char(&text, *c, err);
	return result < 0 ? result : make(s, from, ic_buf_text(&text), text.len, IC_STYLE_PLAIN, out, err);
}

static int read_number(struct ic_toml_scan *s, struct ic_node **out, struct imgcheck_error **err)
{
	struct ic_toml_scan from = *s;
	bool negative = *s->at == '-', sign = negative || *s->at == '+';
	const char *digits = s->at + sign;
	size_t len, fraction;

	s->at = digits;
	if (ic_toml_starts(s, "inf") || ic_toml_starts(s, "nan")) {
		s->at += 3;
		return make_float(s, &from, out, err);
	}
	len = digits_length(digits, (size_t)(s->end - digits), 10);
	if (len == 0 || (len > 1 && digits[0] == '0'))
		return ic_toml_fail(&from, err, "a value is expected: text in quotes, a number, a date, true or false");
	s->at += len;
	fraction = fraction_length(s->at, (size_t)(s->end - s->at));
	if (fraction == 0)
		return make_integer(s, &from, negative, digits, 10, out, err);
	s->at += fraction;
	return make_float(s, &from, out, err);
}

int ic_toml_scalar(struct ic_toml_scan *s, struct ic_node **out, struct imgcheck_error **err)
{
	size_t moment = moment_length(s->at, (size_t)(s->end - s->at));
	char second = ic_toml_peek(s, 1);

	*out = NULL;
	if (ic_toml_peek(s, 0) == '"' || ic_toml_peek(s, 0) == '\'')
		return read_string(s, ic_toml_starts(s, "\"\"\"") || ic_toml_starts(s, "'''"), out, err);
	if (ic_toml_starts(s, "true"))
		return ic_toml_take(s, 4, out, err);
	if (ic_toml_starts(s, "false"))
		return ic_toml_take(s, 5, out, err);
	if (moment)
		return ic_toml_take(s, moment, out, err);
	if (ic_toml_peek(s, 0) == '0' && (second == 'x' || second == 'o' || second == 'b'))
		return read_based(s, second == 'x' ? 16 : second == 'o' ? 8 : 2, out, err);
	if (s->at == s->end)
		return ic_toml_fail(s, err, "a value is expected");
	return read_number(s, out, err);
}
