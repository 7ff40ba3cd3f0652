/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "imgcheck.h"
#include "registry/run.h"

/*
 * The verdict about one image for each answer that a registry can give, from the reference to the last layer.
 * The ids are those of manifest_responses.tsv; ids in lower case are our own.
 */

#define R SCRIPTED_REPOSITORY
#define HEAD1 "HEAD " R "/manifests/1"
#define GET1 "GET " R "/manifests/1"
#define GETI "GET " R "/manifests/@I@"
#define GETM "GET " R "/manifests/@M@"
#define GETC "GET " R "/blobs/@C@"
#define HEADL "HEAD " R "/blobs/@L@"
#define GETL "GET " R "/blobs/@L@"
#define TYPE_INDEX "content-type: " OCI "index.v1+json"
#define TYPE_MANIFEST "content-type: " OCI "manifest.v1+json"
#define DIGEST_I "docker-content-digest: @I@\n"
#define LENGTH_I "\ncontent-length: @is@"
#define NOBODY "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define OK IMGCHECK_VERDICT_OK
#define NOT_FOUND IMGCHECK_VERDICT_NOT_FOUND
#define NO_PLATFORM IMGCHECK_VERDICT_NO_PLATFORM
#define INCOMPLETE IMGCHECK_VERDICT_INCOMPLETE
#define CORRUPT IMGCHECK_VERDICT_CORRUPT
#define UNAUTHORIZED IMGCHECK_VERDICT_UNAUTHORIZED
#define DENIED IMGCHECK_VERDICT_DENIED
#define UNREACHABLE IMGCHECK_VERDICT_UNREACHABLE
#define TLS IMGCHECK_VERDICT_TLS
#define LIMITED IMGCHECK_VERDICT_RATE_LIMITED
#define SERVER_ERROR IMGCHECK_VERDICT_SERVER_ERROR
#define NO_REGISTRY IMGCHECK_VERDICT_NOT_A_REGISTRY
#define DEADLINE IMGCHECK_VERDICT_DEADLINE

struct row {
	const char *id, *depth; /* depth NULL: blobs */
	struct scripted_rule rules[6];
	enum imgcheck_verdict verdict;
	const char *reason; /* a part of it; NULL: there is none */
};

