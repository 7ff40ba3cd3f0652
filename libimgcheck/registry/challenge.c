/* SPDX-License-Identifier: Apache-2.0 */
#include "challenge.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

/* A token of RFC 9110, 5.6.2: the rest of the text behind it. */
static const char *token_end(const char *text)
{
	while (*text > ' ' && *text <= '~' && !strchr("\"(),/:;<=>?@[]\\{}", *text))
		text++;
	return text;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r\n");
}

/* Reads a quoted string behind its first quote.  Where its end is missing the value is empty and nothing is left. */
static const char *read_quoted(const char *text, struct ic_buf *value, struct imgcheck_error **err)
{
	for (; *text && *text != '"'; text++) {
		if (*text == '\\' && !*++text)
			break;
		if (ic_buf_add_char(value, *text, err) < 0)
			return NULL;
	}
	if (*text)
		return text + 1;
	ic_buf_clear(value);
	return text;
}

/* Reads a token or a quoted string; the rest of the text, NULL without memory. */
static const char *read_value(const char *text, struct ic_buf *value, struct imgcheck_error **err)
{
	const char *end = token_end(text);

	if (*text == '"')
		return read_quoted(text + 1, value, err);
	return ic_buf_add(value, text, (size_t)(end - text), err) < 0 ? NULL : end;
}

static int push_lower(struct ic_vec *texts, const char *text, size_t len, struct imgcheck_error **err)
{
	int result = ic_texts_push(texts, text, len, err);

	for (char *c = result < 0 ? NULL : *(char **)ic_vec_at(texts, texts->count - 1); c && *c; c++)
		*c = ic_to_lower(*c);
	return result;
}

static int read_parameters(const struct ic_profile *profile, const char *text, struct ic_challenge *c, struct imgcheck_error **err)
{
	for (;;) {
		struct ic_buf value IC_AUTO(buf);
		const char *name = skip_blanks(text), *end = token_end(name);
		int result;

		ic_buf_init(&value, SIZE_MAX - 1);
		if (end == name || *end != '=')
			return 0;
		text = read_value(end + 1, &value, err);
		if (!text)
			return IMGCHECK_ERR_NOMEM;
		if (value.len == 0 && profile->ends_at_empty_value)
			return 0;
		result = push_lower(&c->parameters, name, (size_t)(end - name), err);
		if (result == 0)
			result = ic_texts_push(&c->parameters, ic_buf_text(&value), value.len, err);
		if (result < 0)
			return result;
		text = skip_blanks(text);
		if (*text++ != ',')
			return 0;
	}
}

static bool known_scheme(const char *text, size_t len, enum ic_scheme *out)
{
	static const char *const names[] = {"bearer", "digest", "basic"};

	for (size_t i = 0; i < IC_COUNT(names); i++)
		if (ic_text_equal_nocase(text, len, names[i])) {
			*out = (enum ic_scheme)i;
			return true;
		}
	return false;
}

/* Adds the field's challenge, where it is of a known scheme that the mask has. */
static int add_field(const struct ic_profile *profile, const char *field, unsigned schemes, struct ic_vec *out,
                     struct imgcheck_error **err)
{
	const char *end = token_end(field);
	struct ic_challenge c;
	int result;

	if (!known_scheme(field, (size_t)(end - field), &c.scheme) || !(schemes & 1U << c.scheme))
		return 0;
	ic_texts_init(&c.parameters, SIZE_MAX / sizeof(char *));
	result = read_parameters(profile, end, &c, err);
	if (result == 0)
		result = ic_vec_push(out, &c, err);
	if (result < 0)
		ic_texts_clear(&c.parameters);
	return result;
}

int ic_challenges_parse(const struct ic_profile *profile, const struct ic_vec *fields, struct ic_vec *out,
                        struct imgcheck_error **err)
{
	static const unsigned one_by_one[] = {1U << IC_SCHEME_BEARER, 1U << IC_SCHEME_DIGEST, 1U << IC_SCHEME_BASIC};
	static const unsigned together = 1U << IC_SCHEME_BEARER | 1U << IC_SCHEME_DIGEST | 1U << IC_SCHEME_BASIC;
	const unsigned *rounds = profile->first_challenge ? &together : one_by_one;
	size_t count = profile->first_challenge ? 1 : IC_COUNT(one_by_one);
	int result = 0;

	ic_vec_init(out, sizeof(struct ic_challenge), SIZE_MAX / sizeof(struct ic_challenge));
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; result == 0 && i < fields->count; i++)
			result = add_field(profile, ic_texts_get(fields, i), rounds[k], out, err);
	return result;
}

void ic_challenges_clear(struct ic_vec *challenges)
{
	for (size_t i = 0; i < challenges->count; i++)
		ic_texts_clear(&((struct ic_challenge *)ic_vec_at(challenges, i))->parameters);
	ic_vec_clear(challenges);
}

const char *ic_challenge_get(const struct ic_challenge *c, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i + 1 < c->parameters.count; i += 2)
		if (strcmp(ic_texts_get(&c->parameters, i), name) == 0)
			value = ic_texts_get(&c->parameters, i + 1);
	return value;
}

const struct ic_challenge *ic_challenges_choose(const struct ic_vec *challenges)
{
	for (size_t i = 0; i < challenges->count; i++) {
		const struct ic_challenge *c = ic_vec_at(challenges, i);

		if (c->scheme != IC_SCHEME_DIGEST)
			return c;
	}
	return NULL;
}
