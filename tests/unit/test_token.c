/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/token.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define CONTAINERD IC_RUNTIME_CONTAINERD
#define CRIO IC_RUNTIME_CRIO

/* The logins of the tests; the casts only fit the fields of struct ic_login, which are never written here. */
static char user[] = "u@x", secret[] = "p&s", identity[] = "idtok";
static const struct ic_login anonymous, with_password = {.user = user, .secret = secret},
                             with_identity = {.identity_token = identity};

static void scopes_of(const char *wanted, const char *challenged, struct ic_vec *out)
{
	bool grown;

	ic_texts_init(out, 128);
	cr_assert_eq(ic_token_add_scopes(out, wanted, challenged, &grown, NULL), 0);
	cr_assert(grown);
}

TEST(token, scopes_are_sorted_and_unique)
{
	static const struct {
		const char *challenged, *joined;
	} rows[] = {
		{NULL, "[repository:a/b:pull]"},
		{"repository:a/b:pull", "[repository:a/b:pull]"},
		{"repository:a/b:pull,push", "[repository:a/b:pull][repository:a/b:pull,push]"},
		{"repository:z:pull registry:catalog:* repository:a/b:pull",
		 "[registry:catalog:*][repository:a/b:pull][repository:z:pull]"},
		{"", "[][repository:a/b:pull]"},
		{"::", "[::][repository:a/b:pull]"},
		{"*", "[*][repository:a/b:pull]"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_vec scopes;
		struct ic_buf joined;
		bool grown;

		ic_buf_init(&joined, 4096);
		scopes_of("repository:a/b:pull", rows[i].challenged, &scopes);
		for (size_t k = 0; k < scopes.count; k++)
			cr_assert_eq(ic_buf_printf(&joined, NULL, "[%s]", ic_texts_get(&scopes, k)), 0);
		cr_expect_str_eq(ic_buf_text(&joined), rows[i].joined);
		cr_assert_eq(ic_token_add_scopes(&scopes, "repository:a/b:pull", rows[i].challenged, &grown, NULL), 0);
		cr_expect_not(grown, "nothing new the second time: row %zu", i);
		ic_buf_clear(&joined);
		ic_texts_clear(&scopes);
	}
}

TEST(token, requests_are_built_as_runtimes_build_them)
{
	static const struct {
		const char *realm, *service;
		const struct ic_login *login;
		enum ic_token_way way;
		const char *url, *form;
		enum ic_runtime runtime;
	} rows[] = {
		{"https://t/token", "s", &anonymous, IC_TOKEN_GET, "https://t/token?service=s&scope=repository%3Aa%2Fb%3Apull", "",
		 CONTAINERD},
		{"https://t/token", NULL, &anonymous, IC_TOKEN_GET, "https://t/token?scope=repository%3Aa%2Fb%3Apull", "",
		 CONTAINERD},
		{"https://t/token", "", &with_password, IC_TOKEN_GET, "https://t/token?scope=repository%3Aa%2Fb%3Apull", "",
		 CONTAINERD},
		{"https://t/token?x=1#f", "s s", &anonymous, IC_TOKEN_GET,
		 "https://t/token?x=1&service=s%20s&scope=repository%3Aa%2Fb%3Apull", "",
		 CONTAINERD},
		{"https://t/token?x=1", "s", &with_password, IC_TOKEN_POST, "https://t/token?x=1",
		 "client_id=containerd-client&grant_type=password&password=p%26s&scope=repository%3Aa%2Fb%3Apull&service=s&username=u%40x",
		 CONTAINERD},
		{"https://t/token", NULL, &with_identity, IC_TOKEN_POST, "https://t/token",
		 "client_id=containerd-client&grant_type=refresh_token&refresh_token=idtok&scope=repository%3Aa%2Fb%3Apull&service=",
		 CONTAINERD},
		{"https://t/token?x=1", "s", &with_password, IC_TOKEN_GET,
		 "https://t/token?x=1&account=u%40x&service=s&scope=repository%3Aa%2Fb%3Apull", "", CRIO},
		{"https://t/token", NULL, &anonymous, IC_TOKEN_GET, "https://t/token?scope=repository%3Aa%2Fb%3Apull", "", CRIO},
		{"https://t/token", NULL, &with_identity, IC_TOKEN_POST, "https://t/token",
		 "client_id=containers%2Fimage&grant_type=refresh_token&refresh_token=idtok&scope=repository%3Aa%2Fb%3Apull",
		 CRIO},
	};
	struct ic_vec scopes;

	scopes_of("repository:a/b:pull", NULL, &scopes);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_token_request r = {ic_profile_get(rows[i].runtime), rows[i].realm, rows[i].service, &scopes, rows[i].login};
		struct ic_buf url, form;

		ic_buf_init(&url, 4096);
		ic_buf_init(&form, 4096);
		cr_assert_eq(ic_token_build(&r, rows[i].way, &url, &form, NULL), 0);
		cr_expect_str_eq(ic_buf_text(&url), rows[i].url);
		cr_expect_str_eq(ic_buf_text(&form), rows[i].form);
		ic_buf_clear(&url);
		ic_buf_clear(&form);
	}
	ic_texts_clear(&scopes);
}

