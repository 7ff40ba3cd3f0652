/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "manifest/images.h"
#include "manifest/reader.h"
#include "manifest/target_files.h"
#include "manifest/target_values.h"

#define DESCRIPTION "meta/imgcheck.yaml"

static int argument_missing(struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot use a target: an argument is missing");
}

/* ---- the object */

static struct imgcheck_target *new_target(const char *dir, const char *file)
{
	struct imgcheck_target *t = calloc(1, sizeof(*t));
	const char *name = file ? file : DESCRIPTION;

	if (!t)
		return NULL;
	ic_texts_init(&t->config_keys, IC_MAX_LIST_ITEMS);
	ic_texts_init(&t->env_names, IC_MAX_LIST_ITEMS);
	t->env = json_object();
	t->dir = ic_text_copy(dir, strlen(dir));
	t->file = ic_text_copy(name, strlen(name));
	if (t->env && t->dir && t->file)
		return t;
	imgcheck_target_free(t);
	return NULL;
}

/* A description of the snap's own is in the snap; one that the caller names may be anywhere. */
static int read_own(struct imgcheck_target *t, struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf);
	int result;

	ic_buf_init(&path, 2 * IC_MAX_PATH_BYTES);
	result = ic_buf_printf(&path, err, "%s/%s", t->dir, t->file);
	if (result < 0)
		return result;
	result = ic_target_leads_out(t->dir, ic_buf_text(&path), err);
	if (result < 0)
		return result;
	if (result)
		return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, t->file, 0, 0, "cannot use it: it is a link that leads out of the snap");
	return ic_target_parse(t, ic_buf_text(&path), err);
}

int imgcheck_target_open(const char *dir, const char *file, struct imgcheck_target **out, struct imgcheck_error **err)
{
	struct imgcheck_target *t;
	int result;

	if (out)
		*out = NULL;
	if (!dir || !*dir || !out)
		return argument_missing(err);
	if (strlen(dir) > IC_MAX_PATH_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot use a folder with a name of more than %zu bytes",
		                    IC_MAX_PATH_BYTES);
	t = new_target(dir, file);
	if (!t)
		return ic_error_nomem(err);
	result = file ? ic_target_parse(t, file, err) : read_own(t, err);
	if (result < 0) {
		imgcheck_target_free(t);
		return result;
	}
	*out = t;
	return 0;
}

void imgcheck_target_free(struct imgcheck_target *t)
{
	if (!t)
		return;
	ic_texts_clear(&t->config_keys);
	ic_texts_clear(&t->env_names);
	ic_target_config_clear(&t->config);
	json_decref(t->env);
	ic_doc_free(t->doc);
	free(t->dir);
	free(t->file);
	free(t);
}

const char *imgcheck_target_config_key(const struct imgcheck_target *t, size_t i)
{
	return t ? ic_texts_get(&t->config_keys, i) : NULL;
}

const char *imgcheck_target_env_name(const struct imgcheck_target *t, size_t i)
{
	return t ? ic_texts_get(&t->env_names, i) : NULL;
}

/* ---- what it is told */

int imgcheck_target_set_config(struct imgcheck_target *t, const char *json, size_t len, struct imgcheck_error **err)
{
	return t && json ? ic_target_config_read(&t->config, json, len, err) : argument_missing(err);
}

int imgcheck_target_set_env(struct imgcheck_target *t, const char *name, const char *value, struct imgcheck_error **err)
{
	if (!t || !name)
		return argument_missing(err);
	if (!value || !*value) {
		(void)json_object_del(t->env, name);
		return 0;
	}
	if (ic_text_utf8_check(value, strlen(value)) < strlen(value) || ic_text_utf8_check(name, strlen(name)) < strlen(name))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot use the variable '%s': it is not UTF-8", name);
	return json_object_set_new(t->env, name, json_string(value)) < 0 ? ic_error_nomem(err) : 0;
}

/* ---- what it says */

