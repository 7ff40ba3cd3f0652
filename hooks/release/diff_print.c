/* SPDX-License-Identifier: Apache-2.0 */
#include "release/diff_print.h"

#include <string.h>

#include "program/document.h"
#include "program/memory.h"
#include "render/markdown.h"

/* In the order of the enumerators. */
static const char *const kind_words[CHANGE_KINDS] = { "added", "removed", "changed", "repinned" };

static bool is_single(const struct change *change)
{
	return change->kind == CHANGE_ADDED || change->kind == CHANGE_REMOVED;
}

/* The image of a change that has one. */
static const struct side_image *single(const struct change *change)
{
	return change->kind == CHANGE_ADDED ? change->to[0] : change->from[0];
}

static enum imgcheck_class strongest(const struct side_image *const *images, size_t count, enum imgcheck_class class)
{
	for (size_t i = 0; i < count; i++)
		if (images[i]->need->class < class)
			class = images[i]->need->class;
	return class;
}

/* The class that the change is about: that of what is needed now, if anything is. */
static enum imgcheck_class class_of(const struct change *change)
{
	if (change->to_count)
		return strongest(change->to, change->to_count, IMGCHECK_CLASS_HINT);
	return strongest(change->from, change->from_count, IMGCHECK_CLASS_HINT);
}

/* "mentioned; only amd64", or NULL where nothing is special: new. */
static char *remark(const struct diff *d, const struct change *change)
{
	AUTO(free) char *archs = needs_arch_text(d->archs, change->archs);
	enum imgcheck_class class = class_of(change);

	if (class != IMGCHECK_CLASS_REQUIRED)
		return memory_printf("%s%s%s", needs_class_name(class), archs ? "; only " : "", archs ? archs : "");
	return archs ? memory_printf("only %s", archs) : NULL;
}

/* ------------------------------------------------------------------ text */

static void print_marks(const struct side_image *const *images, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(free) char *mark = compare_mark(images[i]);

		fprintf(out, "%s%s", i ? ", " : "", mark);
	}
}

static void print_change(const struct diff *d, const struct change *change, FILE *out)
{
	AUTO(free) char *name = compare_name(change);
	AUTO(free) char *more = remark(d, change);

	fprintf(out, "%-9s ", kind_words[change->kind]);
	if (is_single(change)) {
		fputs(single(change)->need->ref, out);
	} else {
		fprintf(out, "%s ", name);
		print_marks(change->from, change->from_count, out);
		fputs(" -> ", out);
		print_marks(change->to, change->to_count, out);
	}
	if (more)
		fprintf(out, " (%s)", more);
	fputc('\n', out);
}

static void print_summary(const struct diff *d, FILE *out)
{
	const struct comparison *c = d->comparison;

	fprintf(out, "%zu added, %zu removed, %zu changed, %zu repinned, %zu unchanged", compare_count(c, CHANGE_ADDED),
		compare_count(c, CHANGE_REMOVED), compare_count(c, CHANGE_CHANGED), compare_count(c, CHANGE_REPINNED), c->kept);
}

void diff_print_text(const struct diff *d, FILE *out)
{
	for (size_t i = 0; i < d->comparison->count; i++)
		print_change(d, &d->comparison->changes[i], out);
	print_summary(d, out);
	fputc('\n', out);
}

/* ------------------------------------------------------------------ JSON */

static json_t *json_image(const struct diff *d, const struct side_image *image, uint32_t archs)
{
	json_t *object = document_object();

	document_set_text(object, "reference", image->need->ref);
	document_set_text(object, "class", needs_class_name(image->need->class));
	if (d->archs->count)
		document_set(object, "architectures", needs_arch_json(d->archs, archs));
	return object;
}

static json_t *json_images(const struct diff *d, const struct side_image *const *images, size_t count, uint32_t archs)
{
	json_t *list = document_array();

	for (size_t i = 0; i < count; i++)
		document_add(list, json_image(d, images[i], archs));
	return list;
}

static json_t *json_change(const struct diff *d, const struct change *change)
{
	AUTO(free) char *name = compare_name(change);
	json_t *object;

	if (is_single(change))
		return json_image(d, single(change), change->archs);
	object = document_object();
	document_set_text(object, "repository", name);
	document_set(object, "from", json_images(d, change->from, change->from_count, change->archs));
	document_set(object, "to", json_images(d, change->to, change->to_count, change->archs));
	return object;
}

static json_t *json_kind(const struct diff *d, enum change_kind kind)
{
	json_t *list = document_array();

	for (size_t i = 0; i < d->comparison->count; i++)
		if (d->comparison->changes[i].kind == kind)
			document_add(list, json_change(d, &d->comparison->changes[i]));
	return list;
}

void diff_print_json(const struct diff *d, FILE *out)
{
	AUTO(json) json_t *all = document_object();
	AUTO(free) char *text = NULL;

	document_set_number(all, "version", 1);
	document_set_text(all, "old", d->before);
	document_set_text(all, "new", d->after);
	for (int kind = 0; kind < CHANGE_KINDS; kind++)
		document_set(all, kind_words[kind], json_kind(d, (enum change_kind)kind));
	document_set_number(all, "unchanged", (long long)d->comparison->kept);
	text = document_render(all);
	fputs(text, out);
}

/* ------------------------------------------------------------------ Markdown */

static void markdown_marks(const struct side_image *const *images, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(free) char *mark = compare_mark(images[i]);

		fputs(i ? "<br>" : "", out);
		markdown_code(out, mark);
	}
}

static void markdown_change(const struct diff *d, const struct change *change, FILE *out)
{
	AUTO(free) char *name = compare_name(change);
	AUTO(free) char *more = remark(d, change);

	fputs("| ", out);
	markdown_code(out, name);
	if (more)
		fprintf(out, " (%s)", more);
	fputs(" | ", out);
	markdown_marks(change->from, change->from_count, out);
	fputs(change->from_count ? " | " : "| ", out);
	markdown_marks(change->to, change->to_count, out);
	fputs(change->to_count ? " |\n" : "|\n", out);
}

void diff_print_markdown(const struct diff *d, FILE *out)
{
	fputs("## Container images\n\n", out);
	if (d->comparison->count) {
		fputs("| image | ", out);
		markdown_text(out, d->before);
		fputs(" | ", out);
		markdown_text(out, d->after);
		fputs(" |\n|---|---|---|\n", out);
	}
	for (size_t i = 0; i < d->comparison->count; i++)
		markdown_change(d, &d->comparison->changes[i], out);
	fputs(d->comparison->count ? "\n" : "", out);
	print_summary(d, out);
	fputs(".\n", out);
}

/* ------------------------------------------------------------------ list */

static void list_side(const struct diff *d, const char *key, bool newer, FILE *out)
{
	AUTO(lines) struct lines refs = { 0 };

	for (size_t i = 0; i < d->comparison->image_count; i++)
		if (d->comparison->images[i].newer == newer)
			lines_add(&refs, d->comparison->images[i].need->ref);
	lines_sort(&refs);
	if (!refs.count)
		return;
	fprintf(out, "%s:", key);
	for (size_t i = 0; i < refs.count; i++)
		fprintf(out, " %s", refs.line[i]);
	fputc('\n', out);
}

void diff_print_list(const struct diff *d, FILE *out)
{
	list_side(d, kind_words[CHANGE_ADDED], true, out);
	list_side(d, kind_words[CHANGE_REMOVED], false, out);
}
