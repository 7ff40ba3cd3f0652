/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cri_registry.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "base/toml.h"
#include "source/finding.h"
#include "source/host.h"
#include "source/imports.h"

struct reader {
	const char *place;
	const struct ic_node *mirrors, *configs;
	struct ic_cri_registry *out;
	struct ic_vec *problems;
};

void ic_cri_registry_clear(struct ic_cri_registry *r)
{
	ic_mirror_set_clear(&r->mirrors);
	ic_texts_clear(&r->roots);
	ic_host_logins_clear(&r->logins);
}

static bool is_set(const char *text)
{
	return text && text[0];
}

int ic_cri_check_table(const char *place, const struct ic_node *node, const char *name, struct imgcheck_error **err)
{
	if (ic_node_is_null(node))
		return 0;
	if (node->kind != IC_NODE_MAPPING)
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, place, node->line, node->column, "cannot use %s: it is not a table", name);
	for (const struct ic_item *i = ic_node_items(node); i; i = i->next)
		if (!ic_node_text(i->key))
			return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, place, i->key->line, i->key->column,
			                       "cannot use %s: a name in it is not a text", name);
	return 0;
}

static int add_tls_files(const struct ic_node *tls, struct ic_mirror *m, struct ic_vec *problems, struct imgcheck_error **err)
{
	const char *ca = ic_node_get_text(tls, "ca_file"), *certificate = ic_node_get_text(tls, "cert_file");
	const char *key = ic_node_get_text(tls, "key_file");
	int result = is_set(ca) ? ic_mirror_add_ca(m, ca, problems, err) : 0;

	if (result < 0 || (!is_set(certificate) && !is_set(key)))
		return result;
	if (!is_set(certificate) || !is_set(key))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot use a client certificate without both cert_file and key_file");
	return ic_mirror_add_client(m, certificate, key, err);
}

int ic_cri_tls_apply(const char *place, const struct ic_node *tls, struct ic_mirror *m, struct ic_mirrors *of,
                     struct ic_vec *problems, struct imgcheck_error **err)
{
	const struct ic_node *skip = ic_node_get(tls, "insecure_skip_verify");
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	bool is;

	if (ic_toml_bool(skip, &is))
		m->skip_verify = IC_CHOICE_YES;
	if (skip && !is)
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, place, skip->line, skip->column,
		                       "cannot use insecure_skip_verify: it is not true or false");
	return add_tls_files(tls, m, problems, &why) < 0 ? ic_mirrors_break(of, why, err) : 0;
}

/* ------------------------------------------------------------------ mirrors */

static const struct ic_node *tls_of(const struct reader *r, const char *host)
{
	return ic_node_get(ic_node_get(r->configs, host), "tls");
}

static const char *asked_host(const char *registry)
{
	return strcmp(registry, IC_MIRROR_HUB) == 0 ? IC_MIRROR_HUB_HOST : registry;
}

/* Without a scheme it is https, on loopback http. */
static int set_endpoint(struct ic_mirror *m, const char *text, bool *ok, struct imgcheck_error **err)
{
	struct ic_buf url IC_AUTO(buf);
	struct ic_host host;
	bool bare = !strstr(text, "://");
	bool local = bare && ic_host_parse(text, strcspn(text, "/"), &host) && ic_host_is_loopback(&host);
	int result;

	ic_buf_init(&url, IC_MAX_OPTION_BYTES);
	result = ic_buf_printf(&url, err, "%s%s", bare ? local ? "http://" : "https://" : "", text);
	if (result == 0)
		result = ic_mirror_set_url(m, ic_buf_text(&url), ok, err);
	if (result < 0 || !*ok)
		return result;
	return ic_mirror_finish_path(m, m->path[0] != '\0', err);
}

static int add_endpoint(const struct reader *r, const struct ic_node *endpoint, struct ic_mirrors *to, struct imgcheck_error **err)
{
	struct ic_mirror m IC_AUTO(mirror);
	const char *text = ic_node_text(endpoint);
	bool ok;
	int result;

	ic_mirror_init(&m);
	if (!text)
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, endpoint->line, 0, "cannot use an endpoint that is not a text");
	result = set_endpoint(&m, text, &ok, err);
	if (result == 0 && !ok)
		return ic_mirror_pass_over(r->problems, r->place, endpoint->line, text, err);
	if (result == 0)
		result = ic_cri_tls_apply(r->place, tls_of(r, m.host), &m, to, r->problems, err);
	return result < 0 ? result : ic_mirrors_add(to, &m, err);
}

