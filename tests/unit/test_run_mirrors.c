/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "imgcheck.h"
#include "registry/run.h"
#include "tree.h"

/*
 * Several hosts for one image: mirrors before the registry, layers with places of their own, several logins, a
 * port that turns out to speak no TLS.  The ids are those of manifest_responses.tsv and token_flow.tsv; ids in
 * lower case are our own.
 */

#define UP SCRIPTED_REPOSITORY
#define M1 "https://m1.example/v2/a/b"
#define OK IMGCHECK_VERDICT_OK
#define NOT_FOUND IMGCHECK_VERDICT_NOT_FOUND
#define INCOMPLETE IMGCHECK_VERDICT_INCOMPLETE
#define CORRUPT IMGCHECK_VERDICT_CORRUPT
#define DENIED IMGCHECK_VERDICT_DENIED
#define UNAUTHORIZED IMGCHECK_VERDICT_UNAUTHORIZED
#define UNREACHABLE IMGCHECK_VERDICT_UNREACHABLE
#define SERVER_ERROR IMGCHECK_VERDICT_SERVER_ERROR

#define HEAD_OK "docker-content-digest: @I@\ncontent-type: " OCI "index.v1+json\ncontent-length: @is@"
#define HEAD_MANIFEST "docker-content-digest: @M@\ncontent-type: " OCI "manifest.v1+json\ncontent-length: @ms@"
#define BEARER "www-authenticate: Bearer realm=\"https://auth.example/token\",service=\"s\",scope=\"repository:proxy/a/b:pull\""

static const char mirror_yaml[] = "mirrors:\n  r.example:\n    endpoint: [\"https://m1.example\"]\n";

struct row {
	const char *id;
	struct scripted_rule rules[6];
	enum imgcheck_verdict verdict;
	const char *reason; /* a part of it; NULL: there is none */
	const char *host;   /* that decided */
	const char *counted;
	size_t count;       /* requests that begin so */
};

