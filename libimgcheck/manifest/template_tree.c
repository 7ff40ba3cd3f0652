/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_tree.h"

#include "base/limits.h"

int ic_tree_add(struct ic_tree *tree, enum ic_node_kind kind, unsigned line, const char *text, struct ic_node **out,
                struct imgcheck_error **err)
{
	struct ic_node *node;

	*out = NULL;
	if (tree->count == IC_MAX_TEMPLATE_NODES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot evaluate a template with more than %zu elements",
		                    IC_MAX_TEMPLATE_NODES);
	node = calloc(1, sizeof(*node));
	if (!node)
		return ic_error_nomem(err);
	node->kind = kind;
	node->line = line;
	node->text = text;
	node->depth = 1;
	node->made_before = tree->made;
	tree->made = node;
	tree->count++;
	*out = node;
	return 0;
}

void ic_tree_clear(struct ic_tree *tree)
{
	while (tree->made) {
		struct ic_node *node = tree->made;

		tree->made = node->made_before;
		json_decref(node->value);
		free(node);
	}
	tree->count = 0;
}

void ic_node_append(struct ic_node *node, struct ic_node *item)
{
	if (node->last)
		node->last->next = item;
	else
		node->list = item;
	node->last = item;
}

int ic_node_close(struct ic_node *node, struct imgcheck_error **err)
{
	const struct ic_node *child[] = {node->a, node->b, node->c, node->d};
	unsigned deepest = 0;

	for (size_t i = 0; i < IC_COUNT(child); i++) {
		if (child[i] && child[i]->depth > deepest)
			deepest = child[i]->depth;
	}
	for (const struct ic_node *item = node->list; item; item = item->next) {
		if (item->depth > deepest)
			deepest = item->depth;
	}
	node->depth = deepest + 1;
	if (node->depth > IC_MAX_EXPR_DEPTH)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot evaluate a template nested deeper than %d levels",
		                    IC_MAX_EXPR_DEPTH);
	return 0;
}

const char *ic_node_word(const struct ic_node *node)
{
	return node->value && json_is_string(node->value) ? json_string_value(node->value) : "";
}
