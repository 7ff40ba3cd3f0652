/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_HELPER_H
#define IC_SOURCE_HELPER_H

/*
 * Logins of credential helpers (docker-credential-<name>), which the program runs for the library: each helper is asked
 * once for each server.  What it answers is hostile only as far as the operator's own programs are; it is secret.
 */

#include "base/buf.h"

struct ic_helper_login {
	char *helper, *server;
	char *user, *secret;  /* both NULL: it knows none, or has an identity token */
	char *identity_token;
	char *problem;        /* why it could not be asked, or NULL */
};

struct ic_helper_logins {
	imgcheck_login_fn fn;
	void *arg;
	struct ic_vec list; /* struct ic_helper_login */
};

void ic_helper_logins_init(struct ic_helper_logins *h);
void ic_helper_logins_clear(struct ic_helper_logins *h);

/* The name under which `docker login` keeps the login for a registry (host[:port], "docker.io"): static or the same. */
const char *ic_helper_server(const char *registry);

/* The answer of a helper for a server: borrowed until the next call.  Errors: NOMEM, LIMIT. */
int ic_helper_ask(struct ic_helper_logins *h, const char *helper, const char *server, const struct ic_helper_login **out,
                  struct imgcheck_error **err) IC_MUST_CHECK;

#endif
