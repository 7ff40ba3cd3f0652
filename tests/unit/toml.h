/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_UNIT_TOML_H
#define IC_TESTS_UNIT_TOML_H

/* A tree that was read from TOML in the form of tests/toml/tomllib-cases, to be compared with what others read. */

#include "base/node.h"

/* New (json_decref). */
json_t *tell_toml(const struct ic_node *node);

#endif
