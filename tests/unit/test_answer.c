/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define REQUEST "GET https://r/v2/a/manifests/1"

/* Judges an answer with one header field, and gives the reason: new. */
static char *judge(enum ic_http_end end, long status, const char *header, const char *body, enum imgcheck_verdict *verdict)
{
	struct ic_http_answer answer = {.end = end, .status = status, .detail = "cannot connect"};
	struct ic_buf reason;

	ic_buf_init(&reason, 4096);
	ic_buf_init(&answer.body, 1 << 20);
	ic_texts_init(&answer.header, 4);
	cr_assert_eq(ic_buf_add(&answer.body, body, strlen(body), NULL), 0);
	if (header)
		cr_assert_eq(ic_texts_push(&answer.header, header, strlen(header), NULL), 0);
	cr_assert_eq(ic_answer_judge(&answer, REQUEST, verdict, &reason, NULL), 0);
	ic_buf_clear(&answer.body);
	ic_texts_clear(&answer.header);
	return ic_buf_take(&reason);
}

TEST(answer, verdicts_and_reasons)
{
	static const struct {
		enum ic_http_end end;
		long status;
		const char *header, *body;
		enum imgcheck_verdict verdict;
		const char *reason;
	} rows[] = {
		{IC_HTTP_ANSWERED, 404, NULL, "", IMGCHECK_VERDICT_NOT_FOUND, "not found (404 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 404, NULL, "{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\",\"message\":\"manifest unknown\"}]}",
		 IMGCHECK_VERDICT_NOT_FOUND, "manifest unknown (404 MANIFEST_UNKNOWN to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 404, "content-type: text/html", "<h1>nginx</h1>", IMGCHECK_VERDICT_NOT_FOUND,
		 "not found (404 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 401, NULL, "Not Authorized\nmore", IMGCHECK_VERDICT_UNAUTHORIZED,
		 "Not Authorized (401 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 403, NULL, "{\"errors\":[]}", IMGCHECK_VERDICT_DENIED, "missing or no access (403 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 404, NULL, "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code></Error>",
		 IMGCHECK_VERDICT_NOT_FOUND, "not found (404 NoSuchKey to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 412, NULL, "", IMGCHECK_VERDICT_DENIED, "refused by a policy of the registry (412 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 407, NULL, "", IMGCHECK_VERDICT_UNREACHABLE, "the proxy wants credentials (407 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 302, NULL, "", IMGCHECK_VERDICT_SERVER_ERROR, "a redirect that leads nowhere (302 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 418, NULL, "", IMGCHECK_VERDICT_SERVER_ERROR, "an answer that decides nothing (418 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 500, NULL,
		 "{\"errors\":[{\"code\":\"UNKNOWN\",\"message\":\"u\",\"detail\":{\"errors\":[{\"code\":\"DENIED\"},{\"code\":\"X\"}]}}]}",
		 IMGCHECK_VERDICT_SERVER_ERROR, "u (500 UNKNOWN DENIED X to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 200, "content-type: text/html; charset=utf-8", "", IMGCHECK_VERDICT_NOT_A_REGISTRY,
		 "a web page, not a registry's answer text/html; charset=utf-8 (200 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 200, NULL, " <!DOCTYPE html><html>", IMGCHECK_VERDICT_NOT_A_REGISTRY,
		 "a web page, not a registry's answer (200 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 200, "content-type: application/json", "{\"message\":\"x\"}", IMGCHECK_VERDICT_CORRUPT,
		 "an answer of an unexpected media type application/json (200 to " REQUEST ")"},
		{IC_HTTP_ANSWERED, 401, NULL, "\x1b[2J\xff", IMGCHECK_VERDICT_UNAUTHORIZED, "\\x1b[2J\\xff (401 to " REQUEST ")"},
		{IC_HTTP_REFUSED, 0, NULL, "", IMGCHECK_VERDICT_UNREACHABLE, "cannot connect (" REQUEST ")"},
		{IC_HTTP_TLS, 0, NULL, "", IMGCHECK_VERDICT_TLS, "cannot connect (" REQUEST ")"},
		{IC_HTTP_DEADLINE, 0, NULL, "", IMGCHECK_VERDICT_DEADLINE, "cannot connect (" REQUEST ")"},
		{IC_HTTP_STALLED, 0, NULL, "", IMGCHECK_VERDICT_UNREACHABLE, "cannot connect (" REQUEST ")"},
		{IC_HTTP_TOO_LARGE, 200, NULL, "", IMGCHECK_VERDICT_CORRUPT, "cannot connect (" REQUEST ")"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		enum imgcheck_verdict verdict;
		char *reason = judge(rows[i].end, rows[i].status, rows[i].header, rows[i].body, &verdict);

		cr_expect_eq(verdict, rows[i].verdict, "row %zu: %s", i, reason);
		cr_expect_str_eq(reason, rows[i].reason);
		free(reason);
	}
}

TEST(answer, long_words_are_cut)
{
	enum imgcheck_verdict verdict;
	char body[3000], *reason;

	memset(body, 'a', sizeof(body) - 1);
	body[sizeof(body) - 1] = '\0';
	reason = judge(IC_HTTP_ANSWERED, 401, NULL, body, &verdict);
	cr_assert_lt(strlen(reason), 300);
	free(reason);
}

/* What the class of a row of the shared table means as a verdict; 400 decides nothing, whatever it says. */
static enum imgcheck_verdict verdict_of(const char *status, const char *class)
{
	if (strstr(class, "checker bug"))
		return IMGCHECK_VERDICT_SERVER_ERROR;
	if (strcmp(status, "401") == 0)
		return IMGCHECK_VERDICT_UNAUTHORIZED;
	if (strcmp(status, "403") == 0)
		return IMGCHECK_VERDICT_DENIED;
	if (strstr(class, "rate limited") && !strstr(class, "upstream"))
		return IMGCHECK_VERDICT_RATE_LIMITED;
	return strstr(class, "missing") ? IMGCHECK_VERDICT_NOT_FOUND : IMGCHECK_VERDICT_SERVER_ERROR;
}

TEST(answer, judges_as_the_shared_table_says)
{
	const char *path = test_shared("facts/error_bodies.tsv");
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *status = test_table_get(t, row, "status"), *body = test_table_get(t, row, "body");
		enum imgcheck_verdict verdict;
		char *reason = judge(IC_HTTP_ANSWERED, strtol(status, NULL, 10), NULL, strcmp(body, "(empty)") == 0 ? "" : body, &verdict);

		cr_expect_eq(verdict, verdict_of(status, test_table_get(t, row, "class")), "%s: %s", test_table_get(t, row, "id"), reason);
		free(reason);
	}
	test_table_close(t);
}
