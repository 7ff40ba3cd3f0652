/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_SNAPCTL_H
#define HOOKS_SNAPCTL_H

/*
 * snapctl, as a hook or an app of a snap asks it: found on PATH, with a time limit (snapd may be busy or
 * restarting) and a ceiling on its answer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "program/lines.h"

/* Whether this process runs in a snap that can ask snapctl. */
bool snapctl_here(void);

/*
 * The configuration under these keys, one object, those not set left out: *out is new.  False where it
 * cannot be had; *why, new, then says so.  Keys that snapd would refuse as names are not asked for, since
 * nothing can be stored under them.
 */
bool snapctl_get(const struct lines *keys, int64_t until, json_t **out, char **why);

/* What is known of a plug of this snap. */
enum snapctl_plug { SNAPCTL_PLUG_UNKNOWN, SNAPCTL_PLUG_CONNECTED, SNAPCTL_PLUG_NOT_CONNECTED, SNAPCTL_PLUG_NOT_THERE };

enum snapctl_plug snapctl_plug(const char *name, int64_t until);

/* Sets the snap's health, for a state other than okay with its message and code.  False: *why (new) says why not. */
bool snapctl_set_health(const char *state, const char *message, const char *code, int64_t limit_ms, char **why);

/* Takes a key out of the snap's configuration, from the end of the hook on.  False: *why (new) says why not. */
bool snapctl_unset(const char *key, int64_t until, char **why);

#endif
