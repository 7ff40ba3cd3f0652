/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/target_literal.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

static bool listed(const char *const *words, size_t count, const struct ic_node *scalar)
{
	for (size_t i = 0; i < count; i++) {
		if (ic_text_equal(scalar->text, scalar->len, words[i]))
			return true;
	}
	return false;
}

static bool is_true(const struct ic_node *scalar)
{
	static const char *const words[] = {"true", "True", "TRUE"};

	return listed(words, IC_COUNT(words), scalar);
}

static bool is_false(const struct ic_node *scalar)
{
	static const char *const words[] = {"false", "False", "FALSE"};

	return listed(words, IC_COUNT(words), scalar);
}

static size_t digits(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && ic_is_digit(text[at]))
		at++;
	return at;
}

/* An integer or a fraction in decimal digits, which every YAML and JSON writes alike. */
static bool is_number(const char *text, size_t len)
{
	size_t sign = len && text[0] == '-', whole = digits(text + sign, len - sign), at = sign + whole;

	if (!whole || (whole > 1 && text[sign] == '0'))
		return false;
	if (at == len)
		return true;
	return text[at] == '.' && at + 1 < len && at + 1 + digits(text + at + 1, len - at - 1) == len;
}

/* 1e3, 1.5E-3 */
static bool has_exponent(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && (ic_is_digit(text[at]) || text[at] == '.'))
		at++;
	if (!at || at == len || ic_to_lower(text[at]) != 'e')
		return false;
	at++;
	at += at < len && strchr("+-", text[at]) ? 1 : 0;
	return at < len && at + digits(text + at, len - at) == len;
}

/* 0644, 0x1f, 1_000, 12:30, 1. and .5: numbers in one YAML, texts or other numbers in the other. */
static bool has_odd_form(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	size_t same = 0;

	while (same < len && strchr("0123456789abcdefABCDEFxXoO_:.", text[same]))
		same++;
	if (same < len)
		return false;
	return text[0] == '.' || text[len - 1] == '.' || memchr(text, '_', len) ||
	       (colon && !memchr(text, '.', (size_t)(colon - text))) || (text[0] == '0' && len > 1 && text[1] != '.');
}

static bool is_ambiguous(const struct ic_node *scalar)
{
	static const char *const words[] = {"y",    "Y",    "n",    "N",    "yes",   "Yes",   "YES", "no",   "No",
	                                    "NO",   "on",   "On",   "ON",   "off",   "Off",   "OFF", ".inf", ".Inf",
	                                    ".INF", ".nan", ".NaN", ".NAN", "-.inf", "+.inf", "=",   "<<"};
	size_t sign = scalar->len && strchr("+-", scalar->text[0]) ? 1 : 0;
	const char *text = scalar->text + sign;
	size_t len = scalar->len - sign, dot = len > 1 && text[0] == '.';

	if (listed(words, IC_COUNT(words), scalar))
		return true;
	if (!len || !ic_is_digit(text[dot]))
		return false;
	return (sign && is_number(text, len)) || has_exponent(text, len) || has_odd_form(text, len);
}

static int read_plain(const struct ic_node *scalar, json_t **out, struct imgcheck_error **err)
{
	if (is_number(scalar->text, scalar->len)) {
		int result = ic_json_parse(NULL, scalar->text, scalar->len, out, NULL);

		if (result == 0)
			return 0;
		if (result == IMGCHECK_ERR_NOMEM)
			return ic_error_nomem(err);
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot use the number %s: beyond 64 bits", scalar->text);
	}
	if (is_ambiguous(scalar))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot tell whether '%s' is meant as a text: put it in quotes",
		                    scalar->text);
	*out = json_stringn(scalar->text, scalar->len);
	return *out ? 0 : ic_error_nomem(err);
}

int ic_literal_read(const struct ic_node *scalar, json_t **out, struct imgcheck_error **err)
{
	bool plain = scalar->style == IC_STYLE_PLAIN && !scalar->tag;

	*out = NULL;
	if (scalar->tag && strcmp(scalar->tag, "tag:yaml.org,2002:str") != 0)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot use a value with the tag '%s'", scalar->tag);
	if (plain && ic_node_is_null(scalar))
		*out = json_null();
	else if (plain && (is_true(scalar) || is_false(scalar)))
		*out = json_boolean(is_true(scalar));
	else if (plain)
		return read_plain(scalar, out, err);
	else
		*out = json_stringn(scalar->text, scalar->len);
	return *out ? 0 : ic_error_nomem(err);
}
