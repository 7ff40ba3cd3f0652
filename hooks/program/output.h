/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_OUTPUT_H
#define HOOKS_OUTPUT_H

/*
 * What a command prints, put together in memory first: so it goes out as a whole, to a stream, or to a file
 * by way of a rename, which a reader like a metrics collector never sees half of.
 */

#include <stdio.h>

#include "auto.h"

struct output {
	FILE *stream; /* to print to */
	char *text;
	size_t len;
};

void output_open(struct output *o);

/* Writes it all to the stream, or to the file of that path where it is not NULL.  0, or STATUS_INTERNAL after saying why. */
int output_finish(struct output *o, FILE *to, const char *path);

void output_clear(struct output *o);

static inline void auto_output(struct output *o)
{
	output_clear(o);
}

#endif
