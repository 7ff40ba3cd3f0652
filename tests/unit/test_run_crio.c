/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "imgcheck.h"
#include "registry/run.h"

/*
 * Whole runs by the rules of CRI-O (containers/image).  The ids are those of manifest_responses.tsv and
 * token_flow.tsv; ids in lower case are our own.
 */

#define R SCRIPTED_REPOSITORY
#define PING "GET " SCRIPTED_HOST "/v2/"
#define GET1 "GET " R "/manifests/1"
#define GETM "GET " R "/manifests/@M@"
#define GETC "GET " R "/blobs/@C@"
#define GETL "GET " R "/blobs/@L@"
#define REALM "https://auth.example/token"
#define BEARER_AT(realm) "www-authenticate: Bearer realm=\"" realm "\",service=\"s\""
#define BEARER BEARER_AT(REALM)
#define BASIC "www-authenticate: Basic realm=\"r\""
#define INDEX_TYPE "content-type: " OCI "index.v1+json"
#define MANIFEST_TYPE "content-type: " OCI "manifest.v1+json"
#define SCHEMA1_TYPE "content-type: application/vnd.docker.distribution.manifest.v1+prettyjws"
#define SCHEMA1 "{\"schemaVersion\":1,\"fsLayers\":[{\"blobSum\":\"@L@\"}," \
	"{\"blobSum\":\"sha256:a3ed95caeb02ffe68cdd9fd84406680ae93d633cb16422d00e8a7c22955b46d4\"}]}"
#define USER_SECRET "Authorization: Basic dXNlcjpzZWNyZXQ="
#define TOKEN(name) "{\"token\":\"" name "\"}"
#define GET_TOKEN "GET " REALM
#define IMAGE {GET1, NULL, 0, 200, 0, INDEX_TYPE, "@i@"}
#define AUTH_IMAGE(header) {GET1, header, 0, 200, 0, INDEX_TYPE, "@i@"}

#define OK IMGCHECK_VERDICT_OK
#define NOT_FOUND IMGCHECK_VERDICT_NOT_FOUND
#define INCOMPLETE IMGCHECK_VERDICT_INCOMPLETE
#define CORRUPT IMGCHECK_VERDICT_CORRUPT
#define UNAUTHORIZED IMGCHECK_VERDICT_UNAUTHORIZED
#define DENIED IMGCHECK_VERDICT_DENIED
#define UNREACHABLE IMGCHECK_VERDICT_UNREACHABLE
#define LIMITED IMGCHECK_VERDICT_RATE_LIMITED
#define SERVER_ERROR IMGCHECK_VERDICT_SERVER_ERROR
#define NO_REGISTRY IMGCHECK_VERDICT_NOT_A_REGISTRY

struct row {
	const char *id;
	bool login; /* user:secret */
	long ping;  /* its status, 0: 200 */
	const char *challenge; /* of the ping */
	struct scripted_rule rules[5];
	enum imgcheck_verdict verdict;
	const char *reason; /* a part of it; NULL: there is none */
	const char *counted, *with; /* requests that begin so and hold that, NULL for nothing to count ... */
	size_t count;               /* ... were sent so often */
};

