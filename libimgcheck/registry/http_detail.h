/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_HTTP_DETAIL_H
#define IC_REGISTRY_HTTP_DETAIL_H

/*
 * Why a request has no answer, in words for people: from what the HTTP and TLS libraries tell.  Pure.
 * Their text may hold bytes of the server (names in a certificate), so it is escaped and cut; it never
 * holds headers, bodies or credentials.
 */

#include "registry/http.h"

struct ic_http_failure {
	enum ic_http_end end; /* by the library's code alone */
	const char *words;    /* ours for that code, "cannot ..."; never NULL */
	bool telling;         /* the library's text says more than the words */
	const char *text;     /* the library's; "" for none */
	int os_error;         /* of the last connection attempt; 0: none */
	long verify;          /* the certificate's verify result (X509_V_ERR_...), where it was refused; 0: none */
	long proxy_status;    /* of a proxy's answer to CONNECT; 0: none */
};

/* Appends the detail and gives the end, corrected by what the text tells.  Without memory the detail stays empty. */
enum ic_http_end ic_http_explain(const struct ic_http_failure *f, struct ic_buf *detail);

#endif
