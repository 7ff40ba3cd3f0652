/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_PROGRESS_H
#define HOOKS_PROGRESS_H

/*
 * A check that is watched while it goes on: one line that is kept up to date, for a person at a terminal and only
 * where it takes longer than a second; or a line for each request.  Both go to standard error.
 */

#include "program/auto.h"

enum progress_mode { PROGRESS_NONE, PROGRESS_LINE, PROGRESS_REQUESTS };

/* imgcheck_check(), watched. */
int progress_check(struct imgcheck_config *c, struct imgcheck_images *s, enum progress_mode mode,
                   struct imgcheck_report **out, struct imgcheck_error **err);

#endif
