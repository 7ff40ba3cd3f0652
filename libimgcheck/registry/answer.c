/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "registry/url.h"

#define CODE_BYTES 120
#define TEXT_BYTES 300
#define NESTED_CODES 4

const char *ic_http_method_name(enum ic_http_method method)
{
	switch (method) {
	case IC_HTTP_HEAD:
		return "HEAD";
	case IC_HTTP_GET:
		return "GET";
	case IC_HTTP_PUT:
		return "PUT";
	case IC_HTTP_POST:
		return "POST";
	}
	return "?";
}

/* ------------------------------------------------------------------ verdicts */

static enum imgcheck_verdict verdict_of_status(long status)
{
	if (status >= 200 && status <= 299)
		return IMGCHECK_VERDICT_OK;
	if (status == 401)
		return IMGCHECK_VERDICT_UNAUTHORIZED;
	if (status == 403 || status == 412 || status == 451)
		return IMGCHECK_VERDICT_DENIED;
	if (status == 404)
		return IMGCHECK_VERDICT_NOT_FOUND;
	if (status == 429)
		return IMGCHECK_VERDICT_RATE_LIMITED;
	return IMGCHECK_VERDICT_SERVER_ERROR;
}

enum imgcheck_verdict ic_answer_verdict(const struct ic_http_answer *answer)
{
	switch (answer->end) {
	case IC_HTTP_ANSWERED:
		return verdict_of_status(answer->status);
	case IC_HTTP_UNRESOLVED:
	case IC_HTTP_REFUSED:
	case IC_HTTP_BROKEN:
	case IC_HTTP_STALLED:
		return IMGCHECK_VERDICT_UNREACHABLE;
	case IC_HTTP_TLS:
		return IMGCHECK_VERDICT_TLS;
	case IC_HTTP_TOO_LARGE:
		/* an oversized success is judged by who asked; an error's size changes nothing */
		return answer->status > 299 ? verdict_of_status(answer->status) : IMGCHECK_VERDICT_SERVER_ERROR;
	case IC_HTTP_DEADLINE:
		return IMGCHECK_VERDICT_DEADLINE;
	case IC_HTTP_UNSENT:
		return IMGCHECK_VERDICT_RATE_LIMITED;
	case IC_HTTP_FAILED:
		return IMGCHECK_VERDICT_SERVER_ERROR;
	}
	return IMGCHECK_VERDICT_SERVER_ERROR;
}

static bool is_html(const struct ic_http_answer *answer)
{
	const char *type = ic_http_header(answer, "content-type", 0);
	const char *text = ic_buf_text(&answer->body);

	if (type && ic_text_equal_nocase(type, strcspn(type, "; \t"), "text/html"))
		return true;
	text += strspn(text, " \t\r\n");
	return strncasecmp(text, "<!doctype html", 14) == 0 || strncasecmp(text, "<html", 5) == 0;
}

bool ic_answer_is_web_page(const struct ic_http_answer *answer)
{
	return is_html(answer) && !ic_http_header(answer, "docker-distribution-api-version", 0);
}

/* ------------------------------------------------------------------ a registry's own words */

void ic_words_clear(struct ic_words *w)
{
	ic_buf_clear(&w->code);
	ic_buf_clear(&w->text);
}

static int add_escaped(struct ic_buf *out, const char *text, size_t most, struct imgcheck_error **err)
{
	return text ? ic_text_escape(out, text, strlen(text), most, err) : 0;
}

/* Codes of upstream errors that a cache passes on: detail.errors[].code, or detail.Code. */
static int add_nested_codes(const json_t *detail, struct ic_buf *out, struct imgcheck_error **err)
{
	const json_t *errors = json_object_get(detail, "errors");
	const char *code = ic_json_text(detail, "Code");
	int result = 0;

	for (size_t i = 0; result == 0 && (code || (i < NESTED_CODES && i < json_array_size(errors))); i++) {
		if (!code)
			code = ic_json_text(json_array_get(errors, i), "code");
		if (code) {
			result = ic_buf_add_text(out, out->len ? "/" : "", err);
			if (result == 0)
				result = add_escaped(out, code, CODE_BYTES / 2, err);
		}
		code = NULL;
	}
	return result;
}

static int read_errors(const json_t *errors, struct ic_words *out, struct imgcheck_error **err)
{
	const json_t *first = json_array_get(errors, 0);
	const json_t *detail = json_object_get(first, "detail");
	int result = add_escaped(&out->code, ic_json_text(first, "code"), CODE_BYTES, err);

	if (result == 0)
		result = add_nested_codes(detail, &out->code, err);
	if (result == 0)
		result = add_escaped(&out->text, ic_json_text(first, "message"), TEXT_BYTES, err);
	if (result == 0 && out->text.len == 0)
		result = add_escaped(&out->text, json_string_value(detail), TEXT_BYTES, err);
	out->structured = json_is_object(first);
	return result;
}