static const struct row rows[] = {
	{"good", NULL, {{0}}, OK, NULL},
	{"good-tag", "tag", {{0}}, OK, NULL},
	{"good-platform", "platform", {{0}}, OK, NULL},
	{"good-bytes", "bytes", {{0}}, OK, NULL},

	/* resolving */
	{"M03", NULL,
	 {{HEAD1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX, NULL},
	  {GET1, NULL, 0, 200, 0, TYPE_INDEX, "@i@"}},
	 OK, NULL},
	{"no-digest", NULL,
	 {{HEAD1, NULL, 0, 200, 0, TYPE_INDEX LENGTH_I, NULL},
	  {GET1, NULL, 0, 200, 0, TYPE_INDEX, "@i@"}},
	 OK, NULL},
	{"no-digest-404", NULL,
	 {{HEAD1, NULL, 0, 200, 0, TYPE_INDEX LENGTH_I, NULL},
	  {GET1, NULL, 0, 404, 0, NULL, NULL}},
	 NOT_FOUND, GET1 " 404"},
	{"bad-digest", NULL,
	 {{HEAD1, NULL, 0, 200, 0, "docker-content-digest: md5:x\n" TYPE_INDEX LENGTH_I, NULL}},
	 CORRUPT, "digest"},
	{"M06", NULL, {{HEAD1, NULL, 0, 200, 0, "docker-content-digest: @I@" LENGTH_I, NULL}}, CORRUPT, "media type"},
	{"M06", "tag", {{HEAD1, NULL, 0, 200, 0, "docker-content-digest: @I@" LENGTH_I, NULL}}, CORRUPT, "media type"},
	{"M08", NULL,
	 {{HEAD1, NULL, 0, 200, 0, DIGEST_I "content-type: application/json" LENGTH_I, NULL}},
	 CORRUPT, "application/json"},
	{"M09", NULL, {{HEAD1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX "; charset=utf-8" LENGTH_I, NULL}}, OK, NULL},
	{"M11", NULL,
	 {{HEAD1, NULL, 0, 200, 0,
	   DIGEST_I "content-type: application/vnd.docker.distribution.manifest.v1+prettyjws" LENGTH_I, NULL}},
	 CORRUPT, "schema 1"},
	{"text-plain", NULL,
	 {{HEAD1, NULL, 0, 200, 0, DIGEST_I "content-type: text/plain" LENGTH_I, NULL}},
	 CORRUPT, "schema 1"},
	{"empty", NULL, {{HEAD1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX "\ncontent-length: 0", NULL}}, CORRUPT, "zero"},
	{"too-large", NULL,
	 {{HEAD1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX "\ncontent-length: 4393217", NULL}},
	 CORRUPT, "4393216"},
	{"M14", NULL,
	 {{HEAD1, NULL, 0, 405, 0, NULL, NULL},
	  {GET1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX LENGTH_I, "@i@"}},
	 OK, NULL},
	{"M14-404", NULL,
	 {{HEAD1, NULL, 0, 405, 0, NULL, NULL},
	  {GET1, NULL, 0, 404, 0, NULL, NULL}},
	 NOT_FOUND, "404"},
	{"M15", NULL,
	 {{HEAD1, NULL, 0, 404, 0, NULL, NULL},
	  {GET1, NULL, 0, 200, 0, TYPE_INDEX, "@i@"}},
	 NOT_FOUND, HEAD1 " 404"},
	{"M17", NULL,
	 {{HEAD1, NULL, 0, 404, 0, NULL, NULL},
	  {GET1, NULL, 0, 404, 0, NULL, ERRORS("NAME_UNKNOWN", "m")}},
	 NOT_FOUND, "NAME_UNKNOWN"},
	{"M18", NULL,
	 {{HEAD1, NULL, 0, 404, 0, NULL, NULL},
	  {GET1, NULL, 0, 404, 0, NULL, ERRORS("NOT_FOUND", "artifact a/b:1 not found")}},
	 NOT_FOUND, "artifact a/b:1 not found"},
	{"M19", NULL,
	 {{HEAD1, NULL, 0, 404, 0, "content-type: text/html", NULL},
	  {GET1, NULL, 0, 404, 0, "content-type: text/html", "<html><title>404</title>"}},
	 NO_REGISTRY, "web page"},
	{"M20", NULL, {{HEAD1, NULL, 0, 404, 0, NULL, NULL}}, NOT_FOUND, "404"},
	{"M28", NULL,
	 {{HEAD1, NULL, 0, 403, 0, NULL, NULL},
	  {GET1, NULL, 0, 200, 0, TYPE_INDEX, "@i@"}},
	 DENIED, HEAD1 " 403"},
	{"M30", NULL,
	 {{HEAD1, NULL, 0, 403, 0, NULL, NULL},
	  {GET1, NULL, 0, 403, 0,
	   NULL, ERRORS("DENIED", "Your authorization token has expired. Reauthenticate and try again.")}},
	 DENIED, "have expired"},
	{"M32", NULL, {{HEAD1, NULL, 0, 429, 0, "retry-after: 30", NULL}}, LIMITED, "429"},
	{"M32-then-ok", NULL, {{HEAD1, NULL, 1, 429, 0, "retry-after: 1", NULL}}, OK, NULL},
	{"M33", NULL,
	 {{HEAD1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX LENGTH_I "\nratelimit-remaining: 0;w=21600", NULL},
	  {GETI, NULL, 0, 429, 0, NULL, NULL}},
	 LIMITED, GETI " 429"},
	{"M33-tag", "tag",
	 {{HEAD1, NULL, 0, 200, 0, DIGEST_I TYPE_INDEX LENGTH_I "\nratelimit-remaining: 0;w=21600", NULL}},
	 LIMITED, "remaining"},
	{"M34", NULL, {{HEAD1, NULL, 0, 500, 0, NULL, NULL}}, SERVER_ERROR, "500"},
	{"M34-then-ok", NULL, {{HEAD1, NULL, 1, 503, 0, NULL, NULL}}, OK, NULL},
	{"M35", NULL, {{HEAD1, NULL, 1, 502, 0, NULL, NULL}}, SERVER_ERROR, "502"},
	{"M37", NULL,
	 {{HEAD1, NULL, 0, 301, 0, "location: https://other.example/v2/x/manifests/1", NULL},
	  {"HEAD https://other.example/v2/x/manifests/1", NULL, 0, 200, 0, DIGEST_I TYPE_INDEX LENGTH_I, NULL}},
	 OK, NULL},
	{"M38", NULL,
	 {{HEAD1, NULL, 0, 302, 0, "location: /login", NULL},
	  {"HEAD https://r.example/login", NULL, 0, 200, 0, "content-type: text/html\ncontent-length: 100", NULL},
	  {GET1, NULL, 0, 302, 0, "location: /login", NULL},
	  {"GET https://r.example/login", NULL, 0, 200, 0, "content-type: text/html", "<html>"}},
	 NO_REGISTRY, "web page"},
	{"no-location", NULL, {{HEAD1, NULL, 0, 307, 0, NULL, NULL}}, SERVER_ERROR, "307"},
	{"loop", NULL, {{HEAD1, NULL, 0, 307, 0, "location: /v2/a/b/manifests/1", NULL}}, SERVER_ERROR, "redirects"},
	{"file", NULL, {{HEAD1, NULL, 0, 307, 0, "location: file:///etc/passwd", NULL}}, SERVER_ERROR, "scheme"},
	{"refused", NULL, {{HEAD1, NULL, 0, 0, IC_HTTP_REFUSED, NULL, "cannot connect"}}, UNREACHABLE, "cannot connect"},
	{"no-name", NULL, {{HEAD1, NULL, 0, 0, IC_HTTP_UNRESOLVED, NULL, "cannot find"}}, UNREACHABLE, "cannot find"},
	{"reset", NULL, {{HEAD1, NULL, 0, 0, IC_HTTP_BROKEN, NULL, "broke"}}, UNREACHABLE, "broke"},
	{"reset-then-ok", NULL, {{HEAD1, NULL, 1, 0, IC_HTTP_BROKEN, NULL, "broke"}}, OK, NULL},
	{"stalled", NULL, {{HEAD1, NULL, 0, 0, IC_HTTP_STALLED, NULL, "nothing"}}, UNREACHABLE, "nothing"},
	{"tls", NULL, {{HEAD1, NULL, 0, 0, IC_HTTP_TLS, NULL, "expired"}}, TLS, "expired"},
	{"late", NULL, {{HEAD1, NULL, 0, 0, IC_HTTP_DEADLINE, NULL, "out of time"}}, DEADLINE, ""},
	{"no-auth-scheme", NULL, {{HEAD1, NULL, 0, 401, 0, "www-authenticate: Negotiate", NULL}}, UNAUTHORIZED, "401"},
	{"no-challenge", NULL, {{HEAD1, NULL, 0, 401, 0, NULL, NULL}}, UNAUTHORIZED, "401"},

	/* manifests */
	{"M39", NULL,
	 {{GETI, NULL, 0, 412, 0, NULL, ERRORS("PROJECTPOLICYVIOLATION", "m")}},
	 DENIED, "PROJECTPOLICYVIOLATION"},
	{"M39-tag", "tag", {{GETI, NULL, 0, 412, 0, NULL, NULL}}, OK, NULL},
	{"M41", NULL, {{GETI, NULL, 0, 200, 0, TYPE_INDEX, "@m@"}}, CORRUPT, "more than the"},
	{"M41-child", NULL, {{GETM, NULL, 0, 200, 0, TYPE_MANIFEST, "@i@"}}, CORRUPT, "were told"},
	{"M41-same-size", NULL,
	 {{GETI, NULL, 0, 200, 0, TYPE_INDEX, "@ix@"}},
	 CORRUPT, "digest"},
	{"M42", NULL, {{GETI, NULL, 0, 404, 0, NULL, NULL}}, INCOMPLETE, GETI " 404"},
	{"M43", NULL, {{GETM, NULL, 0, 404, 0, NULL, NULL}}, INCOMPLETE, GETM " 404"},
	{"M43-platform", "platform", {{GETM, NULL, 0, 404, 0, NULL, NULL}}, INCOMPLETE, GETM " 404"},
	{"child-500", NULL, {{GETM, NULL, 0, 500, 0, NULL, NULL}}, SERVER_ERROR, GETM " 500"},
	{"child-large", NULL, {{GETM, NULL, 0, 200, 0, NULL, "@i@@m@"}}, CORRUPT, "more than the"},

	/* configs and layers */
	{"M44", NULL, {{GETC, NULL, 0, 404, 0, NULL, NULL}}, INCOMPLETE, GETC " 404"},
	{"M44-platform", "platform", {{GETC, NULL, 0, 404, 0, NULL, NULL}}, OK, NULL},
	{"config-digest", NULL, {{GETC, NULL, 0, 200, 0, NULL, "@m@"}}, CORRUPT, "were told"},
	{"M45", NULL, {{HEADL, NULL, 0, 404, 0, NULL, NULL}}, OK, NULL},
	{"M45-missing", NULL,
	 {{HEADL, NULL, 0, 404, 0, NULL, NULL},
	  {GETL, NULL, 0, 404, 0, NULL, ERRORS("BLOB_UNKNOWN", "m")}},
	 INCOMPLETE, "BLOB_UNKNOWN"},
	{"M46", "bytes", {{GETL, NULL, 0, 200, 0, NULL, ""}}, INCOMPLETE, "byte"},
	{"M46-cut", "bytes",
	 {{GETL, NULL, 0, 0, IC_HTTP_BROKEN, NULL, "the answer was cut short"}},
	 UNREACHABLE, "cut short"},
	{"range-416", "bytes",
	 {{GETL, "Range", 0, 416, 0, "content-range: bytes */1", NULL},
	  {GETL, NULL, 0, 200, 0, NULL, "L"}},
	 OK, NULL},
	{"range-ignored", "bytes", {{GETL, NULL, 0, 200, 0, NULL, "LLLLL"}}, OK, NULL},
	{"M47", NULL,
	 {{GETL, NULL, 0, 307, 0, "location: https://s3.example/l?X-Amz-Signature=secret", NULL},
	  {HEADL, NULL, 0, 307, 0, "location: https://s3.example/l?X-Amz-Signature=secret", NULL},
	  {"HEAD https://s3.example/l", NULL, 0, 403, 0, NULL, NULL},
	  {"GET https://s3.example/l", NULL, 0, 403, 0, NULL, "<Error><Code>SignatureDoesNotMatch</Code></Error>"}},
	 DENIED, "s3.example/l"},
	{"layer-500", NULL,
	 {{HEADL, NULL, 0, 500, 0, NULL, NULL},
	  {GETL, NULL, 0, 500, 0, NULL, NULL}},
	 SERVER_ERROR, "500"},
	{"layer-head-500", NULL, {{HEADL, NULL, 0, 500, 0, NULL, NULL}}, OK, NULL},
	{"layer-no-size", NULL,
	 {{HEADL, NULL, 0, 200, 0, NULL, NULL},
	  {GETL, NULL, 0, 204, 0, NULL, NULL}},
	 INCOMPLETE, "has 0 bytes"},
	{"layer-no-size-ok", NULL, {{HEADL, NULL, 0, 200, 0, NULL, NULL}}, OK, NULL},
	{"layer-other-size", NULL,
	 {{HEADL, NULL, 0, 200, 0, "content-length: 7", NULL}, {GETL, NULL, 0, 206, 0, "content-range: bytes 0-0/7", "L"}},
	 CORRUPT, "has 7 bytes"},
	{"layer-head-other-size", NULL, {{HEADL, NULL, 0, 200, 0, "content-length: 7", NULL}}, OK, NULL},
	{"range-400", "bytes", {{GETL, "Range", 0, 400, 0, NULL, NULL}}, OK, NULL},
	{"headers", NULL, {{HEAD1, NULL, 0, 200, IC_HTTP_TOO_LARGE, NULL, NULL}}, SERVER_ERROR, "too large"},
	{"layer-405", NULL, {{HEADL, NULL, 0, 405, 0, NULL, NULL}}, OK, NULL},
};