static const struct row rows[] = {
	{"M36", {{"HEAD " M1, NULL, 0, 503, 0, NULL, NULL}}, OK, NULL, "r.example", "HEAD " M1 "/manifests", 1},
	{"told-ns", {{"HEAD " M1 "/manifests/1?ns=r.example", NULL, 0, 200, 0, HEAD_OK, NULL}}, OK, NULL, "m1.example",
	 "HEAD " UP "/manifests", 0},
	{"lacks-it", {{"HEAD " M1, NULL, 0, 404, 0, NULL, NULL}}, OK, NULL, "r.example", "GET " M1 "/manifests/1", 0},
	{"nobody-has-it",
	 {{"HEAD " M1, NULL, 0, 404, 0, NULL, NULL},
	  {"HEAD " UP, NULL, 0, 404, 0, NULL, NULL}},
	 NOT_FOUND, "HEAD " M1 "/manifests/1 404", "m1.example", "HEAD " UP "/manifests", 1},
	{"denied-first",
	 {{"HEAD " M1, NULL, 0, 403, 0, NULL, NULL},
	  {"HEAD " UP, NULL, 0, 404, 0, NULL, NULL}},
	 DENIED, "HEAD " M1 "/manifests/1 403", "m1.example", "HEAD " UP "/manifests", 1},
	{"refused-first",
	 {{"HEAD " M1, NULL, 0, 0, IC_HTTP_REFUSED, NULL, "cannot connect"},
	  {"HEAD " UP, NULL, 0, 404, 0, NULL, NULL}},
	 NOT_FOUND, "cannot connect", "r.example", "HEAD " M1, 1},
	{"moved-nowhere", {{"HEAD " M1, NULL, 0, 307, 0, NULL, NULL}}, SERVER_ERROR, " 307", "m1.example", "HEAD " UP, 0},
	{"measured",
	 {{"HEAD " M1 "/manifests", NULL, 0, 200, 0, NULL, NULL},
	  {"GET " M1 "/manifests/1", NULL, 0, 404, 0, NULL, NULL}},
	 NOT_FOUND, "GET " M1 "/manifests/1 404", "m1.example", "HEAD " UP, 0},
	{"too-large",
	 {{"HEAD " M1 "/manifests", NULL, 0, 200, 0, "docker-content-digest: @I@\ncontent-length: 5000000", NULL}},
	 OK, NULL, "r.example", "HEAD " UP "/manifests", 1},
	{"index-only", {{"HEAD " M1 "/manifests", NULL, 0, 200, 0, HEAD_OK, NULL}},
	 OK, NULL, "m1.example", "GET " UP "/manifests/@I@", 1},
	{"corrupt-mirror",
	 {{"HEAD " M1 "/manifests", NULL, 0, 200, 0, HEAD_OK, NULL},
	  {"GET " M1 "/manifests/@I@", NULL, 0, 200, 0, NULL, "@ix@"}},
	 CORRUPT, "do not have the digest", "m1.example", "GET " UP "/manifests/@I@", 0},
	{"layer-elsewhere",
	 {{"HEAD " M1 "/manifests", NULL, 0, 200, 0, HEAD_OK, NULL},
	  {"GET " M1 "/manifests/@I@", NULL, 0, 200, 0, NULL, "@i@"},
	  {"HEAD " M1 "/blobs/@L@", NULL, 0, 500, 0, NULL, NULL},
	  {"GET " M1 "/blobs/@L@", NULL, 0, 500, 0, NULL, NULL}},
	 OK, NULL, "m1.example", "HEAD " UP "/blobs/@L@", 1},
	{"layer-nowhere",
	 {{"HEAD " UP "/blobs/@L@", NULL, 0, 404, 0, NULL, NULL},
	  {"GET " UP "/blobs/@L@", NULL, 0, 404, 0, NULL, NULL}},
	 INCOMPLETE, "/blobs/@L@ 404", "m1.example", "GET " M1 "/blobs/@L@", 1},
};

/* ------------------------------------------------------------------ runs */

struct check {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_run *run;
};

static void init_check(struct check *c, const char *yaml)
{
	cr_assert_eq(imgcheck_config_new(&c->config), 0);
	cr_assert_eq(imgcheck_images_new(&c->images), 0);
	cr_assert_eq(imgcheck_config_set(c->config, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL), 0);
	if (yaml)
		cr_assert_eq(imgcheck_config_read_data(c->config, IMGCHECK_FILE_REGISTRIES_YAML, "registries.yaml", yaml,
		                                       strlen(yaml), NULL), 0);
}

static const struct ic_result *run_check(struct check *c, const char *ref)
{
	cr_assert_eq(imgcheck_images_add_ref(c->images, ref, NULL), 0);
	cr_assert_eq(imgcheck_run_new(c->config, c->images, &c->run, NULL), 0);
	for (int i = 0; imgcheck_run_step(c->run, 0, NULL) == 1; i++)
		cr_assert_lt(i, 1000, "the run does not end");
	return ic_run_result(c->run, 0);
}

static void end_check(struct check *c)
{
	imgcheck_run_free(c->run);
	imgcheck_images_free(c->images);
	imgcheck_config_free(c->config);
	scripted_end();
}

static size_t count_rules(const struct scripted_rule *rules, size_t most)
{
	size_t count = 0;

	while (count < most && rules[count].request)
		count++;
	return count;
}

static void expect_reason(const char *id, const struct ic_result *result, const char *part)
{
	char *wanted = scripted_expand(part ? part : "");

	cr_expect(!part || (result->reason && strstr(result->reason, wanted)), "%s: \"%s\" lacks \"%s\"", id,
	          result->reason ? result->reason : "", wanted);
	free(wanted);
}

