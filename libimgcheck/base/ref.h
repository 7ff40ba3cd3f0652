/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_REF_H
#define IC_BASE_REF_H

/*
 * Image references by the grammar of distribution/reference, with the Docker Hub defaults that runtimes
 * apply.  Input is hostile; nothing beyond IC_MAX_REF_BYTES is looked at.
 */

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct ic_ref {
	char *registry;   /* "docker.io", "registry.internal:5000", "[2001:db8::1]:5000" */
	char *repository; /* "library/ubuntu" */
	char *tag;        /* as used: "latest" where neither tag nor digest is written; NULL beside a digest */
	char *digest;     /* "sha256:...", or NULL */
	bool has_domain;  /* a registry was written, not assumed */
	bool tag_ignored; /* a tag was written beside the digest: runtimes drop it */
};

/*
 * Parses and normalises (docker.io, library/, latest).  ref is filled on success and cleared with
 * ic_ref_clear().  Errors: SYNTAX with the reason, NOMEM.
 */
int ic_ref_parse(const char *text, size_t len, struct ic_ref *ref, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_ref_clear(struct ic_ref *ref);

static inline void ic_auto_ref(struct ic_ref *ref)
{
	ic_ref_clear(ref);
}

/*
 * What somebody wrote as a reference, as it may be repeated: a login, as in http://user:password@host/name, is
 * replaced by ***, in out (which is initialised here); text without one is left as it is.  Errors: NOMEM.
 */
int ic_ref_hide_login(const char **text, size_t *len, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Whether text is a reference in the strict sense that values outside an image field need: valid, with
 * a slash, and with a tag or a digest.
 */
bool ic_ref_is_strict(const char *text, size_t len);

/* Whether text is a valid reference at all. */
bool ic_ref_is_valid(const char *text, size_t len);

/* The host[:port] that a runtime asks for this registry: docker.io is served by registry-1.docker.io.  Borrowed. */
const char *ic_ref_request_host(const struct ic_ref *ref);

#endif
