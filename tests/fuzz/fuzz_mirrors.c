/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that say where a node pulls from; the first byte chooses the kind.  Whatever is read, each image has
 * endpoints or a reason for none, and no text of an endpoint could end a request's line.
 */
#include <string.h>

#include "fuzz.h"
#include "source/endpoint.h"
#include "source/finding.h"
#include "source/hosts_toml.h"

static const char *const images[] = {"busybox", "quay.io/org/a:1", "r.local:5000/a:1", "localhost:5000/a"};

static bool is_line(const char *text)
{
	return text[strcspn(text, "\r\n")] == '\0';
}

static void check_endpoints(const struct imgcheck_config *c, const char *image)
{
	struct ic_endpoints found IC_AUTO(endpoints) = {0};
	struct ic_ref ref IC_AUTO(ref) = {0};
	int result;

	FUZZ_REQUIRE(ic_ref_parse(image, strlen(image), &ref, NULL) == 0);
	result = ic_endpoints_find(c, &ref, &found, NULL);
	if (result < 0)
		return;
	FUZZ_REQUIRE((found.list.count == 0) == (found.reason != NULL));
	for (size_t i = 0; i < found.list.count; i++) {
		const struct ic_endpoint *e = ic_vec_at(&found.list, i);

		FUZZ_REQUIRE(strcmp(e->scheme, "http") == 0 || strcmp(e->scheme, "https") == 0);
		FUZZ_REQUIRE(is_line(e->host) && is_line(e->base_path) && is_line(e->repository));
		for (size_t k = 0; k < e->header.count; k++)
			FUZZ_REQUIRE(is_line(ic_texts_get(&e->header, k)) && strchr(ic_texts_get(&e->header, k), ':'));
	}
}

/* A hosts.toml alone: it is read from a folder, which a harness does not make. */
static void read_hosts_toml(const char *data, size_t size)
{
	struct ic_mirrors mirrors IC_AUTO(mirrors);
	struct ic_vec problems;
	int result;

	ic_mirrors_init(&mirrors);
	ic_findings_init(&problems);
	result = ic_hosts_toml_parse("/nonexistent", "hosts.toml", data, size, &mirrors, &problems, NULL);
	for (size_t i = 0; result == 0 && i < mirrors.hosts.count; i++) {
		const struct ic_mirror *m = ic_vec_at(&mirrors.hosts, i);

		FUZZ_REQUIRE(m->path && (!m->host == !m->scheme));
		FUZZ_REQUIRE(m->host || i + 1 == mirrors.hosts.count);
	}
	ic_findings_clear(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum imgcheck_file kinds[] = {IMGCHECK_FILE_CONTAINERD, IMGCHECK_FILE_REGISTRIES_YAML,
	                                           IMGCHECK_FILE_CUSTOM_REGISTRIES, IMGCHECK_FILE_REGISTRIES_CONF};
	const char *text = (const char *)data + 1;
	struct imgcheck_config *c;
	size_t kind;

	if (size == 0)
		return 0;
	kind = (data[0] - (size_t)'0') % (IC_COUNT(kinds) + 1);
	if (kind == IC_COUNT(kinds)) {
		read_hosts_toml(text, size - 1);
		return 0;
	}
	FUZZ_REQUIRE(imgcheck_config_new(&c) == 0);
	if (kinds[kind] == IMGCHECK_FILE_REGISTRIES_CONF)
		FUZZ_REQUIRE(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, "crio", NULL) == 0);
	if (imgcheck_config_read_data(c, kinds[kind], "given", text, size - 1, NULL) == 0)
		for (size_t i = 0; i < IC_COUNT(images); i++)
			check_endpoints(c, images[i]);
	imgcheck_config_free(c);
	return 0;
}
