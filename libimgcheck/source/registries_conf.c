/* SPDX-License-Identifier: Apache-2.0 */
#include "source/registries_conf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/ref.h"
#include "base/text.h"
#include "base/toml.h"
#include "source/host.h"
#include "source/mirror.h"

#define HUB_OFFICIAL "library/"

/* ------------------------------------------------------------------ memory */

static void registry_clear(struct ic_conf_registry *r)
{
	for (size_t i = 0; i < r->mirrors.count; i++)
		free(((struct ic_conf_mirror *)ic_vec_at(&r->mirrors, i))->location);
	ic_vec_clear(&r->mirrors);
	free(r->prefix);
	free(r->location);
	free(r->place);
	*r = (struct ic_conf_registry){0};
}

static void ic_auto_registry(struct ic_conf_registry *r)
{
	registry_clear(r);
}

static void registries_init(struct ic_vec *v)
{
	ic_vec_init(v, sizeof(struct ic_conf_registry), IC_MAX_LIST_ITEMS);
}

static void ic_auto_registries(struct ic_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		registry_clear(ic_vec_at(v, i));
	ic_vec_clear(v);
}

void ic_registries_conf_init(struct ic_registries_conf *c)
{
	*c = (struct ic_registries_conf){0};
	registries_init(&c->registries);
	ic_texts_init(&c->search, IC_MAX_LIST_ITEMS);
	ic_texts_init(&c->aliases, 2 * IC_MAX_LIST_ITEMS);
	ic_texts_init(&c->helpers, IC_MAX_LIST_ITEMS);
}

void ic_registries_conf_clear(struct ic_registries_conf *c)
{
	ic_auto_registries(&c->registries);
	ic_texts_clear(&c->search);
	ic_texts_clear(&c->aliases);
	ic_texts_clear(&c->helpers);
}

void ic_pull_sources_clear(struct ic_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(((struct ic_pull_source *)ic_vec_at(v, i))->name);
	ic_vec_clear(v);
}

/* ------------------------------------------------------------------ reading */

struct reader {
	const char *place;
	struct ic_registries_conf *out;
	struct ic_vec registries; /* struct ic_conf_registry, all of the file */
};

static int refuse(const struct reader *r, const struct ic_node *node, const char *what, struct imgcheck_error **err)
{
	return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, node->line, node->column, "cannot use %s", what);
}

/* With a name, or NULL. */
static const char *what_is_wrong(const char *name)
{
	if (!ic_mirror_is_path(name))
		return "a name with blanks or other signs: host[:port][/path] is expected";
	if (strstr(name, "://"))
		return "a name with a scheme: host[:port][/path] is expected";
	return memchr(name, '@', strcspn(name, "/")) ? "a name with a login: host[:port][/path] is expected" : NULL;
}

/* A text that may be absent. */
static int take_text(const struct reader *r, const struct ic_node *table, const char *key, char **out, struct imgcheck_error **err)
{
	const struct ic_node *node = ic_toml_get(table, key);
	size_t len = node ? node->len : 0;
	const char *wrong;

	*out = NULL;
	if (node && (node->kind != IC_NODE_SCALAR || node->style != IC_STYLE_QUOTED || strlen(node->text) != len))
		return refuse(r, node, "a name that is not a text", err);
	wrong = node ? what_is_wrong(node->text) : NULL;
	if (wrong)
		return refuse(r, node, wrong, err);
	*out = ic_text_copy(node ? node->text : "", len);
	return *out ? 0 : ic_error_nomem(err);
}

/* The same, slashes at its end not counting.  Those of a mirror's location count, as for skopeo 1.9: they make no name. */
static int take_trimmed(const struct reader *r, const struct ic_node *table, const char *key, char **out,
                        struct imgcheck_error **err)
{
	int result = take_text(r, table, key, out, err);
	size_t len = result == 0 ? strlen(*out) : 0;

	while (len > 0 && (*out)[len - 1] == '/')
		(*out)[--len] = '\0';
	return result;
}

static int take_bool(const struct reader *r, const struct ic_node *table, const char *key, bool *out, struct imgcheck_error **err)
{
	const struct ic_node *node = ic_toml_get(table, key);
	bool is;

	*out = ic_toml_bool(node, &is);
	return !node || is ? 0 : refuse(r, node, "what is not true or false", err);
}

