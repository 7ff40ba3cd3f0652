/* SPDX-License-Identifier: Apache-2.0 */
#include "source/registries_yaml.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "base/yaml.h"
#include "source/finding.h"
#include "source/host.h"

struct reader {
	const char *place;
	const struct ic_node *mirrors, *configs;
	struct ic_cri_registry *out;
	struct ic_vec *problems;
};

static int refuse(const struct reader *r, const struct ic_node *node, struct imgcheck_error **err, const char *what)
{
	return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, node->line, node->column, "cannot use %s", what);
}

/* Docker Hub's settings stand under the host that serves it, or else under its name. */
static const struct ic_node *config_of(const struct reader *r, const char *host)
{
	const struct ic_node *found = NULL;

	if (strcmp(host, IC_MIRROR_HUB) == 0)
		found = ic_node_get(r->configs, IC_MIRROR_HUB_HOST);
	return found ? found : ic_node_get(r->configs, host);
}

/* The settings of a registry as it is asked in the end: its own name goes before that of the host that serves it. */
static const struct ic_node *default_config(const struct reader *r, const char *name)
{
	const struct ic_node *found = ic_node_get(r->configs, name);

	return found ? found : config_of(r, name);
}

/* With such settings k3s writes a file for the registry, so that the mirrors of "*" do not count for it. */
static bool has_settings(const struct ic_node *config)
{
	return !ic_node_is_null(ic_node_get(config, "auth")) || !ic_node_is_null(ic_node_get(config, "tls"));
}

/* The URL as k3s completes it: https, but http for a loopback host with a port of its own; Hub's real host. */
static int set_endpoint(struct ic_mirror *m, const char *text, bool *ok, struct imgcheck_error **err)
{
	struct ic_buf url IC_AUTO(buf);
	const char *scheme = strstr(text, "://"), *rest = scheme ? scheme + strlen("://") : text;
	size_t len = strcspn(rest, "/");
	bool hub = ic_text_equal(rest, len, IC_MIRROR_HUB), local;
	struct ic_host host;
	int result;

	local = ic_host_parse(rest, len, &host) && ic_host_is_loopback(&host) && host.port && host.port != 443;
	ic_buf_init_secret(&url, IC_MAX_OPTION_BYTES);
	result = scheme ? ic_buf_add(&url, text, (size_t)(rest - text), err) : ic_buf_add_text(&url,
	                                                                                       local ? "http://" : "https://", err);
	if (result == 0)
		result = ic_buf_printf(&url, err, "%.*s%s", hub ? (int)strlen(IC_MIRROR_HUB_HOST) : (int)len,
		                       hub ? IC_MIRROR_HUB_HOST : rest,
		                       rest + len);
	if (result == 0)
		result = ic_mirror_set_url(m, ic_buf_text(&url), ok, err);
	if (result < 0 || !*ok)
		return result;
	return ic_mirror_finish_path(m, strcmp(m->path, "") != 0 && strcmp(m->path, "/") != 0 && strcmp(m->path, "/v2") != 0, err);
}

static int add_rewrite(const struct reader *r, struct ic_mirror *m, const struct ic_item *item, struct imgcheck_error **err)
{
	const char *replacement = ic_node_text(item->value);
	struct ic_rewrite_rule rule = {.pattern = ic_text_copy(item->key->text, item->key->len)};
	int result = 0;

	if (!replacement && !ic_node_is_null(item->value))
		result = refuse(r, item->value, err, "a rewrite that is not a text");
	if (result == 0)
		rule.replacement = ic_text_copy(replacement ? replacement : "", replacement ? strlen(replacement) : 0);
	if (result == 0 && (!rule.pattern || !rule.replacement))
		result = ic_error_nomem(err);
	if (result == 0)
		result = ic_mirror_check_rule(&rule, err);
	ic_error_place(err, r->place, item->key->line, item->key->column);
	if (result == 0)
		result = ic_vec_push(&m->rewrites, &rule, err);
	if (result < 0) {
		free(rule.pattern);
		free(rule.replacement);
	}
	return result;
}

static int add_rewrites(const struct reader *r, struct ic_mirror *m, const struct ic_node *rewrites, struct imgcheck_error **err)
{
	int result = ic_cri_check_table(r->place, rewrites, "rewrite", err);

	for (const struct ic_item *i = result == 0 ? ic_node_items(rewrites) : NULL; i && result == 0; i = i->next)
		result = add_rewrite(r, m, i, err);
	return result;
}

/* The host as its settings name it. */
static const char *settings_name(const struct ic_mirror *m)
{
	return strcmp(m->host, IC_MIRROR_HUB_HOST) == 0 ? IC_MIRROR_HUB : m->host;
}

static int finish(const struct reader *r, struct ic_mirror *m, const struct ic_node *config, struct ic_mirrors *to,
                  struct imgcheck_error **err)
{
	int result = ic_cri_tls_apply(r->place, ic_node_get(config, "tls"), m, to, r->problems, err);

	if (result == 0)
		result = ic_mirror_prefer_tls(m, err);
	return result < 0 ? result : ic_mirrors_add(to, m, err);
}

static int add_endpoint(const struct reader *r, const struct ic_node *endpoint, const struct ic_node *rewrites,
                        struct ic_mirrors *to, struct imgcheck_error **err)
{
	struct ic_mirror m IC_AUTO(mirror);
	const char *text = ic_node_text(endpoint);
	bool ok;
	int result;

