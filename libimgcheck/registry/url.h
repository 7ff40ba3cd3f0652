/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_URL_H
#define IC_REGISTRY_URL_H

/*
 * The few things that the protocol needs of URLs (RFC 3986): taking http and https URLs apart, resolving a
 * Location against the request that it answers, and building queries.  Input comes from servers: other schemes,
 * user information, blanks in a host and control bytes are refused; nothing beyond IC_MAX_URL_BYTES is looked at.
 */

#include "base/buf.h"

/* Parts borrowed from the text. */
struct ic_url {
	const char *scheme; /* "http" or "https": static, lower case */
	const char *host;   /* host[:port] as written, not terminated */
	size_t host_len;
	const char *rest;   /* path and query, "" where none; terminated */
};

/* False for anything but an absolute http or https URL without user information and control characters. */
bool ic_url_parse(const char *text, struct ic_url *out);

/* "https://host:port", in lower case and always with a port: new.  Errors: NOMEM, SYNTAX. */
int ic_url_origin(const char *url, char **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The host name alone, without port and brackets' contents changed: borrowed from the URL's text. */
void ic_url_host_name(const struct ic_url *url, const char **name, size_t *len);

/*
 * The URL that `location` means in an answer to a request for `base`: new, without a fragment, with bytes
 * that may not stand in a URL escaped.  Errors: SYNTAX where it is refused, saying why; NOMEM.
 */
int ic_url_resolve(const char *base, const char *location, char **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends text as one component of a query or form. */
int ic_url_add_component(struct ic_buf *out, const char *text, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * "https://host/path" for people: without the query, which can hold signatures, escaped and cut; of what is no URL also
 * without what could be a login.
 */
int ic_url_add_shown(struct ic_buf *out, const char *url, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
