/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_AUTHORIZE_H
#define IC_REGISTRY_AUTHORIZE_H

/*
 * The Authorization that a host wants for a repository: nothing, a password, or a token, which is asked for
 * once and then shared by all requests for that repository.  Credentials are the host's own (ic_host_state):
 * a host that a redirect leads to never sees those of the endpoint.
 */

#include "registry/session.h"

enum ic_token_state { IC_TOKEN_NONE, IC_TOKEN_ASKED, IC_TOKEN_READY, IC_TOKEN_REFUSED };

/* A token for one repository, or why there is none. */
struct ic_token;

enum ic_authorization {
	IC_AUTHORIZED,           /* *header is the line to send, NULL for none: borrowed from the host */
	IC_AUTHORIZATION_WAITS,  /* the waiter goes on when more is known */
	IC_AUTHORIZATION_REFUSED /* there is none to be had: *refusal tells why */
};

struct ic_refusal {
	enum imgcheck_verdict verdict;
	const char *reason; /* borrowed from the host, or static */
};

/* Who asks the host, and for whose repository. */
struct ic_asker {
	struct ic_session *session;
	struct ic_host_state *host;
	const struct ic_endpoint *endpoint;
	bool home; /* the host is the endpoint's own */
	struct ic_waiter *waiter;
};

/* How to ask now. */
enum ic_authorization ic_authorize(const struct ic_asker *asker, const char **header, struct ic_refusal *refusal);

/*
 * The host has challenged a request, which was sent with `header` (NULL: with none).  True: asking again can help,
 * with what ic_authorize() then says.
 */
bool ic_authorize_challenged(const struct ic_asker *asker, const char *header, const struct ic_http_answer *answer);

/* Whether a login has anything to show. */
bool ic_login_is_anonymous(const struct ic_login *login);

/* Nobody asks this endpoint for its repository any more: its token is not kept. */
void ic_authorize_forget(struct ic_session *s, const struct ic_endpoint *endpoint);

/* For the host's tree of tokens. */
void ic_token_free(void *arg);

#endif
