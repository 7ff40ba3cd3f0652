/* SPDX-License-Identifier: Apache-2.0 */

/* What imgcheck.h promises of every call: NULL is an error or nothing, never a crash, and outputs are cleared first. */

#include <stdlib.h>

#include "imgcheck.h"
#include "test.h"

/* A pointer that nobody may look at: outputs that a call forgets to clear still hold it. */
#define STALE ((void *)(size_t)1)

/* The call fails with ARGUMENT and says so. */
#define REFUSES(call)                                                                    \
	do {                                                                             \
		struct imgcheck_error *err = NULL;                                       \
		cr_assert_eq((call), IMGCHECK_ERR_ARGUMENT, #call);                      \
		cr_assert_eq(imgcheck_error_code(err), IMGCHECK_ERR_ARGUMENT, #call);    \
		cr_assert_neq(imgcheck_error_message(err)[0], '\0', #call);              \
		imgcheck_error_free(err);                                                \
	} while (0)

static struct imgcheck_config *new_config(void)
{
	struct imgcheck_config *c = NULL;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	return c;
}

static struct imgcheck_images *new_images(void)
{
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	return s;
}

TEST(api, frees_take_null)
{
	imgcheck_error_free(NULL);
	imgcheck_images_free(NULL);
	imgcheck_target_free(NULL);
	imgcheck_config_free(NULL);
	imgcheck_run_free(NULL);
	imgcheck_report_free(NULL);
	imgcheck_run_cancel(NULL);
	imgcheck_config_set_login_fn(NULL, NULL, NULL);
	imgcheck_config_set_event_fn(NULL, NULL, NULL);
	imgcheck_config_set_no_mirrors(NULL);
}

TEST(api, getters_answer_nothing_for_null)
{
	unsigned line = 7, column = 7;

	cr_assert_eq(imgcheck_error_code(NULL), IMGCHECK_OK);
	cr_assert_str_eq(imgcheck_error_message(NULL), "");
	cr_assert_null(imgcheck_error_place(NULL, &line, &column));
	cr_assert(line == 0 && column == 0);
	cr_assert_eq(imgcheck_images_count(NULL), 0);
	cr_assert_null(imgcheck_images_get(NULL, 0));
	cr_assert_null(imgcheck_images_problem(NULL, 0));
	cr_assert_null(imgcheck_image_ref(NULL));
	cr_assert_null(imgcheck_image_part(NULL, IMGCHECK_PART_TAG));
	cr_assert_null(imgcheck_image_source(NULL));
	cr_assert_null(imgcheck_image_origin(NULL, 0, IMGCHECK_FIELD_FILE));
	cr_assert_eq(imgcheck_image_class(NULL), IMGCHECK_CLASS_HINT);
	cr_assert_null(imgcheck_target_config_key(NULL, 0));
	cr_assert_null(imgcheck_target_env_name(NULL, 0));
	cr_assert_lt(imgcheck_run_fd(NULL), 0);
	cr_assert_eq(imgcheck_report_decision(NULL), IMGCHECK_DECISION_VETO);
	cr_assert_eq(imgcheck_report_count(NULL), 0);
	cr_assert_eq(imgcheck_report_verdict(NULL, 0), IMGCHECK_VERDICT_DEADLINE);
	cr_assert_eq(imgcheck_report_outcome(NULL, 0), IMGCHECK_OUTCOME_UNDECIDED);
	cr_assert_eq(imgcheck_report_effect(NULL, 0), IMGCHECK_DECISION_VETO);
	cr_assert_null(imgcheck_report_text(NULL, 0, IMGCHECK_TEXT_REASON));
	cr_assert_eq(imgcheck_report_vetoes(NULL, IMGCHECK_OUTCOME_MISSING), 0);
}

TEST(api, names_of_what_is_no_enumerator)
{
	cr_assert_str_eq(imgcheck_verdict_name((enum imgcheck_verdict)1000), "unknown");
	cr_assert_str_eq(imgcheck_outcome_name((enum imgcheck_outcome)1000), "unknown");
	cr_assert_str_eq(imgcheck_decision_name((enum imgcheck_decision)1000), "unknown");
	cr_assert_not(imgcheck_option_info((enum imgcheck_option)1000, NULL, NULL, NULL));
}

TEST(api, images_refuse_null)
{
	struct imgcheck_images *s = new_images();
	char *text = STALE;
	size_t len = 7;

	cr_assert_eq(imgcheck_images_new(NULL), IMGCHECK_ERR_ARGUMENT);
	REFUSES(imgcheck_images_set_values(NULL, "{}", 2, &err));
	REFUSES(imgcheck_images_set_values(s, NULL, 2, &err));
	REFUSES(imgcheck_images_set_value(NULL, "a", "b", &err));
	REFUSES(imgcheck_images_set_value(s, NULL, "b", &err));
	REFUSES(imgcheck_images_add_path(NULL, ".", &err));
	REFUSES(imgcheck_images_add_path(s, NULL, &err));
	REFUSES(imgcheck_images_add_data(NULL, "a", "b", 1, &err));
	REFUSES(imgcheck_images_add_data(s, NULL, "b", 1, &err));
	REFUSES(imgcheck_images_add_data(s, "a", NULL, 1, &err));
	REFUSES(imgcheck_images_add_ref(NULL, "a", &err));
	REFUSES(imgcheck_images_add_ref(s, NULL, &err));
	REFUSES(imgcheck_images_mark_known(NULL, s, &err));
	REFUSES(imgcheck_images_mark_known(s, NULL, &err));
	REFUSES(imgcheck_images_mark_found(NULL, "a", "b", "c", &err));
	REFUSES(imgcheck_images_mark_found(s, "a", "b", NULL, &err));
	REFUSES(imgcheck_images_subtract(NULL, s, &err));
	REFUSES(imgcheck_images_subtract(s, s, &err));
	REFUSES(imgcheck_images_add_target(s, NULL, &err));
	REFUSES(imgcheck_images_render(s, "a", NULL, &len, &err));
	REFUSES(imgcheck_images_render(s, NULL, &text, &len, &err));
	cr_assert(text == NULL && len == 0);
	cr_assert_eq(imgcheck_images_count(s), 0);
	cr_assert_null(imgcheck_images_problem(s, 0));
	imgcheck_images_free(s);
}

TEST(api, targets_refuse_null)
{
	struct imgcheck_target *t = STALE;
	char *text = STALE;
	bool configured = true;

	REFUSES(imgcheck_target_open(".", NULL, NULL, &err));
	REFUSES(imgcheck_target_open(NULL, NULL, &t, &err));
	cr_assert_null(t);
	REFUSES(imgcheck_target_set_config(NULL, "{}", 2, &err));
	REFUSES(imgcheck_target_set_env(NULL, "a", "b", &err));
	REFUSES(imgcheck_target_value(NULL, "a", &text, &err));
	cr_assert_null(text);
	REFUSES(imgcheck_target_configured(NULL, &configured, &err));
	cr_assert_not(configured);
}

TEST(api, other_calls_refuse_null)
{
	struct imgcheck_config *c = new_config();
	char *json = STALE;

	REFUSES(imgcheck_tag_move(NULL, "a.b/c:1", "sha256:", NULL, &err));
	REFUSES(imgcheck_tag_move(c, NULL, "sha256:", NULL, &err));
	REFUSES(imgcheck_tag_move(c, "a.b/c:1", NULL, NULL, &err));
	REFUSES(imgcheck_yaml_read("/dev/null", NULL, &err));
	REFUSES(imgcheck_yaml_read(NULL, &json, &err));
	cr_assert_null(json);
	imgcheck_config_free(c);
}

TEST(api, configs_refuse_null)
{
	struct imgcheck_config *c = new_config();
	char *text = STALE;
	size_t len = 7;

	cr_assert_eq(imgcheck_config_new(NULL), IMGCHECK_ERR_ARGUMENT);
	REFUSES(imgcheck_config_set(NULL, IMGCHECK_OPTION_DEPTH, "tag", &err));
	REFUSES(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, NULL, &err));
	REFUSES(imgcheck_config_set(c, (enum imgcheck_option)1000, "tag", &err));
	REFUSES(imgcheck_config_read(NULL, IMGCHECK_FILE_AUTH, "/dev/null", &err));
	REFUSES(imgcheck_config_read(c, IMGCHECK_FILE_AUTH, NULL, &err));
	REFUSES(imgcheck_config_read_data(NULL, IMGCHECK_FILE_AUTH, "a", "{}", 2, &err));
	REFUSES(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, NULL, "{}", 2, &err));
	REFUSES(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "a", NULL, 2, &err));
	REFUSES(imgcheck_config_read_data(c, (enum imgcheck_file)1000, "a", "{}", 2, &err));
	REFUSES(imgcheck_config_set_login(NULL, NULL, "a", "b", &err));
	REFUSES(imgcheck_config_set_login(c, NULL, NULL, "b", &err));
	REFUSES(imgcheck_config_set_login(c, NULL, "a", NULL, &err));
	REFUSES(imgcheck_config_explain(c, "a", IMGCHECK_FORMAT_TEXT, NULL, &len, &err));
	REFUSES(imgcheck_config_explain(c, "a", (enum imgcheck_format)1000, &text, &len, &err));
	REFUSES(imgcheck_config_explain(NULL, "a", IMGCHECK_FORMAT_TEXT, &text, &len, &err));
	cr_assert(text == NULL && len == 0);
	imgcheck_config_free(c);
}

