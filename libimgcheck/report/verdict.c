/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include "base/cleanup.h"

#define UNKNOWN "unknown" /* the name of a value that is no enumerator */

static const struct {
	const char *name;
	enum imgcheck_outcome outcome;
} verdicts[] = {
	[IMGCHECK_VERDICT_OK] = {"ok", IMGCHECK_OUTCOME_OK},
	[IMGCHECK_VERDICT_NOT_FOUND] = {"not-found", IMGCHECK_OUTCOME_MISSING},
	[IMGCHECK_VERDICT_NO_PLATFORM] = {"no-platform", IMGCHECK_OUTCOME_MISSING},
	[IMGCHECK_VERDICT_INCOMPLETE] = {"incomplete", IMGCHECK_OUTCOME_MISSING},
	[IMGCHECK_VERDICT_CORRUPT] = {"corrupt", IMGCHECK_OUTCOME_MISSING},
	[IMGCHECK_VERDICT_INVALID] = {"invalid", IMGCHECK_OUTCOME_MISSING},
	[IMGCHECK_VERDICT_UNAUTHORIZED] = {"unauthorized", IMGCHECK_OUTCOME_ACCESS},
	[IMGCHECK_VERDICT_DENIED] = {"denied", IMGCHECK_OUTCOME_ACCESS},
	[IMGCHECK_VERDICT_UNREACHABLE] = {"unreachable", IMGCHECK_OUTCOME_UNDECIDED},
	[IMGCHECK_VERDICT_TLS] = {"tls", IMGCHECK_OUTCOME_UNDECIDED},
	[IMGCHECK_VERDICT_RATE_LIMITED] = {"rate-limited", IMGCHECK_OUTCOME_UNDECIDED},
	[IMGCHECK_VERDICT_SERVER_ERROR] = {"server-error", IMGCHECK_OUTCOME_UNDECIDED},
	[IMGCHECK_VERDICT_NOT_A_REGISTRY] = {"not-a-registry", IMGCHECK_OUTCOME_UNDECIDED},
	[IMGCHECK_VERDICT_DEADLINE] = {"deadline", IMGCHECK_OUTCOME_UNDECIDED},
	[IMGCHECK_VERDICT_SKIPPED] = {"skipped", IMGCHECK_OUTCOME_SKIPPED},
};

static const char *const outcomes[] = {
	[IMGCHECK_OUTCOME_OK] = "ok",
	[IMGCHECK_OUTCOME_SKIPPED] = "skipped",
	[IMGCHECK_OUTCOME_MISSING] = "missing",
	[IMGCHECK_OUTCOME_ALREADY_MISSING] = "already-missing",
	[IMGCHECK_OUTCOME_ACCESS] = "access",
	[IMGCHECK_OUTCOME_UNDECIDED] = "undecided",
	[IMGCHECK_OUTCOME_HINT] = "hint",
	[IMGCHECK_OUTCOME_UNRESOLVED] = "unresolved",
	[IMGCHECK_OUTCOME_UNREADABLE] = "unreadable",
	[IMGCHECK_OUTCOME_INTERNAL] = "internal",
};

static const char *const decisions[] = {
	[IMGCHECK_DECISION_ALLOW] = "allow",
	[IMGCHECK_DECISION_WARN] = "warn",
	[IMGCHECK_DECISION_VETO] = "veto",
};

_Static_assert(IC_COUNT(verdicts) == IMGCHECK_VERDICT_SKIPPED + 1, "a verdict has no row");
_Static_assert(IC_COUNT(outcomes) == IMGCHECK_OUTCOME_INTERNAL + 1, "an outcome has no row");

enum imgcheck_outcome ic_verdict_outcome(enum imgcheck_verdict v)
{
	return (size_t)v < IC_COUNT(verdicts) ? verdicts[v].outcome : IMGCHECK_OUTCOME_INTERNAL;
}

const char *imgcheck_verdict_name(enum imgcheck_verdict v)
{
	return (size_t)v < IC_COUNT(verdicts) ? verdicts[v].name : UNKNOWN;
}

const char *imgcheck_outcome_name(enum imgcheck_outcome o)
{
	return (size_t)o < IC_COUNT(outcomes) ? outcomes[o] : UNKNOWN;
}

const char *imgcheck_decision_name(enum imgcheck_decision d)
{
	return (size_t)d < IC_COUNT(decisions) ? decisions[d] : UNKNOWN;
}