TEST(token, basic_is_user_and_secret)
{
	static const struct {
		const struct ic_login *login;
		const char *header;
	} rows[] = {
		{&with_password, "Authorization: Basic dUB4OnAmcw=="},
		{&with_identity, "Authorization: Basic OmlkdG9r"},
		{&anonymous, "Authorization: Basic Og=="},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_buf out;

		ic_buf_init(&out, 4096);
		cr_assert_eq(ic_token_add_basic(rows[i].login, &out, NULL), 0);
		cr_expect_str_eq(ic_buf_text(&out), rows[i].header);
		ic_buf_clear(&out);
	}
}

TEST(token, post_falls_back_to_get_where_containerd_does)
{
	static const struct {
		const struct ic_login *login;
		long status;
		bool falls_back;
	} rows[] = {
		{&with_password, 404, true},  {&with_password, 401, true},  {&with_password, 400, true},  {&with_password, 405, true},
		{&with_password, 403, false}, {&with_password, 429, false}, {&with_password, 500, false}, {&with_password, 503, false},
		{&with_identity, 404, true},  {&with_identity, 401, true},  {&with_identity, 405, false}, {&with_identity, 403, false},
	};
	const struct ic_profile *containerd = ic_profile_get(IC_RUNTIME_CONTAINERD), *crio = ic_profile_get(CRIO);

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		cr_expect_eq(ic_token_falls_back(containerd, rows[i].login, rows[i].status), rows[i].falls_back, "row %zu", i);
		cr_expect_not(ic_token_falls_back(crio, rows[i].login, rows[i].status), "row %zu", i);
	}
	cr_expect_eq(ic_token_first_way(containerd, &anonymous), IC_TOKEN_GET);
	cr_expect_eq(ic_token_first_way(containerd, &with_password), IC_TOKEN_POST);
	cr_expect_eq(ic_token_first_way(containerd, &with_identity), IC_TOKEN_POST);
	cr_expect_eq(ic_token_first_way(crio, &with_password), IC_TOKEN_GET);
	cr_expect_eq(ic_token_first_way(crio, &with_identity), IC_TOKEN_POST);
}

