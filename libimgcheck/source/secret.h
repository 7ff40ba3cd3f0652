/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_SECRET_H
#define IC_SOURCE_SECRET_H

/* Overwriting what must not stay in memory. */

#include <jansson.h>

#include "base/buf.h"

/* Overwrites a secret text, then frees it.  Takes NULL. */
void ic_secret_free(char *secret);

static inline void ic_auto_secret(char **secret)
{
	ic_secret_free(*secret);
}

/* Overwrites all texts in a JSON value, then releases it, which must be the last reference. */
void ic_secret_free_json(json_t *value);

IC_DEFINE_AUTO(secret_json, json_t, ic_secret_free_json)

#endif
