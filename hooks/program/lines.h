/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_LINES_H
#define HOOKS_LINES_H

/* A list of texts: operands of a command line, notices of a run.  Zeroed storage is an empty list. */

#include <stdbool.h>
#include <stddef.h>

#include "auto.h"

struct lines {
	char **line;
	size_t count;
};

void lines_add(struct lines *l, const char *text); /* copied */
void lines_addf(struct lines *l, const char *format, ...) PRINTF(2, 3);
bool lines_has(const struct lines *l, const char *text);
void lines_sort(struct lines *l); /* by bytes */

/* All lines, each followed by a newline: new. */
char *lines_join(const struct lines *l);
void lines_clear(struct lines *l);

static inline void auto_lines(struct lines *l)
{
	lines_clear(l);
}

#endif
