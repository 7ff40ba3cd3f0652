/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdint.h>
#include <string.h>

bool ic_text_equal(const char *a, size_t len, const char *b)
{
	return strlen(b) == len && (len == 0 || memcmp(a, b, len) == 0);
}

bool ic_text_equal_nocase(const char *a, size_t len, const char *b)
{
	if (strlen(b) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (ic_to_lower(a[i]) != ic_to_lower(b[i]))
			return false;
	return true;
}

bool ic_text_starts(const char *text, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && memcmp(text, prefix, n) == 0;
}

bool ic_text_ends(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(text + len - n, suffix, n) == 0;
}

bool ic_text_to_size(const char *text, size_t len, size_t max, size_t *out)
{
	size_t value = 0;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		size_t digit = (size_t)(text[i] - '0');

		if (!ic_is_digit(text[i]) || value > (max - digit) / 10 || digit > max)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return true;
}

char *ic_text_copy(const char *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

int ic_text_escape(struct ic_buf *out, const char *text, size_t len, size_t most, struct imgcheck_error **err)
{
	size_t limit = out->len + most;

	for (size_t i = 0; i < len; i++) {
		char piece[5] = {text[i], '\0'};
		int result;

		if (text[i] == '\\')
			piece[1] = '\\';
		else if (text[i] < ' ' || text[i] > '~') {
			unsigned byte = (unsigned char)text[i];

			piece[0] = '\\';
			piece[1] = 'x';
			piece[2] = "0123456789abcdef"[byte >> 4];
			piece[3] = "0123456789abcdef"[byte & 15];
		}
		if (out->len + strlen(piece) > limit)
			return ic_buf_add_text(out, "...", err);
		result = ic_buf_add_text(out, piece, err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Iterative: on a mismatch the last `*` takes one byte more, so the cost is at most the product of the lengths. */
bool ic_text_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* Well-formed sequences by their first byte, with the range of the second (Unicode, table 3-7). */
static const struct {
	unsigned char first, last, length, second_first, second_last;
} utf8_sequences[] = {
	{0x00, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
	{0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
	{0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

/* Length of the valid sequence at p, or 0. */
static size_t utf8_sequence(const unsigned char *p, size_t left)
{
	size_t row = 0, n;

	while (row < IC_COUNT(utf8_sequences) && (p[0] < utf8_sequences[row].first || p[0] > utf8_sequences[row].last))
		row++;
	n = row < IC_COUNT(utf8_sequences) ? utf8_sequences[row].length : 0;
	if (n > left)
		return 0;
	for (size_t i = 1; i < n; i++) {
		unsigned char low = i == 1 ? utf8_sequences[row].second_first : 0x80;
		unsigned char high = i == 1 ? utf8_sequences[row].second_last : 0xbf;

		if (p[i] < low || p[i] > high)
			return 0;
	}
	return n;
}

size_t ic_text_utf8_check(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t n = utf8_sequence((const unsigned char *)text + i, len - i);

		if (n == 0)
			return i;
		i += n;
	}
	return len;
}
