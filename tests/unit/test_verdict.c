/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict.h"

#include <string.h>

#include "base/cleanup.h"
#include "test.h"

TEST(verdict, names_and_outcomes)
{
	static const struct {
		enum imgcheck_verdict verdict;
		const char *name, *outcome;
	} rows[] = {
		{IMGCHECK_VERDICT_OK, "ok", "ok"},
		{IMGCHECK_VERDICT_NOT_FOUND, "not-found", "missing"},
		{IMGCHECK_VERDICT_NO_PLATFORM, "no-platform", "missing"},
		{IMGCHECK_VERDICT_INCOMPLETE, "incomplete", "missing"},
		{IMGCHECK_VERDICT_CORRUPT, "corrupt", "missing"},
		{IMGCHECK_VERDICT_INVALID, "invalid", "missing"},
		{IMGCHECK_VERDICT_UNAUTHORIZED, "unauthorized", "access"},
		{IMGCHECK_VERDICT_DENIED, "denied", "access"},
		{IMGCHECK_VERDICT_UNREACHABLE, "unreachable", "undecided"},
		{IMGCHECK_VERDICT_TLS, "tls", "undecided"},
		{IMGCHECK_VERDICT_RATE_LIMITED, "rate-limited", "undecided"},
		{IMGCHECK_VERDICT_SERVER_ERROR, "server-error", "undecided"},
		{IMGCHECK_VERDICT_NOT_A_REGISTRY, "not-a-registry", "undecided"},
		{IMGCHECK_VERDICT_DEADLINE, "deadline", "undecided"},
		{IMGCHECK_VERDICT_SKIPPED, "skipped", "skipped"},
	};

	cr_assert_eq(IC_COUNT(rows), IMGCHECK_VERDICT_SKIPPED + 1);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		cr_assert_str_eq(imgcheck_verdict_name(rows[i].verdict), rows[i].name);
		cr_assert_str_eq(imgcheck_outcome_name(ic_verdict_outcome(rows[i].verdict)), rows[i].outcome, "%s", rows[i].name);
	}
}

TEST(verdict, names_of_outcomes_and_decisions)
{
	static const char *const outcomes[] = {"ok", "skipped", "missing", "already-missing", "access", "undecided", "hint",
	                                       "unresolved", "unreadable", "internal"};
	static const char *const decisions[] = {"allow", "warn", "veto"};

	for (size_t i = 0; i < IC_COUNT(outcomes); i++)
		cr_assert_str_eq(imgcheck_outcome_name((enum imgcheck_outcome)i), outcomes[i]);
	for (size_t i = 0; i < IC_COUNT(decisions); i++)
		cr_assert_str_eq(imgcheck_decision_name((enum imgcheck_decision)i), decisions[i]);
}

TEST(verdict, what_is_no_enumerator_has_a_name_too)
{
	cr_assert_str_eq(imgcheck_verdict_name((enum imgcheck_verdict)99), "unknown");
	cr_assert_str_eq(imgcheck_outcome_name((enum imgcheck_outcome)99), "unknown");
	cr_assert_str_eq(imgcheck_decision_name((enum imgcheck_decision)99), "unknown");
	cr_assert_eq(ic_verdict_outcome((enum imgcheck_verdict)99), IMGCHECK_OUTCOME_INTERNAL);
}

TEST(verdict, version_is_that_of_the_header)
{
	cr_assert_str_eq(imgcheck_version(), IMGCHECK_VERSION);
}
