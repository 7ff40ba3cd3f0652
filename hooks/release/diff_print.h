/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RELEASE_DIFF_PRINT_H
#define HOOKS_RELEASE_DIFF_PRINT_H

/* What changed between two releases, in the formats of `imgcheck diff`. */

#include <stdio.h>

#include "release/compare.h"

struct diff {
	const struct comparison *comparison;
	const char *before, *after; /* names of the two releases */
	const struct lines *archs;
};

typedef void (*diff_print_fn)(const struct diff *d, FILE *out);

void diff_print_text(const struct diff *d, FILE *out);
void diff_print_json(const struct diff *d, FILE *out);
void diff_print_markdown(const struct diff *d, FILE *out); /* a section for release notes */
void diff_print_list(const struct diff *d, FILE *out);     /* "added: ref ref ..." and "removed: ref ref ..." */

#endif
