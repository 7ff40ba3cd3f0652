/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_RETRY_H
#define IC_REGISTRY_RETRY_H

/*
 * Whether, and when, a request is worth repeating.  What is repeated is what the runtime repeats (containerd
 * core/remotes/docker/resolver.go, retryRequest and doWithTransportRetries; containers/image docker_client.go), but
 * not at once: a 429 that is answered with the next request only gets worse.  Pure; Retry-After dates count against the Date of the
 * same answer.
 */

#include "registry/http.h"
#include "registry/profile.h"

/* What is known when an answer came. */
struct ic_retry {
	const struct ic_profile *profile;
	unsigned sent;    /* requests sent for this question so far, at least 1 */
	long last_status; /* of the answer before this one, 0 for none */
	bool last_host;   /* no other endpoint could be asked instead */
	ic_msec left;     /* time until the deadline */
	bool writes;      /* the request writes: never repeated, since it may have been done, and somebody else have written since */
	unsigned crowded; /* answers that ic_retry_is_crowded_out() so far: they are counted apart */
};

/*
 * Whether the answer turns the request away, or none came, while others of ours were under way: a host or what stands before
 * it can admit only a few at once (nginx limit_conn, a firewall), and a runtime asks for fewer.  Then it says nothing about
 * what was asked for, and the request is repeated whatever the profile says of such an answer.
 */
bool ic_retry_is_crowded_out(const struct ic_http_answer *answer);

/* The request is repeated after this answer. */
void ic_retry_count(struct ic_retry *state, const struct ic_http_answer *answer);

/* Milliseconds to wait before the request is repeated; -1: the answer is final. */
ic_msec ic_retry_delay(const struct ic_retry *state, const struct ic_http_answer *answer);

/*
 * Reads Retry-After: seconds, or an HTTP date against `date`, the answer's Date (NULL where absent).  False for
 * anything else and for the past.
 */
bool ic_retry_after(const char *value, const char *date, ic_msec *out);

/* How many requests the host still allows: "76;w=21600" of RateLimit-Remaining.  False: it does not say. */
bool ic_remaining(const struct ic_http_answer *answer, size_t *out);

#endif
