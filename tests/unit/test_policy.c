/* SPDX-License-Identifier: Apache-2.0 */
#include "report/policy.h"

#include <string.h>

#include "test.h"

/* An image with one place. */
static struct imgcheck_images *set_with(const char *text, enum imgcheck_class class, const char *pull_policy)
{
	struct ic_place place = {.file = "f", .line = 1, .class = class, .pull_policy = pull_policy};
	struct imgcheck_images *s;

	cr_assert(imgcheck_images_new(&s) == 0);
	cr_assert(ic_images_add(s, text, strlen(text), &place, NULL, NULL) == 0);
	return s;
}

static struct imgcheck_config *config_with(enum imgcheck_option o, const char *value)
{
	struct imgcheck_config *c;

	cr_assert(imgcheck_config_new(&c) == 0);
	cr_assert(imgcheck_config_set(c, o, value, NULL) == 0);
	return c;
}

TEST(policy, an_image_by_verdict_class_and_history)
{
	static const struct {
		enum imgcheck_verdict verdict;
		enum imgcheck_class class;
		bool known;
		enum imgcheck_outcome outcome;
		enum imgcheck_decision effect;
	} rows[] = {
		{IMGCHECK_VERDICT_OK, IMGCHECK_CLASS_REQUIRED, false, IMGCHECK_OUTCOME_OK, IMGCHECK_DECISION_ALLOW},
		{IMGCHECK_VERDICT_OK, IMGCHECK_CLASS_HINT, true, IMGCHECK_OUTCOME_OK, IMGCHECK_DECISION_ALLOW},
		{IMGCHECK_VERDICT_SKIPPED, IMGCHECK_CLASS_HINT, false, IMGCHECK_OUTCOME_SKIPPED, IMGCHECK_DECISION_ALLOW},
		{IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_CLASS_REQUIRED, false, IMGCHECK_OUTCOME_MISSING, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_CLASS_MENTIONED, false, IMGCHECK_OUTCOME_MISSING, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_CLASS_REQUIRED, true, IMGCHECK_OUTCOME_ALREADY_MISSING, IMGCHECK_DECISION_WARN},
		{IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_CLASS_HINT, false, IMGCHECK_OUTCOME_HINT, IMGCHECK_DECISION_WARN},
		{IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_CLASS_HINT, true, IMGCHECK_OUTCOME_HINT, IMGCHECK_DECISION_WARN},
		{IMGCHECK_VERDICT_INVALID, IMGCHECK_CLASS_REQUIRED, false, IMGCHECK_OUTCOME_MISSING, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_CORRUPT, IMGCHECK_CLASS_REQUIRED, true, IMGCHECK_OUTCOME_ALREADY_MISSING, IMGCHECK_DECISION_WARN},
		{IMGCHECK_VERDICT_UNAUTHORIZED, IMGCHECK_CLASS_REQUIRED, false, IMGCHECK_OUTCOME_ACCESS, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_DENIED, IMGCHECK_CLASS_REQUIRED, true, IMGCHECK_OUTCOME_ACCESS, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_TLS, IMGCHECK_CLASS_REQUIRED, true, IMGCHECK_OUTCOME_UNDECIDED, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_DEADLINE, IMGCHECK_CLASS_HINT, false, IMGCHECK_OUTCOME_HINT, IMGCHECK_DECISION_WARN},
	};
	struct imgcheck_config *c;

	cr_assert(imgcheck_config_new(&c) == 0);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = set_with("a.b/c:1", rows[i].class, NULL);
		struct imgcheck_images *before = set_with(rows[i].known ? "a.b/c:1" : "a.b/c:0", IMGCHECK_CLASS_REQUIRED, NULL);
		struct ic_judgement j;

		cr_assert(imgcheck_images_mark_known(s, before, NULL) == 0);
		j = ic_policy_judge_image(c, imgcheck_images_get(s, 0), rows[i].verdict, true);
		cr_assert_eq(j.verdict, rows[i].verdict, "row %zu", i);
		cr_assert_eq(j.outcome, rows[i].outcome, "row %zu: %s", i, imgcheck_outcome_name(j.outcome));
		cr_assert_eq(j.effect, rows[i].effect, "row %zu: %s", i, imgcheck_decision_name(j.effect));
		cr_assert_null(j.why_skipped);
		imgcheck_images_free(before);
		imgcheck_images_free(s);
	}
	imgcheck_config_free(c);
}

TEST(policy, what_is_ignored_or_local_is_skipped_whatever_was_found)
{
	static const struct {
		const char *glob, *pull_policy, *why;
	} rows[] = {
		{"a.b/*", NULL, "ignored by the configuration"},
		{"x/*", "Never", "imagePullPolicy is Never everywhere, so no registry is asked"},
		{"x/*", "Always", NULL},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_config *c = config_with(IMGCHECK_OPTION_IGNORE, rows[i].glob);
		struct imgcheck_images *s = set_with("a.b/c:1", IMGCHECK_CLASS_REQUIRED, rows[i].pull_policy);
		struct ic_judgement j = ic_policy_judge_image(c, imgcheck_images_get(s, 0), IMGCHECK_VERDICT_NOT_FOUND, true);

		if (rows[i].why) {
			cr_assert_str_eq(j.why_skipped, rows[i].why);
			cr_assert(j.verdict == IMGCHECK_VERDICT_SKIPPED && j.outcome == IMGCHECK_OUTCOME_SKIPPED);
			cr_assert_eq(j.effect, IMGCHECK_DECISION_ALLOW);
		} else {
			cr_assert_null(j.why_skipped);
			cr_assert_eq(j.effect, IMGCHECK_DECISION_VETO);
		}
		imgcheck_images_free(s);
		imgcheck_config_free(c);
	}
}

