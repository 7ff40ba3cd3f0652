/* SPDX-License-Identifier: Apache-2.0 */
#include "source/base64.h"

#include "base/text.h"

/* -1 for a byte that is no digit. */
static int digit_of(char c)
{
	if (ic_is_upper(c))
		return c - 'A';
	if (ic_is_lower(c))
		return c - 'a' + 26;
	if (ic_is_digit(c))
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static int malformed(struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot read base64");
}

static bool is_skipped(char c, enum ic_base64_rules rules)
{
	return c == '\n' || c == '\r' || (rules == IC_BASE64_PEM && ic_is_space(c));
}

static bool is_padding_right(size_t digits, size_t padding, enum ic_base64_rules rules)
{
	if (rules == IC_BASE64_UNPADDED)
		return padding == 0 && digits % 4 != 1;
	return padding <= 2 && (digits + padding) % 4 == 0;
}

int ic_base64_decode(const char *text, size_t len, enum ic_base64_rules rules, struct ic_buf *out, struct imgcheck_error **err)
{
	unsigned bits = 0;
	size_t digits = 0, padding = 0;

	for (size_t i = 0; i < len; i++) {
		int digit = digit_of(text[i]);

		if (is_skipped(text[i], rules))
			continue;
		if (text[i] == '=') {
			padding++;
			continue;
		}
		if (digit < 0 || padding)
			return malformed(err);
		bits = (bits << 6 | (unsigned)digit) & 0xffffff;
		if (digits++ % 4 != 0) {
			/* The second, third and fourth digit of a group complete a byte each. */
			unsigned spare = 2 * (unsigned)(3 - (digits - 1) % 4);
			int result = ic_buf_add_char(out, (char)(bits >> spare & 0xff), err);

			if (result < 0)
				return result;
		}
	}
	return is_padding_right(digits, padding, rules) ? 0 : malformed(err);
}

int ic_base64_encode(const char *data, size_t len, struct ic_buf *out, struct imgcheck_error **err)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	int result = 0;

	for (size_t i = 0; result == 0 && i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		unsigned bits = 0;
		char group[4];

		for (size_t k = 0; k < 3; k++)
			/* cppcheck-suppress [knownConditionTrueFalse, badBitmaskCheck] ; it takes n for 0, which it never is */
			bits = bits << 8 | (k < n ? (unsigned char)data[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			group[k] = k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
		result = ic_buf_add(out, group, sizeof(group), err);
	}
	return result;
}
