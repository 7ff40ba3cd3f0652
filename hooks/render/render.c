/* SPDX-License-Identifier: Apache-2.0 */
#include "render/render.h"

#include <string.h>

static const struct rendering renderings[] = {
	{ "text", NULL, IMGCHECK_FORMAT_TEXT },
	{ "json", NULL, IMGCHECK_FORMAT_JSON },
	{ "markdown", .print = render_markdown },
	{ "nagios", .print = render_nagios },
	{ "prometheus", .print = render_prometheus },
	{ "html", .print = render_html },
};

const struct rendering *render_find(const char *name)
{
	for (size_t i = 0; i < COUNT(renderings); i++)
		if (!strcmp(name, renderings[i].name))
			return &renderings[i];
	return NULL;
}

const char *render_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

size_t render_control(const char *text)
{
	unsigned char first = (unsigned char)text[0], second = first ? (unsigned char)text[1] : 0;

	if (first && (first < ' ' || first == 0x7f))
		return 1;
	return first == 0xc2 && second >= 0x80 && second <= 0x9f ? 2 : 0;
}

void render_line(const char *text, FILE *out)
{
	for (size_t control; *text; text += control ? control : 1) {
		control = render_control(text);
		fputc(control ? '?' : *text, out);
	}
}

long long render_count(const json_t *report, const char *class)
{
	return json_integer_value(json_object_get(json_object_get(report, "counts"), class));
}

void render_counts(const json_t *report, FILE *out)
{
	const char *class;
	json_t *number;

	fprintf(out, "%lld ok", render_count(report, "ok"));
	json_object_foreach(json_object_get(report, "counts"), class, number)
		if (strcmp(class, "ok"))
			fprintf(out, ", %lld %s", (long long)json_integer_value(number), class);
}

bool render_is_ok(const json_t *item)
{
	const char *class = render_text(item, "class");

	return !strcmp(class, "ok") || !strcmp(class, "finding");
}
