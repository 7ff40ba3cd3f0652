/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_AUTHFILE_H
#define IC_SOURCE_AUTHFILE_H

/*
 * Files with credentials: docker's config.json, containers' auth.json, the older .dockercfg, and a
 * Kubernetes Secret in JSON that holds one of them.  They are read whole and checked here; which entry
 * serves an image is decided in keyring.h.  Their bytes are secret: no error repeats one but host names.
 */

#include "base/buf.h"
#include "manifest/pull_secrets.h"

struct ic_auth_entry {
	char *key;                     /* as written: "registry.internal:5000", "https://index.docker.io/v1/" */
	char *auth_user, *auth_secret; /* from "auth", or NULL */
	bool unpadded;                 /* its base64 has no padding: containers/image cannot read it */
	char *user, *secret;           /* from "username" and "password", or NULL */
	char *identity_token;          /* or NULL */
};

/* A credential helper that is named, but not run. */
struct ic_auth_helper {
	char *key;  /* the host, NULL for all (credsStore) */
	char *name; /* of docker-credential-<name> */
};

struct ic_authfile {
	char *name;            /* for messages and reports */
	struct ic_vec entries; /* struct ic_auth_entry, in the order of the file */
	struct ic_vec helpers; /* struct ic_auth_helper */
};

/*
 * Fills *out, cleared with ic_authfile_clear().  Errors: SYNTAX for what is no JSON or of another shape,
 * CONFIG for an entry that cannot be used, LIMIT, NOMEM; name is the place.
 */
int ic_authfile_parse(const char *name, const char *text, size_t len, struct ic_authfile *out,
                      struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * The same for the member .dockerconfigjson or .dockercfg of a Secret, as it stands in its manifest.  Of either the kubelet
 * reads one shape alone: an object with "auths", or the entries themselves.
 */
int ic_authfile_parse_member(const char *name, const struct ic_pull_secret *secret, struct ic_authfile *out,
                             struct imgcheck_error **err) IC_MUST_CHECK;

/* Overwrites the secrets, then frees all. */
void ic_authfile_clear(struct ic_authfile *f);

static inline void ic_auto_authfile(struct ic_authfile *f)
{
	ic_authfile_clear(f);
}

#endif
