/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_REDIRECT_H
#define IC_REGISTRY_REDIRECT_H

/*
 * What an answer 3xx means, by the rules of Go's HTTP client, which runtimes use (net/http, client.go):
 * credentials stay on the same host and go along to its sub-domains, whatever the port; they are lost anywhere
 * else and on the way back.  Stricter than Go: user information in a Location is refused, and so is going from
 * https to http where credentials would go along.  A PUT stays on its host and its sub-domains, and is sent again
 * only where the status keeps the method (307, 308).  Pure.
 */

#include "registry/http.h"

struct ic_redirect {
	enum ic_http_method method; /* of the next request */
	char *url;                  /* of the next request: new; NULL where the answer stands as it is */
	bool keep_credentials;      /* what was sent as Authorization goes along */
};

/*
 * Decides about an answer to `method` for `url`; first is the URL of the first request, hops the number of
 * redirects followed before this one, credentials whether Authorization was sent with it.
 * Errors: SYNTAX with the reason where the redirect is refused, LIMIT beyond IC_MAX_REDIRECTS, NOMEM.
 */
struct ic_redirect_step {
	enum ic_http_method method;
	const char *url, *first;
	unsigned hops;
	bool credentials;
};
int ic_redirect_decide(const struct ic_redirect_step *step, const struct ic_http_answer *answer,
                       struct ic_redirect *out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
