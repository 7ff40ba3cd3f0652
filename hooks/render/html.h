/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RENDER_HTML_H
#define HOOKS_RENDER_HTML_H

/*
 * What the pages have in common: each stands alone, with no script and nothing from elsewhere, and with a policy in it
 * that forbids both, should a text ever get through as markup.
 */

#include <stdio.h>

/* From the start to the heading, and the end.  The title is ours. */
void html_begin(const char *title, FILE *out);
void html_end(FILE *out);

/* A text from outside, in an element or an attribute. */
void html_text(const char *text, FILE *out);

/* A time, seconds since 1970, as an element. */
void html_time(long long when, FILE *out);

#endif
