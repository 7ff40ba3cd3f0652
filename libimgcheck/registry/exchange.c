/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "registry/answer.h"
#include "registry/authorize.h"
#include "registry/ping.h"
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

	if (x->question.url)
		return ic_buf_add_text(out, x->question.url, NULL);
	result = ic_buf_printf(out, NULL, "%s://%s%s/%s/%s", scheme, e->host, e->base_path, e->repository, x->path);
	if (result == 0 && e->ns)
		result = ic_buf_add_text(out, "?ns=", NULL);
	return result == 0 && e->ns ? ic_url_add_component(out, e->ns, NULL) : result;
}

static bool is_same_origin(struct ic_session *s, const char *a, const char *b)
{
	char *first IC_AUTO(free) = NULL, *second IC_AUTO(free) = NULL;

	if (strcmp(a, b) == 0)
		return true;
	if (ic_url_origin(a, &first, NULL) == IMGCHECK_ERR_NOMEM || ic_url_origin(b, &second, NULL) == IMGCHECK_ERR_NOMEM)
		ic_session_fail(s, IMGCHECK_ERR_NOMEM);
	return first && second && strcmp(first, second) == 0;
}

/* Takes the URL as the one to ask next.  The endpoint's login is for the endpoint's own host alone. */
static bool set_url(struct ic_exchange *x, char *url)
{
	bool own = !x->question.url && !x->question.anonymous;

	ic_secret_free(x->url);
	x->url = url;
	x->home = !x->question.url && is_same_origin(x->session, url, x->first_url);
	x->challenged = x->bare = x->rejected = false;
	x->host = ic_session_host(x->session, url, own && x->home ? &x->endpoint->login : NULL);
	return x->host != NULL;
}

/* The first URL. */
static bool set_endpoint_url(struct ic_exchange *x, const char *scheme)
{
	struct ic_buf url IC_AUTO(buf);

	ic_buf_init(&url, IC_MAX_URL_BYTES);
	if (write_url(x, scheme, &url) < 0) {
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		return false;
	}
	free(x->first_url);
	x->first_url = ic_text_copy(url.data, url.len);
	if (!x->first_url)
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
	return x->first_url && set_url(x, ic_buf_take(&url));
}

/* ------------------------------------------------------------------ the end */

static void end(struct ic_exchange *x, const struct ic_reply *reply)
{
	struct ic_session *s = x->session;

	bool entered = !x->question.ping;

	x->done(x->arg, reply); /* x may be gone */
	if (entered)
		ic_session_leave(s);
}

static bool uses_login(const struct ic_exchange *x)
{
	return x->sent_header && x->home && !ic_login_is_anonymous(&x->host->login);
}

static void finish_refused(struct ic_exchange *x, enum imgcheck_verdict verdict, const char *reason)
{
	const struct ic_reply reply = {.verdict = verdict, .reason = reason,
	                               .with_login = x->home && !ic_login_is_anonymous(&x->host->login)};

	end(x, &reply);
}

/* The host wants no more requests; where some are to be left to others, it then gets none. */
static void set_limited(struct ic_exchange *x, const char *reason)
{
	if (ic_config_reserve(x->session->config, NULL))
		ic_http_turn_away(x->session->http);
	if (x->host->limited)
		return;
	x->host->limited = ic_text_copy(reason, strlen(reason));
	if (!x->host->limited)
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
}

static void finish(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	struct ic_reply reply = {.answer = answer, .verdict = ic_answer_verdict(answer), .reason = "",
	                         .with_login = uses_login(x) || x->rejected};
	const struct ic_answer_context context = {.method = x->method, .url = x->url, .with_credentials = reply.with_login,
	                                          .login = &x->host->login, .authorization = x->sent_header};
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	if (reply.verdict != IMGCHECK_VERDICT_OK) {
		if (ic_answer_reason(&context, answer, &reason, NULL) < 0)
			ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		reply.reason = ic_buf_text(&reason);
	}
	if (reply.verdict == IMGCHECK_VERDICT_RATE_LIMITED)
		set_limited(x, reply.reason);
	end(x, &reply);
}

/* ------------------------------------------------------------------ answers */

