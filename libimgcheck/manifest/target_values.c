/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/target_values.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/target_literal.h"
#include "manifest/template.h"

#define MAX_VALUE_DEPTH 32 /* values within values and defaults of defaults; real ones have two levels */

/* ---- checking */

static int check_value(struct imgcheck_target *t, const struct ic_node *value, unsigned depth, struct imgcheck_error **err);

static bool is_reserved(const struct ic_node *key)
{
	return ic_node_equals(key, "config") || ic_node_equals(key, "env") || ic_node_equals(key, "default");
}

/* Whether a mapping says where a value comes from. */
static bool is_lookup(const struct ic_node *value)
{
	for (const struct ic_item *i = ic_node_items(value); i && value->kind == IC_NODE_MAPPING; i = i->next) {
		if (is_reserved(i->key))
			return true;
	}
	return false;
}

static int check_lookup(struct imgcheck_target *t, const struct ic_node *value, unsigned depth, struct imgcheck_error **err)
{
	const struct ic_node *config = ic_node_get(value, "config"), *env = ic_node_get(value, "env");
	const struct ic_node *otherwise = ic_node_get(value, "default"), *key = config ? config : env;
	int result;

	for (const struct ic_item *i = ic_node_items(value); i; i = i->next) {
		if (!is_reserved(i->key))
			return ic_target_fault(t, i->key, IMGCHECK_ERR_CONFIG, err, "cannot use '%s' beside config, env or default",
			                       i->key->text);
	}
	if ((config && env) || !key)
		return ic_target_fault(t, value, IMGCHECK_ERR_CONFIG, err,
		                       "cannot use a value without exactly one of config and env");
	if (!ic_node_text(key) || !key->len)
		return ic_target_fault(t, key, IMGCHECK_ERR_CONFIG, err, "cannot use this as the name of a %s",
		                       config ? "configuration key" : "variable");
	result = ic_target_note(config ? &t->config_keys : &t->env_names, ic_node_text(key), err);
	return result < 0 || !otherwise ? result : check_value(t, otherwise, depth + 1, err);
}

static int check_scalar(struct imgcheck_target *t, const struct ic_node *value, struct imgcheck_error **err)
{
	json_t *read IC_AUTO(json) = NULL;
	int result = ic_literal_read(value, &read, err);

	ic_error_place(err, t->file, value->line, value->column);
	return result;
}

static int check_items(struct imgcheck_target *t, const struct ic_node *value, unsigned depth, struct imgcheck_error **err)
{
	int result = 0;

	for (const struct ic_item *i = ic_node_items(value); result == 0 && i; i = i->next) {
		if (i->key && !ic_node_text(i->key))
			return ic_target_fault(t, i->key, IMGCHECK_ERR_CONFIG, err, "cannot use a name that is not a text");
		if (!i->key && is_lookup(i->value))
			return ic_target_fault(t, i->value, IMGCHECK_ERR_CONFIG, err, "cannot look a value up within a list");
		result = check_value(t, i->value, depth + 1, err);
	}
	return result;
}

static int check_value(struct imgcheck_target *t, const struct ic_node *value, unsigned depth, struct imgcheck_error **err)
{
	if (depth > MAX_VALUE_DEPTH)
		return ic_target_fault(t, value, IMGCHECK_ERR_LIMIT, err, "cannot use values more than %d levels deep",
		                       MAX_VALUE_DEPTH);
	if (value->kind == IC_NODE_SCALAR)
		return check_scalar(t, value, err);
	return is_lookup(value) ? check_lookup(t, value, depth, err) : check_items(t, value, depth, err);
}

int ic_target_check_values(struct imgcheck_target *t, struct imgcheck_error **err)
{
	if (!t->values)
		return 0;
	if (t->values->kind != IC_NODE_MAPPING)
		return ic_target_fault(t, t->values, IMGCHECK_ERR_CONFIG, err,
		                       "cannot use 'values': it is no mapping of names to values");
	return check_items(t, t->values, 0, err);
}

/* ---- giving */

