/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_HTTP_TRANSFER_H
#define IC_REGISTRY_HTTP_TRANSFER_H

/* A submitted request of the transport (http.c) while it waits and while it runs. */

#include "http_queue.h"
#include "registry/http.h"

/* The encodings that the header of an answer names. */
struct ic_header_encodings {
	unsigned count;
	bool decodable; /* the last one */
};

/*
 * Takes a line of the header into account.  True: its body is to be decoded, as runtimes do.  Only gzip and deflate are, and
 * alone: what others may want of memory for each body is beyond what can be given.
 */
bool ic_header_see_encoding(struct ic_header_encodings *seen, const char *line, size_t len);

struct ic_flight; /* what exists only while it runs */

/* One block of memory with all its texts, since thousands may wait. */
struct ic_transfer {
	struct ic_job job; /* first, so that the queue's pointers are ours */
	struct ic_http *http;
	ic_http_done done;
	void *arg;
	struct ic_flight *flight; /* NULL while it waits */
	enum ic_http_method method;
	bool skip_verify, first_byte;
	const struct ic_tls *tls;
	bool late; /* may not start before the deadline */
	const char *unusable; /* why it cannot be sent at all, or NULL */
	size_t max_body;
	const char *url, *proxy;
	const char *body;   /* NULL for none */
	size_t body_len;
	const char *header; /* header_count texts, one after another */
	size_t header_count;
	size_t size;
	char text[];
};

/* A copy of the request, with job filled in as the queue wants it: new.  NULL without memory. */
struct ic_transfer *ic_transfer_new(const struct ic_http_request *r);

/* Milliseconds that a step of it may take: a third of what remains of the run, but no more than the limit. */
long ic_transfer_time_limit(ic_msec deadline, long seconds);

/* Overwrites it, since headers may hold secrets, then frees it. */
void ic_transfer_free(struct ic_transfer *t);

/* What the end of one says about its host.  sent: the request went out on a connection that works. */
enum ic_lesson ic_transfer_lesson(const struct ic_http_answer *a, bool sent);

#endif
