/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_SHOW_H
#define HOOKS_WATCH_SHOW_H

/*
 * The state for people and for a metrics collector: what each image and gate is like, since when, and why.  Texts in it
 * came from registries and manifests: each format escapes its own marks.
 */

#include <stdio.h>

#include "state.h"

struct show {
	const struct state *state;
	const struct imgcheck_images *images; /* of the last round, for how nodes pull them; or NULL */
	long long now;      /* seconds since 1970 */
	double seconds;     /* how long the last round took */
	size_t problems;    /* manifests that could not be read in it */
};

void show_metrics(const struct show *v, FILE *out);
void show_page(const struct show *v, FILE *out);

#endif
