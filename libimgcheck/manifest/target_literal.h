/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TARGET_LITERAL_H
#define IC_MANIFEST_TARGET_LITERAL_H

/*
 * A value written in a description: the scalar that YAML 1.1 and 1.2 both take it for.  Where they disagree (yes,
 * 0644, 1_000, 12:30) it is an error that asks for quotes, since templates would print something else than meant.
 */

#include <jansson.h>

#include "base/node.h"

/* *out is new.  Errors: CONFIG, NOMEM; without a place. */
int ic_literal_read(const struct ic_node *scalar, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
