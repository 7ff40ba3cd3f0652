/* SPDX-License-Identifier: Apache-2.0 */
#include "source/secret.h"

#include <stdint.h>
#include <string.h>

void ic_secret_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

/* Depth is bounded by the parser. */
static void wipe(json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	json_object_foreach(value, key, item)
		wipe(item);
	json_array_foreach(value, i, item)
		wipe(item);
	/* jansson has no other way to the bytes that it owns. */
	if (json_is_string(value))
		explicit_bzero((char *)(uintptr_t)json_string_value(value), json_string_length(value));
}

void ic_secret_free_json(json_t *value)
{
	wipe(value);
	json_decref(value);
}
