/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_REWRITE_H
#define IC_SOURCE_REWRITE_H

/*
 * Where a reference points after the operator's rewriting: a map of prefixes first, then the rule of
 * Charmed Kubernetes, by which a private registry holds images under their names without the host.
 */

#include "base/ref.h"

/*
 * Fills *out, cleared with ic_ref_clear(), with the reference to ask for; a copy where nothing applies.
 * Errors: NOMEM; CONFIG for rewriting without a registry; SYNTAX where the new name is no reference.
 */
int ic_rewrite(const struct imgcheck_config *c, const struct ic_ref *ref, struct ic_ref *out,
               struct imgcheck_error **err) IC_MUST_CHECK;

#endif
