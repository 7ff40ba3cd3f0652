/* SPDX-License-Identifier: Apache-2.0 */
#include "node_files.h"

#include <stdlib.h>

#include "program/memory.h"
#include "program/say.h"
#include "program/status.h"

const struct flag node_files_flags[] = {
	{ "authfile", "FILE", "logins: docker config.json or containers auth.json", IMGCHECK_FILE_AUTH },
	{ "cacert", "FILE", "certificates trusted besides the system's (PEM)", IMGCHECK_FILE_CA },
	{ "hosts-dir", "DIR", "mirrors: containerd's hosts.toml files, /etc/containerd/certs.d", IMGCHECK_FILE_HOSTS_DIR },
	{ "containerd-config", "FILE", "mirrors: the registry tables of containerd's config.toml", IMGCHECK_FILE_CONTAINERD },
	{ "registries-yaml", "FILE", "mirrors: registries.yaml of k3s or RKE2", IMGCHECK_FILE_REGISTRIES_YAML },
	{ "custom-registries", "FILE", "mirrors: custom_registries of the containerd charm, JSON", IMGCHECK_FILE_CUSTOM_REGISTRIES },
	{ "registries-conf", "FILE", "mirrors: registries.conf of CRI-O and podman, with FILE.d/*.conf",
	 IMGCHECK_FILE_REGISTRIES_CONF },
	{ "certs-dir", "DIR", "certificates for hosts, as CRI-O has them: /etc/containers/certs.d, /etc/docker/certs.d",
	 IMGCHECK_FILE_CERTS_DIR },
	{ 0 },
};

int node_files_take(void *arg, int id, const char *value)
{
	struct node_files *f = arg;

	f->given = memory_grow(f->given, f->count + 1, sizeof(*f->given));
	f->given[f->count].kind = (enum imgcheck_file)id;
	f->given[f->count].path = memory_text(value);
	f->count++;
	return 0;
}

static int read_one(struct imgcheck_config *c, enum imgcheck_file kind, const char *path)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	return imgcheck_config_read(c, kind, path, &e) ? say_refused(e) : 0;
}

int node_files_read(const struct node_files *f, struct imgcheck_config *c)
{
	const char *other = getenv("REGISTRY_AUTH_FILE");
	bool logins = false;

	for (size_t i = 0; i < f->count; i++) {
		int status = read_one(c, f->given[i].kind, f->given[i].path);

		if (status)
			return status;
		logins = logins || f->given[i].kind == IMGCHECK_FILE_AUTH;
	}
	return !logins && other && *other ? read_one(c, IMGCHECK_FILE_AUTH, other) : 0;
}

void node_files_clear(struct node_files *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->given[i].path);
	free(f->given);
	*f = (struct node_files){ 0 };
}
