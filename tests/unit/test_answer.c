/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define URL "https://r.example/v2/a/manifests/1"

static void init_answer(struct ic_http_answer *a, long status, const char *field, const char *body)
{
	*a = (struct ic_http_answer){.end = IC_HTTP_ANSWERED, .status = status, .detail = ""};
	ic_buf_init(&a->body, (size_t)1 << 20);
	ic_texts_init(&a->header, 8);
	cr_assert_eq(ic_buf_add_text(&a->body, body, NULL), 0);
	if (field)
		cr_assert_eq(ic_texts_push(&a->header, field, strlen(field), NULL), 0);
}

static void clear_answer(struct ic_http_answer *a)
{
	ic_buf_clear(&a->body);
	ic_texts_clear(&a->header);
}

static char *reason_of(const struct ic_http_answer *a, bool credentials)
{
	struct ic_answer_context context = {.method = IC_HTTP_GET, .url = URL "?ns=x", .with_credentials = credentials};
	struct ic_buf out;

	ic_buf_init(&out, 4096);
	cr_assert_eq(ic_answer_reason(&context, a, &out, NULL), 0);
	return ic_buf_take(&out);
}

TEST(answer, verdicts_come_from_facts_alone)
{
	static const struct {
		enum ic_http_end end;
		long status;
		enum imgcheck_verdict verdict;
	} rows[] = {
		{IC_HTTP_ANSWERED, 200, IMGCHECK_VERDICT_OK},           {IC_HTTP_ANSWERED, 206, IMGCHECK_VERDICT_OK},
		{IC_HTTP_ANSWERED, 401, IMGCHECK_VERDICT_UNAUTHORIZED}, {IC_HTTP_ANSWERED, 403, IMGCHECK_VERDICT_DENIED},
		{IC_HTTP_ANSWERED, 412, IMGCHECK_VERDICT_DENIED},       {IC_HTTP_ANSWERED, 451, IMGCHECK_VERDICT_DENIED},
		{IC_HTTP_ANSWERED, 404, IMGCHECK_VERDICT_NOT_FOUND},    {IC_HTTP_ANSWERED, 429, IMGCHECK_VERDICT_RATE_LIMITED},
		{IC_HTTP_ANSWERED, 400, IMGCHECK_VERDICT_SERVER_ERROR}, {IC_HTTP_ANSWERED, 405, IMGCHECK_VERDICT_SERVER_ERROR},
		{IC_HTTP_ANSWERED, 410, IMGCHECK_VERDICT_SERVER_ERROR}, {IC_HTTP_ANSWERED, 307, IMGCHECK_VERDICT_SERVER_ERROR},
		{IC_HTTP_ANSWERED, 500, IMGCHECK_VERDICT_SERVER_ERROR}, {IC_HTTP_ANSWERED, 502, IMGCHECK_VERDICT_SERVER_ERROR},
		{IC_HTTP_UNRESOLVED, 0, IMGCHECK_VERDICT_UNREACHABLE},  {IC_HTTP_REFUSED, 0, IMGCHECK_VERDICT_UNREACHABLE},
		{IC_HTTP_BROKEN, 0, IMGCHECK_VERDICT_UNREACHABLE},      {IC_HTTP_STALLED, 0, IMGCHECK_VERDICT_UNREACHABLE},
		{IC_HTTP_TLS, 0, IMGCHECK_VERDICT_TLS},                 {IC_HTTP_DEADLINE, 0, IMGCHECK_VERDICT_DEADLINE},
		{IC_HTTP_TOO_LARGE, 200, IMGCHECK_VERDICT_SERVER_ERROR}, {IC_HTTP_TOO_LARGE, 404, IMGCHECK_VERDICT_NOT_FOUND},
		{IC_HTTP_FAILED, 0, IMGCHECK_VERDICT_SERVER_ERROR},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_http_answer a = {.end = rows[i].end, .status = rows[i].status};

		cr_expect_eq(ic_answer_verdict(&a), rows[i].verdict, "row %zu", i);
	}
}

