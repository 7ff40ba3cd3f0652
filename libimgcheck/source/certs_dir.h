/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_CERTS_DIR_H
#define IC_SOURCE_CERTS_DIR_H

/*
 * Certificates for hosts as CRI-O, podman and skopeo read them (containers/image, pkg/tlsclientconfig): a folder such as
 * /etc/containers/certs.d, in it one for each host[:port], in that *.crt for authorities and *.cert with *.key for
 * the client.  What the runtime fails on makes that host fail.
 */

#include "source/mirror.h"

/*
 * Reads all folders below root into *out (cleared with ic_mirror_set_clear()), each with one host that has nothing
 * but certificates, and adds findings to problems.  Errors: IO where root cannot be read, LIMIT, NOMEM.
 */
int ic_certs_dir_read(const char *root, struct ic_mirror_set *out, struct ic_vec *problems,
                      struct imgcheck_error **err) IC_MUST_CHECK;

#endif
