/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_ENDPOINT_H
#define IC_SOURCE_ENDPOINT_H

/*
 * Where a node would pull an image from: the ordered endpoints of one reference, each with all that is
 * needed to ask it.  Pure: nothing is asked here.
 */

#include "base/buf.h"
#include "base/ref.h"
#include "base/tls.h"
#include "source/secret.h"

/* Credentials for one endpoint.  Secrets are zeroed when cleared and never leave the request's headers. */
struct ic_login {
	char *user, *secret;  /* both NULL for anonymous */
	char *identity_token; /* instead of user and secret, or NULL */
	char *source;         /* for reports: "/root/.docker/config.json"; without credentials NULL, or "none (why)" */
};

/* *out is cleared with ic_login_clear(), whatever the result.  Errors: NOMEM. */
int ic_login_copy(const struct ic_login *login, struct ic_login *out, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_login_clear(struct ic_login *login);

struct ic_endpoint {
	char *scheme;     /* "https" or "http" */
	char *host;       /* host[:port], as in a URL */
	char *base_path;  /* before "/<repository>/...": "/v2", or with a prefix of a mirror */
	char *repository; /* the repository on this endpoint */
	char *ns;         /* a mirror is told the host that it stands in for, as "?ns=<host>" of each request; NULL for none */
	struct ic_vec header;     /* texts "Name: value", secrets, for each request to this endpoint and to its token server */
	const struct ic_tls *tls; /* certificates for all of these requests, NULL: those of the run; borrowed from the config */
	char *proxy;      /* URL of the proxy, "" for none */
	char *proxy_source; /* where the proxy came from, for messages; NULL for none */
	bool skip_verify; /* insecure: the certificate is not looked at */
	bool http_fallback; /* where TLS fails because the server speaks none, the same is asked over http */
	bool upstream;    /* the registry that the reference names, no mirror */
	bool resolve;     /* may be asked to resolve a tag */
	bool pull;        /* may be asked for content by digest */
	struct ic_login login;
	char *broken;     /* why the runtime cannot ask it, one escaped line; then nobody does.  NULL where it can */
	bool blocked;     /* it must not, and what others answer decides */
};

struct ic_endpoints {
	struct ic_ref asked;  /* the reference after rewriting; its registry may differ from the one written */
	struct ic_vec list;   /* struct ic_endpoint, in the order of the runtime */
	/*
	 * Where nobody would be asked the list is empty, and this is the result: a configuration that the
	 * runtime cannot use, or an upstream that is not to be asked.
	 */
	enum imgcheck_verdict verdict;
	char *reason; /* one escaped line; NULL where the list is not empty */
};

/*
 * Fills *out, cleared with ic_endpoints_clear().  A host stands more than once where several credentials
 * serve the image: the kubelet repeats a failed pull with the next ones.
 * Errors: NOMEM; CONFIG where settings contradict each other; SYNTAX where the rewritten name is no
 * reference, which concerns this image alone.
 */
int ic_endpoints_find(const struct imgcheck_config *c, const struct ic_ref *ref, struct ic_endpoints *out,
                      struct imgcheck_error **err) IC_MUST_CHECK;

/* The same for an image of a set, with the credentials that its workloads bring (imagePullSecrets). */
int ic_endpoints_find_image(const struct imgcheck_config *c, const struct imgcheck_images *s, const struct imgcheck_image *m,
                            struct ic_endpoints *out, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_endpoints_clear(struct ic_endpoints *e);

static inline void ic_auto_endpoints(struct ic_endpoints *e)
{
	ic_endpoints_clear(e);
}

#endif
