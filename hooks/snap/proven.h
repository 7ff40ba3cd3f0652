/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_PROVEN_H
#define HOOKS_PROVEN_H

/*
 * Which registries have given this unit an image before.  Until one has, that it refuses or cannot be reached
 * says less about the new revision than about credentials, proxies or certificates that nobody has set yet, so
 * the refresh goes on with a warning that names them (on-unproven).
 *
 * The hosts stand in a file of our own below $SNAP_COMMON, replaced as a whole; the report is the library's.
 */

#include "program/lines.h"

/* The hosts of the file, as far as it can be used: without it none is proven. */
void proven_read(const char *state, struct lines *hosts);

/* Tells the config which they are; a line that is no host is passed over, and told in the notices. */
void proven_apply(const struct lines *hosts, struct imgcheck_config *c, struct lines *notices);

/* Writes the file anew where the report has images of further hosts.  0 or an errno. */
int proven_add(const char *state, const struct lines *hosts, const json_t *report);

/* The hosts that refused or were not reached and are not proven, by this report either. */
void proven_lacks(const struct lines *hosts, const json_t *report, struct lines *lacking);

#endif
