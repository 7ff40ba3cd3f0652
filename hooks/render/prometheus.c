/* SPDX-License-Identifier: Apache-2.0 */
#include "prometheus.h"

#include <string.h>

#include "program/document.h"
#include "render/render.h"

void prometheus_head(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prometheus_label(const char *name, const char *value, FILE *out)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fputc('\\', out);
		if (*value == '\n')
			fputs("\\n", out);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

static void print_verdicts(const json_t *images, FILE *out)
{
	prometheus_head("imgcheck_images", "gauge", "Images by verdict.", out);
	for (int verdict = IMGCHECK_VERDICT_OK; verdict <= IMGCHECK_VERDICT_SKIPPED; verdict++) {
		const char *name = imgcheck_verdict_name((enum imgcheck_verdict)verdict);
		size_t i, count = 0;
		json_t *image;

		json_array_foreach(images, i, image)
			count += !strcmp(render_text(image, "verdict"), name);
		fprintf(out, "imgcheck_images{");
		prometheus_label("verdict", name, out);
		fprintf(out, "} %zu\n", count);
	}
}

/* Two images can be the same one by another name, which is then told once, by the worse of the two. */
static void print_images(const json_t *images, FILE *out)
{
	AUTO(json) json_t *pullable = document_object();
	const char *reference;
	size_t i;
	json_t *image, *ok;

	json_array_foreach(images, i, image) {
		reference = render_text(image, "reference");
		if (strcmp(render_text(image, "verdict"), imgcheck_verdict_name(IMGCHECK_VERDICT_SKIPPED)) &&
		    !json_is_false(json_object_get(pullable, reference)))
			document_set(pullable, reference, json_boolean(render_is_ok(image)));
	}
	prometheus_head("imgcheck_image_pullable", "gauge",
			"Whether a node could pull the image (1), or not as far as was found out (0).", out);
	json_object_foreach(pullable, reference, ok) {
		fprintf(out, "imgcheck_image_pullable{");
		prometheus_label("reference", reference, out);
		fprintf(out, "} %d\n", json_is_true(ok));
	}
}

static void print_problems(const json_t *report, FILE *out)
{
	static const enum imgcheck_outcome classes[] = { IMGCHECK_OUTCOME_UNRESOLVED, IMGCHECK_OUTCOME_UNREADABLE,
							 IMGCHECK_OUTCOME_INTERNAL };

	prometheus_head("imgcheck_problems", "gauge", "What could not be read, resolved or evaluated, by class.", out);
	for (size_t i = 0; i < COUNT(classes); i++) {
		const char *name = imgcheck_outcome_name(classes[i]);

		fprintf(out, "imgcheck_problems{");
		prometheus_label("class", name, out);
		fprintf(out, "} %lld\n", render_count(report, name));
	}
}

void render_prometheus(const struct view *v, FILE *out)
{
	const json_t *report = v->reports[0], *images = json_object_get(report, "images");
	bool veto = !strcmp(render_text(report, "decision"), imgcheck_decision_name(IMGCHECK_DECISION_VETO));

	print_verdicts(images, out);
	print_images(images, out);
	print_problems(report, out);
	prometheus_head("imgcheck_veto", "gauge", "Whether the check did not pass (1) or did (0).", out);
	fprintf(out, "imgcheck_veto %d\n", veto);
	if (v->time >= 0) {
		prometheus_head("imgcheck_last_run_timestamp_seconds", "gauge", "When the check ended.", out);
		fprintf(out, "imgcheck_last_run_timestamp_seconds %lld\n", v->time);
	}
	if (v->seconds >= 0) {
		prometheus_head("imgcheck_last_run_duration_seconds", "gauge", "How long the check took.", out);
		fprintf(out, "imgcheck_last_run_duration_seconds %.3f\n", v->seconds);
	}
}
