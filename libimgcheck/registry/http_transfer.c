/* SPDX-License-Identifier: Apache-2.0 */
#include "http_transfer.h"

#include <string.h>

#include "base/text.h"

static const char *put_bytes(char **at, const void *data, size_t len)
{
	char *here = *at;

	memcpy(here, data, len);
	*at += len;
	return here;
}

static const char *put(char **at, const char *text)
{
	return put_bytes(at, text, strlen(text) + 1);
}

static size_t text_size(const struct ic_http_request *r)
{
	size_t size = strlen(r->url) + 1 + strlen(r->proxy ? r->proxy : "") + 1 + (r->body ? r->body_len : 0);

	for (const char *const *line = r->header; line && *line; line++)
		size += strlen(*line) + 1;
	return size;
}

struct ic_transfer *ic_transfer_new(const struct ic_http_request *r)
{
	size_t size = sizeof(struct ic_transfer) + text_size(r);
	struct ic_transfer *t = calloc(1, size);
	char *at;

	if (!t)
		return NULL;
	at = t->text;
	t->size = size;
	t->method = r->method;
	t->skip_verify = r->skip_verify;
	t->tls = r->tls;
	t->first_byte = r->first_byte;
	t->max_body = r->max_body < SIZE_MAX ? r->max_body : SIZE_MAX - 1;
	t->url = put(&at, r->url);
	t->proxy = put(&at, r->proxy ? r->proxy : "");
	t->body = r->body ? put_bytes(&at, r->body, r->body_len) : NULL;
	t->body_len = r->body ? r->body_len : 0;
	t->header = at;
	for (const char *const *line = r->header; line && *line; line++, t->header_count++)
		(void)put(&at, *line);
	t->job.not_before = r->not_before;
	t->job.most = t->max_body + 1; /* a buffer holds a NUL too */
	t->job.cut = r->first_byte;
	return t;
}

void ic_transfer_free(struct ic_transfer *t)
{
	explicit_bzero(t, t->size);
	free(t);
}

long ic_transfer_time_limit(ic_msec deadline, long seconds)
{
	ic_msec third = (deadline - ic_clock_now()) / 3;

	if (third > seconds * 1000)
		return seconds * 1000;
	return third < 1 ? 1 : (long)third;
}

bool ic_header_see_encoding(struct ic_header_encodings *seen, const char *line, size_t len)
{
	static const char *const decodable[] = {"gzip", "x-gzip", "deflate"};
	static const char name[] = "content-encoding:";
	size_t at = sizeof(name) - 1;

	if (ic_text_starts(line, len, "HTTP/"))
		*seen = (struct ic_header_encodings){0}; /* what came before was an interim answer */
	if (len < at || !ic_text_equal_nocase(line, at, name))
		return seen->count == 1 && seen->decodable;
	while (at < len && ic_is_space(line[at]))
		at++;
	while (len > at && ic_is_space(line[len - 1]))
		len--;
	seen->count++;
	seen->decodable = false;
	for (size_t i = 0; i < IC_COUNT(decodable); i++)
		seen->decodable |= ic_text_equal_nocase(line + at, len - at, decodable[i]);
	return seen->count == 1 && seen->decodable;
}

enum ic_lesson ic_transfer_lesson(const struct ic_http_answer *a, bool sent)
{
	if (a->status > 0)
		return a->http_version == 2 ? IC_LESSON_HTTP2 : IC_LESSON_HTTP1;
	switch (a->end) {
	case IC_HTTP_UNRESOLVED:
	case IC_HTTP_REFUSED:
	case IC_HTTP_TLS:
		return IC_LESSON_UNREACHABLE;
	case IC_HTTP_STALLED:
		return sent ? IC_LESSON_MUTE : IC_LESSON_UNREACHABLE;
	case IC_HTTP_BROKEN:
	case IC_HTTP_TOO_LARGE:
		return IC_LESSON_MUTE;
	case IC_HTTP_ANSWERED:
	case IC_HTTP_DEADLINE:
	case IC_HTTP_UNSENT:
	case IC_HTTP_FAILED:
		break;
	}
	return IC_LESSON_NONE;
}

const char *ic_http_header(const struct ic_http_answer *answer, const char *name, size_t i)
{
	size_t len = strlen(name);

	for (size_t at = 0; at < answer->header.count; at++) {
		const char *field = ic_texts_get(&answer->header, at);

		if (ic_text_starts(field, strlen(field), name) && field[len] == ':' && i-- == 0)
			return field + len + 2;
	}
	return NULL;
}
