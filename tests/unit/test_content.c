/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/content.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "test.h"

#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define CONFIG "\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"" D1 "\",\"size\":7}"
#define LAYER "{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar+gzip\",\"digest\":\"" D2 "\",\"size\":9}"

static const struct ic_profile *containerd(void)
{
	return ic_profile_get(IC_RUNTIME_CONTAINERD);
}

TEST(content, kinds_of_media_types)
{
	static const struct {
		const char *type;
		enum ic_content_kind kind;
	} rows[] = {
		{"application/vnd.oci.image.manifest.v1+json", IC_CONTENT_MANIFEST},
		{"application/vnd.oci.image.manifest.v1+json; charset=utf-8", IC_CONTENT_MANIFEST},
		{"application/vnd.docker.distribution.manifest.v2+json", IC_CONTENT_MANIFEST},
		{"application/vnd.docker.distribution.manifest.list.v2+json", IC_CONTENT_INDEX},
		{"application/vnd.oci.image.index.v1+json", IC_CONTENT_INDEX},
		{"application/vnd.docker.distribution.manifest.v1+prettyjws", IC_CONTENT_SCHEMA1},
		{"text/plain; charset=utf-8", IC_CONTENT_SCHEMA1},
		{"text/html", IC_CONTENT_OTHER},
		{"application/json", IC_CONTENT_OTHER},
		{"", IC_CONTENT_OTHER},
		{NULL, IC_CONTENT_OTHER},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_content_kind(rows[i].type), rows[i].kind, "%s", rows[i].type ? rows[i].type : "none");
}

TEST(content, reads_a_manifest)
{
	static const char body[] = "{\"schemaVersion\":2," CONFIG ",\"layers\":[" LAYER
	                           ",{\"mediaType\":\"x\",\"digest\":\"" D2 "\",\"size\":3,\"data\":\"YWJj\"},"
	                           "{\"digest\":\"" D2 "\",\"size\":3,\"data\":\"YWI=\",\"urls\":[\"https://a/b\"]}]}";
	struct ic_content c IC_AUTO(content) = {0};
	const struct ic_descriptor *layer;

	cr_assert_eq(ic_content_parse(containerd(), IC_CONTENT_MANIFEST, body, strlen(body), &c, NULL), 0);
	cr_assert_str_eq(c.config.digest, D1);
	cr_assert_eq(c.config.size, 7);
	cr_assert_eq(c.entries.count, 3);
	layer = ic_vec_at(&c.entries, 0);
	cr_assert_str_eq(layer->digest, D2);
	cr_assert_null(layer->data);
	cr_assert_str_eq(((struct ic_descriptor *)ic_vec_at(&c.entries, 1))->data, "abc");
	layer = ic_vec_at(&c.entries, 2);
	cr_assert_null(layer->data, "two bytes are not three");
	cr_assert_str_eq(layer->media_type, "");
	cr_assert_str_eq(ic_texts_get(&layer->urls, 0), "https://a/b");
}

