/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RENDER_PROMETHEUS_H
#define HOOKS_RENDER_PROMETHEUS_H

/* Metrics in the text format that a collector reads from a file. */

#include <stdio.h>

/* What stands in front of the samples of a metric; type is "gauge" or "counter". */
void prometheus_head(const char *name, const char *type, const char *help, FILE *out);

/* name="value", the value being a text from outside. */
void prometheus_label(const char *name, const char *value, FILE *out);

#endif
