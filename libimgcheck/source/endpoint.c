/* SPDX-License-Identifier: Apache-2.0 */
#include "source/endpoint_detail.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "manifest/images.h"
#include "source/host.h"
#include "source/keyring.h"
#include "source/proxy.h"
#include "source/rewrite.h"

#define MAX_SOURCE_BYTES 512

static void target_clear(struct ic_target *t)
{
	free(t->repository);
	free(t->name);
	free(t->host_name);
}

void ic_login_clear(struct ic_login *login)
{
	ic_secret_free(login->user);
	ic_secret_free(login->secret);
	ic_secret_free(login->identity_token);
	free(login->source);
	*login = (struct ic_login){0};
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
	free(e->broken);
	ic_login_clear(&e->login);
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

/* A host of a setting stands for the host that is asked, and an upstream's also for the registry's name. */
bool ic_target_is_named(const struct ic_target *t, const char *setting, const struct ic_ref *ref, unsigned default_port)
{
	const char *const names[] = {t->host, t->upstream ? ref->registry : t->host};
	struct ic_host a, b;

	if (!ic_host_parse(setting, strlen(setting), &a))
		return false;
	for (size_t i = 0; i < IC_COUNT(names); i++)
		if (ic_host_parse(names[i], strlen(names[i]), &b) && ic_host_same(&a, &b, default_port))
			return true;
	return false;
}

static bool is_listed(const struct imgcheck_config *c, enum imgcheck_option o, const struct ic_target *t, const struct ic_ref *ref,
                      unsigned port)
{
	const char *item;

	for (size_t i = 0; (item = ic_config_item(c, o, i)); i++)
		if (ic_target_is_named(t, item, ref, port))
			return true;
	return false;
}

/*
 * How containerd asks a host without a configuration of its own (core/remotes/docker/config, hosts.go):
 * https; on loopback without verification, and http on port 80 or where the server turns out to speak no
 * TLS.
 */
static void use_defaults(struct ic_target *t, const struct ic_ref *ref)
{
	struct ic_host host;

	t->scheme = "https";
	t->host = ic_ref_request_host(ref);
	t->path = "/v2";
	if (!ic_host_parse(t->host, strlen(t->host), &host) || !ic_host_is_loopback(&host))
		return;
	if (host.port == 80) {
		t->scheme = "http";
		return;
	}
	t->skip_verify = true;
	t->http_fallback = host.port != 0 && host.port != 443;
}

/* What the operator set for the host goes before all else. */
static void use_settings(struct ic_target *t, const struct imgcheck_config *c, const struct ic_ref *ref)
{
	if (is_listed(c, IMGCHECK_OPTION_PLAIN_HTTP, t, ref, 80)) {
		t->scheme = "http";
		t->skip_verify = t->http_fallback = false;
	} else if (is_listed(c, IMGCHECK_OPTION_SKIP_VERIFY, t, ref, 443)) {
		t->skip_verify = true;
	}
}

struct ic_target ic_target_upstream(const struct ic_search *s)
{
	struct ic_target upstream = {.upstream = true};

	use_defaults(&upstream, &s->out->asked);
	use_settings(&upstream, s->c, &s->out->asked);
	return upstream;
}

/* Docker Hub's own host stands in for nobody. */
static bool is_upstream(const struct ic_ref *ref, const char *host)
{
	return strcmp(host, ref->registry) == 0 || (strcmp(ref->registry, IC_MIRROR_HUB) == 0 && strcmp(host, IC_MIRROR_HUB_HOST) == 0);
}

static void use_mirror(struct ic_target *t, const struct ic_mirror *m, const struct ic_ref *ref)
{
	use_defaults(t, ref);
	t->mirror = m;
	t->path = m->path;
	t->resolve = m->resolve;
	t->pull = m->pull;
	/* of a loopback host without a URL containerd never looks at the certificate */
	if (m->skip_verify != IC_CHOICE_NONE && (m->host || !t->skip_verify))
		t->skip_verify = m->skip_verify == IC_CHOICE_YES;
	if (!m->host)
		return;
	t->scheme = m->scheme;
	t->host = m->host;
	t->skip_verify = m->skip_verify == IC_CHOICE_YES;
	t->http_fallback = m->http_fallback;
	t->upstream = is_upstream(ref, m->host);
	t->ns = !t->upstream;
}

static bool set_text(char **out, const char *text)
{
	*out = text ? ic_text_copy(text, strlen(text)) : NULL;
	return !text || *out;
}

int ic_login_copy(const struct ic_login *login, struct ic_login *out, struct imgcheck_error **err)
{
	*out = (struct ic_login){0};
	if (set_text(&out->user, login->user) && set_text(&out->secret, login->secret) &&
	    set_text(&out->identity_token, login->identity_token) && set_text(&out->source, login->source))
		return 0;
	return ic_error_nomem(err);
}

static int copy_header(struct ic_endpoint *e, const struct ic_mirror *m)
{
	int result = 0;

	ic_texts_init(&e->header, IC_MAX_HEADER_FIELDS);
	for (size_t i = 0; m && i < m->header.count && result == 0; i++) {
		const char *line = ic_texts_get(&m->header, i);

		result = ic_texts_push(&e->header, line, strlen(line), NULL);
	}
	return result;
}

static bool copy_found(struct ic_endpoint *e, const struct ic_target *t, const struct ic_found *found)
{
	return set_text(&e->login.user, found->user) && set_text(&e->login.secret, found->secret) &&
	       set_text(&e->login.identity_token, found->identity_token) && set_text(&e->login.source, found->source) &&
	       set_text(&e->broken, found->problem ? found->problem : t->broken);
}

static int fill(struct ic_endpoint *e, const struct imgcheck_config *c, const struct ic_target *t, const char *ns,
                const struct ic_found *found)
{
	const char *proxy_source;
	const char *proxy = ic_proxy_choose(c, t->scheme, t->host, &proxy_source);

	e->skip_verify = t->skip_verify;
	e->http_fallback = t->http_fallback;
	e->upstream = t->upstream;
	e->resolve = t->resolve;
	e->pull = t->pull;
	e->blocked = t->blocked;
	e->tls = t->mirror ? t->mirror->tls : NULL;
	if (copy_header(e, t->mirror) == 0 && copy_found(e, t, found) && set_text(&e->scheme, t->scheme) &&
	    set_text(&e->host, t->host) && set_text(&e->base_path, t->path) && set_text(&e->repository, t->repository) &&
	    set_text(&e->ns, ns) &&
	    set_text(&e->proxy, proxy) && set_text(&e->proxy_source, proxy_source))
		return 0;
	return IMGCHECK_ERR_NOMEM;
}

int ic_search_add(const struct ic_search *s, const struct ic_target *t, const struct ic_found *found, struct imgcheck_error **err)
{
	struct ic_endpoint e = {0};
	int result;

	if (fill(&e, s->c, t, t->ns ? s->out->asked.registry : NULL, found) < 0)
		result = ic_error_nomem(err);
	else
		result = ic_vec_push(&s->out->list, &e, err);
	if (result < 0)
		endpoint_clear(&e);
	return result;
}

const char *ic_search_registry_host(const struct imgcheck_config *c, char host[IC_MAX_REF_BYTES])
{
	const char *registry = ic_config_value(c, IMGCHECK_OPTION_REGISTRY);

	if (!registry || strcspn(registry, "/") >= IC_MAX_REF_BYTES)
		return NULL;
	(void)memcpy(host, registry, strcspn(registry, "/"));
	host[strcspn(registry, "/")] = '\0';
	return host;
}

/* ------------------------------------------------------------------ hosts */

/* Whether the registry is the configured one, which counts as a mirror of all others. */
static bool is_configured(const struct ic_search *s)
{
	char host[IC_MAX_REF_BYTES];
	struct ic_host a, b;

	if (!ic_search_registry_host(s->c, host))
		return false;
	return ic_host_parse(host, strlen(host), &a) && ic_host_parse(s->out->asked.registry, strlen(s->out->asked.registry), &b) &&
	       ic_host_same(&a, &b, 443);
}

/* Takes the name, "host[:port]/repository", by which CRI-O looks for credentials, and by its host for certificates. */
static int take_name(struct ic_target *t, char *name, const struct ic_search *s, struct imgcheck_error **err)
{
	const struct ic_mirrors *certificates;

	t->name = name;
	t->host_name = name ? ic_text_copy(name, strcspn(name, "/")) : NULL;
	if (!t->host_name)
		return ic_error_nomem(err);
	certificates = ic_config_certificates(s->c, t->host_name);
	t->broken = certificates ? certificates->broken : NULL;
	t->mirror = certificates && certificates->hosts.count ? ic_vec_at(&certificates->hosts, 0) : NULL;
	return 0;
}

static int join_name(struct ic_target *t, const struct ic_search *s, struct imgcheck_error **err)
{
	const struct ic_ref *ref = &s->out->asked;
	struct ic_buf name IC_AUTO(buf);
	int result;

	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	result = ic_buf_printf(&name, err, "%s/%s", ref->registry, ref->repository);
	return result < 0 ? result : take_name(t, ic_buf_take(&name), s, err);
}

static int add_target(struct ic_search *s, const struct ic_mirror *m, struct imgcheck_error **err)
{
	struct ic_target t = {.upstream = true, .resolve = true, .pull = true};
	const char *repository = s->out->asked.repository;
	int result;

	use_defaults(&t, &s->out->asked);
	if (m)
		use_mirror(&t, m, &s->out->asked);
	if (ic_search_is_crio(s)) {
		t.skip_verify = t.http_fallback = false; /* loopback is a host as any other */
		t.scheme = "https";
	}
	use_settings(&t, s->c, &s->out->asked);
	if (t.upstream && ic_config_require_mirror(s->c) && !is_configured(s))
		return 0;
	if (m)
		result = ic_mirror_rewrite(m, repository, &t.repository, err);
	else
		result = set_text(&t.repository, repository) ? 0 : ic_error_nomem(err);
	if (result == 0 && ic_search_is_crio(s))
		result = join_name(&t, s, err);
	if (result == 0)
		result = ic_vec_push(&s->targets, &t, err);
	if (result < 0)
		target_clear(&t);
	return result;
}

static int find_targets(struct ic_search *s, const struct ic_mirrors *mirrors, struct imgcheck_error **err)
{
	int result = mirrors ? 0 : add_target(s, NULL, err);

	for (size_t i = 0; mirrors && i < mirrors->hosts.count && result == 0; i++)
		result = add_target(s, ic_vec_at(&mirrors->hosts, i), err);
	return result;
}

/* host[:port]/repository of registries.conf; Docker Hub's is asked at its own host. */
static int add_place(struct ic_search *s, const struct ic_pull_source *source, struct imgcheck_error **err)
{
	struct ic_target t = {.resolve = true, .pull = true, .scheme = "https", .path = "/v2", .upstream = source->primary};
	const char *slash = strchr(source->name, '/');
	int result;

	if (!slash || (source->primary && ic_config_require_mirror(s->c) && !is_configured(s)))
		return 0;
	t.skip_verify = t.http_fallback = source->insecure;
	t.blocked = source->blocked;
	result = take_name(&t, ic_text_copy(source->name, strlen(source->name)), s, err);
	t.repository = ic_text_copy(slash + 1, strlen(slash + 1));
	if (result == 0 && !t.repository)
		result = ic_error_nomem(err);
	if (t.blocked)
		t.broken = "registries.conf blocks it";
	if (result == 0) {
		t.host = strcmp(t.host_name, IC_MIRROR_HUB) == 0 ? IC_MIRROR_HUB_HOST : t.host_name;
		use_settings(&t, s->c, &s->out->asked);
		result = ic_vec_push(&s->targets, &t, err);
	}
	if (result < 0)
		target_clear(&t);
	return result;
}

/* The last of the places where all of them are blocked, else NULL. */
static const struct ic_pull_source *find_blocked(const struct ic_vec *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		if (!((const struct ic_pull_source *)ic_vec_at(sources, i))->blocked)
			return NULL;
	return sources->count ? ic_vec_at(sources, sources->count - 1) : NULL;
}

/* Where all places are blocked nobody is asked; a short name that leads nowhere concerns this image alone. */
static int find_places(struct ic_search *s, const struct ic_registries_conf *conf, struct imgcheck_error **err)
{
	struct ic_vec sources IC_AUTO(pull_sources);
	const struct ic_pull_source *blocked;
	int result;

	ic_vec_init(&sources, sizeof(struct ic_pull_source), IC_MAX_LIST_ITEMS);
	result = ic_registries_conf_find(conf, &s->out->asked, &sources, &s->why);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	s->verdict = IMGCHECK_VERDICT_INVALID;
	blocked = result == 0 ? find_blocked(&sources) : NULL;
	if (blocked) {
		s->verdict = IMGCHECK_VERDICT_DENIED;
		(void)ic_error_set(&s->why, IMGCHECK_ERR_CONFIG, "registries.conf blocks %s", blocked->name);
	}
	for (size_t i = 0; i < sources.count && result == 0 && !s->why; i++)
		result = add_place(s, ic_vec_at(&sources, i), err);
	return s->why ? 0 : result;
}

/* Nobody is asked; the verdict, and why. */
static int explain_none(const struct ic_search *s, const struct ic_mirrors *mirrors, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), reason IC_AUTO(buf);
	struct ic_endpoints *out = s->out;
	const char *registry = out->asked.registry;
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&reason, 2 * MAX_SOURCE_BYTES);
	out->verdict = IMGCHECK_VERDICT_UNREACHABLE;
	if (s->why) {
		out->verdict = s->verdict;
		out->reason = ic_text_copy(imgcheck_error_message(s->why), strlen(imgcheck_error_message(s->why)));
		return out->reason ? 0 : ic_error_nomem(err);
	}
	if (s->helper) {
		result = ic_buf_printf(&raw, err, "cannot ask docker-credential-%s (%s) for a login for %s: %s", s->helper->helper,
		                       s->helper_file, registry, s->helper->problem);
	} else if (mirrors && mirrors->broken) {
		result = ic_buf_printf(&raw, err, "containerd cannot use what is configured for %s: %s", registry, mirrors->broken);
	} else if (ic_config_require_mirror(s->c)) {
		out->verdict = IMGCHECK_VERDICT_NOT_FOUND;
		result = ic_buf_printf(&raw, err, "no mirror is configured for %s, and its upstream is not to be asked (require-mirror)",
		                       registry);
	} else {
		result = ic_buf_printf(&raw, err, "%s leaves no host that could be asked for %s", mirrors ? mirrors->place : "", registry);
	}
	if (result == 0)
		result = ic_text_escape(&reason, ic_buf_text(&raw), raw.len, MAX_SOURCE_BYTES, err);
	if (result < 0)
		return result;
	out->reason = ic_buf_take(&reason);
	return out->reason ? 0 : ic_error_nomem(err);
}

