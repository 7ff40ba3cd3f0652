/* SPDX-License-Identifier: Apache-2.0 */
#include "source/endpoint.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/config.h"
#include "source/host.h"
#include "source/keyring.h"
#include "source/proxy.h"
#include "source/rewrite.h"

#define MAX_ENDPOINTS ((size_t)2 * IC_MAX_LIST_ITEMS)
#define MAX_SOURCE_BYTES 512

/* Where a registry is asked, before it is known with which credentials. */
struct upstream {
	const char *scheme, *host;
	bool skip_verify, http_fallback;
};

static void login_clear(struct ic_login *login)
{
	ic_secret_free(login->user);
	ic_secret_free(login->secret);
	ic_secret_free(login->identity_token);
	free(login->source);
}

static void endpoint_clear(struct ic_endpoint *e)
{
	free(e->scheme);
	free(e->host);
	free(e->base_path);
	free(e->repository);
	free(e->ns);
	for (size_t i = 0; i < e->header.count; i++)
		ic_secret_free(*(char **)ic_vec_at(&e->header, i));
	ic_vec_clear(&e->header);
	ic_secret_free(e->proxy);
	free(e->proxy_source);
	login_clear(&e->login);
}

void ic_endpoints_clear(struct ic_endpoints *e)
{
	for (size_t i = 0; i < e->list.count; i++)
		endpoint_clear(ic_vec_at(&e->list, i));
	ic_vec_clear(&e->list);
	ic_ref_clear(&e->asked);
	free(e->reason);
	e->reason = NULL;
}

/* A host of a setting stands for the registry's name and for the name under which it is asked. */
static bool names_host(const char *setting, const struct ic_ref *ref, unsigned default_port)
{
	const char *const names[] = {ref->registry, ic_ref_request_host(ref)};
	struct ic_host a, b;

	if (!ic_host_parse(setting, strlen(setting), &a))
		return false;
	for (size_t i = 0; i < IC_COUNT(names); i++)
		if (ic_host_parse(names[i], strlen(names[i]), &b) && ic_host_same(&a, &b, default_port))
			return true;
	return false;
}

static bool is_listed(const struct imgcheck_config *c, enum imgcheck_option o, const struct ic_ref *ref, unsigned port)
{
	const char *item;

	for (size_t i = 0; (item = ic_config_item(c, o, i)); i++)
		if (names_host(item, ref, port))
			return true;
	return false;
}

/*
 * How containerd asks a host without a configuration of its own (core/remotes/docker/config, hosts.go):
 * https; on loopback without verification, and http on port 80 or where the server turns out to speak no
 * TLS.  What the operator set for the host goes before.
 */
static struct upstream choose_upstream(const struct imgcheck_config *c, const struct ic_ref *ref)
{
	struct upstream up = {.scheme = "https", .host = ic_ref_request_host(ref)};
	struct ic_host host;

	if (is_listed(c, IMGCHECK_OPTION_PLAIN_HTTP, ref, 80)) {
		up.scheme = "http";
		return up;
	}
	up.skip_verify = is_listed(c, IMGCHECK_OPTION_SKIP_VERIFY, ref, 443);
	if (!ic_host_parse(up.host, strlen(up.host), &host) || !ic_host_is_loopback(&host))
		return up;
	if (host.port == 80) {
		up.scheme = "http";
		up.skip_verify = false;
		return up;
	}
	up.skip_verify = true;
	up.http_fallback = host.port != 0 && host.port != 443;
	return up;
}

/* Credentials as they were found: borrowed. */
struct found {
	const char *user, *secret, *identity_token, *source;
};

static bool set_text(char **out, const char *text)
{
	*out = text ? ic_text_copy(text, strlen(text)) : NULL;
	return !text || *out;
}

static int fill(struct ic_endpoint *e, const struct imgcheck_config *c, const struct upstream *up,
                const char *repository, const struct found *found)
{
	const char *proxy_source;
	const char *proxy = ic_proxy_choose(c, up->scheme, up->host, &proxy_source);

	ic_texts_init(&e->header, IC_MAX_HEADER_FIELDS);
	e->skip_verify = up->skip_verify;
	e->http_fallback = up->http_fallback;
	e->resolve = true;
	e->pull = true;
	if (set_text(&e->scheme, up->scheme) && set_text(&e->host, up->host) && set_text(&e->base_path, "/v2") &&
	    set_text(&e->repository, repository) && set_text(&e->proxy, proxy) &&
	    set_text(&e->proxy_source, proxy_source) && set_text(&e->login.user, found->user) &&
	    set_text(&e->login.secret, found->secret) && set_text(&e->login.identity_token, found->identity_token) &&
	    set_text(&e->login.source, found->source))
		return 0;
	return IMGCHECK_ERR_NOMEM;
}

/* What all endpoints of one search share. */
struct search {
	const struct imgcheck_config *c;
	struct upstream up;
	struct ic_endpoints *out;
};

static int add_endpoint(const struct search *s, const struct found *found, struct imgcheck_error **err)
{
	struct ic_endpoint e = {0};
	int result;

	if (fill(&e, s->c, &s->up, s->out->asked.repository, found) < 0)
		result = ic_error_nomem(err);
	else
		result = ic_vec_push(&s->out->list, &e, err);
	if (result < 0)
		endpoint_clear(&e);
	return result;
}