static int give_value(const struct imgcheck_target *t, const struct ic_node *value, json_t **out,
                      struct imgcheck_error **err);

/* {config: KEY} or {env: NAME}, else its default.  *out is NULL where it is undefined. */
static int give_lookup(const struct imgcheck_target *t, const struct ic_node *value, json_t **out,
                       struct imgcheck_error **err)
{
	const char *key = ic_node_get_text(value, "config"), *name = ic_node_get_text(value, "env");
	const struct ic_node *otherwise = ic_node_get(value, "default");
	char *text IC_AUTO(free) = NULL;
	int result = key ? ic_target_config_text(&t->config, key, &text, err) : 0;

	if (result < 0)
		return result;
	if (!key)
		*out = json_incref(json_object_get(t->env, name));
	else if (text)
		*out = json_string(text);
	if (key && text && !*out)
		return ic_error_nomem(err);
	return *out || !otherwise ? 0 : give_value(t, otherwise, out, err);
}

static int give_list(const struct imgcheck_target *t, const struct ic_node *value, json_t **out, struct imgcheck_error **err)
{
	json_t *list IC_AUTO(json) = json_array();
	int result = list ? 0 : ic_error_nomem(err);

	for (const struct ic_item *i = ic_node_items(value); result == 0 && i; i = i->next) {
		json_t *item = NULL;

		result = give_value(t, i->value, &item, err);
		if (result == 0 && json_array_append_new(list, item) < 0)
			result = ic_error_nomem(err);
	}
	if (result == 0)
		*out = IC_TAKE(list);
	return result;
}

static int give_map(const struct imgcheck_target *t, const struct ic_node *value, json_t **out, struct imgcheck_error **err)
{
	json_t *map IC_AUTO(json) = json_object();
	int result = map ? 0 : ic_error_nomem(err);

	for (const struct ic_item *i = ic_node_items(value); result == 0 && i; i = i->next) {
		json_t *member = NULL;

		result = give_value(t, i->value, &member, err);
		if (result == 0 && member && json_object_set_new(map, ic_node_text(i->key), member) < 0)
			result = ic_error_nomem(err);
	}
	if (result == 0)
		*out = IC_TAKE(map);
	return result;
}

static int give_value(const struct imgcheck_target *t, const struct ic_node *value, json_t **out,
                      struct imgcheck_error **err)
{
	*out = NULL;
	if (value->kind == IC_NODE_SCALAR)
		return ic_literal_read(value, out, err);
	if (value->kind == IC_NODE_SEQUENCE)
		return give_list(t, value, out, err);
	return value != t->values && is_lookup(value) ? give_lookup(t, value, out, err) : give_map(t, value, out, err);
}

int ic_target_get_values(const struct imgcheck_target *t, json_t **out, struct imgcheck_error **err)
{
	*out = NULL;
	if (t->values)
		return give_map(t, t->values, out, err);
	*out = json_object();
	return *out ? 0 : ic_error_nomem(err);
}

/* ---- conditions */

/* config, with the texts of all keys that the description asks for. */
static int give_config(const struct imgcheck_target *t, json_t *config, struct imgcheck_error **err)
{
	int result = 0;
	const char *key;

	for (size_t i = 0; result == 0 && (key = ic_texts_get(&t->config_keys, i)); i++) {
		char *text IC_AUTO(free) = NULL;

		result = ic_target_config_text(&t->config, key, &text, err);
		if (result == 0 && text && json_object_set_new(config, key, json_string(text)) < 0)
			result = ic_error_nomem(err);
	}
	return result;
}

int ic_target_holds(const struct imgcheck_target *t, const struct ic_node *condition, bool *out, struct imgcheck_error **err)
{
	json_t *config = json_object();
	json_t *names IC_AUTO(json) = json_pack("{so}", IC_TARGET_CONFIG, config);
	int result = names ? give_config(t, config, err) : ic_error_nomem(err);

	*out = false;
	if (result < 0)
		return result;
	return ic_expression_test(t->file, condition->line, condition->text, condition->len, names, out, err);
}
