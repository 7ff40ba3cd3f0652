/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <search.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/limits.h"
#include "base/text.h"
#include "registry/authorize.h"
#include "registry/ping.h"
#include "source/config.h"
#include "source/proxy.h"

/* ------------------------------------------------------------------ waiting */

void ic_waiters_add(struct ic_waiters *list, struct ic_waiter *w)
{
	w->next = NULL;
	if (list->last)
		list->last->next = w;
	else
		list->first = w;
	list->last = w;
}

void ic_waiters_wake(struct ic_waiters *list)
{
	struct ic_waiter *w = list->first;

	*list = (struct ic_waiters){NULL, NULL};
	while (w) {
		struct ic_waiter *next = w->next;

		w->go_on(w);
		w = next;
	}
}

bool ic_session_enter(struct ic_session *s, struct ic_waiter *w)
{
	if (s->under_way >= IC_MAX_EXCHANGES) {
		ic_waiters_add(&s->line, w);
		return false;
	}
	s->under_way++;
	return true;
}

/* An exchange can end as soon as it begins: a loop, where calling each other would go deep. */
void ic_session_leave(struct ic_session *s)
{
	s->under_way--;
	if (s->draining)
		return;
	s->draining = true;
	while (s->line.first && s->under_way < IC_MAX_EXCHANGES) {
		struct ic_waiter *w = s->line.first;

		s->line.first = w->next;
		if (!s->line.first)
			s->line.last = NULL;
		s->under_way++;
		w->go_on(w);
	}
	s->draining = false;
}

/* ------------------------------------------------------------------ hosts */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct ic_host_state *)a)->key, ((const struct ic_host_state *)b)->key);
}

static void free_host(void *arg)
{
	struct ic_host_state *host = arg;

	tdestroy(host->tokens, ic_token_free);
	ic_challenges_clear(&host->challenges);
	ic_secret_free(host->basic);
	ic_login_clear(&host->login);
	free(host->limited);
	free(host->unusable);
	ic_ping_free(host->ping);
	free(host->key);
	free(host);
}

/* Logins are told apart by user and source, not by their secrets. */
static int host_key(const char *url, const struct ic_login *login, char **key, struct imgcheck_error **err)
{
	char *base IC_AUTO(free) = NULL;
	struct ic_buf text IC_AUTO(buf);
	int result = ic_url_origin(url, &base, err);

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	if (result == 0)
		result = ic_buf_printf(&text, err, "%s\n%s\n%s", base, login && login->user ? login->user : "",
		                       login && login->source ? login->source : "");
	if (result < 0)
		return result;
	*key = ic_buf_take(&text);
	return *key ? 0 : ic_error_nomem(err);
}

struct ic_host_state *ic_session_host(struct ic_session *s, const char *url, const struct ic_login *login)
{
	struct ic_host_state *host = calloc(1, sizeof(*host)), **found;

	if (!host || host_key(url, login, &host->key, NULL) < 0) {
		free(host);
		ic_session_fail(s, IMGCHECK_ERR_NOMEM);
		return NULL;
	}
	found = tsearch(host, &s->hosts, by_key);
	if (!found) {
		free_host(host);
		ic_session_fail(s, IMGCHECK_ERR_NOMEM);
		return NULL;
	}
	if (*found != host) {
		free_host(host);
		return *found;
	}
	if (login && ic_login_copy(login, &host->login, NULL) < 0)
		ic_session_fail(s, IMGCHECK_ERR_NOMEM);
	return host;
}

static int collect_fields(const struct ic_http_answer *answer, struct ic_vec *fields)
{
	const char *value;

	for (size_t i = 0; (value = ic_http_header(answer, "www-authenticate", i)); i++) {
		int result = ic_texts_push(fields, value, strlen(value), NULL);

		if (result < 0)
			return result;
	}
	return 0;
}

bool ic_session_read_challenges(struct ic_session *s, const struct ic_http_answer *answer, struct ic_vec *out)
{
	struct ic_vec fields IC_AUTO(texts);
	int result;

	*out = (struct ic_vec){0};
	ic_texts_init(&fields, IC_MAX_LIST_ITEMS);
	result = collect_fields(answer, &fields);
	if (result == 0)
		result = ic_challenges_parse(s->profile, &fields, out, NULL);
	if (result < 0)
		ic_session_fail(s, result);
	return result == 0;
}

bool ic_host_learn(struct ic_session *s, struct ic_host_state *host, const struct ic_http_answer *answer)
{
	struct ic_vec challenges;

	if (!ic_session_read_challenges(s, answer, &challenges) || !ic_challenges_choose(&challenges)) {
		ic_challenges_clear(&challenges);
		return false;
	}
	ic_challenges_clear(&host->challenges);
	host->challenges = challenges;
	host->challenge = ic_challenges_choose(&host->challenges);
	return true;
}

/* ------------------------------------------------------------------ the session */

int ic_session_init(struct ic_session *s, const struct imgcheck_config *config, ic_msec deadline,
                    struct imgcheck_error **err)
{
	size_t len = 0;
	const char *pem = ic_config_ca_pem(config, &len);

	*s = (struct ic_session){.config = config, .profile = ic_profile_get(ic_config_runtime(config)), .deadline = deadline};
	return ic_http_new(pem, len, deadline, &s->http, err);
}

void ic_session_clear(struct ic_session *s)
{
	ic_http_free(s->http);
	tdestroy(s->hosts, free_host);
	*s = (struct ic_session){0};
}

void ic_session_fail(struct ic_session *s, int result)
{
	if (s->failed == 0)
		s->failed = result;
}

ic_msec ic_session_left(const struct ic_session *s)
{
	ic_msec now = ic_clock_now();

	return now < s->deadline ? s->deadline - now : 0;
}

ic_msec ic_session_spread(const struct ic_session *s, ic_msec delay)
{
	ic_msec left = ic_session_left(s), most = delay + delay / 2;
	uint32_t random = 0;

	if (most >= left)
		most = left - 1;
	if (delay <= 0 || most <= delay || getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		return delay;
	return delay + (ic_msec)random % (most - delay + 1);
}

const char *ic_session_proxy(struct ic_session *s, const struct ic_url *url)
{
	char *host IC_AUTO(free) = ic_text_copy(url->host, url->host_len);

	if (host)
		return ic_proxy_choose(s->config, url->scheme, host, NULL);
	ic_session_fail(s, IMGCHECK_ERR_NOMEM);
	return "";
}
