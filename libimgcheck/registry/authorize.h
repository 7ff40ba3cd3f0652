/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_AUTHORIZE_H
#define IC_REGISTRY_AUTHORIZE_H

/*
 * The Authorization that an host wants for a repository: nothing, a password, or a token, which is asked for
 * once and then shared by all requests for that repository.
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

/* How to ask the host of the endpoint for its repository now. */
enum ic_authorization ic_authorize(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint,
                                   struct ic_waiter *waiter, const char **header, struct ic_refusal *refusal);

/*
 * The host has challenged a request for this repository, which was sent with `header` (NULL: with none).
 * True: asking again can help, with what ic_authorize() then says.
 */
bool ic_authorize_challenged(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint,
                             const char *header, const struct ic_http_answer *answer);

/* For the host's tree of tokens. */
void ic_token_free(void *token);

#endif
