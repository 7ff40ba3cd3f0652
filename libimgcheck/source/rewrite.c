/* SPDX-License-Identifier: Apache-2.0 */
#include "source/rewrite.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/config.h"
#include "source/host.h"

#define HUB_OFFICIAL "library/"

static bool same_registry(const char *a, size_t len, const char *b)
{
	if (ic_host_is_hub(b, strlen(b)))
		return ic_host_is_hub(a, len);
	return ic_text_equal_nocase(a, len, b);
}

/*
 * Whether the reference stands under a place host[:port][/prefix] of len bytes; *rest is then its
 * repository behind the prefix, "" for the prefix itself.
 */
static bool is_under(const struct ic_ref *ref, const char *place, size_t len, const char **rest)
{
	const char *slash = memchr(place, '/', len);
	size_t host_len = slash ? (size_t)(slash - place) : len;
	size_t prefix_len = slash ? len - host_len - 1 : 0;

	if (!same_registry(place, host_len, ref->registry) || strncmp(ref->repository, place + len - prefix_len, prefix_len) != 0)
		return false;
	*rest = ref->repository + prefix_len;
	if (prefix_len == 0)
		return true;
	if (**rest == '/')
		(*rest)++;
	else if (**rest)
		return false;
	return true;
}

/* The reference with another name, read anew, since Docker Hub's defaults may apply to it. */
static int rename_to(const struct ic_ref *ref, const char *place, const char *rest, struct ic_ref *out,
                     struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_OPTION_BYTES + IC_MAX_REF_BYTES);
	if (!rest[0] && !strchr(place, '/'))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot rewrite %s/%s: \"%s\" names no repository", ref->registry,
		                    ref->repository, place);
	result = ic_buf_printf(&text, err, "%s%s%s%s%s%s%s", place, rest[0] ? "/" : "", rest, ref->tag ? ":" : "",
	                       ref->tag ? ref->tag : "", ref->digest ? "@" : "", ref->digest ? ref->digest : "");
	if (result == 0)
		result = ic_ref_parse(text.data, text.len, out, err);
	if (result == IMGCHECK_ERR_SYNTAX)
		ic_error_prefix(err, "cannot rewrite %s/%s: ", ref->registry, ref->repository);
	if (result == 0)
		out->tag_ignored = ref->tag_ignored;
	return result;
}

static char *copy(const char *text)
{
	return text ? ic_text_copy(text, strlen(text)) : NULL;
}

static int copy_ref(const struct ic_ref *ref, struct ic_ref *out, struct imgcheck_error **err)
{
	*out = *ref;
	out->registry = copy(ref->registry);
	out->repository = copy(ref->repository);
	out->tag = copy(ref->tag);
	out->digest = copy(ref->digest);
	if (out->registry && out->repository && !out->tag == !ref->tag && !out->digest == !ref->digest)
		return 0;
	ic_ref_clear(out);
	return ic_error_nomem(err);
}

int ic_rewrite(const struct imgcheck_config *c, const struct ic_ref *ref, struct ic_ref *out,
               struct imgcheck_error **err)
{
	const char *registry = ic_config_value(c, IMGCHECK_OPTION_REGISTRY);
	const char *map, *rest;

	*out = (struct ic_ref){0};
	for (size_t i = 0; (map = ic_config_item(c, IMGCHECK_OPTION_REWRITE_MAP, i)); i++)
		if (is_under(ref, map, strcspn(map, "="), &rest))
			return rename_to(ref, strchr(map, '=') + 1, rest, out, err);
	if (strcmp(ic_config_value(c, IMGCHECK_OPTION_REWRITE), "true") != 0)
		return copy_ref(ref, out, err);
	if (!registry)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot rewrite references: rewrite is set, but no registry");
	if (is_under(ref, registry, strlen(registry), &rest))
		return copy_ref(ref, out, err);
	rest = ref->repository;
	if (ic_host_is_hub(ref->registry, strlen(ref->registry)) && ic_text_starts(rest, strlen(rest), HUB_OFFICIAL))
		rest += strlen(HUB_OFFICIAL);
	return rename_to(ref, registry, rest, out, err);
}
