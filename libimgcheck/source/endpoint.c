/* SPDX-License-Identifier: Apache-2.0 */
#include "source/endpoint.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "manifest/images.h"
#include "source/config.h"
#include "source/host.h"
#include "source/keyring.h"
#include "source/pod_secrets.h"
#include "source/proxy.h"
#include "source/rewrite.h"

#define MAX_ENDPOINTS ((size_t)2 * IC_MAX_LIST_ITEMS)
#define MAX_SOURCE_BYTES 512

/* Where an image is asked for, before it is known with which credentials: borrowed but for the repository. */
struct target {
	const char *scheme, *host, *path;
	char *repository;
	bool skip_verify, http_fallback, resolve, pull;
	bool upstream;                 /* the registry that the reference names, no mirror */
	bool ns;                       /* is told which registry it stands in for */
	char *name, *host_name;        /* of a place in registries.conf, and its host; else NULL */
	const struct ic_mirror *mirror; /* what is configured for it, or NULL */
};

static void target_clear(struct target *t)
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
static bool names_target(const char *setting, const struct target *t, const struct ic_ref *ref, unsigned default_port)
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

static bool is_listed(const struct imgcheck_config *c, enum imgcheck_option o, const struct target *t, const struct ic_ref *ref,
                      unsigned port)
{
	const char *item;

	for (size_t i = 0; (item = ic_config_item(c, o, i)); i++)
		if (names_target(item, t, ref, port))
			return true;
	return false;
}

/*
 * How containerd asks a host without a configuration of its own (core/remotes/docker/config, hosts.go):
 * https; on loopback without verification, and http on port 80 or where the server turns out to speak no
 * TLS.
 */
static void use_defaults(struct target *t, const struct ic_ref *ref)
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
static void use_settings(struct target *t, const struct imgcheck_config *c, const struct ic_ref *ref)
{
	if (is_listed(c, IMGCHECK_OPTION_PLAIN_HTTP, t, ref, 80)) {
		t->scheme = "http";
		t->skip_verify = t->http_fallback = false;
	} else if (is_listed(c, IMGCHECK_OPTION_SKIP_VERIFY, t, ref, 443)) {
		t->skip_verify = true;
	}
}

/* Docker Hub's own host stands in for nobody. */
static bool is_upstream(const struct ic_ref *ref, const char *host)
{
	return strcmp(host, ref->registry) == 0 || (strcmp(ref->registry, IC_MIRROR_HUB) == 0 && strcmp(host, IC_MIRROR_HUB_HOST) == 0);
}

static void use_mirror(struct target *t, const struct ic_mirror *m, const struct ic_ref *ref)
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

/* Credentials as they were found: borrowed. */
struct found {
	const char *user, *secret, *identity_token, *source;
};

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

static int fill(struct ic_endpoint *e, const struct imgcheck_config *c, const struct target *t, const char *ns,
                const struct found *found)
{
	const char *proxy_source;
	const char *proxy = ic_proxy_choose(c, t->scheme, t->host, &proxy_source);

	e->skip_verify = t->skip_verify;
	e->http_fallback = t->http_fallback;
	e->upstream = t->upstream;
	e->resolve = t->resolve;
	e->pull = t->pull;
	e->tls = t->mirror ? t->mirror->tls : NULL;
	if (copy_header(e, t->mirror) == 0 && set_text(&e->scheme, t->scheme) && set_text(&e->host, t->host) &&
	    set_text(&e->base_path, t->path) && set_text(&e->repository, t->repository) && set_text(&e->ns, ns) &&
	    set_text(&e->proxy, proxy) && set_text(&e->proxy_source, proxy_source) && set_text(&e->login.user, found->user) &&
	    set_text(&e->login.secret, found->secret) && set_text(&e->login.identity_token, found->identity_token) &&
	    set_text(&e->login.source, found->source))
		return 0;
	return IMGCHECK_ERR_NOMEM;
}