TEST(answer, reasons_name_the_request_and_the_words)
{
	static const struct {
		long status;
		const char *field, *body;
		bool credentials;
		const char *reason;
	} rows[] = {
		{404, NULL, "", false, "GET " URL " 404"},
		{404, NULL, "{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\",\"message\":\"manifest unknown\",\"detail\":{\"Tag\":\"x\"}}]}",
		 false, "GET " URL " 404 MANIFEST_UNKNOWN (manifest unknown)"},
		{404, NULL, "{\"errors\":[{\"code\":\"NAME_UNKNOWN\",\"message\":\"no\"}]}", false,
		 "GET " URL " 404 NAME_UNKNOWN (no): there is no such repository"},
		{401, NULL, "", false, "GET " URL " 401: missing, or a login is needed"},
		{401, NULL, "", true, "GET " URL " 401: missing, or the credentials are not accepted"},
		{401, NULL, "{\"details\":\"incorrect username or password\"}", true,
		 "GET " URL " 401 (incorrect username or password): the credentials are rejected"},
		{403, NULL, "Your token has expired\nsecond line", true,
		 "GET " URL " 403 (Your token has expired): the credentials have expired"},
		{500, NULL,
		 "{\"errors\":[{\"code\":\"UNKNOWN\",\"message\":\"unknown error\","
		 "\"detail\":{\"errors\":[{\"code\":\"DENIED\"},{\"code\":\"X\"}]}}]}",
		 false, "GET " URL " 500 UNKNOWN/DENIED/X (unknown error): the upstream of this cache refuses it"},
		{404, NULL, "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>gone</Message></Error>", false,
		 "GET " URL " 404 NoSuchKey (gone): missing in the store behind the registry"},
		{503, "content-type: text/html", "<html><head><title>503 Sorry</title></head>", false,
		 "GET " URL " 503 (a web page: 503 Sorry)"},
		{429, "retry-after: 30", "{\"errors\":[]}", false, "GET " URL " 429, retry-after 30"},
		{400, NULL, "{\"errors\":5}", false, "GET " URL " 400"},
		{400, NULL, "{\"errors\":[5]}", false, "GET " URL " 400"},
		{400, NULL, "{broken", false, "GET " URL " 400 ({broken)"},
		{400, NULL, "\x1b[31mred\xff", false, "GET " URL " 400 (\\x1b[31mred\\xff)"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_http_answer a;
		char *reason;

		init_answer(&a, rows[i].status, rows[i].field, rows[i].body);
		reason = reason_of(&a, rows[i].credentials);
		cr_expect_str_eq(reason, rows[i].reason);
		free(reason);
		clear_answer(&a);
	}
}

TEST(answer, no_answer_is_told_in_the_transports_words)
{
	struct ic_http_answer a = {.end = IC_HTTP_REFUSED, .detail = "cannot connect: Connection refused"};
	char *reason = reason_of(&a, false);

	cr_expect_str_eq(reason, "GET " URL ": cannot connect: Connection refused");
	free(reason);
}

TEST(answer, long_words_are_cut)
{
	char body[4001];
	struct ic_http_answer a;
	char *reason;

	memset(body, '\x01', sizeof(body) - 1);
	body[sizeof(body) - 1] = '\0';
	init_answer(&a, 500, NULL, body);
	reason = reason_of(&a, false);
	cr_expect_lt(strlen(reason), 400);
	free(reason);
	clear_answer(&a);
}

/* Some servers and proxies put the request into their error page. */
TEST(answer, repeated_credentials_are_blanked)
{
	static const struct {
		const char *body, *shown;
	} rows[] = {
		{"you sent Basic dXNlcjpwYXNzIHdvcmQ= to us", "you sent Basic ******************** to us"},
		{"wrong password pass word, pass word", "wrong password *********, *********"},
		{"{\"errors\":[{\"code\":\"DENIED\",\"message\":\"user:pa\\u0073s word\"}]}", "403 DENIED (user:*********)"},
		{"a password of others", "a password of others"},
	};
	char secret[] = "pass word";
	struct ic_login login = {.secret = secret};
	const struct ic_answer_context context = {.method = IC_HTTP_GET, .url = URL, .login = &login,
	                                          .authorization = "Authorization: Basic dXNlcjpwYXNzIHdvcmQ="};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_http_answer a;
		struct ic_buf out;

		init_answer(&a, 403, NULL, rows[i].body);
		ic_buf_init(&out, 4096);
		cr_assert_eq(ic_answer_reason(&context, &a, &out, NULL), 0);
		cr_expect(strstr(ic_buf_text(&out), rows[i].shown), "%s", ic_buf_text(&out));
		ic_buf_clear(&out);
		clear_answer(&a);
	}
}

