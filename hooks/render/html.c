/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

/* The page of a report: images by platforms, what is wrong, who needs them. */

#include <string.h>
#include <time.h>

#include "program/lines.h"
#include "program/memory.h"
#include "render/render.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>imgcheck</title>\n<style>\n"
	":root { color-scheme: light dark }\n"
	"body { font-family: sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }\n"
	"table { border-collapse: collapse; width: 100% }\n"
	"th, td { border: 1px solid #999; padding: .3em .6em; text-align: left; vertical-align: top; overflow-wrap: anywhere }\n"
	"thead th { background: #8883 } thead th, td[class] { white-space: nowrap }\n"
	"tbody th { font-family: monospace; font-weight: normal; min-width: 20em }\n"
	".ok { background: #0a03 } .veto { background: #f005; font-weight: bold }\n"
	".warn { background: #fd05 } .allow { background: #8882 }\n"
	"summary { cursor: pointer } ul { margin: .3em 0; padding-left: 1.2em }\n"
	"</style>\n</head>\n<body>\n";

void html_begin(const char *title, FILE *out)
{
	fprintf(out, "%s<h1>%s</h1>\n", head, title);
}

void html_end(FILE *out)
{
	fputs("</body>\n</html>\n", out);
}

void html_text(const char *text, FILE *out)
{
	for (size_t control; *text; text += control ? control : 1) {
		control = render_control(text);
		if (control)
			fputc(' ', out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fputc(*text, out);
	}
}

void html_time(long long when, FILE *out)
{
	char text[32] = "";
	time_t seconds = (time_t)when;
	struct tm utc;

	if (when >= 0 && gmtime_r(&seconds, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
		fprintf(out, "<time>%s</time>", text);
}

/* ------------------------------------------------------------------ what stands in the table */

/* The platforms asked for, in the order of the reports. */
static void find_platforms(const struct view *v, struct lines *platforms)
{
	for (size_t r = 0; r < v->count; r++) {
		json_t *platform;
		size_t i;

		json_array_foreach(json_object_get(json_object_get(v->reports[r], "viewpoint"), "platforms"), i, platform)
			if (json_string_value(platform) && !lines_has(platforms, json_string_value(platform)))
				lines_add(platforms, json_string_value(platform));
	}
}

static int order(const void *a, const void *b)
{
	json_t *const *left = a, *const *right = b;

	return strcmp(render_text(*left, "reference"), render_text(*right, "reference"));
}

/* The images of all reports by reference: an array of borrowed objects, new. */
static json_t **find_images(const struct view *v, size_t *count)
{
	json_t **images = memory_grow(NULL, 1, sizeof(json_t *)), *image;
	size_t i;

	*count = 0;
	for (size_t r = 0; r < v->count; r++)
		json_array_foreach(json_object_get(v->reports[r], "images"), i, image) {
			images = memory_grow(images, *count + 1, sizeof(json_t *));
			images[(*count)++] = image;
		}
	qsort(images, *count, sizeof(json_t *), order);
	return images;
}

/* Whether the verdict is told for the platform: "linux/amd64,linux/arm64" names two. */
static bool is_about(const json_t *image, const char *platform)
{
	const char *list = render_text(image, "platform");
	size_t len = strlen(platform);

	for (const char *at = strstr(list, platform); at; at = strstr(at + 1, platform))
		if ((at == list || at[-1] == ',') && (at[len] == '\0' || at[len] == ','))
			return true;
	return false;
}

static const char *cell_class(const json_t *image)
{
	return render_is_ok(image) ? "ok" : render_text(image, "effect");
}

/* ------------------------------------------------------------------ the page */

/* images[0..n) are one reference in several reports. */
static void print_cells(json_t *const *images, size_t n, const struct lines *platforms, FILE *out)
{
	for (size_t p = 0; p < platforms->count; p++) {
		const json_t *found = NULL;

		for (size_t i = 0; i < n && !found; i++)
			if (is_about(images[i], platforms->line[p]))
				found = images[i];
		if (!found) {
			fputs("<td></td>", out);
			continue;
		}
		fputs("<td class=\"", out);
		html_text(cell_class(found), out);
		fputs("\">", out);
		html_text(render_text(found, "verdict"), out);
		fputs("</td>", out);
	}
}

static void print_reasons(json_t *const *images, size_t n, FILE *out)
{
	const char *last = "";

	fputs("<td>", out);
	for (size_t i = 0; i < n; i++) {
		const char *reason = render_text(images[i], "reason"), *host = render_text(images[i], "host");

		if (render_is_ok(images[i]) || !strcmp(reason, last))
			continue;
		fputs(*last ? "<br>" : "", out);
		html_text(reason, out);
		if (*host) {
			fputs(" (", out);
			html_text(host, out);
			fputc(')', out);
		}
		last = reason;
	}
	fputs("</td>", out);
}

static void print_origin(const json_t *origin, FILE *out)
{
	json_t *line = json_object_get(origin, "line");

	fputs("<li>", out);
	html_text(render_text(origin, "file"), out);
	if (json_is_integer(line))
		fprintf(out, ":%lld", (long long)json_integer_value(line));
	fputc(' ', out);
	html_text(render_text(origin, "object"), out);
	fputs("</li>", out);
}

static void print_origins(const json_t *image, FILE *out)
{
	json_t *origins = json_object_get(image, "origins"), *origin;
	size_t i;

	fprintf(out, "<td><details><summary>%zu</summary><ul>", json_array_size(origins));
	json_array_foreach(origins, i, origin)
		print_origin(origin, out);
	fputs("</ul></details></td>", out);
}

static void print_table(const struct view *v, FILE *out)
{
	AUTO(lines) struct lines platforms = { 0 };
	size_t count, next;
	AUTO(free) json_t **images = find_images(v, &count);

	find_platforms(v, &platforms);
	fputs("<table>\n<thead><tr><th scope=\"col\">image</th>", out);
	for (size_t i = 0; i < platforms.count; i++) {
		fputs("<th scope=\"col\">", out);
		html_text(platforms.line[i], out);
		fputs("</th>", out);
	}
	fputs("<th scope=\"col\">reason</th><th scope=\"col\">needed by</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && !order(&images[i], &images[next]);)
			next++;
		fputs("<tr><th scope=\"row\">", out);
		html_text(render_text(images[i], "reference"), out);
		fputs("</th>", out);
		print_cells(images + i, next - i, &platforms, out);
		print_reasons(images + i, next - i, out);
		print_origins(images[i], out);
		fputs("</tr>\n", out);
	}
	fputs("</tbody>\n</table>\n", out);
}

static void print_problem(const json_t *problem, FILE *out)
{
	json_t *line = json_object_get(problem, "line");

	fputs("<li>", out);
	html_text(render_text(problem, "file"), out);
	if (json_is_integer(line))
		fprintf(out, ":%lld", (long long)json_integer_value(line));
	fputs(": ", out);
	html_text(render_text(problem, "message"), out);
	fputs("</li>\n", out);
}

static void print_problems(const struct view *v, FILE *out)
{
	json_t *problem;
	bool any = false;
	size_t i;

	for (size_t r = 0; r < v->count; r++)
		json_array_foreach(json_object_get(v->reports[r], "problems"), i, problem) {
			fputs(any ? "" : "<h2>What could not be read or resolved</h2>\n<ul class=\"problems\">\n", out);
			print_problem(problem, out);
			any = true;
		}
	fputs(any ? "</ul>\n" : "", out);
}

static void print_decision(const json_t *report, FILE *out)
{
	const char *subject = render_text(report, "subject");

	fputs("<p class=\"decision ", out);
	html_text(render_text(report, "decision"), out);
	fputs("\">", out);
	html_text(subject, out);
	fputs(*subject ? ": " : "", out);
	html_text(render_text(report, "decision"), out);
	fputs(": ", out);
	render_counts(report, out);
	fputs("</p>\n", out);
}

void render_html(const struct view *v, FILE *out)
{
	html_begin("Image check", out);
	for (size_t r = 0; r < v->count; r++)
		print_decision(v->reports[r], out);
	if (v->time >= 0) {
		fputs("<p>checked at ", out);
		html_time(v->time, out);
		fputs("</p>\n", out);
	}
	print_table(v, out);
	print_problems(v, out);
	html_end(out);
}