static int take_pull(const struct reader *r, const struct ic_node *table, bool digests_only, enum ic_conf_pull *out,
                     struct imgcheck_error **err)
{
	static const char *const words[] = {"all", "digest-only", "tag-only"};
	const struct ic_node *node = ic_toml_get(table, "pull-from-mirror");

	*out = digests_only ? IC_CONF_DIGEST_ONLY : IC_CONF_ALL;
	if (!node || node->len == 0)
		return 0;
	if (digests_only)
		return refuse(r, node, "pull-from-mirror beside mirror-by-digest-only", err);
	for (size_t i = 0; i < IC_COUNT(words); i++)
		if (ic_node_equals(node, words[i])) {
			*out = (enum ic_conf_pull)i;
			return 0;
		}
	return refuse(r, node, "pull-from-mirror: it is all, digest-only or tag-only", err);
}

/* The tables of a list, [[name]]; there need be none. */
static int take_tables(const struct reader *r, const struct ic_node *table, const char *key, const struct ic_item **out,
                       struct imgcheck_error **err)
{
	const struct ic_node *list = ic_toml_get(table, key);

	*out = ic_node_items(list);
	if (list && list->kind != IC_NODE_SEQUENCE)
		return refuse(r, list, "what is not a list of tables: write [[registry]] and [[registry.mirror]]", err);
	for (const struct ic_item *i = *out; i; i = i->next)
		if (i->value->kind != IC_NODE_MAPPING)
			return refuse(r, i->value, "what is not a table: write [[registry]] and [[registry.mirror]]", err);
	return 0;
}

static int add_mirror(const struct reader *r, struct ic_conf_registry *to, const struct ic_node *table, struct imgcheck_error **err)
{
	struct ic_conf_mirror m = {0};
	int result = take_text(r, table, "location", &m.location, err);

	if (result == 0 && !m.location[strspn(m.location, "/")])
		result = refuse(r, table, "a mirror without a location", err);
	if (result == 0)
		result = take_bool(r, table, "insecure", &m.insecure, err);
	if (result == 0)
		result = take_pull(r, table, to->mirror_by_digest_only, &m.pull, err);
	if (result == 0)
		result = ic_vec_push(&to->mirrors, &m, err);
	if (result < 0)
		free(m.location);
	return result;
}

/* The prefix is the location where none is written; a name with a wildcard may stay as it is. */
static int check_names(const struct reader *r, struct ic_conf_registry *registry, const struct ic_node *table,
                       struct imgcheck_error **err)
{
	bool wild = ic_text_starts(registry->prefix, strlen(registry->prefix), "*.");

	if (!registry->prefix[0]) {
		free(registry->prefix);
		registry->prefix = ic_text_copy(registry->location, strlen(registry->location));
	}
	if (!registry->prefix)
		return ic_error_nomem(err);
	if (!registry->location[0] && !wild)
		return refuse(r, table, "a registry without a location", err);
	if (wild && strpbrk(registry->prefix, "/@:"))
		return refuse(r, table, "a prefix with a wildcard and a port or a path, \"*.example.com\" is expected", err);
	if (strchr(registry->location, '*') || strchr(registry->prefix + (wild ? 2 : 0), '*'))
		return refuse(r, table, "a wildcard anywhere but at the start of a prefix, \"*.example.com\"", err);
	return 0;
}

static int fill_registry(const struct reader *r, struct ic_conf_registry *registry, const struct ic_node *table,
                         struct imgcheck_error **err)
{
	const struct ic_node *pull = ic_toml_get(table, "pull-from-mirror");
	const struct ic_item *mirrors = NULL;
	int result = take_trimmed(r, table, "prefix", &registry->prefix, err);

	if (result == 0 && pull && pull->len)
		result = refuse(r, pull, "pull-from-mirror of a registry: it belongs to a [[registry.mirror]]", err);
	if (result == 0)
		result = take_trimmed(r, table, "location", &registry->location, err);
	if (result == 0)
		result = check_names(r, registry, table, err);
	if (result == 0)
		result = take_bool(r, table, "insecure", &registry->insecure, err);
	if (result == 0)
		result = take_bool(r, table, "blocked", &registry->blocked, err);
	if (result == 0)
		result = take_bool(r, table, "mirror-by-digest-only", &registry->mirror_by_digest_only, err);
	if (result == 0)
		result = take_tables(r, table, "mirror", &mirrors, err);
	for (const struct ic_item *i = mirrors; i && result == 0; i = i->next)
		result = add_mirror(r, registry, i->value, err);
	return result;
}

