/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "limits.h"
#include "text.h"

static bool is_structure(char c)
{
	return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

/* ------------------------------------------------------------------ before parsing */

struct extent {
	size_t end;     /* behind the value */
	size_t longest; /* bytes of the longest token */
};

/* The token at the front, or one blank.  A string that does not end reaches to the end. */
static size_t token_len(const char *text, size_t len)
{
	size_t i = 1;

	if (is_structure(text[0]) || ic_is_space(text[0]))
		return 1;
	if (text[0] == '"') {
		for (; i < len && text[i] != '"'; i++)
			i += text[i] == '\\';
		return i < len ? i + 1 : len;
	}
	while (i < len && text[i] != '"' && !is_structure(text[i]) && !ic_is_space(text[i]))
		i++;
	return i;
}

/* Looks at the whole text, or at its first value alone.  False: more structure than the ceiling. */
static bool measure(const char *text, size_t len, bool first_only, struct extent *out)
{
	size_t tokens = 0, depth = 0, i = 0;
	bool ended = false;

	*out = (struct extent){0, 0};
	while (i < len && !(first_only && ended)) {
		size_t token = token_len(text + i, len - i);

		if (is_structure(text[i]) && ++tokens > IC_MAX_JSON_TOKENS)
			return false;
		if (text[i] == '{' || text[i] == '[')
			depth++;
		else if (text[i] == '}' || text[i] == ']')
			depth -= depth > 0;
		ended = depth == 0 && !ic_is_space(text[i]);
		out->longest = token > out->longest ? token : out->longest;
		i += token;
	}
	out->end = i;
	return true;
}

/* ------------------------------------------------------------------ parsing */

/*
 * What jansson reads: an array of a number and the value.  jansson collects the bytes of a token in a buffer and does not
 * look whether that could grow: a string would lose bytes without a word, and where the lost one is the closing quote,
 * jansson writes beyond its memory.  So the number comes first, in front of the first line, longer than the longest token:
 * behind it the buffer grows no more.  That memory was lacking is told by errno, until the end of a number clears it:
 * structure and blanks are pieces of their own, before which it is looked at.
 */
#define LEAST_DIGITS 24 /* or this times a power of two: the buffer, 16 bytes doubled, does not grow at the number's end */

static const char before[] = "[0.", between[] = ",\n", after[] = "]";

struct source {
	const char *text;
	size_t len, zeros;
	size_t at;    /* in all that is read, from the bracket on */
	size_t piece; /* bytes of the last one, which can be of a secret */
	bool no_memory;
};

/* What is left of the part that begins at *start, where that is the one to read. */
static size_t part_left(const struct source *s, size_t *start, size_t len, size_t *offset)
{
	*offset = s->at - *start;
	*start += len;
	return s->at < *start ? *start - s->at : 0;
}

static size_t piece_of_text(const char *text, size_t len)
{
	size_t i = 1;

	while (i < len && !is_structure(text[0]) && !ic_is_space(text[0]) && !is_structure(text[i]) && !ic_is_space(text[i]))
		i++;
	return i;
}

static size_t next_piece(void *to, size_t size, void *arg)
{
	struct source *s = arg;
	size_t start = 0, offset, left, len = 0;

	explicit_bzero(to, s->piece);
	s->no_memory = s->no_memory || errno == ENOMEM;
	if (s->no_memory)
		return 0; /* the end: nothing more may go into a buffer that did not grow */
	if ((left = part_left(s, &start, strlen(before), &offset)) > 0)
		memcpy(to, before + offset, len = left);
	else if ((left = part_left(s, &start, s->zeros, &offset)) > 0)
		memset(to, '0', len = left < size ? left : size); /* NOLINT(bugprone-suspicious-memset-usage): the digit is meant */
	else if ((left = part_left(s, &start, strlen(between), &offset)) > 0)
		memcpy(to, between + offset, len = left);
	else if ((left = part_left(s, &start, s->len, &offset)) > 0)
		memcpy(to, s->text + offset, len = piece_of_text(s->text + offset, left < size ? left : size));
	else if ((left = part_left(s, &start, strlen(after), &offset)) > 0)
		memcpy(to, after + offset, len = left);
	s->at += len;
	s->piece = len;
	return len;
}

static size_t count_zeros(const struct extent *extent)
{
	size_t digits = LEAST_DIGITS;

	while (digits < extent->longest + 2)
		digits *= 2;
	return digits - 2;
}

static json_t *read_source(struct source *source, json_error_t *why)
{
	json_t *both IC_AUTO(json) = json_load_callback(next_piece, source, JSON_ALLOW_NUL, why);

	/* what jansson fails at without a word is an allocation, too */
	source->no_memory = source->no_memory || errno == ENOMEM || (!both && json_error_code(why) == json_error_unknown);
	return source->no_memory || json_array_size(both) != 2 ? NULL : json_incref(json_array_get(both, 1));
}

/* Of the whole text, or of its first value (*used bytes).  Errors: LIMIT, NOMEM, and SYNTAX as *why tells it. */
static int load(const char *text, size_t len, bool first_only, json_t **out, size_t *used, json_error_t *why)
{
	struct extent extent;
	struct source source = {.text = text};
	int saved = errno;

	*out = NULL;
	*used = 0;
	*why = (json_error_t){0};
	if (!measure(text, len, first_only, &extent))
		return IMGCHECK_ERR_LIMIT;
	source.len = extent.end;
	source.zeros = count_zeros(&extent);
	errno = 0;
	*out = read_source(&source, why);
	errno = saved;
	if (!*out)
		return source.no_memory ? IMGCHECK_ERR_NOMEM : IMGCHECK_ERR_SYNTAX;
	*used = extent.end;
	return 0;
}

/* Our bracket behind the text is its end. */
static const char *words_of(json_error_t *why)
{
	static const char at_bracket[] = "']'", at_end[] = "end of file";
	size_t len = strlen(why->text);

	if (len == 0)
		return "end of file expected";
	if (ic_text_ends(why->text, len, at_bracket) && len - strlen(at_bracket) + sizeof(at_end) <= sizeof(why->text))
		memcpy(why->text + len - strlen(at_bracket), at_end, sizeof(at_end));
	return why->text;
}

static int refuse(const char *name, int result, const json_error_t *why, const char *words, struct imgcheck_error **err)
{
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result == IMGCHECK_ERR_LIMIT)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, name, 0, 0, "cannot read JSON with more than %zu structural characters",
		                       (size_t)IC_MAX_JSON_TOKENS);
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, why->line > 1 ? (unsigned)why->line - 1 : 1,
	                       why->column > 0 ? (unsigned)why->column : 0, "cannot read JSON: %s", words);
}

