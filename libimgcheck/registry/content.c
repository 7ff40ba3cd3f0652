/* SPDX-License-Identifier: Apache-2.0 */
#include "content.h"

#include <string.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/base64.h"

#define DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define DOCKER_LIST "application/vnd.docker.distribution.manifest.list.v2+json"
#define OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define OCI_INDEX "application/vnd.oci.image.index.v1+json"

static const struct {
	const char *media_type;
	enum ic_content_kind kind;
} kinds[] = {
	{DOCKER_MANIFEST, IC_CONTENT_MANIFEST},
	{OCI_MANIFEST, IC_CONTENT_MANIFEST},
	{DOCKER_LIST, IC_CONTENT_INDEX},
	{OCI_INDEX, IC_CONTENT_INDEX},
	{"application/vnd.docker.distribution.manifest.v1+json", IC_CONTENT_SCHEMA1},
	{"application/vnd.docker.distribution.manifest.v1+prettyjws", IC_CONTENT_SCHEMA1},
	{"text/plain", IC_CONTENT_SCHEMA1},
};

/* Configs of images; the last is what some old pushers wrote, and is converted.  Any other is an artifact's. */
static const char *const config_types[] = {
	"application/vnd.oci.image.config.v1+json",
	"application/vnd.docker.container.image.v1+json",
	"application/octet-stream",
};

/* Layers of images, compressed or not; behind the Docker ones "+encrypted" and the like may stand. */
static const char *const docker_layer_types[] = {
	"application/vnd.docker.image.rootfs.diff.tar",
	"application/vnd.docker.image.rootfs.diff.tar.gzip",
	"application/vnd.docker.image.rootfs.diff.tar.zstd",
	"application/vnd.docker.image.rootfs.foreign.diff.tar",
	"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
};

static bool is_layer_type(const char *media_type)
{
	static const char oci[] = "application/vnd.oci.image.layer.";
	size_t len = strcspn(media_type, "+");

	for (size_t i = 0; i < IC_COUNT(docker_layer_types); i++)
		if (ic_text_equal(media_type, len, docker_layer_types[i]))
			return true;
	return strncmp(media_type, oci, strlen(oci)) == 0;
}

enum ic_content_kind ic_content_kind(const char *content_type)
{
	size_t len = content_type ? strcspn(content_type, ";") : 0;

	for (size_t i = 0; i < IC_COUNT(kinds); i++)
		if (ic_text_equal(content_type, len, kinds[i].media_type))
			return kinds[i].kind;
	return IC_CONTENT_OTHER;
}

/* Go takes text that is no UTF-8, with marks in place of its bytes; here it is beyond what can be read. */
static int parse_json(const char *body, size_t len, json_t **out, struct imgcheck_error **err)
{
	struct imgcheck_error *why = NULL;
	int result = ic_json_parse(NULL, body, len, out, &why);

	if (result == IMGCHECK_ERR_SYNTAX && ic_text_utf8_check(body, len) < len) {
		imgcheck_error_free(why);
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "it is not UTF-8 text");
	}
	if (err)
		*err = why;
	else
		imgcheck_error_free(why);
	return result;
}

enum ic_content_kind ic_content_kind_for(const struct ic_profile *profile, const char *content_type)
{
	enum ic_content_kind kind = ic_content_kind(content_type);

	return kind == IC_CONTENT_OTHER && profile->schema1 ? IC_CONTENT_SCHEMA1 : kind;
}

bool ic_content_is_docker_list(const char *content_type)
{
	return content_type && ic_text_equal(content_type, strcspn(content_type, ";"), DOCKER_LIST);
}

/* ------------------------------------------------------------------ descriptors */

static void descriptor_clear(struct ic_descriptor *d)
{
	free(d->media_type);
	free(d->digest);
	free(d->data);
	ic_texts_clear(&d->urls);
}

static const char *text_or_empty(const json_t *object, const char *key)
{
	const char *text = ic_json_text(object, key);

	return text ? text : "";
}

