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
#define MAX_SECONDS ((size_t)1 << 20) /* longer than any run */
#define DENIED_WAIT 1000

struct ic_token {
	char *repository; /* the key */
	struct ic_session *session;
	const struct ic_host_state *host;
	const struct ic_endpoint *endpoint;
	bool home; /* the host is the endpoint's own */
	enum ic_token_state state;
	char *header; /* READY: "Authorization: Bearer ...", secret */
	char *reason; /* REFUSED */
	enum imgcheck_verdict verdict;
	ic_msec expires; /* READY: 0 for never */
	bool renewed;    /* a refused token was replaced once */
	bool stale;      /* ASKED: more scopes were added meanwhile */
	bool denied;     /* the request was denied once */
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

static struct ic_token *new_token(const struct ic_asker *asker)
{
	const char *repository = asker->endpoint->repository;
	struct ic_token *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->session = asker->session;
	t->host = asker->host;
	t->endpoint = asker->endpoint;
	t->home = asker->home;
	ic_texts_init(&t->scopes, MAX_SCOPES);
	t->repository = ic_text_copy(repository, strlen(repository));
	if (!t->repository || !tsearch(t, &asker->host->tokens, by_repository)) {
		ic_token_free(t);
		return NULL;
	}
	return t;
}

static void forget_token(struct ic_host_state *host, const struct ic_endpoint *endpoint)
{
	const struct ic_token wanted = {.repository = endpoint->repository};
	struct ic_token **found = tfind(&wanted, &host->tokens, by_repository), *t = found ? *found : NULL;

	/* one that is still asked for is in use */
	if (!t || t->state == IC_TOKEN_ASKED)
		return;
	(void)tdelete(t, &host->tokens, by_repository);
	ic_token_free(t);
}

void ic_authorize_forget(struct ic_session *s, const struct ic_endpoint *endpoint)
{
	const char *schemes[] = {endpoint->scheme, endpoint->http_fallback ? "http" : NULL};

	for (size_t i = 0; i < IC_COUNT(schemes) && schemes[i]; i++) {
		struct ic_buf url IC_AUTO(buf);
		struct ic_host_state *host = NULL;

		ic_buf_init(&url, IC_MAX_URL_BYTES);
		if (ic_buf_printf(&url, NULL, "%s://%s/", schemes[i], endpoint->host) == 0)
			host = ic_session_host(s, url.data, &endpoint->login);
		if (host)
			forget_token(host, endpoint);
	}
}

/* NULL without memory: the session has then failed. */
static struct ic_token *get_token(const struct ic_asker *asker)
{
	const struct ic_token wanted = {.repository = asker->endpoint->repository};
	struct ic_token **found = tfind(&wanted, &asker->host->tokens, by_repository), *t;

