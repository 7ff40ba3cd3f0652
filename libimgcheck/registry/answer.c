/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

#define MAX_CODE_BYTES 40
#define MAX_WORDS_BYTES 160
#define MAX_REQUEST_BYTES 400
#define MAX_CODES 8 /* nested codes shown */

/* What a registry says of itself in an error body: both "" where it says nothing. */
struct words {
	struct ic_buf code, text;
};

static void words_clear(struct words *w)
{
	ic_buf_clear(&w->code);
	ic_buf_clear(&w->text);
}

static inline void ic_auto_words(struct words *w)
{
	words_clear(w);
}

/* ------------------------------------------------------------------ error bodies */

static int add(struct ic_buf *out, const char *text, size_t len, size_t most, struct imgcheck_error **err)
{
	if (len > 0 && out->len > 0) {
		int result = ic_buf_add_text(out, " ", err);

		if (result < 0)
			return result;
	}
	return ic_text_escape(out, text, len, most, err);
}

static int add_member(const json_t *object, const char *key, struct ic_buf *out, size_t most, struct imgcheck_error **err)
{
	const json_t *member = json_object_get(object, key);

	return json_is_string(member) ? add(out, json_string_value(member), json_string_length(member), most, err) : 0;
}

/* A pull-through cache hides what its upstream said in the detail: {"errors": [{"code"}]} or {"Code"}. */
static int add_nested(const json_t *detail, struct words *w, struct imgcheck_error **err)
{
	const json_t *item;
	size_t i;
	int result = add_member(detail, "Code", &w->code, MAX_CODE_BYTES, err);

	json_array_foreach(json_object_get(detail, "errors"), i, item) {
		if (i >= MAX_CODES || result < 0)
			break;
		result = add_member(item, "code", &w->code, MAX_CODE_BYTES, err);
	}
	return result;
}

