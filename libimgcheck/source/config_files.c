/* SPDX-License-Identifier: Apache-2.0 */
#include "source/config_detail.h"

#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "source/authfile.h"
#include "source/certs_dir.h"
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
	result = ic_trust_add_pem(name, data, len, NULL, &own, err);
	if (result == 0)
		result = need_system_ca(c, err);
	if (result == 0)
		result = ic_buf_add(&c->ca, own.data, own.len, err);
	ic_error_place(err, name, 0, 0);
	return result;
}

/* Moves the set into one of the configuration's lists of them. */
static int add_set(struct imgcheck_config *c, struct ic_vec *to, struct ic_mirror_set *set, struct imgcheck_error **err)
{
	int result = ic_mirror_set_has_ca(set) ? need_system_ca(c, err) : 0;

	if (result == 0)
		result = ic_vec_push(to, set, err);
	if (result == 0)
		ic_mirror_set_init(set, set->names);
	return result;
}

typedef int (*tree_reader)(const char *root, struct ic_mirror_set *out, struct ic_vec *problems, struct imgcheck_error **err);

static int read_tree(struct imgcheck_config *c, tree_reader read, const char *path, struct ic_vec *to, struct imgcheck_error **err)
{
	struct ic_mirror_set set IC_AUTO(mirror_set);
	size_t problems = c->problems.count;
	int result = read(path, &set, &c->problems, err);

	if (result == 0)
		result = add_set(c, to, &set, err);
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
	int result = read_tree(c, ic_hosts_tree_read, root, &c->mirrors, &why);

	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result < 0)
		return ic_finding_add(&c->problems, place, 0, err, "the config_path %s is not used: %s", root, imgcheck_error_message(why));
	return 0;
}

/* Moves all that such a file says into the configuration. */
static int add_registry(struct imgcheck_config *c, const char *name, struct ic_cri_registry *registry, struct imgcheck_error **err)
{
	int result = add_set(c, &c->mirrors, &registry->mirrors, err);

	for (size_t i = 0; i < registry->roots.count && result == 0; i++)
		result = add_root(c, name, ic_texts_get(&registry->roots, i), err);
	return result < 0 ? result : add_logins(c, &registry->logins, err);
}

/* config.toml (data NULL: with its imports), registries.yaml and custom_registries.  Nothing stays of a file that fails. */
static int read_registry(struct imgcheck_config *c, enum imgcheck_file kind, const char *name, const char *data, size_t len,
                         struct imgcheck_error **err)
{
	struct ic_cri_registry registry = {0};
	size_t problems = c->problems.count;
	int result;

	if (kind == IMGCHECK_FILE_CONTAINERD)
		result = ic_cri_registry_read(name, data, len, &registry, &c->problems, err);
	else if (kind == IMGCHECK_FILE_REGISTRIES_YAML)
		result = ic_registries_yaml_parse(name, data, len, &registry, &c->problems, err);
	else
		result = ic_custom_registries_parse(name, data, len, &registry, &c->problems, err);
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
	c->has_registries_conf = c->has_registries_conf || result == 0;
	ic_error_place(err, name, 0, 0);
	return result;
}

/* Whose file it is; IC_RUNTIME_CRIO + 1 for one that all read. */
static unsigned owner(enum imgcheck_file kind)
{
	switch (kind) {
	case IMGCHECK_FILE_AUTH:
	case IMGCHECK_FILE_CA:
		break;
	case IMGCHECK_FILE_HOSTS_DIR:
	case IMGCHECK_FILE_CONTAINERD:
	case IMGCHECK_FILE_REGISTRIES_YAML:
	case IMGCHECK_FILE_CUSTOM_REGISTRIES:
		return IC_RUNTIME_CONTAINERD;
	case IMGCHECK_FILE_REGISTRIES_CONF:
	case IMGCHECK_FILE_CERTS_DIR:
		return IC_RUNTIME_CRIO;
	}
	return IC_RUNTIME_CRIO + 1;
}

/* The runtime may be set later; what it does not read is told then. */
static int note_unread(struct imgcheck_config *c, enum imgcheck_file kind, const char *name, struct imgcheck_error **err)
{
	switch (owner(kind)) {
	case IC_RUNTIME_CONTAINERD:
		return ic_finding_add(&c->unread[IC_RUNTIME_CRIO], name, 0, err, "this is not used: CRI-O does not read it (runtime)");
	case IC_RUNTIME_CRIO:
		return ic_finding_add(&c->unread[IC_RUNTIME_CONTAINERD], name, 0, err,
		                      "this is not used: containerd does not read it, only CRI-O does (runtime)");
	}
	return 0;
}

static int read_kind(struct imgcheck_config *c, enum imgcheck_file kind, const char *name, const char *data, size_t len,
                     struct imgcheck_error **err)
{
	switch (kind) {
	case IMGCHECK_FILE_AUTH:
		return read_auth(c, name, data, len, err);
	case IMGCHECK_FILE_CA:
		return read_ca(c, name, data, len, err);
	case IMGCHECK_FILE_CONTAINERD:
	case IMGCHECK_FILE_REGISTRIES_YAML:
	case IMGCHECK_FILE_CUSTOM_REGISTRIES:
		return read_registry(c, kind, name, data, len, err);
	case IMGCHECK_FILE_REGISTRIES_CONF:
		return read_registries_conf(c, name, data, len, err);
	case IMGCHECK_FILE_HOSTS_DIR:
	case IMGCHECK_FILE_CERTS_DIR:
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read a folder from memory");
	}
	return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read a file of a kind that is not known");
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
	result = read_kind(c, kind, name, data ? data : "", len, err);
	return result < 0 ? result : note_unread(c, kind, name, err);
}

static int read_file(struct imgcheck_config *c, enum imgcheck_file kind, const char *path, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&text, IC_MAX_CONFIG_BYTES);
	result = ic_file_read(path, &text, err);
	return result < 0 ? result : read_kind(c, kind, path, ic_buf_text(&text), text.len, err);
}

int imgcheck_config_read(struct imgcheck_config *c, enum imgcheck_file kind, const char *path,
                         struct imgcheck_error **err)
{
	int result = ic_config_check_open(c, err);

	if (result < 0)
		return result;
	if (!path)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read a file without a path");
	if (kind == IMGCHECK_FILE_HOSTS_DIR)
		result = read_tree(c, ic_hosts_tree_read, path, &c->mirrors, err);
	else if (kind == IMGCHECK_FILE_CERTS_DIR)
		result = read_tree(c, ic_certs_dir_read, path, &c->certificates, err);
	else if (kind == IMGCHECK_FILE_REGISTRIES_CONF)
		result = read_registries_conf(c, path, NULL, 0, err);
	else if (kind == IMGCHECK_FILE_CONTAINERD)
		result = read_registry(c, kind, path, NULL, 0, err);
	else
		result = read_file(c, kind, path, err);
	return result < 0 ? result : note_unread(c, kind, path, err);
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

const struct ic_mirrors *ic_config_certificates(const struct imgcheck_config *c, const char *host)
{
	for (size_t i = 0; i < c->certificates.count; i++) {
		const struct ic_mirrors *found = ic_mirror_set_get(ic_vec_at(&c->certificates, i), host);

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
	const struct ic_vec *unread = &c->unread[ic_config_runtime(c)];

	if (i < c->problems.count)
		return *(struct imgcheck_error **)ic_vec_at(&c->problems, i);
	i -= c->problems.count;
	return i < unread->count ? *(struct imgcheck_error **)ic_vec_at(unread, i) : NULL;
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

