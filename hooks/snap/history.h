/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_HISTORY_H
#define HOOKS_HISTORY_H

/* The last reports of a hook, each a file in a folder of its own, named by the time it was made. */

#include <stddef.h>

/* Adds one, and removes what is beyond the last ten, and what a killed run left.  0 or an errno. */
int history_add(const char *state, const char *text, size_t len);

#endif
