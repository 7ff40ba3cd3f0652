/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "registry/answer.h"
#include "registry/authorize.h"
#include "registry/redirect.h"
#include "registry/url.h"
#include "source/config.h"

#define MAX_REQUEST_HEADERS 64

static void proceed(struct ic_exchange *x);

/* ------------------------------------------------------------------ URLs */

static int write_url(const struct ic_exchange *x, const char *scheme, struct ic_buf *out)
{
	const struct ic_endpoint *e = x->endpoint;
	int result;

	result = ic_buf_printf(out, NULL, "%s://%s%s/%s/%s", scheme, e->host, e->base_path, e->repository, x->question.path);
	if (result == 0 && e->ns)
		result = ic_buf_add_text(out, "?ns=", NULL);
	return result == 0 && e->ns ? ic_url_add_component(out, e->ns, NULL) : result;
}

/* Takes the URL as the one to ask next. */
static bool set_url(struct ic_exchange *x, char *url)
{
	free(x->url);
	x->url = url;
	x->host = url ? ic_session_host(x->session, url, x->question.url ? NULL : &x->endpoint->login) : NULL;
	return x->host != NULL;
}

static bool set_endpoint_url(struct ic_exchange *x, const char *scheme)
{
	struct ic_buf url IC_AUTO(buf);

	ic_buf_init(&url, IC_MAX_URL_BYTES);
	if (x->question.url ? ic_buf_add_text(&url, x->question.url, NULL) < 0 : write_url(x, scheme, &url) < 0) {
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		return false;
	}
	free(x->first_url);
	x->first_url = ic_text_copy(url.data, url.len);
	if (!x->first_url || !set_url(x, ic_buf_take(&url))) {
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ the end */

static void finish_refused(struct ic_exchange *x, enum imgcheck_verdict verdict, const char *reason)
{
	const struct ic_reply reply = {.verdict = verdict, .reason = reason};

	x->done(x->arg, &reply);
}

static void finish(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	const struct ic_answer_context context = {.method = x->method, .url = x->url, .with_credentials = x->sent_header != NULL};
	struct ic_reply reply = {.answer = answer, .verdict = ic_answer_verdict(answer), .reason = ""};
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	if (reply.verdict != IMGCHECK_VERDICT_OK) {
		if (ic_answer_reason(&context, answer, &reason, NULL) < 0)
			ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		reply.reason = ic_buf_text(&reason);
	}
	x->done(x->arg, &reply);
}

/* ------------------------------------------------------------------ answers */

static void tell(const struct ic_exchange *x, const struct ic_http_answer *answer)
{
	struct ic_buf text IC_AUTO(buf);
	struct ic_buf host IC_AUTO(buf);
	struct ic_url url;

	ic_buf_init(&text, IC_MAX_REASON_BYTES);
	ic_buf_init(&host, IC_MAX_URL_BYTES);
	if (!ic_url_parse(x->url, &url) || ic_buf_add(&host, url.host, url.host_len, NULL) < 0 ||
	    ic_buf_printf(&text, NULL, "%s ", ic_http_method_name(x->method)) < 0 || ic_url_add_shown(&text, x->url, NULL) < 0 ||
	    ic_buf_printf(&text, NULL, " %ld", answer->status) < 0)
		return;
	ic_config_tell(x->session->config, &(struct imgcheck_event){IMGCHECK_EVENT_REQUEST, host.data, text.data, 0, 0});
}

/* True: the redirect is followed, or refused and the exchange finished. */
static bool follow(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	const struct ic_redirect_step step = {.method = x->method, .url = x->url, .first = x->first_url, .hops = x->hops,
	                                      .credentials = x->sent_header != NULL};
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_redirect redirect;
	int result = ic_redirect_decide(&step, answer, &redirect, &why);

	if (result == IMGCHECK_ERR_NOMEM)
		ic_session_fail(x->session, result);
	if (result < 0) {
		finish_refused(x, IMGCHECK_VERDICT_SERVER_ERROR, imgcheck_error_message(why));
		return true;
	}
	if (!redirect.url)
		return false;
	x->method = redirect.method;
	x->hops++;
	x->delay = 0;
	x->kept = redirect.keep_credentials;
	if (!x->kept)
		ic_secret_free(IC_TAKE(x->sent_header));
	if (set_url(x, redirect.url))
		proceed(x);
	return true;
}

/* The server speaks no TLS on a port that the runtime then tries without. */
static bool is_plain(const struct ic_exchange *x, const struct ic_http_answer *answer)
{
	return answer->end == IC_HTTP_TLS && x->endpoint && x->endpoint->http_fallback && x->hops == 0 && !x->host->plain &&
	       strncmp(x->url, "https:", strlen("https:")) == 0;
}

/* Whether something was learned, so that the same question is worth another request at once. */
static bool has_learned(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	if (is_plain(x, answer)) {
		x->host->plain = true;
		return true;
	}
	return answer->end == IC_HTTP_ANSWERED && answer->status == 401 && !x->question.url &&
	       x->attempts.sent < IC_MAX_ATTEMPTS &&
	       ic_authorize_challenged(x->session, x->host, x->endpoint, x->sent_header, answer);
}

/* Whether the request is repeated; *delay tells after how long. */
static bool is_repeated(struct ic_exchange *x, const struct ic_http_answer *answer, ic_msec *delay)
{
	x->attempts.last_host = x->question.last_endpoint;
	x->attempts.left = ic_session_left(x->session);
	*delay = ic_retry_delay(&x->attempts, answer);
	x->attempts.last_status = answer->status;
	if (*delay >= 0 && answer->status == 429)
		ic_http_hold(x->session->http, x->url, ic_clock_now() + *delay);
	return *delay >= 0;
}

static void on_answer(void *arg, const struct ic_http_answer *answer)
{
	struct ic_exchange *x = arg;
	struct ic_host_state *host = x->host;
	bool pioneer = x->pioneer, again;
	ic_msec delay = 0;

	tell(x, answer);
	if (pioneer)
		host->state = IC_HOST_KNOWN;
	x->pioneer = false;
	again = has_learned(x, answer);
	if (pioneer)
		ic_waiters_wake(&host->waiters);
	if (!again && answer->end == IC_HTTP_ANSWERED && answer->status / 100 == 3 && follow(x, answer))
		return;
	if (!again && !is_repeated(x, answer, &delay)) {
		finish(x, answer);
		return;
	}
	if (again) {
		ic_secret_free(IC_TAKE(x->sent_header));
		x->kept = false;
	}
	x->delay = delay;
	x->attempts.sent++;
	proceed(x);
}

/* ------------------------------------------------------------------ requests */

/* Sends with the Authorization line, which is copied: the host's can be replaced before the answer. */
static bool keep_header(struct ic_exchange *x, const char *header)
{
	if (header == x->sent_header)
		return true;
	ic_secret_free(x->sent_header);
	x->sent_header = header ? ic_text_copy(header, strlen(header)) : NULL;
	return x->sent_header || !header;
}

static void collect_header(const struct ic_exchange *x, const char *lines[MAX_REQUEST_HEADERS])
{
	size_t n = 0;

	if (x->sent_header)
		lines[n++] = x->sent_header;
	if (x->question.header)
		lines[n++] = x->question.header;
	for (size_t i = 0; x->endpoint && !x->question.url && i < x->endpoint->header.count && n + 1 < MAX_REQUEST_HEADERS; i++)
		lines[n++] = ic_texts_get(&x->endpoint->header, i);
	lines[n] = NULL;
}

static void send(struct ic_exchange *x, const char *header)
{
	const char *lines[MAX_REQUEST_HEADERS];
	struct ic_http_request request = {
		.method = x->method, .url = x->url, .header = lines, .max_body = x->question.max_body,
		.first_byte = x->question.first_byte, .not_before = x->delay > 0 ? ic_clock_now() + x->delay : 0,
	};
	struct ic_url url;
	int result = IMGCHECK_ERR_NOMEM;

	if (!x->question.url) {
		request.skip_verify = x->endpoint->skip_verify;
		request.tls = x->endpoint->tls;
	}
	request.proxy = ic_url_parse(x->url, &url) ? ic_session_proxy(x->session, &url) : "";
	if (keep_header(x, header)) {
		collect_header(x, lines);
		result = ic_http_submit(x->session->http, &request, on_answer, x, NULL);
	}
	if (result < 0)
		ic_session_fail(x->session, result);
}

static void go_on(struct ic_waiter *w)
{
	proceed((struct ic_exchange *)w);
}

static void proceed(struct ic_exchange *x)
{
	struct ic_refusal refusal;
	const char *header;

	if (x->host->plain && !set_endpoint_url(x, "http"))
		return;
	if (x->question.url || x->kept) {
		send(x, x->sent_header);
		return;
	}
	if (x->host->state == IC_HOST_UNKNOWN) {
		x->host->state = IC_HOST_ASKED;
		x->pioneer = true;
		send(x, NULL);
		return;
	}
	switch (ic_authorize(x->session, x->host, x->endpoint, &x->waiter, &header, &refusal)) {
	case IC_AUTHORIZED:
		send(x, header);
		break;
	case IC_AUTHORIZATION_WAITS:
		break;
	case IC_AUTHORIZATION_REFUSED:
		finish_refused(x, refusal.verdict, refusal.reason);
		break;
	}
}

/* ------------------------------------------------------------------ the exchange */

void ic_exchange_init(struct ic_exchange *x, struct ic_session *session)
{
	*x = (struct ic_exchange){.session = session, .waiter = {.go_on = go_on}};
}

void ic_exchange_clear(struct ic_exchange *x)
{
	free(x->path);
	free(x->line);
	free(x->url);
	free(x->first_url);
	ic_secret_free(x->sent_header);
	ic_exchange_init(x, x->session);
}

/* Copies the texts of the question. */
static bool keep_question(struct ic_exchange *x)
{
	struct ic_question *q = &x->question;

	x->path = ic_text_copy(q->url ? q->url : q->path, strlen(q->url ? q->url : q->path));
	x->line = q->header ? ic_text_copy(q->header, strlen(q->header)) : NULL;
	if (!x->path || (q->header && !x->line))
		return false;
	q->header = x->line;
	if (q->url)
		q->url = x->path;
	else
		q->path = x->path;
	return true;
}

void ic_exchange_ask(struct ic_exchange *x, const struct ic_endpoint *endpoint, const struct ic_question *question,
                     ic_reply_fn done, void *arg)
{
	ic_exchange_clear(x);
	x->endpoint = endpoint;
	x->question = *question;
	x->method = question->method;
	x->done = done;
	x->arg = arg;
	x->attempts.sent = 1;
	if (!keep_question(x)) {
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		return;
	}
	if (set_endpoint_url(x, endpoint->scheme))
		proceed(x);
}