static bool names_itself(const struct ic_mirrors *m)
{
	for (size_t i = 0; i < m->hosts.count; i++) {
		const struct ic_mirror *host = ic_vec_at(&m->hosts, i);

		if (host->host && strcmp(host->host, m->name) == 0)
			return true;
	}
	return false;
}

/* The registry itself comes last, unless it is listed. */
static int add_default(const struct reader *r, struct ic_mirrors *to, struct imgcheck_error **err)
{
	struct ic_mirror m IC_AUTO(mirror);
	int result;

	ic_mirror_init(&m);
	if (names_itself(to))
		return 0;
	result = ic_mirror_finish_path(&m, false, err);
	if (result == 0)
		result = ic_cri_tls_apply(r->place, tls_of(r, asked_host(to->name)), &m, to, r->problems, err);
	return result < 0 ? result : ic_mirrors_add(to, &m, err);
}

static bool has_name(const struct ic_mirror_set *s, const char *name)
{
	const struct ic_mirrors *found = ic_mirror_set_find(s, name);

	return found && strcmp(found->name, name) == 0;
}

static int add_name(const struct reader *r, const char *name, struct imgcheck_error **err)
{
	const struct ic_node *mirror = ic_node_get(r->mirrors, name);
	const struct ic_node *endpoints = ic_node_get(mirror ? mirror : ic_node_get(r->mirrors, "*"), "endpoint");
	struct ic_mirrors mirrors IC_AUTO(mirrors);
	int result = 0;

	ic_mirrors_init(&mirrors);
	if (has_name(&r->out->mirrors, name))
		return 0;
	mirrors.name = ic_text_copy(name, strlen(name));
	mirrors.place = ic_text_copy(r->place, strlen(r->place));
	if (!mirrors.name || !mirrors.place)
		return ic_error_nomem(err);
	for (const struct ic_item *i = ic_node_items(endpoints); i && result == 0; i = i->next)
		result = add_endpoint(r, i->value, &mirrors, err);
	if (result == 0)
		result = add_default(r, &mirrors, err);
	return result < 0 ? result : ic_mirror_set_add(&r->out->mirrors, &mirrors, err);
}

/* Every name that has mirrors, or settings for TLS. */
static int add_names(const struct reader *r, struct imgcheck_error **err)
{
	int result = 0;

	for (const struct ic_item *i = ic_node_items(r->mirrors); i && result == 0; i = i->next)
		result = add_name(r, i->key->text, err);
	for (const struct ic_item *i = ic_node_items(r->configs); i && result == 0; i = i->next)
		if (ic_node_get(i->value, "tls"))
			result = add_name(r, strcmp(i->key->text, IC_MIRROR_HUB_HOST) == 0 ? IC_MIRROR_HUB : i->key->text, err);
	return result;
}

/* ------------------------------------------------------------------ the file */

static int add_root(struct ic_cri_registry *out, const char *path, size_t len, struct imgcheck_error **err)
{
	return len ? ic_texts_push(&out->roots, path, len, err) : 0;
}

/*
 * Several folders are one text with colons.  containerd 2.1 and later pull by the transfer service, which takes the
 * text as one path and so finds nothing; `use_local_image_pull` brings the older way back.
 */
static int add_roots(const struct reader *r, const struct ic_node *path, bool transfer, struct imgcheck_error **err)
{
	const char *at = path->text;
	int result;

	if (transfer && strchr(at, ':'))
		return ic_finding_add(r->problems, r->place, path->line, err,
		                      "containerd takes the config_path \"%.200s\" as one folder, so that no hosts.toml is used", at);
	do {
		size_t len = strcspn(at, ":");

		result = add_root(r->out, at, len, err);
		at += len + (at[len] == ':');
	} while (result == 0 && *at);
	return result;
}

static bool has_tls(const struct ic_node *configs)
{
	for (const struct ic_item *i = ic_node_items(configs); i; i = i->next)
		if (ic_node_get(i->value, "tls"))
			return true;
	return false;
}

static int read_registry(struct reader *r, const struct ic_node *registry, bool transfer, struct imgcheck_error **err)
{
	const struct ic_node *path = ic_node_get(registry, "config_path");
	int result;

	r->mirrors = ic_node_get(registry, "mirrors");
	r->configs = ic_node_get(registry, "configs");
	result = ic_cri_check_table(r->place, r->mirrors, "mirrors", err);
	if (result == 0)
		result = ic_cri_check_table(r->place, r->configs, "configs", err);
	if (result < 0)
		return result;
	if (path && !ic_node_text(path))
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, path->line, 0, "cannot use a config_path that is not a text");
	if (path && path->len && (ic_node_items(r->mirrors) || has_tls(r->configs)))
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, path->line, 0,
		                       "cannot use mirrors or tls beside config_path: containerd does not start with both");
	result = path ? add_roots(r, path, transfer, err) : 0;
	if (result == 0)
		result = add_names(r, err);
	return result < 0 ? result : ic_host_logins_add(&r->out->logins, r->place, r->configs, r->problems, err);
}