static int read_size(const struct ic_profile *profile, const json_t *object, struct ic_descriptor *d,
                     struct imgcheck_error **err)
{
	const json_t *size = json_object_get(object, "size");

	if (size && !json_is_integer(size))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it has a size that is no whole number");
	if (json_integer_value(size) > 0)
		d->size = (size_t)json_integer_value(size);
	else if (json_integer_value(size) < 0)
		d->fault = "it has content with a negative size";
	else if (profile->told_sizes)
		d->fault = "it has content with a size of zero";
	return 0;
}

static int read_digest(const json_t *object, struct ic_descriptor *d, struct imgcheck_error **err)
{
	const char *digest = text_or_empty(object, "digest");

	if (!ic_digest_is_valid(digest, strlen(digest), NULL))
		d->fault = "it has no valid digest where one belongs";
	d->digest = ic_text_copy(digest, strlen(digest));
	return d->digest ? 0 : ic_error_nomem(err);
}

static int read_urls(const json_t *object, struct ic_descriptor *d, struct imgcheck_error **err)
{
	const json_t *urls = json_object_get(object, "urls"), *url;
	size_t i;
	int result = 0;

	json_array_foreach(urls, i, url) {
		if (!json_is_string(url))
			return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it has a layer url that is no text");
		result = ic_texts_push(&d->urls, json_string_value(url), json_string_length(url), err);
		if (result < 0)
			return result;
	}
	return 0;
}

static void read_platform(const json_t *object, struct ic_descriptor *d)
{
	const json_t *platform = json_object_get(object, "platform");

	d->has_platform = json_is_object(platform);
	if (!ic_platform_from_text(ic_json_text(platform, "os"), ic_json_text(platform, "architecture"),
	                           ic_json_text(platform, "variant"), &d->written))
		d->written = (struct ic_platform){"", "", ""};
	if (json_array_size(json_object_get(platform, "os.features")) > 0)
		ic_platform_from_fields("unknown", "unknown", "", &d->platform); /* nodes have none of these features */
	else if (d->has_platform)
		ic_platform_from_fields(text_or_empty(platform, "os"), text_or_empty(platform, "architecture"),
		                        text_or_empty(platform, "variant"), &d->platform);
}

static bool is_zstd(const json_t *object)
{
	const char *told = ic_json_text(json_object_get(object, "annotations"), "io.github.containers.compression.zstd");

	return told && strcmp(told, "true") == 0;
}

