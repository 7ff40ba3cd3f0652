/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include <string.h>

#include "base/limits.h"
#include "pull_secrets.h"

#define ROOM_FOR_STEP 32 /* bytes that a step needs besides its key */

unsigned ic_walk_line(const struct ic_walk *w, const struct ic_node *node)
{
	return w->fixed_line ? w->base_line : w->base_line + node->line;
}

const struct ic_node *ic_step_name(const struct ic_step *at)
{
	while (at && at->kind == IC_STEP_INDEX)
		at = at->up;
	return at && at->kind == IC_STEP_KEY ? at->key : NULL;
}

/* "spec.containers[0].image"; what is beyond the buffer's ceiling is cut. */
static int add_path(struct ic_buf *out, const struct ic_step *at, struct imgcheck_error **err)
{
	const char *key = "";
	int result;

	if (!at)
		return 0;
	result = add_path(out, at->up, err);
	if (result < 0)
		return result;
	if (at->kind == IC_STEP_KEY && at->key->kind == IC_NODE_SCALAR)
		key = at->key->text;
	if (out->len + strlen(key) + ROOM_FOR_STEP > out->max)
		return 0;
	switch (at->kind) {
	case IC_STEP_KEY:
		if (at->up && at->up->kind != IC_STEP_INSIDE)
			result = ic_buf_add_char(out, '.', err);
		return result < 0 ? result : ic_buf_add_text(out, key, err);
	case IC_STEP_INDEX:
		return ic_buf_printf(out, err, "[%zu]", at->index);
	case IC_STEP_INSIDE:
		return ic_buf_add_text(out, " -> ", err);
	}
	return 0;
}

/* "DaemonSet kube-system/name"; nothing outside of an object. */
static int add_object(struct ic_buf *out, const struct ic_node *object, const char *namespace_, struct imgcheck_error **err)
{
	const struct ic_node *metadata = ic_node_get(object, "metadata");
	const char *kind = ic_node_get_text(object, "kind"), *name = ic_node_get_text(metadata, "name");

	if (!name)
		name = ic_node_get_text(metadata, "generateName");
	if (!kind || strlen(kind) + (name ? strlen(name) : 0) + (namespace_ ? strlen(namespace_) : 0) + ROOM_FOR_STEP > out->max)
		return 0;
	return ic_buf_printf(out, err, "%s%s%s%s%s", kind, name ? " " : "", name && namespace_ ? namespace_ : "",
	                     name && namespace_ ? "/" : "", name ? name : "");
}

/*
 * The ServiceAccount that a pod runs as, where it has no pull secrets of its own: it then gets those of the account, as by
 * the API server's admission plugin ServiceAccount.
 */
static const char *account_for_secrets(const struct ic_node *pod)
{
	const char *name = ic_node_get_text(pod, "serviceAccountName");

	if (!pod || ic_node_items(ic_node_get(pod, "imagePullSecrets")))
		return NULL;
	if (!name || !name[0])
		name = ic_node_get_text(pod, "serviceAccount"); /* the field's former name */
	return name && name[0] ? name : "default";
}

static const char *node_arch(const struct ic_node *pod)
{
	const struct ic_node *selector = ic_node_get(pod, "nodeSelector");
	const char *arch = ic_node_get_text(selector, "kubernetes.io/arch");

	return arch ? arch : ic_node_get_text(selector, "beta.kubernetes.io/arch");
}

static const char *text_or_null(const struct ic_buf *b)
{
	return b->len ? b->data : NULL;
}

int ic_walk_find(const struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, const char *text, size_t len,
                 struct ic_find find, struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf), object IC_AUTO(buf), secrets IC_AUTO(buf);
	const char *namespace_ = ic_node_get_text(ic_node_get(w->object, "metadata"), "namespace");
	struct ic_found found;
	int result;

	ic_buf_init(&path, IC_MAX_PATH_BYTES);
	ic_buf_init(&object, IC_MAX_PATH_BYTES);
	ic_buf_init(&secrets, IC_MAX_PATH_BYTES);
	if (find.form == IC_FORM_OTHER || (w->hidden && find.form == IC_FORM_UNRESOLVED))
		return 0;
	result = add_path(&path, at, err);
	if (result == 0)
		result = add_object(&object, w->object, namespace_, err);
	if (result == 0)
		result = ic_pull_secrets_add_names(w->pod, &secrets, err);
	if (result < 0)
		return result;
	if (w->nesting > 0)
		find.class = IMGCHECK_CLASS_MENTIONED;
	if (w->hidden)
		find.class = IMGCHECK_CLASS_HINT;
	found = (struct ic_found){.form = find.form, .text = text, .len = len, .note = find.note};
	found.column = w->nesting > 0 ? 0 : node->column;
	found.place = (struct ic_place){.object = text_or_null(&object), .path = text_or_null(&path), .namespace_ = namespace_,
	                                .pull_policy = w->pull_policy, .pull_secrets = text_or_null(&secrets),
	                                .account = account_for_secrets(w->pod), .node_arch = node_arch(w->pod),
	                                .line = ic_walk_line(w, node),
	                                .class = find.class, .certainty = find.certainty};
	return w->sink->found(w->sink->arg, &found, err);
}

/* What does not fit is left out. */
static int add_part(struct ic_buf *out, const char *text, size_t len)
{
	int result = ic_buf_add(out, text, len, NULL);

	return result == IMGCHECK_ERR_LIMIT ? 0 : result;
}

/* What stands where a text should, as YAML's flow style has it; cut where it is long.  Errors: NOMEM. */
static int describe(const struct ic_node *node, struct ic_buf *out)
{
	const char *separator = node->kind == IC_NODE_MAPPING ? "{" : "[";
	int result = 0;

	if (node->kind == IC_NODE_SCALAR)
		return add_part(out, node->text, node->len);
	for (const struct ic_item *i = ic_node_items(node); result == 0 && i && out->len < out->max / 2; i = i->next) {
		result = add_part(out, separator, strlen(separator));
		if (result == 0 && i->key)
			result = describe(i->key, out);
		if (result == 0 && i->key && !ic_node_is_null(i->value))
			result = add_part(out, ": ", strlen(": "));
		if (result == 0)
			result = describe(i->value, out);
		separator = ", ";
	}
	return result < 0 ? result : add_part(out, node->kind == IC_NODE_MAPPING ? "}" : "]", 1);
}

int ic_walk_find_no_text(const struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);

	ic_buf_init(&text, IC_MAX_REF_BYTES);
	if (describe(node, &text) < 0)
		return ic_error_nomem(err);
	return ic_walk_find(w, at, node, ic_buf_text(&text), text.len,
	                    (struct ic_find){.class = IMGCHECK_CLASS_REQUIRED, .form = IC_FORM_UNRESOLVED}, err);
}

int ic_walk_count_aliases(const struct ic_walk *w, const struct ic_doc *doc, struct imgcheck_error **err)
{
	size_t *aliased = w->sink->aliased;

	if (!aliased)
		return 0;
	*aliased += doc->aliased;
	return *aliased <= IC_MAX_FILE_ALIAS_NODES
	               ? 0
	               : ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot follow aliases in one file that expand to more than %zu values",
	                              IC_MAX_FILE_ALIAS_NODES);
}