static void expect_count(const char *id, const char *request, size_t count)
{
	char *wanted = scripted_expand(request);

	cr_expect_eq(scripted_count(wanted, NULL), count, "%s: %zu requests %s", id, scripted_count(wanted, NULL), wanted);
	free(wanted);
}

static void check_row(const struct row *row)
{
	const struct ic_result *result;
	struct check c;

	scripted_start(row->rules, count_rules(row->rules, IC_COUNT(row->rules)));
	init_check(&c, mirror_yaml);
	result = run_check(&c, "r.example/a/b:1");
	cr_expect_eq(result->verdict, row->verdict, "%s: %s, wanted %s: %s", row->id, imgcheck_verdict_name(result->verdict),
	             imgcheck_verdict_name(row->verdict), result->reason ? result->reason : "");
	expect_reason(row->id, result, row->reason);
	cr_expect_str_eq(result->host, row->host, "%s: %s", row->id, result->host);
	expect_count(row->id, row->counted, row->count);
	end_check(&c);
}

TEST(run_mirrors, hosts_are_asked_in_order)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++)
		check_row(&rows[i]);
}

/* ------------------------------------------------------------------ what a mirror is capable of */

TEST(run_mirrors, a_mirror_that_only_pulls_is_not_asked_what_a_tag_is)
{
	static const struct scripted_rule rules[] = {
		{"GET " M1 "/manifests/@I@", NULL, 0, 200, 0, NULL, "@i@"},
	};
	const struct ic_result *result;
	struct check c;
	char folder[] = "/tmp/imgcheck-mirrors-XXXXXX";

	tree_make(folder, "r.example/hosts.toml := [host.\"https://m1.example\"]\\ncapabilities=[\"pull\"]");
	scripted_start(rules, IC_COUNT(rules));
	init_check(&c, NULL);
	cr_assert_eq(imgcheck_config_read(c.config, IMGCHECK_FILE_HOSTS_DIR, folder, NULL), 0);
	result = run_check(&c, "r.example/a/b:1");
	cr_expect_eq(result->verdict, OK, "%s", result->reason ? result->reason : "");
	expect_count("a tag of the mirror", "HEAD " M1 "/manifests/1", 0);
	expect_count("a tag of the registry", "HEAD " UP "/manifests/1", 1);
	expect_count("an index of the mirror", "GET " M1 "/manifests/@I@", 1);
	end_check(&c);
	tree_remove(folder);
}

/* ------------------------------------------------------------------ layers with places of their own */

#define FOREIGN "https://foreign.example/layer"

static const struct row foreign_rows[] = {
	{"M52", {{"GET " FOREIGN "1", "!Authorization", 0, 206, 0, NULL, "L"}}, OK, NULL, "r.example", "HEAD " UP "/blobs/@L@", 0},
	{"M52-second",
	 {{"GET " FOREIGN "1", NULL, 0, 404, 0, NULL, NULL},
	  {"GET " FOREIGN "2", NULL, 0, 200, 0, NULL, "L"}},
	 OK, NULL, "r.example", "HEAD " UP "/blobs/@L@", 0},
	{"M52-registry", {{"GET " FOREIGN, NULL, 0, 404, 0, NULL, NULL}}, OK, NULL, "r.example", "HEAD " UP "/blobs/@L@", 1},
	{"M52-500", {{"GET " FOREIGN "1", NULL, 0, 502, 0, NULL, NULL}}, SERVER_ERROR, FOREIGN "1 502", "r.example",
	 "HEAD " UP "/blobs/@L@", 0},
	{"M52-403", {{"GET " FOREIGN "1", NULL, 0, 403, 0, NULL, NULL}}, DENIED, "a place of its own", "r.example",
	 "HEAD " UP "/blobs/@L@", 0},
	{"M52-401", {{"GET " FOREIGN "1", NULL, 0, 401, 0, BEARER, NULL}},
	 UNAUTHORIZED, FOREIGN "1 401", "r.example", "GET https://auth", 0},
	{"M52-refused", {{"GET " FOREIGN "1", NULL, 0, 0, IC_HTTP_UNRESOLVED, NULL, "no such name"}}, UNREACHABLE, "no such name",
	 "r.example", "HEAD " UP "/blobs/@L@", 0},
};

