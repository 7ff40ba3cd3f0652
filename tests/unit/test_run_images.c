/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "base/limits.h"
#include "imgcheck.h"
#include "registry/run.h"

/*
 * The verdict about images of every shape.  The ids are those of manifest_responses.tsv and platform_match.tsv;
 * ids in lower case are our own.
 */

#define R SCRIPTED_REPOSITORY
#define OK IMGCHECK_VERDICT_OK
#define NO_PLATFORM IMGCHECK_VERDICT_NO_PLATFORM
#define INCOMPLETE IMGCHECK_VERDICT_INCOMPLETE
#define CORRUPT IMGCHECK_VERDICT_CORRUPT

#define CONFIG_OF(os, architecture) \
	"{\"os\":\"" os "\",\"architecture\":\"" architecture "\",\"rootfs\":{\"diff_ids\":[\"@L@\"]}}"
#define DESCRIPTOR_OF_CONFIG CONFIG_TYPED(OCI "config.v1+json")
#define CONFIG_TYPED(type) "{\"mediaType\":\"" type "\",\"digest\":\"@C@\",\"size\":@cs@}"
#define LAYER_OF(type, more) "{\"mediaType\":\"" type "\",\"digest\":\"@L@\",\"size\":1" more "}"
#define GZIP OCI "layer.v1.tar+gzip"
#define MANIFEST_OF(config, layers) "{\"config\":" config ",\"layers\":[" layers "]}"
#define ENTRY(digest, size, more) \
	"{\"mediaType\":\"" OCI "manifest.v1+json\",\"digest\":\"" digest "\",\"size\":" size more "}"
#define CHILD(more) ENTRY("@M@", "@ms@", more)
#define ON(os, architecture) ",\"platform\":{\"os\":\"" os "\",\"architecture\":\"" architecture "\"}"
#define INDEX_OF(entries) "{\"manifests\":[" entries "]}"
#define NOBODY "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What the reference resolves to. */
enum top { TOP_INDEX, TOP_MANIFEST, TOP_OUTER };

struct row {
	const char *id, *depth; /* depth NULL: blobs */
	const char *platform;   /* NULL: linux/amd64 */
	enum top top;
	const char *shape[PARTS];
	enum imgcheck_verdict verdict;
	const char *reason; /* a part of it; NULL: there is none */
};

