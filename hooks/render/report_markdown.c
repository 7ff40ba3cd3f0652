/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "render/markdown.h"
#include "render/render.h"

static void print_image(const json_t *image, FILE *out)
{
	fputs("| ", out);
	markdown_code(out, render_text(image, "reference"));
	fputs(" | ", out);
	markdown_text(out, render_text(image, "verdict"));
	fputs(" | ", out);
	markdown_text(out, render_text(image, "host"));
	fputs(" | ", out);
	markdown_text(out, render_text(image, "reason"));
	fputs(" |\n", out);
}

/* Those that are as they should be are only named. */
static void print_images(const json_t *images, FILE *out)
{
	size_t i, bad = 0, good = 0;
	json_t *image;

	json_array_foreach(images, i, image) {
		if (render_is_ok(image))
			continue;
		if (!bad++)
			fputs("\n| image | verdict | host | reason |\n|---|---|---|---|\n", out);
		print_image(image, out);
	}
	json_array_foreach(images, i, image) {
		if (!render_is_ok(image))
			continue;
		fputs(good++ ? "- " : "\nThese can be pulled:\n\n- ", out);
		markdown_code(out, render_text(image, "reference"));
		fputc('\n', out);
	}
}

static void print_problems(const json_t *problems, FILE *out)
{
	size_t i;
	json_t *problem;

	json_array_foreach(problems, i, problem) {
		json_t *line = json_object_get(problem, "line");
		const char *file = render_text(problem, "file");

		fputs(i ? "- " : "\nWhat could not be read or resolved:\n\n- ", out);
		if (*file)
			markdown_code(out, file);
		if (json_is_integer(line))
			fprintf(out, " line %lld", (long long)json_integer_value(line));
		fputs(*file ? ": " : "", out);
		markdown_text(out, render_text(problem, "message"));
		fputc('\n', out);
	}
}

void render_markdown(const struct view *v, FILE *out)
{
	const json_t *report = v->reports[0];
	const char *subject = render_text(report, "subject");

	fputs("## Image check", out);
	if (*subject) {
		fputs(" of ", out);
		markdown_text(out, subject);
	}
	fputs("\n\n", out);
	markdown_text(out, render_text(report, "decision"));
	fputs(": ", out);
	render_counts(report, out);
	fputs("\n", out);
	print_images(json_object_get(report, "images"), out);
	print_problems(json_object_get(report, "problems"), out);
}