static const struct row rows[] = {
	/* manifests */
	{"good", false, 0, NULL, {IMAGE}, OK, NULL, "HEAD", NULL, 0},
	{"accept", false, 0, NULL, {IMAGE}, OK, NULL, GET1, "Docker-Distribution-API-Version: registry/2.0", 1},
	{"accept-list", false, 0, NULL, {IMAGE}, OK, NULL, GETM, "Accept: application/vnd.docker.distribution.manifest.v1+json\n", 0},
	{"M06", false, 0, NULL, {{GET1, NULL, 0, 200, 0, NULL, "@m@"}}, CORRUPT, "schema version", NULL, NULL, 0},
	{"M08", false, 0, NULL, {{GET1, NULL, 0, 200, 0, "content-type: application/json", "@m@"}}, CORRUPT, "schema version",
	 NULL, NULL, 0},
	{"text-plain", false, 0, NULL, {{GET1, NULL, 0, 200, 0, "content-type: text/plain", "@m@"}}, CORRUPT, "schema version",
	 NULL, NULL, 0},
	{"M09", false, 0, NULL, {{GET1, NULL, 0, 200, 0, INDEX_TYPE "; charset=utf-8", "@i@"}}, OK, NULL, NULL, NULL, 0},
	{"M11", false, 0, NULL, {{GET1, NULL, 0, 200, 0, SCHEMA1_TYPE, SCHEMA1}}, OK, NULL, "GET " R "/blobs/sha256:a3ed95", NULL, 0},
	{"M11-no-layer", false, 0, NULL, {{GET1, NULL, 0, 200, 0, SCHEMA1_TYPE, SCHEMA1}, {GETL, NULL, 0, 404, 0, NULL, NULL}},
	 INCOMPLETE, "404", NULL, NULL, 0},
	{"M15", false, 0, NULL, {{"HEAD", NULL, 0, 404, 0, NULL, NULL}, IMAGE}, OK, NULL, NULL, NULL, 0},
	{"M17", false, 0, NULL, {{GET1, NULL, 0, 404, 0, NULL, ERRORS("NAME_UNKNOWN", "m")}}, NOT_FOUND, "NAME_UNKNOWN", NULL, NULL, 0},
	{"M18", false, 0, NULL, {{GET1, NULL, 0, 404, 0, NULL, ERRORS("NOT_FOUND", "artifact not found")}}, NOT_FOUND, "artifact",
	 NULL, NULL, 0},
	{"M19", false, 0, NULL, {{GET1, NULL, 0, 404, 0, "content-type: text/html", "<html>"}}, NO_REGISTRY, "web page", NULL, NULL, 0},
	{"M28", false, 0, NULL, {{"HEAD", NULL, 0, 403, 0, NULL, NULL}, IMAGE}, OK, NULL, NULL, NULL, 0},
	{"M30", false, 0, NULL, {{GET1, NULL, 0, 403, 0, NULL, NULL}}, DENIED, "403", NULL, NULL, 0},
	{"M32", false, 0, NULL, {{GET1, NULL, 0, 429, 0, "retry-after: 5", NULL}}, LIMITED, "429", GET1, NULL, 5},
	{"M32-then-ok", false, 0, NULL, {{GET1, NULL, 2, 429, 0, NULL, NULL}, IMAGE}, OK, NULL, GET1, NULL, 3},
	{"M33", false, 0, NULL, {{GET1, NULL, 0, 429, 0, "ratelimit-remaining: 0;w=21600", NULL}}, LIMITED, "429", NULL, NULL, 0},
	{"M34", false, 0, NULL, {{GET1, NULL, 0, 503, 0, NULL, NULL}}, SERVER_ERROR, "503", GET1, NULL, 1},
	{"M35", false, 0, NULL, {{GET1, NULL, 0, 502, 0, NULL, NULL}}, SERVER_ERROR, "502", GET1, NULL, 1},
	{"M37", false, 0, NULL,
	 {{GET1, NULL, 0, 301, 0, "location: https://other.example/m", NULL},
	  {"GET https://other.example/m", NULL, 0, 200, 0, INDEX_TYPE, "@i@"}}, OK, NULL, NULL, NULL, 0},
	{"M38", false, 0, NULL,
	 {{GET1, NULL, 0, 302, 0, "location: /login", NULL},
	  {"GET https://r.example/login", NULL, 0, 200, 0, "content-type: text/html", "<html>"}},
	 NO_REGISTRY, "web page", NULL, NULL, 0},
	{"M39", false, 0, NULL, {{GET1, NULL, 0, 412, 0, NULL, NULL}}, DENIED, "412", NULL, NULL, 0},
	{"M41", false, 0, NULL, {IMAGE, {GETM, NULL, 0, 200, 0, MANIFEST_TYPE, "@i@"}}, CORRUPT, "digest", NULL, NULL, 0},
	{"M43", false, 0, NULL, {IMAGE, {GETM, NULL, 0, 404, 0, NULL, NULL}}, INCOMPLETE, "404", NULL, NULL, 0},
	{"M44", false, 0, NULL, {IMAGE, {GETC, NULL, 0, 404, 0, NULL, NULL}}, INCOMPLETE, "404", NULL, NULL, 0},
	{"M45", false, 0, NULL, {IMAGE, {"HEAD", NULL, 0, 404, 0, NULL, NULL}}, OK, NULL, "HEAD", NULL, 0},
	{"M46", false, 0, NULL, {IMAGE, {GETL, NULL, 0, 200, 0, NULL, ""}}, INCOMPLETE, "byte", NULL, NULL, 0},
	{"M47", false, 0, NULL,
	 {IMAGE,
	  {GETL, NULL, 0, 307, 0, "location: https://s3.example/l", NULL},
	  {"GET https://s3.example/l", NULL, 0, 403, 0, NULL, NULL}}, DENIED, "s3.example", NULL, NULL, 0},
	{"reset", false, 0, NULL, {{GET1, NULL, 0, 0, IC_HTTP_BROKEN, NULL, "broke"}}, UNREACHABLE, "broke", GET1, NULL, 1},

	/* the ping */
	{"ping-404", false, 404, NULL, {IMAGE}, NO_REGISTRY, "cannot ping", GET1, NULL, 0},
	{"ping-403", false, 403, NULL, {IMAGE}, DENIED, "cannot ping", GET1, NULL, 0},
	{"ping-500", false, 500, NULL, {IMAGE}, SERVER_ERROR, "cannot ping", GET1, NULL, 0},
	{"ping-204", false, 204, NULL, {IMAGE}, NO_REGISTRY, "200 and 401", GET1, NULL, 0},
	{"M20", true, 401, BASIC, {AUTH_IMAGE(USER_SECRET)}, OK, NULL, GET1, USER_SECRET, 1},
	{"M26", true, 401, BASIC, {{GET1, NULL, 0, 401, 0, BASIC, NULL}}, UNAUTHORIZED, "not accepted", GET1, USER_SECRET, 1},
	{"basic-empty", false, 401, BASIC, {AUTH_IMAGE("Authorization: Basic Og==")}, OK, NULL, NULL, NULL, 0},
	{"negotiate", true, 401, "www-authenticate: Negotiate", {AUTH_IMAGE("!Authorization")}, OK, NULL, NULL, NULL, 0},
	{"basic-first", true, 401, BASIC "\n" BEARER, {AUTH_IMAGE(USER_SECRET)}, OK, NULL, GET_TOKEN, NULL, 0},

	/* tokens */
	{"T01", false, 401, BEARER,
	 {{GET_TOKEN "?service=s&scope=repository%3Aa%2Fb%3Apull", "!Authorization", 0, 200, 0, NULL, TOKEN("t")},
	  AUTH_IMAGE("Bearer t")}, OK, NULL, GET1, NULL, 1},
	{"T02", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, "{\"access_token\":\"t\"}"}, AUTH_IMAGE("Bearer t")},
	 OK, NULL, NULL, NULL, 0},
	{"T03", false, 401, BEARER,
	 {{GET_TOKEN, NULL, 0, 200, 0, NULL, "{\"token\":\"a\",\"access_token\":\"b\"}"}, AUTH_IMAGE("Bearer a")},
	 OK, NULL, NULL, NULL, 0},
	{"empty-token", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, "{}"}, AUTH_IMAGE("Authorization: Bearer \n")},
	 OK, NULL, NULL, NULL, 0},
	{"T06", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 401, 0, NULL, NULL}, IMAGE}, UNAUTHORIZED, "401", GET1, NULL, 0},
	{"T08", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 500, 0, NULL, NULL}, IMAGE}, SERVER_ERROR, "500", GET_TOKEN, NULL, 1},
	{"T09", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, IMAGE}, OK, NULL, GET_TOKEN, NULL, 1},
	{"T10", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, "{\"token\":\"t\",\"expires_in\":\"300\"}"}},
	 SERVER_ERROR, "expires_in", NULL, NULL, 0},
	{"T11", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, "{\"token\":\"t\",\"issued_at\":\"\"}"}},
	 SERVER_ERROR, "issued_at", NULL, NULL, 0},
	{"T15", true, 401, BEARER,
	 {{GET_TOKEN "?account=user&service=s", USER_SECRET, 0, 200, 0, NULL, TOKEN("t")}, AUTH_IMAGE("Bearer t")},
	 OK, NULL, "POST", NULL, 0},
	{"T16", true, 401, BEARER, {{GET_TOKEN, USER_SECRET, 0, 200, 0, NULL, TOKEN("t")}, IMAGE}, OK, NULL, "POST", NULL, 0},
	{"T18", true, 401, BEARER, {{"POST", NULL, 0, 405, 0, NULL, NULL}, {GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, IMAGE},
	 OK, NULL, NULL, NULL, 0},
	{"T20", true, 401, BEARER, {{"POST", NULL, 0, 400, 0, NULL, NULL}, {GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, IMAGE},
	 OK, NULL, NULL, NULL, 0},
	{"T22", true, 401, BEARER, {{"POST", NULL, 0, 503, 0, NULL, NULL}, {GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, IMAGE},
	 OK, NULL, NULL, NULL, 0},
	{"T24", true, 401, BEARER, {{GET_TOKEN, NULL, 0, 401, 0, NULL, NULL}, IMAGE}, UNAUTHORIZED, "401", GET1, "Bearer", 0},
	{"T25", true, 401, BEARER,
	 {{GET_TOKEN, USER_SECRET, 0, 401, 0, NULL, NULL}, {GET_TOKEN, "!Authorization", 0, 200, 0, NULL, TOKEN("t")}, IMAGE},
	 UNAUTHORIZED, "no token was given", NULL, NULL, 0},
	{"T26", true, 401, BEARER, {{GET_TOKEN, NULL, 0, 403, 0, NULL, NULL}}, DENIED, "403", NULL, NULL, 0},
	{"T33", false, 401, BEARER_AT("http://auth.example/token"),
	 {{"GET http://auth.example/token", NULL, 0, 200, 0, NULL, TOKEN("t")}, AUTH_IMAGE("Bearer t")}, OK, NULL, NULL, NULL, 0},
	{"T36", false, 401, BEARER ",scope=\"repository:x/y:pull\"",
	 {{GET_TOKEN "?service=s&scope=repository%3Aa%2Fb%3Apull", NULL, 1, 200, 0, NULL, TOKEN("t")},
	  {GET_TOKEN "?service=s&scope=repository%3Aa%2Fb%3Apull&scope=repository%3Ax%2Fy%3Apull", NULL, 1, 200, 0, NULL, TOKEN("u")},
	  {GET1, "Bearer t", 0, 401, 0, BEARER ",scope=\"repository:x/y:pull\",error=\"insufficient_scope\"", NULL},
	  AUTH_IMAGE("Bearer u")}, OK, NULL, GET1, NULL, 2},
	{"scope-once", false, 401, BEARER,
	 {{GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")},
	  {GET1, NULL, 0, 401, 0, BEARER ",scope=\"repository:x/y:pull\",error=\"insufficient_scope\"", NULL}},
	 UNAUTHORIZED, "401", GET1, NULL, 2},
	{"scope-odd", false, 401, BEARER,
	 {{GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")},
	  {GET1, NULL, 0, 401, 0, BEARER ",scope=\"*\",error=\"insufficient_scope\"", NULL}}, UNAUTHORIZED, "401", GET1, NULL, 1},
	{"M21", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, AUTH_IMAGE("Bearer t")}, OK, NULL, NULL, NULL, 0},
	{"M23", false, 401, BEARER,
	 {{GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, {GET1, NULL, 0, 401, 0, BEARER ",error=\"invalid_token\"", NULL}},
	 UNAUTHORIZED, "401", GET1, NULL, 1},
	{"T39", false, 401, BEARER, {{GET_TOKEN, NULL, 0, 200, 0, NULL, TOKEN("t")}, IMAGE}, OK, NULL, GET1, "Bearer t", 1},
	{"T40", true, 200, NULL, {{GET1, NULL, 0, 401, 0, BASIC, NULL}}, UNAUTHORIZED, "never asked for the credentials", GET1,
	 "Authorization", 0},
	{"T41", true, 200, BASIC, {AUTH_IMAGE(USER_SECRET)}, OK, NULL, NULL, NULL, 0},
	{"T43", true, 401, BEARER_AT("null://host/token"), {IMAGE}, SERVER_ERROR, "null://host/token", GET1, NULL, 0},
};

/* ------------------------------------------------------------------ runs */

struct check {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_run *run;
};

/* registries_conf: NULL for none. */
static const struct ic_result *start_check(struct check *k, bool login, const char *registries_conf)
{
	int step;

	cr_assert_eq(imgcheck_config_new(&k->config), 0);
	cr_assert_eq(imgcheck_images_new(&k->images), 0);
	cr_assert_eq(imgcheck_config_set(k->config, IMGCHECK_OPTION_RUNTIME, "crio", NULL), 0);
	cr_assert_eq(imgcheck_config_set(k->config, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL), 0);
	if (login)
		cr_assert_eq(imgcheck_config_set_login(k->config, "r.example", "user", "secret", NULL), 0);
	if (registries_conf)
		cr_assert_eq(imgcheck_config_read_data(k->config, IMGCHECK_FILE_REGISTRIES_CONF, "registries.conf", registries_conf,
		                                       strlen(registries_conf), NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(k->images, "r.example/a/b:1", NULL), 0);
	cr_assert_eq(imgcheck_run_new(k->config, k->images, &k->run, NULL), 0);
	for (int i = 0; (step = imgcheck_run_step(k->run, 0, NULL)) == 1; i++)
		cr_assert_lt(i, 1000, "the run does not end");
	cr_assert_eq(step, 0);
	return ic_run_result(k->run, 0);
}

static void end_check(struct check *k)
{
	imgcheck_run_free(k->run);
	imgcheck_images_free(k->images);
	imgcheck_config_free(k->config);
	scripted_end();
}

static void check_row(const struct row *row)
{
	struct scripted_rule rules[6];
	const struct ic_result *result;
	size_t count = 0;
	struct check k;

	for (; count < IC_COUNT(row->rules) && row->rules[count].request; count++)
		rules[count] = row->rules[count];
	/* behind the others, since a rule is a prefix */
	rules[count++] = (struct scripted_rule){PING, NULL, 1, row->ping ? row->ping : 200, 0, row->challenge, NULL};
	scripted_start(rules, count);
	result = start_check(&k, row->login, NULL);
	cr_expect_eq(result->verdict, row->verdict, "%s: %s, wanted %s: %s", row->id, imgcheck_verdict_name(result->verdict),
	             imgcheck_verdict_name(row->verdict), result->reason ? result->reason : "");
	cr_expect(!row->reason || (result->reason && strstr(result->reason, row->reason)), "%s: \"%s\" lacks \"%s\"", row->id,
	          result->reason ? result->reason : "", row->reason ? row->reason : "");
	cr_expect(!result->reason || !strstr(result->reason, "secret"), "%s: %s", row->id, result->reason);
	if (row->counted)
		cr_expect_eq(scripted_count(row->counted, row->with), row->count, "%s: %zu requests %s", row->id,
		             scripted_count(row->counted, row->with), row->counted);
	end_check(&k);
}

TEST(run_crio, every_answer_has_its_verdict)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++)
		check_row(&rows[i]);
}

/* ------------------------------------------------------------------ several hosts */

#define M "https://m.example/v2/a/b"
#define MIRROR "[[registry]]\nlocation = \"r.example\"\n[[registry.mirror]]\nlocation = \"m.example\"\n"
#define M_PING {"GET https://m.example/v2/", NULL, 1, 200, 0, NULL, NULL}
#define R_PING {PING, NULL, 1, 200, 0, NULL, NULL}

TEST(run_crio, mirrors_come_in_turn)
{
	static const struct scripted_rule rules[] = {{"GET " M "/manifests/1", NULL, 0, 503, 0, NULL, NULL}, IMAGE, M_PING, R_PING};
	struct check k;

	scripted_start(rules, IC_COUNT(rules));
	cr_expect_eq(start_check(&k, false, MIRROR)->verdict, OK, "%s", ic_run_result(k.run, 0)->reason);
	cr_expect_str_eq(ic_run_result(k.run, 0)->host, "r.example");
	cr_expect_eq(scripted_count("GET " M, NULL), 1);
	end_check(&k);
}

TEST(run_crio, what_served_the_manifest_serves_all_of_it)
{
	static const struct scripted_rule rules[] = {
		{"GET " M "/manifests/1", NULL, 0, 200, 0, INDEX_TYPE, "@i@"},
		{"GET " M "/", NULL, 0, 404, 0, NULL, NULL},
		IMAGE, M_PING, R_PING,
	};
	const struct ic_result *result;
	struct check k;

	scripted_start(rules, IC_COUNT(rules));
	result = start_check(&k, false, MIRROR);
	cr_expect_eq(result->verdict, INCOMPLETE, "%s", result->reason);
	cr_expect_str_eq(result->host, "m.example");
	cr_expect_eq(scripted_count("GET " R, NULL), 0, "the mirror is asked alone");
	end_check(&k);
}

TEST(run_crio, of_all_failures_the_last_counts)
{
	static const struct scripted_rule rules[] = {
		{"GET " M "/manifests/1", NULL, 0, 403, 0, NULL, NULL},
		{GET1, NULL, 0, 404, 0, NULL, NULL},
		M_PING, R_PING,
	};
	const struct ic_result *result;
	struct check k;

	scripted_start(rules, IC_COUNT(rules));
	result = start_check(&k, false, MIRROR);
	cr_expect_eq(result->verdict, NOT_FOUND, "%s", result->reason);
	cr_expect(strstr(result->reason, "m.example") && strstr(result->reason, "403"), "%s", result->reason);
	end_check(&k);
}

TEST(run_crio, an_insecure_host_is_asked_without_tls_whatever_https_says)
{
	static const struct scripted_rule rules[] = {
		{PING, NULL, 0, 404, 0, NULL, NULL},
		{"GET http://r.example/v2/a/b/manifests/1", NULL, 0, 404, 0, NULL, ERRORS("NAME_UNKNOWN", "m")},
		{"GET http://r.example/v2/", NULL, 0, 200, 0, NULL, NULL},
	};
	const struct ic_result *result;
	struct check k;

	scripted_start(rules, IC_COUNT(rules));
	result = start_check(&k, false, "[[registry]]\nlocation = \"r.example\"\ninsecure = true\n");
	cr_expect_eq(result->verdict, NOT_FOUND, "%s", result->reason);
	cr_expect_eq(scripted_count(PING, NULL), 1);
	cr_expect_eq(scripted_count("GET http://r.example/v2/", NULL), 2);
	end_check(&k);
}

/* ------------------------------------------------------------------ the tables */

/* Rows that are tested elsewhere, and where, or why not. */
static const struct {
	const char *id, *where;
} elsewhere[] = {
	{"M03", "no HEAD is sent"}, {"M14", "no HEAD is sent"}, {"M42", "no manifest is asked for twice"},
	{"M36", "mirrors_come_in_turn below"}, {"M48", "test_content.c"}, {"M49", "test_content.c"}, {"M51", "test_content.c"},
	{"M52", "tests/agreement/test_crio.py"},
	{"T13", "the library reads no clock; a token asked for more often is the same token"},
	{"T27", "test_token.c: no configuration that is read gives an identity token"},
	{"T29", "test_token.c"}, {"T30", "test_token.c"},
	{"T34", "the host's TLS settings go with the token request of either runtime"},
	{"T37", "test_endpoint.c: the repository of registries.conf is the rewritten one"},
	{"T42", "a denied token is asked for once more by either runtime's rules: test_run_tokens.c"},
};

TEST(run_crio, no_row_of_the_shared_tables_is_left_out)
{
	test_table_is_covered("facts/manifest_responses.tsv", TEST_IDS(rows), TEST_IDS(elsewhere));
	test_table_is_covered("facts/token_flow.tsv", TEST_IDS(rows), TEST_IDS(elsewhere));
}