TEST(run_mirrors, foreign_layers_come_from_their_own_places)
{
	static const char *const shape[PARTS] = {
		[MANIFEST] = "{\"config\":{\"mediaType\":\"" OCI "config.v1+json\",\"digest\":\"@C@\",\"size\":@cs@},"
		             "\"layers\":[{\"mediaType\":\"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip\",\"digest\":\"@L@\","
		             "\"size\":1,\"urls\":[\"ftp://foreign.example/x\",\"" FOREIGN "1\",\"" FOREIGN "2\"]}]}"};

	for (size_t i = 0; i < IC_COUNT(foreign_rows); i++) {
		const struct row *row = &foreign_rows[i];
		const struct ic_result *result;
		struct check c;

		scripted_start(row->rules, count_rules(row->rules, IC_COUNT(row->rules)));
		scripted_build_image(shape);
		init_check(&c, NULL);
		cr_assert_eq(imgcheck_config_set_login(c.config, "r.example", "user", "secret", NULL), 0);
		result = run_check(&c, "r.example/a/b:1");
		cr_expect_eq(result->verdict, row->verdict, "%s: %s: %s", row->id, imgcheck_verdict_name(result->verdict),
		             result->reason ? result->reason : "");
		expect_reason(row->id, result, row->reason);
		expect_count(row->id, row->counted, row->count);
		end_check(&c);
	}
}

/* ------------------------------------------------------------------ tokens of mirrors */

TEST(run_mirrors, a_mirror_with_a_prefix_tells_the_right_scope)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://m1.example/v2/proxy/a/b/manifests/1", "!Authorization", 0, 401, 0, BEARER, NULL},
		{"HEAD https://m1.example/v2/proxy/a/b/manifests/1", NULL, 0, 200, 0, HEAD_OK, NULL},
		{"GET https://auth.example/token?service=s&scope=repository%3Aa%2Fb%3Apull&scope=repository%3Aproxy%2Fa%2Fb%3Apull",
		 NULL, 0, 200, 0, NULL, "{\"token\":\"t\"}"},
	};
	static const char yaml[] = "mirrors:\n  r.example:\n    endpoint: [\"https://m1.example/v2/proxy\"]\n"
	                           "configs:\n  m1.example:\n    tls:\n      insecure_skip_verify: true\n";
	const struct ic_result *result;
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	init_check(&c, yaml);
	cr_assert_eq(imgcheck_config_set(c.config, IMGCHECK_OPTION_DEPTH, "tag", NULL), 0);
	result = run_check(&c, "r.example/a/b:1");
	cr_expect_eq(result->verdict, OK, "T37: %s", result->reason);
	cr_expect_str_eq(result->host, "m1.example");
	cr_assert(strncmp(scripted_sent(1)->line, "GET https://auth.example/token", 30) == 0, "%s", scripted_sent(1)->line);
	cr_expect(scripted_sent(1)->skip_verify, "T34: the token server is trusted as the mirror is");
	end_check(&c);
}

/* ------------------------------------------------------------------ identity tokens */

static int identity_login(void *arg, const char *helper, const char *server, struct imgcheck_login *out)
{
	(void)arg;
	(void)helper;
	(void)server;
	out->user = strdup("<token>");
	out->secret = strdup("identity");
	return out->user && out->secret ? 0 : -1;
}

#define CHALLENGE {"HEAD " UP "/manifests/1", "!Bearer t", 0, 401, 0, BEARER, NULL}

