/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_SHARD_H
#define HOOKS_WATCH_SHARD_H

/*
 * Which of several processes watches an image: a hash of its reference, the same on each machine and in each version,
 * so that together they watch every image once.
 */

#include <stdbool.h>

struct shard {
	unsigned index, count; /* count 0: there is only one */
};

/* Reads "I/N", I from 0. */
bool shard_parse(const char *text, struct shard *out);

bool shard_has(const struct shard *s, const char *ref);

#endif
