/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_CONFIG_H
#define IC_SOURCE_CONFIG_H

/*
 * The configuration of a run (imgcheck_config), as the later stations read it.  Values were validated when
 * they were set; files that were read are held in memory.
 */

#include "base/buf.h"
#include "base/platform.h"
#include "source/helper.h"
#include "source/host_login.h"
#include "source/mirror.h"
#include "source/registries_conf.h"

/* A login set for one host. */
struct ic_config_login {
	char *host; /* host[:port]; NULL for the configured registry's */
	char *user, *secret;
};

/* The text of an option that is no list: as set, else its default, else NULL.  Can hold the password of a proxy. */
const char *ic_config_value(const struct imgcheck_config *c, enum imgcheck_option o);

/* The i-th text of a list option; NULL past the end. */
const char *ic_config_item(const struct imgcheck_config *c, enum imgcheck_option o, size_t i);

/* The i-th login; NULL past the end.  There is one at most for each host. */
const struct ic_config_login *ic_config_login(const struct imgcheck_config *c, size_t i);

/* The auth files that were read, in order: struct ic_authfile (source/authfile.h). */
const struct ic_vec *ic_config_authfiles(const struct imgcheck_config *c);

/* What is configured for the registry of that name, from the first folder or file that names it; NULL for nothing. */
const struct ic_mirrors *ic_config_mirrors(const struct imgcheck_config *c, const char *registry);

/* The certificates that CRI-O has for the host[:port], from the first folder that has any; NULL for none. */
const struct ic_mirrors *ic_config_certificates(const struct imgcheck_config *c, const char *host);

/* The registries.conf that was read, or NULL. */
const struct ic_registries_conf *ic_config_registries_conf(const struct imgcheck_config *c);

/* The login that files for a runtime have for the host as it is asked, or NULL. */
const struct ic_host_login *ic_config_host_login(const struct imgcheck_config *c, const char *host);

/* The helpers that auth files name, as the program runs them; NULL where it does not. */
struct ic_helper_logins *ic_config_helpers(const struct imgcheck_config *c);

/* Whether an image may only come from a mirror or from the configured registry. */
bool ic_config_require_mirror(const struct imgcheck_config *c);

/* Whether mirrors are passed over, where there is more than them. */
bool ic_config_no_mirrors(const struct imgcheck_config *c);

/*
 * What was read but is not used, and could weaken the check (credential helpers, identity tokens, files that
 * a runtime ignores), as
 * FINDING: borrowed; NULL past the end.
 */
const struct imgcheck_error *ic_config_problem(const struct imgcheck_config *c, size_t i);

enum ic_runtime { IC_RUNTIME_CONTAINERD, IC_RUNTIME_CRIO };

enum ic_depth { IC_DEPTH_TAG, IC_DEPTH_PLATFORM, IC_DEPTH_BLOBS, IC_DEPTH_BYTES };

/* Wanted platforms: at least one, the host's where none was set. */
size_t ic_config_platform_count(const struct imgcheck_config *c);
const struct ic_platform *ic_config_platform(const struct imgcheck_config *c, size_t i);

enum ic_runtime ic_config_runtime(const struct imgcheck_config *c);
enum ic_depth ic_config_depth(const struct imgcheck_config *c);
unsigned ic_config_deadline_seconds(const struct imgcheck_config *c);

/* Whether requests that a host still allows are to be left to others, and how many (out may be NULL). */
bool ic_config_reserve(const struct imgcheck_config *c, size_t *out);

/* The effect that the policy gives to an outcome. */
enum imgcheck_decision ic_config_effect(const struct imgcheck_config *c, enum imgcheck_outcome outcome);

/* Whether refusals and failures of hosts count in full that no `ok` ever came from, and whether one came from this one before. */
bool ic_config_trusts_unproven(const struct imgcheck_config *c);
bool ic_config_is_proven(const struct imgcheck_config *c, const char *host);

/* The name of the option that gives it, "on-missing": static, NULL for an outcome that is never held against anybody. */
const char *ic_config_effect_name(enum imgcheck_outcome outcome);

/* Whether an `ignore` glob matches the reference, a text. */
bool ic_config_ignores(const struct imgcheck_config *c, const char *ref);

/*
 * PEM text of all trusted certificates, system's and own, as one file's content: borrowed; NULL to use
 * the system's file alone.
 */
const char *ic_config_ca_pem(const struct imgcheck_config *c, size_t *len);

/* The system's file in that text, or NULL where none was found or needed: static. */
const char *ic_config_ca_system(const struct imgcheck_config *c);

/* Texts for reports, or NULL. */
const char *ic_config_subject(const struct imgcheck_config *c);
const char *ic_config_consequence(const struct imgcheck_config *c);
const char *ic_config_remedy(const struct imgcheck_config *c, size_t i); /* NULL past the end */

/* Whether anybody wants to be told: what costs something to put into words need not be. */
bool ic_config_listens(const struct imgcheck_config *c);

/* Tells the program; without a function set it does nothing. */
void ic_config_tell(const struct imgcheck_config *c, const struct imgcheck_event *event);

/* From now on the setters refuse. */
void ic_config_freeze(struct imgcheck_config *c);

#endif