/* ------------------------------------------------------------------ running a row */

static struct imgcheck_run *start_run(const char *depth, const char *login, struct imgcheck_config **c, struct imgcheck_images **s)
{
	struct imgcheck_run *run;

	cr_assert_eq(imgcheck_config_new(c), 0);
	cr_assert_eq(imgcheck_images_new(s), 0);
	cr_assert_eq(imgcheck_config_set(*c, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL), 0);
	cr_assert_eq(imgcheck_config_set(*c, IMGCHECK_OPTION_DEPTH, depth ? depth : "blobs", NULL), 0);
	if (login)
		cr_assert_eq(imgcheck_config_set_login(*c, "r.example", "user", login, NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(*s, "r.example/a/b:1", NULL), 0);
	cr_assert_eq(imgcheck_run_new(*c, *s, &run, NULL), 0);
	return run;
}

static void finish_run(struct imgcheck_run *run)
{
	int result;

	for (int i = 0; (result = imgcheck_run_step(run, 0, NULL)) == 1; i++)
		cr_assert_lt(i, 1000, "the run does not end");
	cr_assert_eq(result, 0);
}

static void check_row(const struct row *row)
{
	struct imgcheck_config *c;
	struct imgcheck_images *s;
	struct imgcheck_run *run;
	const struct ic_result *result;
	char *reason = row->reason ? NULL : strdup("");
	size_t count = 0;

	while (count < IC_COUNT(row->rules) && row->rules[count].request)
		count++;
	scripted_start(row->rules, count);
	if (row->reason)
		reason = scripted_expand(row->reason);
	run = start_run(row->depth, NULL, &c, &s);
	finish_run(run);
	result = ic_run_result(run, 0);
	cr_expect_eq(result->verdict, row->verdict, "%s: %s, wanted %s: %s", row->id, imgcheck_verdict_name(result->verdict),
	             imgcheck_verdict_name(row->verdict), result->reason ? result->reason : "");
	if (row->verdict == OK)
		cr_expect(!result->reason || !result->reason[0], "%s: %s", row->id, result->reason);
	else
		cr_expect(result->reason && strstr(result->reason, reason), "%s: \"%s\" lacks \"%s\"", row->id,
		          result->reason ? result->reason : "", reason);
	cr_expect(!result->reason || !strstr(result->reason, "secret"), "%s: %s", row->id, result->reason);
	free(reason);
	imgcheck_run_free(run);
	imgcheck_images_free(s);
	imgcheck_config_free(c);
	scripted_end();
}

TEST(run_manifests, every_answer_has_its_verdict)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++)
		check_row(&rows[i]);
}

/* ------------------------------------------------------------------ the table */

/* Rows that are tested elsewhere, and where. */
static const struct {
	const char *id, *where;
} elsewhere[] = {
	{"M21", "test_run_tokens.c"}, {"M23", "test_run_tokens.c"}, {"M26", "test_run_tokens.c"},
	{"M36", "test_run_mirrors.c"}, {"M48", "test_content.c"}, {"M49", "test_content.c"},
	{"M51", "test_content.c"}, {"M52", "test_run_mirrors.c"},
};

TEST(run_manifests, no_row_of_the_shared_table_is_left_out)
{
	test_table_is_covered("facts/manifest_responses.tsv", TEST_IDS(rows), TEST_IDS(elsewhere));
}
