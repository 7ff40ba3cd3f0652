/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "program/memory.h"
#include "program/proxies.h"

#define CONNECT_SECONDS 5L
#define POST_SECONDS 10L /* a receiver takes an event and works on it later */
#define MOST_RETRY_SECONDS 3600L

DEFINE_AUTO(curl, CURL, curl_easy_cleanup)
DEFINE_AUTO(slist, struct curl_slist, curl_slist_free_all)
DEFINE_AUTO(url, CURLU, curl_url_cleanup)

static void auto_part(char **part)
{
	curl_free(*part);
}

char *webhook_shown(const char *url)
{
	AUTO(url) CURLU *u = memory_must(curl_url());
	AUTO(part) char *scheme = NULL, *host = NULL, *port = NULL;

	if (curl_url_set(u, CURLUPART_URL, url, 0) || curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) ||
	    curl_url_get(u, CURLUPART_HOST, &host, 0) || (strcmp(scheme, "http") && strcmp(scheme, "https")))
		return NULL;
	curl_url_get(u, CURLUPART_PORT, &port, 0);
	return memory_printf("%s://%s%s%s", scheme, host, port ? ":" : "", port ? port : "");
}

/* What the receiver answers with besides its status is of no interest. */
static size_t drop(char *data, size_t size, size_t count, void *arg)
{
	(void)data;
	(void)arg;
	return size * count;
}

/* Where the URL of a proxy tells no port: as for registries, and not libcurl's own, which is 1080. */
static long proxy_port(const char *url)
{
	if (!strncasecmp(url, "https://", 8))
		return 443;
	return strncasecmp(url, "socks", 5) ? 80 : 1080;
}

/* libcurl would read the environment by itself; here it is what the rest of the program reads. */
static void set_proxy(CURL *curl, const char *url)
{
	AUTO(proxies) struct proxies p = { 0 };
	const struct proxy *proxy;

	proxies_read(&p, NULL);
	proxy = strncmp(url, "https", 5) ? &p.http : &p.https;
	curl_easy_setopt(curl, CURLOPT_PROXY, proxy->value ? proxy->value : "");
	curl_easy_setopt(curl, CURLOPT_PROXYPORT, proxy_port(proxy->value ? proxy->value : ""));
	curl_easy_setopt(curl, CURLOPT_NOPROXY, p.none.value ? p.none.value : "");
}

static void set_options(CURL *curl, const char *url, const char *body, struct curl_slist *header)
{
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, POST_SECONDS);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "imgcheck/" IMGCHECK_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, header);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	set_proxy(curl, url);
}

static void judge(CURL *curl, CURLcode result, struct webhook_answer *out)
{
	curl_off_t wait = 0;

	/* An answer that breaks off, or never ends, behind its status is an answer. */
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out->status);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
	out->retry_after = wait > MOST_RETRY_SECONDS ? MOST_RETRY_SECONDS : wait > 0 ? (long)wait : 0;
	if (out->status >= 200 && out->status <= 299)
		return;
	if (out->status >= 300 && out->status <= 399)
		out->problem = memory_printf("status %ld: redirects are not followed", out->status);
	else if (out->status)
		out->problem = memory_printf("status %ld", out->status);
	else
		out->problem = memory_printf("no answer: %s", curl_easy_strerror(result));
}

void webhook_post(const char *url, const char *media_type, const char *body, struct webhook_answer *out)
{
	AUTO(curl) CURL *curl = memory_must(curl_easy_init());
	AUTO(free) char *type = memory_printf("Content-Type: %s", media_type);
	AUTO(slist) struct curl_slist *header = memory_must(curl_slist_append(NULL, type));

	*out = (struct webhook_answer){ 0 };
	/* A short text goes out at once, without asking for leave first. */
	memory_must(curl_slist_append(header, "Expect:"));
	set_options(curl, url, body, header);
	judge(curl, curl_easy_perform(curl), out);
}

void webhook_answer_clear(struct webhook_answer *a)
{
	free(a->problem);
	*a = (struct webhook_answer){ 0 };
}
