/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_CONFIG_H
#define IC_SOURCE_CONFIG_H

/*
 * The configuration of a run (imgcheck_config), as the later stations read it.  Values were validated when
 * they were set; files that were read are held in memory.
 */

#include "base/buf.h"
#include "base/platform.h"

enum ic_depth { IC_DEPTH_TAG, IC_DEPTH_PLATFORM, IC_DEPTH_BLOBS, IC_DEPTH_BYTES };

/* Wanted platforms: at least one, the host's where none was set. */
size_t ic_config_platform_count(const struct imgcheck_config *c);
const struct ic_platform *ic_config_platform(const struct imgcheck_config *c, size_t i);

enum ic_depth ic_config_depth(const struct imgcheck_config *c);
unsigned ic_config_deadline_seconds(const struct imgcheck_config *c);

/* The effect that the policy gives to an outcome. */
enum imgcheck_decision ic_config_effect(const struct imgcheck_config *c, enum imgcheck_outcome outcome);

/* Whether an `ignore` glob matches the reference. */
bool ic_config_ignores(const struct imgcheck_config *c, const char *ref);

/*
 * PEM text of all trusted certificates, system's and own, as one file's content: borrowed; NULL to use
 * the system's file alone.
 */
const char *ic_config_ca_pem(const struct imgcheck_config *c, size_t *len);

/* Texts for reports, or NULL. */
const char *ic_config_subject(const struct imgcheck_config *c);
const char *ic_config_consequence(const struct imgcheck_config *c);
const char *ic_config_remedy(const struct imgcheck_config *c, size_t i); /* NULL past the end */

/* Tells the program; without a function set it does nothing. */
void ic_config_tell(const struct imgcheck_config *c, const struct imgcheck_event *event);

/* From now on the setters refuse. */
void ic_config_freeze(struct imgcheck_config *c);

#endif
