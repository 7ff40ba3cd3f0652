/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "base/limits.h"
#include "imgcheck.h"
#include "registry/move.h"

/* A tag moved through a whole call; the transport answers from a script. */

#define R SCRIPTED_REPOSITORY
#define TAG "r.example/a/b:1"
#define GET_TAG "GET " R "/manifests/1"
#define PUT_TAG "PUT " R "/manifests/1"
#define GET_NEW "GET " R "/manifests/@I@"
#define INDEX_TYPE "content-type: " OCI "index.v1+json"
#define MANIFEST_TYPE "content-type: " OCI "manifest.v1+json"
#define REALM "https://auth.example/token"
#define BEARER "www-authenticate: Bearer realm=\"" REALM "\",service=\"s\",scope=\"repository:a/b:pull\""

#define AT_OLD {GET_TAG, NULL, 1, 200, 0, MANIFEST_TYPE, "@m@"}
#define AT_NEW {GET_TAG, NULL, 1, 200, 0, INDEX_TYPE, "@i@"}
#define AT_OTHER {GET_TAG, NULL, 1, 200, 0, MANIFEST_TYPE, "@c@"}
#define ABSENT {GET_TAG, NULL, 1, 404, 0, NULL, ERRORS("MANIFEST_UNKNOWN", "manifest unknown")}
#define NO_NAME {GET_TAG, NULL, 1, 200, 0, MANIFEST_TYPE, ""}
#define STORED {PUT_TAG, NULL, 1, 201, 0, "location: /v2/a/b/manifests/@I@\ndocker-content-digest: @I@", NULL}

struct row {
	const char *name;
	bool first;                 /* there should be no such tag */
	struct scripted_rule rules[6];
	int code;
	const char *message;        /* a part of it; NULL: there is none */
	size_t writes;              /* PUTs sent */
};

static const struct row rows[] = {
	{"moved", false, {AT_OLD, STORED, AT_NEW}, 0, NULL, 1},
	{"made", true, {ABSENT, STORED, AT_NEW}, 0, NULL, 1},
	{"there already", false, {AT_NEW}, 0, NULL, 0},
	{"there already, where none was expected", true, {AT_NEW}, 0, NULL, 0},
	{"200 or 202 is as good", false, {AT_OLD, {PUT_TAG, NULL, 1, 202, 0, NULL, NULL}, AT_NEW}, 0, NULL, 1},
	{"stored, whatever the answer was", false, {AT_OLD, {PUT_TAG, NULL, 1, 500, 0, NULL, NULL}, AT_NEW}, 0, NULL, 1},
	{"stored, and no answer came", false, {AT_OLD, {PUT_TAG, NULL, 1, 0, IC_HTTP_BROKEN, NULL, "reset"}, AT_NEW},
	 0, NULL, 1},
	{"somebody else was there before", false, {AT_OTHER},
	 IMGCHECK_ERR_CONFLICT, "another writer moved the tag: it is at sha256:", 0},
	{"somebody made it before", true, {AT_OLD}, IMGCHECK_ERR_CONFLICT, "not at no digest", 0},
	{"somebody took it away", false, {ABSENT}, IMGCHECK_ERR_CONFLICT, "it is at no digest, not at sha256:", 0},
	{"somebody else behind us", false, {AT_OLD, STORED, AT_OTHER}, IMGCHECK_ERR_CONFLICT, "at the same time, to sha256:", 1},
	{"taken away behind us", false, {AT_OLD, STORED, ABSENT}, IMGCHECK_ERR_CONFLICT, "at the same time, to no digest", 1},
	{"201, and not moved", false, {AT_OLD, STORED, AT_OLD}, IMGCHECK_ERR_REGISTRY, "left the tag where it was", 1},
	{"500 is not repeated", false, {AT_OLD, {PUT_TAG, NULL, 1, 500, 0, NULL, NULL}, AT_OLD},
	 IMGCHECK_ERR_REGISTRY, "PUT " R "/manifests/1 500", 1},
	{"429 is not repeated", false, {AT_OLD, {PUT_TAG, NULL, 1, 429, 0, "retry-after: 1", NULL}, AT_OLD},
	 IMGCHECK_ERR_REGISTRY, "429", 1},
	{"a broken connection is not repeated", false, {AT_OLD, {PUT_TAG, NULL, 1, 0, IC_HTTP_BROKEN, NULL, "reset"}, AT_OLD},
	 IMGCHECK_ERR_REGISTRY, "reset", 1},
	{"denied", false, {AT_OLD, {PUT_TAG, NULL, 1, 403, 0, NULL, ERRORS("DENIED", "no push")}, AT_OLD},
	 IMGCHECK_ERR_REGISTRY, "DENIED (no push)", 1},
	{"not known afterwards", false, {AT_OLD, STORED, {GET_TAG, NULL, 0, 502, 0, NULL, NULL}},
	 IMGCHECK_ERR_REGISTRY, "not known whether it was moved: GET " R "/manifests/1 502", 1},
	{"not known afterwards, nor answered", false, {AT_OLD, {PUT_TAG, NULL, 1, 504, 0, NULL, NULL},
	 {GET_TAG, NULL, 0, 502, 0, NULL, NULL}},
	 IMGCHECK_ERR_REGISTRY, "manifests/1 504; then: GET", 1},
	{"not known before", false, {{GET_TAG, NULL, 0, 403, 0, NULL, NULL}},
	 IMGCHECK_ERR_REGISTRY, "cannot tell where the tag is", 0},
	{"a web page is no absence", true, {{GET_TAG, NULL, 0, 404, 0, "content-type: text/html", "<html>"}},
	 IMGCHECK_ERR_REGISTRY, "cannot tell where the tag is", 0},
	{"an empty tag is none of ours", false, {NO_NAME}, IMGCHECK_ERR_CONFLICT, "another writer", 0},
	{"no such digest", false, {{GET_NEW, NULL, 0, 404, 0, NULL, NULL}}, IMGCHECK_ERR_REGISTRY, "copy it there first", 0},
	{"wrong bytes", false, {{GET_NEW, NULL, 0, 200, 0, INDEX_TYPE, "@ix@"}},
	 IMGCHECK_ERR_REGISTRY, "do not have this digest", 0},
	{"no manifest's type", false, {{GET_NEW, NULL, 0, 200, 0, "content-type: text/html", "@i@"}},
	 IMGCHECK_ERR_REGISTRY, "media type \"text/html\"", 0},
	{"no type", false, {{GET_NEW, NULL, 0, 200, 0, NULL, "@i@"}}, IMGCHECK_ERR_REGISTRY, "media type \"\"", 0},
	{"to another host", false, {AT_OLD, {PUT_TAG, NULL, 1, 307, 0, "location: https://elsewhere.example/x", NULL}, AT_OLD},
	 IMGCHECK_ERR_REGISTRY, "to another place", 1},
	{"by another method", false, {AT_OLD, {PUT_TAG, NULL, 1, 301, 0, "location: /x", NULL}, AT_OLD},
	 IMGCHECK_ERR_REGISTRY, "to another place", 1},
	{"elsewhere on the host", false,
	 {AT_OLD, {PUT_TAG, NULL, 1, 308, 0, "location: /elsewhere", NULL},
	  {"PUT https://r.example/elsewhere", NULL, 1, 201, 0, NULL, NULL}, AT_NEW},
	 0, NULL, 1},
};