	if (found) {
		/* whoever asked for it first may have been forgotten */
		if ((*found)->state != IC_TOKEN_ASKED)
			(*found)->endpoint = asker->endpoint;
		return *found;
	}
	t = new_token(asker);
	if (!t)
		ic_session_fail(asker->session, IMGCHECK_ERR_NOMEM);
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

/* "GET https://host/token" */
static int describe(const struct ic_token *t, struct ic_buf *out)
{
	int result = ic_buf_add_text(out, t->form ? "POST " : "GET ", NULL);

	return result == 0 ? ic_url_add_shown(out, t->url, NULL) : result;
}

/* A token server's 404 or web page says nothing about the image. */
static enum imgcheck_verdict about_token(enum imgcheck_verdict verdict)
{
	return verdict == IMGCHECK_VERDICT_NOT_FOUND || verdict == IMGCHECK_VERDICT_CORRUPT ? IMGCHECK_VERDICT_SERVER_ERROR : verdict;
}

static void refuse_with_answer(struct ic_token *t, const struct ic_http_answer *answer)
{
	const struct ic_answer_context context = {.method = t->form ? IC_HTTP_POST : IC_HTTP_GET, .url = t->url,
	                                          .with_credentials = t->form || t->basic, .token_server = true,
	                                          .login = &t->host->login, .authorization = t->basic};
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	if (ic_answer_reason(&context, answer, &reason, NULL) < 0)
		ic_session_fail(t->session, IMGCHECK_ERR_NOMEM);
	refuse(t, about_token(ic_answer_verdict(answer)), ic_buf_take(&reason));
}

/* Takes *why. */
static void refuse_with_error(struct ic_token *t, int result, struct imgcheck_error *why)
{
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	if (t->url)
		result = describe(t, &reason) < 0 || ic_buf_add_text(&reason, ": ", NULL) < 0 ? IMGCHECK_ERR_NOMEM : result;
	if (result == IMGCHECK_ERR_NOMEM || ic_buf_add_text(&reason, imgcheck_error_message(why), NULL) < 0)
		ic_session_fail(t->session, IMGCHECK_ERR_NOMEM);
	refuse(t, IMGCHECK_VERDICT_SERVER_ERROR, ic_buf_take(&reason));
	imgcheck_error_free(why);
}

static int accept_token(struct ic_token *t, const struct ic_http_answer *answer, struct imgcheck_error **err)
{
	static const char prefix[] = "Authorization: Bearer ";
	struct ic_buf line IC_AUTO(buf);
	char *token = NULL;
	size_t seconds;
	int result;

	ic_buf_init_secret(&line, IC_MAX_TOKEN_BYTES + sizeof(prefix));
	result = ic_token_read(&(struct ic_token_answer){t->session->profile, t->way, ic_buf_text(&answer->body), answer->body.len},
	                       &token, &seconds, err);
	if (result == 0)
		result = ic_buf_add_text(&line, prefix, err);
	if (result == 0)
		result = ic_buf_add_text(&line, token, err);
	ic_secret_free(token);
	if (result < 0)
		return result;
	t->header = ic_buf_take(&line);
	t->state = IC_TOKEN_READY;
	t->expires = seconds > 0 && seconds < MAX_SECONDS ? ic_clock_now() + (ic_msec)seconds * 1000 : 0;
	forget_request(t);
	ic_waiters_wake(&t->waiters);
	return 0;
}

/* ------------------------------------------------------------------ a token request */

static void start(struct ic_token *t);
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
	struct ic_buf text IC_AUTO(buf), host IC_AUTO(buf);
	struct ic_url url;
	int result;