static const struct row rows[] = {
	{"single", NULL, NULL, TOP_MANIFEST, {0}, OK, NULL},
	{"nested", NULL, NULL, TOP_OUTER, {0}, OK, NULL},

	/* descriptors and bodies */
	{"M48", NULL, NULL, TOP_INDEX, {[INDEX] = INDEX_OF(ENTRY("@M@", "0", ON("linux", "amd64")))}, CORRUPT, "size of zero"},
	{"no-size", NULL, NULL, TOP_INDEX,
	 {[INDEX] = "{\"manifests\":[{\"mediaType\":\"" OCI "manifest.v1+json\",\"digest\":\"@M@\"" ON("linux", "amd64") "}]}"},
	 CORRUPT, "size of zero"},
	{"size-elsewhere", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(ENTRY(NOBODY, "0", ON("linux", "arm64")) "," CHILD(ON("linux", "amd64")))}, OK, NULL},
	{"digest-elsewhere", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(ENTRY("sha256:1", "9", ON("linux", "arm64")) "," CHILD(ON("linux", "amd64")))}, OK, NULL},
	{"bad-digest", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(ENTRY("sha256:1", "9", ON("linux", "amd64")))}, CORRUPT, "no valid digest"},
	{"config-size", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF("{\"mediaType\":\"" OCI "config.v1+json\",\"digest\":\"@C@\"}", LAYER_OF(GZIP, ""))},
	 CORRUPT, "size of zero"},
	{"M49", NULL, NULL, TOP_INDEX, {[INDEX] = "{\"manifests\":[],\"layers\":[{}]}"}, CORRUPT, "is a manifest"},
	{"M49", NULL, NULL, TOP_MANIFEST, {[MANIFEST] = "{\"layers\":[],\"manifests\":[{}]}"}, CORRUPT, "is an index"},
	{"schema-1", NULL, NULL, TOP_MANIFEST, {[MANIFEST] = "{\"fsLayers\":[{}]}"}, CORRUPT, "schema 1"},
	{"no-json", NULL, NULL, TOP_MANIFEST, {[MANIFEST] = "<xml>"}, CORRUPT, "JSON"},
	{"no-config", NULL, NULL, TOP_MANIFEST, {[MANIFEST] = "{\"layers\":[]}"}, CORRUPT, "config"},
	{"M51", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(CONFIG_TYPED("application/vnd.cncf.helm.config.v1+json"), "")},
	 CORRUPT, "artifact"},
	{"odd-child", NULL, NULL, TOP_INDEX,
	 {[INDEX] = "{\"manifests\":[{\"mediaType\":\"x/y\",\"digest\":\"@M@\",\"size\":@ms@" ON("linux", "amd64") "}]}"},
	 CORRUPT, "no image manifest"},

	/* platforms */
	{"P47", NULL, NULL, TOP_INDEX, {[INDEX] = INDEX_OF(CHILD(""))}, OK, NULL},
	{"P47-platform", "platform", NULL, TOP_INDEX, {[INDEX] = INDEX_OF(CHILD(""))}, OK, NULL},
	{"P48", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(CHILD("")), [CONFIG] = CONFIG_OF("linux", "arm64")}, NO_PLATFORM, "linux/arm64"},
	{"P49", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(ENTRY(NOBODY, "9", "") "," CHILD(ON("linux", "amd64")))}, OK, NULL},
	{"P51", NULL, NULL, TOP_INDEX, {[INDEX] = INDEX_OF(CHILD(",\"platform\":null"))}, OK, NULL},
	{"no-platform", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(ENTRY(NOBODY, "9", ON("windows", "amd64")) "," ENTRY(NOBODY, "9", ON("unknown", "unknown")))},
	 NO_PLATFORM, "not there for linux/amd64, only for windows/amd64"},
	{"only-attestation", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(ENTRY(NOBODY, "9", ON("unknown", "unknown")))}, NO_PLATFORM, "no platform at all"},
	{"first-of-equals", NULL, NULL, TOP_INDEX,
	 {[INDEX] = INDEX_OF(CHILD(ON("linux", "amd64")) "," ENTRY(NOBODY, "9", ON("linux", "amd64")))}, OK, NULL},
	{"both", NULL, "linux/amd64 linux/386", TOP_INDEX,
	 {[INDEX] = INDEX_OF(CHILD(ON("linux", "amd64")))}, NO_PLATFORM, "not there for linux/386"},
	{"both-there", NULL, "linux/amd64 linux/386", TOP_INDEX,
	 {[INDEX] = INDEX_OF(CHILD(ON("linux", "386")))}, OK, NULL},
	{"both-half", NULL, "linux/amd64 linux/arm64", TOP_INDEX,
	 {[INDEX] = INDEX_OF(CHILD(ON("linux", "amd64")) "," ENTRY(NOBODY, "9", ON("linux", "arm64")))}, INCOMPLETE, NOBODY},
	{"single-other", NULL, NULL, TOP_MANIFEST, {[CONFIG] = CONFIG_OF("linux", "s390x")}, NO_PLATFORM, "linux/s390x"},
	{"single-other", "platform", NULL, TOP_MANIFEST,
	 {[CONFIG] = CONFIG_OF("linux", "s390x")}, NO_PLATFORM, "linux/s390x"},
	{"single-other", "tag", NULL, TOP_MANIFEST, {[CONFIG] = CONFIG_OF("linux", "s390x")}, OK, NULL},
	{"single-older", NULL, NULL, TOP_MANIFEST, {[CONFIG] = CONFIG_OF("linux", "386")}, OK, NULL},
	{"single-unsaid", NULL, NULL, TOP_MANIFEST, {[CONFIG] = "{\"rootfs\":{\"diff_ids\":[\"@L@\"]}}"}, OK, NULL},
	{"nested-other", NULL, NULL, TOP_OUTER, {[INDEX] = INDEX_OF(CHILD(ON("linux", "s390x")))}, NO_PLATFORM, "linux/s390x"},
	{"nested-unsaid", NULL, NULL, TOP_OUTER,
	 {[OUTER] = INDEX_OF("{\"mediaType\":\"" OCI "index.v1+json\",\"digest\":\"@I@\",\"size\":@is@}")}, OK, NULL},

	/* configs and layers */
	{"diff-ids", NULL, NULL, TOP_MANIFEST,
	 {[CONFIG] = "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[\"a\",\"b\"]}}"}, CORRUPT, "2 layers"},
	{"diff-ids", "platform", NULL, TOP_MANIFEST,
	 {[CONFIG] = "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[\"a\",\"b\"]}}"}, OK, NULL},
	{"no-layers", NULL, NULL, TOP_MANIFEST, {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, "")}, CORRUPT, "1 layers"},
	{"odd-layer", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF("x/y", ""))}, CORRUPT, "1 layers where its manifest lists 0"},
	{"zstd", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF(OCI "layer.v1.tar+zstd", ""))}, OK, NULL},
	{"docker-zstd", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF("application/vnd.docker.image.rootfs.diff.tar.zstd", ""))},
	 OK, NULL},
	{"nondistributable", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF(OCI "layer.nondistributable.v1.tar", ""))}, OK, NULL},
	{"octet-config", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(CONFIG_TYPED("application/octet-stream"), LAYER_OF(GZIP, ""))},
	 OK, NULL},
	{"config-no-json", NULL, NULL, TOP_MANIFEST, {[CONFIG] = "nonsense"}, CORRUPT, "cannot be used"},
	{"embedded", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF(GZIP, ",\"data\":\"TA==\""))}, OK, NULL},
	{"embedded-lie", NULL, NULL, TOP_MANIFEST,
	 {[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF(GZIP, ",\"data\":\"TQ==\""))}, CORRUPT, "do not have the digest"},
	{"embedded-config", NULL, NULL, TOP_MANIFEST,
	 {[CONFIG] = "{\"os\":\"linux\",\"architecture\":\"s390x\"}",
	  [MANIFEST] = MANIFEST_OF("{\"mediaType\":\"" OCI "config.v1+json\",\"digest\":\"@C@\",\"size\":@cs@,"
	                           "\"data\":\"eyJvcyI6ImxpbnV4IiwiYXJjaGl0ZWN0dXJlIjoiczM5MHgifQ==\"}", "")},
	 NO_PLATFORM, "linux/s390x"},
};

