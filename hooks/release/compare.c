/* SPDX-License-Identifier: Apache-2.0 */
#include "release/compare.h"

#include <string.h>

#include "program/memory.h"

/* ------------------------------------------------------------------ names and marks */

/* What stands behind the name in a reference: the tag, the digest, or both. */
static const char *find_mark(const char *ref)
{
	const char *end = ref + strcspn(ref, "@"), *colon = end;

	while (colon > ref && *colon != ':' && *colon != '/')
		colon--;
	return *colon == ':' && colon > ref ? colon : end;
}

static char *find_name(const struct need *n)
{
	const char *registry = imgcheck_image_part(n->image, IMGCHECK_PART_REGISTRY);

	if (!registry)
		return memory_text(n->ref);
	return memory_printf("%s/%s", registry, imgcheck_image_part(n->image, IMGCHECK_PART_REPOSITORY));
}

/* No mark means the tag latest. */
static const char *effective(const char *mark)
{
	return *mark ? mark : ":latest";
}

static struct side_image side_image(const struct need *n, bool newer, bool listed)
{
	bool is_reference = imgcheck_image_part(n->image, IMGCHECK_PART_REGISTRY) != NULL;

	return (struct side_image){ .need = n, .name = find_name(n), .archs = n->archs, .newer = newer, .listed = listed,
				    .mark = is_reference ? find_mark(n->ref) : n->ref + strlen(n->ref) };
}

char *compare_name(const struct change *change)
{
	const struct side_image *image = change->to_count ? change->to[0] : change->from[0];

	return memory_text_cut(image->need->ref, (size_t)(image->mark - image->need->ref));
}

char *compare_mark(const struct side_image *image)
{
	const char *mark = effective(image->mark);

	return memory_text(mark + 1);
}

/* ------------------------------------------------------------------ what only one side has */

/* By name, then mark, the old side first. */
static int order(const void *a, const void *b)
{
	const struct side_image *left = a, *right = b;
	int by = strcmp(left->name, right->name);

	by = by ? by : strcmp(effective(left->mark), effective(right->mark));
	return by ? by : left->newer - right->newer;
}

static bool is_same(const struct side_image *a, const struct side_image *b)
{
	return !strcmp(a->name, b->name) && !strcmp(effective(a->mark), effective(b->mark));
}

bool compare_same(const struct need *a, const struct need *b)
{
	struct side_image left = side_image(a, false, false), right = side_image(b, true, false);
	bool same = is_same(&left, &right);

	free(left.name);
	free(right.name);
	return same;
}

static void collect(struct comparison *c, const struct needs *before, const struct needs *after)
{
	c->images = memory_grow(NULL, before->count + after->count, sizeof(*c->images));
	for (size_t i = 0; i < before->count; i++)
		c->images[c->image_count++] = side_image(&before->need[i], false, before->is_list);
	for (size_t i = 0; i < after->count; i++)
		c->images[c->image_count++] = side_image(&after->need[i], true, after->is_list);
	if (c->image_count)
		qsort(c->images, c->image_count, sizeof(*c->images), order);
}

/* Keeps of images[0..n), which are the same image, one a side with the architectures that the other has not. */
static size_t keep_differences(struct comparison *c, struct side_image *images, size_t n, size_t kept)
{
	uint32_t archs[2] = { 0, 0 };
	bool listed = false;

	for (size_t i = 0; i < n; i++) {
		archs[images[i].newer] |= images[i].archs;
		listed |= images[i].listed;
	}
	if (listed && archs[false] && archs[true])
		archs[false] = archs[true] |= archs[false];
	if (archs[false] & archs[true])
		c->kept++;
	for (size_t i = 0; i < n; i++) {
		struct side_image image = images[i];
		bool first = i == 0 || images[i - 1].newer != image.newer;

		image.archs = archs[image.newer] & ~archs[!image.newer];
		if (first && image.archs)
			c->images[kept++] = image;
		else
			free(image.name);
	}
	return kept;
}

static void drop_common(struct comparison *c)
{
	size_t kept = 0, next;

	for (size_t i = 0; i < c->image_count; i = next) {
		for (next = i + 1; next < c->image_count && is_same(&c->images[i], &c->images[next]);)
			next++;
		kept = keep_differences(c, c->images + i, next - i, kept);
	}
	c->image_count = kept;
}

/* ------------------------------------------------------------------ changes */