	ic_buf_init(&text, IC_MAX_REASON_BYTES);
	ic_buf_init(&host, IC_MAX_URL_BYTES);
	if (!ic_config_listens(t->session->config) || answer->end == IC_HTTP_DEADLINE || !ic_url_parse(t->url, &url) ||
	    ic_buf_add(&host, url.host, url.host_len, NULL) < 0 || describe(t, &text) < 0)
		return;
	if (answer->status > 0)
		result = ic_buf_printf(&text, NULL, " %ld", answer->status);
	else
		result = ic_buf_printf(&text, NULL, ": %s", answer->detail);
	if (result == 0)
		ic_config_tell(t->session->config, &(struct imgcheck_event){IMGCHECK_EVENT_REQUEST, host.data, text.data, 0, 0, 0});
}

/*
 * Whether the request is repeated; *delay tells after how long.  containerd repeats none for its status; one that
 * a busy token server turns away is (429, or whatever it is where many ask), and one that it denies once more, since
 * some deny under load.
 */
static bool is_repeated(struct ic_token *t, const struct ic_http_answer *answer, ic_msec *delay)
{
	ic_msec left = ic_session_left(t->session);

	if (answer->end == IC_HTTP_ANSWERED && answer->status == 403 && !t->denied && left > DENIED_WAIT) {
		t->denied = true;
		*delay = DENIED_WAIT;
		ic_retry_count(&t->attempts, answer);
		return true;
	}
	if (answer->end == IC_HTTP_ANSWERED && answer->status != 429 && !ic_retry_is_crowded_out(answer))
		return false;
	t->attempts.last_host = true;
	t->attempts.left = left;
	*delay = ic_session_spread(t->session, ic_retry_delay(&t->attempts, answer));
	if (*delay >= 0)
		ic_retry_count(&t->attempts, answer);
	return *delay >= 0;
}

static void on_answer(void *arg, const struct ic_http_answer *answer)
{
	struct imgcheck_error *why = NULL;
	struct ic_token *t = arg;
	ic_msec delay;
	int result = 0;

	tell(t, answer);
	if (answer->end == IC_HTTP_ANSWERED && answer->status / 100 == 2)
		result = t->stale ? 0 : accept_token(t, answer, &why);
	else if (answer->end == IC_HTTP_ANSWERED && answer->status / 100 == 3)
		follow(t, answer);
	else if (answer->end == IC_HTTP_ANSWERED && t->form &&
	         ic_token_falls_back(t->session->profile, &t->host->login, answer->status))
		ask(t, IC_TOKEN_GET);
	else if (is_repeated(t, answer, &delay))
		send(t, delay);
	else
		refuse_with_answer(t, answer);
	if (result < 0)
		refuse_with_error(t, result, why);
	else if (t->stale && t->state == IC_TOKEN_ASKED && answer->status / 100 == 2)
		start(t);
}

/* The header lines of the request: the endpoint's own and ours, NULL-terminated. */
static void collect_header(const struct ic_token *t, const char *lines[MAX_REQUEST_HEADERS])
{
	size_t n = 0;

	if (t->basic)
		lines[n++] = t->basic;
	if (t->form)
		lines[n++] = "Content-Type: application/x-www-form-urlencoded; charset=utf-8";
	for (size_t i = 0; t->home && i < t->endpoint->header.count && n + 1 < MAX_REQUEST_HEADERS; i++)
		lines[n++] = ic_texts_get(&t->endpoint->header, i);
	lines[n] = NULL;
}

static void send(struct ic_token *t, ic_msec delay)
{
	const char *lines[MAX_REQUEST_HEADERS];
	struct ic_http_request request = {
		.method = t->form ? IC_HTTP_POST : IC_HTTP_GET, .url = t->url, .header = lines, .body = t->form,
		.body_len = t->form ? strlen(t->form) : 0,
		.skip_verify = t->endpoint->skip_verify, .tls = t->endpoint->tls, .max_body = IC_MAX_TOKEN_BYTES,
		.not_before = delay > 0 ? ic_clock_now() + delay : 0,
	};
	struct ic_url url;
	int result;

	collect_header(t, lines);
	request.proxy = ic_url_parse(t->url, &url) ? ic_session_proxy(t->session, &url) : "";
	result = ic_http_submit(t->session->http, &request, on_answer, t, NULL);
	if (result < 0)
		ic_session_fail(t->session, result);
}

/* Where the registry wants tokens to be asked for; a login never goes over http to another host than its own. */
static int check_realm(const struct ic_token *t, const char *realm, struct imgcheck_error **err)
{
	struct ic_buf shown IC_AUTO(buf);
	struct ic_url place;
	size_t len;
	const char *name;

	ic_buf_init(&shown, IC_MAX_REASON_BYTES);
	if (!ic_url_parse(realm, &place))
		return ic_url_add_shown(&shown, realm, NULL) < 0
		               ? ic_error_nomem(err)
		               : ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot get a token: the registry names \"%s\" as the place to "
		                              "ask, which is no http or https URL without a login", ic_buf_text(&shown));
	ic_url_host_name(&place, &name, &len);
	if (ic_login_is_anonymous(&t->host->login) || strcmp(place.scheme, "http") != 0 || strcmp(t->endpoint->scheme, "http") == 0 ||
	    (strncasecmp(name, t->endpoint->host, len) == 0 && strchr(":", t->endpoint->host[len])))
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot get a token: the registry wants the credentials over http on another "
	                    "host (%.*s), where they are not sent", (int)(len < 100 ? len : 100), name);
}