/* In the place of one with the same prefix, or behind all. */
static int keep_registry(struct ic_registries_conf *c, struct ic_conf_registry *registry, struct imgcheck_error **err)
{
	int result;

	for (size_t i = 0; i < c->registries.count; i++) {
		struct ic_conf_registry *old = ic_vec_at(&c->registries, i);

		if (strcmp(old->prefix, registry->prefix) == 0) {
			registry_clear(old);
			*old = *registry;
			*registry = (struct ic_conf_registry){0};
			return 0;
		}
	}
	result = ic_vec_push(&c->registries, registry, err);
	if (result == 0)
		*registry = (struct ic_conf_registry){0};
	return result;
}

static int add_registry(struct reader *r, const struct ic_node *table, struct imgcheck_error **err)
{
	struct ic_conf_registry registry IC_AUTO(registry) = {.line = table->line, .place = ic_text_copy(r->place, strlen(r->place))};
	int result;

	ic_vec_init(&registry.mirrors, sizeof(struct ic_conf_mirror), IC_MAX_LIST_ITEMS);
	if (!registry.place)
		return ic_error_nomem(err);
	result = fill_registry(r, &registry, table, err);
	if (result == 0)
		result = ic_vec_push(&r->registries, &registry, err);
	if (result == 0)
		registry = (struct ic_conf_registry){0};
	return result;
}

static const char *place_of(const struct ic_conf_registry *r)
{
	return r->location[0] ? r->location : r->prefix;
}

/* One location is insecure or blocked for all prefixes of a file, or for none. */
static int check_registry(const struct reader *r, size_t at, struct imgcheck_error **err)
{
	const struct ic_conf_registry *a = ic_vec_at(&r->registries, at);

	for (size_t i = 0; i < at; i++) {
		const struct ic_conf_registry *b = ic_vec_at(&r->registries, i);

		if (strcmp(place_of(a), place_of(b)) == 0 && (a->insecure != b->insecure || a->blocked != b->blocked))
			return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, a->place, a->line, 0,
			                       "cannot use %s: it is insecure or blocked here, and not for %s", place_of(a), b->prefix);
	}
	return 0;
}

/* Of one prefix the first of a file counts, and the last file. */
static bool is_first(const struct reader *r, size_t at)
{
	const struct ic_conf_registry *a = ic_vec_at(&r->registries, at);

	for (size_t i = 0; i < at; i++)
		if (strcmp(((const struct ic_conf_registry *)ic_vec_at(&r->registries, i))->prefix, a->prefix) == 0)
			return false;
	return true;
}

static int add_registries(struct reader *r, const struct ic_node *root, struct imgcheck_error **err)
{
	const struct ic_item *tables;
	int result = take_tables(r, root, "registry", &tables, err);

	for (const struct ic_item *i = tables; i && result == 0; i = i->next)
		result = add_registry(r, i->value, err);
	for (size_t i = 0; i < r->registries.count && result == 0; i++)
		result = check_registry(r, i, err);
	/* from behind: what is moved leaves nothing to compare with */
	for (size_t i = r->registries.count; i > 0 && result == 0; i--)
		if (is_first(r, i - 1))
			result = keep_registry(r->out, ic_vec_at(&r->registries, i - 1), err);
	return result;
}

/* A registry to search is a host alone. */
static const char *what_is_wrong_to_search(const char *name)
{
	const char *wrong = what_is_wrong(name);
	struct ic_host host;

	return wrong || ic_host_parse(name, strlen(name), &host) ? wrong : "a registry to search: host[:port] is expected";
}

/* A list in the place of the one before; absent leaves that. */
static int take_names(const struct reader *r, const struct ic_node *root, const char *key,
                      const char *(*find_fault)(const char *name), struct ic_vec *out, struct imgcheck_error **err)
{
	const struct ic_node *list = ic_toml_get(root, key);
	int result = 0;

	if (!list)
		return 0;
	if (list->kind != IC_NODE_SEQUENCE)
		return refuse(r, list, "what is not a list of names", err);
	ic_texts_clear(out);
	for (const struct ic_item *i = ic_node_items(list); i && result == 0; i = i->next) {
		const char *name = ic_node_text(i->value);

		if (!name || find_fault(name))
			return refuse(r, i->value, name ? find_fault(name) : "a name that is not a text", err);
		result = ic_texts_push(out, name, strlen(name), err);
	}
	return result;
}