static void add_image(const struct side_image ***list, size_t *count, const struct side_image *image)
{
	*list = memory_grow(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = image;
}

static struct change *add_change(struct comparison *c, enum change_kind kind, uint32_t archs)
{
	c->changes = memory_grow(c->changes, c->count + 1, sizeof(*c->changes));
	c->changes[c->count] = (struct change){ .kind = kind, .archs = archs };
	return &c->changes[c->count++];
}

static void add_single(struct comparison *c, enum change_kind kind, const struct side_image *image, uint32_t archs)
{
	struct change *change = add_change(c, kind, archs);

	if (image->newer)
		add_image(&change->to, &change->to_count, image);
	else
		add_image(&change->from, &change->from_count, image);
}

/* Whether both give the same tag and a digest. */
static bool is_repinned(const struct side_image *a, const struct side_image *b)
{
	size_t tag = strcspn(a->mark, "@");

	return tag && a->mark[tag] && strcspn(b->mark, "@") == tag && b->mark[tag] && !memcmp(a->mark, b->mark, tag);
}

/* The images of one repository that differ on these architectures, each on all of them; what is used up becomes NULL. */
static void add_repinned(struct comparison *c, const struct side_image **images, size_t n, uint32_t archs)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; images[i] && !images[i]->newer && k < n; k++) {
			struct change *change;

			if (!images[k] || !images[k]->newer || !is_repinned(images[i], images[k]))
				continue;
			change = add_change(c, CHANGE_REPINNED, archs);
			add_image(&change->from, &change->from_count, images[i]);
			add_image(&change->to, &change->to_count, images[k]);
			images[i] = images[k] = NULL;
		}
	}
}

static void add_others(struct comparison *c, const struct side_image *const *images, size_t n, uint32_t archs)
{
	size_t sides[2] = { 0, 0 };
	struct change *change = NULL;

	for (size_t i = 0; i < n; i++)
		if (images[i])
			sides[images[i]->newer]++;
	if (sides[false] && sides[true])
		change = add_change(c, CHANGE_CHANGED, archs);
	for (size_t i = 0; i < n; i++) {
		if (!images[i])
			continue;
		if (!change)
			add_single(c, images[i]->newer ? CHANGE_ADDED : CHANGE_REMOVED, images[i], archs);
		else if (images[i]->newer)
			add_image(&change->to, &change->to_count, images[i]);
		else
			add_image(&change->from, &change->from_count, images[i]);
	}
}

/* The architectures of `left` on which just the same of these images differ as on the lowest of them. */
static uint32_t alike(const struct side_image *images, size_t n, uint32_t left)
{
	unsigned lowest = (unsigned)__builtin_ctz(left);

	for (size_t i = 0; i < n; i++)
		left &= images[i].archs >> lowest & 1 ? images[i].archs : ~images[i].archs;
	return left;
}

/* What a list has of a repository is for the architectures on which the other side has something else of it. */
static void place_listed(struct side_image *images, size_t n)
{
	uint32_t archs[2] = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		archs[images[i].newer] |= images[i].archs;
	for (size_t i = 0; i < n; i++)
		if (images[i].listed && archs[!images[i].newer])
			images[i].archs = archs[!images[i].newer];
}

/* All images of one repository. */
static void add_repository(struct comparison *c, struct side_image *images, size_t n)
{
	const struct side_image **some = memory_grow(NULL, n, sizeof(*some));
	uint32_t left = 0;

	place_listed(images, n);
	for (size_t i = 0; i < n; i++)
		left |= images[i].archs;
	while (left) {
		uint32_t archs = alike(images, n, left);
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (images[i].archs & archs)
				some[count++] = &images[i];
		add_repinned(c, some, count, archs);
		add_others(c, some, count, archs);
		left &= ~archs;
	}
	free(some);
}

/* By kind; the order of names stays. */
static int order_changes(const void *a, const void *b)
{
	const struct change *left = a, *right = b;
	const struct side_image *one = left->to_count ? left->to[0] : left->from[0];
	const struct side_image *other = right->to_count ? right->to[0] : right->from[0];
	int by = left->kind < right->kind ? -1 : left->kind > right->kind;

	by = by ? by : strcmp(one->need->ref, other->need->ref);
	return by ? by : left->archs < right->archs ? -1 : left->archs > right->archs;
}

void compare_needs(struct comparison *c, const struct needs *before, const struct needs *after)
{
	size_t next;

	collect(c, before, after);
	drop_common(c);
	for (size_t i = 0; i < c->image_count; i = next) {
		for (next = i + 1; next < c->image_count && !strcmp(c->images[i].name, c->images[next].name);)
			next++;
		add_repository(c, c->images + i, next - i);
	}
	if (c->count)
		qsort(c->changes, c->count, sizeof(*c->changes), order_changes);
}

size_t compare_count(const struct comparison *c, enum change_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++)
		count += c->changes[i].kind == kind;
	return count;
}

void compare_clear(struct comparison *c)
{
	for (size_t i = 0; i < c->image_count; i++)
		free(c->images[i].name);
	for (size_t i = 0; i < c->count; i++) {
		free(c->changes[i].from);
		free(c->changes[i].to);
	}
	free(c->images);
	free(c->changes);
	*c = (struct comparison){ 0 };
}