TEST(policy, what_the_target_ignores_is_skipped)
{
	struct ic_vec globs;
	struct imgcheck_images *s = set_with("a.b/c:1", IMGCHECK_CLASS_REQUIRED, NULL);
	struct imgcheck_config *c = config_with(IMGCHECK_OPTION_ON_MISSING, "veto");
	struct ic_judgement j;

	ic_texts_init(&globs, 1);
	cr_assert(ic_texts_push(&globs, "*/c:1", 5, NULL) == 0);
	ic_images_ignore(s, &globs);
	j = ic_policy_judge_image(c, imgcheck_images_get(s, 0), IMGCHECK_VERDICT_NOT_FOUND, true);
	cr_assert_str_eq(j.why_skipped, "ignored by the description of the target");
	cr_assert_eq(j.outcome, IMGCHECK_OUTCOME_SKIPPED);
	ic_texts_clear(&globs);
	imgcheck_images_free(s);
	imgcheck_config_free(c);
}

TEST(policy, problems_by_their_code)
{
	static const struct {
		enum imgcheck_err code;
		enum imgcheck_outcome outcome;
		enum imgcheck_decision effect;
	} rows[] = {
		{IMGCHECK_ERR_FINDING, IMGCHECK_OUTCOME_OK, IMGCHECK_DECISION_ALLOW},
		{IMGCHECK_ERR_UNRESOLVED, IMGCHECK_OUTCOME_UNRESOLVED, IMGCHECK_DECISION_WARN},
		{IMGCHECK_ERR_CONFIG, IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_DECISION_VETO},
		{IMGCHECK_ERR_IO, IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_DECISION_VETO},
		{IMGCHECK_ERR_SYNTAX, IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_DECISION_VETO},
		{IMGCHECK_ERR_UNSUPPORTED, IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_DECISION_VETO},
		{IMGCHECK_ERR_LIMIT, IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_DECISION_VETO},
		{IMGCHECK_ERR_NOMEM, IMGCHECK_OUTCOME_INTERNAL, IMGCHECK_DECISION_WARN},
		{IMGCHECK_ERR_ARGUMENT, IMGCHECK_OUTCOME_INTERNAL, IMGCHECK_DECISION_WARN},
		{IMGCHECK_ERR_INTERNAL, IMGCHECK_OUTCOME_INTERNAL, IMGCHECK_DECISION_WARN},
	};
	struct imgcheck_config *c;

	cr_assert(imgcheck_config_new(&c) == 0);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_judgement j = ic_policy_judge_problem(c, rows[i].code);

		cr_assert_eq(j.outcome, rows[i].outcome, "code %d", rows[i].code);
		cr_assert_eq(j.effect, rows[i].effect, "code %d", rows[i].code);
	}
	imgcheck_config_free(c);
}

TEST(policy, the_configuration_gives_the_effect)
{
	static const struct {
		enum imgcheck_option option;
		const char *value;
		enum imgcheck_verdict verdict;
		enum imgcheck_decision effect;
	} rows[] = {
		{IMGCHECK_OPTION_ON_MISSING, "warn", IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_DECISION_WARN},
		{IMGCHECK_OPTION_ON_ACCESS, "warn", IMGCHECK_VERDICT_NOT_FOUND, IMGCHECK_DECISION_VETO},
		{IMGCHECK_OPTION_ON_ACCESS, "warn", IMGCHECK_VERDICT_DENIED, IMGCHECK_DECISION_WARN},
		{IMGCHECK_OPTION_ON_UNDECIDED, "warn", IMGCHECK_VERDICT_UNREACHABLE, IMGCHECK_DECISION_WARN},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_config *c = config_with(rows[i].option, rows[i].value);
		struct imgcheck_images *s = set_with("a.b/c:1", IMGCHECK_CLASS_REQUIRED, NULL);

		cr_assert_eq(ic_policy_judge_image(c, imgcheck_images_get(s, 0), rows[i].verdict, true).effect, rows[i].effect,
		             "row %zu", i);
		imgcheck_images_free(s);
		imgcheck_config_free(c);
	}
}

TEST(policy, a_host_that_never_gave_an_image_only_warns)
{
	static const struct {
		enum imgcheck_verdict verdict;
		bool proven;
		enum imgcheck_decision effect;
	} rows[] = {
		{IMGCHECK_VERDICT_UNAUTHORIZED, false, IMGCHECK_DECISION_WARN},
		{IMGCHECK_VERDICT_UNAUTHORIZED, true, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_UNREACHABLE, false, IMGCHECK_DECISION_WARN},
		{IMGCHECK_VERDICT_DEADLINE, true, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_NOT_FOUND, false, IMGCHECK_DECISION_VETO},
		{IMGCHECK_VERDICT_CORRUPT, false, IMGCHECK_DECISION_VETO},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_config *c = config_with(IMGCHECK_OPTION_ON_UNPROVEN, "warn");
		struct imgcheck_images *s = set_with("a.b/c:1", IMGCHECK_CLASS_REQUIRED, NULL);
		struct ic_judgement j = ic_policy_judge_image(c, imgcheck_images_get(s, 0), rows[i].verdict, rows[i].proven);

		cr_assert_eq(j.effect, rows[i].effect, "row %zu", i);
		cr_assert_eq(j.unproven, rows[i].effect == IMGCHECK_DECISION_WARN, "row %zu", i);
		imgcheck_images_free(s);
		imgcheck_config_free(c);
	}
}