static int build(struct ic_token *t, enum ic_token_way way, struct imgcheck_error **err)
{
	const char *realm = ic_challenge_get(t->host->challenge, "realm");
	const struct ic_token_request request = {.profile = t->session->profile,
	                                         .realm = realm ? realm : "",
	                                         .service = ic_challenge_get(t->host->challenge, "service"),
	                                         .scopes = &t->scopes, .login = &t->host->login};
	struct ic_buf url IC_AUTO(buf), form IC_AUTO(buf), basic IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&url, IC_MAX_TOKEN_BYTES);
	ic_buf_init_secret(&form, IC_MAX_TOKEN_BYTES);
	ic_buf_init_secret(&basic, IC_MAX_TOKEN_BYTES);
	result = check_realm(t, request.realm, err);
	if (result < 0)
		return result;
	result = ic_token_build(&request, way, &url, &form, err);
	if (result == 0 && way == IC_TOKEN_GET && !ic_login_is_anonymous(&t->host->login))
		result = ic_token_add_basic(&t->host->login, &basic, err);
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
	t->attempts = (struct ic_retry){.profile = t->session->profile, .sent = 1};
	if (result < 0)
		refuse_with_error(t, result, why);
	else
		send(t, 0);
}

static void start(struct ic_token *t)
{
	ic_secret_free(IC_TAKE(t->header));
	t->state = IC_TOKEN_ASKED;
	t->stale = t->denied = false;
	ask(t, ic_token_first_way(t->session->profile, &t->host->login));
}

/* Adds the repository's own scope and those of a challenge; true where one is new. */
static bool add_scopes(struct ic_token *t, const char *challenged)
{
	struct ic_buf own IC_AUTO(buf);
	bool grown = false;

	ic_buf_init(&own, IC_MAX_URL_BYTES);
	if (ic_buf_printf(&own, NULL, "repository:%s:%s", t->repository, t->session->push ? "pull,push" : "pull") < 0 ||
	    ic_token_add_scopes(&t->scopes, ic_buf_text(&own), challenged, &grown, NULL) == IMGCHECK_ERR_NOMEM)
		ic_session_fail(t->session, IMGCHECK_ERR_NOMEM);
	return grown;
}

/* ------------------------------------------------------------------ the ways to ask */

static enum ic_authorization authorize_with_token(const struct ic_asker *asker, const char **header,
                                                  struct ic_refusal *refusal)
{
	struct ic_token *t = get_token(asker);

	if (!t)
		return IC_AUTHORIZATION_WAITS;
	if (t->state == IC_TOKEN_NONE || (t->state == IC_TOKEN_READY && t->expires > 0 && t->expires <= ic_clock_now())) {
		(void)add_scopes(t, NULL);
		start(t);
	}
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
	ic_waiters_add(&t->waiters, asker->waiter);
	return IC_AUTHORIZATION_WAITS;
}

static bool has_text(const char *text)
{
	return text && text[0];
}

bool ic_login_is_anonymous(const struct ic_login *login)
{
	return !has_text(login->secret) && !has_text(login->identity_token);
}

static enum ic_authorization authorize_with_password(const struct ic_asker *asker, const char **header,
                                                     struct ic_refusal *refusal)
{
	const struct ic_login *login = &asker->host->login;
	struct ic_buf line IC_AUTO(buf);

	ic_buf_init_secret(&line, IC_MAX_CONFIG_BYTES);
	if ((!has_text(login->user) || !has_text(login->secret)) && !asker->session->profile->empty_password) {
		*refusal = (struct ic_refusal){IMGCHECK_VERDICT_UNAUTHORIZED,
		                               "the registry asks for a user name and a password (401), and none is configured for it"};
		return IC_AUTHORIZATION_REFUSED;
	}
	if (!asker->host->basic) {
		if (ic_token_add_basic(login, &line, NULL) < 0) {
			ic_session_fail(asker->session, IMGCHECK_ERR_NOMEM);
			return IC_AUTHORIZATION_WAITS;
		}
		asker->host->basic = ic_buf_take(&line);
	}
	*header = asker->host->basic;
	return IC_AUTHORIZED;
}