/* distribution-spec: {"errors": [{"code", "message", "detail"}]}; others put one text under a key of their own. */
static int read_json(const json_t *body, struct words *w, struct imgcheck_error **err)
{
	static const char *const text_keys[] = {"message", "details", "error_description", "error", "msg"};
	const json_t *first = json_array_get(json_object_get(body, "errors"), 0);
	int result;

	if (first) {
		result = add_member(first, "code", &w->code, MAX_CODE_BYTES, err);
		if (result == 0)
			result = add_member(first, "message", &w->text, MAX_WORDS_BYTES, err);
		return result < 0 ? result : add_nested(json_object_get(first, "detail"), w, err);
	}
	for (size_t i = 0; i < IC_COUNT(text_keys) && w->text.len == 0; i++) {
		result = add_member(body, text_keys[i], &w->text, MAX_WORDS_BYTES, err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Object stores answer in XML: <Error><Code>NoSuchKey</Code>... */
static int read_xml(const char *body, struct words *w, struct imgcheck_error **err)
{
	const char *code = strstr(body, "<Code>");

	if (!code)
		return 0;
	code += strlen("<Code>");
	return add(&w->code, code, strcspn(code, "<"), MAX_CODE_BYTES, err);
}

static int read_words(const struct ic_http_answer *answer, struct words *w, struct imgcheck_error **err)
{
	const char *body = ic_buf_text(&answer->body);
	json_t *json IC_AUTO(json) = NULL;

	if (answer->body.len == 0 || ic_answer_is_page(answer))
		return 0;
	if (ic_json_parse(NULL, body, answer->body.len, &json, NULL) == 0 && json_is_object(json))
		return read_json(json, w, err);
	body += strspn(body, " \t\r\n");
	if (body[0] == '<')
		return read_xml(body, w, err);
	return add(&w->text, body, strcspn(body, "\r\n"), MAX_WORDS_BYTES, err);
}

bool ic_answer_is_page(const struct ic_http_answer *answer)
{
	const char *type = ic_http_header(answer, "content-type", 0);
	const char *body = ic_buf_text(&answer->body);

	if (type && ic_text_equal_nocase(type, strcspn(type, "; "), "text/html"))
		return true;
	body += strspn(body, " \t\r\n");
	return ic_text_equal_nocase(body, strnlen(body, strlen("<!doctype html")), "<!doctype html") ||
	       ic_text_equal_nocase(body, strnlen(body, strlen("<html")), "<html");
}

/* ------------------------------------------------------------------ verdicts */

/* A registry that knows the manifest says 404 only because it thinks that we cannot read the type: no fact about the image. */
static bool accept_is_lacking(const struct words *w)
{
	const char *text = ic_buf_text(&w->text);

	return strcasestr(text, "accept header does not support") != NULL;
}

static const struct {
	long status;
	enum imgcheck_verdict verdict;
	const char *words;
} statuses[] = {
	{401, IMGCHECK_VERDICT_UNAUTHORIZED, "missing or no access"},
	{403, IMGCHECK_VERDICT_DENIED, "missing or no access"},
	{404, IMGCHECK_VERDICT_NOT_FOUND, "not found"},
	{407, IMGCHECK_VERDICT_UNREACHABLE, "the proxy wants credentials"},
	{412, IMGCHECK_VERDICT_DENIED, "refused by a policy of the registry"},
	{429, IMGCHECK_VERDICT_RATE_LIMITED, "too many requests"},
};

static enum imgcheck_verdict judge_success(const struct ic_http_answer *answer, const char **words)
{
	if (ic_answer_is_page(answer)) {
		*words = "a web page, not a registry's answer";
		return IMGCHECK_VERDICT_NOT_A_REGISTRY;
	}
	*words = "an answer of an unexpected media type";
	return IMGCHECK_VERDICT_CORRUPT;
}

static enum imgcheck_verdict judge_status(const struct ic_http_answer *answer, const struct words *w, const char **words)
{
	if (answer->status / 100 == 2)
		return judge_success(answer, words);
	if (answer->status == 404 && accept_is_lacking(w)) {
		*words = "the registry has it in a form that it thinks we cannot read";
		return IMGCHECK_VERDICT_SERVER_ERROR;
	}
	for (size_t i = 0; i < IC_COUNT(statuses); i++)
		if (statuses[i].status == answer->status) {
			*words = statuses[i].words;
			return statuses[i].verdict;
		}
	*words = answer->status / 100 == 5   ? "the registry is broken or busy"
	         : answer->status / 100 == 3 ? "a redirect that leads nowhere"
	                                     : "an answer that decides nothing";
	return IMGCHECK_VERDICT_SERVER_ERROR;
}

static enum imgcheck_verdict judge_end(const struct ic_http_answer *answer, const char **words)
{
	*words = answer->detail && answer->detail[0] ? answer->detail : "the request failed";
	switch (answer->end) {
	case IC_HTTP_TLS:
		return IMGCHECK_VERDICT_TLS;
	case IC_HTTP_DEADLINE:
		return IMGCHECK_VERDICT_DEADLINE;
	case IC_HTTP_TOO_LARGE:
		return IMGCHECK_VERDICT_CORRUPT;
	case IC_HTTP_ANSWERED:
	case IC_HTTP_UNRESOLVED:
	case IC_HTTP_REFUSED:
	case IC_HTTP_BROKEN:
	case IC_HTTP_STALLED:
	case IC_HTTP_FAILED:
		break;
	}
	return IMGCHECK_VERDICT_UNREACHABLE;
}

/* "manifest unknown (404 MANIFEST_UNKNOWN to HEAD https://...)" */
static int write_reason(const struct ic_http_answer *answer, const char *request, const char *fallback,
                        const struct words *w, struct ic_buf *reason, struct imgcheck_error **err)
{
	const char *type = answer->status / 100 == 2 ? ic_http_header(answer, "content-type", 0) : NULL;
	int result;

	if (w->text.len > 0 && !type)
		result = ic_buf_add_text(reason, ic_buf_text(&w->text), err);
	else
		result = ic_text_escape(reason, fallback, strlen(fallback), MAX_WORDS_BYTES, err);
	if (result == 0 && type)
		result = add(reason, type, strlen(type), MAX_WORDS_BYTES, err);
	if (result == 0)
		result = ic_buf_add_text(reason, " (", err);
	if (result == 0 && answer->end == IC_HTTP_ANSWERED)
		result = ic_buf_printf(reason, err, "%ld%s%s to ", answer->status, w->code.len > 0 ? " " : "", ic_buf_text(&w->code));
	if (result == 0)
		result = ic_text_escape(reason, request, strlen(request), MAX_REQUEST_BYTES, err);
	return result < 0 ? result : ic_buf_add_char(reason, ')', err);
}

int ic_answer_judge(const struct ic_http_answer *answer, const char *request, enum imgcheck_verdict *verdict,
                    struct ic_buf *reason, struct imgcheck_error **err)
{
	struct words words IC_AUTO(words);
	const char *fallback;
	int result = 0;

	ic_buf_init(&words.code, IC_MAX_ERROR_BODY_BYTES);
	ic_buf_init(&words.text, IC_MAX_ERROR_BODY_BYTES);
	if (answer->end == IC_HTTP_ANSWERED) {
		result = read_words(answer, &words, err);
		*verdict = judge_status(answer, &words, &fallback);
	} else {
		*verdict = judge_end(answer, &fallback);
	}
	return result < 0 ? result : write_reason(answer, request, fallback, &words, reason, err);
}