/* However little of a secret the cut leaves, down to what could stand there by chance. */
TEST(answer, cut_credentials_are_blanked)
{
	char secret[] = "!secret with blanks, and (signs) in it!";
	struct ic_login login = {.identity_token = secret};
	const struct ic_answer_context context = {.method = IC_HTTP_GET, .url = URL, .login = &login};

	for (size_t before = 240; before < 320; before++) {
		struct ic_http_answer a;
		struct ic_buf out;
		char body[512];

		snprintf(body, sizeof(body), "%0*d%s", (int)before, 0, secret);
		init_answer(&a, 500, NULL, body);
		ic_buf_init(&out, 4096);
		cr_assert_eq(ic_answer_reason(&context, &a, &out, NULL), 0);
		cr_expect_not(strstr(ic_buf_text(&out), "!sec"), "%zu: %s", before, ic_buf_text(&out));
		ic_buf_clear(&out);
		clear_answer(&a);
	}
}

TEST(answer, web_pages_are_no_registry)
{
	static const struct {
		const char *field, *body;
		bool page;
	} rows[] = {
		{"content-type: text/html; charset=utf-8", "", true}, {NULL, " <!DOCTYPE HTML><html>", true}, {NULL, "<html>", true},
		{"content-type: application/json", "{}", false},       {NULL, "", false},                     {NULL, "<?xml?>", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		static const char version[] = "docker-distribution-api-version: registry/2.0";
		struct ic_http_answer a;

		init_answer(&a, 404, rows[i].field, rows[i].body);
		cr_expect_eq(ic_answer_is_web_page(&a), rows[i].page, "row %zu", i);
		cr_assert_eq(ic_texts_push(&a.header, version, sizeof(version) - 1, NULL), 0);
		cr_expect_not(ic_answer_is_web_page(&a), "row %zu", i);
		clear_answer(&a);
	}
}

/* What the class of a row of the table asks of the verdict. */
static enum imgcheck_verdict wanted_verdict(long status, const char *class)
{
	if (strstr(class, "undecided") || strstr(class, "upstream rate limited") || strstr(class, "registry down") || status == 400)
		return IMGCHECK_VERDICT_SERVER_ERROR;
	if (strncmp(class, "rate limited", 12) == 0)
		return IMGCHECK_VERDICT_RATE_LIMITED;
	if (status == 401)
		return IMGCHECK_VERDICT_UNAUTHORIZED;
	return status == 403 ? IMGCHECK_VERDICT_DENIED : IMGCHECK_VERDICT_NOT_FOUND;
}

/* Words of the class that the reason must have too. */
static const char *wanted_words(const char *class)
{
	static const struct {
		const char *class, *words;
	} rows[] = {
		{"credentials rejected", "the credentials are rejected"}, {"credentials expired", "the credentials have expired"},
		{"checker bug", "will not give to this client"},          {"missing (repository)", "there is no such repository"},
		{"missing or no access", "missing"},                      {"blob missing in storage", "missing in the store"},
		{"client sent Authorization", "refuses the registry's credentials"}, {"may hide", "hide"}, {"upstream", "upstream"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		if (strstr(class, rows[i].class))
			return rows[i].words;
	return "";
}

/* Two rows describe their body in place of showing it. */
static const char *real_body(const char *body)
{
	if (strcmp(body, "(empty)") == 0)
		return "";
	return strstr(body, "NoSuchKey XML") ? "<Error><Code>NoSuchKey</Code></Error>" : body;
}

TEST(answer, agrees_with_the_shared_table)
{
	const char *path = test_shared("facts/error_bodies.tsv");
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *id = test_table_get(t, row, "id"), *class = test_table_get(t, row, "class");
		const char *body = test_table_get(t, row, "body");
		long status = strtol(test_table_get(t, row, "status"), NULL, 10);
		struct ic_http_answer a;
		char *reason;

		init_answer(&a, status, NULL, real_body(body));
		reason = reason_of(&a, strncmp(class, "credentials", 11) == 0);
		cr_expect_eq(ic_answer_verdict(&a), wanted_verdict(status, class), "%s: %s", id, class);
		cr_expect(strstr(reason, wanted_words(class)), "%s: %s: %s", id, class, reason);
		free(reason);
		clear_answer(&a);
	}
	cr_log_info("error_bodies.tsv: %zu rows covered, 0 not", test_table_rows(t));
	test_table_close(t);
}
