/* SPDX-License-Identifier: Apache-2.0 */
#include "authorize.h"

#include <search.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "registry/answer.h"
#include "registry/redirect.h"
#include "registry/retry.h"
#include "registry/token.h"
#include "registry/url.h"
#include "source/config.h"
#include "source/proxy.h"

#define MAX_SCOPES 64
#define MAX_REQUEST_HEADERS 64

struct ic_token {
	char *repository; /* the key */
	struct ic_session *session;
	const struct ic_host_state *host;
	const struct ic_endpoint *endpoint;
	enum ic_token_state state;
	char *header; /* READY: "Authorization: Bearer ...", secret */
	char *reason; /* REFUSED */
	enum imgcheck_verdict verdict;
	bool renewed; /* a refused token was replaced once */
	struct ic_vec scopes;
	struct ic_waiters waiters;
	/* the request under way */
	enum ic_token_way way;
	char *url, *first_url;     /* may hold secrets */
	char *form, *basic;        /* secrets, or NULL */
	struct ic_retry attempts;
	unsigned hops;
};

/* ------------------------------------------------------------------ tokens */

void ic_token_free(void *arg)
{
	struct ic_token *t = arg;

	free(t->repository);
	free(t->reason);
	ic_texts_clear(&t->scopes);
	ic_secret_free(t->header);
	ic_secret_free(t->url);
	ic_secret_free(t->first_url);
	ic_secret_free(t->form);
	ic_secret_free(t->basic);
	free(t);
}

static int by_repository(const void *a, const void *b)
{
	return strcmp(((const struct ic_token *)a)->repository, ((const struct ic_token *)b)->repository);
}

static struct ic_token *new_token(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint)
{
	struct ic_token *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->session = s;
	t->host = host;
	t->endpoint = endpoint;
	ic_texts_init(&t->scopes, MAX_SCOPES);
	t->repository = ic_text_copy(endpoint->repository, strlen(endpoint->repository));
	if (!t->repository || !tsearch(t, &host->tokens, by_repository)) {
		ic_token_free(t);
		return NULL;
	}
	return t;
}

/* NULL without memory: the session has then failed. */
static struct ic_token *get_token(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint)
{
	const struct ic_token wanted = {.repository = endpoint->repository};
	struct ic_token **found = tfind(&wanted, &host->tokens, by_repository), *t;

	if (found)
		return *found;
	t = new_token(s, host, endpoint);
	if (!t)
		ic_session_fail(s, IMGCHECK_ERR_NOMEM);
	return t;
}

/* ------------------------------------------------------------------ the end of a token request */

static void forget_request(struct ic_token *t)
{
	ic_secret_free(IC_TAKE(t->url));
	ic_secret_free(IC_TAKE(t->first_url));
	ic_secret_free(IC_TAKE(t->form));
	ic_secret_free(IC_TAKE(t->basic));
}

/* Takes the reason. */
static void refuse(struct ic_token *t, enum imgcheck_verdict verdict, char *reason)
{
	free(t->reason);
	t->reason = reason;
	t->verdict = verdict;
	t->state = IC_TOKEN_REFUSED;
	if (!reason)
		ic_session_fail(t->session, IMGCHECK_ERR_NOMEM);
	forget_request(t);
	ic_waiters_wake(&t->waiters);
}

/* A token server's 404 or web page says nothing about the image. */
static enum imgcheck_verdict about_token(enum imgcheck_verdict verdict)
{
	return verdict == IMGCHECK_VERDICT_NOT_FOUND || verdict == IMGCHECK_VERDICT_CORRUPT ? IMGCHECK_VERDICT_SERVER_ERROR : verdict;
}

static void refuse_with_answer(struct ic_token *t, const struct ic_http_answer *answer)
{
	const struct ic_answer_context context = {.method = t->way == IC_TOKEN_POST ? IC_HTTP_POST : IC_HTTP_GET, .url = t->url,
	                                          .with_credentials = t->form || t->basic, .token_server = true};
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	if (ic_answer_reason(&context, answer, &reason, NULL) < 0)
		ic_session_fail(t->session, IMGCHECK_ERR_NOMEM);
	refuse(t, about_token(ic_answer_verdict(answer)), ic_buf_take(&reason));
}

