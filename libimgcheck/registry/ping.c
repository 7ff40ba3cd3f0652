/* SPDX-License-Identifier: Apache-2.0 */
#include "ping.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "registry/exchange.h"

struct ic_ping {
	struct ic_exchange exchange;
	struct ic_host_state *host;
	char *url;
};

void ic_ping_free(struct ic_ping *ping)
{
	if (!ping)
		return;
	ic_exchange_clear(&ping->exchange);
	free(ping->url);
	free(ping);
}

static bool is_registry(const struct ic_reply *reply)
{
	const struct ic_http_answer *answer = reply->answer;

	return answer && answer->end == IC_HTTP_ANSWERED && (answer->status == 200 || answer->status == 401);
}

/* What a ping is refused with says nothing about an image. */
static enum imgcheck_verdict about_host(const struct ic_reply *reply)
{
	if (reply->answer && reply->answer->end == IC_HTTP_ANSWERED && reply->answer->status == 404)
		return IMGCHECK_VERDICT_NOT_A_REGISTRY;
	return reply->verdict == IMGCHECK_VERDICT_OK ? IMGCHECK_VERDICT_NOT_A_REGISTRY : reply->verdict;
}

static void give_up(struct ic_ping *ping, const struct ic_reply *reply)
{
	struct ic_host_state *host = ping->host;
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, 2 * IC_MAX_REASON_BYTES);
	if (ic_buf_printf(&reason, NULL, "cannot ping the registry: %s",
	                  reply->reason[0] ? reply->reason : "it answers with another status than 200 and 401") < 0)
		ic_session_fail(ping->exchange.session, IMGCHECK_ERR_NOMEM);
	host->verdict = about_host(reply);
	free(host->unusable);
	host->unusable = ic_buf_take(&reason);
}

/* The key begins with the origin. */
static bool is_over_tls(const struct ic_host_state *host)
{
	return strncmp(host->key, "https:", strlen("https:")) == 0;
}

static void on_reply(void *arg, const struct ic_reply *reply)
{
	struct ic_ping *ping = arg;
	struct ic_host_state *host = ping->host;
	const struct ic_endpoint *endpoint = ping->exchange.endpoint;

	host->state = IC_HOST_KNOWN;
	if (is_registry(reply))
		(void)ic_host_learn(ping->exchange.session, host, reply->answer); /* nothing to answer: asked without */
	else if (is_over_tls(host) && endpoint->http_fallback)
		host->plain = true;
	else
		give_up(ping, reply);
	ic_waiters_wake(&host->waiters);
}

void ic_ping_start(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint)
{
	struct ic_question question = {.method = IC_HTTP_GET, .max_body = IC_MAX_ERROR_BODY_BYTES, .last_endpoint = true, .ping = true};
	struct ic_ping *ping = calloc(1, sizeof(*ping));
	struct ic_buf url IC_AUTO(buf);

	ic_buf_init(&url, IC_MAX_URL_BYTES);
	if (!ping || ic_buf_printf(&url, NULL, "%s://%s/v2/", is_over_tls(host) ? "https" : "http", endpoint->host) < 0) {
		free(ping);
		ic_session_fail(s, IMGCHECK_ERR_NOMEM);
		return;
	}
	host->ping = ping;
	ping->host = host;
	ping->url = ic_buf_take(&url);
	question.url = ping->url;
	ic_exchange_init(&ping->exchange, s);
	ic_exchange_ask(&ping->exchange, endpoint, &question, on_reply, ping);
}
