/* SPDX-License-Identifier: Apache-2.0 */
#include "source/config_detail.h"

#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "source/authfile.h"
#include "source/cri_registry.h"
#include "source/custom_registries.h"
#include "source/finding.h"
#include "source/hosts_toml.h"
#include "source/registries_yaml.h"
#include "source/secret.h"
#include "source/trust.h"

static int add_file_problem(struct imgcheck_config *c, const struct ic_authfile *f, struct imgcheck_error **err)
{
	const struct ic_auth_helper *first = f->helpers.count ? ic_vec_at(&f->helpers, 0) : NULL;

	if (first && !c->helpers)
		return ic_finding_add(&c->problems, f->name, 0, err,
		                      "credential helpers are not run (docker-credential-%s); "
		                      "hosts that only a helper knows are asked without credentials",
		                      first->name);
	if (!first && f->entries.count == 0)
		return ic_finding_add(&c->problems, f->name, 0, err, "there are no credentials in this file");
	return 0;
}

/* What a node's kubelet does not use, and neither do we: told, because somebody may count on it. */
static int add_auth_problems(struct imgcheck_config *c, const struct ic_authfile *f, struct imgcheck_error **err)
{
	int result = add_file_problem(c, f, err);

	for (size_t i = 0; i < f->entries.count && result == 0; i++) {
		const struct ic_auth_entry *entry = ic_vec_at(&f->entries, i);

		if (entry->identity_token)
			result = ic_finding_add(&c->problems, f->name, 0, err,
			                        "the identity token of \"%s\" is not used: a kubelet does not pass it on", entry->key);
	}
	return result;
}

/* Nothing stays of a file that fails half-way. */
static int read_auth(struct imgcheck_config *c, const char *name, const char *data, size_t len,
                     struct imgcheck_error **err)
{
	struct ic_authfile f IC_AUTO(authfile) = {0};
	size_t problems = c->problems.count;
	int result = ic_authfile_parse(name, data, len, &f, err);

	if (result == 0)
		result = add_auth_problems(c, &f, err);
	if (result == 0)
		result = ic_vec_push(&c->authfiles, &f, err);
	if (result == 0) {
		f = (struct ic_authfile){0};
		return 0;
	}
	ic_findings_cut(&c->problems, problems);
	return result;
}

/* Where own certificates count, the transport gets one text: the system's stand in front. */
static int need_system_ca(struct imgcheck_config *c, struct imgcheck_error **err)
{
	return c->ca.len ? 0 : ic_trust_add_system(ic_trust_system_files, &c->ca, &c->ca_system, err);
}

static int read_ca(struct imgcheck_config *c, const char *name, const char *data, size_t len, struct imgcheck_error **err)
{
	struct ic_buf own IC_AUTO(buf);
	int result;

	ic_buf_init(&own, IC_MAX_TRUST_BYTES);
	result = ic_trust_add_pem(name, data, len, &own, err);
	if (result == 0)
		result = need_system_ca(c, err);
	if (result == 0)
		result = ic_buf_add(&c->ca, own.data, own.len, err);
	for (size_t i = 0; i < c->mirrors.count && result == 0; i++)
		result = ic_mirror_set_trust(ic_vec_at(&c->mirrors, i), &c->ca, err);
	ic_error_place(err, name, 0, 0);
	return result;
}

/* Moves the set into the configuration. */
static int add_mirrors(struct imgcheck_config *c, struct ic_mirror_set *set, struct imgcheck_error **err)
{
	int result = 0;

	if (ic_mirror_set_has_ca(set)) {
		result = need_system_ca(c, err);
		if (result == 0)
			result = ic_mirror_set_trust(set, &c->ca, err);
	}
	if (result == 0)
		result = ic_vec_push(&c->mirrors, set, err);
	if (result == 0)
		ic_mirror_set_init(set, set->names);
	return result;
}

static int read_hosts_tree(struct imgcheck_config *c, const char *path, struct imgcheck_error **err)
{
	struct ic_mirror_set set IC_AUTO(mirror_set);
	size_t problems = c->problems.count;
	int result = ic_hosts_tree_read(path, &set, &c->problems, err);

	if (result == 0)
		result = add_mirrors(c, &set, err);
	if (result < 0)
		ic_findings_cut(&c->problems, problems);
	return result;
}

static int add_logins(struct imgcheck_config *c, struct ic_vec *logins, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; i < logins->count && result == 0; i++) {
		struct ic_host_login *login = ic_vec_at(logins, i);

		result = ic_vec_push(&c->host_logins, login, err);
		if (result == 0)
			*login = (struct ic_host_login){0};
	}
	return result;
}

/* A folder that config_path names and that is not there is nothing to containerd. */
static int add_root(struct imgcheck_config *c, const char *place, const char *root, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	int result = read_hosts_tree(c, root, &why);

	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result < 0)
		return ic_finding_add(&c->problems, place, 0, err, "the config_path %s is not used: %s", root, imgcheck_error_message(why));
	return 0;
}