TEST(token, answers_are_read_strictly)
{
	static const struct {
		const char *body;
		enum ic_token_way way;
		const char *token; /* NULL: an error ... */
		const char *why;   /* ... that says this */
		size_t seconds;
		enum ic_runtime runtime;
	} rows[] = {
		{"{\"token\":\"t\"}", IC_TOKEN_GET, "t", NULL, 0, CONTAINERD},
		{"{\"access_token\":\"t\",\"expires_in\":300}", IC_TOKEN_GET, "t", NULL, 300, CONTAINERD},
		{"{\"token\":\"a\",\"access_token\":\"b\"}", IC_TOKEN_GET, "b", NULL, 0, CONTAINERD},
		{"{\"token\":\"a\",\"access_token\":null,\"expires_in\":null,\"issued_at\":null}",
		 IC_TOKEN_GET, "a", NULL, 0, CONTAINERD},
		{"{\"token\":\"a\",\"expires_in\":-1,\"issued_at\":\"2026-01-02T03:04:05.123Z\",\"other\":[1]}",
		 IC_TOKEN_GET, "a", NULL, 0, CONTAINERD},
		{"{\"access_token\":\"t\",\"refresh_token\":\"r\"}", IC_TOKEN_POST, "t", NULL, 0, CONTAINERD},
		{"{\"token\":\"t\"}", IC_TOKEN_POST, NULL, "no access_token", 0, CONTAINERD},
		{"{}", IC_TOKEN_GET, NULL, "no token", 0, CONTAINERD},
		{"{\"token\":\"\"}", IC_TOKEN_GET, NULL, "no token", 0, CONTAINERD},
		{"{\"token\":1}", IC_TOKEN_GET, NULL, "not a string", 0, CONTAINERD},
		{"{\"token\":\"t\",\"expires_in\":\"300\"}", IC_TOKEN_GET, NULL, "expires_in", 0, CONTAINERD},
		{"{\"token\":\"t\",\"expires_in\":1.5}", IC_TOKEN_GET, NULL, "expires_in", 0, CONTAINERD},
		{"{\"token\":\"t\",\"issued_at\":\"\"}", IC_TOKEN_GET, NULL, "issued_at", 0, CONTAINERD},
		{"{\"token\":\"t\",\"issued_at\":1700000000}", IC_TOKEN_GET, NULL, "issued_at", 0, CONTAINERD},
		{"{\"token\":\"a\\r\\nX: y\"}", IC_TOKEN_GET, NULL, "control bytes", 0, CONTAINERD},
		{"{\"token\":\"a b\"}", IC_TOKEN_GET, NULL, "blanks", 0, CONTAINERD},
		{"[]", IC_TOKEN_GET, NULL, "not a JSON object", 0, CONTAINERD},
		{"null", IC_TOKEN_GET, NULL, "not a JSON object", 0, CONTAINERD},
		{"<html>", IC_TOKEN_GET, NULL, "not JSON", 0, CONTAINERD},
		{"", IC_TOKEN_GET, NULL, "not JSON", 0, CONTAINERD},
		{"{\"token\":\"a\",\"access_token\":\"b\"}", IC_TOKEN_GET, "a", NULL, 0, CRIO},
		{"{\"token\":\"t\"}", IC_TOKEN_POST, "t", NULL, 0, CRIO},
		{"{\"access_token\":\"t\"}", IC_TOKEN_GET, "t", NULL, 0, CRIO},
		{"{}", IC_TOKEN_GET, "", NULL, 0, CRIO},
		{"{\"token\":\"t\",\"expires_in\":\"300\"}", IC_TOKEN_GET, NULL, "expires_in", 0, CRIO},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		size_t seconds;
		char *token;
		struct ic_token_answer answer = {ic_profile_get(rows[i].runtime), rows[i].way, rows[i].body, strlen(rows[i].body)};
		int result = ic_token_read(&answer, &token, &seconds, &err);

		cr_expect_eq(result, rows[i].token ? 0 : IMGCHECK_ERR_SYNTAX, "%s", rows[i].body);
		if (rows[i].token) {
			cr_expect_str_eq(token, rows[i].token);
			cr_expect_eq(seconds, rows[i].seconds, "%s", rows[i].body);
		} else {
			cr_expect_null(token);
			cr_expect(strstr(imgcheck_error_message(err), rows[i].why), "%s: %s", rows[i].body, imgcheck_error_message(err));
		}
		imgcheck_error_free(err);
		ic_secret_free(token);
	}
}

TEST(token, realms_that_can_be_asked)
{
	cr_expect(ic_token_realm_is_usable("https://auth.example.com/token?foo=bar"));
	cr_expect(ic_token_realm_is_usable("http://127.0.0.1:5000/openshift/token"));
	cr_expect_not(ic_token_realm_is_usable("null://host/token"));
	cr_expect_not(ic_token_realm_is_usable("/v2/token"));
	cr_expect_not(ic_token_realm_is_usable(""));
}
