/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_ANSWER_H
#define IC_REGISTRY_ANSWER_H

/*
 * What an answer that is no success means: a verdict from facts alone (how the request ended, its status, the
 * kind of body), and a reason in words, for which the body is read in all the forms that registries use.
 * Pure.  Bodies are hostile: bounded by the transport, escaped and cut here.
 */

#include "registry/http.h"
#include "source/endpoint.h"

/* A registry's own words, escaped; empty where there are none. */
struct ic_words {
	struct ic_buf code; /* "MANIFEST_UNKNOWN", nested codes behind it; of XML its Code */
	struct ic_buf text;
	bool html;
	bool structured; /* JSON in a form that registries use */
};

/* Reads an error body.  Cleared with ic_words_clear(), also on failure.  Errors: NOMEM. */
int ic_words_read(const struct ic_http_answer *answer, struct ic_words *out, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_words_clear(struct ic_words *w);

static inline void ic_auto_words(struct ic_words *w)
{
	ic_words_clear(w);
}

/* The verdict of an answer of a registry, a token server or a store; OK for 200 to 299. */
enum imgcheck_verdict ic_answer_verdict(const struct ic_http_answer *answer);

/* Whether a 404 comes from something that is no registry: a web page, without a registry's version field. */
bool ic_answer_is_web_page(const struct ic_http_answer *answer);

/* What is known besides the answer, for the reason. */
struct ic_answer_context {
	enum ic_http_method method;
	const char *url;       /* of the last request */
	bool with_credentials; /* a login was part of it */
	bool token_server;     /* the answer is a token server's */
	const struct ic_login *login;  /* that was used, NULL for none: what an answer repeats of it is blanked */
	const char *authorization;     /* likewise the line that was sent, "Authorization: Scheme credentials" */
};

/*
 * Appends one line: "GET https://host/v2/a/manifests/1 404 MANIFEST_UNKNOWN (manifest unknown)", perhaps with what
 * is known to stand behind such an answer.  Servers and proxies that repeat a request in their error do not bring its
 * credentials into the reason.  Errors: NOMEM, LIMIT.
 */
int ic_answer_reason(const struct ic_answer_context *context, const struct ic_http_answer *answer, struct ic_buf *out,
                     struct imgcheck_error **err) IC_MUST_CHECK;

/* "GET", "HEAD", "POST" or "PUT": static. */
const char *ic_http_method_name(enum ic_http_method method);

#endif
