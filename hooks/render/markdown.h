/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RENDER_MARKDOWN_H
#define HOOKS_RENDER_MARKDOWN_H

/* Markdown (CommonMark with tables) as the programs write it.  Texts came from outside: nothing in them is markup. */

#include <stdio.h>

/* A text as code, fit for a cell of a table. */
void markdown_code(FILE *out, const char *text);

/* A text as it is, with what could be markup escaped, in one line. */
void markdown_text(FILE *out, const char *text);

#endif