static const struct row identity_rows[] = {
	{"T27", {CHALLENGE, {"POST", "grant_type=refresh_token&refresh_token=identity", 0, 200, 0, NULL, "{\"access_token\":\"t\"}"}},
	 OK, NULL, "r.example", "GET https://auth", 0},
	{"T29", {CHALLENGE, {"POST", NULL, 0, 405, 0, NULL, NULL}, {"GET https://auth", NULL, 0, 200, 0, NULL, "{\"token\":\"x\"}"}},
	 SERVER_ERROR, "POST https://auth.example/token 405", "r.example", "POST", 1},
	{"T30", {CHALLENGE, {"POST", NULL, 0, 401, 0, NULL, NULL}, {"GET https://auth", NULL, 0, 200, 0, NULL, "{\"token\":\"t\"}"}},
	 OK, NULL, "r.example", "GET https://auth", 1},
};

TEST(run_mirrors, identity_tokens_are_exchanged)
{
	static const char auth[] = "{\"credHelpers\":{\"r.example\":\"x\"}}";

	for (size_t i = 0; i < IC_COUNT(identity_rows); i++) {
		const struct row *row = &identity_rows[i];
		const struct ic_result *result;
		struct check c;

		scripted_start(row->rules, count_rules(row->rules, IC_COUNT(row->rules)));
		init_check(&c, NULL);
		imgcheck_config_set_login_fn(c.config, identity_login, NULL);
		cr_assert_eq(imgcheck_config_read_data(c.config, IMGCHECK_FILE_AUTH, "config.json", auth, strlen(auth), NULL), 0);
		result = run_check(&c, "r.example/a/b:1");
		cr_expect_eq(result->verdict, row->verdict, "%s: %s: %s", row->id, imgcheck_verdict_name(result->verdict),
		             result->reason ? result->reason : "");
		expect_reason(row->id, result, row->reason);
		expect_count(row->id, row->counted, row->count);
		cr_expect(!result->reason || !strstr(result->reason, "identity"), "%s", result->reason);
		end_check(&c);
	}
}

/* ------------------------------------------------------------------ several logins, plain ports */

TEST(run_mirrors, the_next_login_is_tried)
{
	static const struct scripted_rule rules[] = {
		{"HEAD " UP, "!Authorization: Basic Z29vZDpn", 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL},
		{"GET " UP "/manifests/1", NULL, 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL},
	};
	static const char auth[] = "{\"auths\":{\"r.example/a\":{\"username\":\"bad\",\"password\":\"b\"},"
	                           "\"r.example\":{\"username\":\"good\",\"password\":\"g\"}}}";
	const struct ic_result *result;
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	init_check(&c, NULL);
	cr_assert_eq(imgcheck_config_read_data(c.config, IMGCHECK_FILE_AUTH, "config.json", auth, strlen(auth), NULL), 0);
	result = run_check(&c, "r.example/a/b:1");
	cr_expect_eq(result->verdict, OK, "%s", result->reason);
	cr_expect_str_eq(result->credentials, "config.json (r.example)");
	end_check(&c);
}

TEST(run_mirrors, a_loopback_port_without_tls_is_asked_over_http)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://127.0.0.1:5000", NULL, 0, 0, IC_HTTP_TLS, NULL, "no TLS"},
		{"HEAD http://127.0.0.1:5000/v2/a/b/manifests/", NULL, 0, 200, 0, HEAD_MANIFEST, NULL},
	};
	const struct ic_result *result;
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	init_check(&c, NULL);
	cr_assert_eq(imgcheck_config_set(c.config, IMGCHECK_OPTION_DEPTH, "tag", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(c.images, "127.0.0.1:5000/a/b:2", NULL), 0);
	result = run_check(&c, "127.0.0.1:5000/a/b:1");
	cr_expect_eq(result->verdict, OK, "%s", result->reason);
	cr_expect_eq(ic_run_result(c.run, 1)->verdict, OK);
	expect_count("https", "HEAD https://127.0.0.1", 1);
	end_check(&c);
}
