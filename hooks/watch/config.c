/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/login_helper.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/proxies.h"
#include "program/say.h"
#include "program/status.h"

#define MOST_GATE_SECONDS 86400UL
#define MOST_NAME_BYTES ((size_t)100) /* of a gate: far below what the state can hold */

/* More than run at once on HTTP/1.1, so that those under way do not use up what a host still allows. */
#define RESERVE "20"

/* The library's options that say how to ask; its others say how to judge, which a watch does not. */
static const enum imgcheck_option known_options[] = {
	IMGCHECK_OPTION_REGISTRY,    IMGCHECK_OPTION_REWRITE,    IMGCHECK_OPTION_REWRITE_MAP, IMGCHECK_OPTION_RUNTIME,
	IMGCHECK_OPTION_DEADLINE,    IMGCHECK_OPTION_PLAIN_HTTP, IMGCHECK_OPTION_SKIP_VERIFY, IMGCHECK_OPTION_HTTP_PROXY,
	IMGCHECK_OPTION_HTTPS_PROXY, IMGCHECK_OPTION_NO_PROXY,   IMGCHECK_OPTION_REQUIRE_MIRROR, IMGCHECK_OPTION_IGNORE,
	IMGCHECK_OPTION_RESERVE,
};

/* One file while it is read.  A value is as imgcheck_yaml_read() tells it. */
struct reading {
	struct watch_config *c;
	struct imgcheck_config *probe; /* takes each option once, to refuse it where it stands */
};

/* What members of a mapping are called, and who takes their values. */
struct known_key {
	const char *name;
	int (*take)(struct reading *r, const json_t *value, void *arg);
	void *arg;
	bool needed;
};

static unsigned line_of(const json_t *value)
{
	return (unsigned)json_integer_value(json_object_get(value, "line"));
}

static PRINTF(3, 4) int bad(const struct reading *r, const json_t *value, const char *format, ...)
{
	AUTO(free) char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	memory_must(text);
	say_printable(text, false);
	say("%s:%u: %s", r->c->path, line_of(value), text);
	return STATUS_USAGE;
}

/* The text of a scalar that is there, or NULL. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(json_object_get(value, "text"));

	return text && *text ? text : NULL;
}

static char *from_folder(const struct watch_config *c, const char *name)
{
	return *name == '/' ? memory_text(name) : files_join(c->folder, name);
}

/* ------------------------------------------------------------------ mappings and lists */

