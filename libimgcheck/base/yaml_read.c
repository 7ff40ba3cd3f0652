/* SPDX-License-Identifier: Apache-2.0 */

/* YAML for programs (imgcheck_yaml_read): their own configuration, read with the limits of this library. */

#include <string.h>

#include "file.h"
#include "json.h"
#include "limits.h"
#include "base/yaml.h"

static int node_json(const char *name, const struct ic_node *node, unsigned depth, json_t **out, struct imgcheck_error **err);

static int fault(const char *name, const struct ic_node *node, enum imgcheck_err code, struct imgcheck_error **err, const char *why)
{
	return ic_error_set_at(err, code, name, node->line, node->column, "cannot read YAML: %s", why);
}

/* Takes value, also on failure. */
static int add_member(json_t *object, const char *name, json_t *value, struct imgcheck_error **err)
{
	return json_object_set_new(object, name, value) ? ic_error_nomem(err) : 0;
}

static int scalar_json(const char *name, const struct ic_node *node, json_t *out, struct imgcheck_error **err)
{
	json_t *text;

	if (ic_node_is_null(node))
		return add_member(out, "text", json_null(), err);
	if (!ic_node_text(node))
		return fault(name, node, IMGCHECK_ERR_SYNTAX, err, "a text holds a NUL");
	text = json_stringn_nocheck(node->text, node->len);
	return add_member(out, "text", text, err);
}

/* The entry of a mapping, to which its value is added as that of a sequence is. */
static int entry_json(const char *name, const struct ic_item *item, unsigned depth, json_t **out, struct imgcheck_error **err)
{
	json_t *entry IC_AUTO(json) = NULL;
	json_t *value IC_AUTO(json) = NULL;
	int result = node_json(name, item->value, depth, &value, err);

	if (result < 0)
		return result;
	if (!item->key) {
		*out = IC_TAKE(value);
		return 0;
	}
	if (!ic_node_text(item->key))
		return fault(name, item->key, IMGCHECK_ERR_SYNTAX, err, "a key is no text");
	entry = json_object();
	if (!entry)
		return ic_error_nomem(err);
	result = add_member(entry, "key", json_stringn_nocheck(item->key->text, item->key->len), err);
	if (result == 0)
		result = add_member(entry, "line", json_integer(item->key->line), err);
	if (result == 0)
		result = add_member(entry, "value", IC_TAKE(value), err);
	if (result == 0)
		*out = IC_TAKE(entry);
	return result;
}

static int items_json(const char *name, const struct ic_node *node, unsigned depth, json_t *out, struct imgcheck_error **err)
{
	json_t *items = json_array();
	int result = add_member(out, node->kind == IC_NODE_MAPPING ? "members" : "items", items, err);

	for (const struct ic_item *i = ic_node_items(node); result == 0 && i; i = i->next) {
		json_t *item = NULL;

		result = entry_json(name, i, depth + 1, &item, err);
		if (result == 0 && json_array_append_new(items, item))
			result = ic_error_nomem(err);
	}
	return result;
}

static int node_json(const char *name, const struct ic_node *node, unsigned depth, json_t **out, struct imgcheck_error **err)
{
	json_t *object IC_AUTO(json) = json_object();
	int result;

	if (depth > IC_MAX_SETTING_DEPTH)
		return fault(name, node, IMGCHECK_ERR_LIMIT, err, "it is nested too deeply");
	if (!object)
		return ic_error_nomem(err);
	result = add_member(object, "line", json_integer(node->line), err);
	if (result == 0)
		result = node->kind == IC_NODE_SCALAR ? scalar_json(name, node, object, err) : items_json(name, node, depth, object, err);
	if (result == 0)
		*out = IC_TAKE(object);
	return result;
}

/* A key that is written twice is a mistake that must not decide anything. */
static int check_notes(const char *name, const struct ic_doc *doc, struct imgcheck_error **err)
{
	const struct imgcheck_error *note;
	unsigned line, column;

	if (doc->notes.count == 0)
		return 0;
	note = *(struct imgcheck_error **)ic_vec_at(&doc->notes, 0);
	(void)imgcheck_error_place(note, &line, &column);
	return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, name, line, column, "%s", imgcheck_error_message(note));
}

static int doc_json(const char *name, const struct ic_doc *doc, json_t **out, struct imgcheck_error **err)
{
	static const struct ic_node empty = {.kind = IC_NODE_SCALAR, .line = 1, .text = ""};
	const struct ic_node *root = doc->root ? doc->root : &empty;
	int result = check_notes(name, doc, err);

	if (result == 0 && root->nodes > IC_MAX_SETTINGS)
		result = fault(name, root, IMGCHECK_ERR_LIMIT, err, "it has too many values");
	return result < 0 ? result : node_json(name, root, 0, out, err);
}

static int read_tree(const char *path, json_t **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	struct ic_doc *doc IC_AUTO(doc) = NULL;
	int result;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	result = ic_file_read(path, &text, err);
	if (result == 0)
		result = ic_yaml_parse(path, ic_buf_text(&text), text.len, &doc, err);
	return result < 0 ? result : doc_json(path, doc, out, err);
}

int imgcheck_yaml_read(const char *path, char **json, struct imgcheck_error **err)
{
	json_t *tree IC_AUTO(json) = NULL;
	int result;

	if (json)
		*json = NULL;
	if (!path || !json)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot read YAML without a path and a place for the result");
	result = read_tree(path, &tree, err);
	return result < 0 ? result : ic_json_text_of(tree, JSON_COMPACT, json, err);
}
