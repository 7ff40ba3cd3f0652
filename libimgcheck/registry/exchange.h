/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_EXCHANGE_H
#define IC_REGISTRY_EXCHANGE_H

/*
 * One question to one endpoint, asked until the answer is final: challenges are answered, redirects followed,
 * what is worth repeating is repeated.
 */

#include "registry/retry.h"
#include "registry/session.h"

/* Everything is copied. */
struct ic_question {
	enum ic_http_method method;
	const char *path;    /* behind the repository: "manifests/latest", "blobs/sha256:..." */
	const char *url;     /* instead of the endpoint's: asked bare, without credentials or header fields; NULL for none */
	const char *header;  /* "Accept: ...", "Range: ..."; NULL for none */
	size_t max_body;
	bool first_byte;     /* as in ic_http_request */
	bool last_endpoint;  /* nobody else can be asked instead */
};

/* The final answer, or why there is none. */
struct ic_reply {
	const struct ic_http_answer *answer; /* NULL where the question could not be put */
	enum imgcheck_verdict verdict;       /* what it means; OK for 2xx */
	const char *reason;                  /* one escaped line, "" for 2xx */
};

typedef void (*ic_reply_fn)(void *arg, const struct ic_reply *reply);

/* In the caller's storage; one question at a time. */
struct ic_exchange {
	struct ic_waiter waiter; /* first, so that a waiter is its exchange */
	struct ic_session *session;
	const struct ic_endpoint *endpoint;
	struct ic_question question;
	ic_reply_fn done;
	void *arg;
	enum ic_http_method method;
	char *path, *line;        /* what the question points to */
	char *url, *first_url;
	struct ic_host_state *host; /* of url */
	char *sent_header;        /* Authorization of the last request, secret; NULL for none */
	bool kept;                /* it goes along with a redirect */
	bool pioneer;             /* the first request to its host */
	unsigned hops;
	ic_msec delay;            /* before the next request */
	struct ic_retry attempts;
};

void ic_exchange_init(struct ic_exchange *x, struct ic_session *session);
void ic_exchange_clear(struct ic_exchange *x);

/* Asks; done is called once, from ic_http_step() or at once.  Failures of the run are the session's. */
void ic_exchange_ask(struct ic_exchange *x, const struct ic_endpoint *endpoint, const struct ic_question *question,
                     ic_reply_fn done, void *arg);

#endif
