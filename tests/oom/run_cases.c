/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"

#define REFERENCE_BYTES 256
#define INDEX "sha256:9d4be8a3e23a4d0fef91aeb2b698d3d65f5469bfdf39be7ff8ba29cb96005b1e" /* of data/registry.fault */

/* What a run needs; it asks the stand-in. */
struct made {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_run *run;
};

static void add(struct made *m, const char *image)
{
	char text[REFERENCE_BYTES];

	(void)snprintf(text, sizeof(text), "%s/%s", oom_host, image);
	must(imgcheck_images_add_ref(m->images, text, NULL) == 0, "add a reference");
}

static struct made make(const char *const *images)
{
	struct made m = {.config = new_config(), .images = new_images(NULL)};

	must(imgcheck_config_set(m.config, IMGCHECK_OPTION_PLAIN_HTTP, oom_host, NULL) == 0, "set an option");
	must(imgcheck_config_set(m.config, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL) == 0, "set an option");
	must(imgcheck_config_set(m.config, IMGCHECK_OPTION_DEADLINE, "30", NULL) == 0, "set an option");
	for (; *images; images++)
		add(&m, *images);
	return m;
}

static struct made make_run(const char *const *images)
{
	struct made m = make(images);

	must(imgcheck_run_new(m.config, m.images, &m.run, NULL) == 0, "make a run");
	return m;
}

static void end(struct made *m)
{
	imgcheck_run_free(m->run);
	imgcheck_images_free(m->images);
	imgcheck_config_free(m->config);
}

static const char *const good[] = {"good/image:1", NULL};
static const char *const mixture[] = {"open/image:1", "open/image:none", "moved/image:1", "incomplete/image:1",
                                      "open/image:denied", "open/Not-A-Reference:1", NULL};

static void new_run(struct attempt *a)
{
	struct made m = make(mixture);
	struct imgcheck_error *err = NULL;

	m.run = UNSET;
	CALL(a, imgcheck_run_new(m.config, m.images, &m.run, &err), err);
	attempt_check(a, a->result == 0 || !m.run, "*out is not cleared");
	end(&m);
}

/* The argument is the tag: one that is at the digest, or none yet. */
static void move_tag(struct attempt *a)
{
	struct made m = make(good);
	struct imgcheck_error *err = NULL;
	char ref[REFERENCE_BYTES];

	(void)snprintf(ref, sizeof(ref), "%s/%s", oom_host, a->argument);
	CALL(a, imgcheck_tag_move(m.config, ref, INDEX, strstr(ref, "free") ? NULL : INDEX, &err), err);
	end(&m);
}

static int run_to_its_end(struct imgcheck_run *r, struct imgcheck_error **err)
{
	int result;

	do
		result = imgcheck_run_step(r, -1, err);
	while (result > 0);
	return result;
}

/* After a failure there is a report still, which does not say ok of what was not decided. */
static void step(struct attempt *a, const char *const *images)
{
	struct made m = make_run(images);
	struct imgcheck_report *report;
	struct imgcheck_error *err = NULL;

	CALL(a, run_to_its_end(m.run, &err), err);
	must(imgcheck_run_take_report(m.run, &report, NULL) == 0, "take a report afterwards");
	if (a->result == 0)
		tell_report(a, report);
	imgcheck_report_free(report);
	end(&m);
}

static void step_good(struct attempt *a)
{
	step(a, good);
}

static void step_mixture(struct attempt *a)
{
	step(a, mixture);
}

static void check(struct attempt *a)
{
	struct made m = make(good);
	struct imgcheck_report *report = UNSET;
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_check(m.config, m.images, &report, &err), err);
	attempt_check(a, a->result == 0 || !report, "*out is not cleared");
	if (a->result == 0)
		tell_report(a, report);
	imgcheck_report_free(report);
	end(&m);
}

static void take_report(struct attempt *a)
{
	struct made m = make_run(mixture);
	struct imgcheck_report *report = UNSET;
	struct imgcheck_error *err = NULL;

	must(run_to_its_end(m.run, NULL) == 0, "run");
	CALL(a, imgcheck_run_take_report(m.run, &report, &err), err);
	attempt_check(a, a->result == 0 || !report, "*out is not cleared");
	if (a->result == 0)
		tell_report(a, report);
	imgcheck_report_free(report);
	end(&m);
}

static void render(struct attempt *a, enum imgcheck_format f)
{
	struct made m = make_run(mixture);
	struct imgcheck_report *report;
	struct imgcheck_error *err = NULL;
	char *out = UNSET;
	size_t len = 1;

	must(run_to_its_end(m.run, NULL) == 0, "run");
	must(imgcheck_run_take_report(m.run, &report, NULL) == 0, "take a report");
	CALL(a, imgcheck_report_render(report, f, &out, &len, &err), err);
	tell_output(a, out, len);
	tell_report(a, report); /* it is as good as before */
	imgcheck_report_free(report);
	end(&m);
}

static void render_text(struct attempt *a)
{
	render(a, IMGCHECK_FORMAT_TEXT);
}

static void render_json(struct attempt *a)
{
	render(a, IMGCHECK_FORMAT_JSON);
}

const struct oom_case run_cases[] = {
	{"imgcheck_run_new", new_run, NULL},
	{"imgcheck_run_step: an image that is there", step_good, NULL},
	{"imgcheck_run_step: a mixture", step_mixture, NULL},
	{"imgcheck_check", check, NULL},
	{"imgcheck_tag_move: it is there", move_tag, "good/image:1"},
	{"imgcheck_tag_move: a write that is refused", move_tag, "open/image:free"},
	{"imgcheck_run_take_report", take_report, NULL},
	{"imgcheck_report_render: text", render_text, NULL},
	{"imgcheck_report_render: JSON", render_json, NULL},
	{NULL, NULL, NULL},
};
