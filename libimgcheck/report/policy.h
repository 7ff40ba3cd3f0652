/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REPORT_POLICY_H
#define IC_REPORT_POLICY_H

/*
 * What a finding means for the decision, by the class of the image, its history and the configuration.
 * Pure: nothing is asked, nothing is allocated.
 */

#include "manifest/images.h"
#include "source/config.h"

struct ic_judgement {
	enum imgcheck_verdict verdict; /* what was found, or that the image is skipped; of images only */
	enum imgcheck_outcome outcome;
	enum imgcheck_decision effect;
	bool unproven;           /* on-unproven made a warning of a veto */
	const char *why_skipped; /* static, where the policy itself skips the image; else NULL */
};

/* An image, for which the registries gave the verdict `found`; proven: its host gave an `ok`, now or before. */
struct ic_judgement ic_policy_judge_image(const struct imgcheck_config *c, const struct imgcheck_image *m,
                                          enum imgcheck_verdict found, bool proven);

/* A problem of the set of images, by the code of its error. */
struct ic_judgement ic_policy_judge_problem(const struct imgcheck_config *c, enum imgcheck_err code);

#endif
