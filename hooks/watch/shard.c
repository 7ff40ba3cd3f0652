/* SPDX-License-Identifier: Apache-2.0 */
#include "shard.h"

#include <stdint.h>
#include <stdlib.h>

#define MOST_SHARDS 10000UL

/* Digits up to `end`, which is then behind them. */
static bool read_number(const char **text, char end, unsigned long *out)
{
	char *after;

	if (**text < '0' || **text > '9')
		return false;
	*out = strtoul(*text, &after, 10);
	*text = after + 1;
	return *after == end && *out <= MOST_SHARDS;
}

bool shard_parse(const char *text, struct shard *out)
{
	unsigned long index, count;

	if (!read_number(&text, '/', &index) || !read_number(&text, '\0', &count) || index >= count)
		return false;
	*out = (struct shard){ (unsigned)index, (unsigned)count };
	return true;
}

/* FNV-1a, folded, since its low bits alone depend on the low bits of the text alone. */
bool shard_has(const struct shard *s, const char *ref)
{
	uint64_t hash = 0xcbf29ce484222325u;

	if (!s->count)
		return true;
	for (; *ref; ref++)
		hash = (hash ^ (unsigned char)*ref) * 0x100000001b3u;
	return ((hash >> 32) ^ (hash & 0xffffffffu)) % s->count == s->index;
}
