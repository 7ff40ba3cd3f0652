/* SPDX-License-Identifier: Apache-2.0 */
#include "render/nagios.h"

#include <string.h>

#include "render/render.h"

#define SHOWN_IMAGES 3

static const char *const state_names[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

/* What counts and means that a node could not pull. */
static bool is_critical(const json_t *item)
{
	static const char *const classes[] = { "missing", "already-missing", "access", "hint" };

	for (size_t i = 0; i < COUNT(classes); i++)
		if (!strcmp(render_text(item, "class"), classes[i]))
			return true;
	return false;
}

static bool is_veto(const json_t *item)
{
	return !strcmp(render_text(item, "effect"), imgcheck_decision_name(IMGCHECK_DECISION_VETO));
}

enum nagios_state nagios_state(const json_t *report)
{
	const char *decision = render_text(report, "decision");
	size_t i;
	json_t *image;

	json_array_foreach(json_object_get(report, "images"), i, image)
		if (is_veto(image) && is_critical(image))
			return NAGIOS_CRITICAL;
	if (!strcmp(decision, imgcheck_decision_name(IMGCHECK_DECISION_ALLOW)))
		return NAGIOS_OK;
	return strcmp(decision, imgcheck_decision_name(IMGCHECK_DECISION_WARN)) ? NAGIOS_UNKNOWN : NAGIOS_WARNING;
}

/* One line, in which | starts the performance data. */
static void print_plain(const char *text, FILE *out)
{
	for (size_t control; *text; text += control ? control : 1) {
		control = render_control(text);
		fputc(control ? ' ' : *text == '|' ? '/' : *text, out);
	}
}

/* The worst images by name: those that decide first. */
static void print_images(const json_t *images, bool veto, size_t *shown, FILE *out)
{
	size_t i;
	json_t *image;

	json_array_foreach(images, i, image) {
		if (render_is_ok(image) || !strcmp(render_text(image, "class"), "skipped") || is_veto(image) != veto)
			continue;
		if ((*shown)++ >= SHOWN_IMAGES)
			continue;
		fputs(*shown == 1 ? ": " : ", ", out);
		print_plain(render_text(image, "reference"), out);
		fprintf(out, " (%s)", render_text(image, "verdict"));
	}
}

static void print_performance(const struct view *v, FILE *out)
{
	static const char *const classes[] = { "missing", "already-missing", "access", "undecided", "unreadable", "unresolved" };
	const json_t *report = v->reports[0];
	size_t total = json_array_size(json_object_get(report, "images"));

	fprintf(out, " | ok=%lld;;;0;%zu", render_count(report, "ok"), total);
	for (size_t i = 0; i < COUNT(classes); i++)
		fprintf(out, " %s=%lld;;;0", classes[i], render_count(report, classes[i]));
	if (v->seconds >= 0)
		fprintf(out, " time=%.3fs;;;0", v->seconds);
}

void render_nagios(const struct view *v, FILE *out)
{
	const json_t *report = v->reports[0], *images = json_object_get(report, "images");
	size_t shown = 0;

	fprintf(out, "IMGCHECK %s - ", state_names[nagios_state(report)]);
	render_counts(report, out);
	print_images(images, true, &shown, out);
	print_images(images, false, &shown, out);
	if (shown > SHOWN_IMAGES)
		fprintf(out, " and %zu more", shown - SHOWN_IMAGES);
	print_performance(v, out);
	fputc('\n', out);
}
