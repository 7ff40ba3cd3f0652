/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_WATCH_H
#define HOOKS_WATCH_WATCH_H

/*
 * The watch: rounds (turn.h), and between them events that are still to be told.  The state is locked and read anew
 * for each round, so that other commands can work on it in between; it is whole on the disk at any time.
 */

#include "config.h"
#include "deliver.h"
#include "shard.h"

struct watch {
	const char *config_path;
	char *state_path;
	struct watch_config config;
	struct shard shard;
	struct deliver deliver;
	long long interval; /* seconds */
	bool once, jitter;
	const char *metrics, *page; /* files, or NULL */
	struct {
		struct imgcheck_images *images; /* that are watched */
		size_t problems;    /* of its manifests */
		char *said;         /* those problems, as they were said */
		double seconds;     /* how long it took */
	} last; /* round */
};

/* One round, or rounds until SIGTERM or SIGINT.  The exit status. */
int watch_run(struct watch *w);

void watch_clear(struct watch *w);

static inline void auto_watch(struct watch *w)
{
	watch_clear(w);
}

#endif