int imgcheck_target_value(const struct imgcheck_target *t, const char *name, char **out, struct imgcheck_error **err)
{
	json_t *values IC_AUTO(json) = NULL;
	const json_t *value;
	int result;

	if (out)
		*out = NULL;
	if (!t || !name || !out)
		return argument_missing(err);
	result = ic_target_get_values(t, &values, err);
	value = json_object_get(values, name);
	if (result < 0 || !value || json_is_null(value))
		return result;
	if (!json_is_string(value))
		return ic_json_text_of(value, JSON_SORT_KEYS, out, err);
	*out = ic_text_copy(json_string_value(value), json_string_length(value));
	return *out ? 0 : ic_error_nomem(err);
}

int imgcheck_target_configured(const struct imgcheck_target *t, bool *out, struct imgcheck_error **err)
{
	if (out)
		*out = false;
	if (!t || !out)
		return argument_missing(err);
	if (t->configured)
		return ic_target_holds(t, t->configured, out, err);
	*out = true;
	return 0;
}

/* ---- what it needs */

static int add_file(struct imgcheck_images *s, const struct imgcheck_target *t, const char *name, const json_t *values,
                    struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf);
	int result;

	ic_buf_init(&path, 2 * IC_MAX_PATH_BYTES);
	result = ic_buf_printf(&path, err, "%s/%s", t->dir, name);
	return result < 0 ? result : ic_reader_add_file(s, path.data, name, values, err);
}

/* Hands all problems to the set; the vector is empty afterwards. */
static int add_problems(struct imgcheck_images *s, struct ic_vec *problems, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct imgcheck_error *problem = *(struct imgcheck_error **)ic_vec_at(problems, i);

		if (result == 0)
			result = ic_images_add_problem(s, &problem, err);
		imgcheck_error_free(problem);
	}
	ic_vec_clear(problems);
	return result;
}

static int add_files(struct imgcheck_images *s, const struct imgcheck_target *t, struct ic_vec *problems,
                     struct imgcheck_error **err)
{
	json_t *values IC_AUTO(json) = NULL;
	struct ic_vec files IC_AUTO(texts);
	size_t before = s->origins;
	int result;

	ic_texts_init(&files, IC_MAX_FILES);
	result = ic_target_get_values(t, &values, err);
	if (result == 0 && s->values && json_object_update(values, s->values) < 0)
		result = ic_error_nomem(err);
	if (result == 0)
		result = ic_target_files(t, &files, problems, err);
	for (size_t i = 0; result == 0 && i < files.count; i++)
		result = add_file(s, t, ic_texts_get(&files, i), values, err);
	if (result == 0 && s->origins == before) {
		struct imgcheck_error *none IC_AUTO(error) = NULL;

		(void)ic_target_fault(t, NULL, IMGCHECK_ERR_CONFIG, &none,
		                      "cannot find any image that this unit needs, though it is configured");
		result = ic_vec_push(problems, &none, err);
		none = result == 0 ? NULL : none;
	}
	return result;
}

/* `ignore` names images of the whole set: the description knows them by their reference alone. */
static int ignore(struct imgcheck_images *s, const struct imgcheck_target *t, struct imgcheck_error **err)
{
	struct ic_vec globs IC_AUTO(texts);
	int result = 0;

	ic_texts_init(&globs, IC_MAX_LIST_ITEMS);
	for (const struct ic_item *i = ic_node_items(t->ignore); result == 0 && i; i = i->next)
		result = ic_texts_push(&globs, i->value->text, i->value->len, err);
	if (result == 0)
		ic_images_ignore(s, &globs);
	return result;
}

int imgcheck_images_add_target(struct imgcheck_images *s, const struct imgcheck_target *t, struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	struct ic_vec problems IC_AUTO(vec);
	bool configured;
	int result = ic_images_check_open(s, err), kept;

	ic_vec_init(&problems, sizeof(struct imgcheck_error *), IC_MAX_PROBLEMS);
	if (result < 0)
		return result;
	if (!t)
		return argument_missing(err);
	if (imgcheck_target_configured(t, &configured, &problem) < 0)
		return imgcheck_error_code(problem) == IMGCHECK_ERR_NOMEM ? ic_error_nomem(err)
		                                                          : ic_images_add_problem(s, &problem, err);
	if (!configured)
		return 0;
	result = add_files(s, t, &problems, err);
	kept = add_problems(s, &problems, result < 0 ? NULL : err);
	ic_images_settle(s);
	if (result == 0)
		result = kept;
	return result < 0 ? result : ignore(s, t, err);
}