static int find_endpoints(struct ic_search *s, struct imgcheck_error **err)
{
	const struct ic_registries_conf *conf = ic_search_is_crio(s) ? ic_config_registries_conf(s->c) : NULL;
	const struct ic_mirrors *mirrors = ic_search_is_crio(s) ? NULL : ic_config_mirrors(s->c, s->out->asked.registry);
	int result;

	if (mirrors && mirrors->broken)
		return explain_none(s, mirrors, err);
	result = conf ? find_places(s, conf, err) : find_targets(s, mirrors, err);
	if (result == 0 && s->targets.count == 0)
		return explain_none(s, mirrors, err);
	if (result == 0)
		result = ic_search_find_logins(s, err);
	if (result == 0 && (s->why || (s->helper && s->helper->problem)))
		return explain_none(s, mirrors, err);
	return result < 0 ? result : ic_search_add_pulls(s, err);
}

/* Leaves the registry itself, each of its logins; or all, where it is not among them. */
static void drop_mirrors(struct ic_vec *list)
{
	size_t kept = 0, upstreams = 0;

	for (size_t i = 0; i < list->count; i++)
		upstreams += ((const struct ic_endpoint *)ic_vec_at(list, i))->upstream;
	for (size_t i = 0; upstreams && i < list->count; i++) {
		struct ic_endpoint *e = ic_vec_at(list, i), *to = ic_vec_at(list, kept);

		if (!e->upstream)
			endpoint_clear(e);
		else if (kept++ < i)
			*to = *e;
	}
	list->count = upstreams ? kept : list->count;
}

