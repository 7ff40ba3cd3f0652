/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_REGISTRIES_YAML_H
#define IC_SOURCE_REGISTRIES_YAML_H

/*
 * registries.yaml of k3s and RKE2, which they turn into hosts.toml files and logins for containerd (k3s
 * pkg/agent/containerd): mirrors with endpoints and rewrites, configs by the host that is asked.
 */

#include "source/cri_registry.h"

/*
 * Fills *out, whose names are folders as k3s writes them.  Errors: SYNTAX and CONFIG with the line,
 * UNSUPPORTED for a rewrite that cannot be evaluated, LIMIT, NOMEM.
 */
int ic_registries_yaml_parse(const char *place, const char *text, size_t len, struct ic_cri_registry *out, struct ic_vec *problems,
                             struct imgcheck_error **err) IC_MUST_CHECK;

#endif
