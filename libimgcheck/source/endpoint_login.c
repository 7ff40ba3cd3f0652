/* SPDX-License-Identifier: Apache-2.0 */

/* With which credentials an image's hosts are asked. */

#include "source/endpoint_detail.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/host.h"
#include "source/keyring.h"

#define MAX_SOURCE_BYTES 512

/* The login that was set for this very host and port, or NULL.  A port that is not written is the scheme's. */
static int find_login(const struct ic_search *s, const struct ic_target *t, const struct ic_config_login **found,
                      struct imgcheck_error **err)
{
	const struct ic_config_login *login;
	char host[IC_MAX_REF_BYTES];

	*found = NULL;
	for (size_t i = 0; (login = ic_config_login(s->c, i)); i++) {
		const char *name = login->host ? login->host : ic_search_registry_host(s->c, host);

		if (!name)
			return ic_error_set(err, IMGCHECK_ERR_CONFIG,
			                    "cannot use the login: it is for the configured registry, but none is set");
		if (!*found && ic_target_is_named(t, name, &s->out->asked, ic_host_default_port(t->scheme)))
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
static int explain_anonymous(const struct ic_search *s, struct ic_buf *raw, struct imgcheck_error **err)
{
	const struct ic_vec *files = ic_config_authfiles(s->c);
	const char *registry = s->out->asked.registry;
	enum ic_auth_rules rules = ic_search_is_crio(s) ? IC_AUTH_CONTAINERS : IC_AUTH_KUBELET;

	if (s->pod->lacking)
		return ic_buf_printf(raw, err, "none (%s)", s->pod->lacking);
	for (size_t i = 0; i < files->count; i++) {
		const struct ic_authfile *file = ic_vec_at(files, i);
		const char *helper = ic_config_helpers(s->c) ? NULL : ic_keyring_helper(rules, file, registry);
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
static int add_without_entry(const struct ic_search *s, const struct ic_target *t, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	const struct ic_host_login *login = ic_config_host_login(s->c, t->host);
	struct ic_found found = {0};
	int result = 0;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	if (login) {
		found = (struct ic_found){.user = login->user, .secret = login->secret, .identity_token = login->identity_token};
		result = ic_buf_printf(&raw, err, "%s (%s)", login->place, login->host);
	} else if (t->upstream) {
		result = explain_anonymous(s, &raw, err);
	}
	if (result == 0 && raw.len) {
		result = escape(&raw, &source, err);
		found.source = ic_buf_text(&source);
	}
	return result < 0 ? result : ic_search_add(s, t, &found, err);
}

static int add_with_login(const struct ic_search *s, const struct ic_target *t, const struct ic_config_login *login,
                          struct imgcheck_error **err)
{
	struct ic_buf source IC_AUTO(buf);
	struct ic_found found = {.user = login->user, .secret = login->secret};
	int result;

	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	result = ic_buf_printf(&source, err, "the login set for %s", login->host ? login->host : "the configured registry");
	found.source = ic_buf_text(&source);
	return result < 0 ? result : ic_search_add(s, t, &found, err);
}

/* Credentials of the image's registry go to its mirrors too, as containerd hands them on, but not in the clear. */
static bool is_in_the_clear(const struct ic_target *t)
{
	return !t->upstream && (strcmp(t->scheme, "http") == 0 || t->http_fallback);
}

static int add_in_the_clear(const struct ic_search *s, const struct ic_target *t, struct imgcheck_error **err)
{
	struct ic_found found = {.source = "none (credentials of another host are not sent over plain http)"};

	return ic_search_add(s, t, &found, err);
}

/* An entry without a user is an anonymous try, as the kubelet makes one with it. */
static int add_with_entry(const struct ic_search *s, const struct ic_target *t, const struct ic_auth_match *match,
                          struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct ic_auth_use use = ic_keyring_use(IC_AUTH_KUBELET, match->entry);
	struct ic_found found = {0};
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
	return result < 0 ? result : ic_search_add(s, t, &found, err);
}

/* What a credential helper knows goes where an entry's credentials go. */
static int add_with_helper(const struct ic_search *s, const struct ic_target *t, struct imgcheck_error **err)
{
	struct ic_buf raw IC_AUTO(buf), source IC_AUTO(buf);
	struct ic_found found = {.user = s->helper->user, .secret = s->helper->secret, .identity_token = s->helper->identity_token};
	int result;

	ic_buf_init(&raw, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	if (is_in_the_clear(t))
		return add_in_the_clear(s, t, err);
	result = ic_buf_printf(&raw, err, "%s (docker-credential-%s)", s->helper_file, s->helper->helper);
	if (result == 0)
		result = escape(&raw, &source, err);
	found.source = ic_buf_text(&source);
	return result < 0 ? result : ic_search_add(s, t, &found, err);
}

/* ------------------------------------------------------------------ as CRI-O finds them in files */

/* What was found for one place, with the texts that it borrows. */
struct finding {
	struct ic_found found;
	struct ic_buf source, problem; /* for reports, not escaped */
};

static bool has_login(const struct finding *f)
{
	return f->found.user || f->found.identity_token;
}

/* A helper that cannot be asked is a problem unless the next one knows a login. */
static int ask_for(const struct ic_search *s, const char *helper, const char *place, const struct ic_target *t, struct finding *f,
                   struct imgcheck_error **err)
{
	const struct ic_helper_login *login;
	int result = ic_helper_ask(ic_config_helpers(s->c), helper, t->host_name, &login, err);

	if (result < 0)
		return result;
	if (login->problem)
		return ic_buf_printf(&f->problem, err, "%scannot ask docker-credential-%s (%s) for a login for %s: %s",
		                     f->problem.len ? "; " : "", helper, place, t->host_name, login->problem);
	f->found.user = login->user;
	f->found.secret = login->secret;
	f->found.identity_token = login->identity_token;
	return has_login(f) ? ic_buf_printf(&f->source, err, "%s (docker-credential-%s)", place, helper) : 0;
}

static int take_entry(const struct ic_auth_match *match, struct finding *f, struct imgcheck_error **err)
{
	struct ic_auth_use use = ic_keyring_use(IC_AUTH_CONTAINERS, match->entry);

	if (match->entry->unpadded)
		return ic_buf_printf(&f->problem, err,
		                     "%scannot use %s (%s): its auth is base64 without padding, which CRI-O does not read",
		                     f->problem.len ? "; " : "", match->file->name, match->entry->key);
	f->found = (struct ic_found){.user = use.user, .secret = use.secret, .identity_token = use.identity_token};
	return has_login(f) ? ic_buf_printf(&f->source, err, "%s (%s)", match->file->name, match->entry->key) : 0;
}

/* File by file, until one has a login or fails to. */
static int look_in_files(const struct ic_search *s, const struct ic_target *t, struct finding *f, struct imgcheck_error **err)
{
	const struct ic_vec *files = ic_config_authfiles(s->c);
	struct ic_auth_match match;
	size_t at = 0, problems = f->problem.len;
	int result = 0;

	while (result == 0 && !has_login(f) && f->problem.len == problems && ic_keyring_next(files, t->name, &at, &match)) {
		if (match.entry)
			result = take_entry(&match, f, err);
		else if (ic_config_helpers(s->c))
			result = ask_for(s, match.helper, match.file->name, t, f, err);
	}
	return result;
}

/* The files, and what registries.conf names instead of them or besides (credential-helpers). */
static int look_everywhere(const struct ic_search *s, const struct ic_target *t, struct finding *f, struct imgcheck_error **err)
{
	const struct ic_registries_conf *conf = ic_config_registries_conf(s->c);
	const char *name;
	int result = 0;

	if (!conf || conf->helpers.count == 0)
		return look_in_files(s, t, f, err);
	for (size_t i = 0; (name = ic_texts_get(&conf->helpers, i)) && result == 0 && !has_login(f); i++) {
		if (strcmp(name, IC_CONF_AUTH_FILES) == 0)
			result = look_in_files(s, t, f, err);
		else if (ic_config_helpers(s->c))
			result = ask_for(s, name, "registries.conf", t, f, err);
	}
	return result;
}

static int add_found(const struct ic_search *s, const struct ic_target *t, struct finding *f, struct imgcheck_error **err)
{
	struct ic_buf source IC_AUTO(buf), problem IC_AUTO(buf);
	int result = 0;

	ic_buf_init(&source, 2 * MAX_SOURCE_BYTES);
	ic_buf_init(&problem, 2 * MAX_SOURCE_BYTES);
	if (!has_login(f) && t->upstream)
		result = explain_anonymous(s, &f->source, err);
	if (result == 0)
		result = escape(&f->source, &source, err);
	if (result == 0)
		result = escape(&f->problem, &problem, err);
	f->found.source = source.len ? source.data : NULL;
	f->found.problem = problem.len && !has_login(f) ? problem.data : NULL;
	return result < 0 ? result : ic_search_add(s, t, &f->found, err);
}

/* containers/image, pkg/docker/config: each place has its own login, and one that cannot be found is this place's failure alone. */
static int add_as_containers(const struct ic_search *s, const struct ic_target *t, struct imgcheck_error **err)
{
	struct finding f = {0};
	int result;

	ic_buf_init(&f.source, IC_MAX_CONFIG_BYTES);
	ic_buf_init(&f.problem, IC_MAX_CONFIG_BYTES);
	result = look_everywhere(s, t, &f, err);
	if (result == 0)
		result = add_found(s, t, &f, err);
	ic_buf_clear(&f.source);
	ic_buf_clear(&f.problem);
	return result;
}

/* What the kubelet hands to CRI-O goes to the host of the reference alone, mirror or not. */
static bool is_own_host(const struct ic_search *s, const struct ic_target *t)
{
	return strcmp(t->host_name, s->out->asked.registry) == 0;
}

/* ------------------------------------------------------------------ pulls */

static int add_without_login(const struct ic_search *s, const struct ic_target *t, const struct ic_auth_match *match,
                             struct imgcheck_error **err)
{
	if (ic_search_is_crio(s) && (!match || !is_own_host(s, t)))
		return add_as_containers(s, t, err);
	if (match)
		return add_with_entry(s, t, match, err);
	return s->helper ? add_with_helper(s, t, err) : add_without_entry(s, t, err);
}

/* One pull: every host in turn, with the credentials of one entry (or none).  A login set for a host goes before. */
static int add_pull(const struct ic_search *s, const struct ic_auth_match *match, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; i < s->targets.count && result == 0; i++) {
		const struct ic_target *t = ic_vec_at(&s->targets, i);
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
static int ask_helpers(struct ic_search *s, struct imgcheck_error **err)
{
	const struct ic_vec *files = ic_config_authfiles(s->c);
	const char *registry = s->out->asked.registry;
	struct ic_helper_logins *helpers = ic_config_helpers(s->c);

	for (size_t i = 0; helpers && i < files->count; i++) {
		const struct ic_authfile *file = ic_vec_at(files, i);
		const char *helper = ic_keyring_helper(IC_AUTH_KUBELET, file, registry);
		int result = helper ? ic_helper_ask(helpers, helper, ic_helper_server(registry), &s->helper, err) : 0;

		s->helper_file = file->name;
		if (result < 0 || (helper && s->helper->problem))
			return result;
		if (helper && (s->helper->user || s->helper->identity_token))
			return 0;
		s->helper = NULL;
	}
	return 0;
}

/*
 * The files count by the kubelet's rules, since containerd knows no other credentials than those that a
 * kubelet hands over with a pull; CRI-O reads them itself, for each place.  A login set for the
 * registry itself is instead of all of them.
 */
int ic_search_find_logins(struct ic_search *s, struct imgcheck_error **err)
{
	const struct ic_ref *asked = &s->out->asked;
	struct ic_target upstream = ic_target_upstream(s);
	struct ic_buf name IC_AUTO(buf);
	const struct ic_config_login *login;
	int result;

	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	result = find_login(s, &upstream, &login, err);
	if (result < 0 || login)
		return result;
	if (s->pod->broken) {
		s->verdict = IMGCHECK_VERDICT_UNREACHABLE;
		(void)ic_error_set(&s->why, IMGCHECK_ERR_CONFIG, "the kubelet pulls nothing with a Secret that it cannot read: %s",
		                   s->pod->broken);
		return 0;
	}
	result = ic_buf_printf(&name, err, "%s/%s", asked->registry, asked->repository);
	if (result < 0)
		return result;
	result = ic_keyring_find(&s->pod->files, ic_buf_text(&name), &s->matches, err);
	if (result < 0 || ic_search_is_crio(s))
		return result;
	result = ic_keyring_find(ic_config_authfiles(s->c), ic_buf_text(&name), &s->matches, err);
	return result == 0 && s->matches.count == 0 ? ask_helpers(s, err) : result;
}

int ic_search_add_pulls(const struct ic_search *s, struct imgcheck_error **err)
{
	int result = 0;

	if (s->matches.count == 0)
		return add_pull(s, NULL, err);
	for (size_t i = 0; i < s->matches.count && result == 0; i++)
		result = add_pull(s, ic_vec_at(&s->matches, i), err);
	return result;
}
