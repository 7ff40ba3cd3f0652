/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_tree.h"

#include "base/limits.h"

int ic_tree_add(struct ic_tree *tree, enum ic_part_kind kind, unsigned line, const char *text, struct ic_part **out,
                struct imgcheck_error **err)
{
	struct ic_part *part;

	*out = NULL;
	if (tree->count == IC_MAX_TEMPLATE_PARTS)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot evaluate a template with more than %zu elements",
		                    IC_MAX_TEMPLATE_PARTS);
	part = calloc(1, sizeof(*part));
	if (!part)
		return ic_error_nomem(err);
	part->kind = kind;
	part->line = line;
	part->text = text;
	part->depth = 1;
	part->made_before = tree->made;
	tree->made = part;
	tree->count++;
	*out = part;
	return 0;
}

void ic_tree_clear(struct ic_tree *tree)
{
	while (tree->made) {
		struct ic_part *part = tree->made;

		tree->made = part->made_before;
		json_decref(part->value);
		free(part);
	}
	tree->count = 0;
}

void ic_part_append(struct ic_part *part, struct ic_part *item)
{
	if (part->last)
		part->last->next = item;
	else
		part->list = item;
	part->last = item;
}

int ic_part_close(struct ic_part *part, struct imgcheck_error **err)
{
	const struct ic_part *child[] = {part->a, part->b, part->c, part->d};
	unsigned deepest = 0;

	for (size_t i = 0; i < IC_COUNT(child); i++) {
		if (child[i] && child[i]->depth > deepest)
			deepest = child[i]->depth;
	}
	for (const struct ic_part *item = part->list; item; item = item->next) {
		if (item->depth > deepest)
			deepest = item->depth;
	}
	part->depth = deepest + 1;
	if (part->depth > IC_MAX_EXPR_DEPTH)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot evaluate a template nested deeper than %d levels",
		                    IC_MAX_EXPR_DEPTH);
	return 0;
}

const char *ic_part_word(const struct ic_part *part)
{
	const char *text = json_string_value(part->value);

	return text ? text : "";
}