static int take_mode(const struct reader *r, const struct ic_node *mode, struct imgcheck_error **err)
{
	static const char *const words[] = {"enforcing", "permissive", "disabled"};
	size_t i = 0;

	if (!mode || (ic_node_is(mode, IC_NODE_SCALAR) && mode->len == 0))
		return 0;
	while (i < IC_COUNT(words) && !ic_node_equals(mode, words[i]))
		i++;
	r->out->enforcing = i == 0;
	return i < IC_COUNT(words) ? 0 : refuse(r, mode, "short-name-mode: it is enforcing, permissive or disabled", err);
}

/* A repository, without tag and digest: what stands behind its first slash holds no mark of one. */
static bool is_whole_name(const char *name)
{
	const char *slash = strchr(name, '/');

	return ic_ref_is_valid(name, strlen(name)) && !strpbrk(slash ? slash : name, ":@");
}

/* Whether the name starts with a registry: what stands before the first slash is a host. */
static bool has_registry(const char *name)
{
	size_t len = strcspn(name, "/");

	return name[len] == '/' && (memchr(name, '.', len) || memchr(name, ':', len) || ic_text_equal(name, len, "localhost"));
}

static int add_aliases(const struct reader *r, const struct ic_node *table, struct imgcheck_error **err)
{
	int result = 0;

	if (table && table->kind != IC_NODE_MAPPING)
		return refuse(r, table, "aliases: it is not a table", err);
	for (const struct ic_item *i = ic_node_items(table); i && result == 0; i = i->next) {
		const char *name = ic_node_text(i->value);

		if (!name || !ic_mirror_is_path(name))
			return refuse(r, i->value, "a name that is not a text", err);
		if (has_registry(i->key->text) || (name[0] && (!has_registry(name) || !is_whole_name(name))))
			return refuse(r, i->value, "an alias: it gives a name without a registry one with it", err);
		result = ic_texts_push(&r->out->aliases, i->key->text, i->key->len, err);
		if (result == 0)
			result = ic_texts_push(&r->out->aliases, name, strlen(name), err);
	}
	return result;
}

/* Those of version 1 count where one of them lists something. */
static int refuse_old_tables(const struct reader *r, const struct ic_node *root, struct imgcheck_error **err)
{
	const struct ic_node *old = ic_toml_get(root, "registries");

	for (const struct ic_item *i = ic_node_items(old); i; i = i->next) {
		const struct ic_node *list = ic_toml_get(i->value, "registries");

		if (list && list->len)
			return refuse(r, old, "the tables of version 1: write [[registry]] and unqualified-search-registries", err);
	}
	return 0;
}

int ic_registries_conf_add(struct ic_registries_conf *c, const char *place, const char *text, size_t len,
                           struct imgcheck_error **err)
{
	struct reader r = {.place = place, .out = c};
	struct ic_doc *doc IC_AUTO(doc) = NULL;
	int result = ic_toml_parse(place, text, len, &doc, err);

	if (result < 0)
		return result;
	registries_init(&r.registries);
	result = refuse_old_tables(&r, doc->root, err);
	if (result == 0)
		result = add_registries(&r, doc->root, err);
	ic_auto_registries(&r.registries);
	if (result == 0)
		result = take_names(&r, doc->root, "unqualified-search-registries", what_is_wrong_to_search, &c->search, err);
	if (result == 0)
		result = take_names(&r, doc->root, "credential-helpers", what_is_wrong, &c->helpers, err);
	if (result == 0)
		result = take_mode(&r, ic_toml_get(doc->root, "short-name-mode"), err);
	return result < 0 ? result : add_aliases(&r, ic_toml_get(doc->root, "aliases"), err);
}

static int add_file(struct ic_registries_conf *c, const char *path, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	result = ic_file_read(path, &text, err);
	return result < 0 ? result : ic_registries_conf_add(c, path, ic_buf_text(&text), text.len, err);
}

