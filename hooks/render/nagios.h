/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RENDER_NAGIOS_H
#define HOOKS_RENDER_NAGIOS_H

/* A report as a monitoring plugin tells it: one line, and an exit status of its own. */

#include "program/auto.h"

enum nagios_state { NAGIOS_OK = 0, NAGIOS_WARNING = 1, NAGIOS_CRITICAL = 2, NAGIOS_UNKNOWN = 3 };

/*
 * CRITICAL where a node could not pull an image that counts; UNKNOWN where nothing worse was found than what could
 * not be decided or read; WARNING where there are only warnings.
 */
enum nagios_state nagios_state(const json_t *report);

#endif
