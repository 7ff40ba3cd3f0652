/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_TLS_H
#define IC_BASE_TLS_H

/*
 * Certificates for the connections to some hosts, beside those of the whole run.  The source station
 * reads them from an operator's files and owns them; the transport borrows them.
 */

#include "buf.h"

struct ic_tls {
	struct ic_buf ca;     /* authorities that are trusted besides those of the run, as PEM text; empty: none */
	struct ic_buf client; /* certificate, chain and private key as PEM text, a secret; empty: none */
};

#endif
