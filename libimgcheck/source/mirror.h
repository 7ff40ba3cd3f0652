/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_MIRROR_H
#define IC_SOURCE_MIRROR_H

/*
 * The hosts that a node asks in place of, and before, a registry: what hosts_toml.h, cri_registry.h,
 * registries_yaml.h and custom_registries.h read their files into, and endpoint.h turns into endpoints.  certs_dir.h has
 * certificates in the same form.
 * The files come from operators; what a runtime would do with a broken one is kept as it is.
 */

#include "base/tls.h"

/* Docker Hub in references, and the host that serves it. */
#define IC_MIRROR_HUB "docker.io"
#define IC_MIRROR_HUB_HOST "registry-1.docker.io"

enum ic_choice { IC_CHOICE_NONE, IC_CHOICE_NO, IC_CHOICE_YES };

/* One host to ask. */
struct ic_mirror {
	char *scheme, *host;   /* both NULL: the registry that the reference names, as it is asked without configuration */
	char *path;            /* before "/<repository>/...": "/v2" */
	bool resolve, pull;
	bool http_fallback;    /* https first, http where the server speaks no TLS */
	enum ic_choice skip_verify;
	struct ic_tls *tls;    /* certificates, NULL: nothing of its own */
	struct ic_vec header;  /* texts "Name: value", secrets */
	struct ic_vec rewrites; /* struct ic_rewrite_rule, the first that changes the repository counts */
};

/* A repository's name on a mirror: Go's regular expression, as far as POSIX has the same. */
struct ic_rewrite_rule {
	char *pattern, *replacement;
};

/* What is configured for one registry's name. */
struct ic_mirrors {
	char *name;            /* as the set spells it */
	char *place;           /* file or folder, for messages */
	struct ic_vec hosts;   /* struct ic_mirror, in the order of the runtime */
	char *broken;          /* why the runtime fails before it asks anybody, or NULL; may hold any bytes */
};

/* One folder or file with such names. */
struct ic_mirror_set {
	/* How names are spelled: as folders of hosts.toml files ("host_port_", "host:port", "_default"), or host and "*". */
	enum ic_mirror_names { IC_MIRROR_FOLDERS, IC_MIRROR_HOSTS } names;
	struct ic_vec list; /* struct ic_mirrors */
};

void ic_mirror_init(struct ic_mirror *m);
void ic_mirror_clear(struct ic_mirror *m); /* overwrites secrets */
void ic_mirrors_init(struct ic_mirrors *m);
void ic_mirrors_clear(struct ic_mirrors *m);
void ic_mirror_set_init(struct ic_mirror_set *s, enum ic_mirror_names names);
void ic_mirror_set_clear(struct ic_mirror_set *s);

static inline void ic_auto_mirror(struct ic_mirror *m)
{
	ic_mirror_clear(m);
}
static inline void ic_auto_mirrors(struct ic_mirrors *m)
{
	ic_mirrors_clear(m);
}
static inline void ic_auto_mirror_set(struct ic_mirror_set *s)
{
	ic_mirror_set_clear(s);
}

/* The entry of the set with exactly this name, or NULL. */
const struct ic_mirrors *ic_mirror_set_get(const struct ic_mirror_set *s, const char *name);

/* The entry of the set for the registry's name (host[:port], "docker.io"), or NULL. */
const struct ic_mirrors *ic_mirror_set_find(const struct ic_mirror_set *s, const char *registry);

/* The name of a registry's folder: the port between underscores.  *out is new.  Errors: NOMEM. */
int ic_mirror_folder(const char *registry, char **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Moves the host to the end of the list; m is empty afterwards.  Errors: NOMEM, LIMIT. */
int ic_mirrors_add(struct ic_mirrors *to, struct ic_mirror *m, struct imgcheck_error **err) IC_MUST_CHECK;

/* Moves the entry into the set.  One of the same name must not be there.  Errors: NOMEM, LIMIT. */
int ic_mirror_set_add(struct ic_mirror_set *to, struct ic_mirrors *m, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether Go takes the text for a URL at all; containerd's hosts.toml is rejected with one that is none. */
bool ic_mirror_is_url(const char *url);

/*
 * Takes an endpoint's URL apart, scheme, host and path as they stand there; without "http" in front https is
 * put there.  A login and a query count for nothing, as for the runtimes.  False where no request can be made to it:
 * another scheme, no host.  Errors: NOMEM.
 */
int ic_mirror_set_url(struct ic_mirror *m, const char *url, bool *ok, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * The path as containerd's hosts.toml has it: cleaned (no empty or dot parts), and with "/v2" at its end
 * unless it is given as a whole (override).  Errors: NOMEM.
 */
int ic_mirror_finish_path(struct ic_mirror *m, bool override, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * A host of plain http with settings for TLS is asked with TLS first, and in the clear where it speaks none, as
 * containerd's hosts.toml has it.  (On port 80 http is meant.)  Errors: NOMEM.
 */
int ic_mirror_prefer_tls(struct ic_mirror *m, struct imgcheck_error **err) IC_MUST_CHECK;

/* Makes `why` the reason for which the runtime fails; the first one stays.  Errors: NOMEM. */
int ic_mirrors_break(struct ic_mirrors *m, const struct imgcheck_error *why, struct imgcheck_error **err) IC_MUST_CHECK;

/* The URL for messages, without what stands before an @.  *out is new.  Errors: NOMEM. */
int ic_mirror_hide_login(const char *url, char **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Tells that the URL is not asked, and why, without the login in it.  Errors: NOMEM. */
int ic_mirror_pass_over(struct ic_vec *problems, const char *place, unsigned line, const char *url,
                        struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Certificates from files: authorities trusted besides those of the run, and a client's own certificate with its key
 * (NULL: in the same file).  Errors: those of reading, and SYNTAX where the file holds no such thing; they name the file.
 * What cannot be read among good authorities is told in problems.
 */
int ic_mirror_add_ca(struct ic_mirror *m, const char *path, struct ic_vec *problems, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_mirror_add_client(struct ic_mirror *m, const char *certificate, const char *key, struct imgcheck_error **err) IC_MUST_CHECK;

/* The same from PEM text; name stands for the file. */
int ic_mirror_add_ca_text(struct ic_mirror *m, const char *name, const char *pem, size_t len, struct ic_vec *problems,
                          struct imgcheck_error **err) IC_MUST_CHECK;
int ic_mirror_add_client_text(struct ic_mirror *m, const char *name, const char *pem, size_t len,
                              struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether a host of the set trusts authorities of its own. */
bool ic_mirror_set_has_ca(const struct ic_mirror_set *s);

/* Whether the text can stand in a request's path as it is: printable ASCII without blanks, queries and fragments. */
bool ic_mirror_is_path(const char *text);

/* The repository's name on this host.  *out is new.  Errors: NOMEM, LIMIT, SYNTAX where the new name is none. */
int ic_mirror_rewrite(const struct ic_mirror *m, const char *repository, char **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether a rule can be evaluated here.  Errors: CONFIG, NOMEM. */
int ic_mirror_check_rule(const struct ic_rewrite_rule *rule, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