/* "HEAD https://host/v2/... 200", or what came in place of an answer. */
static int describe(const struct ic_exchange *x, const struct ic_http_answer *answer, struct ic_buf *out)
{
	if (ic_buf_printf(out, NULL, "%s ", ic_http_method_name(x->method)) < 0 || ic_url_add_shown(out, x->url, NULL) < 0)
		return IMGCHECK_ERR_NOMEM;
	if (answer->status > 0)
		return ic_buf_printf(out, NULL, " %ld", answer->status);
	return ic_buf_printf(out, NULL, ": %s", answer->detail);
}

/* Seconds for which the host wants to be left alone; 0 where it does not say so. */
static long wanted_pause(const struct ic_http_answer *answer)
{
	const char *value = answer->status == 429 || answer->status == 503 ? ic_http_header(answer, "retry-after", 0) : NULL;
	ic_msec pause;

	return value && ic_retry_after(value, ic_http_header(answer, "date", 0), &pause) ? (long)(pause / 1000) : 0;
}

static void tell(const struct ic_exchange *x, const struct ic_http_answer *answer)
{
	struct ic_buf text IC_AUTO(buf);
	struct ic_buf host IC_AUTO(buf);
	struct ic_url url;

	ic_buf_init(&text, IC_MAX_REASON_BYTES);
	ic_buf_init(&host, IC_MAX_URL_BYTES);
	if (!ic_config_listens(x->session->config) || answer->end == IC_HTTP_DEADLINE || answer->end == IC_HTTP_UNSENT ||
	    !ic_url_parse(x->url, &url) ||
	    ic_buf_add(&host, url.host, url.host_len, NULL) < 0 || describe(x, answer, &text) < 0)
		return;
	ic_config_tell(x->session->config, &(struct imgcheck_event){IMGCHECK_EVENT_REQUEST, host.data, text.data, 0, 0,
	                                                            wanted_pause(answer)});
}

static void leave_rest(struct ic_exchange *x, const struct ic_http_answer *answer, size_t remaining)
{
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	if (describe(x, answer, &reason) < 0 ||
	    ic_buf_printf(&reason, NULL, ": %zu requests remain, which are left to others", remaining) < 0)
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
	set_limited(x, ic_buf_text(&reason));
}

/*
 * Where requests are to be left to others, the host gets no more once no more than those remain.  That holds for requests
 * that count: where what remains does not become less, they are free, as HEAD is on Docker Hub.
 */
static void heed_limit(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	size_t reserve, remaining;

	if (!ic_config_reserve(x->session->config, &reserve) || !ic_remaining(answer, &remaining))
		return;
	if (remaining >= x->host->remaining)
		x->host->remaining = remaining;
	else if (remaining <= reserve)
		leave_rest(x, answer, remaining);
}

/* True: the redirect is followed, or refused and the exchange finished. */
static bool follow(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	bool lines = !x->question.url && x->endpoint->header.count > 0;
	const struct ic_redirect_step step = {.method = x->method, .url = x->url, .first = x->first_url, .hops = x->hops,
	                                      .credentials = x->within && (x->sent_header || lines)};
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_redirect redirect;
	int result = ic_redirect_decide(&step, answer, &redirect, &why);

	if (result == IMGCHECK_ERR_NOMEM)
		ic_session_fail(x->session, result);
	if (result < 0) {
		struct ic_buf reason IC_AUTO(buf);

		ic_buf_init(&reason, IC_MAX_REASON_BYTES);
		if (describe(x, answer, &reason) < 0 || ic_buf_printf(&reason, NULL, ": %s", imgcheck_error_message(why)) < 0)
			ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
		finish_refused(x, IMGCHECK_VERDICT_SERVER_ERROR, ic_buf_text(&reason));
		return true;
	}
	if (!redirect.url)
		return false;
	x->method = redirect.method;
	x->hops++;
	x->delay = 0;
	x->within = redirect.keep_credentials;
	if (!x->within)
		ic_secret_free(IC_TAKE(x->sent_header));
	if (set_url(x, redirect.url))
		proceed(x);
	return true;
}

/* The server speaks no TLS on a port that the runtime then tries without. */
static bool is_plain(const struct ic_exchange *x, const struct ic_http_answer *answer)
{
	return answer->end == IC_HTTP_TLS && !x->question.url && x->endpoint->http_fallback && x->hops == 0 && !x->host->plain &&
	       strncmp(x->url, "https:", strlen("https:")) == 0;
}

static struct ic_asker asker_of(struct ic_exchange *x)
{
	return (struct ic_asker){.session = x->session, .host = x->host, .endpoint = x->endpoint, .home = x->home,
	                         .waiter = &x->waiter};
}

