/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <string.h>

#include "base/limits.h"

#define OCI_URL "oci://"

const char *const ic_parts_helm_keys[] = {"registry", "repository", "image", "name", "tag", "version", "digest", NULL};

void ic_parts_init(struct ic_buf *out)
{
	ic_buf_init(out, 2 * IC_MAX_REF_BYTES);
}

const char *ic_part(const struct ic_node *node, const char *key, const char *other)
{
	const char *text = ic_node_get_text(node, key);

	if ((!text || !*text) && other)
		text = ic_node_get_text(node, other);
	return text && *text ? text : NULL;
}

struct parts {
	const char *registry, *repository, *name, *tag, *digest; /* NULL where not given */
};

static int join_part(struct ic_buf *out, const char *before, const char *text, struct imgcheck_error **err)
{
	int result = 0;

	if (!text)
		return 0;
	if (strlen(text) + out->len + 1 > out->max)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot join parts to more than %zu bytes", out->max);
	if (out->len)
		result = ic_buf_add_text(out, before, err);
	return result < 0 ? result : ic_buf_add_text(out, text, err);
}

static int join(const struct parts *p, struct ic_buf *out, struct imgcheck_error **err)
{
	const struct {
		const char *before, *text;
	} pieces[] = {{"/", p->registry}, {"/", p->repository}, {"/", p->name}, {":", p->tag}, {"@", p->digest}};

	for (size_t i = 0; i < IC_COUNT(pieces); i++) {
		int result = join_part(out, pieces[i].before, pieces[i].text, NULL);

		if (result == IMGCHECK_ERR_LIMIT) {
			ic_buf_clear(out);
			return 0;
		}
		if (result < 0)
			return ic_error_nomem(err);
	}
	return 0;
}

/* Whether there is a place for a tag or digest: one pass, since every mapping is asked. */
static bool has_tag(const struct ic_node *node)
{
	static const char *const keys[] = {"tag", "version", "digest"};

	for (const struct ic_item *i = ic_node_items(node); i; i = i->next) {
		if (!ic_node_is(i->key, IC_NODE_SCALAR) || i->key->len > strlen("version"))
			continue;
		for (size_t k = 0; k < IC_COUNT(keys); k++)
			if (ic_node_equals(i->key, keys[k]))
				return true;
	}
	return false;
}

int ic_parts_helm(const struct ic_node *node, struct ic_buf *out, bool *untagged, struct imgcheck_error **err)
{
	struct parts p;

	*untagged = false;
	if (!has_tag(node))
		return 0;
	p.registry = ic_part(node, "registry", NULL);
	p.repository = ic_part(node, "repository", NULL);
	p.name = ic_part(node, "image", p.repository ? NULL : "name");
	p.tag = ic_part(node, "tag", "version");
	p.digest = ic_part(node, "digest", NULL);
	*untagged = !p.tag && !p.digest;
	if (!p.repository && !(p.name && (p.registry || strchr(p.name, '/'))))
		return 0;
	return join(&p, out, err);
}

int ic_parts_kustomize(const struct ic_node *node, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *text = ic_node_text(node), *equals = text ? strchr(text, '=') : NULL;
	const struct parts p = {.name = ic_part(node, "newName", "name"), .tag = ic_part(node, "newTag", NULL),
	                        .digest = ic_part(node, "digest", NULL)};

	if (equals)
		return join(&(struct parts){.name = equals + 1}, out, err);
	if (!p.name || (!p.tag && !p.digest && !ic_part(node, "newName", NULL)))
		return 0;
	return join(&p, out, err);
}

int ic_parts_flux(const struct ic_node *node, struct ic_buf *out, struct imgcheck_error **err)
{
	const struct ic_node *ref = ic_node_get(node, "ref");
	const char *url = ic_part(node, "url", NULL);
	struct parts p = {.tag = ic_part(ref, "tag", NULL), .digest = ic_part(ref, "digest", NULL)};

	if (!url || strncmp(url, OCI_URL, strlen(OCI_URL)) != 0 || (!p.tag && !p.digest))
		return 0;
	p.name = url + strlen(OCI_URL);
	return join(&p, out, err);
}
