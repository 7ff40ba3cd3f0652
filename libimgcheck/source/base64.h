/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_BASE64_H
#define IC_SOURCE_BASE64_H

/* Base64 (RFC 4648, 4) as auth files, Secrets, PEM and Authorization fields hold it. */

#include "base/buf.h"

/* What Go's readers take, on which of them a text is for. */
enum ic_base64_rules {
	IC_BASE64_PADDED,   /* line ends are skipped, padding stands where it belongs: StdEncoding */
	IC_BASE64_UNPADDED, /* the same without any padding: RawStdEncoding */
	IC_BASE64_PEM,      /* padded, and blanks are skipped too */
};

/* Appends the bytes.  Errors: SYNTAX, without a byte of the text, which can be a secret; NOMEM, LIMIT. */
int ic_base64_decode(const char *text, size_t len, enum ic_base64_rules rules, struct ic_buf *out,
                     struct imgcheck_error **err) IC_MUST_CHECK;

/* Appends data as padded base64.  Errors: NOMEM, LIMIT. */
int ic_base64_encode(const char *data, size_t len, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
