/* SPDX-License-Identifier: Apache-2.0 */
#include "release/audit_print.h"

#include <string.h>

#include "program/document.h"
#include "program/memory.h"
#include "render/markdown.h"
#include "render/render.h"

static bool is_missing(const struct side_image *image)
{
	return image->newer;
}

/* Not needed on any architecture: it is of a list. */
static bool is_superfluous(const struct side_image *image)
{
	return !image->newer;
}

static size_t count(const struct audit *a, bool (*is)(const struct side_image *image))
{
	size_t n = 0;

	for (size_t i = 0; i < a->comparison->image_count; i++)
		n += is(&a->comparison->images[i]);
	return n;
}

size_t audit_missing(const struct audit *a)
{
	return count(a, is_missing);
}

/* The reference, or the name alone, as images spell it where Debian's word for an architecture stands in it: new or NULL. */
static char *respell(const struct audit *a, const struct side_image *image)
{
	char *right = NULL;

	for (size_t i = 0; !right && i < a->archs->count; i++)
		if (image->archs >> i & 1)
			right = needs_respell(image->need->ref, a->archs->line[i]);
	return right;
}

/* What the list has in its place: other tags of the repository, or the right name of the architecture. */
static void find_listed(const struct audit *a, const struct side_image *missing, struct lines *found)
{
	AUTO(free) char *right = respell(a, missing);

	for (size_t i = 0; i < a->comparison->image_count; i++) {
		const struct side_image *other = &a->comparison->images[i];

		if (other->newer)
			continue;
		if (!strcmp(other->name, missing->name) || (right && !strcmp(other->need->ref, right)))
			lines_add(found, other->need->ref);
	}
}

/* ------------------------------------------------------------------ text */

/* "file:12 (Deployment ns/name)", and how many more. */
static void print_place(const struct need *n, FILE *out)
{
	const char *file = imgcheck_image_origin(n->image, 0, IMGCHECK_FIELD_FILE);
	const char *line = imgcheck_image_origin(n->image, 0, IMGCHECK_FIELD_LINE);
	const char *object = imgcheck_image_origin(n->image, 0, IMGCHECK_FIELD_OBJECT);
	size_t more = 0;

	while (imgcheck_image_origin(n->image, more + 1, IMGCHECK_FIELD_CLASS))
		more++;
	render_line(file ? file : "", out);
	fprintf(out, "%s%s", line ? ":" : "", line ? line : "");
	if (object) {
		fputs(" (", out);
		render_line(object, out);
		fputc(')', out);
	}
	if (more)
		fprintf(out, " and %zu more", more);
}

static void print_missing(const struct audit *a, const struct side_image *image, FILE *out)
{
	AUTO(lines) struct lines listed = { 0 };
	AUTO(free) char *archs = needs_arch_text(a->archs, image->archs);

	find_listed(a, image, &listed);
	fprintf(out, "missing     %s", image->need->ref);
	if (archs)
		fprintf(out, " (only %s)", archs);
	fputs(": ", out);
	print_place(image->need, out);
	for (size_t i = 0; i < listed.count; i++)
		fprintf(out, "%s%s", i ? ", " : "; listed is ", listed.line[i]);
	fputc('\n', out);
}

static void print_summary(const struct audit *a, FILE *out)
{
	fprintf(out, "%zu missing, %zu superfluous, %zu needed and listed", count(a, is_missing), count(a, is_superfluous),
		a->comparison->kept);
}

void audit_print_text(const struct audit *a, FILE *out)
{
	for (size_t i = 0; i < a->comparison->image_count; i++)
		if (is_missing(&a->comparison->images[i]))
			print_missing(a, &a->comparison->images[i], out);
	for (size_t i = 0; i < a->comparison->image_count; i++)
		if (is_superfluous(&a->comparison->images[i]))
			fprintf(out, "superfluous %s\n", a->comparison->images[i].need->ref);
	print_summary(a, out);
	fputc('\n', out);
}

/* ------------------------------------------------------------------ JSON */

static json_t *json_missing(const struct audit *a, const struct side_image *image)
{
	AUTO(lines) struct lines listed = { 0 };
	json_t *object = document_object(), *others = document_array();

	find_listed(a, image, &listed);
	for (size_t i = 0; i < listed.count; i++)
		document_add_text(others, listed.line[i]);
	document_set_text(object, "reference", image->need->ref);
	document_set_text(object, "class", needs_class_name(image->need->class));
	if (a->archs->count)
		document_set(object, "architectures", needs_arch_json(a->archs, image->archs));
	document_set(object, "listed", others);
	document_set(object, "origins", needs_origins_json(image->need));
	return object;
}

void audit_print_json(const struct audit *a, FILE *out)
{
	AUTO(json) json_t *all = document_object();
	AUTO(free) char *text = NULL;
	json_t *missing = document_array(), *superfluous = document_array();

	for (size_t i = 0; i < a->comparison->image_count; i++) {
		const struct side_image *image = &a->comparison->images[i];

		if (is_missing(image))
			document_add(missing, json_missing(a, image));
		else if (is_superfluous(image))
			document_add_text(superfluous, image->need->ref);
	}
	document_set_number(all, "version", 1);
	document_set_text(all, "list", a->list);
	document_set(all, "missing", missing);
	document_set(all, "superfluous", superfluous);
	document_set_number(all, "listed", (long long)a->comparison->kept);
	text = document_render(all);
	fputs(text, out);
}

/* ------------------------------------------------------------------ Markdown and list */

static void markdown_missing(const struct audit *a, const struct side_image *image, FILE *out)
{
	AUTO(lines) struct lines listed = { 0 };
	AUTO(free) char *archs = needs_arch_text(a->archs, image->archs);

	find_listed(a, image, &listed);
	fputs("- missing: ", out);
	markdown_code(out, image->need->ref);
	if (archs)
		fprintf(out, " (only %s)", archs);
	for (size_t i = 0; i < listed.count; i++) {
		fputs(i ? ", " : "; listed is ", out);
		markdown_code(out, listed.line[i]);
	}
	fputc('\n', out);
}

void audit_print_markdown(const struct audit *a, FILE *out)
{
	fputs("## Images missing from ", out);
	markdown_text(out, a->list);
	fputs("\n\n", out);
	for (size_t i = 0; i < a->comparison->image_count; i++)
		if (is_missing(&a->comparison->images[i]))
			markdown_missing(a, &a->comparison->images[i], out);
	for (size_t i = 0; i < a->comparison->image_count; i++)
		if (is_superfluous(&a->comparison->images[i])) {
			fputs("- superfluous: ", out);
			markdown_code(out, a->comparison->images[i].need->ref);
			fputc('\n', out);
		}
	fputs(a->comparison->image_count ? "\n" : "", out);
	print_summary(a, out);
	fputs(".\n", out);
}

static void list_some(const struct audit *a, const char *key, bool (*is)(const struct side_image *image), FILE *out)
{
	if (!count(a, is))
		return;
	fprintf(out, "%s:", key);
	for (size_t i = 0; i < a->comparison->image_count; i++)
		if (is(&a->comparison->images[i]))
			fprintf(out, " %s", a->comparison->images[i].need->ref);
	fputc('\n', out);
}

void audit_print_list(const struct audit *a, FILE *out)
{
	list_some(a, "missing", is_missing, out);
	list_some(a, "superfluous", is_superfluous, out);
}
