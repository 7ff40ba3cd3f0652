/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_FINDING_H
#define IC_SOURCE_FINDING_H

/* What configuration files hold that is not used, and could surprise: kept for the report as FINDING. */

#include "base/buf.h"

/* An array of struct imgcheck_error *, with room for IC_MAX_PROBLEMS. */
void ic_findings_init(struct ic_vec *v);
void ic_findings_clear(struct ic_vec *v);

/* Takes back those behind the first `count`. */
void ic_findings_cut(struct ic_vec *v, size_t count);

/* Adds one; what comes beyond the ceiling is dropped.  Errors: NOMEM. */
int ic_finding_add(struct ic_vec *v, const char *place, unsigned line, struct imgcheck_error **err,
                   const char *format, ...) IC_MUST_CHECK
    IC_PRINTF(5, 6);

#endif
