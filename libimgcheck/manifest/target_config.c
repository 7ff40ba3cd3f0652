/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/target_config.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

static bool is_number_byte(char c)
{
	return ic_is_digit(c) || (c && strchr("+-.eE", c));
}

/* Bytes of the token at the front of valid JSON text: a string, a number, or one byte of anything else. */
static size_t token_bytes(const char *text, size_t len)
{
	size_t at = 1;

	if (text[0] == '"') {
		while (at < len && text[at] != '"')
			at += text[at] == '\\' ? 2 : 1;
		return at < len ? at + 1 : len;
	}
	while ((text[0] == '-' || ic_is_digit(text[0])) && at < len && is_number_byte(text[at]))
		at++;
	return at;
}

/* Copies valid JSON text with each number in quotes: 1.10 must not become 1.1. */
static int quote_numbers(const char *text, size_t len, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t at = 0, bytes; result == 0 && at < len; at += bytes) {
		bool number = text[at] == '-' || ic_is_digit(text[at]);

		bytes = token_bytes(text + at, len - at);
		if (number)
			result = ic_buf_add_char(out, '"', err);
		if (result == 0)
			result = ic_buf_add(out, text + at, bytes, err);
		if (result == 0 && number)
			result = ic_buf_add_char(out, '"', err);
	}
	return result;
}

int ic_target_config_read(struct ic_target_config *config, const char *json, size_t len, struct imgcheck_error **err)
{
	json_t *values IC_AUTO(json) = NULL, *texts IC_AUTO(json) = NULL;
	struct ic_buf quoted IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&quoted, 4 * IC_MAX_VALUES_BYTES); /* a snap keeps logins in its configuration */
	if (len > IC_MAX_VALUES_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot read a configuration of more than %zu bytes",
		                    IC_MAX_VALUES_BYTES);
	result = ic_json_parse_secret(NULL, json, len, &values, err);
	if (result == 0 && !json_is_object(values))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot read the configuration: it is no JSON object");
	if (result == 0)
		result = quote_numbers(json, len, &quoted, err);
	if (result == 0)
		result = ic_json_parse_secret(NULL, ic_buf_text(&quoted), quoted.len, &texts, err);
	if (result < 0)
		return result;
	ic_target_config_clear(config);
	config->values = IC_TAKE(values);
	config->texts = IC_TAKE(texts);
	return 0;
}

void ic_target_config_clear(struct ic_target_config *config)
{
	json_decref(config->values);
	json_decref(config->texts);
	*config = (struct ic_target_config){NULL, NULL};
}

/* A member by its whole name, else by the way through the maps that the name's dots tell: borrowed. */
static const json_t *find(const json_t *object, const char *key)
{
	char name[IC_MAX_PATH_BYTES];

	while (object && !json_object_get(object, key)) {
		const char *dot = strchr(key, '.');
		size_t len = dot ? (size_t)(dot - key) : 0;

		if (!len || len >= sizeof(name))
			return NULL;
		memcpy(name, key, len);
		name[len] = '\0';
		object = json_object_get(object, name);
		key = dot + 1;
	}
	return json_object_get(object, key);
}

int ic_target_config_text(const struct ic_target_config *config, const char *key, char **out, struct imgcheck_error **err)
{
	const json_t *value = find(config->texts, key);

	*out = NULL;
	if (!value || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0))
		return 0;
	if (json_is_string(value))
		*out = ic_text_copy(json_string_value(value), json_string_length(value));
	else if (json_is_boolean(value))
		*out = json_is_true(value) ? ic_text_copy("true", strlen("true")) : ic_text_copy("false", strlen("false"));
	else
		return ic_json_text_of(find(config->values, key), JSON_SORT_KEYS, out, err);
	return *out ? 0 : ic_error_nomem(err);
}
