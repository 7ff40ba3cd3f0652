/* SPDX-License-Identifier: Apache-2.0 */
#include "release/needs.h"

#include <ctype.h>
#include <string.h>

#include "program/document.h"
#include "program/memory.h"
#include "program/say.h"
#include "program/status.h"

const char *needs_class_name(enum imgcheck_class class)
{
	switch (class) {
	case IMGCHECK_CLASS_REQUIRED:
		return "required";
	case IMGCHECK_CLASS_MENTIONED:
		return "mentioned";
	case IMGCHECK_CLASS_HINT:
		return "hint";
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct need *left = a, *right = b;
	int order = strcmp(left->ref, right->ref);

	/* The bits are single ones here: the first architecture comes first. */
	return order ? order : left->archs < right->archs ? -1 : left->archs > right->archs;
}

static void add_all(struct needs *n, const struct imgcheck_images *s, uint32_t bit)
{
	size_t count = imgcheck_images_count(s);

	n->need = memory_grow(n->need, n->count + count, sizeof(*n->need));
	for (size_t i = 0; i < count; i++) {
		const struct imgcheck_image *m = imgcheck_images_get(s, i);

		n->need[n->count++] =
			(struct need){ .image = m, .ref = imgcheck_image_ref(m), .class = imgcheck_image_class(m), .archs = bit };
	}
}

/* Puts the architectures of the same reference together. */
static void merge(struct needs *n)
{
	size_t kept = 0;

	if (n->count)
		qsort(n->need, n->count, sizeof(*n->need), compare);
	for (size_t i = 0; i < n->count; i++) {
		struct need *last = kept ? &n->need[kept - 1] : NULL;

		if (last && !strcmp(last->ref, n->need[i].ref)) {
			last->archs |= n->need[i].archs;
			if (n->need[i].class < last->class)
				last->class = n->need[i].class;
		} else {
			n->need[kept++] = n->need[i];
		}
	}
	n->count = kept;
}

int needs_collect(struct needs *n, const struct input *what, const struct lines *paths)
{
	const struct lines *archs = &what->archs;
	size_t rounds = archs->count ? archs->count : 1;

	n->inputs = memory_grow(NULL, rounds, sizeof(*n->inputs));
	for (size_t i = 0; i < rounds; i++) {
		struct input *in = &n->inputs[n->input_count++];
		int status;

		input_copy(what, archs->count ? archs->line[i] : NULL, in);
		status = input_open(in);
		status = status ? status : input_collect(in, paths);
		if (status)
			return status;
		add_all(n, in->images, (uint32_t)1 << i);
	}
	merge(n);
	return 0;
}

void needs_keep(struct needs *n, enum imgcheck_class weakest)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->count; i++)
		if (n->need[i].class <= weakest)
			n->need[kept++] = n->need[i];
	n->count = kept;
}

bool needs_are_listed(const struct needs *n)
{
	for (size_t i = 0; i < n->count; i++)
		for (size_t k = 0; imgcheck_image_origin(n->need[i].image, k, IMGCHECK_FIELD_CLASS); k++)
			if (imgcheck_image_origin(n->need[i].image, k, IMGCHECK_FIELD_OBJECT))
				return false;
	return true;
}

int needs_prefix(struct needs *n, const char *prefix)
{
	struct needs fresh = { .inputs = memory_grow(NULL, 1, sizeof(*fresh.inputs)), .input_count = 1, .is_list = n->is_list };
	AUTO(error) struct imgcheck_error *e = NULL;
	int fault;

	input_copy(&n->inputs[0], NULL, &fresh.inputs[0]);
	fault = imgcheck_images_new(&fresh.inputs[0].images);
	for (size_t i = 0; !fault && i < n->count; i++) {
		AUTO(free) char *ref = memory_printf("%s/%s", prefix, n->need[i].ref);

		fault = imgcheck_images_add_ref(fresh.inputs[0].images, ref, &e);
	}
	if (!fault)
		add_all(&fresh, fresh.inputs[0].images, 1);
	needs_clear(n);
	*n = fresh;
	return fault ? say_error(e) : 0;
}