TEST(api, runs_and_reports_refuse_null)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_images *s = new_images();
	struct imgcheck_run *r = STALE;
	struct imgcheck_report *p = STALE;
	char *text = STALE;
	size_t len = 7;

	REFUSES(imgcheck_run_new(NULL, s, &r, &err));
	cr_assert_null(r);
	REFUSES(imgcheck_run_new(c, NULL, &r, &err));
	REFUSES(imgcheck_run_new(c, s, NULL, &err));
	REFUSES(imgcheck_run_step(NULL, 0, &err));
	REFUSES(imgcheck_run_take_report(NULL, &p, &err));
	cr_assert_null(p);
	p = STALE;
	REFUSES(imgcheck_check(NULL, s, &p, &err));
	cr_assert_null(p);
	REFUSES(imgcheck_check(c, NULL, &p, &err));
	REFUSES(imgcheck_check(c, s, NULL, &err));
	REFUSES(imgcheck_report_render(NULL, IMGCHECK_FORMAT_TEXT, &text, &len, &err));
	cr_assert(text == NULL && len == 0);
	cr_assert_eq(imgcheck_check(c, s, &p, NULL), 0);
	REFUSES(imgcheck_report_render(p, IMGCHECK_FORMAT_TEXT, NULL, &len, &err));
	REFUSES(imgcheck_report_render(p, (enum imgcheck_format)1000, &text, &len, &err));
	imgcheck_report_free(p);
	imgcheck_images_free(s);
	imgcheck_config_free(c);
}

