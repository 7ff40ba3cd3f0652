/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_PULL_SECRETS_H
#define IC_MANIFEST_PULL_SECRETS_H

/*
 * Secrets for pulling images that stand in the manifests themselves (types kubernetes.io/dockerconfigjson
 * and kubernetes.io/dockercfg), for the workloads that name them.  What is in one is hostile and secret: it is kept as it
 * is and read by the source station, which knows such files.
 */

#include "base/node.h"

struct ic_pull_secret {
	char *name, *namespace_; /* the latter NULL where none is written */
	char *file;
	char *text;              /* of the one member that counts, overwritten when it is cleared */
	bool base64;             /* text is in base64 (data), not plain (stringData) */
	bool entries;            /* of type dockercfg: the entries themselves, without "auths" around them */
};

/* An array of struct ic_pull_secret. */
void ic_pull_secrets_init(struct ic_vec *v);
void ic_pull_secrets_clear(struct ic_vec *v);

/* Adds those of a document, an object or a List of them.  Errors: NOMEM, LIMIT. */
int ic_pull_secrets_collect(const struct ic_node *root, const char *file, struct ic_vec *v,
                            struct imgcheck_error **err) IC_MUST_CHECK;

/* The one of this name, for an object in a namespace; one that is not written fits all.  NULL for none. */
const struct ic_pull_secret *ic_pull_secrets_find(const struct ic_vec *v, const char *name, size_t len, const char *namespace_);

#endif