int needs_say_problems(const struct needs *n)
{
	AUTO(lines) struct lines said = { 0 };
	const struct imgcheck_error *e;
	int status = 0;

	for (size_t i = 0; i < n->input_count; i++) {
		for (size_t k = 0; (e = imgcheck_images_problem(n->inputs[i].images, k)); k++) {
			AUTO(free) char *text = say_text(e);
			enum imgcheck_err code = imgcheck_error_code(e);

			if (code != IMGCHECK_ERR_UNRESOLVED && code != IMGCHECK_ERR_FINDING)
				status = STATUS_UNREADABLE;
			if (i && lines_has(&said, text))
				continue;
			say("%s", text);
			lines_add(&said, text);
		}
	}
	return status;
}

static bool is_all(const struct lines *archs, uint32_t bits)
{
	for (size_t i = 0; i < archs->count; i++)
		if (!(bits >> i & 1))
			return false;
	return true;
}

char *needs_arch_text(const struct lines *archs, uint32_t bits)
{
	char *text = NULL;

	if (is_all(archs, bits))
		return NULL;
	for (size_t i = 0; i < archs->count; i++) {
		char *longer;

		if (!(bits >> i & 1))
			continue;
		longer = memory_printf("%s%s%s", text ? text : "", text ? ", " : "", archs->line[i]);
		free(text);
		text = longer;
	}
	return text;
}

json_t *needs_arch_json(const struct lines *archs, uint32_t bits)
{
	json_t *names = document_array();

	for (size_t i = 0; i < archs->count; i++)
		if (bits >> i & 1)
			document_add_text(names, archs->line[i]);
	return names;
}

static json_t *json_origin(const struct imgcheck_image *m, size_t i)
{
	static const struct {
		const char *name;
		enum imgcheck_field field;
	} texts[] = {
		{ "file", IMGCHECK_FIELD_FILE },   { "object", IMGCHECK_FIELD_OBJECT },          { "path", IMGCHECK_FIELD_PATH },
		{ "class", IMGCHECK_FIELD_CLASS }, { "pullPolicy", IMGCHECK_FIELD_PULL_POLICY },
		{ "pullSecrets", IMGCHECK_FIELD_PULL_SECRETS }, { "nodeArch", IMGCHECK_FIELD_NODE_ARCH },
		{ "namespace", IMGCHECK_FIELD_NAMESPACE },
	};
	const char *line = imgcheck_image_origin(m, i, IMGCHECK_FIELD_LINE);
	json_t *origin = document_object();

	for (size_t k = 0; k < COUNT(texts); k++) {
		const char *text = imgcheck_image_origin(m, i, texts[k].field);

		/* the last three only where they are stated, as in a report */
		if (text || texts[k].field <= IMGCHECK_FIELD_PULL_POLICY)
			document_set_text(origin, texts[k].name, text);
	}
	document_set(origin, "line", line ? json_integer(strtoll(line, NULL, 10)) : json_null());
	return origin;
}

json_t *needs_origins_json(const struct need *n)
{
	json_t *origins = document_array();

	for (size_t i = 0; imgcheck_image_origin(n->image, i, IMGCHECK_FIELD_CLASS); i++)
		document_add(origins, json_origin(n->image, i));
	return origins;
}

char *needs_respell(const char *ref, const char *arch)
{
	static const char *const words[][2] = { { "ppc64el", "ppc64le" }, { "armhf", "arm" }, { "i386", "386" } };
	size_t len = strlen(arch);

	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(arch, words[i][0]))
			continue;
		for (const char *at = strstr(ref, arch); at; at = strstr(at + 1, arch))
			if ((at == ref || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[len]))
				return memory_printf("%.*s%s%s", (int)(at - ref), ref, words[i][1], at + len);
	}
	return NULL;
}

void needs_clear(struct needs *n)
{
	for (size_t i = 0; i < n->input_count; i++)
		input_clear(&n->inputs[i]);
	free(n->inputs);
	free(n->need);
	*n = (struct needs){ 0 };
}
