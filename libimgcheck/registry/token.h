/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_TOKEN_H
#define IC_REGISTRY_TOKEN_H

/*
 * Token requests and answers as runtimes make and read them (distribution's token.md and oauth.md).  containerd
 * (core/remotes/docker/authorizer.go and auth/fetch.go): with a login a POST form first, with its fall-back to GET;
 * else GET.  containers/image (docker/docker_client.go): POST for identity tokens alone.  Pure.  What it builds can
 * hold secrets.
 */

#include "registry/challenge.h"
#include "source/endpoint.h"

enum ic_token_way { IC_TOKEN_POST, IC_TOKEN_GET };

struct ic_token_request {
	const struct ic_profile *profile;
	const char *realm;           /* of the challenge: an absolute http or https URL */
	const char *service;         /* of the challenge, NULL where absent */
	const struct ic_vec *scopes; /* texts, sorted and unique (ic_token_add_scopes) */
	const struct ic_login *login;
};

/* Whether a realm can be asked at all. */
bool ic_token_realm_is_usable(const char *realm);

/*
 * Adds the scope that is wanted ("repository:a/b:pull") and each of the challenge's (NULL for none) to texts that are
 * sorted and unique.  *grown tells whether one was new.  Errors: NOMEM, LIMIT.
 */
int ic_token_add_scopes(struct ic_vec *scopes, const char *wanted, const char *challenged, bool *grown,
                        struct imgcheck_error **err) IC_MUST_CHECK;

/* How the first request goes. */
enum ic_token_way ic_token_first_way(const struct ic_profile *profile, const struct ic_login *login);

/* Whether, after a POST that got this status, the same is asked by GET. */
bool ic_token_falls_back(const struct ic_profile *profile, const struct ic_login *login, long status);

/* URL and form of the request; form stays empty for GET.  Both can hold secrets.  Errors: NOMEM, LIMIT. */
int ic_token_build(const struct ic_token_request *request, enum ic_token_way way, struct ic_buf *url,
                   struct ic_buf *form, struct imgcheck_error **err) IC_MUST_CHECK;

/* "Authorization: Basic ..." for a login, its identity token without a user.  Errors: NOMEM, LIMIT. */
int ic_token_add_basic(const struct ic_login *login, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Reads an answer.  *token is new (ic_secret_free()), and can be empty where the profile takes that; *seconds is
 * its life, 0 for the whole run.  Errors: SYNTAX with the reason, which holds nothing of the answer; LIMIT, NOMEM.
 */
struct ic_token_answer {
	const struct ic_profile *profile;
	enum ic_token_way way; /* of the request */
	const char *body;
	size_t len;
};
int ic_token_read(const struct ic_token_answer *from, char **token, size_t *seconds,
                  struct imgcheck_error **err) IC_MUST_CHECK;

#endif
