/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_TOML_H
#define IC_BASE_TOML_H

/*
 * TOML 1.0 (toml.io/en/v1.0.0) into the tree of base/node.h; configuration of container runtimes is written
 * in it.  Input is hostile: IC_MAX_TOML_KEYS bounds the keys, IC_MAX_TOML_DEPTH the nesting, IC_MAX_DOC_BYTES the tree.
 *
 * Tables are mappings in the order in which their keys are first written, arrays are sequences.  Strings are
 * scalars of style IC_STYLE_QUOTED; all else is of style IC_STYLE_PLAIN, its text as follows:
 *   integer     decimal digits, with a minus where negative; 64 bits
 *   float       as written, without underscores and plus signs in front; "inf", "-inf", "nan"
 *   Boolean     "true", "false"
 *   date, time  as written
 * A table that a [header] names, or one below it, is `headed`.
 */

#include "node.h"

/*
 * Reads the whole text; name is the place of errors.  *out is new and its root a mapping.
 * Errors: SYNTAX with line and column (in bytes), LIMIT, NOMEM.
 */
int ic_toml_parse(const char *name, const char *text, size_t len, struct ic_doc **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* A member as Go's readers find it: by exactly this name, or else by one that differs in case.  As ic_node_get() otherwise. */
const struct ic_node *ic_toml_get(const struct ic_node *table, const char *key);

/* The value of a Boolean; false for NULL and anything else.  *is (may be NULL): whether it is one. */
bool ic_toml_bool(const struct ic_node *node, bool *is);

#endif
