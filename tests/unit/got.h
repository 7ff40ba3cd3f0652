/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_GOT_H
#define TESTS_UNIT_GOT_H

/* What the tests of the transport keep of an answer, which is gone after the call. */

#include <stdio.h>

#include "registry/http.h"
#include "test.h"

/* What came of one request. */
struct got {
	size_t calls;
	enum ic_http_end end;
	long status;
	int version;
	bool cut;
	size_t len;
	char body[32], detail[400];
	ic_msec at;
};

static inline void done(void *arg, const struct ic_http_answer *answer)
{
	struct got *g = arg;

	g->calls++;
	g->end = answer->end;
	g->status = answer->status;
	g->version = answer->http_version;
	g->cut = answer->body_cut;
	g->len = answer->body.len;
	(void)snprintf(g->body, sizeof(g->body), "%s", ic_buf_text(&answer->body));
	(void)snprintf(g->detail, sizeof(g->detail), "%s", answer->detail);
	g->at = ic_clock_now();
}

/* Until nothing is under way. */
static inline void run(struct ic_http *h)
{
	struct imgcheck_error *err = NULL;
	int left;

	while ((left = ic_http_step(h, -1, &err)) > 0)
		;
	cr_assert_eq(left, 0, "%s", imgcheck_error_message(err));
}

#endif