/* {"errors":[...]}, {"details":"..."}, {"message":"..."}, {"error":"...","error_description":"..."} */
static int read_json(const json_t *body, struct ic_words *out, struct imgcheck_error **err)
{
	static const char *const names[] = {"details", "message", "error_description", "detail", "msg", "error"};
	const json_t *errors = json_object_get(body, "errors");
	int result = 0;

	if (json_is_array(errors))
		return read_errors(errors, out, err);
	for (size_t i = 0; result == 0 && out->text.len == 0 && i < IC_COUNT(names); i++)
		result = add_escaped(&out->text, ic_json_text(body, names[i]), TEXT_BYTES, err);
	if (result == 0 && ic_json_text(body, "code"))
		result = add_escaped(&out->code, ic_json_text(body, "code"), CODE_BYTES, err);
	out->structured = out->text.len > 0;
	return result;
}

/* The text of the first element of that name, without looking at nesting. */
static int read_element(const char *body, const char *open, size_t most, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *at = strcasestr(body, open);

	if (!at)
		return 0;
	at += strlen(open);
	at += strspn(at, " \t\r\n");
	return ic_text_escape(out, at, strcspn(at, "<\r\n"), most, err);
}

static int read_markup(const char *body, struct ic_words *out, struct imgcheck_error **err)
{
	int result;

	if (out->html)
		return read_element(body, "<title>", TEXT_BYTES / 2, &out->text, err);
	result = read_element(body, "<Code>", CODE_BYTES, &out->code, err);
	return result == 0 ? read_element(body, "<Message>", TEXT_BYTES, &out->text, err) : result;
}