/* Folders are passed over, whatever their names. */
static int add_drop_in(struct ic_registries_conf *c, const char *folder, const char *name, struct imgcheck_error **err)
{
	struct ic_buf file IC_AUTO(buf);
	struct stat status;
	int result;

	ic_buf_init(&file, IC_MAX_PATH_BYTES);
	if (!ic_text_ends(name, strlen(name), ".conf"))
		return 0;
	result = ic_buf_printf(&file, err, "%s/%s", folder, name);
	if (result < 0 || (lstat(ic_buf_text(&file), &status) == 0 && S_ISDIR(status.st_mode)))
		return result;
	return add_file(c, ic_buf_text(&file), err);
}

int ic_registries_conf_read(struct ic_registries_conf *c, const char *path, struct imgcheck_error **err)
{
	struct ic_buf folder IC_AUTO(buf);
	struct ic_vec names IC_AUTO(texts);
	int result = add_file(c, path, err);

	ic_buf_init(&folder, IC_MAX_PATH_BYTES);
	ic_texts_init(&names, 0);
	if (result == 0)
		result = ic_buf_printf(&folder, err, "%s.d", path);
	if (result < 0 || (access(ic_buf_text(&folder), F_OK) < 0 && errno == ENOENT))
		return result;
	result = ic_file_list(ic_buf_text(&folder), &names, err);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = add_drop_in(c, ic_buf_text(&folder), ic_texts_get(&names, i), err);
	return result;
}

/* ------------------------------------------------------------------ finding */

static bool is_end(char c)
{
	return c == '\0' || c == '/' || c == ':' || c == '@';
}

/* How much of the name the prefix covers; 0 for none. */
static size_t covered(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	const char *at;

	if (!ic_text_starts(prefix, len, "*."))
		return ic_text_starts(name, strlen(name), prefix) && is_end(name[len]) ? len : 0;
	at = strstr(name, prefix + 1);
	if (!at || memchr(name, '/', (size_t)(at - name)))
		return 0;
	at += len - 1;
	return is_end(*at) ? (size_t)(at - name) : 0;
}

/* The longest prefix counts, and of equally long ones ("*.q.io", "r.q.io") the first in sorted order. */
static bool goes_before(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	return a_len > b_len || (a_len == b_len && strcmp(a, b) < 0);
}

static const struct ic_conf_registry *find_registry(const struct ic_registries_conf *c, const char *name)
{
	const struct ic_conf_registry *found = NULL;

	for (size_t i = 0; i < c->registries.count; i++) {
		const struct ic_conf_registry *r = ic_vec_at(&c->registries, i);

		if (covered(name, r->prefix) && (!found || goes_before(r->prefix, found->prefix)))
			found = r;
	}
	return found;
}

static bool is_name_of(const struct ic_ref *ref, const char *name)
{
	size_t len = strlen(ref->registry);

	return strncmp(name, ref->registry, len) == 0 && name[len] == '/' && strcmp(name + len + 1, ref->repository) == 0;
}

/* A place that makes no reference, or one that would have to be written out, ends the pull, whatever others there are. */
static int check_source(const char *name, size_t len, struct imgcheck_error **err)
{
	struct ic_ref ref IC_AUTO(ref) = {0};
	int result = ic_ref_parse(name, len, &ref, NULL);

	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result == 0 && is_name_of(&ref, name))
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "registries.conf makes \"%.300s\" of the name, which is none", name);
}

/* The location in the place of what the prefix covers. */
static int add_source(struct ic_vec *out, const char *name, const char *location, size_t len, struct ic_pull_source source,
                      struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_OPTION_BYTES);
	result = location[0] ? ic_buf_printf(&text, err, "%s%s", location, name + len) : ic_buf_add_text(&text, name, err);
	if (result == 0)
		result = check_source(ic_buf_text(&text), text.len, err);
	if (result < 0)
		return result;
	source.name = ic_buf_take(&text);
	result = source.name ? ic_vec_push(out, &source, err) : ic_error_nomem(err);
	if (result < 0)
		free(source.name);
	return result;
}

static bool may_serve(const struct ic_conf_mirror *m, const struct ic_ref *ref)
{
	switch (m->pull) {
	case IC_CONF_ALL:
		return true;
	case IC_CONF_DIGEST_ONLY:
		return ref->digest != NULL;
	case IC_CONF_TAG_ONLY:
		return ref->digest == NULL;
	}
	return false;
}