/* Embedded content counts where it has the size that is told; else it is as good as absent. */
static int read_data(const json_t *object, struct ic_descriptor *d, struct imgcheck_error **err)
{
	const char *text = text_or_empty(object, "data");
	struct ic_buf bytes IC_AUTO(buf);

	ic_buf_init(&bytes, d->size);
	if (!text[0] || d->fault || d->size > IC_MAX_MANIFEST_BYTES)
		return 0;
	if (ic_base64_decode(text, strlen(text), IC_BASE64_PADDED, &bytes, NULL) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (bytes.len == d->size)
		d->data = ic_buf_take(&bytes);
	return 0;
}

/*
 * Fills *d, cleared with descriptor_clear() whatever the result.  What is wrong with content that may never be
 * fetched is its fault, not an error: the entry of an index for another platform does no harm.
 */
static int read_descriptor(const struct ic_profile *profile, const json_t *object, struct ic_descriptor *d,
                           struct imgcheck_error **err)
{
	const char *media_type = text_or_empty(object, "mediaType");
	int result;

	*d = (struct ic_descriptor){.media_type = ic_text_copy(media_type, strlen(media_type))};
	ic_texts_init(&d->urls, IC_MAX_LIST_ITEMS);
	if (!d->media_type)
		return ic_error_nomem(err);
	if (!json_is_object(object))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it lists content that is no object");
	result = read_size(profile, object, d, err);
	if (result == 0)
		result = read_digest(object, d, err);
	if (result == 0)
		result = read_urls(object, d, err);
	if (result < 0)
		return result;
	read_platform(object, d);
	d->zstd = is_zstd(object);
	return read_data(object, d, err);
}

static int read_entries(const json_t *list, struct ic_content *c, struct imgcheck_error **err)
{
	const json_t *item;
	size_t i;

	if (list && !json_is_array(list) && !json_is_null(list))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "its list of contents is no list");
	json_array_foreach(list, i, item) {
		struct ic_descriptor d;
		int result = read_descriptor(c->profile, item, &d, err);

		if (result == 0)
			result = ic_vec_push(&c->entries, &d, err);
		if (result < 0) {
			descriptor_clear(&d);
			return result;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ manifests and indexes */

static bool has_member(const json_t *body, const char *key)
{
	const json_t *member = json_object_get(body, key);

	return member && !json_is_null(member) && (!json_is_array(member) || json_array_size(member) > 0);
}

/* A body that can be read as two things is refused (CVE-2021-41190). */
static int check_ambiguity(const struct ic_profile *profile, enum ic_content_kind kind, const json_t *body,
                           struct imgcheck_error **err)
{
	const char *media_type = ic_json_text(body, "mediaType");
	enum ic_content_kind said = profile->body_type ? ic_content_kind(media_type) : IC_CONTENT_OTHER;

	if (kind == IC_CONTENT_SCHEMA1) {
		if (has_member(body, "manifests") || has_member(body, "config") || has_member(body, "layers"))
			return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it is in the old schema 1 format and in another one");
		return 0;
	}
	if (has_member(body, "fsLayers"))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it is in the old schema 1 format");
	if (kind == IC_CONTENT_MANIFEST && (has_member(body, "manifests") || said == IC_CONTENT_INDEX))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it is served as a manifest but is an index");
	if (kind == IC_CONTENT_INDEX &&
	    (has_member(body, "config") || has_member(body, "layers") || said == IC_CONTENT_MANIFEST))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it is served as an index but is a manifest");
	return 0;
}

/* All that a manifest lists is fetched. */
static int check_layers(struct ic_content *c, struct imgcheck_error **err)
{
	for (size_t i = 0; i < c->entries.count; i++) {
		const struct ic_descriptor *layer = ic_vec_at(&c->entries, i);

		if (layer->fault)
			return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "%s", layer->fault);
		c->layers += c->profile->every_layer || is_layer_type(layer->media_type);
	}
	return 0;
}

static int read_manifest(const json_t *body, struct ic_content *c, struct imgcheck_error **err)
{
	size_t known = 0;
	int result = read_descriptor(c->profile, json_object_get(body, "config"), &c->config, err);

	if (result == 0 && c->config.fault)
		result = ic_error_set(err, IMGCHECK_ERR_SYNTAX, "%s", c->config.fault);
	if (result < 0) {
		ic_error_prefix(err, "its config: ");
		return result;
	}
	while (known < IC_COUNT(config_types) && strcmp(c->config.media_type, config_types[known]) != 0)
		known++;
	if (known == IC_COUNT(config_types))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it is an artifact of type \"%.100s\", not an image", c->config.media_type);
	result = read_entries(json_object_get(body, "layers"), c, err);
	return result < 0 ? result : check_layers(c, err);
}

/* Adds a layer of which nothing is known but its digest. */
static int add_blob_sum(const json_t *layer, struct ic_content *c, struct imgcheck_error **err)
{
	const char *digest = text_or_empty(layer, "blobSum");
	struct ic_descriptor d = {.media_type = ic_text_copy("", 0), .digest = ic_text_copy(digest, strlen(digest))};
	int result;

	ic_texts_init(&d.urls, IC_MAX_LIST_ITEMS);
	if (!d.media_type || !d.digest)
		result = ic_error_nomem(err);
	else if (!ic_digest_is_valid(digest, strlen(digest), NULL))
		result = ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it has no valid digest where one belongs");
	else
		result = ic_vec_push(&c->entries, &d, err);
	if (result < 0)
		descriptor_clear(&d);
	return result;
}

/* Image manifest v2, schema 1: layers alone, the newest first. */
static int read_schema1(const json_t *body, struct ic_content *c, struct imgcheck_error **err)
{
	const json_t *version = json_object_get(body, "schemaVersion"), *layers = json_object_get(body, "fsLayers"), *layer;
	int result = 0;
	size_t i;

	if (json_integer_value(version) != 1)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it is taken for the old schema 1 format for its media type, but has "
		                    "the schema version %lld", (long long)json_integer_value(version));
	if (json_array_size(layers) == 0)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "it has no layers");
	result = check_ambiguity(c->profile, IC_CONTENT_SCHEMA1, body, err);
	json_array_foreach(layers, i, layer)
		if (result == 0)
			result = add_blob_sum(layer, c, err);
	return result;
}