/* The results of a run are those of the images by their order: a set that grew would read past them. */
TEST(api, what_a_run_holds_is_not_changed)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_images *s = new_images(), *other = new_images();
	struct imgcheck_target *target = NULL;
	struct imgcheck_report *p = NULL;
	struct imgcheck_run *first, *second;

	cr_assert_eq(imgcheck_target_open(".", test_data("target/cdk-addons/imgcheck.yaml"), &target, NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(s, "UPPER/is/none", NULL), 0);
	cr_assert_eq(imgcheck_run_new(c, s, &first, NULL), 0);
	cr_assert_eq(imgcheck_run_new(c, s, &second, NULL), 0);
	imgcheck_run_free(first);
	REFUSES(imgcheck_images_set_values(s, "{}", 2, &err));
	REFUSES(imgcheck_images_set_value(s, "a", "b", &err));
	REFUSES(imgcheck_images_add_path(s, "/dev/null", &err));
	REFUSES(imgcheck_images_add_data(s, "a", "image: b", 8, &err));
	REFUSES(imgcheck_images_add_ref(s, "a/b:1", &err));
	REFUSES(imgcheck_images_add_target(s, target, &err));
	REFUSES(imgcheck_images_mark_known(s, other, &err));
	REFUSES(imgcheck_images_mark_found(s, "a", "b", "c", &err));
	REFUSES(imgcheck_images_subtract(s, other, &err));
	REFUSES(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, "tag", &err));
	cr_assert_eq(imgcheck_run_take_report(second, &p, NULL), 0);
	cr_expect_eq(imgcheck_report_count(p), 1);
	imgcheck_run_free(second);
	cr_expect_eq(imgcheck_images_add_ref(s, "a/b:1", NULL), 0, "nobody holds it any more");
	REFUSES(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, "tag", &err));
	imgcheck_report_free(p);
	imgcheck_target_free(target);
	imgcheck_images_free(other);
	imgcheck_images_free(s);
	imgcheck_config_free(c);
}
