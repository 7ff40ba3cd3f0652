/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "documents.h"
#include "prepare.h"
#include "rules.h"

#define REGISTRY "registry"

struct source {
	size_t document;
	const char *path;
	const char *text;
	char *memory;     /* which holds both */
};

struct collector {
	struct ic_sources *sources;
	size_t document;
};

void ic_sources_init(struct ic_sources *sources)
{
	ic_vec_init(&sources->items, sizeof(struct source), IC_MAX_ORIGINS);
}

void ic_sources_clear(struct ic_sources *sources)
{
	for (size_t i = 0; i < sources->items.count; i++) {
		struct source *item = ic_vec_at(&sources->items, i);

		free(item->memory);
	}
	ic_vec_clear(&sources->items);
}

static int collect(void *arg, const struct ic_found *f, struct imgcheck_error **err)
{
	struct collector *c = arg;
	struct source item = {.document = c->document};
	size_t path_size;
	int result;

	if (f->form != IC_FORM_REFERENCE || !f->place.path)
		return 0;
	path_size = strlen(f->place.path) + 1;
	item.memory = calloc(1, path_size + f->len + 1);
	if (!item.memory)
		return ic_error_nomem(err);
	item.path = memcpy(item.memory, f->place.path, path_size);
	item.text = memcpy(item.memory + path_size, f->text, f->len);
	result = ic_vec_push(&c->sources->items, &item, err);
	if (result < 0)
		free(item.memory);
	return result;
}

static int compare(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (x->document != y->document)
		return x->document < y->document ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int collect_all(struct ic_sources *sources, const char *name, const struct ic_prepared *p, struct imgcheck_error **err)
{
	struct collector c = {.sources = sources};
	size_t aliased = 0;
	const struct ic_sink sink = {.found = collect, .arg = &c, .aliased = &aliased};
	struct ic_docs *docs IC_AUTO(docs) = NULL;
	int result = ic_docs_new(name, p->text, p->len, &docs, err);

	for (; result == 0; c.document++) {
		struct imgcheck_error *ignored IC_AUTO(error) = NULL;
		struct ic_doc *doc IC_AUTO(doc) = NULL;

		if (ic_docs_next(docs, &doc, &ignored) == IMGCHECK_ERR_NOMEM)
			return ic_error_nomem(err);
		if (!doc)
			break;
		result = ic_rules_apply(doc, &sink, err);
	}
	if (sources->items.count)
		qsort(sources->items.items, sources->items.count, sizeof(struct source), compare);
	return result;
}

int ic_sources_read(struct ic_sources *sources, const char *name, const char *data, size_t len, const json_t *values,
                    struct imgcheck_error **err)
{
	struct ic_prepared prepared IC_AUTO(prepared) = {.text = NULL};
	struct imgcheck_error *ignored IC_AUTO(error) = NULL;
	json_t *without IC_AUTO(json) = NULL;
	int result;

	if (!json_object_get(values, REGISTRY) || !memmem(data, len, REGISTRY, strlen(REGISTRY)))
		return 0;
	without = json_deep_copy(values);
	if (!without)
		return ic_error_nomem(err);
	(void)json_object_del(without, REGISTRY);
	result = ic_prepare(name, data, len, without, &prepared, &ignored);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	return result < 0 ? 0 : collect_all(sources, name, &prepared, err);
}

/* What stands behind the last slash. */
static const char *last_part(const char *text, size_t len, size_t *part_len)
{
	const char *slash = memrchr(text, '/', len);
	const char *part = slash ? slash + 1 : text;

	*part_len = len - (size_t)(part - text);
	return part;
}

const char *ic_sources_find(const struct ic_sources *sources, size_t document, const char *path, const char *text, size_t len)
{
	const struct source wanted = {.document = document, .path = path}, *found;
	const char *mine, *other;
	size_t mine_len, other_len;

	if (!path || !sources || sources->items.count == 0)
		return NULL;
	found = bsearch(&wanted, sources->items.items, sources->items.count, sizeof(wanted), compare);
	if (!found)
		return NULL;
	mine = last_part(text, len, &mine_len);
	other = last_part(found->text, strlen(found->text), &other_len);
	return mine_len == other_len && memcmp(mine, other, mine_len) == 0 ? found->text : NULL;
}