static size_t rule_count(const struct row *row)
{
	size_t n = 0;

	while (n < IC_COUNT(row->rules) && row->rules[n].request)
		n++;
	return n;
}

static int move(struct imgcheck_config *c, const char *ref, const char *expected, struct imgcheck_error **err)
{
	int result = imgcheck_tag_move(c, ref, scripted_parts[INDEX].digest, expected, err);

	imgcheck_config_free(c);
	return result;
}

static struct imgcheck_config *new_config(void)
{
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	return c;
}

TEST(move, ends_as_the_registry_has_it)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		const struct row *row = &rows[i];
		struct imgcheck_error *err = NULL;
		const char *message;
		int code;

		scripted_start(row->rules, rule_count(row));
		code = move(new_config(), TAG, row->first ? NULL : scripted_parts[MANIFEST].digest, &err);
		message = imgcheck_error_message(err);
		cr_expect_eq(code, row->code, "%s: %d %s", row->name, code, message);
		cr_expect_eq(imgcheck_error_code(err), (enum imgcheck_err)row->code, "%s", row->name);
		cr_expect(!row->message || strstr(message, row->message), "%s: %s", row->name, message);
		cr_expect(!row->message || strstr(imgcheck_error_place(err, NULL, NULL), "r.example"), "%s", row->name);
		cr_expect_eq(scripted_count(PUT_TAG, NULL), row->writes, "%s", row->name);
		cr_expect_eq(scripted_count("PUT https://elsewhere.example", NULL), 0, "%s", row->name);
		for (size_t k = 0; scripted_sent(k); k++)
			if (strncmp(scripted_sent(k)->line, "PUT ", 4) == 0) {
				cr_expect_str_eq(scripted_sent(k)->form, scripted_parts[INDEX].text, "%s: the same bytes", row->name);
				cr_expect(strstr(scripted_sent(k)->header, "Content-Type: " OCI "index.v1+json\n"), "%s", row->name);
			}
		imgcheck_error_free(err);
		scripted_end();
	}
}

