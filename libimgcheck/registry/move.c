/* SPDX-License-Identifier: Apache-2.0 */
#include "move.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/text.h"
#include "registry/answer.h"
#include "registry/content.h"
#include "registry/exchange.h"
#include "source/config.h"

#define MAX_PATH_BYTES (IC_MAX_REF_BYTES + 32)

/* ------------------------------------------------------------------ decisions */

enum ic_place ic_move_place(const char *wanted, const char *expected, const struct ic_buf *body)
{
	if (!body)
		return expected ? IC_PLACE_ABSENT : IC_PLACE_EXPECTED;
	if (ic_digest_matches(wanted, body->data, body->len))
		return IC_PLACE_WANTED;
	return expected && ic_digest_matches(expected, body->data, body->len) ? IC_PLACE_EXPECTED : IC_PLACE_OTHER;
}

int ic_move_type(const char *content_type, char **line, struct imgcheck_error **err)
{
	enum ic_content_kind kind = ic_content_kind(content_type);
	struct ic_buf text IC_AUTO(buf);
	size_t len = content_type ? strcspn(content_type, "; ") : 0;
	int result;

	ic_buf_init(&text, IC_MAX_HEADER_BYTES);
	if (kind != IC_CONTENT_MANIFEST && kind != IC_CONTENT_INDEX)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "the registry gives it the media type \"%.100s\", which is no image's",
		                    content_type ? content_type : "");
	result = ic_buf_add_text(&text, "Content-Type: ", err);
	if (result == 0)
		result = ic_buf_add(&text, content_type, len, err);
	if (result < 0)
		return result;
	*line = ic_buf_take(&text);
	return *line ? 0 : ic_error_nomem(err);
}

/* ------------------------------------------------------------------ asking */

/* The last answer. */
struct got {
	bool came;
	long status; /* 0: none came */
	enum imgcheck_verdict verdict;
	char *reason;
	char *type;
	struct ic_buf body;
};

struct move {
	const char *ref, *digest, *expected; /* the caller's */
	struct ic_session session;
	struct ic_endpoints endpoints;
	const struct ic_endpoint *endpoint; /* the registry itself */
	struct ic_exchange exchange;
	struct got got;
	struct ic_buf manifest; /* what is written ... */
	char *type;             /* ... and as what */
};

static void forget_answer(struct got *got)
{
	free(got->reason);
	free(got->type);
	ic_buf_clear(&got->body);
	*got = (struct got){.body.max = IC_MAX_MANIFEST_BYTES};
}

static int keep(struct got *got, const struct ic_reply *reply)
{
	const struct ic_http_answer *answer = reply->answer;
	const char *type = answer ? ic_http_header(answer, "content-type", 0) : NULL;

	got->came = true;
	got->verdict = reply->verdict;
	got->status = answer && answer->end == IC_HTTP_ANSWERED ? answer->status : 0;
	if (got->status == 404 && ic_answer_is_web_page(answer))
		got->verdict = IMGCHECK_VERDICT_NOT_A_REGISTRY;
	got->reason = reply->reason ? ic_text_copy(reply->reason, strlen(reply->reason)) : NULL; /* NULL: without memory */
	got->type = type ? ic_text_copy(type, strlen(type)) : NULL;
	if (!got->reason || (type && !got->type))
		return IMGCHECK_ERR_NOMEM;
	return got->status ? ic_buf_add(&got->body, answer->body.data, answer->body.len, NULL) : 0;
}

static void on_reply(void *arg, const struct ic_reply *reply)
{
	struct move *m = arg;
	int result = keep(&m->got, reply);

	if (result < 0)
		ic_session_fail(&m->session, result);
}