/* ------------------------------------------------------------------ running a row */

static void add_platforms(struct imgcheck_config *c, const char *list)
{
	while (*list) {
		char *one = strndup(list, strcspn(list, " "));

		cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_PLATFORM, one, NULL), 0);
		free(one);
		list += strcspn(list, " ");
		list += *list == ' ';
	}
}

static void check_row(const struct row *row)
{
	static const char *const types[] = {"index", "manifest", "index"};
	static const char *const names[] = {"I", "M", "O"};
	static const enum scripted_part tops[] = {INDEX, MANIFEST, OUTER};
	char header[256];
	const struct scripted_rule rules[] = {{"HEAD " R "/manifests/1", NULL, 0, 200, 0, header, NULL}};
	const struct ic_result *result;
	struct imgcheck_config *c;
	struct imgcheck_images *s;
	struct imgcheck_run *run;

	(void)snprintf(header, sizeof(header), "docker-content-digest: @%s@\ncontent-type: " OCI "%s.v1+json\ncontent-length: @%cs@",
	               names[row->top], types[row->top], names[row->top][0] | 0x20);
	scripted_start(rules, 1);
	scripted_build_image(row->shape);
	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_eq(imgcheck_images_new(&s), 0);
	add_platforms(c, row->platform ? row->platform : "linux/amd64");
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, row->depth ? row->depth : "blobs", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(s, "r.example/a/b:1", NULL), 0);
	cr_assert_eq(imgcheck_run_new(c, s, &run, NULL), 0);
	for (int i = 0; imgcheck_run_step(run, 0, NULL) == 1; i++)
		cr_assert_lt(i, 100, "the run does not end");
	result = ic_run_result(run, 0);
	cr_expect_eq(result->verdict, row->verdict, "%s: %s, wanted %s: %s", row->id, imgcheck_verdict_name(result->verdict),
	             imgcheck_verdict_name(row->verdict), result->reason ? result->reason : "");
	if (row->reason)
		cr_expect(result->reason && strstr(result->reason, row->reason), "%s: \"%s\" lacks \"%s\"", row->id,
		          result->reason ? result->reason : "", row->reason);
	cr_expect_str_eq(result->digest, scripted_parts[tops[row->top]].digest);
	imgcheck_run_free(run);
	imgcheck_images_free(s);
	imgcheck_config_free(c);
	scripted_end();
}