int ic_words_read(const struct ic_http_answer *answer, struct ic_words *out, struct imgcheck_error **err)
{
	const char *text = ic_buf_text(&answer->body);
	size_t len = answer->body.len;
	json_t *body IC_AUTO(json) = NULL;

	ic_buf_init(&out->code, 4 * CODE_BYTES);
	ic_buf_init(&out->text, 2 * TEXT_BYTES);
	out->structured = false;
	out->html = is_html(answer);
	for (; len > 0 && ic_is_space(*text); len--)
		text++;
	if (len == 0)
		return 0;
	if (*text == '<')
		return read_markup(text, out, err);
	if (*text != '{')
		return ic_text_escape(&out->text, text, strcspn(text, "\r\n"), TEXT_BYTES / 2, err);
	if (ic_json_parse(NULL, text, len, &body, NULL) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	return body ? read_json(body, out, err) : ic_text_escape(&out->text, text, len, TEXT_BYTES / 2, err);
}

/* ------------------------------------------------------------------ reasons */

/* What operators know such an answer to mean; it never changes a verdict. */
static const struct note {
	long status;      /* 0: any */
	const char *code; /* part of the code, NULL for any */
	const char *text; /* part of the text, NULL for any */
	const char *note;
} notes[] = {
	{0, NULL, "expired", "the credentials have expired"},
	{0, NULL, "accept header", "the registry has it in a form that it will not give to this client"},
	{0, NULL, "only one auth mechanism", "the store behind the registry refuses the registry's credentials"},
	{401, NULL, "incorrect username or password", "the credentials are rejected"},
	{403, NULL, "may not exist", "missing or no access"},
	{403, "RequestTimeTooSkewed", NULL, "a clock is wrong"},
	{404, "NoSuchKey", NULL, "missing in the store behind the registry"},
	{404, "NAME_UNKNOWN", NULL, "there is no such repository"},
	{404, NULL, "named manifest is not known", "behind a remote repository this can hide a refusal of the upstream"},
	{412, NULL, NULL, "a policy of the registry forbids it"},
	{500, "UNKNOWN/", NULL, "the upstream of this cache refuses it"},
};

static bool applies(const struct note *n, long status, const struct ic_words *w)
{
	return (n->status == 0 || n->status == status) && (!n->code || strcasestr(ic_buf_text(&w->code), n->code)) &&
	       (!n->text || strcasestr(ic_buf_text(&w->text), n->text));
}

static const char *find_note(const struct ic_answer_context *context, long status, const struct ic_words *w)
{
	for (size_t i = 0; i < IC_COUNT(notes); i++)
		if (applies(&notes[i], status, w))
			return notes[i].note;
	if (status == 401)
		return context->with_credentials ? "missing, or the credentials are not accepted" : "missing, or a login is needed";
	if (status == 403)
		return "missing or no access";
	return NULL;
}

static int add_words(const struct ic_words *w, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = 0;

	if (w->code.len)
		result = ic_buf_printf(out, err, " %s", ic_buf_text(&w->code));
	if (result == 0 && w->html)
		result = ic_buf_add_text(out, " (a web page", err);
	else if (result == 0 && w->text.len)
		result = ic_buf_add_text(out, " (", err);
	if (result == 0 && w->text.len)
		result = ic_buf_printf(out, err, "%s%s", w->html ? ": " : "", ic_buf_text(&w->text));
	if (result == 0 && (w->html || w->text.len))
		result = ic_buf_add_char(out, ')', err);
	return result;
}

static int add_limits(const struct ic_http_answer *answer, struct ic_buf *out, struct imgcheck_error **err)
{
	static const char *const names[] = {"ratelimit-limit", "ratelimit-remaining", "retry-after"};
	int result = 0;

	for (size_t i = 0; result == 0 && answer->status == 429 && i < IC_COUNT(names); i++) {
		const char *value = ic_http_header(answer, names[i], 0);

		if (!value)
			continue;
		result = ic_buf_printf(out, err, ", %s ", names[i]);
		if (result == 0)
			result = ic_text_escape(out, value, strlen(value), CODE_BYTES / 2, err);
	}
	return result;
}

/* What a 401 behind a token says about it: error="invalid_token". */
static int add_challenge_error(const struct ic_http_answer *answer, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *field = answer->status == 401 ? ic_http_header(answer, "www-authenticate", 0) : NULL;
	const char *error = field ? strstr(field, "error=\"") : NULL;
	int result;

	if (!error)
		return 0;
	error += strlen("error=\"");
	result = ic_buf_add_text(out, ", ", err);
	return result == 0 ? ic_text_escape(out, error, strcspn(error, "\""), CODE_BYTES / 2, err) : result;
}

/* ------------------------------------------------------------------ what a server repeats of the credentials */

#define LEAST_SECRET_BYTES ((size_t)4) /* what is shorter stands in words by chance */
#define MOST_SECRET_BYTES (2 * (size_t)TEXT_BYTES) /* words are cut before more of it could stand there */

static void blank(char *text, size_t len)
{
	memset(text, '*', len);
}

/* Text that ends in "..." was cut: how much of the secret stands before it. */
static size_t cut_secret(const char *text, size_t len, const char *secret, size_t secret_len)
{
	size_t most = len < secret_len ? len : secret_len;

	while (most >= LEAST_SECRET_BYTES && memcmp(text + len - most, secret, most) != 0)
		most--;
	return most >= LEAST_SECRET_BYTES ? most : 0;
}

static int hide(struct ic_buf *out, const char *secret, struct imgcheck_error **err)
{
	struct ic_buf shown IC_AUTO(buf); /* as it would stand there */
	char *at = out->data, *cut = out->data;
	size_t len = secret ? strnlen(secret, MOST_SECRET_BYTES) : 0;
	int result;

	ic_buf_init_secret(&shown, 5 * MOST_SECRET_BYTES);
	if (len < LEAST_SECRET_BYTES)
		return 0;
	result = ic_text_escape(&shown, secret, len, 4 * MOST_SECRET_BYTES, err);
	while (result == 0 && (at = strstr(at, shown.data)))
		blank(at, shown.len);
	while (result == 0 && (cut = strstr(cut, "..."))) {
		len = cut_secret(out->data, (size_t)(cut - out->data), shown.data, shown.len);
		blank(cut - len, len);
		cut++;
	}
	return result;
}

/* The credentials of "Authorization: Scheme credentials". */
static const char *behind_scheme(const char *line)
{
	const char *blank_at = line ? strrchr(line, ' ') : NULL;

	return blank_at ? blank_at + 1 : NULL;
}

static int hide_credentials(const struct ic_answer_context *context, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = hide(out, behind_scheme(context->authorization), err);

	if (result == 0 && context->login)
		result = hide(out, context->login->secret, err);
	if (result == 0 && context->login)
		result = hide(out, context->login->identity_token, err);
	return result;
}

static int add_answered(const struct ic_answer_context *context, const struct ic_http_answer *answer, struct ic_buf *out,
                        struct imgcheck_error **err)
{
	struct ic_words words IC_AUTO(words);
	const char *note;
	int result = ic_words_read(answer, &words, err);

	if (result == 0)
		result = ic_buf_printf(out, err, " %ld", answer->status);
	if (result == 0)
		result = add_words(&words, out, err);
	if (result == 0)
		result = add_limits(answer, out, err);
	if (result == 0)
		result = add_challenge_error(answer, out, err);
	if (result == 0)
		result = hide_credentials(context, out, err);
	note = find_note(context, answer->status, &words);
	if (result == 0 && note)
		result = ic_buf_printf(out, err, ": %s", note);
	if (result == 0 && context->token_server)
		result = ic_buf_add_text(out, ": no token was given", err);
	return result;
}

int ic_answer_reason(const struct ic_answer_context *context, const struct ic_http_answer *answer, struct ic_buf *out,
                     struct imgcheck_error **err)
{
	int result = ic_buf_printf(out, err, "%s ", ic_http_method_name(context->method));

	if (result == 0)
		result = ic_url_add_shown(out, context->url, err);
	if (result < 0)
		return result;
	if (answer->end == IC_HTTP_ANSWERED || (answer->end == IC_HTTP_TOO_LARGE && answer->status > 299))
		return add_answered(context, answer, out, err);
	return ic_buf_printf(out, err, ": %s", answer->detail && answer->detail[0] ? answer->detail : "no answer");
}
