/* SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include "verdict.h"

static const char *why_skipped(const struct imgcheck_config *c, const struct imgcheck_image *m)
{
	if (m->ignored)
		return "ignored by the description of the target";
	if (ic_config_ignores(c, m->text))
		return "ignored by the configuration";
	if (ic_image_is_local(m))
		return "imagePullPolicy is Never everywhere, so no registry is asked";
	return NULL;
}

static enum imgcheck_outcome image_outcome(const struct imgcheck_image *m, enum imgcheck_verdict verdict)
{
	enum imgcheck_outcome outcome = ic_verdict_outcome(verdict);

	if (outcome == IMGCHECK_OUTCOME_OK || outcome == IMGCHECK_OUTCOME_SKIPPED)
		return outcome;
	if (imgcheck_image_class(m) == IMGCHECK_CLASS_HINT)
		return IMGCHECK_OUTCOME_HINT;
	/* Only what is surely missing was surely missing before; the rest may be new. */
	if (outcome == IMGCHECK_OUTCOME_MISSING && m->known)
		return IMGCHECK_OUTCOME_ALREADY_MISSING;
	return outcome;
}

struct ic_judgement ic_policy_judge_image(const struct imgcheck_config *c, const struct imgcheck_image *m,
                                          enum imgcheck_verdict found, bool proven)
{
	struct ic_judgement j = {.verdict = found, .why_skipped = why_skipped(c, m)};

	if (j.why_skipped)
		j.verdict = IMGCHECK_VERDICT_SKIPPED;
	j.outcome = image_outcome(m, j.verdict);
	j.effect = ic_config_effect(c, j.outcome);
	j.unproven = (j.outcome == IMGCHECK_OUTCOME_ACCESS || j.outcome == IMGCHECK_OUTCOME_UNDECIDED) &&
	             j.effect == IMGCHECK_DECISION_VETO && !proven && !ic_config_trusts_unproven(c);
	if (j.unproven)
		j.effect = IMGCHECK_DECISION_WARN;
	return j;
}

static enum imgcheck_outcome problem_outcome(enum imgcheck_err code)
{
	switch (code) {
	case IMGCHECK_OK:
	case IMGCHECK_ERR_FINDING:
		return IMGCHECK_OUTCOME_OK;
	case IMGCHECK_ERR_UNRESOLVED:
		return IMGCHECK_OUTCOME_UNRESOLVED;
	case IMGCHECK_ERR_CONFIG:
	case IMGCHECK_ERR_IO:
	case IMGCHECK_ERR_SYNTAX:
	case IMGCHECK_ERR_UNSUPPORTED:
	case IMGCHECK_ERR_LIMIT:
		return IMGCHECK_OUTCOME_UNREADABLE;
	case IMGCHECK_ERR_NOMEM:
	case IMGCHECK_ERR_ARGUMENT:
	case IMGCHECK_ERR_INTERNAL:
	case IMGCHECK_ERR_REGISTRY:
	case IMGCHECK_ERR_CONFLICT:
		return IMGCHECK_OUTCOME_INTERNAL;
	}
	return IMGCHECK_OUTCOME_INTERNAL;
}

struct ic_judgement ic_policy_judge_problem(const struct imgcheck_config *c, enum imgcheck_err code)
{
	enum imgcheck_outcome outcome = problem_outcome(code);

	return (struct ic_judgement){.outcome = outcome, .effect = ic_config_effect(c, outcome)};
}
