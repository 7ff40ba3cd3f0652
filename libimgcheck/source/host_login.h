/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_HOST_LOGIN_H
#define IC_SOURCE_HOST_LOGIN_H

/*
 * Logins that a runtime's own configuration has for the hosts that it asks ([registry.configs."host".auth]), for images that bring
 * no credentials; and how containerd reads such a login (internal/cri/server/images, ParseAuth).
 */

#include "base/node.h"

struct ic_host_login {
	char *host;                        /* exactly as the host is asked */
	char *user, *secret;               /* both NULL with an identity token */
	char *identity_token;
	char *place;                       /* the file */
};

/* An array of struct ic_host_login. */
void ic_host_logins_init(struct ic_vec *v);
void ic_host_logins_clear(struct ic_vec *v);
void ic_host_logins_cut(struct ic_vec *v, size_t count); /* takes back those behind the first `count` */

static inline void ic_auto_host_logins(struct ic_vec *v)
{
	ic_host_logins_clear(v);
}

/* What a CRI AuthConfig holds; NULL or "" for what is not there. */
struct ic_cri_auth {
	const char *user, *password, *auth, *identity_token, *server_address;
};

/*
 * What containerd uses of it for a host, new texts in out (with neither place nor host); nothing for another host or an
 * empty one.  Errors: CONFIG without a byte of the secret, NOMEM.
 */
int ic_cri_auth_read(const struct ic_cri_auth *auth, const char *host, struct ic_host_login *out,
                     struct imgcheck_error **err) IC_MUST_CHECK;
void ic_host_login_clear(struct ic_host_login *login);

/*
 * Adds the logins that a table "configs" has for hosts: in each host's table "auth" username, password, auth, identitytoken
 * or identity_token.  One for Docker Hub's name is told, since nobody is asked by it.  Errors: CONFIG with place and line,
 * NOMEM, LIMIT.
 */
int ic_host_logins_add(struct ic_vec *v, const char *place, const struct ic_node *configs, struct ic_vec *problems,
                       struct imgcheck_error **err) IC_MUST_CHECK;

/* The one for the host, or NULL. */
const struct ic_host_login *ic_host_logins_find(const struct ic_vec *v, const char *host);

#endif