TEST(run_images, every_shape_has_its_verdict)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++)
		check_row(&rows[i]);
}

/* Of two layers the one that is missing decides, not the one that could not be asked for, whichever comes first. */
TEST(run_images, what_is_missing_weighs_more_than_what_cannot_be_told)
{
	static const char *const shape[PARTS] = {
		[MANIFEST] = MANIFEST_OF(DESCRIPTOR_OF_CONFIG, LAYER_OF(GZIP, "") "," CONFIG_TYPED(GZIP)),
		[CONFIG] = "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"diff_ids\":[\"a\",\"b\"]}}"};
	static const long statuses[][2] = {{404, 500}, {500, 404}};

	for (size_t i = 0; i < IC_COUNT(statuses); i++) {
		const struct scripted_rule rules[] = {
			{"HEAD " R "/blobs/@L@", NULL, 0, statuses[i][0], 0, NULL, NULL},
			{"GET " R "/blobs/@L@", NULL, 0, statuses[i][0], 0, NULL, NULL},
			{"HEAD " R "/blobs/@C@", NULL, 0, statuses[i][1], 0, NULL, NULL},
			{"GET " R "/blobs/@C@", "Range", 0, statuses[i][1], 0, NULL, NULL},
		};
		const struct ic_result *result;
		struct imgcheck_config *c;
		struct imgcheck_images *s;
		struct imgcheck_run *run;

		scripted_start(rules, IC_COUNT(rules));
		scripted_build_image(shape);
		cr_assert(imgcheck_config_new(&c) == 0 && imgcheck_images_new(&s) == 0);
		cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL), 0);
		cr_assert_eq(imgcheck_images_add_ref(s, "r.example/a/b:1", NULL), 0);
		cr_assert_eq(imgcheck_run_new(c, s, &run, NULL), 0);
		for (int k = 0; imgcheck_run_step(run, 0, NULL) == 1; k++)
			cr_assert_lt(k, 100, "the run does not end");
		result = ic_run_result(run, 0);
		cr_expect_eq(result->verdict, INCOMPLETE, "%zu: %s", i, imgcheck_verdict_name(result->verdict));
		cr_expect(scripted_count("HEAD " R "/blobs", NULL) >= 2, "%zu: both layers are asked for", i);
		imgcheck_run_free(run);
		imgcheck_images_free(s);
		imgcheck_config_free(c);
		scripted_end();
	}
}

/* The rows that test_content.c leaves out, since their entries are decided by their configs. */
TEST(run_images, no_row_of_the_shared_table_is_left_out)
{
	const char *path = test_shared("facts/platform_match.tsv");
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *id = test_table_get(t, row, "id");
		size_t found = 0;

		for (size_t i = 0; i < IC_COUNT(rows); i++)
			found += strcmp(rows[i].id, id) == 0;
		cr_expect(found > 0 || !strstr(test_table_get(t, row, "entries_json"), "config_platform"), "%s is not tested", id);
	}
	test_table_close(t);
}
