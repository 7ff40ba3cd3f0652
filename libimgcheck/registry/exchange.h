/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_EXCHANGE_H
#define IC_REGISTRY_EXCHANGE_H

/*
 * One question to one endpoint, asked until the answer is final: challenges are answered, redirects followed,
 * what is worth repeating is repeated.
 *
 * A host that is known to challenge gets its token or password ahead.  That spares a request, but must not
 * change what is found out: a runtime meets no challenge where an image is given to anybody.  So what is refused
 * ahead is asked for once more without anything, and only the answer to that counts.
 */

#include "registry/retry.h"
#include "registry/session.h"

/* Endpoint and url are borrowed until the reply, the rest copied. */
struct ic_question {
	enum ic_http_method method;
	const char *path;    /* behind the repository: "manifests/latest", "blobs/sha256:..." */
	const char *url;     /* instead of the endpoint's: asked bare, without credentials or header fields; NULL for none */
	const char *header;  /* "Accept: ...", "Range: ..."; NULL for none */
	const char *const *lines; /* further header lines, and NULL: static; NULL for none */
	const char *body;    /* of a PUT, borrowed until the reply; NULL for none */
	size_t body_len;
	size_t max_body;
	bool first_byte;     /* as in ic_http_request */
	bool last_endpoint;  /* nobody else can be asked instead */
	bool anonymous;      /* without the endpoint's login */
	bool ping;           /* url is at the endpoint's host, with its certificates and header fields; begins whatever is under way */
};

/* The final answer, or why there is none. */
struct ic_reply {
	const struct ic_http_answer *answer; /* NULL where the question could not be put */
	enum imgcheck_verdict verdict;       /* what it means; OK for 2xx */
	const char *reason;                  /* one escaped line, "" for 2xx */
	bool with_login;                     /* the endpoint's login was used */
};

typedef void (*ic_reply_fn)(void *arg, const struct ic_reply *reply);

/* In the caller's storage; one question at a time. */
struct ic_exchange {
	struct ic_waiter waiter; /* first, so that a waiter is its exchange */
	struct ic_session *session;
	const struct ic_endpoint *endpoint;
	struct ic_question question;
	char *path, *header;      /* the question's */
	ic_reply_fn done;
	void *arg;
	enum ic_http_method method;
	char *url, *first_url;
	struct ic_host_state *host; /* of url */
	bool home;                /* url is at the endpoint's own scheme, host and port */
	char *sent_header;        /* Authorization of the last request, secret; NULL for none */
	bool within;              /* no redirect has led away from the endpoint: what is secret still goes along */
	bool pioneer;             /* the first request to its host */
	bool bare;                /* what was sent ahead was refused: now without */
	bool challenged;          /* the host at hand has challenged this very question */
	bool rejected;            /* the password was sent, and was refused */
	bool paused;              /* waits for another that was turned away by the same host */
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
