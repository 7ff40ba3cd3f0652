/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TARGET_VALUES_H
#define IC_MANIFEST_TARGET_VALUES_H

/*
 * The values of a target: what its templates see under their names, and what its conditions see as config.
 * Called by the description's reader, which checks them first, and by the target.
 *
 * A value is a literal, {config: KEY} or {env: NAME}, both with a default that is such a value again, or a
 * mapping of names to values.  Below the top level, config, env and default are therefore no names.
 */

#include <jansson.h>

#include "manifest/target.h"

/* Checks t->values and notes the keys and variables that they ask for.  Errors: CONFIG, LIMIT, NOMEM. */
int ic_target_check_values(struct imgcheck_target *t, struct imgcheck_error **err) IC_MUST_CHECK;

/* All values as an object, new; undefined ones are left out.  Errors: NOMEM. */
int ic_target_get_values(const struct imgcheck_target *t, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether the condition, an expression, holds.  Errors: UNSUPPORTED, SYNTAX, LIMIT, NOMEM, with the place. */
int ic_target_holds(const struct imgcheck_target *t, const struct ic_node *condition, bool *out,
                    struct imgcheck_error **err) IC_MUST_CHECK;

#endif