/* Whether a 401 is worth another request. */
static bool is_challenged(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	bool basic = x->host->challenge && x->host->challenge->scheme == IC_SCHEME_BASIC && x->sent_header;
	struct ic_asker asker = asker_of(x);

	x->rejected = x->rejected || basic;
	if (x->challenged)
		return false;
	if (basic && !x->session->profile->ping) {
		x->bare = true; /* it was sent ahead: perhaps nothing is asked for here */
		return true;
	}
	x->challenged = ic_authorize_challenged(&asker, x->sent_header, answer);
	return x->challenged && !(x->rejected && x->host->challenge->scheme == IC_SCHEME_BASIC);
}

/* Whether something was learned, so that the same question is worth another request at once. */
static bool has_learned(struct ic_exchange *x, const struct ic_http_answer *answer)
{
	if (is_plain(x, answer)) {
		x->host->plain = true;
		return true;
	}
	return answer->end == IC_HTTP_ANSWERED && answer->status == 401 && !x->question.url &&
	       x->attempts.sent < IC_MAX_ATTEMPTS && is_challenged(x, answer);
}

/* Whether the request is repeated; *delay tells after how long. */
static bool is_repeated(struct ic_exchange *x, const struct ic_http_answer *answer, ic_msec *delay)
{
	if (answer->status == 429 && (x->host->limited || ic_config_reserve(x->session->config, NULL)))
		return false;
	x->attempts.last_host = x->question.last_endpoint;
	x->attempts.left = ic_session_left(x->session);
	*delay = ic_session_spread(x->session, ic_retry_delay(&x->attempts, answer));
	if (*delay >= 0 && answer->status == 429)
		ic_http_hold(x->session->http, x->url, ic_clock_now() + *delay);
	return *delay >= 0;
}

/* Asks again after the delay, or waits for the one that does so already for this host. */
static void ask_again(struct ic_exchange *x, const struct ic_http_answer *answer, ic_msec delay)
{
	bool turned_away = answer->end == IC_HTTP_ANSWERED && answer->status == 429;

	x->delay = delay;
	ic_retry_count(&x->attempts, answer);
	if (turned_away && x->host->scout && x->host->scout != x) {
		x->paused = true;
		ic_waiters_add(&x->host->paused, &x->waiter);
		return;
	}
	if (turned_away)
		x->host->scout = x;
	proceed(x);
}

/* What the answer leads to: another request, or the end. */
static void decide(struct ic_exchange *x, const struct ic_http_answer *answer, bool again)
{
	ic_msec delay = 0;

	if (again) {
		ic_secret_free(IC_TAKE(x->sent_header));
		ask_again(x, answer, 0);
	} else if (answer->end == IC_HTTP_ANSWERED && answer->status / 100 == 3 && follow(x, answer)) {
		return;
	} else if (answer->end == IC_HTTP_UNSENT && x->host->limited) {
		finish_refused(x, IMGCHECK_VERDICT_RATE_LIMITED, x->host->limited);
	} else if (is_repeated(x, answer, &delay)) {
		ask_again(x, answer, delay);
	} else {
		finish(x, answer);
	}
}

static void on_answer(void *arg, const struct ic_http_answer *answer)
{
	struct ic_exchange *x = arg;
	struct ic_host_state *host = x->host;
	bool pioneer = x->pioneer, scout = host->scout == x, again;

	tell(x, answer);
	heed_limit(x, answer);
	if (pioneer)
		host->state = IC_HOST_KNOWN;
	if (scout)
		host->scout = NULL;
	x->pioneer = false;
	again = has_learned(x, answer);
	if (pioneer)
		ic_waiters_wake(&host->waiters);
	decide(x, answer, again); /* x may be gone */
	if (scout && !host->scout)
		ic_waiters_wake(&host->paused);
}

/* ------------------------------------------------------------------ requests */

/* The Authorization line is copied: the host's can be replaced before the answer. */
static bool keep_header(struct ic_exchange *x, const char *header)
{
	if (header == x->sent_header)
		return true;
	ic_secret_free(x->sent_header);
	x->sent_header = header ? ic_text_copy(header, strlen(header)) : NULL;
	return x->sent_header || !header;
}

/* A foreign layer's URL has nothing to do with the endpoint. */
static bool is_elsewhere(const struct ic_exchange *x)
{
	return x->question.url && !x->question.ping;
}

