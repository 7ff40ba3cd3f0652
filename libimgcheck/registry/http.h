/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_HTTP_H
#define IC_REGISTRY_HTTP_H

/*
 * The transport: one event loop over libcurl (curl_multi_socket_action, epoll, timerfd), a queue per host,
 * one deadline.  It sends single requests and hands back single answers; redirects, authentication and
 * retries are decided by the callers.  Answers are hostile: every part of one is bounded.
 *
 * Of each host (scheme, host and port) the first request goes alone; the HTTP version of its answer sets how
 * many run at once afterwards: on one HTTP/2 connection what the server admits, 200 at most; on HTTP/1.1
 * 16 connections.  Where it finds no connection at all, the requests that wait for that host end in the same
 * way: each is not tried for itself.  http_queue.h has the rules.  libcurl is named in http.c alone.
 *
 * libcurl repeats by itself a request whose kept connection turned out to be closed, or that HTTP/2 refused
 * (REFUSED_STREAM, GOAWAY), before any byte of an answer.  A request whose body finds no room in memory is
 * given up and asked once more.  Anything else is sent once.
 */

#include "base/buf.h"
#include "base/clock.h"
#include "base/tls.h"

enum ic_http_method { IC_HTTP_HEAD, IC_HTTP_GET, IC_HTTP_POST, IC_HTTP_PUT };

/* Everything is copied by ic_http_submit(). */
struct ic_http_request {
	enum ic_http_method method;
	const char *url;           /* http or https, no user information; else the end is IC_HTTP_FAILED */
	const char *const *header; /* "Name: value" texts, NULL-terminated; may hold secrets */
	const char *body;          /* of a POST or a PUT, else NULL */
	size_t body_len;
	const char *proxy;         /* URL, "" for none */
	bool skip_verify;
	const struct ic_tls *tls;  /* NULL: the transport's; borrowed until ic_http_free(), and the same pointer means the same bytes */
	size_t max_body;           /* longer bodies are IC_HTTP_TOO_LARGE; counted as they arrive.  Up to half of IC_MAX_BODIES_BYTES */
	bool first_byte;           /* stop after the first byte of a 2xx answer's body: proof enough that there is one */
	ic_msec not_before;        /* monotonic; 0: at once (retries).  Not before the deadline: IC_HTTP_DEADLINE soon */
};

/* How a request ended; anything but IC_HTTP_ANSWERED has no usable answer. */
enum ic_http_end {
	IC_HTTP_ANSWERED,
	IC_HTTP_UNRESOLVED, /* no address for the name (host or proxy) */
	IC_HTTP_REFUSED,    /* no connection */
	IC_HTTP_TLS,        /* handshake, trust, host name, client certificate */
	IC_HTTP_BROKEN,     /* reset, cut short, protocol error */
	IC_HTTP_STALLED,    /* a time limit of this request, not of the run */
	IC_HTTP_TOO_LARGE,  /* the body is beyond its ceiling; status and headers are usable */
	IC_HTTP_DEADLINE,   /* the run's deadline, or cancelled */
	IC_HTTP_UNSENT,     /* its host wants no more requests: ic_http_turn_away() */
	IC_HTTP_FAILED      /* header fields beyond their ceiling, no memory, or a fault of libcurl */
};

struct ic_http_answer {
	enum ic_http_end end;
	long status;              /* 0 where none arrived */
	struct ic_buf body;       /* at most max_body bytes */
	bool decoded;             /* the body came in gzip or deflate, for which nobody asked; lengths in the header are not its own */
	struct ic_vec header;     /* texts "name: value", names in lower case, in order */
	const char *detail;       /* what libcurl says, for the reason; "" where answered.  Never holds secrets */
	bool body_cut;            /* first_byte: the rest was not read */
	int http_version;         /* 1 or 2 */
	bool crowded;             /* others of ours were under way to the same host, which is known to answer */
};

/* The i-th value of a header field (name in lower case): borrowed, NULL past the end. */
const char *ic_http_header(const struct ic_http_answer *answer, const char *name, size_t i);

/* Called once for each submitted request, from ic_http_step(); may submit more.  The answer is borrowed. */
typedef void (*ic_http_done)(void *arg, const struct ic_http_answer *answer);

struct ic_http;

/*
 * ca_pem: trusted certificates as PEM text, borrowed as long as it lives; NULL for the system's.  *out is new.
 * Errors: NOMEM, INTERNAL.
 */
int ic_http_new(const char *ca_pem, size_t ca_len, ic_msec deadline, struct ic_http **out,
                struct imgcheck_error **err) IC_MUST_CHECK;
void ic_http_free(struct ic_http *h); /* ends what still runs, without calling back */

/* Errors: NOMEM.  done is not called when this fails. */
int ic_http_submit(struct ic_http *h, const struct ic_http_request *request, ic_http_done done, void *arg,
                   struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Nothing more is sent to the URL's scheme, host and port before then (Retry-After).  A time that is not
 * before the deadline changes nothing: waiting for it would only keep those that wait from their own answer.
 */
void ic_http_hold(struct ic_http *h, const char *url, ic_msec until);

/*
 * To be called from an ic_http_done alone: requests that still wait for the same host as the one that is done are not
 * sent, and end with IC_HTTP_UNSENT.
 */
void ic_http_turn_away(struct ic_http *h);

/* Readable when ic_http_step() has something to do.  Borrowed. */
int ic_http_fd(const struct ic_http *h);

/* Waits up to timeout_ms (-1: until something happens) and handles what is ready.  1: requests remain, 0: none. */
int ic_http_step(struct ic_http *h, int timeout_ms, struct imgcheck_error **err) IC_MUST_CHECK;

/* Async-signal-safe: the next step ends all requests with IC_HTTP_DEADLINE. */
void ic_http_cancel(struct ic_http *h);

#endif