/* What all endpoints of one search share. */
struct search {
	const struct imgcheck_config *c;
	struct ic_vec targets; /* struct target */
	struct ic_vec matches; /* struct ic_auth_match: a kubelet repeats the pull with each */
	const struct ic_pod_secrets *pod; /* what the image's workloads bring */
	const struct ic_helper_login *helper; /* what a helper knows, where no entry matches */
	const char *helper_file;
	struct imgcheck_error *why; /* nobody is left to be asked, because */
	enum imgcheck_verdict verdict;
	struct ic_endpoints *out;
};

static int add_endpoint(const struct search *s, const struct target *t, const struct found *found, struct imgcheck_error **err)
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
static int find_login(const struct search *s, const struct target *t, const struct ic_config_login **found,
                      struct imgcheck_error **err)
{
	const struct ic_config_login *login;
	char host[IC_MAX_REF_BYTES];

	*found = NULL;
	for (size_t i = 0; (login = ic_config_login(s->c, i)); i++) {
		const char *name = login->host ? login->host : registry_host(s->c, host);

		if (!name)
			return ic_error_set(err, IMGCHECK_ERR_CONFIG,
			                    "cannot use the login: it is for the configured registry, but none is set");
		if (!*found && names_target(name, t, &s->out->asked, ic_host_default_port(t->scheme)))
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

	if (s->pod->lacking)
		return ic_buf_printf(raw, err, "none (%s)", s->pod->lacking);
	for (size_t i = 0; i < files->count; i++) {
		const struct ic_authfile *file = ic_vec_at(files, i);
		const char *helper = ic_config_helpers(s->c) ? NULL : ic_keyring_helper(file, registry);
		const char *key = ic_keyring_near_miss(file, registry);

		if (helper)
			return ic_buf_printf(raw, err, "none (%s leaves %s to docker-credential-%s, which is not run)", file->name,
			                     registry, helper);
		if (key)
			return ic_buf_printf(raw, err, "none (%s has %s, which is another port)", file->name, key);
	}
	return 0;
}

/* With the login that the runtime's own configuration has for the host, or without any, and why. */
static int add_without_entry(const struct search *s, const struct target *t, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	const struct ic_host_login *login = ic_config_host_login(s->c, t->host);
	struct found found = {0};
	int result = 0;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	if (login) {
		found = (struct found){login->user, login->secret, login->identity_token, NULL};
		result = ic_buf_printf(&raw, err, "%s (%s)", login->place, login->host);
	} else if (t->upstream) {
		result = explain_anonymous(s, &raw, err);
	}
	if (result == 0 && raw.len) {
		result = escape(&raw, &source, err);
		found.source = ic_buf_text(&source);
	}
	return result < 0 ? result : add_endpoint(s, t, &found, err);
}

static int add_with_login(const struct search *s, const struct target *t, const struct ic_config_login *login,
                          struct imgcheck_error **err)
{
	struct ic_buf source IC_AUTO(buf);
	struct found found = {.user = login->user, .secret = login->secret};
	int result;

	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	result = ic_buf_printf(&source, err, "the login set for %s", login->host ? login->host : "the configured registry");
	found.source = ic_buf_text(&source);
	return result < 0 ? result : add_endpoint(s, t, &found, err);
}

/* Credentials of the image's registry go to its mirrors too, as containerd hands them on, but not in the clear. */
static bool is_in_the_clear(const struct target *t)
{
	return !t->upstream && (strcmp(t->scheme, "http") == 0 || t->http_fallback);
}

static int add_in_the_clear(const struct search *s, const struct target *t, struct imgcheck_error **err)
{
	struct found found = {.source = "none (credentials of another host are not sent over plain http)"};

	return add_endpoint(s, t, &found, err);
}

/* An entry without a user is an anonymous try, as the kubelet makes one with it. */
static int add_with_entry(const struct search *s, const struct target *t, const struct ic_auth_match *match,
                          struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct ic_auth_use use = ic_keyring_use(IC_AUTH_KUBELET, match->entry);
	struct found found = {0};
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	if (!use.user || !use.user[0])
		return add_without_entry(s, t, err);
	if (is_in_the_clear(t))
		return add_in_the_clear(s, t, err);
	result = ic_buf_printf(&raw, err, "%s (%s)", match->file->name, match->entry->key);
	if (result == 0)
		result = escape(&raw, &source, err);
	found.user = use.user;
	found.secret = use.secret ? use.secret : "";
	found.source = ic_buf_text(&source);
	return result < 0 ? result : add_endpoint(s, t, &found, err);
}

/* What a credential helper knows goes where an entry's credentials go. */
static int add_with_helper(const struct search *s, const struct target *t, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct found found = {s->helper->user, s->helper->secret, s->helper->identity_token, NULL};
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	if (is_in_the_clear(t))
		return add_in_the_clear(s, t, err);
	result = ic_buf_printf(&raw, err, "%s (docker-credential-%s)", s->helper_file, s->helper->helper);
	if (result == 0)
		result = escape(&raw, &source, err);
	found.source = ic_buf_text(&source);
	return result < 0 ? result : add_endpoint(s, t, &found, err);
}

static bool is_crio(const struct search *s)
{
	return ic_config_runtime(s->c) == IC_RUNTIME_CRIO;
}

/* CRI-O gives a mirror no credentials of the image, but looks for the mirror's own in the files. */
static int add_as_containers(const struct search *s, const struct target *t, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct ic_vec matches IC_AUTO(vec);
	const struct ic_auth_match *match;
	struct found found = {0};
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	ic_vec_init(&matches, sizeof(struct ic_auth_match), MAX_ENDPOINTS);
	result = ic_keyring_find(IC_AUTH_CONTAINERS, ic_config_authfiles(s->c), t->name, &matches, err);
	match = result == 0 && matches.count ? ic_vec_at(&matches, 0) : NULL;
	if (match) {
		struct ic_auth_use use = ic_keyring_use(IC_AUTH_CONTAINERS, match->entry);

		found = (struct found){use.user, use.secret, use.identity_token, NULL};
		result = ic_buf_printf(&raw, err, "%s (%s)", match->file->name, match->entry->key);
	}
	if (result == 0 && !found.user && !found.identity_token && t->upstream) {
		ic_buf_clear(&raw);
		ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
		result = explain_anonymous(s, &raw, err);
	}
	if (result == 0 && raw.len) {
		result = escape(&raw, &source, err);
		found.source = ic_buf_text(&source);
	}
	return result < 0 ? result : add_endpoint(s, t, &found, err);
}

static int add_without_login(const struct search *s, const struct target *t, const struct ic_auth_match *match,
                             struct imgcheck_error **err)
{
	if (t->name && (!t->upstream || (is_crio(s) && !match && !s->helper)))
		return add_as_containers(s, t, err);
	if (match)
		return add_with_entry(s, t, match, err);
	return s->helper ? add_with_helper(s, t, err) : add_without_entry(s, t, err);
}

/* One pull: every host in turn, with the credentials of one entry (or none).  A login set for a host goes before. */
static int add_pull(const struct search *s, const struct ic_auth_match *match, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; i < s->targets.count && result == 0; i++) {
		const struct target *t = ic_vec_at(&s->targets, i);
		const struct ic_config_login *login;

		result = find_login(s, t, &login, err);
		if (result < 0)
			return result;
		if (login)
			result = add_with_login(s, t, login, err);
		else
			result = add_without_login(s, t, match, err);
	}
	return result;
}