enum ic_authorization ic_authorize(const struct ic_asker *asker, const char **header, struct ic_refusal *refusal)
{
	const struct ic_host_state *host = asker->host;

	*header = NULL;
	if (host->state == IC_HOST_ASKED) {
		ic_waiters_add(&asker->host->waiters, asker->waiter);
		return IC_AUTHORIZATION_WAITS;
	}
	if (host->unusable) {
		*refusal = (struct ic_refusal){host->verdict, host->unusable};
		return IC_AUTHORIZATION_REFUSED;
	}
	if (!host->challenge)
		return IC_AUTHORIZED;
	if (host->challenge->scheme == IC_SCHEME_BASIC)
		return authorize_with_password(asker, header, refusal);
	return authorize_with_token(asker, header, refusal);
}

/* A token that was refused is replaced once: it can lack a scope, or be of a server that forgot its key. */
static bool renew(struct ic_token *t, const char *header, bool grown)
{
	if (strcmp(t->header, header) != 0)
		return true; /* another request has got a new one already */
	if (t->renewed && !grown)
		return false;
	t->renewed = true;
	start(t);
	return true;
}

/* The scope "type:name:actions" that a token lacks, by an answer's challenges: borrowed from them, or NULL. */
static const char *find_lacking(const struct ic_vec *challenges)
{
	for (size_t i = 0; i < challenges->count; i++) {
		const struct ic_challenge *c = ic_vec_at(challenges, i);
		const char *error = ic_challenge_get(c, "error"), *scope = ic_challenge_get(c, "scope");
		size_t colons = 0;

		if (c->scheme != IC_SCHEME_BEARER || !error || strcmp(error, "insufficient_scope") != 0)
			continue;
		for (const char *at = scope ? scope : ""; *at; at++)
			colons += *at == ':';
		if (colons == 2)
			return scope;
	}
	return NULL;
}

/* Who begins with a ping takes a 401 as final, but for a token that lacks a scope. */
static bool widen(const struct ic_asker *asker, const char *header, const struct ic_http_answer *answer)
{
	const struct ic_challenge *known = asker->host->challenge;
	struct ic_token *t = header && known && known->scheme == IC_SCHEME_BEARER ? get_token(asker) : NULL;
	struct ic_vec challenges IC_AUTO(challenges) = {0};
	const char *scope = NULL;
	bool grown;

	if (t && ic_session_read_challenges(asker->session, answer, &challenges))
		scope = find_lacking(&challenges);
	if (!scope)
		return false;
	grown = add_scopes(t, scope);
	if (t->state == IC_TOKEN_READY)
		return renew(t, header, grown);
	t->stale = t->stale || (t->state == IC_TOKEN_ASKED && grown);
	return t->state == IC_TOKEN_ASKED;
}

bool ic_authorize_challenged(const struct ic_asker *asker, const char *header, const struct ic_http_answer *answer)
{
	struct ic_host_state *host = asker->host;
	struct ic_token *t;
	bool grown;

	if (asker->session->profile->ping)
		return widen(asker, header, answer);
	if (!ic_host_learn(asker->session, host, answer))
		return false;
	if (host->challenge->scheme == IC_SCHEME_BASIC)
		return true;
	t = get_token(asker);
	if (!t)
		return false;
	grown = add_scopes(t, ic_challenge_get(host->challenge, "scope"));
	switch (t->state) {
	case IC_TOKEN_NONE:
		start(t);
		break;
	case IC_TOKEN_ASKED:
		t->stale = t->stale || grown;
		break;
	case IC_TOKEN_READY:
		if (header)
			return renew(t, header, grown);
		if (grown)
			start(t);
		break;
	case IC_TOKEN_REFUSED:
		if (grown)
			start(t);
		break;
	}
	return true;
}
