/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "imgcheck.h"
#include "registry/run.h"

/*
 * Challenges, tokens and passwords through a whole run.  The ids are those of token_flow.tsv and
 * manifest_responses.tsv; ids in lower case are our own.
 */

#define R SCRIPTED_REPOSITORY
#define HEAD1 "HEAD " R "/manifests/1"
#define REALM "https://auth.example/token"
#define BEARER_AT(realm) "www-authenticate: Bearer realm=\"" realm "\",service=\"s\",scope=\"repository:a/b:pull\""
#define BEARER BEARER_AT(REALM)
#define CHALLENGE {HEAD1, "!Authorization", 0, 401, 0, BEARER, NULL}
#define BASIC_CHALLENGE {HEAD1, "!Authorization", 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL}
#define POST "POST " REALM
#define GET "GET " REALM
#define USER_SECRET "Authorization: Basic dXNlcjpzZWNyZXQ="
#define TOKEN(name) "{\"token\":\"" name "\"}"
#define ACCESS(name) "{\"access_token\":\"" name "\"}"

#define OK IMGCHECK_VERDICT_OK
#define NOT_FOUND IMGCHECK_VERDICT_NOT_FOUND
#define UNAUTHORIZED IMGCHECK_VERDICT_UNAUTHORIZED
#define DENIED IMGCHECK_VERDICT_DENIED
#define LIMITED IMGCHECK_VERDICT_RATE_LIMITED
#define SERVER_ERROR IMGCHECK_VERDICT_SERVER_ERROR
#define UNREACHABLE IMGCHECK_VERDICT_UNREACHABLE

struct row {
	const char *id;
	bool login; /* user:secret */
	struct scripted_rule rules[6];
	enum imgcheck_verdict verdict;
	const char *reason;          /* a part of it; NULL: there is none */
	const char *counted, *with;  /* requests that begin so and hold that ... */
	size_t count;                /* ... were sent so often */
};

