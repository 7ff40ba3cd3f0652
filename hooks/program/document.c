/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <string.h>

#include "memory.h"

json_t *document_object(void)
{
	return memory_must(json_object());
}

json_t *document_array(void)
{
	return memory_must(json_array());
}

void document_set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, memory_must(value)))
		memory_must(NULL);
}

void document_add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, memory_must(value)))
		memory_must(NULL);
}

static json_t *text_value(const char *text)
{
	json_t *value;
	AUTO(free) char *ascii = NULL;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	ascii = memory_text(text);
	for (char *p = ascii; *p; p++)
		if (*p & 0x80)
			*p = '?';
	return json_string(ascii);
}

void document_set_text(json_t *object, const char *name, const char *text)
{
	document_set(object, name, text_value(text));
}

void document_add_text(json_t *array, const char *text)
{
	document_add(array, text_value(text));
}

void document_set_number(json_t *object, const char *name, long long number)
{
	document_set(object, name, json_integer(number));
}

char *document_render(const json_t *document)
{
	AUTO(free) char *text = memory_must(json_dumps(document, JSON_INDENT(1) | JSON_ENSURE_ASCII));

	return memory_printf("%s\n", text);
}

/* Bytes of the token at the front of JSON text: a string, a number, or one byte of anything else. */
static size_t token_bytes(const char *text, size_t len)
{
	size_t at = 1;

	if (*text == '"') {
		while (at < len && text[at] != '"')
			at += text[at] == '\\' ? 2 : 1;
		return at < len ? at + 1 : len;
	}
	while (strchr("-0123456789", *text) && at < len && text[at] && strchr("+-.eE0123456789", text[at]))
		at++;
	return at;
}

/* A whole number of up to 18 digits is the same when it is printed again. */
static bool is_kept(const char *number, size_t len)
{
	size_t sign = *number == '-';

	return len - sign <= 18 && strspn(number + sign, "0123456789") >= len - sign && !(sign && number[sign] == '0');
}

/* Valid JSON text with those numbers in quotes: new, to be forgotten. */
static char *quote_numbers(const char *text, size_t len, size_t *quoted_len)
{
	char *quoted = memory_grow(NULL, 2 * len + 1, 1), *end = quoted;

	for (size_t at = 0, bytes; at < len; at += bytes) {
		bool quotes;

		bytes = token_bytes(text + at, len - at);
		quotes = text[at] && strchr("-0123456789", text[at]) && !is_kept(text + at, bytes);
		if (quotes)
			*end++ = '"';
		memcpy(end, text + at, bytes);
		end += bytes;
		if (quotes)
			*end++ = '"';
	}
	*end = '\0';
	*quoted_len = (size_t)(end - quoted);
	return quoted;
}

json_t *document_read_config(const char *text, size_t len, json_error_t *where)
{
	AUTO(json) json_t *valid = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, where);
	AUTO(secret) char *quoted = NULL;
	size_t quoted_len;

	if (!valid)
		return NULL;
	quoted = quote_numbers(text, len, &quoted_len);
	return json_loadb(quoted, quoted_len, 0, where);
}
