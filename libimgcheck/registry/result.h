/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_RESULT_H
#define IC_REGISTRY_RESULT_H

/* What the registry station found out about one image, for the report. */

#include "base/error.h"

struct ic_result {
	enum imgcheck_verdict verdict;
	char *reason;      /* one escaped line; NULL for none */
	char *reference;   /* what was asked, after rewriting */
	char *host;        /* host[:port] that decided, NULL where none was asked */
	char *digest;      /* what the reference resolved to, or NULL */
	char *platform;    /* the platform that decided, "linux/amd64" */
	char *credentials; /* "none", "none (why)", or where they came from: ic_login's source, "none" for NULL */
	char *proxy;       /* the proxy that was asked through, without user information, or NULL */
};

/* Frees what the result owns. */
void ic_result_clear(struct ic_result *r);

#endif