/* Moves all that such a file says into the configuration. */
static int add_registry(struct imgcheck_config *c, const char *name, struct ic_cri_registry *registry, struct imgcheck_error **err)
{
	int result = add_mirrors(c, &registry->mirrors, err);

	for (size_t i = 0; i < registry->roots.count && result == 0; i++)
		result = add_root(c, name, ic_texts_get(&registry->roots, i), err);
	return result < 0 ? result : add_logins(c, &registry->logins, err);
}

/* config.toml, registries.yaml and custom_registries.  Nothing stays of a file that fails. */
static int read_registry(struct imgcheck_config *c, enum imgcheck_file kind, const char *name, const char *data, size_t len,
                         struct imgcheck_error **err)
{
	struct ic_cri_registry registry = {0};
	size_t problems = c->problems.count;
	int result;

	if (kind == IMGCHECK_FILE_CONTAINERD)
		result = ic_cri_registry_parse(name, data, len, &registry, &c->problems, err);
	else if (kind == IMGCHECK_FILE_REGISTRIES_YAML)
		result = ic_registries_yaml_parse(name, data, len, &registry, &c->problems, err);
	else
		result = ic_custom_registries_parse(name, data, len, &registry, err);
	if (result == 0) {
		result = add_registry(c, name, &registry, err);
		ic_cri_registry_clear(&registry);
	}
	ic_error_place(err, name, 0, 0);
	if (result < 0)
		ic_findings_cut(&c->problems, problems);
	return result;
}

/* A path brings its drop-ins, bytes in memory (data not NULL) do not. */
static int read_registries_conf(struct imgcheck_config *c, const char *name, const char *data, size_t len,
                                struct imgcheck_error **err)
{
	int result;

	if (data)
		result = ic_registries_conf_add(&c->registries_conf, name, data, len, err);
	else
		result = ic_registries_conf_read(&c->registries_conf, name, err);
	if (result == 0)
		result = ic_registries_conf_check(&c->registries_conf, err);
	c->has_registries_conf = c->has_registries_conf || result == 0;
	ic_error_place(err, name, 0, 0);
	return result;
}

int imgcheck_config_read_data(struct imgcheck_config *c, enum imgcheck_file kind, const char *name, const void *data,
                              size_t len, struct imgcheck_error **err)
{
	int result = ic_config_check_open(c, err);

	if (result < 0)
		return result;
	if (!name || (!data && len))
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read data without a name or without bytes");
	if (len > IC_MAX_CONFIG_BYTES)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, name, 0, 0, "cannot read more than %zu bytes",
		                       (size_t)IC_MAX_CONFIG_BYTES);
	switch (kind) {
	case IMGCHECK_FILE_AUTH:
		return read_auth(c, name, data ? data : "", len, err);
	case IMGCHECK_FILE_CA:
		return read_ca(c, name, data ? data : "", len, err);
	case IMGCHECK_FILE_CONTAINERD:
	case IMGCHECK_FILE_REGISTRIES_YAML:
	case IMGCHECK_FILE_CUSTOM_REGISTRIES:
		return read_registry(c, kind, name, data ? data : "", len, err);
	case IMGCHECK_FILE_REGISTRIES_CONF:
		return read_registries_conf(c, name, data ? data : "", len, err);
	case IMGCHECK_FILE_HOSTS_DIR:
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read a folder from memory");
	}
	return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read a file of a kind that is not known");
}

int imgcheck_config_read(struct imgcheck_config *c, enum imgcheck_file kind, const char *path,
                         struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = ic_config_check_open(c, err);

	ic_buf_init_secret(&text, IC_MAX_CONFIG_BYTES);
	if (result < 0)
		return result;
	if (!path)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read a file without a path");
	if (kind == IMGCHECK_FILE_HOSTS_DIR)
		return read_hosts_tree(c, path, err);
	if (kind == IMGCHECK_FILE_REGISTRIES_CONF)
		return read_registries_conf(c, path, NULL, 0, err);
	result = ic_file_read(path, &text, err);
	return result < 0 ? result : imgcheck_config_read_data(c, kind, path, ic_buf_text(&text), text.len, err);
}

const struct ic_vec *ic_config_authfiles(const struct imgcheck_config *c)
{
	return &c->authfiles;
}

const struct ic_mirrors *ic_config_mirrors(const struct imgcheck_config *c, const char *registry)
{
	for (size_t i = 0; i < c->mirrors.count; i++) {
		const struct ic_mirrors *found = ic_mirror_set_find(ic_vec_at(&c->mirrors, i), registry);

		if (found)
			return found;
	}
	return NULL;
}

const struct ic_host_login *ic_config_host_login(const struct imgcheck_config *c, const char *host)
{
	return ic_host_logins_find(&c->host_logins, host);
}

const struct imgcheck_error *ic_config_problem(const struct imgcheck_config *c, size_t i)
{
	return i < c->problems.count ? *(struct imgcheck_error **)ic_vec_at(&c->problems, i) : NULL;
}

const char *ic_config_ca_pem(const struct imgcheck_config *c, size_t *len)
{
	*len = c->ca.len;
	return c->ca.len ? c->ca.data : NULL;
}

const char *ic_config_ca_system(const struct imgcheck_config *c)
{
	return c->ca_system;
}