TEST(move, tokens_are_asked_for_with_the_right_to_push)
{
	static const struct scripted_rule rules[] = {
		{"GET " R, "!Authorization", 0, 401, 0, BEARER, NULL},
		{"PUT " R, "!Bearer t", 0, 401, 0, BEARER, NULL},
		{"POST " REALM, "scope=repository%3Aa%2Fb%3Apull%20repository%3Aa%2Fb%3Apull%2Cpush", 0, 200, 0,
		 NULL, "{\"access_token\":\"t\"}"},
		AT_OLD, STORED, AT_NEW,
	};
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	scripted_start(rules, IC_COUNT(rules));
	cr_assert_eq(imgcheck_config_set_login(c, "r.example", "user", "secret", NULL), 0);
	cr_expect_eq(move(c, TAG, scripted_parts[MANIFEST].digest, &err), 0, "%s", imgcheck_error_message(err));
	cr_expect_eq(scripted_count("POST " REALM, NULL), 1);
	cr_expect_eq(scripted_count("PUT", "Bearer t"), 1);
	cr_expect_eq(scripted_count("PUT", NULL), 1, "none is turned away");
	imgcheck_error_free(err);
	scripted_end();
}

TEST(move, a_password_is_sent)
{
	static const struct scripted_rule rules[] = {
		{"GET " R, "!Authorization", 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL},
		AT_OLD, STORED, AT_NEW,
	};
	struct imgcheck_config *c = new_config();

	scripted_start(rules, IC_COUNT(rules));
	cr_assert_eq(imgcheck_config_set_login(c, "r.example", "user", "secret", NULL), 0);
	cr_expect_eq(move(c, TAG, scripted_parts[MANIFEST].digest, NULL), 0);
	cr_expect_eq(scripted_count("PUT", "Authorization: Basic dXNlcjpzZWNyZXQ="), 1);
	scripted_end();
}

TEST(move, mirrors_are_not_written_to)
{
	static const char hosts[] = "mirrors:\n  r.example:\n    endpoint: [https://mirror.example]\n";
	static const struct scripted_rule rules[] = {AT_OLD, STORED, AT_NEW};
	struct imgcheck_config *c = new_config();

	scripted_start(rules, IC_COUNT(rules));
	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_YAML, "registries.yaml", hosts, strlen(hosts), NULL), 0);
	cr_expect_eq(move(c, TAG, scripted_parts[MANIFEST].digest, NULL), 0);
	for (size_t i = 0; scripted_sent(i); i++)
		cr_expect(strstr(scripted_sent(i)->line, "https://r.example/"), "%s", scripted_sent(i)->line);
	scripted_end();
}

TEST(move, what_cannot_be_asked_for)
{
	static const char digest[] = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	static const struct {
		const char *ref, *digest, *expected;
		bool only_mirrors;
		int code;
	} calls[] = {
		{NULL, digest, NULL, false, IMGCHECK_ERR_ARGUMENT},
		{TAG, NULL, NULL, false, IMGCHECK_ERR_ARGUMENT},
		{TAG, "sha256:short", NULL, false, IMGCHECK_ERR_ARGUMENT},
		{TAG, digest, "latest", false, IMGCHECK_ERR_ARGUMENT},
		{"r.example/a/b@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", digest, NULL, false,
		 IMGCHECK_ERR_ARGUMENT},
		{"no reference", digest, NULL, false, IMGCHECK_ERR_SYNTAX},
		{TAG, digest, NULL, true, IMGCHECK_ERR_CONFIG},
	};

	for (size_t i = 0; i < IC_COUNT(calls); i++) {
		struct imgcheck_config *c = new_config();
		struct imgcheck_error *err = NULL;

		scripted_start(NULL, 0);
		cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REQUIRE_MIRROR, calls[i].only_mirrors ? "true" : "false", NULL), 0);
		cr_expect_eq(imgcheck_tag_move(c, calls[i].ref, calls[i].digest, calls[i].expected, &err), calls[i].code, "row %zu: %s", i,
		             imgcheck_error_message(err));
		cr_expect(strstr(imgcheck_error_message(err), "cannot "), "%s", imgcheck_error_message(err));
		cr_expect_null(scripted_sent(0), "nobody is asked");
		imgcheck_error_free(err);
		imgcheck_config_free(c);
		scripted_end();
	}
}

TEST(move, media_types)
{
	static const struct {
		const char *given, *line;
	} types[] = {
		{OCI "manifest.v1+json", "Content-Type: " OCI "manifest.v1+json"},
		{OCI "index.v1+json; charset=utf-8", "Content-Type: " OCI "index.v1+json"},
		{"application/vnd.docker.distribution.manifest.v2+json",
		 "Content-Type: application/vnd.docker.distribution.manifest.v2+json"},
		{"application/vnd.docker.distribution.manifest.list.v2+json;x",
		 "Content-Type: application/vnd.docker.distribution.manifest.list.v2+json"},
		{"application/vnd.docker.distribution.manifest.v1+prettyjws", NULL},
		{"application/json", NULL},
		{"", NULL},
		{NULL, NULL},
	};

	for (size_t i = 0; i < IC_COUNT(types); i++) {
		char *line = NULL;

		cr_expect_eq(ic_move_type(types[i].given, &line, NULL), types[i].line ? 0 : IMGCHECK_ERR_SYNTAX, "row %zu", i);
		if (types[i].line)
			cr_expect_str_eq(line, types[i].line);
		free(line);
	}
}