static int find_sources(const struct ic_registries_conf *c, const char *name, const struct ic_ref *ref, struct ic_vec *out,
                        struct imgcheck_error **err)
{
	const struct ic_conf_registry *r = find_registry(c, name);
	struct ic_pull_source primary = {.primary = true, .insecure = r && r->insecure};
	int result = 0;

	if (!r)
		return add_source(out, name, "", 0, primary, err);
	for (size_t i = 0; i < r->mirrors.count && result == 0; i++) {
		const struct ic_conf_mirror *m = ic_vec_at(&r->mirrors, i);

		if (may_serve(m, ref))
			result = add_source(out, name, m->location, covered(name, r->prefix),
			                    (struct ic_pull_source){.insecure = m->insecure}, err);
	}
	return result < 0 ? result : add_source(out, name, r->location, covered(name, r->prefix), primary, err);
}

/* Written out as a reference is: Docker Hub's library stands in front where it is left out. */
static int find_alias(const struct ic_registries_conf *c, const char *alias, const struct ic_ref *ref, struct ic_vec *out,
                      struct imgcheck_error **err)
{
	struct ic_ref full IC_AUTO(ref) = {0};
	struct ic_buf name IC_AUTO(buf);
	int result = ic_ref_parse(alias, strlen(alias), &full, err);

	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	if (result == 0)
		result = ic_buf_printf(&name, err, "%s/%s", full.registry, full.repository);
	return result < 0 ? result : find_sources(c, ic_buf_text(&name), ref, out, err);
}

/* A name without a registry: an alias, or each of the registries to search. */
static int find_short(const struct ic_registries_conf *c, const char *name, const struct ic_ref *ref, struct ic_vec *out,
                      struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = c->aliases.count; i >= 2; i -= 2) {
		const char *alias = ic_texts_get(&c->aliases, i - 1);

		if (strcmp(ic_texts_get(&c->aliases, i - 2), name) != 0)
			continue;
		/* an empty one takes back those before it */
		if (!alias[0])
			break;
		return find_alias(c, alias, ref, out, err);
	}
	if (c->search.count == 0)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG,
		                    "cannot pull the short name \"%s\": no registries to search are defined", name);
	if (c->enforcing && c->search.count > 1)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG,
		                    "cannot pull the short name \"%s\": several registries are to be searched, in mode enforcing",
		                    name);
	for (size_t i = 0; i < c->search.count && result == 0; i++) {
		const char *registry = ic_texts_get(&c->search, i);
		struct ic_buf full IC_AUTO(buf);

		ic_buf_init(&full, IC_MAX_OPTION_BYTES);
		result = ic_buf_printf(&full, err, "%s/%s%s", registry,
		                       strcmp(registry, "docker.io") == 0 && !strchr(name, '/') ? HUB_OFFICIAL : "", name);
		if (result == 0)
			result = find_sources(c, ic_buf_text(&full), ref, out, err);
	}
	return result;
}

/* A place is blocked by the entry for its own name, whatever entry has led to it: that is looked up when it is asked. */
static void mark_blocked(const struct ic_registries_conf *c, struct ic_vec *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		struct ic_pull_source *source = ic_vec_at(sources, i);
		const struct ic_conf_registry *own = find_registry(c, source->name);

		source->blocked = own && own->blocked;
	}
}

static int find_any(const struct ic_registries_conf *c, const struct ic_ref *ref, struct ic_vec *out, struct imgcheck_error **err)
{
	const char *repository = ref->repository;
	struct ic_buf name IC_AUTO(buf);
	int result;

	ic_buf_init(&name, 2 * IC_MAX_REF_BYTES);
	if (!ref->has_domain)
		return find_short(c, ic_text_starts(repository, strlen(repository),
		                                    HUB_OFFICIAL) ? repository + strlen(HUB_OFFICIAL) : repository,
		                  ref, out, err);
	result = ic_buf_printf(&name, err, "%s/%s", ref->registry, repository);
	return result < 0 ? result : find_sources(c, ic_buf_text(&name), ref, out, err);
}

int ic_registries_conf_find(const struct ic_registries_conf *c, const struct ic_ref *ref, struct ic_vec *out,
                            struct imgcheck_error **err)
{
	int result = find_any(c, ref, out, err);

	mark_blocked(c, out);
	return result;
}
