/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_DIGEST_H
#define IC_BASE_DIGEST_H

/*
 * Content digests "sha256:hex" (OCI image specification, descriptor.md, Digests).  libcrypto is named
 * in digest.c alone.
 */

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

#define IC_DIGEST_TEXT_BYTES 136 /* "sha512:" + 128 hex digits + NUL */

enum ic_digest_algorithm { IC_DIGEST_SHA256, IC_DIGEST_SHA384, IC_DIGEST_SHA512 };

/* Whether text is a digest of a known algorithm with the right number of lower-case hex digits. */
bool ic_digest_is_valid(const char *text, size_t len, enum ic_digest_algorithm *algorithm);

/* Writes the digest of data as text.  Errors: INTERNAL. */
int ic_digest_compute(enum ic_digest_algorithm algorithm, const void *data, size_t len, char out[IC_DIGEST_TEXT_BYTES],
                      struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether data has this digest, which must be valid. */
bool ic_digest_matches(const char *digest, const void *data, size_t len);

/*
 * Whether the bytes are one whole X.509 certificate in DER; who signed it is not looked at.  It stands here
 * because libcrypto does.  Errors: SYNTAX, NOMEM.
 */
int ic_certificate_check(const void *der, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Whether the PEM text holds a client's certificate and the private key that belongs to it.  One that is encrypted
 * does not count: nobody is asked for a passphrase.  Errors: SYNTAX, NOMEM.
 */
int ic_client_check(const char *pem, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
