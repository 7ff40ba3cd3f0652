/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <string.h>

#include "limits.h"
#include "text.h"

static bool is_structure(char c)
{
	return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

/*
 * Structural bytes outside strings, counted up to the ceiling; of the first value alone where more may
 * follow behind it.
 */
static bool structure_fits(const char *text, size_t len, bool first_only)
{
	size_t tokens = 0, depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		if (quoted || !is_structure(text[i]))
			continue;
		if (++tokens > IC_MAX_JSON_TOKENS)
			return false;
		if (text[i] == '{' || text[i] == '[')
			depth++;
		else if (text[i] == '}' || text[i] == ']')
			depth -= depth > 0;
		if (first_only && depth == 0)
			return true;
	}
	return true;
}

/* Errors: LIMIT, NOMEM, and SYNTAX as *why tells it. */
static int load(const char *text, size_t len, size_t flags, json_t **out, json_error_t *why)
{
	*out = NULL;
	*why = (json_error_t){0};
	if (!structure_fits(text, len, (flags & JSON_DISABLE_EOF_CHECK) != 0))
		return IMGCHECK_ERR_LIMIT;
	*out = json_loadb(text, len, flags | JSON_DECODE_ANY | JSON_ALLOW_NUL, why);
	if (*out)
		return 0;
	/* What jansson fails at without a word is an allocation. */
	if (json_error_code(why) == json_error_out_of_memory || json_error_code(why) == json_error_unknown)
		return IMGCHECK_ERR_NOMEM;
	return IMGCHECK_ERR_SYNTAX;
}

static int refuse(const char *name, int result, const json_error_t *why, const char *words, struct imgcheck_error **err)
{
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result == IMGCHECK_ERR_LIMIT)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, name, 0, 0, "cannot read JSON with more than %zu structural characters",
		                       (size_t)IC_MAX_JSON_TOKENS);
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, why->line > 0 ? (unsigned)why->line : 0,
	                       why->column > 0 ? (unsigned)why->column : 0, "cannot read JSON: %s", words);
}

int ic_json_parse(const char *name, const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	json_error_t why;
	int result = load(text, len, 0, out, &why);

	return result < 0 ? refuse(name, result, &why, why.text, err) : 0;
}

int ic_json_parse_secret(const char *name, const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	json_error_t why;
	int result = load(text, len, 0, out, &why);

	explicit_bzero(why.text, sizeof(why.text));
	return result < 0 ? refuse(name, result, &why, "it is not well-formed", err) : 0;
}

int ic_json_parse_next(const char *name, const char *text, size_t len, json_t **out, size_t *used,
                       struct imgcheck_error **err)
{
	json_error_t why;
	int result = load(text, len, JSON_DISABLE_EOF_CHECK, out, &why);

	*used = result < 0 ? 0 : (size_t)why.position;
	return result < 0 ? refuse(name, result, &why, why.text, err) : 0;
}

const char *ic_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}
