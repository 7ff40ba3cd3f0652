/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_POLICY_H
#define HOOKS_POLICY_H

/* Which option sets the effect of a class (outcome), and which exit status a class has. */

#include <stdbool.h>

#include "imgcheck.h"

/* The option that decides on the class.  False: none does (ok, skipped). */
bool policy_option(enum imgcheck_outcome class, enum imgcheck_option *option);

/* The class of this name ("missing").  False: no such class has a policy. */
bool policy_class(const char *name, enum imgcheck_outcome *class);

/* The effect that a class has by default. */
enum imgcheck_decision policy_default(enum imgcheck_outcome class);

/* The exit status of a report: the worst class that counts as a veto. */
int policy_status(const struct imgcheck_report *report);

#endif
