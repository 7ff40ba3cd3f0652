/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TARGET_CONFIG_H
#define IC_MANIFEST_TARGET_CONFIG_H

/*
 * The configuration of a snap as templates and conditions see it: each value as the text that `snapctl get KEY`
 * prints.  Called by the target.  It comes from snapd or from a file that somebody wrote, as one JSON object of
 * at most IC_MAX_VALUES_BYTES.
 */

#include <jansson.h>

#include "base/buf.h"

struct ic_target_config {
	json_t *values; /* as it was given, or NULL */
	json_t *texts;  /* the same with each number as the text that it had there */
};

/* Replaces what config holds; on failure it is left as it was.  Errors: SYNTAX, LIMIT, NOMEM. */
int ic_target_config_read(struct ic_target_config *config, const char *json, size_t len,
                          struct imgcheck_error **err) IC_MUST_CHECK;
void ic_target_config_clear(struct ic_target_config *config);

/*
 * The text of a key, new, or NULL where the value is absent, null or empty.  "a.b" is a member of that name, as
 * `snapctl get -d a.b` prints it, or b in the map a.  A Boolean is true or false, a map or list its JSON text.
 * Errors: NOMEM.
 */
int ic_target_config_text(const struct ic_target_config *config, const char *key, char **out,
                          struct imgcheck_error **err) IC_MUST_CHECK;

#endif
