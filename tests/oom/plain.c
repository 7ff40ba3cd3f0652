/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"
#include "oom.h"

/* Makes the call while every allocation fails; there must be none. */
#define PLAIN(a, name, ...)                                               \
	do {                                                                  \
		alloc_arm(1, true);                                               \
		(void)name(__VA_ARGS__);                                          \
		alloc_disarm();                                                   \
		attempt_check((a), alloc_count() == 0, #name " allocates memory"); \
		(void)fprintf((a)->told, "%s\n", #name);                          \
	} while (0)

/* The same for a function without a result. */
#define PLAIN_VOID(a, name, ...)                                          \
	do {                                                                  \
		alloc_arm(1, true);                                               \
		name(__VA_ARGS__);                                                \
		alloc_disarm();                                                   \
		attempt_check((a), alloc_count() == 0, #name " allocates memory"); \
		(void)fprintf((a)->told, "%s\n", #name);                          \
	} while (0)

static void errors(struct attempt *a, struct imgcheck_images *s)
{
	struct imgcheck_error *err = NULL;
	unsigned line, column;

	must(imgcheck_images_set_values(s, "{", 1, &err) < 0 && err, "fail");
	PLAIN(a, imgcheck_error_code, err);
	PLAIN(a, imgcheck_error_message, err);
	PLAIN(a, imgcheck_error_place, err, &line, &column);
	PLAIN_VOID(a, imgcheck_error_free, err);
}

static void images(struct attempt *a, const struct imgcheck_images *s)
{
	const struct imgcheck_image *m = imgcheck_images_get(s, 0);

	must(m != NULL, "have an image");
	PLAIN(a, imgcheck_images_count, s);
	PLAIN(a, imgcheck_images_get, s, 0);
	PLAIN(a, imgcheck_images_problem, s, 0);
	PLAIN(a, imgcheck_image_ref, m);
	PLAIN(a, imgcheck_image_class, m);
	for (int p = IMGCHECK_PART_REGISTRY; p <= IMGCHECK_PART_DIGEST; p++)
		PLAIN(a, imgcheck_image_part, m, (enum imgcheck_part)p);
	PLAIN(a, imgcheck_image_source, m);
	for (int f = IMGCHECK_FIELD_FILE; f <= IMGCHECK_FIELD_NAMESPACE; f++)
		PLAIN(a, imgcheck_image_origin, m, 0, (enum imgcheck_field)f);
}

static void target(struct attempt *a)
{
	struct imgcheck_target *t;

	must(imgcheck_target_open("tests/oom/data/target", NULL, &t, NULL) == 0, "open a target");
	PLAIN(a, imgcheck_target_config_key, t, 0);
	PLAIN(a, imgcheck_target_env_name, t, 0);
	PLAIN_VOID(a, imgcheck_target_free, t);
}

static void report(struct attempt *a, struct imgcheck_report *p)
{
	PLAIN(a, imgcheck_report_decision, p);
	PLAIN(a, imgcheck_report_count, p);
	PLAIN(a, imgcheck_report_verdict, p, 0);
	PLAIN(a, imgcheck_report_outcome, p, 0);
	PLAIN(a, imgcheck_report_effect, p, 0);
	for (int t = IMGCHECK_TEXT_REFERENCE; t <= IMGCHECK_TEXT_SOURCE; t++)
		PLAIN(a, imgcheck_report_text, p, 0, (enum imgcheck_text)t);
	PLAIN(a, imgcheck_report_vetoes, p, IMGCHECK_OUTCOME_MISSING);
	PLAIN_VOID(a, imgcheck_report_free, p);
}

void call_plain_functions(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_config *c = new_config();
	struct imgcheck_run *r;
	struct imgcheck_report *p;
	const char *name, *argument, *help;

	must(imgcheck_images_add_ref(s, "127.0.0.1:1/there/is:none", NULL) == 0, "add a reference");
	PLAIN(a, imgcheck_version);
	PLAIN(a, imgcheck_option_info, IMGCHECK_OPTION_DEPTH, &name, &argument, &help);
	PLAIN(a, imgcheck_verdict_name, IMGCHECK_VERDICT_TLS);
	PLAIN(a, imgcheck_outcome_name, IMGCHECK_OUTCOME_HINT);
	PLAIN(a, imgcheck_decision_name, IMGCHECK_DECISION_WARN);
	PLAIN_VOID(a, imgcheck_config_set_login_fn, c, NULL, NULL);
	PLAIN_VOID(a, imgcheck_config_set_event_fn, c, NULL, NULL);
	PLAIN_VOID(a, imgcheck_config_set_no_mirrors, c);
	errors(a, s);
	images(a, s);
	target(a);
	must(imgcheck_run_new(c, s, &r, NULL) == 0, "make a run");
	PLAIN(a, imgcheck_run_fd, r);
	PLAIN_VOID(a, imgcheck_run_cancel, r);
	must(imgcheck_run_take_report(r, &p, NULL) == 0, "take a report");
	report(a, p);
	PLAIN_VOID(a, imgcheck_run_free, r);
	PLAIN_VOID(a, imgcheck_images_free, s);
	PLAIN_VOID(a, imgcheck_config_free, c);
}