int ic_json_parse(const char *name, const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	json_error_t why;
	size_t used;
	int result = load(text, len, false, out, &used, &why);

	return result < 0 ? refuse(name, result, &why, words_of(&why), err) : 0;
}

int ic_json_parse_secret(const char *name, const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	json_error_t why;
	size_t used;
	int result = load(text, len, false, out, &used, &why);

	explicit_bzero(why.text, sizeof(why.text));
	return result < 0 ? refuse(name, result, &why, "it is not well-formed", err) : 0;
}

int ic_json_parse_next(const char *name, const char *text, size_t len, json_t **out, size_t *used,
                       struct imgcheck_error **err)
{
	json_error_t why;
	int result = load(text, len, true, out, used, &why);

	return result < 0 ? refuse(name, result, &why, words_of(&why), err) : 0;
}

/* ------------------------------------------------------------------ writing */

struct writer {
	struct ic_buf *out;
	struct imgcheck_error **err;
	int result;
};

/* jansson does not stop at every failure, so the first one is kept. */
static int write_bytes(const char *bytes, size_t len, void *arg)
{
	struct writer *w = arg;

	if (w->result == 0)
		w->result = ic_buf_add(w->out, bytes, len, w->err);
	return w->result;
}

int ic_json_dump(struct ic_buf *out, const json_t *value, size_t flags, struct imgcheck_error **err)
{
	struct writer w = {out, err, 0};
	int failed = json_dump_callback(value, write_bytes, &w, flags | JSON_ENCODE_ANY);

	if (w.result < 0)
		return w.result;
	return failed ? ic_error_nomem(err) : 0;
}

int ic_json_text_of(const json_t *value, size_t flags, char **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	*out = NULL;
	ic_buf_init(&text, IC_MAX_REPORT_BYTES);
	result = ic_json_dump(&text, value, flags, err);
	if (result < 0)
		return result;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}

const char *ic_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

json_t *ic_json_member(const json_t *object, const char *key)
{
	json_t *found = json_object_get(object, key), *value;
	const char *name;

	/* the iteration changes nothing, but takes no constant */
	json_object_foreach((json_t *)(uintptr_t)object, name, value)
		if (!found && ic_text_equal_nocase(name, strlen(name), key))
			found = value;
	return found;
}
