/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RELEASE_AUDIT_PRINT_H
#define HOOKS_RELEASE_AUDIT_PRINT_H

/* A list of images beside what manifests need, in the formats of `imgcheck audit`. */

#include <stdio.h>

#include "release/compare.h"

struct audit {
	const struct comparison *comparison; /* from the list to the needs */
	const char *list;
	const struct lines *archs;
};

typedef void (*audit_print_fn)(const struct audit *a, FILE *out);

/* How many images are needed and not listed. */
size_t audit_missing(const struct audit *a);

void audit_print_text(const struct audit *a, FILE *out);
void audit_print_json(const struct audit *a, FILE *out);
void audit_print_markdown(const struct audit *a, FILE *out);
void audit_print_list(const struct audit *a, FILE *out); /* "missing: ref ref ..." and "superfluous: ref ref ..." */

#endif