/* Puts one question and waits for the end of it.  Errors: NOMEM, INTERNAL. */
static int ask(struct move *m, const char *name, struct ic_question question, struct imgcheck_error **err)
{
	char path[MAX_PATH_BYTES];
	int more = 1;

	(void)snprintf(path, sizeof(path), "manifests/%s", name);
	question.path = path;
	question.last_endpoint = true;
	forget_answer(&m->got);
	ic_exchange_ask(&m->exchange, m->endpoint, &question, on_reply, m);
	while (!m->got.came && m->session.failed == 0 && more > 0)
		more = ic_http_step(m->session.http, -1, err);
	if (more < 0)
		return more;
	if (m->session.failed == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (m->got.came && m->session.failed == 0)
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot go on with moving a tag: an internal fault");
}

static int get(struct move *m, const char *name, struct imgcheck_error **err)
{
	return ask(m, name, (struct ic_question){.method = IC_HTTP_GET, .lines = m->session.profile->accept,
	                                         .max_body = IC_MAX_MANIFEST_BYTES}, err);
}

/* ------------------------------------------------------------------ the steps */

__attribute__((format(printf, 4, 5)))
static int refuse(const struct move *m, struct imgcheck_error **err, enum imgcheck_err code, const char *format, ...)
{
	char why[IC_MAX_REASON_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	return ic_error_set_at(err, code, m->endpoint->host, 0, 0, "cannot move %s to %s: %s", m->ref, m->digest, why);
}

/* The bytes to write, and their media type. */
static int fetch(struct move *m, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	int result = get(m, m->digest, err);

	if (result < 0)
		return result;
	if (m->got.status == 404 && m->got.verdict == IMGCHECK_VERDICT_NOT_FOUND)
		return refuse(m, err, IMGCHECK_ERR_REGISTRY, "the repository has no such digest, copy it there first: %s", m->got.reason);
	if (m->got.verdict != IMGCHECK_VERDICT_OK)
		return refuse(m, err, IMGCHECK_ERR_REGISTRY, "%s", m->got.reason);
	if (!ic_digest_matches(m->digest, m->got.body.data, m->got.body.len))
		return refuse(m, err, IMGCHECK_ERR_REGISTRY, "the registry answers with bytes that do not have this digest");
	result = ic_move_type(m->got.type, &m->type, &why);
	if (result == IMGCHECK_ERR_SYNTAX)
		return refuse(m, err, IMGCHECK_ERR_REGISTRY, "%s", imgcheck_error_message(why));
	if (result < 0)
		return ic_error_nomem(err);
	m->manifest = m->got.body;
	m->got.body = (struct ic_buf){0};
	return 0;
}

/* Where the tag is; *at gets the digest of what it names, "no digest" where it is absent. */
static int locate(struct move *m, enum ic_place *place, char at[IC_DIGEST_TEXT_BYTES], struct imgcheck_error **err)
{
	int result = get(m, m->endpoints.asked.tag, err);
	bool absent;

	if (result < 0)
		return result;
	absent = m->got.status == 404 && m->got.verdict == IMGCHECK_VERDICT_NOT_FOUND;
	if (m->got.verdict != IMGCHECK_VERDICT_OK && !absent)
		return refuse(m, err, IMGCHECK_ERR_REGISTRY, "cannot tell where the tag is: %s", m->got.reason);
	*place = ic_move_place(m->digest, m->expected, absent ? NULL : &m->got.body);
	(void)snprintf(at, IC_DIGEST_TEXT_BYTES, "no digest");
	return absent ? 0 : ic_digest_compute(IC_DIGEST_SHA256, m->got.body.data, m->got.body.len, at, err);
}

/* What the write came to is told by where the tag is then.  *failure: what the registry said, "" for success. */
static int write_tag(struct move *m, char failure[IC_MAX_REASON_BYTES], struct imgcheck_error **err)
{
	const struct ic_question question = {.method = IC_HTTP_PUT, .header = m->type, .body = m->manifest.data,
	                                     .body_len = m->manifest.len, .max_body = IC_MAX_ERROR_BODY_BYTES};
	int result = ask(m, m->endpoints.asked.tag, question, err);

	if (result == 0)
		(void)snprintf(failure, IC_MAX_REASON_BYTES, "%s", m->got.verdict == IMGCHECK_VERDICT_OK ? "" : m->got.reason);
	return result;
}

static int confirm(struct move *m, const char *failure, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	char at[IC_DIGEST_TEXT_BYTES];
	enum ic_place place;
	int result = locate(m, &place, at, &why);

	if (result == IMGCHECK_ERR_REGISTRY)
		return refuse(m, err, result, "it is not known whether it was moved: %s%s%s", failure, failure[0] ? "; then: " : "",
		              m->got.reason);
	if (result < 0) {
		if (err)
			*err = IC_TAKE(why);
		return result;
	}
	switch (place) {
	case IC_PLACE_WANTED:
		return 0;
	case IC_PLACE_EXPECTED:
		return refuse(m, err, IMGCHECK_ERR_REGISTRY, "%s",
		              failure[0] ? failure : "the registry took it, and left the tag where it was");
	case IC_PLACE_ABSENT:
	case IC_PLACE_OTHER:
		break;
	}
	return refuse(m, err, IMGCHECK_ERR_CONFLICT, "another writer moved the tag at the same time, to %s", at);
}

static int move(struct move *m, struct imgcheck_error **err)
{
	char at[IC_DIGEST_TEXT_BYTES], failure[IC_MAX_REASON_BYTES];
	enum ic_place place;
	int result = fetch(m, err);

	if (result == 0)
		result = locate(m, &place, at, err);
	if (result < 0)
		return result;
	switch (place) {
	case IC_PLACE_WANTED:
		return 0;
	case IC_PLACE_EXPECTED:
		result = write_tag(m, failure, err);
		return result < 0 ? result : confirm(m, failure, err);
	case IC_PLACE_ABSENT:
	case IC_PLACE_OTHER:
		break;
	}
	return refuse(m, err, IMGCHECK_ERR_CONFLICT, "another writer moved the tag: it is at %s, not at %s", at,
	              m->expected ? m->expected : "no digest");
}

/* ------------------------------------------------------------------ the call */

static const struct ic_endpoint *find_registry(const struct ic_endpoints *all)
{
	for (size_t i = 0; i < all->list.count; i++) {
		const struct ic_endpoint *e = ic_vec_at(&all->list, i);

		if (e->upstream)
			return e;
	}
	return NULL;
}

static int find(const struct imgcheck_config *c, struct move *m, struct imgcheck_error **err)
{
	struct ic_ref ref IC_AUTO(ref) = {0};
	int result = ic_ref_parse(m->ref, strlen(m->ref), &ref, err);

	if (result == 0 && !ref.tag)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot move %s: it names a digest, not a tag", m->ref);
	if (result == 0)
		result = ic_endpoints_find(c, &ref, &m->endpoints, err);
	if (result < 0)
		return result;
	m->endpoint = find_registry(&m->endpoints);
	if (m->endpoint)
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot move %s: %s", m->ref, m->endpoints.reason ? m->endpoints.reason :
	                    "nothing but mirrors is configured for its registry, and they are not written to");
}

static void move_clear(struct move *m)
{
	if (m->exchange.session)
		ic_exchange_clear(&m->exchange);
	ic_session_clear(&m->session);
	ic_endpoints_clear(&m->endpoints);
	forget_answer(&m->got);
	ic_buf_clear(&m->manifest);
	free(m->type);
}

static bool is_digest(const char *text)
{
	return ic_digest_is_valid(text, strlen(text), NULL);
}

int imgcheck_tag_move(struct imgcheck_config *c, const char *ref, const char *digest, const char *expected,
                      struct imgcheck_error **err)
{
	struct move m = {.ref = ref, .digest = digest, .expected = expected};
	int result;

	if (!c || !ref || !digest)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot move a tag without a config, a reference and a digest");
	if (!is_digest(digest) || (expected && !is_digest(expected)))
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot move %s: no digest is \"%s\"", ref,
		                    is_digest(digest) ? expected : digest);
	ic_config_freeze(c);
	result = find(c, &m, err);
	if (result == 0)
		result = ic_session_init(&m.session, c, ic_clock_now() + (ic_msec)ic_config_deadline_seconds(c) * 1000, err);
	if (result == 0) {
		m.session.profile = ic_profile_get(IC_RUNTIME_CONTAINERD); /* how a node asks has no part in this */
		m.session.push = true;
		ic_exchange_init(&m.exchange, &m.session);
		result = move(&m, err);
	}
	move_clear(&m);
	return result;
}