static const struct known_key *find_key(const struct known_key *keys, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static bool has_member(const json_t *members, const char *name)
{
	json_t *member;
	size_t i;

	json_array_foreach(members, i, member)
		if (!strcmp(json_string_value(json_object_get(member, "key")), name))
			return true;
	return false;
}

/* Hands the members of a mapping to who takes them; what is for nobody is an error. */
static int take_members(struct reading *r, const json_t *mapping, const char *what, const struct known_key *keys, size_t count)
{
	const json_t *members = json_object_get(mapping, "members");
	json_t *member;
	size_t i;

	if (!members)
		return bad(r, mapping, "cannot use this as %s: it is no mapping", what);
	json_array_foreach(members, i, member) {
		const char *name = json_string_value(json_object_get(member, "key"));
		const struct known_key *key = find_key(keys, count, name);
		int status = key ? key->take(r, json_object_get(member, "value"), key->arg) :
				   bad(r, member, "cannot use '%s': there is no such key in %s", name, what);

		if (status)
			return status;
	}
	for (i = 0; i < count; i++)
		if (keys[i].needed && !has_member(members, keys[i].name))
			return bad(r, mapping, "cannot use %s without '%s'", what, keys[i].name);
	return 0;
}

static int take_text(struct reading *r, const json_t *value, void *arg)
{
	char **to = arg;

	if (!text_of(value))
		return bad(r, value, "cannot use this here: it is no text");
	*to = memory_text(text_of(value));
	return 0;
}

/* A list of texts. */
static int take_texts(struct reading *r, const json_t *value, void *arg)
{
	const json_t *items = json_object_get(value, "items");
	struct lines *to = arg;
	json_t *item;
	size_t i;

	if (!json_array_size(items))
		return bad(r, value, "cannot use this here: it is no list, or an empty one");
	json_array_foreach(items, i, item) {
		if (!text_of(item))
			return bad(r, item, "cannot use this here: it is no text");
		lines_add(to, text_of(item));
	}
	return 0;
}

/* ------------------------------------------------------------------ images */

/* A part of a reference: new, or NULL where the text is none. */
static char *part_of(const char *ref, enum imgcheck_part part)
{
	AUTO(images) struct imgcheck_images *images = NULL;

	if (imgcheck_images_new(&images) || imgcheck_images_add_ref(images, ref, NULL))
		memory_must(NULL);
	return memory_text(imgcheck_image_part(imgcheck_images_get(images, 0), part));
}

static int take_image(struct reading *r, const json_t *value, void *arg)
{
	const char *ref = text_of(value);
	AUTO(free) char *registry = ref ? part_of(ref, IMGCHECK_PART_REGISTRY) : NULL;

	(void)arg;
	if (!registry)
		return bad(r, value, "cannot watch this: it is no image reference");
	lines_add(&r->c->refs, ref);
	return 0;
}

static int take_paths(struct reading *r, const json_t *value, void *arg)
{
	AUTO(lines) struct lines names = { 0 };
	int status = take_texts(r, value, &names);

	(void)arg;
	for (size_t i = 0; !status && i < names.count; i++) {
		AUTO(free) char *path = from_folder(r->c, names.line[i]);

		lines_add(&r->c->paths, path);
	}
	return status;
}

static int take_images(struct reading *r, const json_t *value, void *arg)
{
	static const struct known_key keys[] = {
		{ .name = "paths", .take = take_paths },
		{ .name = "image", .take = take_image },
	};
	const json_t *items = json_object_get(value, "items");
	json_t *item;
	size_t i;

	(void)arg;
	if (!items)
		return bad(r, value, "cannot use 'images': it is no list");
	json_array_foreach(items, i, item) {
		int status = take_members(r, item, "an item of images", keys, COUNT(keys));

		if (status)
			return status;
	}
	return 0;
}

/* Values of templates. */
static int take_values(struct reading *r, const json_t *value, void *arg)
{
	json_t *members = json_object_get(value, "members"), *member;
	size_t i;

	(void)arg;
	if (!members)
		return bad(r, value, "cannot use 'values': it is no mapping");
	json_array_foreach(members, i, member) {
		const char *name = json_string_value(json_object_get(member, "key"));
		const json_t *text = json_object_get(member, "value");

		if (!*name || strchr(name, '=') || !text_of(text))
			return bad(r, member, "cannot use the value '%s': it is no text", name);
		lines_addf(&r->c->values, "%s=%s", name, text_of(text));
	}
	return 0;
}

/* ------------------------------------------------------------------ gates */

static int take_seconds(struct reading *r, const json_t *value, void *arg)
{
	const char *text = text_of(value);
	char *end = NULL;
	unsigned long number = text ? strtoul(text, &end, 10) : 0;

	if (!text || *text < '0' || *text > '9' || *end || !number || number > MOST_GATE_SECONDS)
		return bad(r, value, "cannot use this as a timeout: give seconds, 1 to %lu", MOST_GATE_SECONDS);
	*(unsigned *)arg = (unsigned)number;
	return 0;
}

static bool is_gate_name(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] && *name != '-' &&
	       strlen(name) <= MOST_NAME_BYTES;
}

/* The reference without its tag: new, or NULL where it has none. */
static char *repository_of(const char *ref)
{
	AUTO(free) char *registry = part_of(ref, IMGCHECK_PART_REGISTRY), *repository = part_of(ref, IMGCHECK_PART_REPOSITORY);
	AUTO(free) char *tag = part_of(ref, IMGCHECK_PART_TAG);

	return tag ? memory_printf("%s/%s", registry, repository) : NULL;
}

/* A tag is moved within its repository, where all that it needs is there already. */
static int check_tags(const struct reading *r, const json_t *value, const struct watch_gate *g)
{
	const char *const refs[] = { g->served, g->candidate, g->backup };
	AUTO(free) char *repository = repository_of(g->served);

	for (size_t i = 0; i < COUNT(refs); i++) {
		AUTO(free) char *other = repository_of(refs[i]), *tag = part_of(refs[i], IMGCHECK_PART_TAG);
		AUTO(free) char *next = part_of(refs[(i + 1) % COUNT(refs)], IMGCHECK_PART_TAG);

		if (!other)
			return bad(r, value, "cannot use gate '%s': %s is no reference with a tag", g->name, refs[i]);
		if (!repository || strcmp(other, repository))
			return bad(r, value, "cannot use gate '%s': %s is in another repository than %s", g->name, refs[i], g->served);
		if (next && !strcmp(tag, next))
			return bad(r, value, "cannot use gate '%s': two of its tags are the same, '%s'", g->name, tag);
	}
	return 0;
}

static char *full_name(const char *ref)
{
	AUTO(free) char *repository = repository_of(ref), *tag = part_of(ref, IMGCHECK_PART_TAG);

	return memory_printf("%s:%s", repository, tag);
}