static void collect_header(const struct ic_exchange *x, const char *lines[MAX_REQUEST_HEADERS])
{
	bool own = !is_elsewhere(x) && x->within;
	size_t n = 0;

	if (x->sent_header)
		lines[n++] = x->sent_header;
	if (x->header)
		lines[n++] = x->header;
	for (size_t i = 0; x->question.lines && x->question.lines[i]; i++)
		lines[n++] = x->question.lines[i];
	if (!is_elsewhere(x) && x->session->profile->every_request)
		lines[n++] = x->session->profile->every_request;
	for (size_t i = 0; own && i < x->endpoint->header.count && n + 1 < MAX_REQUEST_HEADERS; i++)
		lines[n++] = ic_texts_get(&x->endpoint->header, i);
	lines[n] = NULL;
}

static void send(struct ic_exchange *x, const char *header)
{
	const char *lines[MAX_REQUEST_HEADERS];
	struct ic_http_request request = {
		.method = x->method, .url = x->url, .header = lines, .max_body = x->question.max_body,
		.first_byte = x->question.first_byte, .body = x->question.body, .body_len = x->question.body_len,
		.not_before = x->delay > 0 ? ic_clock_now() + x->delay : 0,
	};
	struct ic_url url;
	int result = IMGCHECK_ERR_NOMEM;

	if (!is_elsewhere(x)) {
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

static void authorize(struct ic_exchange *x)
{
	struct ic_asker asker = asker_of(x);
	struct ic_refusal refusal;
	const char *header;

	switch (ic_authorize(&asker, &header, &refusal)) {
	case IC_AUTHORIZED:
		send(x, header);
		break;
	case IC_AUTHORIZATION_WAITS:
		break;
	case IC_AUTHORIZATION_REFUSED:
		if (x->challenged || x->session->profile->ping) {
			finish_refused(x, refusal.verdict, refusal.reason);
		} else {
			x->bare = true;
			send(x, NULL);
		}
		break;
	}
}

/* The first question to a host: it goes out bare, or waits for a ping. */
static void begin(struct ic_exchange *x)
{
	x->host->state = IC_HOST_ASKED;
	if (x->session->profile->ping) {
		ic_waiters_add(&x->host->waiters, &x->waiter);
		ic_ping_start(x->session, x->host, x->endpoint);
		return;
	}
	x->pioneer = true;
	send(x, NULL);
}

static void proceed(struct ic_exchange *x)
{
	if (x->host->limited && ic_config_reserve(x->session->config, NULL)) {
		finish_refused(x, IMGCHECK_VERDICT_RATE_LIMITED, x->host->limited);
		return;
	}
	if (x->host->plain && !set_endpoint_url(x, "http"))
		return;
	if (x->question.url || (x->hops > 0 && (x->session->profile->ping || (x->within && x->sent_header)))) {
		send(x, x->sent_header);
	} else if (x->host->state == IC_HOST_UNKNOWN) {
		begin(x);
	} else if (x->bare && !x->challenged) {
		send(x, NULL);
	} else {
		authorize(x);
	}
}

static void go_on(struct ic_waiter *w)
{
	struct ic_exchange *x = (struct ic_exchange *)w;

	if (x->paused && x->host->limited) {
		finish_refused(x, IMGCHECK_VERDICT_RATE_LIMITED, x->host->limited);
		return;
	}
	x->paused = false;
	x->delay = 0;
	proceed(x);
}

/* ------------------------------------------------------------------ the exchange */

void ic_exchange_init(struct ic_exchange *x, struct ic_session *session)
{
	*x = (struct ic_exchange){.session = session, .waiter = {.go_on = go_on}};
}

void ic_exchange_clear(struct ic_exchange *x)
{
	free(x->path);
	free(x->header);
	ic_secret_free(x->url);
	free(x->first_url);
	ic_secret_free(x->sent_header);
	ic_exchange_init(x, x->session);
}

static bool copy(const char *text, char **out)
{
	*out = text ? ic_text_copy(text, strlen(text)) : NULL;
	return *out || !text;
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
	x->within = true;
	x->attempts = (struct ic_retry){.profile = x->session->profile, .sent = 1, .writes = question->method == IC_HTTP_PUT};
	if (!copy(question->path, &x->path) || !copy(question->header, &x->header))
		ic_session_fail(x->session, IMGCHECK_ERR_NOMEM);
	else if (set_endpoint_url(x, endpoint->scheme) && (question->ping || ic_session_enter(x->session, &x->waiter)))
		proceed(x);
}
