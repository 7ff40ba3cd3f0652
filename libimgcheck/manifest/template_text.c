/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_text.h"

#include <string.h>

/* White space beyond ASCII, in UTF-8, in the order of code points. */
static const char *const wide_spaces[] = {
	"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83",
	"\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a",
	"\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
};

/* Those of them that end a line. */
static const char *const wide_line_ends[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

static bool is_plain_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

static bool is_wide(char c)
{
	return (unsigned char)c >= 0x80;
}

/* Bytes of the text of the list that stands at the front, 0 for none. */
static size_t listed_front(const char *const *list, size_t count, const char *text, size_t len)
{
	for (size_t i = 0; i < count; i++) {
		size_t bytes = strlen(list[i]);

		if (bytes <= len && memcmp(text, list[i], bytes) == 0)
			return bytes;
	}
	return 0;
}

size_t ic_template_space_front(const char *text, size_t len)
{
	if (!len)
		return 0;
	if (!is_wide(text[0]))
		return is_plain_space(text[0]);
	return listed_front(wide_spaces, IC_COUNT(wide_spaces), text, len);
}

size_t ic_template_space_back(const char *text, size_t len)
{
	size_t start = len;

	if (!len)
		return 0;
	if (!is_wide(text[len - 1]))
		return is_plain_space(text[len - 1]);
	while (start && len - start < 4 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (!start)
		return 0;
	start--;
	return listed_front(wide_spaces, IC_COUNT(wide_spaces), text + start, len - start) == len - start ? len - start : 0;
}

size_t ic_template_spaces_front(const char *text, size_t len)
{
	size_t at = 0, bytes;

	while ((bytes = ic_template_space_front(text + at, len - at)) > 0)
		at += bytes;
	return at;
}

size_t ic_template_spaces_back(const char *text, size_t len)
{
	size_t left = len, bytes;

	while ((bytes = ic_template_space_back(text, left)) > 0)
		left -= bytes;
	return len - left;
}

size_t ic_template_char_bytes(const char *text, size_t len)
{
	size_t at = 1;

	while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

size_t ic_template_char_count(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

static size_t line_end_front(const char *text, size_t len)
{
	char c = text[0];

	if (c == '\r' && len > 1 && text[1] == '\n')
		return 2;
	if (!is_wide(c))
		return (c >= '\n' && c <= '\r') || (c >= '\x1c' && c <= '\x1e');
	return listed_front(wide_line_ends, IC_COUNT(wide_line_ends), text, len);
}

size_t ic_template_line_bytes(const char *text, size_t len, size_t *end)
{
	*end = 0;
	for (size_t i = 0; i < len; i++) {
		*end = line_end_front(text + i, len - i);
		if (*end)
			return i;
	}
	return len;
}

bool ic_template_is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (is_wide(text[i]))
			return false;
	}
	return true;
}

static int add_repr_char(struct ic_buf *out, char c, char quote, struct imgcheck_error **err)
{
	if (c == '\n')
		return ic_buf_add_text(out, "\\n", err);
	if (c == '\r')
		return ic_buf_add_text(out, "\\r", err);
	if (c == '\t')
		return ic_buf_add_text(out, "\\t", err);
	if (c < ' ' || c == 0x7f)
		return ic_buf_printf(out, err, "\\x%02x", (unsigned)c);
	if (c == quote || c == '\\') {
		int result = ic_buf_add_char(out, '\\', err);

		if (result < 0)
			return result;
	}
	return ic_buf_add_char(out, c, err);
}

int ic_template_add_repr(struct ic_buf *out, const char *text, size_t len, struct imgcheck_error **err)
{
	char quote = len && memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
	int result;

	if (!ic_template_is_ascii(text, len))
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "the quoted form of a text that is not ASCII is not supported");
	result = ic_buf_add_char(out, quote, err);
	for (size_t i = 0; result == 0 && i < len; i++)
		result = add_repr_char(out, text[i], quote, err);
	return result < 0 ? result : ic_buf_add_char(out, quote, err);
}

size_t ic_template_unify_newlines(char *text, size_t len)
{
	size_t to = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\r') {
			if (i + 1 < len && text[i + 1] == '\n')
				i++;
			text[to++] = '\n';
		} else {
			text[to++] = text[i];
		}
	}
	return to;
}
