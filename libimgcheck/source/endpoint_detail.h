/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_ENDPOINT_DETAIL_H
#define IC_SOURCE_ENDPOINT_DETAIL_H

/*
 * One search for endpoints, for endpoint.c, which finds the hosts, and endpoint_login.c, which finds with which
 * credentials they are asked.
 */

#include "base/limits.h"
#include "source/config.h"
#include "source/endpoint.h"
#include "source/pod_secrets.h"

#define IC_MAX_ENDPOINTS ((size_t)2 * IC_MAX_LIST_ITEMS)

/* Where an image is asked for, before it is known with which credentials: borrowed but for the repository and names. */
struct ic_target {
	const char *scheme, *host, *path;
	char *repository;
	bool skip_verify, http_fallback, resolve, pull;
	bool upstream;                  /* the registry that the reference names, no mirror */
	bool ns;                        /* is told which registry it stands in for */
	char *name, *host_name;         /* as CRI-O knows it, host[:port]/repository, and the host of it; else NULL */
	const struct ic_mirror *mirror; /* what is configured for it, or NULL */
	const char *broken;             /* why the runtime cannot ask it, or NULL */
	bool blocked;                   /* that is because it must not */
};

/* Credentials as they were found: borrowed. */
struct ic_found {
	const char *user, *secret, *identity_token, *source;
	const char *problem; /* why it is not known what they are: the host is not asked; else NULL */
};

/* What all endpoints of one search share. */
struct ic_search {
	const struct imgcheck_config *c;
	struct ic_vec targets; /* struct ic_target */
	struct ic_vec matches; /* struct ic_auth_match: a kubelet repeats the pull with each */
	const struct ic_pod_secrets *pod; /* what the image's workloads bring */
	const struct ic_helper_login *helper; /* what a helper knows, where no entry matches */
	const char *helper_file;
	struct imgcheck_error *why; /* nobody is left to be asked, because */
	enum imgcheck_verdict verdict;
	struct ic_endpoints *out;
};

/* ------------------------------------------------------------------ endpoint.c */

static inline bool ic_search_is_crio(const struct ic_search *s)
{
	return ic_config_runtime(s->c) == IC_RUNTIME_CRIO;
}

/* The registry itself, as it is asked without mirrors. */
struct ic_target ic_target_upstream(const struct ic_search *s);

/* Whether the host of a setting means the target; a port that is not written there is default_port. */
bool ic_target_is_named(const struct ic_target *t, const char *setting, const struct ic_ref *ref, unsigned default_port);

/* The configured registry's host in `host`, which is then returned, or NULL. */
const char *ic_search_registry_host(const struct imgcheck_config *c, char host[IC_MAX_REF_BYTES]);

/* Appends the target with these credentials.  Errors: NOMEM, LIMIT. */
int ic_search_add(const struct ic_search *s, const struct ic_target *t, const struct ic_found *found,
                  struct imgcheck_error **err) IC_MUST_CHECK;

/* ------------------------------------------------------------------ endpoint_login.c */

/*
 * Finds the entries of auth files, or else the helper, that serve the image on its registry.  Where a helper cannot be
 * asked s->helper tells it, and nobody is to be asked.  Errors: NOMEM, LIMIT, CONFIG.
 */
int ic_search_find_logins(struct ic_search *s, struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends all targets with their credentials, as often as there are entries for the image.  Errors: as above. */
int ic_search_add_pulls(const struct ic_search *s, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
