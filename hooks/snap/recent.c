/* SPDX-License-Identifier: Apache-2.0 */
#include "recent.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "program/document.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/say.h"

#define FILE_NAME "recent.json"

/* Tells some ways from others, no more: FNV-1a over their text.  new. */
static char *key_of(const json_t *ways)
{
	AUTO(free) char *text = memory_must(json_dumps(ways, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY));
	uint64_t hash = 0xcbf29ce484222325u;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	return memory_printf("%016llx", (unsigned long long)hash);
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* A clock that was set back makes an entry one of the future, which does not hold either. */
static bool is_young(const json_t *entry, long long now)
{
	long long then = json_integer_value(json_object_get(entry, "time"));

	return then <= now && now - then < RECENT_SECONDS;
}

json_t *recent_read(const char *state, const json_t *ways)
{
	AUTO(free) char *path = files_join(state, FILE_NAME), *text = NULL, *key = NULL;
	AUTO(json) json_t *document = NULL;
	json_t *young = document_object(), *entry;
	long long now = (long long)time(NULL);
	const char *reference;
	size_t len;

	if (!ways)
		return young;
	key = key_of(ways);
	if (!files_read(path, FILES_MAX_JSON, &text, &len))
		document = json_loadb(text, len, 0, NULL);
	if (strcmp(text_of(document, "ways"), key))
		return young;
	json_object_foreach(json_object_get(document, "images"), reference, entry)
		if (*text_of(entry, "digest") && is_young(entry, now))
			document_set(young, reference, json_incref(entry));
	return young;
}

int recent_mark(const json_t *recent, struct imgcheck_images *images)
{
	const struct imgcheck_image *m;

	for (size_t i = 0; (m = imgcheck_images_get(images, i)); i++) {
		const json_t *entry = json_object_get(recent, imgcheck_image_ref(m));
		const char *host = text_of(entry, "host"), *digest = text_of(entry, "digest");
		AUTO(error) struct imgcheck_error *e = NULL;

		if (entry && imgcheck_images_mark_found(images, imgcheck_image_ref(m), host, digest, &e))
			return say_error(e);
	}
	return 0;
}

int recent_write(const char *state, const json_t *ways, const json_t *recent, const json_t *report)
{
	AUTO(free) char *key = key_of(ways), *text = NULL;
	AUTO(json) json_t *document = document_object();
	json_t *found = document_object();
	const json_t *image;
	size_t i;

	json_array_foreach(json_object_get(report, "images"), i, image) {
		const char *written = text_of(image, "written");
		json_t *entry = json_object_get(recent, written);

		if (strcmp(text_of(image, "verdict"), imgcheck_verdict_name(IMGCHECK_VERDICT_OK)) || !*text_of(image, "digest"))
			continue;
		entry = entry ? json_incref(entry) : document_object();
		if (!json_object_get(entry, "time")) {
			document_set_text(entry, "host", text_of(image, "host"));
			document_set_text(entry, "digest", text_of(image, "digest"));
			document_set_number(entry, "time", (long long)time(NULL));
		}
		document_set(found, written, entry);
	}
	document_set_text(document, "ways", key);
	document_set(document, "images", found);
	text = document_render(document);
	return files_replace(state, FILE_NAME, 0600, text, strlen(text));
}
