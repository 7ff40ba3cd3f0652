/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_TRUST_H
#define IC_SOURCE_TRUST_H

/*
 * Trusted certificates: the system's bundle, and own ones beside it.  Own files come from operators and
 * are validated; of them only the certificates are kept, never a private key that stands beside.
 */

#include "base/buf.h"

/* Where distributions keep the bundle; NULL-terminated. */
extern const char *const ic_trust_system_files[];

/*
 * Appends the first of the files that can be read and holds a certificate.  *found is that text of the
 * list, NULL where there is none.  Errors: NOMEM, LIMIT.
 */
int ic_trust_add_system(const char *const *files, struct ic_buf *out, const char **found,
                        struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Appends all PEM certificates in the text, at least one.  One that is broken is left out, as Go's pool does it, and
 * told in problems; without problems (NULL) it is an error.  Errors: SYNTAX with name and line where there is none or
 * one is broken, NOMEM, LIMIT.  The buffer may then hold a part.
 */
int ic_trust_add_pem(const char *name, const char *text, size_t len, struct ic_vec *problems, struct ic_buf *out,
                     struct imgcheck_error **err) IC_MUST_CHECK;

#endif
