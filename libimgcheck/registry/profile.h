/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_PROFILE_H
#define IC_REGISTRY_PROFILE_H

/*
 * What tells one runtime's pull from another's, in one table: containerd (core/remotes/docker) and CRI-O
 * (containers/image).  Chosen once a run by the option `runtime`; all else is shared, and nothing else asks which
 * runtime it is.
 */

#include "base/clock.h"
#include "base/platform.h"
#include "source/config.h"

struct ic_profile {
	const char *name; /* for reasons */

	/* how a registry is asked */
	bool ping;                 /* GET /v2/ before all else; only what that challenges is answered, and once a token widened
	                              to a scope that a 401 says it lacks.  Else any 401 is answered */
	bool head;                 /* tags and layers by HEAD first; else nothing is */
	const char *const *accept; /* header lines of a request for a tag, and NULL */
	bool accepts_told_type;    /* content by digest is asked for by the type that is told; else as tags are */
	const char *every_request; /* a header line of each request to a registry, or NULL */
	bool last_failure_counts;  /* of several endpoints' failures the last, and each leads to the next; else the first of the
	                              highest class, and some end the pull */
	bool one_endpoint;         /* what served the manifest serves all below it, or nobody does */

	/* what is repeated, and when */
	bool repeats_faults;            /* beside 429: 408, 500, 503, 504, and what breaks */
	ic_msec first_wait, most_wait;  /* for 429 without a time; doubled each time, and never longer than */

	/* challenges (www-authenticate) */
	bool first_challenge;       /* the first field that can be answered, else tokens before passwords */
	bool ends_at_empty_value;   /* parameters behind one without a value are lost, and that one */
	bool empty_password;        /* a password is sent even where there is none */

	/* tokens */
	const char *client;         /* client_id */
	bool password_by_post;      /* else by GET with "account" */
	bool post_falls_back;       /* to GET, where a POST is refused */
	bool empty_service;         /* a POST says "service" even where the challenge does not */
	bool token_member_first;    /* "token" before "access_token", and either may be empty or absent */

	/* content */
	size_t most_manifest_bytes;
	size_t most_config_bytes;   /* 0: no limit of the runtime's */
	bool schema1;               /* is pulled, and is what every unknown media type is taken for */
	bool told_types;            /* the media type that an index tells counts, else that of the answer */
	bool told_sizes;            /* the sizes that descriptors tell count, and may not be zero; else a config's alone does */
	bool body_type;             /* a body that says it is of another type is refused */
	bool every_layer;           /* of whatever type is unpacked */
	bool told_digest;           /* docker-content-digest counts for a tag */
	bool nested_indexes;
	bool inlined_blobs;         /* a config or layer may stand in its descriptor */
	bool urls_then_registry;    /* a foreign layer whose urls all say 404 is asked for at the registry */
	const char *empty_layer;    /* the digest of a layer that is never fetched, or NULL */

	/* platforms */
	bool written_platforms;     /* an index's are compared as they are written; else normalised first */
	bool nameless_is_judged;    /* an entry without a platform is held against its config; else OCI's is taken as it is */
	bool prefers_zstd;          /* among entries for the same platform */
};

const struct ic_profile *ic_profile_get(enum ic_runtime runtime);

#endif
