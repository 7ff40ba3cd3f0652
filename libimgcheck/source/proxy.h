/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_PROXY_H
#define IC_SOURCE_PROXY_H

/*
 * Which proxy a request goes through, by the rules of Go's HTTP clients, which runtimes are
 * (golang.org/x/net/http/httpproxy): one proxy for each scheme, exceptions, never for loopback hosts.
 * Proxy URLs can hold a password: no error repeats one.
 */

#include "base/error.h"

/*
 * The proxy for a request to scheme://host[:port]: borrowed, "" for none.  *source (may be NULL) is then
 * the setting that it came from, a static text, or NULL for none.
 */
const char *ic_proxy_choose(const struct imgcheck_config *c, const char *scheme, const char *host, const char **source);

/*
 * Whether the exceptions take the host out: `*` all; name and its sub-domains; .suffix and *.suffix
 * sub-domains alone; IP addresses; CIDR blocks, which hold for hosts written as addresses; each but a
 * block also with :port.
 */
bool ic_proxy_is_exempt(const char *exceptions, const char *scheme, const char *host);

/* [scheme://][user:password@]host[:port], http where no scheme is written; "" for none.  Errors: CONFIG. */
int ic_proxy_check_url(const char *value, struct imgcheck_error **err) IC_MUST_CHECK;

/* The port of such a URL that has none, as Go's clients have it: 80, with https 443, with socks5 1080. */
long ic_proxy_default_port(const char *value);

/* Errors: CONFIG for what would silently match nothing. */
int ic_proxy_check_exceptions(const char *value, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
