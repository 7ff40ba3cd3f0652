/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_CHALLENGE_H
#define IC_REGISTRY_CHALLENGE_H

/*
 * WWW-Authenticate fields as runtimes read them (containerd core/remotes/docker/auth/parse.go, containers/image
 * docker/wwwauthenticate.go), which is not as RFC 9110 does: one challenge a field, everything after the first
 * malformed parameter dropped.  Fields come from servers; their number and length are bounded by the transport.
 */

#include "base/buf.h"
#include "registry/profile.h"

/* In the order in which containerd prefers them; containers/image takes what comes first. */
enum ic_scheme { IC_SCHEME_BEARER, IC_SCHEME_DIGEST, IC_SCHEME_BASIC };

struct ic_challenge {
	enum ic_scheme scheme;
	struct ic_vec parameters; /* texts: name in lower case, value, name, value ... */
};

/*
 * Reads fields (texts) into out, a vector of struct ic_challenge, preferred ones first as the profile has it;
 * unknown schemes are left out.  Cleared with ic_challenges_clear(), also on failure.  Errors: NOMEM.
 */
int ic_challenges_parse(const struct ic_profile *profile, const struct ic_vec *fields, struct ic_vec *out,
                        struct imgcheck_error **err) IC_MUST_CHECK;
void ic_challenges_clear(struct ic_vec *challenges);

static inline void ic_auto_challenges(struct ic_vec *challenges)
{
	ic_challenges_clear(challenges);
}

/* The value of a parameter, the last one where it stands twice: borrowed, NULL where absent. */
const char *ic_challenge_get(const struct ic_challenge *c, const char *name);

/* The one to answer: Bearer or Basic, or NULL where neither is offered. */
const struct ic_challenge *ic_challenges_choose(const struct ic_vec *challenges);

#endif