static const char *registry_host(const struct imgcheck_config *c, char host[IC_MAX_REF_BYTES])
{
	const char *registry = ic_config_value(c, IMGCHECK_OPTION_REGISTRY);

	if (!registry || strcspn(registry, "/") >= IC_MAX_REF_BYTES)
		return NULL;
	(void)memcpy(host, registry, strcspn(registry, "/"));
	host[strcspn(registry, "/")] = '\0';
	return host;
}

/* The login that was set for this very host and port, or NULL.  A port that is not written is the scheme's. */
static int find_login(const struct search *s, const struct ic_config_login **found, struct imgcheck_error **err)
{
	const struct ic_config_login *login;
	char host[IC_MAX_REF_BYTES];

	*found = NULL;
	for (size_t i = 0; (login = ic_config_login(s->c, i)); i++) {
		const char *name = login->host ? login->host : registry_host(s->c, host);

		if (!name)
			return ic_error_set(err, IMGCHECK_ERR_CONFIG,
			                    "cannot use the login: it is for the configured registry, but none is set");
		if (!*found && names_host(name, &s->out->asked, ic_host_default_port(s->up.scheme)))
			*found = login;
	}
	return 0;
}

/* Text for reports, from names that come from outside. */
static int escape(const struct ic_buf *raw, struct ic_buf *out, struct imgcheck_error **err)
{
	return ic_text_escape(out, ic_buf_text(raw), raw->len, MAX_SOURCE_BYTES, err);
}

/* Why nothing fits, where a file shows that somebody expected otherwise; nothing is added where none does. */
static int explain_anonymous(const struct search *s, struct ic_buf *raw, struct imgcheck_error **err)
{
	const struct ic_vec *files = ic_config_authfiles(s->c);
	const char *registry = s->out->asked.registry;

	for (size_t i = 0; i < files->count; i++) {
		const struct ic_authfile *file = ic_vec_at(files, i);
		const char *helper = ic_keyring_helper(file, registry);
		const char *key = ic_keyring_near_miss(file, registry);

		if (helper)
			return ic_buf_printf(raw, err, "none (%s leaves %s to docker-credential-%s, which is not run)", file->name,
			                     registry, helper);
		if (key)
			return ic_buf_printf(raw, err, "none (%s has %s, which is another port)", file->name, key);
	}
	return 0;
}

static int add_anonymous(const struct search *s, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct found found = {0};
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	result = explain_anonymous(s, &raw, err);
	if (result == 0 && raw.len) {
		result = escape(&raw, &source, err);
		found.source = ic_buf_text(&source);
	}
	return result < 0 ? result : add_endpoint(s, &found, err);
}

static int add_with_login(const struct search *s, const struct ic_config_login *login, struct imgcheck_error **err)
{
	struct ic_buf source IC_AUTO(buf);
	struct found found = {.user = login->user, .secret = login->secret};
	int result;

	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	result = ic_buf_printf(&source, err, "the login set for %s", login->host ? login->host : "the configured registry");
	found.source = ic_buf_text(&source);
	return result < 0 ? result : add_endpoint(s, &found, err);
}

/* An entry without a user is an anonymous try, as the kubelet makes one with it. */
static int add_with_entry(const struct search *s, const struct ic_auth_match *match, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct ic_auth_use use = ic_keyring_use(IC_AUTH_KUBELET, match->entry);
	struct found found = {0};
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	if (!use.user || !use.user[0])
		return add_anonymous(s, err);
	result = ic_buf_printf(&raw, err, "%s (%s)", match->file->name, match->entry->key);
	if (result == 0)
		result = escape(&raw, &source, err);
	found.user = use.user;
	found.secret = use.secret ? use.secret : "";
	found.source = ic_buf_text(&source);
	return result < 0 ? result : add_endpoint(s, &found, err);
}

/*
 * A login set for the host goes before all files.  The files count by the kubelet's rules, since containerd
 * knows no other credentials than those that a kubelet hands over with a pull.
 */
static int add_upstream(const struct search *s, struct imgcheck_error **err)
{
	const struct ic_ref *asked = &s->out->asked;
	struct ic_vec matches IC_AUTO(vec);
	struct ic_buf name IC_AUTO(buf);
	const struct ic_config_login *login;
	int result;

	ic_vec_init(&matches, sizeof(struct ic_auth_match), MAX_ENDPOINTS);
	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	result = find_login(s, &login, err);
	if (result == 0 && login)
		return add_with_login(s, login, err);
	if (result == 0)
		result = ic_buf_printf(&name, err, "%s/%s", asked->registry, asked->repository);
	if (result == 0)
		result = ic_keyring_find(IC_AUTH_KUBELET, ic_config_authfiles(s->c), ic_buf_text(&name), &matches, err);
	if (result == 0 && matches.count == 0)
		return add_anonymous(s, err);
	for (size_t i = 0; i < matches.count && result == 0; i++)
		result = add_with_entry(s, ic_vec_at(&matches, i), err);
	return result;
}

int ic_endpoints_find(const struct imgcheck_config *c, const struct ic_ref *ref, struct ic_endpoints *out,
                      struct imgcheck_error **err)
{
	struct search s = {.c = c, .out = out};
	int result;

	*out = (struct ic_endpoints){0};
	ic_vec_init(&out->list, sizeof(struct ic_endpoint), MAX_ENDPOINTS);
	result = ic_rewrite(c, ref, &out->asked, err);
	if (result == 0) {
		s.up = choose_upstream(c, &out->asked);
		result = add_upstream(&s, err);
	}
	if (result < 0)
		ic_endpoints_clear(out);
	return result;
}
