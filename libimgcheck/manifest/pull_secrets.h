/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_PULL_SECRETS_H
#define IC_MANIFEST_PULL_SECRETS_H

/*
 * Secrets for pulling images that stand in the manifests themselves (types kubernetes.io/dockerconfigjson
 * and kubernetes.io/dockercfg), for the workloads that name them, and the ServiceAccounts that name them for their pods.
 * What is in one is hostile and secret: it is kept as it is and read by the source station, which knows such files.
 */

#include "base/node.h"

struct ic_pull_secret {
	char *name, *namespace_; /* the latter NULL where none is written */
	char *file;
	char *text;              /* of the one member that counts, overwritten when it is cleared */
	bool base64;             /* text is in base64 (data), not plain (stringData) */
	bool entries;            /* of type dockercfg: the entries themselves, without "auths" around them */
};

/* A ServiceAccount with imagePullSecrets. */
struct ic_pull_account {
	char *name, *namespace_; /* the latter NULL where none is written */
	char *secrets;           /* names, separated by blanks */
};

struct ic_pull_secrets {
	struct ic_vec secrets;  /* struct ic_pull_secret */
	struct ic_vec accounts; /* struct ic_pull_account */
};

void ic_pull_secrets_init(struct ic_pull_secrets *s);
void ic_pull_secrets_clear(struct ic_pull_secrets *s);

/* Adds those of a document, an object or a List of them.  Errors: NOMEM, LIMIT. */
int ic_pull_secrets_collect(const struct ic_node *root, const char *file, struct ic_pull_secrets *s,
                            struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends the names in imagePullSecrets of a pod or account, separated by blanks, as many as there is room for. */
int ic_pull_secrets_add_names(const struct ic_node *owner, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The one of this name, for an object in a namespace; one that is not written fits all.  NULL for none. */
const struct ic_pull_secret *ic_pull_secrets_find(const struct ic_pull_secrets *s, const char *name, size_t len,
                                                  const char *namespace_);
const struct ic_pull_account *ic_pull_secrets_find_account(const struct ic_pull_secrets *s, const char *name,
                                                           const char *namespace_);

#endif