/* The CRI plugin's table by the version of the file, which is 1 where none is written. */
static const char *const ids[] = {"cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images"};

/* What is imported without a version of its own has that of the file that imports. */
static size_t version_of(const struct ic_vec *files, const struct ic_import *f)
{
	const struct ic_import *main = ic_vec_at(files, 0);
	const struct ic_node *own = ic_node_get(f->doc->root, "version"), *node = own ? own : ic_node_get(main->doc->root, "version");
	size_t version;

	if (!node || !ic_node_text(node) || !ic_text_to_size(node->text, node->len, SIZE_MAX, &version) || version == 0)
		return 1;
	return version < IC_COUNT(ids) ? version : IC_COUNT(ids);
}

static const struct ic_node *plugin_of(const struct ic_vec *files, const struct ic_import *f)
{
	return ic_node_get(ic_node_get(f->doc->root, "plugins"), ids[version_of(files, f) - 1]);
}

/* A table by the name of another version is what an upgrade leaves behind. */
static int tell_foreign(const struct reader *r, const struct ic_vec *files, const struct ic_import *f, struct imgcheck_error **err)
{
	size_t version = version_of(files, f);
	int result = 0;

	for (size_t i = 0; i < IC_COUNT(ids) && result == 0; i++) {
		const struct ic_node *registry = ic_node_get(ic_node_get(ic_node_get(f->doc->root, "plugins"), ids[i]), "registry");

		if (registry && i + 1 != version)
			result = ic_finding_add(r->problems, f->place, registry->line, err,
			                        "containerd does not read plugins.\"%s\".registry in a file of version %zu, where it is "
			                        "plugins.\"%s\".registry", ids[i], version, ids[version - 1]);
	}
	return result;
}

/* The one file of all whose registry table counts; NULL where none has one.  Errors: CONFIG where that is not sure. */
static int choose(const struct ic_vec *files, bool merges, const struct ic_import **out,
                  struct imgcheck_error **err)
{
	*out = NULL;
	for (size_t i = 0; i < files->count; i++) {
		const struct ic_import *f = ic_vec_at(files, i);
		const struct ic_node *plugin = plugin_of(files, f);

		if (!plugin)
			continue;
		/* containerd 1 has the last such table instead of all before, 2 puts them into one another */
		if (*out && (!merges || ic_node_get(plugin, "registry")))
			return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, f->place, plugin->line, plugin->column,
			                       "cannot tell what containerd makes of this table beside that of %s, since version 1 "
			                       "replaces what version 2 merges; give what `containerd config dump` prints, "
			                       "without its imports", (*out)->place);
		if (ic_node_get(plugin, "registry"))
			*out = f;
	}
	return 0;
}

static int read_files(struct reader *r, const struct ic_vec *files, struct imgcheck_error **err)
{
	bool merges = version_of(files, ic_vec_at(files, 0)) == 3, transfer = merges;
	const struct ic_import *f;
	int result = choose(files, merges, &f, err);

	for (size_t i = 0; i < files->count && result == 0; i++) {
		const struct ic_import *other = ic_vec_at(files, i);

		if (ic_toml_bool(ic_node_get(plugin_of(files, other), "use_local_image_pull"), NULL))
			transfer = false;
		result = tell_foreign(r, files, other, err);
	}
	if (result < 0 || !f)
		return result;
	r->place = f->place;
	return read_registry(r, ic_node_get(plugin_of(files, f), "registry"), transfer, err);
}

int ic_cri_registry_read(const char *place, const char *text, size_t len, struct ic_cri_registry *out, struct ic_vec *problems,
                         struct imgcheck_error **err)
{
	struct reader r = {.out = out, .problems = problems};
	struct ic_vec files IC_AUTO(imports);
	int result;

	ic_mirror_set_init(&out->mirrors, IC_MIRROR_HOSTS);
	ic_texts_init(&out->roots, IC_MAX_LIST_ITEMS);
	ic_host_logins_init(&out->logins);
	result = text ? ic_imports_parse(place, text, len, &files, err) : ic_imports_read(place, &files, err);
	if (result == 0)
		result = read_files(&r, &files, err);
	if (result < 0)
		ic_cri_registry_clear(out);
	return result;
}
