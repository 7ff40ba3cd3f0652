/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_HTTP_TRUST_H
#define IC_REGISTRY_HTTP_TRUST_H

/*
 * The trusted certificates as a file with a name.  libcurl keeps certificates that it has read from one
 * connection to the next only where they come from a file by name: some 18 ms once, not for each
 * connection.  A file in memory has such a name, needs no writable folder and leaves nothing behind; snapd
 * lets confined programs make one (memfd_create), and AppArmor does not mediate what has no path.
 * Where there is no such file (no /proc, an old kernel) the text itself is kept, which only costs the time.
 */

#include "base/tls.h"

struct ic_http_ca {
	int fd;             /* the file; -1: none */
	char path[40];      /* its name; "": none */
	struct ic_buf text; /* instead of a file */
};

void ic_http_ca_init(struct ic_http_ca *ca);
void ic_http_ca_clear(struct ic_http_ca *ca);

/* Takes PEM text, once.  Errors: NOMEM, LIMIT. */
int ic_http_ca_set(struct ic_http_ca *ca, const char *pem, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * The same for hosts that are trusted by certificates of their own besides the common ones: files for those that were
 * asked so far, one for all that add the same.  Each holds the common ones too; IC_MAX_OWN_TRUST_BYTES bounds them.
 */
struct ic_http_cas {
	const char *common;
	size_t common_len, bytes;
	struct ic_vec ways, files;
};

/* common is borrowed; len 0: none. */
void ic_http_cas_init(struct ic_http_cas *cas, const char *common, size_t len);
void ic_http_cas_clear(struct ic_http_cas *cas);

/*
 * Makes a file for tls (borrowed, may be NULL), once.  A host is queued apart for each way of trusting it,
 * since those who wait share the end of a first handshake: *key, new, becomes a longer one, with " 3" for
 * certificates of its own and "!" for none that are looked at.  Errors: NOMEM, LIMIT.
 */
int ic_http_cas_key(struct ic_http_cas *cas, const struct ic_tls *tls, bool skip_verify, char **key,
                    struct imgcheck_error **err) IC_MUST_CHECK;

/* The file for a tls that was added, or NULL where it trusts nobody of its own. */
const struct ic_http_ca *ic_http_cas_get(const struct ic_http_cas *cas, const struct ic_tls *tls);

#endif
