/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_PLUG_H
#define HOOKS_PLUG_H

/* The plug `network`, without which a snap's hook or app meets what looks like a dead network. */

#include <stdint.h>

/*
 * Why there is no network, and what to do: new; NULL where the confinement does not refuse it.  hook: the name of
 * the hook, or NULL for an app.
 */
char *plug_explain(const char *hook, int64_t until);

#endif