/* Takes *why. */
static void refuse_with_error(struct ic_token *t, int result, struct imgcheck_error *why)
{
	const char *message = imgcheck_error_message(why);

	if (result == IMGCHECK_ERR_NOMEM)
		ic_session_fail(t->session, result);
	refuse(t, IMGCHECK_VERDICT_SERVER_ERROR, ic_text_copy(message, strlen(message)));
	imgcheck_error_free(why);
}

static int accept_token(struct ic_token *t, const struct ic_http_answer *answer, struct imgcheck_error **err)
{
	static const char prefix[] = "Authorization: Bearer ";
	struct ic_buf line IC_AUTO(secret_buf);
	char *token = NULL;
	size_t seconds;
	int result;

	ic_buf_init(&line, IC_MAX_TOKEN_BYTES + sizeof(prefix));
	result = ic_token_read(ic_buf_text(&answer->body), answer->body.len, t->way, &token, &seconds, err);
	if (result == 0)
		result = ic_buf_reserve(&line, strlen(prefix) + strlen(token), err);
	if (result == 0)
		result = ic_buf_add_text(&line, prefix, err);
	if (result == 0)
		result = ic_buf_add_text(&line, token, err);
	ic_secret_free(token);
	if (result < 0)
		return result;
	t->header = ic_buf_take(&line);
	t->state = IC_TOKEN_READY;
	forget_request(t);
	ic_waiters_wake(&t->waiters);
	return 0;
}

/* ------------------------------------------------------------------ a token request */

static void ask(struct ic_token *t, enum ic_token_way way);
static void send(struct ic_token *t, ic_msec delay);

static void follow(struct ic_token *t, const struct ic_http_answer *answer)
{
	const struct ic_redirect_step step = {.method = t->way == IC_TOKEN_POST ? IC_HTTP_POST : IC_HTTP_GET, .url = t->url,
	                                      .first = t->first_url, .hops = t->hops, .credentials = t->form || t->basic};
	struct imgcheck_error *why = NULL;
	struct ic_redirect redirect;
	int result = ic_redirect_decide(&step, answer, &redirect, &why);

	if (result < 0) {
		refuse_with_error(t, result, why);
		return;
	}
	if (!redirect.url || (redirect.method == IC_HTTP_POST && !redirect.keep_credentials)) {
		free(redirect.url);
		refuse_with_answer(t, answer);
		return;
	}
	ic_secret_free(t->url);
	t->url = redirect.url;
	t->hops++;
	if (redirect.method == IC_HTTP_GET)
		ic_secret_free(IC_TAKE(t->form));
	if (!redirect.keep_credentials)
		ic_secret_free(IC_TAKE(t->basic));
	send(t, 0);
}

static void tell(const struct ic_token *t, const struct ic_http_answer *answer)
{
	struct ic_buf text IC_AUTO(buf);
	struct ic_url url;

	ic_buf_init(&text, IC_MAX_REASON_BYTES);
	if (!ic_url_parse(t->url, &url) || ic_buf_add_text(&text, t->form ? "POST " : "GET ", NULL) < 0 ||
	    ic_url_add_shown(&text, t->url, NULL) < 0 || ic_buf_printf(&text, NULL, " %ld", answer->status) < 0)
		return;
	ic_config_tell(t->session->config,
	               &(struct imgcheck_event){IMGCHECK_EVENT_REQUEST, t->endpoint->host, text.data, 0, 0});
}

static void on_answer(void *arg, const struct ic_http_answer *answer)
{
	struct imgcheck_error *why = NULL;
	struct ic_token *t = arg;
	ic_msec delay;
	int result;

	tell(t, answer);
	if (answer->end == IC_HTTP_ANSWERED && answer->status / 100 == 2) {
		result = accept_token(t, answer, &why);
		if (result < 0)
			refuse_with_error(t, result, why);
		return;
	}
	if (answer->end == IC_HTTP_ANSWERED && answer->status / 100 == 3) {
		follow(t, answer);
		return;
	}
	if (answer->end == IC_HTTP_ANSWERED && t->way == IC_TOKEN_POST && ic_token_falls_back(&t->endpoint->login, answer->status)) {
		ask(t, IC_TOKEN_GET);
		return;
	}
	t->attempts.last_host = true;
	t->attempts.left = ic_session_left(t->session);
	delay = ic_retry_delay(&t->attempts, answer);
	t->attempts.last_status = answer->status;
	if (delay >= 0)
		send(t, delay);
	else
		refuse_with_answer(t, answer);
}