/* The first file that names a helper for the registry counts. */
static int ask_helpers(struct search *s, struct imgcheck_error **err)
{
	const struct ic_vec *files = ic_config_authfiles(s->c);
	const char *registry = s->out->asked.registry;
	struct ic_helper_logins *helpers = ic_config_helpers(s->c);

	for (size_t i = 0; helpers && i < files->count; i++) {
		const struct ic_authfile *file = ic_vec_at(files, i);
		const char *helper = ic_keyring_helper(file, registry);
		int result = helper ? ic_helper_ask(helpers, helper, registry, &s->helper, err) : 0;

		s->helper_file = file->name;
		if (result < 0 || (helper && s->helper->problem))
			return result;
		if (helper && (s->helper->user || s->helper->identity_token))
			return 0;
		s->helper = NULL;
	}
	return 0;
}

/* What CRI-O finds in the files itself is found for each host; here it only tells whether a helper is asked. */
static int find_own(struct search *s, const char *name, struct imgcheck_error **err)
{
	struct ic_vec own IC_AUTO(vec);
	int result;

	ic_vec_init(&own, sizeof(struct ic_auth_match), MAX_ENDPOINTS);
	result = ic_keyring_find(IC_AUTH_CONTAINERS, ic_config_authfiles(s->c), name, &own, err);
	return result == 0 && own.count == 0 ? ask_helpers(s, err) : result;
}

