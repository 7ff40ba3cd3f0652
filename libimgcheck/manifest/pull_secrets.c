/* SPDX-License-Identifier: Apache-2.0 */
#include "pull_secrets.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"

static void clear(struct ic_pull_secret *s)
{
	free(s->name);
	free(s->namespace_);
	free(s->file);
	if (s->text)
		explicit_bzero(s->text, strlen(s->text));
	free(s->text);
}

void ic_pull_secrets_init(struct ic_vec *v)
{
	ic_vec_init(v, sizeof(struct ic_pull_secret), IC_MAX_IMAGES);
}

void ic_pull_secrets_clear(struct ic_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		clear(ic_vec_at(v, i));
	ic_vec_clear(v);
}

/* The member by the Secret's type, NULL for a type that is not for pulling. */
static const char *member_of(const char *type)
{
	if (type && strcmp(type, "kubernetes.io/dockerconfigjson") == 0)
		return ".dockerconfigjson";
	return type && strcmp(type, "kubernetes.io/dockercfg") == 0 ? ".dockercfg" : NULL;
}

static bool copy(char **out, const char *text)
{
	*out = text ? ic_text_copy(text, strlen(text)) : NULL;
	return !text || *out;
}

static int add(const struct ic_node *object, const char *file, const char *text, bool base64, struct ic_vec *v,
               struct imgcheck_error **err)
{
	const struct ic_node *metadata = ic_node_get(object, "metadata");
	const char *name = ic_node_get_text(metadata, "name");
	struct ic_pull_secret s = {.base64 = base64};
	int result;

	if (!name)
		return 0;
	s.entries = ic_node_equals(ic_node_get(object, "type"), "kubernetes.io/dockercfg");
	if (copy(&s.name, name) && copy(&s.namespace_, ic_node_get_text(metadata, "namespace")) && copy(&s.file, file) &&
	    copy(&s.text, text))
		result = ic_vec_push(v, &s, err);
	else
		result = ic_error_nomem(err);
	if (result < 0)
		clear(&s);
	return result;
}

/* stringData goes before data, as the API server has it. */
static int collect_secret(const struct ic_node *object, const char *file, struct ic_vec *v, struct imgcheck_error **err)
{
	const char *member = member_of(ic_node_get_text(object, "type"));
	const char *plain = member ? ic_node_get_text(ic_node_get(object, "stringData"), member) : NULL;
	const char *coded = member ? ic_node_get_text(ic_node_get(object, "data"), member) : NULL;

	if (!plain && !coded)
		return 0;
	return add(object, file, plain ? plain : coded, !plain, v, err);
}

int ic_pull_secrets_collect(const struct ic_node *root, const char *file, struct ic_vec *v, struct imgcheck_error **err)
{
	const char *kind = ic_node_get_text(root, "kind");
	int result = 0;

	if (!kind)
		return 0;
	if (strcmp(kind, "Secret") == 0)
		return collect_secret(root, file, v, err);
	if (!ic_text_ends(kind, strlen(kind), "List"))
		return 0;
	for (const struct ic_item *i = ic_node_items(ic_node_get(root, "items")); i && result == 0; i = i->next)
		if (strcmp(kind, "SecretList") == 0 || ic_node_equals(ic_node_get(i->value, "kind"), "Secret"))
			result = collect_secret(i->value, file, v, err);
	return result;
}

const struct ic_pull_secret *ic_pull_secrets_find(const struct ic_vec *v, const char *name, size_t len, const char *namespace_)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct ic_pull_secret *s = ic_vec_at(v, i);

		if (ic_text_equal(name, len, s->name) && (!namespace_ || !s->namespace_ || strcmp(namespace_, s->namespace_) == 0))
			return s;
	}
	return NULL;
}
