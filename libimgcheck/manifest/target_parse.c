/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/yaml.h"
#include "manifest/target.h"
#include "manifest/target_values.h"
#include "manifest/template.h"

#define MESSAGE_BYTES 512

int ic_target_fault(const struct imgcheck_target *t, const struct ic_node *at, enum imgcheck_err code,
                    struct imgcheck_error **err, const char *format, ...)
{
	char message[MESSAGE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return ic_error_set_at(err, code, t->file, at ? at->line : 1, at ? at->column : 0, "%s", message);
}

int ic_target_note(struct ic_vec *list, const char *text, struct imgcheck_error **err)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(ic_texts_get(list, i), text) == 0)
			return 0;
	}
	return ic_texts_push(list, text, strlen(text), err);
}

static int check_version(const struct imgcheck_target *t, const struct ic_node *version, struct imgcheck_error **err)
{
	if (!version)
		return ic_target_fault(t, t->doc->root, IMGCHECK_ERR_CONFIG, err, "cannot use a description without 'version: 1'");
	if (version->kind != IC_NODE_SCALAR || version->style != IC_STYLE_PLAIN || version->tag || !ic_node_equals(version, "1"))
		return ic_target_fault(t, version, IMGCHECK_ERR_UNSUPPORTED, err,
		                       "cannot use a description of version '%s': only 1 is known here",
		                       version->kind == IC_NODE_SCALAR ? version->text : "?");
	return 0;
}

/* An expression: parses it, and notes the configuration keys that it asks for. */
static int check_condition(struct imgcheck_target *t, const struct ic_node *condition, struct imgcheck_error **err)
{
	if (!ic_node_text(condition) || !condition->len)
		return ic_target_fault(t, condition, IMGCHECK_ERR_CONFIG, err,
		                       "cannot use this as a condition: it is no expression");
	return ic_expression_keys(t->file, condition->line, condition->text, condition->len, IC_TARGET_CONFIG, &t->config_keys,
	                          err);
}

static int check_texts(const struct imgcheck_target *t, const struct ic_node *list, const char *what,
                       struct imgcheck_error **err)
{
	if (list->kind != IC_NODE_SEQUENCE)
		return ic_target_fault(t, list, IMGCHECK_ERR_CONFIG, err, "cannot use '%s': it is no list", what);
	if (list->len > IC_MAX_LIST_ITEMS)
		return ic_target_fault(t, list, IMGCHECK_ERR_LIMIT, err, "cannot use more than %zu '%s'", IC_MAX_LIST_ITEMS, what);
	for (const struct ic_item *i = ic_node_items(list); i; i = i->next) {
		if (!ic_node_text(i->value) || !i->value->len)
			return ic_target_fault(t, i->value, IMGCHECK_ERR_CONFIG, err, "cannot use this in '%s': it is no text", what);
	}
	return 0;
}