/* The header lines of the request: the endpoint's own and ours, NULL-terminated. */
static void collect_header(const struct ic_token *t, const char *lines[MAX_REQUEST_HEADERS])
{
	size_t n = 0;

	if (t->basic)
		lines[n++] = t->basic;
	if (t->form)
		lines[n++] = "Content-Type: application/x-www-form-urlencoded; charset=utf-8";
	for (size_t i = 0; i < t->endpoint->header.count && n + 1 < MAX_REQUEST_HEADERS; i++)
		lines[n++] = ic_texts_get(&t->endpoint->header, i);
	lines[n] = NULL;
}

static void send(struct ic_token *t, ic_msec delay)
{
	const char *lines[MAX_REQUEST_HEADERS];
	struct ic_http_request request = {
		.method = t->form ? IC_HTTP_POST : IC_HTTP_GET, .url = t->url, .header = lines, .body = t->form,
		.skip_verify = t->endpoint->skip_verify, .tls = t->endpoint->tls, .max_body = IC_MAX_TOKEN_BYTES,
		.not_before = delay > 0 ? ic_clock_now() + delay : 0,
	};
	struct ic_url url;
	int result;

	collect_header(t, lines);
	request.proxy = ic_url_parse(t->url, &url) ? ic_session_proxy(t->session, &url) : "";
	t->attempts.sent++;
	result = ic_http_submit(t->session->http, &request, on_answer, t, NULL);
	if (result < 0)
		ic_session_fail(t->session, result);
}

static int build(struct ic_token *t, enum ic_token_way way, struct imgcheck_error **err)
{
	const char *realm = ic_challenge_get(t->host->challenge, "realm");
	const struct ic_token_request request = {.realm = realm ? realm : "",
	                                         .service = ic_challenge_get(t->host->challenge, "service"),
	                                         .scopes = &t->scopes, .login = &t->endpoint->login};
	struct ic_buf url IC_AUTO(secret_buf), form IC_AUTO(secret_buf), basic IC_AUTO(secret_buf);
	int result;

	ic_buf_init(&url, IC_MAX_TOKEN_BYTES);
	ic_buf_init(&form, IC_MAX_TOKEN_BYTES);
	ic_buf_init(&basic, IC_MAX_TOKEN_BYTES);
	if (!ic_token_realm_is_usable(request.realm))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot get a token: the registry names \"%.100s\" as the place to ask, "
		                    "which is no http or https URL", request.realm);
	result = ic_token_build(&request, way, &url, &form, err);
	if (result == 0 && way == IC_TOKEN_GET && (t->endpoint->login.secret || t->endpoint->login.identity_token))
		result = ic_token_add_basic(&t->endpoint->login, &basic, err);
	if (result < 0)
		return result;
	forget_request(t);
	t->url = ic_text_copy(url.data, url.len);
	t->first_url = ic_text_copy(url.data, url.len);
	t->form = way == IC_TOKEN_POST ? ic_buf_take(&form) : NULL;
	t->basic = basic.len > 0 ? ic_buf_take(&basic) : NULL;
	return t->url && t->first_url && (t->form || way == IC_TOKEN_GET) ? 0 : ic_error_nomem(err);
}

static void ask(struct ic_token *t, enum ic_token_way way)
{
	struct imgcheck_error *why = NULL;
	int result = build(t, way, &why);

	t->way = way;
	t->hops = 0;
	t->attempts = (struct ic_retry){0};
	if (result < 0)
		refuse_with_error(t, result, why);
	else
		send(t, 0);
}

/* Asks for a token, with the scopes of the challenge too where it was this repository's. */
static void start(struct ic_token *t, const char *challenged)
{
	bool grown;
	int result = ic_token_add_scopes(&t->scopes, t->repository, challenged, &grown, NULL);

	ic_secret_free(IC_TAKE(t->header));
	t->state = IC_TOKEN_ASKED;
	if (result == IMGCHECK_ERR_NOMEM)
		ic_session_fail(t->session, result);
	ask(t, ic_token_first_way(&t->endpoint->login));
}

