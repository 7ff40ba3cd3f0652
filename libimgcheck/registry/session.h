/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_SESSION_H
#define IC_REGISTRY_SESSION_H

/*
 * What all requests of one run share: the transport, and for each host and login what is known of how it wants
 * to be asked.  The first request to a host goes out bare and alone, all others wait for it: its answer says
 * whether the host asks for tokens or a password, so that no second request is challenged.  Where the runtime begins
 * with a ping, that is the first request.  Tokens are asked
 * for once a repository.
 *
 * Used by exchange.c and authorize.c; made and cleared by the run.
 */

#include "registry/challenge.h"
#include "registry/http.h"
#include "registry/profile.h"
#include "registry/url.h"
#include "source/endpoint.h"

/* Whoever waits for knowledge of a host or for a token; told in the order in which they came. */
struct ic_waiter {
	void (*go_on)(struct ic_waiter *w);
	struct ic_waiter *next;
};

struct ic_waiters {
	struct ic_waiter *first, *last;
};

enum ic_host_knowledge { IC_HOST_UNKNOWN, IC_HOST_ASKED, IC_HOST_KNOWN };

/* scheme://host:port with one login. */
struct ic_host_state {
	char *key;
	struct ic_login login;                /* without user and secret: anonymous */
	enum ic_host_knowledge state;
	struct ic_vec challenges;             /* owns what challenge points into */
	const struct ic_challenge *challenge; /* how to answer it; NULL where it asks for nothing */
	bool plain;                           /* speaks no TLS, though asked for: http from here on */
	struct ic_ping *ping;                 /* of /v2/, where the runtime begins with one */
	char *unusable;                       /* why nothing is asked of the host after its ping; NULL where it may be */
	enum imgcheck_verdict verdict;        /* of an unusable host */
	/* "too many requests": one exchange asks again until it is through or gives up, the others wait for it */
	const void *scout;
	struct ic_waiters paused;
	char *limited;                        /* the reason of the one that gave up; NULL before */
	size_t remaining;                     /* the most requests that it was heard to still allow; 0 before */
	char *basic;                          /* "Authorization: Basic ...", secret; NULL until it is needed */
	struct ic_waiters waiters;            /* for the first answer */
	void *tokens;                         /* tree of struct ic_token by repository */
};

struct ic_session {
	const struct imgcheck_config *config;
	const struct ic_profile *profile;
	struct ic_http *http;
	ic_msec deadline;
	bool push;              /* tokens are asked for with the right to write */
	void *hosts;            /* tree of struct ic_host_state by key */
	int failed;             /* the first error that ends the run: NOMEM or INTERNAL */
	size_t under_way;       /* exchanges that have begun */
	struct ic_waiters line; /* those that may begin when others have ended */
	bool draining;
};

/* Errors: NOMEM, INTERNAL. */
int ic_session_init(struct ic_session *s, const struct imgcheck_config *config, ic_msec deadline,
                    struct imgcheck_error **err) IC_MUST_CHECK;
void ic_session_clear(struct ic_session *s);

/* Milliseconds until the deadline; 0 when it is over. */
ic_msec ic_session_left(const struct ic_session *s);

/*
 * How long to wait where `delay` was told or is usual (negative: not at all): up to half as much longer, but not
 * beyond the deadline.  Hundreds of nodes may have been turned away together, and would all come back at once.
 */
ic_msec ic_session_spread(const struct ic_session *s, ic_msec delay);

/* The proxy for requests to the URL's host: "" for none, borrowed from the configuration. */
const char *ic_session_proxy(struct ic_session *s, const struct ic_url *url);

/* The run cannot go on: kept if it is the first. */
void ic_session_fail(struct ic_session *s, int result);

/*
 * The host of a URL for this login (NULL for none), known or new; NULL without memory (the session has then
 * failed).  The URL is one that ic_url_parse() takes.
 */
struct ic_host_state *ic_session_host(struct ic_session *s, const char *url, const struct ic_login *login);

/* Reads the challenges of an answer; cleared with ic_challenges_clear(), also on failure, which is the session's.  False then. */
bool ic_session_read_challenges(struct ic_session *s, const struct ic_http_answer *answer, struct ic_vec *out);

/*
 * Learns from the fields of an answer how the host wants to be asked.  False: it asks in no way that can be
 * answered.  An earlier challenge is replaced.
 */
bool ic_host_learn(struct ic_session *s, struct ic_host_state *host, const struct ic_http_answer *answer);

/*
 * Whether one more exchange may begin now; else it waits in line.  Each holds a copy of its request, so that
 * there are never more than IC_MAX_EXCHANGES.
 */
bool ic_session_enter(struct ic_session *s, struct ic_waiter *w);

/* One has ended: others may begin. */
void ic_session_leave(struct ic_session *s);

void ic_waiters_add(struct ic_waiters *list, struct ic_waiter *w);

/* Lets all go on that wait now. */
void ic_waiters_wake(struct ic_waiters *list);

#endif
