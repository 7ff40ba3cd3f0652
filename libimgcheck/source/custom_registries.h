/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_CUSTOM_REGISTRIES_H
#define IC_SOURCE_CUSTOM_REGISTRIES_H

/*
 * The setting custom_registries of the containerd charm, a JSON array of objects: url, host, username, password, ca_file,
 * cert_file and key_file (in base64), insecure_skip_verify.  The charm writes a hosts.toml for each.
 */

#include "source/cri_registry.h"

/* Fills *out, whose names are folders.  Errors: SYNTAX, CONFIG that name the entry and never a secret, LIMIT, NOMEM. */
int ic_custom_registries_parse(const char *place, const char *text, size_t len, struct ic_cri_registry *out,
                               struct ic_vec *problems, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