	ic_mirror_init(&m);
	if (!text)
		return refuse(r, endpoint, err, "an endpoint that is not a text");
	result = set_endpoint(&m, text, &ok, err);
	if (result == 0 && !ok)
		return ic_mirror_pass_over(r->problems, r->place, endpoint->line, text, err);
	if (result == 0)
		result = add_rewrites(r, &m, rewrites, err);
	return result < 0 ? result : finish(r, &m, config_of(r, settings_name(&m)), to, err);
}

/* The registry itself comes last, without rewrites; one that was listed last already is not asked twice. */
static int add_default(const struct reader *r, const char *name, struct ic_mirrors *to, struct imgcheck_error **err)
{
	const struct ic_mirror *last = to->hosts.count ? ic_vec_at(&to->hosts, to->hosts.count - 1) : NULL;
	struct ic_mirror m IC_AUTO(mirror);
	bool ok = true;
	int result;

	ic_mirror_init(&m);
	if (strcmp(name, "*") == 0)
		result = ic_mirror_finish_path(&m, false, err);
	else
		result = set_endpoint(&m, name, &ok, err);
	if (result < 0 || !ok)
		return result;
	if (last && m.host && strcmp(last->host, m.host) == 0 && strcmp(last->scheme, m.scheme) == 0 && strcmp(last->path, m.path) == 0)
		return 0;
	return finish(r, &m, default_config(r, name), to, err);
}

static int add_name(const struct reader *r, const char *name, struct imgcheck_error **err)
{
	const struct ic_node *mirror = ic_node_get(r->mirrors, name);
	const struct ic_node *endpoints = ic_node_get(mirror, "endpoint"), *rewrites = ic_node_get(mirror, "rewrite");
	struct ic_mirrors mirrors IC_AUTO(mirrors);
	int result;

	ic_mirrors_init(&mirrors);
	if (endpoints && endpoints->kind != IC_NODE_SEQUENCE && !ic_node_is_null(endpoints))
		return refuse(r, endpoints, err, "endpoint: it is not a list");
	result = ic_mirror_folder(strcmp(name, "*") == 0 ? "_default" : name, &mirrors.name, err);
	if (result < 0)
		return result;
	mirrors.place = ic_text_copy(r->place, strlen(r->place));
	if (!mirrors.place)
		return ic_error_nomem(err);
	for (const struct ic_item *i = ic_node_items(endpoints); i && result == 0; i = i->next)
		result = add_endpoint(r, i->value, rewrites, &mirrors, err);
	if (result == 0)
		result = add_default(r, name, &mirrors, err);
	return result < 0 ? result : ic_mirror_set_add(&r->out->mirrors, &mirrors, err);
}

static int add_names(const struct reader *r, struct imgcheck_error **err)
{
	int result = 0;

	for (const struct ic_item *i = ic_node_items(r->mirrors); i && result == 0; i = i->next)
		if (!ic_node_is_null(ic_node_get(i->value, "endpoint")) || has_settings(default_config(r, i->key->text)))
			result = add_name(r, i->key->text, err);
	for (const struct ic_item *i = ic_node_items(r->configs); i && result == 0; i = i->next)
		if (has_settings(i->value) && !ic_node_get(r->mirrors, i->key->text))
			result = add_name(r, i->key->text, err);
	return result;
}

static int read_root(struct reader *r, const struct ic_node *root, struct imgcheck_error **err)
{
	int result = 0;

	if (root && root->kind != IC_NODE_MAPPING && !ic_node_is_null(root))
		return refuse(r, root, err, "this file: mirrors and configs are expected");
	for (const struct ic_item *i = ic_node_items(root); i && result == 0; i = i->next)
		if (ic_node_text(i->key) && !ic_node_equals(i->key, "mirrors") && !ic_node_equals(i->key, "configs"))
			result = ic_finding_add(r->problems, r->place, i->key->line, err,
			                        "\"%.100s\" is neither mirrors nor configs", i->key->text);
	r->mirrors = ic_node_get(root, "mirrors");
	r->configs = ic_node_get(root, "configs");
	if (result == 0)
		result = ic_cri_check_table(r->place, r->mirrors, "mirrors", err);
	if (result == 0)
		result = ic_cri_check_table(r->place, r->configs, "configs", err);
	if (result == 0)
		result = add_names(r, err);
	return result < 0 ? result : ic_host_logins_add(&r->out->logins, r->place, r->configs, r->problems, err);
}

int ic_registries_yaml_parse(const char *place, const char *text, size_t len, struct ic_cri_registry *out, struct ic_vec *problems,
                             struct imgcheck_error **err)
{
	struct reader r = {.place = place, .out = out, .problems = problems};
	struct ic_doc *doc IC_AUTO(doc) = NULL;
	int result;

	ic_mirror_set_init(&out->mirrors, IC_MIRROR_FOLDERS);
	ic_texts_init(&out->roots, IC_MAX_LIST_ITEMS);
	ic_host_logins_init(&out->logins);
	result = ic_yaml_parse(place, text, len, &doc, err);
	if (result == 0)
		result = read_root(&r, doc->root, err);
	if (result < 0)
		ic_cri_registry_clear(out);
	return result;
}