/* ------------------------------------------------------------------ the ways to ask */

static enum ic_authorization authorize_with_token(struct ic_session *s, struct ic_host_state *host,
                                                  const struct ic_endpoint *endpoint, struct ic_waiter *waiter,
                                                  const char **header, struct ic_refusal *refusal)
{
	struct ic_token *t = get_token(s, host, endpoint);

	if (!t)
		return IC_AUTHORIZATION_WAITS;
	if (t->state == IC_TOKEN_NONE)
		start(t, NULL);
	switch (t->state) {
	case IC_TOKEN_READY:
		*header = t->header;
		return IC_AUTHORIZED;
	case IC_TOKEN_REFUSED:
		*refusal = (struct ic_refusal){t->verdict, t->reason};
		return IC_AUTHORIZATION_REFUSED;
	case IC_TOKEN_NONE:
	case IC_TOKEN_ASKED:
		break;
	}
	ic_waiters_add(&t->waiters, waiter);
	return IC_AUTHORIZATION_WAITS;
}

static enum ic_authorization authorize_with_password(struct ic_session *s, struct ic_host_state *host,
                                                     const struct ic_login *login, const char **header,
                                                     struct ic_refusal *refusal)
{
	struct ic_buf line IC_AUTO(secret_buf);

	ic_buf_init(&line, IC_MAX_CONFIG_BYTES);
	if (!login->user || !login->user[0] || !login->secret || !login->secret[0]) {
		*refusal = (struct ic_refusal){IMGCHECK_VERDICT_UNAUTHORIZED,
		                               "the registry asks for a user name and a password, and none is configured for it"};
		return IC_AUTHORIZATION_REFUSED;
	}
	if (!host->basic) {
		if (ic_token_add_basic(login, &line, NULL) < 0) {
			ic_session_fail(s, IMGCHECK_ERR_NOMEM);
			return IC_AUTHORIZATION_WAITS;
		}
		host->basic = ic_buf_take(&line);
	}
	*header = host->basic;
	return IC_AUTHORIZED;
}

enum ic_authorization ic_authorize(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint,
                                   struct ic_waiter *waiter, const char **header, struct ic_refusal *refusal)
{
	*header = NULL;
	if (host->state == IC_HOST_ASKED) {
		ic_waiters_add(&host->waiters, waiter);
		return IC_AUTHORIZATION_WAITS;
	}
	if (!host->challenge)
		return IC_AUTHORIZED;
	if (host->challenge->scheme == IC_SCHEME_BASIC)
		return authorize_with_password(s, host, &endpoint->login, header, refusal);
	return authorize_with_token(s, host, endpoint, waiter, header, refusal);
}

/* A token that was refused is replaced once: it can lack a scope, or be of a server that forgot its key. */
static bool renew(struct ic_token *t, const char *header, const char *challenged)
{
	bool grown = false;

	if (t->state != IC_TOKEN_READY || strcmp(t->header, header) != 0)
		return true; /* another request has asked for a new one already */
	if (challenged && ic_token_add_scopes(&t->scopes, t->repository, challenged, &grown, NULL) == IMGCHECK_ERR_NOMEM)
		ic_session_fail(t->session, IMGCHECK_ERR_NOMEM);
	if (t->renewed && !grown)
		return false;
	t->renewed = true;
	start(t, challenged);
	return true;
}

bool ic_authorize_challenged(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint,
                             const char *header, const struct ic_http_answer *answer)
{
	struct ic_token *t;

	if (header && host->challenge && host->challenge->scheme == IC_SCHEME_BASIC)
		return false;
	if (!ic_host_learn(s, host, answer))
		return false;
	if (host->challenge->scheme == IC_SCHEME_BASIC)
		return !header;
	t = get_token(s, host, endpoint);
	if (!t)
		return false;
	if (header && t->header)
		return renew(t, header, ic_challenge_get(host->challenge, "scope"));
	if (t->state == IC_TOKEN_NONE)
		start(t, ic_challenge_get(host->challenge, "scope"));
	return true;
}