static int read_body(const json_t *body, struct ic_content *c, struct imgcheck_error **err)
{
	int result;

	if (!json_is_object(body))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "its body is no JSON object");
	if (c->kind == IC_CONTENT_SCHEMA1)
		return read_schema1(body, c, err);
	result = check_ambiguity(c->profile, c->kind, body, err);
	if (result < 0)
		return result;
	return c->kind == IC_CONTENT_MANIFEST ? read_manifest(body, c, err) : read_entries(json_object_get(body, "manifests"), c, err);
}

int ic_content_parse(const struct ic_profile *profile, enum ic_content_kind kind, const char *body, size_t len,
                     struct ic_content *out, struct imgcheck_error **err)
{
	json_t *json IC_AUTO(json) = NULL;
	int result;

	*out = (struct ic_content){.profile = profile, .kind = kind};
	ic_vec_init(&out->entries, sizeof(struct ic_descriptor), IC_MAX_LAYERS);
	result = parse_json(body, len, &json, err);
	if (result < 0)
		return result;
	result = read_body(json, out, err);
	if (result < 0)
		ic_content_clear(out);
	return result;
}

void ic_content_clear(struct ic_content *c)
{
	for (size_t i = 0; i < c->entries.count; i++)
		descriptor_clear(ic_vec_at(&c->entries, i));
	ic_vec_clear(&c->entries);
	descriptor_clear(&c->config);
	c->config = (struct ic_descriptor){0};
}

/* How well the entry serves the platform; -1: not at all. */
static int rank_entry(const struct ic_content *index, const struct ic_descriptor *d, const struct ic_platform *want)
{
	if (!d->has_platform)
		return -1;
	return index->profile->written_platforms ? ic_platform_rank_written(want, &d->written) : ic_platform_rank(want, &d->platform);
}

bool ic_content_choose(const struct ic_content *index, const struct ic_platform *want, size_t *entry)
{
	bool nameless = index->profile->nameless_is_judged || !index->docker_list;
	bool found = false, zstd = false;
	int best = -1;

	for (size_t i = 0; i < index->entries.count; i++) {
		const struct ic_descriptor *d = ic_vec_at(&index->entries, i);
		int rank = rank_entry(index, d, want);
		bool preferred = rank == best && index->profile->prefers_zstd && d->zstd && !zstd;
		bool better = rank >= 0 && (best < 0 || rank < best || preferred);

		if (better || (!d->has_platform && nameless && !found)) {
			*entry = i;
			found = true;
		}
		if (better) {
			best = rank;
			zstd = d->zstd;
		}
	}
	return found;
}

/* ------------------------------------------------------------------ configs */

int ic_image_config_parse(const char *body, size_t len, struct ic_image_config *out, struct imgcheck_error **err)
{
	json_t *json IC_AUTO(json) = NULL;
	const char *os, *architecture;
	int result = parse_json(body, len, &json, err);

	*out = (struct ic_image_config){0};
	if (result < 0)
		return result;
	if (!json_is_object(json))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "its body is no JSON object");
	os = text_or_empty(json, "os");
	architecture = text_or_empty(json, "architecture");
	out->has_platform = os[0] && architecture[0];
	if (out->has_platform)
		ic_platform_from_fields(os, architecture, text_or_empty(json, "variant"), &out->platform);
	out->diff_ids = json_array_size(json_object_get(json_object_get(json, "rootfs"), "diff_ids"));
	return 0;
}
