/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_PROXIES_H
#define HOOKS_PROXIES_H

/*
 * The proxies of the surroundings: the environment first, as curl reads it, then a file of the form of
 * /etc/environment, since a hook's environment lacks what is set there.  Each value keeps the name of its
 * source, so that a failure can tell where a proxy came from.
 */

#include "lines.h"

struct proxy {
	char *value;        /* NULL: none */
	const char *source; /* "the environment", "/etc/environment", a setting: static or borrowed */
};

struct proxies {
	struct proxy http, https, none; /* none: hosts that are asked directly */
};

/* file may be NULL: only the environment counts. */
void proxies_read(struct proxies *p, const char *file);

/* Puts value (copied) in the place of what was there. */
void proxies_replace(struct proxy *p, const char *value, const char *source);

/* Sets the proxies in the config.  What it refuses is told in notices, not used, and no longer there. */
void proxies_apply(struct proxies *p, struct imgcheck_config *c, struct lines *notices);

/* "through the proxy http://host:port (from the environment)", without any user or password: new.  NULL without proxy. */
char *proxies_text(const struct proxies *p);

void proxies_clear(struct proxies *p);

static inline void auto_proxies(struct proxies *p)
{
	proxies_clear(p);
}

#endif
