/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RELEASE_PLAN_H
#define HOOKS_RELEASE_PLAN_H

/*
 * What to copy so that missing images are there: from where a report says that they come, or from another place,
 * to where they were asked for.  What is printed is run by others: every text is checked or quoted.
 */

#include <stdio.h>

#include "program/auto.h"
#include "program/lines.h"

struct plan {
	const json_t *report;
	const char *registry;         /* the configured registry, host[:port][/prefix], or NULL */
	const char *from;             /* what stands in its place in the sources, or NULL */
	const char *platform;         /* the only one to copy of images without digest, os/arch[/variant]; NULL: all */
	const struct lines *plain;      /* hosts that are asked without TLS */
	const struct lines *unverified; /* hosts whose certificate is not verified */
};

typedef void (*plan_print_fn)(const struct plan *p, FILE *out);

void plan_print_skopeo(const struct plan *p, FILE *out);  /* lines of a shell script */
void plan_print_regsync(const struct plan *p, FILE *out); /* its configuration, YAML */

/* Says each missing image that nothing is known to copy from; how many there are. */
size_t plan_say_unknown(const struct plan *p);

#endif