static const struct row rows[] = {
	{"T01", false,
	 {CHALLENGE,
	  {GET "?service=s&scope=repository%3Aa%2Fb%3Apull", "!Authorization", 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, "Authorization: Bearer t", 1},
	{"T02", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, ACCESS("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T03", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, "{\"token\":\"a\",\"access_token\":\"b\"}"}},
	 OK, NULL, HEAD1, "Bearer b", 1},
	{"T06", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 401, 0, NULL, "{\"details\":\"no\"}"}},
	 UNAUTHORIZED, GET " 401 (no)", GET, NULL, 1},
	{"T08", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 500, 0, NULL, NULL}},
	 SERVER_ERROR, GET " 500", GET, NULL, 1},
	{"T09", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, GET, NULL, 1},
	{"T10", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, "{\"token\":\"t\",\"expires_in\":\"300\"}"}},
	 SERVER_ERROR, "expires_in", GET, NULL, 1},
	{"T11", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, "{\"token\":\"t\",\"issued_at\":\"\"}"}},
	 SERVER_ERROR, "issued_at", GET, NULL, 1},
	{"T13", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, "{\"token\":\"t\",\"expires_in\":300,\"issued_at\":\"2001-01-01T00:00:00Z\"}"}},
	 OK, NULL, GET, NULL, 1},
	{"T15", true,
	 {CHALLENGE,
	  {POST, "grant_type=password&password=secret", 0, 200, 0, NULL, ACCESS("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T16", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 200, 0, NULL, TOKEN("t")},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 SERVER_ERROR, "no access_token", GET, NULL, 0},
	{"T18", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 405, 0, NULL, NULL},
	  {GET, USER_SECRET, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T20", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 400, 0, NULL, NULL},
	  {GET, USER_SECRET, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T22", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 503, 0, NULL, NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 SERVER_ERROR, POST " 503", GET, NULL, 0},
	{"T22-429", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 429, 0, NULL, NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 LIMITED, POST " 429", GET, NULL, 0},
	{"T22-403", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 403, 0, NULL, NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 DENIED, POST " 403", POST, "password=secret", 2},
	{"T24", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 401, 0, NULL, NULL},
	  {GET, USER_SECRET, 0, 401, 0, NULL, NULL}},
	 UNAUTHORIZED, GET " 401", POST, NULL, 1},
	{"T25", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 401, 0, NULL, NULL},
	  {GET, USER_SECRET, 0, 401, 0, NULL, "{\"details\":\"incorrect username or password\"}"},
	  {GET, "!Authorization", 0, 200, 0, NULL, TOKEN("t")}},
	 UNAUTHORIZED, "without credentials", GET, USER_SECRET, 1},
	{"T26", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 405, 0, NULL, NULL},
	  {GET, USER_SECRET, 0, 403, 0, NULL, ERRORS("DENIED", "denied")}},
	 DENIED, "DENIED (denied)", GET, USER_SECRET, 2},
	{"T33", true,
	 {{HEAD1, "!Authorization", 0, 401, 0, BEARER_AT("http://r.example/token"), NULL},
	  {"POST http://r.example/token", NULL, 0, 200, 0, NULL, ACCESS("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T33-elsewhere", true,
	 {{HEAD1, "!Authorization", 0, 401, 0, BEARER_AT("http://auth.example/token"), NULL}},
	 SERVER_ERROR, "over http on another host", "POST", NULL, 0},
	{"T33-anonymous", false,
	 {{HEAD1, "!Authorization", 0, 401, 0, BEARER_AT("http://auth.example/token"), NULL},
	  {"GET http://auth.example/token", NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T36", false,
	 {{HEAD1, "!Authorization", 0, 401, 0,
	   "www-authenticate: Bearer realm=\"" REALM "\",scope=\"repository:x/y:pull\"", NULL},
	  {GET "?scope=repository%3Aa%2Fb%3Apull&scope=repository%3Ax%2Fy%3Apull", NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"no-scope", false,
	 {{HEAD1, "!Authorization", 0, 401, 0, "www-authenticate: Bearer realm=\"" REALM "\",service=\"s\"", NULL},
	  {GET "?service=s&scope=repository%3Aa%2Fb%3Apull", NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"T39", false, {{HEAD1, "Authorization", 0, 500, 0, NULL, NULL}}, OK, NULL, HEAD1, "Authorization", 0},
	{"T40", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, "GET https://r.example/v2/ ", NULL, 0},
	{"T42", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 405, 0, NULL, NULL},
	  {GET, NULL, 1, 403, 0, NULL, NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, GET, USER_SECRET, 2},
	{"T43", true,
	 {{HEAD1, NULL, 0, 401, 0, BEARER_AT("null://host/token"), NULL}},
	 SERVER_ERROR, "null://host/token", "POST", NULL, 0},
	{"realm-login", true,
	 {{HEAD1, NULL, 0, 401, 0, BEARER_AT("https://u:p@host/token?key=k"), NULL}},
	 SERVER_ERROR, "names \"https://host/token\" as the place", "POST", NULL, 0},
	{"no-realm", false,
	 {{HEAD1, NULL, 0, 401, 0, "www-authenticate: Bearer service=\"s\"", NULL}},
	 SERVER_ERROR, "names \"\" as the place to ask, which is no http or https URL", "GET", REALM, 0},
	{"token-html", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, "content-type: text/html", "<html>login</html>"}},
	 SERVER_ERROR, "not JSON", GET, NULL, 1},
	{"token-refused", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 0, IC_HTTP_TLS, NULL, "expired"}},
	 IMGCHECK_VERDICT_TLS, GET ": expired", GET, NULL, 1},
	{"token-404", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 404, 0, NULL, NULL}},
	 SERVER_ERROR, GET " 404", GET, NULL, 1},
	{"token-moved", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 307, 0, "location: /t2", NULL},
	  {"POST https://auth.example/t2", "password=secret", 0, 200, 0, NULL, ACCESS("t")}},
	 OK, NULL, HEAD1, "Bearer t", 1},
	{"token-lured", true,
	 {CHALLENGE,
	  {POST, NULL, 0, 307, 0, "location: https://evil.example/", NULL}},
	 SERVER_ERROR, POST " 307", "POST https://evil.example", NULL, 0},

	/* what the registry does with the token */
	{"M21", false,
	 {CHALLENGE,
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 OK, NULL, HEAD1, NULL, 2},
	{"M23", false,
	 {{HEAD1, NULL, 0, 401, 0, BEARER ",error=\"invalid_token\"", NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 UNAUTHORIZED, "invalid_token", HEAD1, NULL, 2},
	{"scope", false,
	 {{HEAD1, "!Bearer ok", 0, 401, 0, BEARER ",error=\"insufficient_scope\"", NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("ok")}},
	 OK, NULL, HEAD1, NULL, 2},
	{"404-after-token", false,
	 {CHALLENGE,
	  {HEAD1, "Bearer t", 0, 404, 0, NULL, NULL},
	  {GET, NULL, 0, 200, 0, NULL, TOKEN("t")}},
	 NOT_FOUND, "404", HEAD1, NULL, 2},
	{"404-unasked", true,
	 {{HEAD1, NULL, 0, 404, 0, NULL, NULL}},
	 NOT_FOUND, "never asked for the credentials", HEAD1, NULL, 1},

	/* passwords */
	{"basic", true, {BASIC_CHALLENGE}, OK, NULL, HEAD1, USER_SECRET, 1},
	{"basic-none", false, {BASIC_CHALLENGE}, UNAUTHORIZED, "none is configured", HEAD1, NULL, 1},
	{"M26", true,
	 {{HEAD1, NULL, 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL}},
	 UNAUTHORIZED, "the credentials are not accepted", HEAD1, USER_SECRET, 1},

	/* redirects: what was meant for the registry stays there */
	{"basic-store", true,
	 {{HEAD1, USER_SECRET, 0, 307, 0, "location: https://other.example/m", NULL},
	  BASIC_CHALLENGE,
	  {"HEAD https://other.example/m", NULL, 0, 401, 0, "www-authenticate: Basic realm=\"x\"", NULL}},
	 UNAUTHORIZED, "none is configured", "HEAD https://other.example", "Authorization", 0},
	{"bearer-store", true,
	 {{HEAD1, USER_SECRET, 0, 307, 0, "location: https://other.example/m", NULL},
	  BASIC_CHALLENGE,
	  {"HEAD https://other.example/m", "!Authorization", 0, 401, 0, BEARER, NULL},
	  {GET, "!Authorization", 0, 200, 0, NULL, TOKEN("o")},
	  {"HEAD https://other.example/m", "Bearer o", 0, 200, 0,
	   "docker-content-digest: @I@\ncontent-type: " OCI "index.v1+json\ncontent-length: @is@", NULL}},
	 OK, NULL, "POST", NULL, 0},
	{"sub-domain", true,
	 {{HEAD1, USER_SECRET, 0, 307, 0, "location: https://s3.r.example/m", NULL},
	  BASIC_CHALLENGE,
	  {"HEAD https://s3.r.example/m", USER_SECRET, 0, 200, 0,
	   "docker-content-digest: @I@\ncontent-type: " OCI "index.v1+json\ncontent-length: @is@", NULL}},
	 OK, NULL, "HEAD https://s3.r.example", USER_SECRET, 1},
	{"downgrade", true,
	 {{HEAD1, USER_SECRET, 0, 307, 0, "location: http://r.example/m", NULL},
	  BASIC_CHALLENGE},
	 SERVER_ERROR, "from https to http with credentials", "HEAD http://", NULL, 0},
};

/* ------------------------------------------------------------------ runs */

struct check {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_run *run;
};

static void run_check(struct check *c, bool login, const char *const *refs, size_t count, const char *depth)
{
	int result;

	cr_assert_eq(imgcheck_config_new(&c->config), 0);
	cr_assert_eq(imgcheck_images_new(&c->images), 0);
	cr_assert_eq(imgcheck_config_set(c->config, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL), 0);
	cr_assert_eq(imgcheck_config_set(c->config, IMGCHECK_OPTION_DEPTH, depth, NULL), 0);
	if (login)
		cr_assert_eq(imgcheck_config_set_login(c->config, "r.example", "user", "secret", NULL), 0);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(imgcheck_images_add_ref(c->images, refs[i], NULL), 0);
	cr_assert_eq(imgcheck_run_new(c->config, c->images, &c->run, NULL), 0);
	for (int i = 0; (result = imgcheck_run_step(c->run, 0, NULL)) == 1; i++)
		cr_assert_lt(i, 1000, "the run does not end");
	cr_assert_eq(result, 0);
}

static void end_check(struct check *c)
{
	imgcheck_run_free(c->run);
	imgcheck_images_free(c->images);
	imgcheck_config_free(c->config);
	scripted_end();
}

static void check_row(const struct row *row)
{
	static const char *const refs[] = {"r.example/a/b:1"};
	const struct ic_result *result;
	struct check c;
	size_t count = 0;

	while (count < IC_COUNT(row->rules) && row->rules[count].request)
		count++;
	scripted_start(row->rules, count);
	run_check(&c, row->login, refs, 1, "blobs");
	result = ic_run_result(c.run, 0);
	cr_expect_eq(result->verdict, row->verdict, "%s: %s, wanted %s: %s", row->id, imgcheck_verdict_name(result->verdict),
	             imgcheck_verdict_name(row->verdict), result->reason ? result->reason : "");
	if (row->reason)
		cr_expect(result->reason && strstr(result->reason, row->reason), "%s: \"%s\" lacks \"%s\"", row->id,
		          result->reason ? result->reason : "", row->reason);
	cr_expect(!result->reason || !strstr(result->reason, "secret"), "%s: %s", row->id, result->reason);
	cr_expect_eq(scripted_count(row->counted, row->with), row->count, "%s: %zu requests %s", row->id,
	             scripted_count(row->counted, row->with), row->counted);
	end_check(&c);
}

TEST(run_tokens, every_exchange_has_its_verdict)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++)
		check_row(&rows[i]);
}

/* Rows that are tested elsewhere, and where, or why not. */
static const struct {
	const char *id, *where;
} elsewhere[] = {
	{"T27", "test_token.c: no configuration that is read gives an identity token"},
	{"T29", "test_token.c"}, {"T30", "test_token.c"},
	{"T34", "test_run_mirrors.c"}, {"T37", "test_run_mirrors.c"},
	{"T41", "containerd pings no /v2/"},
};

TEST(run_tokens, no_row_of_the_shared_table_is_left_out)
{
	test_table_is_covered("facts/token_flow.tsv", TEST_IDS(rows), TEST_IDS(elsewhere));
}

/* ------------------------------------------------------------------ several images of one host */

#define MANIFEST_OK "docker-content-digest: @I@\ncontent-type: " OCI "index.v1+json\ncontent-length: @is@"

TEST(run_tokens, only_the_first_image_is_challenged)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/", "!Authorization", 0, 401, 0, BEARER, NULL},
		{"HEAD https://r.example/v2/", NULL, 0, 200, 0, MANIFEST_OK, NULL},
		{GET, NULL, 0, 200, 0, NULL, TOKEN("t")},
	};
	static const char *const refs[] = {"r.example/i1:1", "r.example/i2:1", "r.example/i3:1", "r.example/i4:1", "r.example/i4:2"};
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	run_check(&c, false, refs, IC_COUNT(refs), "tag");
	for (size_t i = 0; i < IC_COUNT(refs); i++)
		cr_expect_eq(ic_run_result(c.run, i)->verdict, OK, "%s", refs[i]);
	cr_expect_eq(scripted_count("HEAD", "Bearer t"), 5);
	cr_expect_eq(scripted_count("HEAD", NULL), 6, "one is challenged");
	cr_expect_eq(scripted_count("GET", NULL), 4, "a token for each repository");
	end_check(&c);
}

