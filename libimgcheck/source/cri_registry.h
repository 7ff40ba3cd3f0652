/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_CRI_REGISTRY_H
#define IC_SOURCE_CRI_REGISTRY_H

/*
 * The registry tables of containerd's config.toml as its CRI plugin reads them: config_path, which names
 * trees of hosts.toml files, or the older mirrors and configs.  Also what k3s' registries.yaml shares with them.
 */

#include "source/host_login.h"
#include "source/mirror.h"

struct ic_cri_registry {
	struct ic_mirror_set mirrors; /* names are hosts and "*" */
	struct ic_vec roots;          /* texts: the folders of config_path */
	struct ic_vec logins;         /* struct ic_host_login */
};

/*
 * Reads the file `place` with all that it imports, or with text given only that, which must import nothing.
 * Fills *out, cleared with ic_cri_registry_clear().  Errors: SYNTAX, CONFIG with the line for what containerd would not start
 * with, LIMIT, NOMEM.
 */
int ic_cri_registry_read(const char *place, const char *text, size_t len, struct ic_cri_registry *out, struct ic_vec *problems,
                         struct imgcheck_error **err) IC_MUST_CHECK;
void ic_cri_registry_clear(struct ic_cri_registry *r);

static inline void ic_auto_cri_registry(struct ic_cri_registry *r)
{
	ic_cri_registry_clear(r);
}

/*
 * Whether a node that is given is a mapping whose keys are all texts, as the tables of these files are; absent and
 * null are fine.  Errors: CONFIG with the line.
 */
int ic_cri_check_table(const char *place, const struct ic_node *node, const char *name, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * The settings of a table "tls" (ca_file, cert_file, key_file, insecure_skip_verify; NULL for none) for one
 * host; a file that cannot be used breaks the registry `of`.  Errors: CONFIG with the line, NOMEM.
 */
int ic_cri_tls_apply(const char *place, const struct ic_node *tls, struct ic_mirror *m, struct ic_mirrors *of,
                     struct ic_vec *problems, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
