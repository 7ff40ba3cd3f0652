/* SPDX-License-Identifier: Apache-2.0 */
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

#define LAYERS 3
#define TAG "v1"

static const char index_type[] = "application/vnd.oci.image.index.v1+json";
static const char manifest_type[] = "application/vnd.oci.image.manifest.v1+json";
static const char *const architectures[] = {"amd64", "arm64"};

/* ic_buf's functions fail without memory alone, and then there is nothing to serve. */
static void must(int result)
{
	if (result < 0)
		abort();
}

static void digest_of(const void *data, size_t len, char out[IC_DIGEST_TEXT_BYTES])
{
	must(ic_digest_compute(IC_DIGEST_SHA256, data, len, out, NULL));
}

static void layer_digest(const char *repository, const char *architecture, int layer, char out[IC_DIGEST_TEXT_BYTES])
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s %s %d", repository, architecture, layer);

	digest_of(text, (size_t)len, out);
}

static size_t layer_size(int layer)
{
	return (size_t)30 << 20 | (size_t)layer;
}

/* addon-00004 is an index, addon-00005 is none. */
static bool is_index(const char *repository)
{
	size_t len = strlen(repository);

	return len > 0 && (repository[len - 1] - '0') % 2 == 0;
}

static void make_config(const char *repository, const char *architecture, struct ic_buf *out)
{
	char digest[IC_DIGEST_TEXT_BYTES];

	out->len = 0;
	must(ic_buf_printf(out, NULL, "{\"architecture\": \"%s\", \"os\": \"linux\", \"config\": {\"Cmd\": [\"/%s\"]}, "
	                   "\"rootfs\": {\"type\": \"layers\", \"diff_ids\": [", architecture, repository));
	for (int i = 0; i < LAYERS; i++) {
		layer_digest(repository, architecture, i, digest);
		must(ic_buf_printf(out, NULL, "%s\"%s\"", i > 0 ? ", " : "", digest));
	}
	must(ic_buf_add_text(out, "]}}", NULL));
}

static void make_manifest(const char *repository, const char *architecture, struct ic_buf *out)
{
	struct ic_buf config IC_AUTO(buf);
	char digest[IC_DIGEST_TEXT_BYTES];

	ic_buf_init(&config, 1 << 16);
	make_config(repository, architecture, &config);
	digest_of(config.data, config.len, digest);
	out->len = 0;
	must(ic_buf_printf(out, NULL, "{\"schemaVersion\": 2, \"mediaType\": \"%s\", \"config\": {\"mediaType\": "
	                   "\"application/vnd.oci.image.config.v1+json\", \"digest\": \"%s\", \"size\": %zu}, \"layers\": [",
	                   manifest_type, digest, config.len));
	for (int i = 0; i < LAYERS; i++) {
		layer_digest(repository, architecture, i, digest);
		must(ic_buf_printf(out, NULL, "%s{\"mediaType\": \"application/vnd.oci.image.layer.v1.tar+gzip\", \"digest\": \"%s\", "
		                   "\"size\": %zu}", i > 0 ? ", " : "", digest, layer_size(i)));
	}
	must(ic_buf_add_text(out, "]}", NULL));
}

static void make_index(const char *repository, struct ic_buf *out)
{
	struct ic_buf manifest IC_AUTO(buf);
	char digest[IC_DIGEST_TEXT_BYTES];

	ic_buf_init(&manifest, 1 << 16);
	out->len = 0;
	must(ic_buf_printf(out, NULL, "{\"schemaVersion\": 2, \"mediaType\": \"%s\", \"manifests\": [", index_type));
	for (size_t i = 0; i < IC_COUNT(architectures); i++) {
		make_manifest(repository, architectures[i], &manifest);
		digest_of(manifest.data, manifest.len, digest);
		must(ic_buf_printf(out, NULL, "%s{\"mediaType\": \"%s\", \"digest\": \"%s\", \"size\": %zu, \"platform\": "
		                   "{\"architecture\": \"%s\", \"os\": \"linux\"}}", i > 0 ? ", " : "", manifest_type, digest,
		                   manifest.len, architectures[i]));
	}
	must(ic_buf_add_text(out, "]}", NULL));
}

bool documents_manifest(const char *repository, const char *reference, struct ic_buf *body, const char **media_type)
{
	bool by_tag = strcmp(reference, TAG) == 0;

	*media_type = index_type;
	if (is_index(repository)) {
		make_index(repository, body);
		if (by_tag || ic_digest_matches(reference, body->data, body->len))
			return true;
	}
	*media_type = manifest_type;
	for (size_t i = 0; i < IC_COUNT(architectures); i++) {
		make_manifest(repository, architectures[i], body);
		if ((by_tag && !is_index(repository)) || ic_digest_matches(reference, body->data, body->len))
			return true;
	}
	return false;
}

bool documents_blob(const char *repository, const char *digest, struct ic_buf *body, size_t *size)
{
	for (size_t i = 0; i < IC_COUNT(architectures); i++) {
		char layer[IC_DIGEST_TEXT_BYTES];

		make_config(repository, architectures[i], body);
		*size = body->len;
		if (ic_digest_matches(digest, body->data, body->len))
			return true;
		for (int k = 0; k < LAYERS; k++) {
			layer_digest(repository, architectures[i], k, layer);
			body->len = 0;
			*size = layer_size(k);
			if (strcmp(layer, digest) == 0)
				return true;
		}
	}
	return false;
}
