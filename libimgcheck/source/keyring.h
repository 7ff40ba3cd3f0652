/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_KEYRING_H
#define IC_SOURCE_KEYRING_H

/*
 * Which entries of auth files serve an image.  Who pulls decides: containerd gets its credentials from the
 * kubelet, CRI-O and skopeo read the files themselves.  Pure functions over what authfile.h read.
 */

#include "source/authfile.h"

enum ic_auth_rules {
	IC_AUTH_KUBELET,   /* kubernetes pkg/credentialprovider: every entry that matches, best first; globs in keys */
	IC_AUTH_CONTAINERS /* containers/image pkg/docker/config: a helper, or the most specific entry alone */
};

struct ic_auth_match {
	const struct ic_authfile *file;
	const struct ic_auth_entry *entry;
	const char *helper; /* of CRI-O's rules alone, instead of an entry */
};

/*
 * Appends to out (struct ic_auth_match) what the kubelet would use for a repository, "docker.io/library/busybox",
 * in the order of use.  Nothing added: anonymous.  files holds struct ic_authfile.  Errors: NOMEM, LIMIT.
 */
int ic_keyring_find(const struct ic_vec *files, const char *repository, struct ic_vec *out,
                    struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * What CRI-O looks at next: in the first file from *at on that has anything for the repository the helper for its host, which
 * goes before entries, or else the most specific entry.  Without credentials there, the next file is looked at.  *at
 * moves behind the file.  False: there is nothing more.
 */
bool ic_keyring_next(const struct ic_vec *files, const char *repository, size_t *at, struct ic_auth_match *out);

/* What the rules read of an entry, all borrowed; NULL for anonymous. */
struct ic_auth_use {
	const char *user, *secret, *identity_token;
};

struct ic_auth_use ic_keyring_use(enum ic_auth_rules rules, const struct ic_auth_entry *entry);

/*
 * The helper that the file names for the host[:port], or NULL: borrowed.  CRI-O knows neither the one for all hosts
 * (credsStore) nor another spelling of a host.
 */
const char *ic_keyring_helper(enum ic_auth_rules rules, const struct ic_authfile *file, const char *host);

/* A key of the file that misses the host by its port alone, or NULL: borrowed. */
const char *ic_keyring_near_miss(const struct ic_authfile *file, const char *host);

#endif