TEST(content, refuses_what_the_runtime_refuses)
{
	static const struct {
		enum ic_content_kind kind;
		const char *body, *reason;
	} rows[] = {
		{IC_CONTENT_MANIFEST, "[]", "no JSON object"},
		{IC_CONTENT_MANIFEST, "{", "JSON"},
		{IC_CONTENT_MANIFEST, "{}", "config"},
		{IC_CONTENT_MANIFEST, "{\"fsLayers\":[{}]}", "schema 1"},
		{IC_CONTENT_MANIFEST, "{" CONFIG ",\"layers\":[],\"manifests\":[{}]}", "is an index"},
		{IC_CONTENT_MANIFEST, "{\"mediaType\":\"application/vnd.oci.image.index.v1+json\"," CONFIG "}", "is an index"},
		{IC_CONTENT_INDEX, "{\"manifests\":[]," CONFIG "}", "is a manifest"},
		{IC_CONTENT_INDEX, "{\"manifests\":[],\"layers\":[{}]}", "is a manifest"},
		{IC_CONTENT_INDEX, "{\"manifests\":{}}", "no list"},
		{IC_CONTENT_INDEX, "{\"manifests\":[1]}", "no object"},
		{IC_CONTENT_MANIFEST, "{" CONFIG ",\"layers\":[{\"digest\":\"" D1 "\",\"size\":0}]}", "size of zero"},
		{IC_CONTENT_MANIFEST, "{" CONFIG ",\"layers\":[{\"digest\":\"" D1 "\"}]}", "size of zero"},
		{IC_CONTENT_MANIFEST, "{" CONFIG ",\"layers\":[{\"digest\":\"" D1 "\",\"size\":-1}]}", "negative"},
		{IC_CONTENT_MANIFEST, "{" CONFIG ",\"layers\":[{\"digest\":\"sha256:11\",\"size\":1}]}", "no valid digest"},
		{IC_CONTENT_MANIFEST, "{\"config\":{\"digest\":\"" D1 "\"}}", "its config: it has content with a size of zero"},
		{IC_CONTENT_INDEX, "{\"manifests\":[{\"digest\":\"" D1 "\",\"size\":\"1\"}]}", "no whole number"},
		{IC_CONTENT_INDEX, "{\"manifests\":[{\"digest\":\"" D1 "\",\"size\":1,\"urls\":[1]}]}", "url"},
		{IC_CONTENT_MANIFEST,
		 "{\"config\":{\"mediaType\":\"application/vnd.cncf.helm.config.v1+json\",\"digest\":\"" D1 "\",\"size\":1}}", "artifact"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_content c;

		cr_expect_eq(ic_content_parse(containerd(), rows[i].kind, rows[i].body, strlen(rows[i].body), &c, &err),
		             IMGCHECK_ERR_SYNTAX, "%s",
		             rows[i].body);
		cr_expect(strstr(imgcheck_error_message(err), rows[i].reason), "%s: %s", rows[i].body, imgcheck_error_message(err));
		imgcheck_error_free(err);
	}
}

TEST(content, an_entry_may_be_at_fault_where_it_is_not_fetched)
{
	static const char body[] = "{\"manifests\":[{\"digest\":\"" D1 "\",\"size\":0},{\"digest\":\"latest\",\"size\":1},"
	                           "{\"digest\":\"" D1 "\",\"size\":-3},{\"digest\":\"" D1 "\",\"size\":7}]}";
	static const char *const faults[] = {"size of zero", "no valid digest", "negative size", NULL};
	struct ic_content c IC_AUTO(content) = {0};

	cr_assert_eq(ic_content_parse(containerd(), IC_CONTENT_INDEX, body, strlen(body), &c, NULL), 0);
	cr_assert_eq(c.entries.count, IC_COUNT(faults));
	for (size_t i = 0; i < IC_COUNT(faults); i++) {
		const char *fault = ((struct ic_descriptor *)ic_vec_at(&c.entries, i))->fault;

		cr_expect(faults[i] ? fault && strstr(fault, faults[i]) : !fault, "%zu: %s", i, fault ? fault : "none");
	}
}

TEST(content, counts_what_is_unpacked)
{
	static const struct {
		const char *media_type;
		size_t layers;
	} rows[] = {
		{"application/vnd.oci.image.layer.v1.tar", 1},
		{"application/vnd.oci.image.layer.v1.tar+zstd", 1},
		{"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip", 1},
		{"application/vnd.docker.image.rootfs.diff.tar", 1},
		{"application/vnd.docker.image.rootfs.diff.tar.gzip+encrypted", 1},
		{"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", 1},
		{"application/vnd.docker.image.rootfs.diff.tar.xz", 0},
		{"application/vnd.oci.image.config.v1+json", 0},
		{"application/octet-stream", 0},
		{"", 0},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_content c IC_AUTO(content) = {0};
		struct ic_buf body IC_AUTO(buf);

		ic_buf_init(&body, 4096);
		cr_assert_eq(ic_buf_printf(&body, NULL, "{" CONFIG ",\"layers\":[{\"mediaType\":\"%s\",\"digest\":\"" D1 "\",\"size\":1}]}",
		                           rows[i].media_type), 0);
		cr_assert_eq(ic_content_parse(containerd(), IC_CONTENT_MANIFEST, body.data, body.len, &c, NULL), 0);
		cr_expect_eq(c.layers, rows[i].layers, "%s", rows[i].media_type);
	}
}

TEST(content, lists_are_bounded)
{
	struct ic_buf body IC_AUTO(buf);
	struct imgcheck_error *err = NULL;
	struct ic_content c;

	ic_buf_init(&body, (size_t)8 << 20);
	cr_assert_eq(ic_buf_add_text(&body, "{\"manifests\":[", NULL), 0);
	for (size_t i = 0; i <= IC_MAX_LAYERS; i++)
		cr_assert_eq(ic_buf_printf(&body, NULL, "%s{\"digest\":\"" D1 "\",\"size\":1}", i ? "," : ""), 0);
	cr_assert_eq(ic_buf_add_text(&body, "]}", NULL), 0);
	cr_assert_eq(ic_content_parse(containerd(), IC_CONTENT_INDEX, body.data, body.len, &c, &err), IMGCHECK_ERR_LIMIT);
	imgcheck_error_free(err);
}

/* Turns the entries of a row ([{"id", "platform"}]) into an index and chooses for the host: its number, or -1. */
static int choose_from(enum ic_runtime runtime, bool docker_list, const char *entries, const char *host)
{
	json_t *list = NULL;
	struct ic_content index IC_AUTO(content) = {0};
	struct ic_platform want;
	json_t *whole IC_AUTO(json) = NULL, *item;
	char *body IC_AUTO(free) = NULL;
	size_t i, chosen = 0;

	cr_assert_eq(ic_json_parse(NULL, entries, strlen(entries), &list, NULL), 0, "%s", entries);
	json_array_foreach(list, i, item) {
		cr_assert_eq(json_object_set_new(item, "digest", json_string(D1)), 0);
		cr_assert_eq(json_object_set_new(item, "size", json_integer(1)), 0);
	}
	whole = json_pack("{s:o}", "manifests", list);
	body = json_dumps(whole, 0);
	cr_assert_eq(ic_content_parse(ic_profile_get(runtime), IC_CONTENT_INDEX, body, strlen(body), &index, NULL), 0, "%s", body);
	index.docker_list = docker_list;
	cr_assert_eq(ic_platform_parse(host, &want, NULL), 0, "%s", host);
	return ic_content_choose(&index, &want, &chosen) ? (int)chosen : -1;
}

TEST(content, chooses_for_the_platform)
{
	static const struct {
		const char *host, *entries;
		int chosen;
	} rows[] = {
		{"linux/amd64", "[]", -1},
		{"linux/amd64", "[{\"platform\":{\"os\":\"linux\",\"architecture\":\"arm64\"}},"
		                "{\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]", 1},
		{"linux/amd64", "[{},{\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]", 1},
		{"linux/amd64", "[{\"platform\":{\"os\":\"unknown\",\"architecture\":\"unknown\"}},{},{}]", 1},
		{"linux/amd64", "[{\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\",\"os.features\":[\"x\"]}}]", -1},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(choose_from(IC_RUNTIME_CONTAINERD, false, rows[i].entries, rows[i].host), rows[i].chosen, "%s for %s",
		             rows[i].entries, rows[i].host);
}

/* The columns of containerd's local pull.  Entries without a platform are decided by their config: probe's tests. */
TEST(content, chooses_as_the_shared_table_says)
{
	const char *path = test_shared("facts/platform_match.tsv");
	struct test_table *t;
	size_t tried = 0;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *entries = test_table_get(t, row, "entries_json"), *chosen = test_table_get(t, row, "ctd_local");
		int expected = strcmp(chosen, "none") == 0 ? -1 : (int)strtol(chosen + 1, NULL, 10);

		if (strstr(entries, "config_platform"))
			continue;
		cr_expect_eq(choose_from(IC_RUNTIME_CONTAINERD, false, entries, test_table_get(t, row, "host")), expected, "%s: not %s",
		             test_table_get(t, row, "id"), chosen);
		tried++;
	}
	cr_log_info("%zu of %zu rows", tried, test_table_rows(t));
	cr_assert_geq(tried, 30);
	test_table_close(t);
}

TEST(content, agrees_with_the_column_of_containers_image)
{
	const char *path = test_shared("facts/platform_match.tsv");
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *chosen = test_table_get(t, row, "cimage");
		int expected = strcmp(chosen, "none") == 0 ? -1 : (int)strtol(chosen + 1, NULL, 10);
		bool docker_list = strcmp(test_table_get(t, row, "list_kind"), "docker") == 0;

		cr_expect_eq(choose_from(IC_RUNTIME_CRIO, docker_list, test_table_get(t, row, "entries_json"),
		                         test_table_get(t, row, "host")), expected, "%s: not %s", test_table_get(t, row, "id"), chosen);
	}
	cr_log_info("platform_match.tsv, containers/image: %zu rows covered, 0 not", test_table_rows(t));
	test_table_close(t);
}