/* A name within the snap: relative, not above it, and written in one way only, so that patterns match it. */
static bool is_inside(const char *path)
{
	if (*path == '/')
		return false;
	for (;;) {
		size_t len = strcspn(path, "/");

		if ((len == 1 || len == 2) && memcmp(path, "..", len) == 0)
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

static int check_paths(const struct imgcheck_target *t, struct imgcheck_error **err)
{
	int result;

	if (!t->paths)
		return ic_target_fault(t, t->doc->root, IMGCHECK_ERR_CONFIG, err, "cannot use a description without 'paths'");
	result = check_texts(t, t->paths, "paths", err);
	if (result == 0 && t->paths->len == 0)
		return ic_target_fault(t, t->paths, IMGCHECK_ERR_CONFIG, err, "cannot use a description without 'paths'");
	for (const struct ic_item *i = ic_node_items(t->paths); result == 0 && i; i = i->next) {
		if (!is_inside(i->value->text))
			return ic_target_fault(t, i->value, IMGCHECK_ERR_CONFIG, err,
			                       "cannot use the path '%s': it is no plain name within the snap", i->value->text);
	}
	return result;
}

static int check_rule(struct imgcheck_target *t, const struct ic_node *rule, struct imgcheck_error **err)
{
	const struct ic_node *files = ic_node_get(rule, "files"), *condition = ic_node_get(rule, "if");

	for (const struct ic_item *i = ic_node_items(rule); i && rule->kind == IC_NODE_MAPPING; i = i->next) {
		if (!ic_node_equals(i->key, "files") && !ic_node_equals(i->key, "if"))
			return ic_target_fault(t, i->key, IMGCHECK_ERR_CONFIG, err,
			                       "cannot use '%s' in a rule: only 'files' and 'if' are known",
			                       i->key->kind == IC_NODE_SCALAR ? i->key->text : "?");
	}
	if (!files || !condition)
		return ic_target_fault(t, rule, IMGCHECK_ERR_CONFIG, err, "cannot use a rule without both 'files' and 'if'");
	if (files->kind == IC_NODE_SEQUENCE) {
		int result = check_texts(t, files, "files", err);

		return result < 0 ? result : check_condition(t, condition, err);
	}
	if (!ic_node_text(files) || !files->len)
		return ic_target_fault(t, files, IMGCHECK_ERR_CONFIG, err, "cannot use 'files': it is no pattern");
	return check_condition(t, condition, err);
}

static int check_rules(struct imgcheck_target *t, struct imgcheck_error **err)
{
	int result = 0;

	if (!t->when)
		return 0;
	if (t->when->kind != IC_NODE_SEQUENCE)
		return ic_target_fault(t, t->when, IMGCHECK_ERR_CONFIG, err, "cannot use 'when': it is no list of rules");
	if (t->when->len > IC_MAX_LIST_ITEMS)
		return ic_target_fault(t, t->when, IMGCHECK_ERR_LIMIT, err, "cannot use more than %zu rules", IC_MAX_LIST_ITEMS);
	for (const struct ic_item *i = ic_node_items(t->when); result == 0 && i; i = i->next)
		result = check_rule(t, i->value, err);
	return result;
}

/* The members of the description; an unknown one may be what a later version decides by. */
static int find_members(struct imgcheck_target *t, struct imgcheck_error **err)
{
	const struct ic_node *version = NULL;
	const struct {
		const char *name;
		const struct ic_node **to;
	} members[] = {{"version", &version}, {"configured", &t->configured}, {"paths", &t->paths},
	               {"when", &t->when},    {"values", &t->values},         {"ignore", &t->ignore}};

	for (const struct ic_item *i = ic_node_items(t->doc->root); i; i = i->next) {
		size_t at = 0;

		while (at < IC_COUNT(members) && !ic_node_equals(i->key, members[at].name))
			at++;
		if (at == IC_COUNT(members))
			return ic_target_fault(t, i->key, IMGCHECK_ERR_CONFIG, err,
			                       "cannot use '%s': there is no such key in a description",
			                       i->key->kind == IC_NODE_SCALAR ? i->key->text : "?");
		*members[at].to = i->value;
	}
	return check_version(t, version, err);
}

static int check(struct imgcheck_target *t, struct imgcheck_error **err)
{
	int result;

	if (!ic_node_is(t->doc->root, IC_NODE_MAPPING))
		return ic_target_fault(t, t->doc->root, IMGCHECK_ERR_CONFIG, err, "cannot use a description that is no mapping");
	if (t->doc->notes.count > 0) {
		struct imgcheck_error *note = *(struct imgcheck_error **)ic_vec_at(&t->doc->notes, 0);
		unsigned line, column;

		(void)imgcheck_error_place(note, &line, &column);
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, t->file, line, column, "%s", imgcheck_error_message(note));
	}
	result = find_members(t, err);
	if (result == 0 && t->configured)
		result = check_condition(t, t->configured, err);
	if (result == 0)
		result = check_paths(t, err);
	if (result == 0)
		result = check_rules(t, err);
	if (result == 0)
		result = ic_target_check_values(t, err);
	return result < 0 || !t->ignore ? result : check_texts(t, t->ignore, "ignore", err);
}

int ic_target_parse(struct imgcheck_target *t, const char *path, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	result = ic_file_read(path, &text, err);
	if (result == 0)
		result = ic_yaml_parse(t->file, ic_buf_text(&text), text.len, &t->doc, err);
	if (result == 0)
		result = check(t, err);
	ic_error_place(err, t->file, 0, 0);
	return result;
}
