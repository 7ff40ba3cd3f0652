/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_REGISTRIES_CONF_H
#define IC_SOURCE_REGISTRIES_CONF_H

/*
 * registries.conf, version 2, with its drop-ins, as CRI-O, podman and skopeo read it (containers/image, pkg/sysregistriesv2):
 * from where an image is pulled, in order.  The files come from operators.
 */

#include "base/node.h"
#include "base/ref.h"

/* Among credential-helpers the auth files, with the helpers that they name themselves. */
#define IC_CONF_AUTH_FILES "containers-auth.json"

struct ic_conf_mirror {
	char *location;
	bool insecure;
	enum ic_conf_pull { IC_CONF_ALL, IC_CONF_DIGEST_ONLY, IC_CONF_TAG_ONLY } pull;
};

struct ic_conf_registry {
	char *prefix;         /* host[/path], or "*.host" */
	char *location;       /* "" where the name stays as it is */
	bool insecure, blocked, mirror_by_digest_only;
	struct ic_vec mirrors; /* struct ic_conf_mirror */
	char *place;
	unsigned line;
};

struct ic_registries_conf {
	struct ic_vec registries; /* struct ic_conf_registry, each prefix once */
	struct ic_vec search;     /* texts: unqualified-search-registries */
	struct ic_vec aliases;    /* texts, in pairs: short name, full name */
	struct ic_vec helpers;    /* texts: credential-helpers, in order; empty: the auth files alone */
	bool enforcing;           /* short-name-mode: a short name with several candidates is an error */
};

void ic_registries_conf_init(struct ic_registries_conf *c);
void ic_registries_conf_clear(struct ic_registries_conf *c);

/*
 * Adds a file, which must not contradict itself; registries of a prefix that is there already are replaced, and so are
 * lists of names, as by a drop-in.  Errors: SYNTAX, CONFIG with the line, LIMIT, NOMEM; what was added may then be a part.
 */
int ic_registries_conf_add(struct ic_registries_conf *c, const char *place, const char *text, size_t len,
                           struct imgcheck_error **err) IC_MUST_CHECK;

/* The same for the file and those in the folder of its name with ".d" behind, *.conf in sorted order. */
int ic_registries_conf_read(struct ic_registries_conf *c, const char *path, struct imgcheck_error **err) IC_MUST_CHECK;

/* One place to pull from. */
struct ic_pull_source {
	char *name;    /* host[:port]/repository */
	bool insecure; /* no verification, and plain http where the server speaks no TLS */
	bool blocked;  /* not to be asked: the next place is */
	bool primary;  /* no mirror */
};

/*
 * Appends the places (struct ic_pull_source) for a reference in order.  Errors: CONFIG for a short name that leads
 * nowhere or to several, NOMEM, LIMIT.
 */
int ic_registries_conf_find(const struct ic_registries_conf *c, const struct ic_ref *ref, struct ic_vec *out,
                            struct imgcheck_error **err) IC_MUST_CHECK;
void ic_pull_sources_clear(struct ic_vec *v);

static inline void ic_auto_pull_sources(struct ic_vec *v)
{
	ic_pull_sources_clear(v);
}

#endif
