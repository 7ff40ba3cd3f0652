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

static void clear_account(struct ic_pull_account *a)
{
	free(a->name);
	free(a->namespace_);
	free(a->secrets);
}

void ic_pull_secrets_init(struct ic_pull_secrets *s)
{
	ic_vec_init(&s->secrets, sizeof(struct ic_pull_secret), IC_MAX_IMAGES);
	ic_vec_init(&s->accounts, sizeof(struct ic_pull_account), IC_MAX_IMAGES);
}

void ic_pull_secrets_clear(struct ic_pull_secrets *s)
{
	for (size_t i = 0; i < s->secrets.count; i++)
		clear(ic_vec_at(&s->secrets, i));
	for (size_t i = 0; i < s->accounts.count; i++)
		clear_account(ic_vec_at(&s->accounts, i));
	ic_vec_clear(&s->secrets);
	ic_vec_clear(&s->accounts);
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

int ic_pull_secrets_add_names(const struct ic_node *owner, struct ic_buf *out, struct imgcheck_error **err)
{
	const struct ic_item *i = ic_node_items(ic_node_get(owner, "imagePullSecrets"));

	for (; i; i = i->next) {
		const char *name = ic_node_get_text(i->value, "name");
		int result;

		if (!name || out->len + strlen(" ") + strlen(name) >= out->max)
			continue;
		result = ic_buf_printf(out, err, "%s%s", out->len ? " " : "", name);
		if (result < 0)
			return result;
	}
	return 0;
}

static int collect_account(const struct ic_node *object, struct ic_vec *v, struct imgcheck_error **err)
{
	const struct ic_node *metadata = ic_node_get(object, "metadata");
	const char *name = ic_node_get_text(metadata, "name");
	struct ic_pull_account a = {0};
	struct ic_buf names IC_AUTO(buf);
	int result;

	ic_buf_init(&names, IC_MAX_PATH_BYTES);
	result = name ? ic_pull_secrets_add_names(object, &names, err) : 0;
	if (result < 0 || names.len == 0)
		return result;
	a.secrets = ic_buf_take(&names);
	if (a.secrets && copy(&a.name, name) && copy(&a.namespace_, ic_node_get_text(metadata, "namespace")))
		result = ic_vec_push(v, &a, err);
	else
		result = ic_error_nomem(err);
	if (result < 0)
		clear_account(&a);
	return result;
}

/* kind is the object's, as it is written or as its list's tells. */
static int collect(const struct ic_node *object, const char *kind, size_t len, const char *file, struct ic_pull_secrets *s,
                   struct imgcheck_error **err)
{
	if (ic_text_equal(kind, len, "Secret"))
		return collect_secret(object, file, &s->secrets, err);
	return ic_text_equal(kind, len, "ServiceAccount") ? collect_account(object, &s->accounts, err) : 0;
}

int ic_pull_secrets_collect(const struct ic_node *root, const char *file, struct ic_pull_secrets *s, struct imgcheck_error **err)
{
	const char *kind = ic_node_get_text(root, "kind");
	size_t len = kind ? strlen(kind) : 0;
	int result = 0;

	if (!kind || !ic_text_ends(kind, len, "List"))
		return kind ? collect(root, kind, len, file, s, err) : 0;
	len -= strlen("List");
	for (const struct ic_item *i = ic_node_items(ic_node_get(root, "items")); i && result == 0; i = i->next) {
		const char *own = ic_node_get_text(i->value, "kind");

		result = own ? collect(i->value, own, strlen(own), file, s, err) : collect(i->value, kind, len, file, s, err);
	}
	return result;
}

/* Whether what stands in one namespace is meant by an object in the other; one that is not written fits all. */
static bool same_namespace(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

const struct ic_pull_secret *ic_pull_secrets_find(const struct ic_pull_secrets *s, const char *name, size_t len,
                                                  const char *namespace_)
{
	for (size_t i = 0; i < s->secrets.count; i++) {
		const struct ic_pull_secret *secret = ic_vec_at(&s->secrets, i);

		if (ic_text_equal(name, len, secret->name) && same_namespace(secret->namespace_, namespace_))
			return secret;
	}
	return NULL;
}

const struct ic_pull_account *ic_pull_secrets_find_account(const struct ic_pull_secrets *s, const char *name,
                                                           const char *namespace_)
{
	for (size_t i = 0; i < s->accounts.count; i++) {
		const struct ic_pull_account *a = ic_vec_at(&s->accounts, i);

		if (strcmp(name, a->name) == 0 && same_namespace(a->namespace_, namespace_))
			return a;
	}
	return NULL;
}