static int find_for(const struct imgcheck_config *c, const struct ic_ref *ref, const struct ic_pod_secrets *pod,
                    struct ic_endpoints *out, struct imgcheck_error **err)
{
	struct ic_search s = {.c = c, .pod = pod, .out = out};
	int result;

	*out = (struct ic_endpoints){0};
	ic_vec_init(&out->list, sizeof(struct ic_endpoint), IC_MAX_ENDPOINTS);
	ic_vec_init(&s.targets, sizeof(struct ic_target), IC_MAX_LIST_ITEMS);
	ic_vec_init(&s.matches, sizeof(struct ic_auth_match), IC_MAX_ENDPOINTS);
	result = ic_rewrite(c, ref, &out->asked, err);
	if (result == 0)
		result = find_endpoints(&s, err);
	if (result == 0 && ic_config_no_mirrors(c))
		drop_mirrors(&out->list);
	for (size_t i = 0; i < s.targets.count; i++)
		target_clear(ic_vec_at(&s.targets, i));
	imgcheck_error_free(s.why);
	ic_vec_clear(&s.targets);
	ic_vec_clear(&s.matches);
	if (result < 0)
		ic_endpoints_clear(out);
	return result;
}

int ic_endpoints_find(const struct imgcheck_config *c, const struct ic_ref *ref, struct ic_endpoints *out,
                      struct imgcheck_error **err)
{
	const struct ic_pod_secrets none = {0};

	return find_for(c, ref, &none, out, err);
}

int ic_endpoints_find_image(const struct imgcheck_config *c, const struct imgcheck_images *s, const struct imgcheck_image *m,
                            struct ic_endpoints *out, struct imgcheck_error **err)
{
	struct ic_pod_secrets pod IC_AUTO(pod_secrets) = {0};
	int result = ic_pod_secrets_read(s, m, &pod, err);

	*out = (struct ic_endpoints){0};
	return result < 0 ? result : find_for(c, &m->ref, &pod, out, err);
}