TEST(content, crio_takes_schema_1_and_unknown_types_for_it)
{
	static const struct {
		const char *body, *why; /* NULL: it is taken */
	} rows[] = {
		{"{\"schemaVersion\":1,\"fsLayers\":[{\"blobSum\":\"" D1 "\"},{\"blobSum\":\"" D2 "\"}]}", NULL},
		{"{\"schemaVersion\":2," CONFIG ",\"layers\":[]}", "schema version 2"},
		{"{\"fsLayers\":[{\"blobSum\":\"" D1 "\"}]}", "schema version 0"},
		{"{\"schemaVersion\":1}", "no layers"},
		{"{\"schemaVersion\":1,\"fsLayers\":[{\"blobSum\":\"sha256:1\"}]}", "no valid digest"},
		{"{\"schemaVersion\":1,\"fsLayers\":[{\"blobSum\":\"" D1 "\"}],\"layers\":[1]}", "in another one"},
		{"[]", "no JSON object"},
	};
	const struct ic_profile *crio = ic_profile_get(IC_RUNTIME_CRIO);

	cr_expect_eq(ic_content_kind_for(crio, "text/plain"), IC_CONTENT_SCHEMA1);
	cr_expect_eq(ic_content_kind_for(crio, NULL), IC_CONTENT_SCHEMA1);
	cr_expect_eq(ic_content_kind_for(crio, "application/json"), IC_CONTENT_SCHEMA1);
	cr_expect_eq(ic_content_kind_for(containerd(), "application/json"), IC_CONTENT_OTHER);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err IC_AUTO(error) = NULL;
		struct ic_content c IC_AUTO(content) = {0};
		int result = ic_content_parse(crio, IC_CONTENT_SCHEMA1, rows[i].body, strlen(rows[i].body), &c, &err);

		cr_expect_eq(result, rows[i].why ? IMGCHECK_ERR_SYNTAX : 0, "%s", rows[i].body);
		if (rows[i].why)
			cr_expect(strstr(imgcheck_error_message(err), rows[i].why), "%s", imgcheck_error_message(err));
		else
			cr_expect_eq(c.entries.count, 2);
	}
}