TEST(run_tokens, what_is_public_stays_so_beside_what_is_not)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/a", "!Authorization", 0, 401, 0, BEARER, NULL},
		{"HEAD https://r.example/v2/z", "Authorization", 0, 401, 0, BEARER, NULL},
		{"HEAD https://r.example/v2/z", NULL, 0, 200, 0, MANIFEST_OK, NULL},
		{"POST", NULL, 0, 401, 0, NULL, NULL},
		{GET, NULL, 0, 401, 0, NULL, NULL},
	};
	static const char *const refs[] = {"r.example/a:1", "r.example/z:1"};
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	run_check(&c, true, refs, IC_COUNT(refs), "tag");
	cr_expect_eq(ic_run_result(c.run, 0)->verdict, UNAUTHORIZED);
	cr_expect_eq(ic_run_result(c.run, 1)->verdict, OK, "%s", ic_run_result(c.run, 1)->reason);
	end_check(&c);
}

TEST(run_tokens, a_password_sent_ahead_does_not_decide)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/a", NULL, 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL},
		{"HEAD https://r.example/v2/y", NULL, 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL},
		{"HEAD https://r.example/v2/z", "Authorization", 0, 401, 0, "www-authenticate: Basic realm=\"r\"", NULL},
		{"HEAD https://r.example/v2/z", NULL, 0, 200, 0, MANIFEST_OK, NULL},
	};
	static const char *const refs[] = {"r.example/a:1", "r.example/y:1", "r.example/z:1"};
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	run_check(&c, true, refs, IC_COUNT(refs), "tag");
	cr_expect_eq(ic_run_result(c.run, 0)->verdict, UNAUTHORIZED);
	cr_expect_eq(ic_run_result(c.run, 1)->verdict, UNAUTHORIZED);
	cr_expect(strstr(ic_run_result(c.run, 1)->reason, "credentials are not accepted"), "%s", ic_run_result(c.run, 1)->reason);
	cr_expect_eq(ic_run_result(c.run, 2)->verdict, OK, "%s", ic_run_result(c.run, 2)->reason);
	cr_expect_eq(scripted_count("HEAD https://r.example/v2/y", "Authorization"), 1, "a wrong password is not repeated");
	end_check(&c);
}

TEST(run_tokens, a_limit_is_met_with_patience_once)
{
	static const struct scripted_rule rules[] = {{"HEAD", NULL, 0, 429, 0, NULL, NULL}};
	char names[40][32];
	const char *refs[40];
	struct check c;

	for (size_t i = 0; i < IC_COUNT(refs); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "r.example/i%02zu:1", i);
		refs[i] = names[i];
	}
	scripted_start(rules, IC_COUNT(rules));
	run_check(&c, false, refs, IC_COUNT(refs), "tag");
	for (size_t i = 0; i < IC_COUNT(refs); i++)
		cr_expect_eq(ic_run_result(c.run, i)->verdict, LIMITED);
	cr_expect_lt(scripted_count("HEAD", NULL), 40 * 5, "%zu", scripted_count("HEAD", NULL));
	cr_expect(scripted.holding);
	end_check(&c);
}