/* Each of two gates would take the other for another writer, or lose what it keeps. */
static int check_writers(const struct reading *r, const json_t *value, const struct watch_gate *g, const struct watch_gate *other)
{
	const char *const mine[] = { g->served, g->backup }, *const others[] = { other->served, other->backup };

	for (size_t i = 0; i < COUNT(mine); i++)
		for (size_t k = 0; k < COUNT(others); k++) {
			AUTO(free) char *left = full_name(mine[i]), *right = full_name(others[k]);

			if (!strcmp(left, right))
				return bad(r, value, "cannot use gate '%s': gate '%s' sets %s too", g->name, other->name, mine[i]);
		}
	return 0;
}

static int check_gate(const struct reading *r, const json_t *value, const struct watch_gate *g)
{
	int status;

	if (!is_gate_name(g->name))
		return bad(r, value, "cannot use '%.*s' as the name of a gate: give up to %zu letters, digits, dot, dash and underscore",
			   (int)MOST_NAME_BYTES, g->name, MOST_NAME_BYTES);
	for (size_t i = 0; i + 1 < r->c->gate_count; i++)
		if (!strcmp(r->c->gates[i].name, g->name))
			return bad(r, value, "cannot use gate '%s': there is one of this name above", g->name);
	status = check_tags(r, value, g);
	for (size_t i = 0; !status && i + 1 < r->c->gate_count; i++)
		status = check_writers(r, value, g, &r->c->gates[i]);
	return status;
}

static int take_gate(struct reading *r, const json_t *value)
{
	struct watch_gate *g;

	if (r->c->gate_count == WATCH_MOST_GATES)
		return bad(r, value, "cannot use more than %d gates", WATCH_MOST_GATES);
	r->c->gates = memory_grow(r->c->gates, r->c->gate_count + 1, sizeof(*r->c->gates));
	g = &r->c->gates[r->c->gate_count++];
	*g = (struct watch_gate){ .seconds = WATCH_GATE_SECONDS };
	const struct known_key keys[] = {
		{ "name", take_text, &g->name, true },          { "candidate", take_text, &g->candidate, true },
		{ "served", take_text, &g->served, true },      { "backup", take_text, &g->backup, true },
		{ "validate", take_texts, &g->validate, true }, { "copy", take_texts, &g->copy, false },
		{ "timeout", take_seconds, &g->seconds, false },
	};
	int status = take_members(r, value, "a gate", keys, COUNT(keys));

	return status ? status : check_gate(r, value, g);
}

static int take_gates(struct reading *r, const json_t *value, void *arg)
{
	const json_t *items = json_object_get(value, "items");
	json_t *item;
	size_t i;
	int status = 0;

	(void)arg;
	if (!items)
		return bad(r, value, "cannot use 'gates': it is no list");
	json_array_foreach(items, i, item) {
		status = take_gate(r, item);
		if (status)
			break;
	}
	return status;
}

/* ------------------------------------------------------------------ how to ask */

static int take_option_text(struct reading *r, const json_t *value, enum imgcheck_option option)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	const char *text = json_string_value(json_object_get(value, "text"));

	if (!text)
		return bad(r, value, "cannot use this here: it is no text");
	if (imgcheck_config_set(r->probe, option, text, &e))
		return bad(r, value, "%s", imgcheck_error_message(e));
	return options_library_take(&r->c->options, (int)option, text);
}

/* One value, or a list of them. */
static int take_option(struct reading *r, const json_t *value, void *arg)
{
	const enum imgcheck_option *option = arg;
	const json_t *items = json_object_get(value, "items");
	json_t *item;
	size_t i;

	if (!items)
		return take_option_text(r, value, *option);
	json_array_foreach(items, i, item) {
		int status = take_option_text(r, item, *option);

		if (status)
			return status;
	}
	return 0;
}

static int take_file(struct reading *r, const json_t *value, void *arg)
{
	const struct flag *flag = arg;
	AUTO(free) char *path = text_of(value) ? from_folder(r->c, text_of(value)) : NULL;

	return path ? node_files_take(&r->c->files, flag->id, path) : bad(r, value, "cannot use this here: it is no name of a file");
}

/* ------------------------------------------------------------------ the file */

/* All keys of the file: those of its own, and the words of check's flags.  *count of them, new. */
static struct known_key *file_keys(size_t *count)
{
	static const struct known_key own[] = {
		{ .name = "images", .take = take_images },
		{ .name = "gates", .take = take_gates },
		{ .name = "values", .take = take_values },
	};
	struct known_key *keys;
	size_t files = 0, n = 0;