/* What has no size is good enough for containers/image. */
TEST(content, crio_minds_no_size_of_zero)
{
	static const char body[] = "{\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"" D1 "\"}}";
	struct ic_content c IC_AUTO(content) = {0};

	cr_assert_eq(ic_content_parse(containerd(), IC_CONTENT_MANIFEST, body, strlen(body), &c, NULL), IMGCHECK_ERR_SYNTAX);
	cr_assert_eq(ic_content_parse(ic_profile_get(IC_RUNTIME_CRIO), IC_CONTENT_MANIFEST, body, strlen(body), &c, NULL), 0);
	cr_assert_eq(c.config.size, 0);
}

TEST(content, reads_a_config)
{
	static const char body[] = "{\"os\":\"linux\",\"architecture\":\"arm\",\"variant\":\"v7\","
	                           "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"a\",\"b\"]}}";
	struct ic_image_config config;
	char text[IC_PLATFORM_TEXT_BYTES];

	cr_assert_eq(ic_image_config_parse(body, strlen(body), &config, NULL), 0);
	cr_assert(config.has_platform);
	ic_platform_text(&config.platform, text);
	cr_assert_str_eq(text, "linux/arm/v7");
	cr_assert_eq(config.diff_ids, 2);
	cr_assert_eq(ic_image_config_parse("{}", 2, &config, NULL), 0);
	cr_assert_not(config.has_platform);
	cr_assert_eq(ic_image_config_parse("7", 1, &config, NULL), IMGCHECK_ERR_SYNTAX);
	cr_assert_eq(ic_image_config_parse("{", 1, &config, NULL), IMGCHECK_ERR_SYNTAX);
}
