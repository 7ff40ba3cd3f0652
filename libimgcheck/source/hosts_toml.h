/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_HOSTS_TOML_H
#define IC_SOURCE_HOSTS_TOML_H

/*
 * A tree of hosts.toml files as containerd reads it (core/remotes/docker/config): one folder for each
 * registry, in it hosts.toml, or certificates in docker's layout (*.crt, *.cert with *.key).  Files that
 * containerd would ignore are ignored, with a finding; those on which it fails make their registry fail.
 */

#include "source/mirror.h"

/*
 * Reads all folders below root into *out (cleared with ic_mirror_set_clear()), and adds findings to problems
 * (source/finding.h).  Errors: IO where root cannot be read, LIMIT, NOMEM.
 */
int ic_hosts_tree_read(const char *root, struct ic_mirror_set *out, struct ic_vec *problems,
                       struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * One hosts.toml; relative paths in it start at folder, place is its name in messages.  Errors: SYNTAX or
 * CONFIG with the line where containerd rejects the file, LIMIT, NOMEM.
 */
int ic_hosts_toml_parse(const char *folder, const char *place, const char *text, size_t len, struct ic_mirrors *out,
                        struct ic_vec *problems, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