/*
 * The files count by the kubelet's rules, since containerd knows no other credentials than those that a
 * kubelet hands over with a pull; CRI-O reads them by its own where the kubelet hands over none.  A login set for the
 * registry itself is instead of all of them.
 */
static int find_matches(struct search *s, struct imgcheck_error **err)
{
	const struct ic_ref *asked = &s->out->asked;
	struct target upstream = {.upstream = true};
	struct ic_buf name IC_AUTO(buf);
	const struct ic_config_login *login;
	int result;

	use_defaults(&upstream, asked);
	use_settings(&upstream, s->c, asked);
	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	result = find_login(s, &upstream, &login, err);
	if (result < 0 || login)
		return result;
	result = ic_buf_printf(&name, err, "%s/%s", asked->registry, asked->repository);
	if (result < 0)
		return result;
	result = ic_keyring_find(IC_AUTH_KUBELET, &s->pod->files, ic_buf_text(&name), &s->matches, err);
	if (is_crio(s))
		return result == 0 && s->matches.count == 0 ? find_own(s, ic_buf_text(&name), err) : result;
	if (result == 0)
		result = ic_keyring_find(IC_AUTH_KUBELET, ic_config_authfiles(s->c), ic_buf_text(&name), &s->matches, err);
	return result == 0 && s->matches.count == 0 ? ask_helpers(s, err) : result;
}

/* ------------------------------------------------------------------ hosts */

/* Whether the registry is the configured one, which counts as a mirror of all others. */
static bool is_configured(const struct search *s)
{
	char host[IC_MAX_REF_BYTES];
	struct ic_host a, b;

	if (!registry_host(s->c, host))
		return false;
	return ic_host_parse(host, strlen(host), &a) && ic_host_parse(s->out->asked.registry, strlen(s->out->asked.registry), &b) &&
	       ic_host_same(&a, &b, 443);
}

/* "host[:port]/repository", by which CRI-O looks for credentials. */
static int join_name(const struct ic_ref *ref, char **out, struct imgcheck_error **err)
{
	struct ic_buf name IC_AUTO(buf);
	int result;

	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	result = ic_buf_printf(&name, err, "%s/%s", ref->registry, ref->repository);
	if (result < 0)
		return result;
	*out = ic_buf_take(&name);
	return *out ? 0 : ic_error_nomem(err);
}

