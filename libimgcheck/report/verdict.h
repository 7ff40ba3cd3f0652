/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REPORT_VERDICT_H
#define IC_REPORT_VERDICT_H

/*
 * The one table of verdicts and outcomes: what each is called (imgcheck_verdict_name() and its
 * neighbours) and which outcome a verdict has.
 */

#include "imgcheck.h"

/* Before the image's class and history are looked at (policy.h). */
enum imgcheck_outcome ic_verdict_outcome(enum imgcheck_verdict v);

#endif
