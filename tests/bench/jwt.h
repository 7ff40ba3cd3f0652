/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BENCH_JWT_H
#define IC_BENCH_JWT_H

/*
 * Tokens as a registry's token server gives them: JSON web tokens signed with ES256, with the signer's
 * certificate inside (x5c).  docker-registry takes them too.
 */

#include "base/buf.h"

struct jwt;

/* key, certificate: PEM files, P-256.  NULL: they cannot be read. */
struct jwt *jwt_new(const char *key, const char *certificate);

/* Appends a token that lets its holder pull from the repository. */
bool jwt_add(struct jwt *j, const char *service, const char *repository, struct ic_buf *out);

/* Whether the token is for the repository.  Its signature is not looked at. */
bool jwt_is_for(const char *token, size_t len, const char *repository);

#endif