	while (node_files_flags[files].name)
		files++;
	keys = memory_grow(NULL, COUNT(own) + COUNT(known_options) + files, sizeof(*keys));
	for (size_t i = 0; i < COUNT(own); i++)
		keys[n++] = own[i];
	for (size_t i = 0; i < COUNT(known_options); i++) {
		const char *name = NULL;

		imgcheck_option_info(known_options[i], &name, NULL, NULL);
		keys[n++] = (struct known_key){ .name = name, .take = take_option, .arg = (void *)(uintptr_t)&known_options[i] };
	}
	for (const struct flag *f = node_files_flags; f->name; f++)
		keys[n++] = (struct known_key){ .name = f->name, .take = take_file, .arg = (void *)(uintptr_t)f };
	*count = n;
	return keys;
}

static int take_all(struct reading *r, const json_t *root)
{
	AUTO(free) struct known_key *keys = NULL;
	size_t count;
	int status;

	keys = file_keys(&count);
	status = take_members(r, root, "a configuration", keys, count);
	if (!status && !r->c->paths.count && !r->c->refs.count && !r->c->gate_count)
		return bad(r, root, "cannot use a configuration without 'images' and 'gates': there is nothing to watch");
	return status;
}

int watch_config_read(const char *path, struct watch_config *c)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(config) struct imgcheck_config *probe = NULL;
	AUTO(json) json_t *root = NULL;
	AUTO(free) char *text = NULL;

	*c = (struct watch_config){ .path = memory_text(path), .folder = files_folder(path) };
	if (imgcheck_config_new(&probe))
		return say_error(NULL);
	if (imgcheck_yaml_read(path, &text, &e))
		return say_refused(e);
	root = memory_must(json_loads(text, 0, NULL));
	return take_all(&(struct reading){ c, probe }, root);
}

/* ------------------------------------------------------------------ what it says, for a round */

static int configure(const struct watch_config *c, struct imgcheck_config *config)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(proxies) struct proxies proxies = { 0 };
	AUTO(lines) struct lines notices = { 0 };
	int status;

	proxies_read(&proxies, NULL);
	proxies_apply(&proxies, config, &notices);
	for (size_t i = 0; i < notices.count; i++)
		say("%s", notices.line[i]);
	if (imgcheck_config_set(config, IMGCHECK_OPTION_DEPTH, "tag", &e) ||
	    imgcheck_config_set(config, IMGCHECK_OPTION_RESERVE, RESERVE, &e))
		return say_refused(e);
	status = options_library_set(&c->options, "watch", config);
	imgcheck_config_set_login_fn(config, login_helper_ask, NULL);
	return status ? status : node_files_read(&c->files, config);
}

struct imgcheck_config *watch_config_library(const struct watch_config *c)
{
	AUTO(config) struct imgcheck_config *config = NULL;

	if (imgcheck_config_new(&config)) {
		say_error(NULL);
		return NULL;
	}
	return configure(c, config) ? NULL : TAKE(config);
}

static int add_images(const struct watch_config *c, struct imgcheck_images *images, struct imgcheck_error **e)
{
	const char *registry = options_library_get(&c->options, IMGCHECK_OPTION_REGISTRY);
	int fault = registry ? imgcheck_images_set_value(images, "registry", registry, e) : 0;

	for (size_t i = 0; !fault && i < c->values.count; i++) {
		const char *value = strchr(c->values.line[i], '=') + 1;
		AUTO(free) char *name = memory_text_cut(c->values.line[i], (size_t)(value - 1 - c->values.line[i]));

		fault = imgcheck_images_set_value(images, name, value, e);
	}
	for (size_t i = 0; !fault && i < c->paths.count; i++)
		fault = imgcheck_images_add_path(images, c->paths.line[i], e);
	for (size_t i = 0; !fault && i < c->refs.count; i++)
		fault = imgcheck_images_add_ref(images, c->refs.line[i], e);
	return fault;
}

struct imgcheck_images *watch_config_images(const struct watch_config *c)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(images) struct imgcheck_images *images = NULL;

	if (!imgcheck_images_new(&images) && !add_images(c, images, &e))
		return TAKE(images);
	say_error(e);
	return NULL;
}

const struct watch_gate *watch_config_gate(const struct watch_config *c, const char *name)
{
	for (size_t i = 0; i < c->gate_count; i++)
		if (!strcmp(c->gates[i].name, name))
			return &c->gates[i];
	return NULL;
}

static void clear_gate(struct watch_gate *g)
{
	free(g->name);
	free(g->candidate);
	free(g->served);
	free(g->backup);
	lines_clear(&g->copy);
	lines_clear(&g->validate);
}

void watch_config_clear(struct watch_config *c)
{
	for (size_t i = 0; i < c->gate_count; i++)
		clear_gate(&c->gates[i]);
	free(c->gates);
	free(c->path);
	free(c->folder);
	lines_clear(&c->paths);
	lines_clear(&c->refs);
	lines_clear(&c->values);
	options_library_clear(&c->options);
	node_files_clear(&c->files);
	*c = (struct watch_config){ 0 };
}