static int add_target(struct search *s, const struct ic_mirror *m, struct imgcheck_error **err)
{
	struct target t = {.upstream = true, .resolve = true, .pull = true};
	const char *repository = s->out->asked.repository;
	int result;

	use_defaults(&t, &s->out->asked);
	if (m)
		use_mirror(&t, m, &s->out->asked);
	if (is_crio(s)) {
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
	if (result == 0 && is_crio(s))
		result = join_name(&s->out->asked, &t.name, err);
	if (result == 0)
		result = ic_vec_push(&s->targets, &t, err);
	if (result < 0)
		target_clear(&t);
	return result;
}

static int find_targets(struct search *s, const struct ic_mirrors *mirrors, struct imgcheck_error **err)
{
	int result = mirrors ? 0 : add_target(s, NULL, err);

	for (size_t i = 0; mirrors && i < mirrors->hosts.count && result == 0; i++)
		result = add_target(s, ic_vec_at(&mirrors->hosts, i), err);
	return result;
}

/* host[:port]/repository of registries.conf; Docker Hub's is asked at its own host. */
static int add_place(struct search *s, const struct ic_pull_source *source, struct imgcheck_error **err)
{
	struct target t = {.resolve = true, .pull = true, .scheme = "https", .path = "/v2", .upstream = source->primary};
	const char *slash = strchr(source->name, '/');
	int result;

	if (!slash || (source->primary && ic_config_require_mirror(s->c) && !is_configured(s)))
		return 0;
	t.skip_verify = t.http_fallback = source->insecure;
	t.name = ic_text_copy(source->name, strlen(source->name));
	t.repository = ic_text_copy(slash + 1, strlen(slash + 1));
	if (!t.name || !t.repository) {
		result = ic_error_nomem(err);
	} else {
		t.host_name = ic_text_copy(source->name, (size_t)(slash - source->name));
		t.host = t.host_name && strcmp(t.host_name, IC_MIRROR_HUB) == 0 ? IC_MIRROR_HUB_HOST : t.host_name;
		if (t.host)
			use_settings(&t, s->c, &s->out->asked);
		result = t.host ? ic_vec_push(&s->targets, &t, err) : ic_error_nomem(err);
	}
	if (result < 0)
		target_clear(&t);
	return result;
}

/* A place that is blocked ends the pull; a short name that leads nowhere concerns this image alone. */
static int find_places(struct search *s, const struct ic_registries_conf *conf, struct imgcheck_error **err)
{
	struct ic_vec sources IC_AUTO(pull_sources);
	int result;

	ic_vec_init(&sources, sizeof(struct ic_pull_source), IC_MAX_LIST_ITEMS);
	result = ic_registries_conf_find(conf, &s->out->asked, &sources, &s->why);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	s->verdict = IMGCHECK_VERDICT_INVALID;
	for (size_t i = 0; i < sources.count && result == 0 && !s->why; i++) {
		const struct ic_pull_source *source = ic_vec_at(&sources, i);

		if (!source->blocked) {
			result = add_place(s, source, err);
			continue;
		}
		s->verdict = IMGCHECK_VERDICT_DENIED;
		(void)ic_error_set(&s->why, IMGCHECK_ERR_CONFIG, "registries.conf blocks %s", source->name);
	}
	return s->why ? 0 : result;
}

/* Nobody is asked; the verdict, and why. */
static int explain_none(const struct search *s, const struct ic_mirrors *mirrors, struct imgcheck_error **err)
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
		result = escape(&raw, &reason, err);
	if (result < 0)
		return result;
	out->reason = ic_buf_take(&reason);
	return out->reason ? 0 : ic_error_nomem(err);
}

/* What is configured for containerd. */
static const struct ic_mirrors *find_mirrors(const struct search *s)
{
	return is_crio(s) ? NULL : ic_config_mirrors(s->c, s->out->asked.registry);
}

static int find_endpoints(struct search *s, struct imgcheck_error **err)
{
	const struct ic_registries_conf *conf = ic_config_registries_conf(s->c);
	const struct ic_mirrors *mirrors = conf ? NULL : find_mirrors(s);
	int result;

	if (mirrors && mirrors->broken)
		return explain_none(s, mirrors, err);
	result = conf ? find_places(s, conf, err) : find_targets(s, mirrors, err);
	if (result == 0 && s->targets.count == 0)
		return explain_none(s, mirrors, err);
	if (result == 0)
		result = find_matches(s, err);
	if (result == 0 && s->helper && s->helper->problem)
		return explain_none(s, mirrors, err);
	if (result == 0 && s->matches.count == 0)
		return add_pull(s, NULL, err);
	for (size_t i = 0; i < s->matches.count && result == 0; i++)
		result = add_pull(s, ic_vec_at(&s->matches, i), err);
	return result;
}

static int find_for(const struct imgcheck_config *c, const struct ic_ref *ref, const struct ic_pod_secrets *pod,
                    struct ic_endpoints *out, struct imgcheck_error **err)
{
	struct search s = {.c = c, .pod = pod, .out = out};
	int result;

	*out = (struct ic_endpoints){0};
	ic_vec_init(&out->list, sizeof(struct ic_endpoint), MAX_ENDPOINTS);
	ic_vec_init(&s.targets, sizeof(struct target), IC_MAX_LIST_ITEMS);
	ic_vec_init(&s.matches, sizeof(struct ic_auth_match), MAX_ENDPOINTS);
	result = ic_rewrite(c, ref, &out->asked, err);
	if (result == 0)
		result = find_endpoints(&s, err);
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
