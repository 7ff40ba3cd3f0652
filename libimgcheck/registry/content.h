/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_CONTENT_H
#define IC_REGISTRY_CONTENT_H

/*
 * Manifests, indexes and image configs as a registry serves them, read as runtimes read them (OCI image
 * specification: manifest.md, image-index.md, config.md; Docker image manifest v2 schema 2).  Pure; the
 * bodies are hostile, and their digests were verified before or not at all.
 */

#include "base/buf.h"
#include "base/platform.h"
#include "registry/profile.h"

enum ic_content_kind {
	IC_CONTENT_MANIFEST,
	IC_CONTENT_INDEX,
	IC_CONTENT_SCHEMA1, /* Docker's first: refused by containerd since 2.1 */
	IC_CONTENT_OTHER
};

/* The kind that a media type or Content-Type value names; NULL and parameters behind ';' are fine. */
enum ic_content_kind ic_content_kind(const char *content_type);

/* The kind that the runtime takes it for. */
enum ic_content_kind ic_content_kind_for(const struct ic_profile *profile, const char *content_type);

/* Docker's own index, whose entries must have platforms. */
bool ic_content_is_docker_list(const char *content_type);

struct ic_descriptor {
	char *media_type;  /* "" where absent */
	const char *fault; /* why it cannot be fetched, static; NULL for none, then digest is valid */
	char *digest;
	size_t size;       /* 0: not told, which containerd takes for a fault */
	char *data;        /* the content itself, `size` bytes, where it stands in the descriptor; else NULL */
	bool has_platform; /* else the config of what it names decides */
	struct ic_platform platform; /* normalised */
	struct ic_platform written;  /* as it stands there */
	bool zstd;                   /* annotated as compressed so */
	struct ic_vec urls; /* texts: where a foreign layer is fetched from, before the registry */
};

struct ic_content {
	const struct ic_profile *profile;
	enum ic_content_kind kind;
	bool docker_list;            /* told by who reads it */
	struct ic_descriptor config; /* of a manifest but schema 1 */
	struct ic_vec entries;       /* struct ic_descriptor: layers, or what an index lists; a layer has no fault */
	size_t layers;               /* of a manifest: entries of a layer's media type, which alone are unpacked */
};

/*
 * Reads the body of a manifest or an index.  out is cleared with ic_content_clear(), on success only.
 * Errors: SYNTAX or LIMIT with the reason why the runtime refuses it, NOMEM.
 */
int ic_content_parse(const struct ic_profile *profile, enum ic_content_kind kind, const char *body, size_t len,
                     struct ic_content *out, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_content_clear(struct ic_content *c);

static inline void ic_auto_content(struct ic_content *c)
{
	ic_content_clear(c);
}

/*
 * The entry of an index that serves the platform: the best match, of equals the first, or the first that the profile
 * prefers; where none matches the first without a platform, as the profile has it.  False: none.
 */
bool ic_content_choose(const struct ic_content *index, const struct ic_platform *want, size_t *entry);

struct ic_image_config {
	bool has_platform;
	struct ic_platform platform;
	size_t diff_ids; /* how many layers it describes */
};

/* Reads an image config.  Errors: SYNTAX, LIMIT, NOMEM. */
int ic_image_config_parse(const char *body, size_t len, struct ic_image_config *out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
