/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/redirect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

static int decide(const struct ic_redirect_step *step, long status, const char *location, struct ic_redirect *out,
                  struct imgcheck_error **err)
{
	struct ic_http_answer answer = {.status = status};
	char field[512];
	int result;

	ic_texts_init(&answer.header, 4);
	(void)snprintf(field, sizeof(field), "location: %s", location ? location : "");
	if (location)
		cr_assert_eq(ic_texts_push(&answer.header, field, strlen(field), NULL), 0);
	result = ic_redirect_decide(step, &answer, out, err);
	ic_texts_clear(&answer.header);
	return result;
}

TEST(redirect, who_keeps_the_credentials)
{
	static const struct {
		const char *first, *location;
		bool keep;
	} rows[] = {
		{"https://registry.example.com/v2/a", "https://bucket.s3.amazonaws.com/x", false},
		{"https://registry.example.com/v2/a", "https://registry.example.com/other", true},
		{"https://registry.example.com/v2/a", "/v2/other", true},
		{"https://registry.example.com/v2/a", "https://registry.example.com:8443/x", true},
		{"https://registry.example.com/v2/a", "https://s3.registry.example.com/x", true},
		{"https://registry.example.com/v2/a", "https://REGISTRY.example.com/x", true},
		{"https://registry.example.com/v2/a", "https://example.com/x", false},
		{"https://registry.example.com/v2/a", "https://notregistry.example.com/x", false},
		{"https://registry.example.com/v2/a", "https://xregistry.example.com/x", false},
		{"https://registry.example.com/v2/a", "http://elsewhere.example/x", false},
		{"http://registry.example.com/v2/a", "https://registry.example.com/x", true},
		{"https://[::1]:5000/v2/a", "https://[::1]:5001/x", true},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_redirect_step step = {.method = IC_HTTP_GET, .url = rows[i].first, .first = rows[i].first, .credentials = true};
		struct ic_redirect next;

		cr_assert_eq(decide(&step, 307, rows[i].location, &next, NULL), 0, "%s", rows[i].location);
		cr_assert_not_null(next.url);
		cr_expect_eq(next.keep_credentials, rows[i].keep, "%s", rows[i].location);
		free(next.url);
		step.credentials = false;
		cr_assert_eq(decide(&step, 307, rows[i].location, &next, NULL), 0);
		cr_expect_not(next.keep_credentials, "what was lost does not come back: %s", rows[i].location);
		free(next.url);
	}
}

TEST(redirect, methods_and_answers_that_stand)
{
	static const struct {
		enum ic_http_method method;
		long status;
		const char *location;
		bool follows;
		enum ic_http_method next;
	} rows[] = {
		{IC_HTTP_HEAD, 301, "/x", true, IC_HTTP_HEAD},  {IC_HTTP_HEAD, 303, "/x", true, IC_HTTP_HEAD},
		{IC_HTTP_GET, 302, "/x", true, IC_HTTP_GET},    {IC_HTTP_POST, 301, "/x", true, IC_HTTP_GET},
		{IC_HTTP_POST, 303, "/x", true, IC_HTTP_GET},   {IC_HTTP_POST, 307, "/x", true, IC_HTTP_POST},
		{IC_HTTP_POST, 308, "/x", true, IC_HTTP_POST},  {IC_HTTP_GET, 307, NULL, false, IC_HTTP_GET},
		{IC_HTTP_GET, 302, NULL, false, IC_HTTP_GET},   {IC_HTTP_GET, 302, "", false, IC_HTTP_GET},
		{IC_HTTP_GET, 300, "/x", false, IC_HTTP_GET},   {IC_HTTP_GET, 304, "/x", false, IC_HTTP_GET},
		{IC_HTTP_GET, 200, "/x", false, IC_HTTP_GET},   {IC_HTTP_GET, 404, "/x", false, IC_HTTP_GET},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_redirect_step step = {.method = rows[i].method, .url = "https://r/a", .first = "https://r/a"};
		struct ic_redirect next;

		cr_assert_eq(decide(&step, rows[i].status, rows[i].location, &next, NULL), 0);
		cr_expect_eq(next.url != NULL, rows[i].follows, "row %zu", i);
		cr_expect_eq(next.method, rows[i].next, "row %zu", i);
		free(next.url);
	}
}

TEST(redirect, what_is_written_stays_on_its_host)
{
	static const struct {
		long status;
		const char *location;
		bool follows;
	} rows[] = {
		{307, "/x", true},
		{308, "https://r.example:8443/x", true},
		{307, "https://s.r.example/x", true},
		{307, "https://elsewhere.example/x", false},
		{307, "http://r.example/x", false},
		{301, "/x", false},
		{302, "/x", false},
		{303, "/x", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		for (int credentials = 0; credentials < 2; credentials++) {
			struct ic_redirect_step step = {.method = IC_HTTP_PUT, .url = "https://r.example/a", .first = "https://r.example/a",
			                                .credentials = credentials};
			struct ic_redirect next;

			cr_expect_eq(decide(&step, rows[i].status, rows[i].location, &next, NULL),
			             rows[i].follows ? 0 : IMGCHECK_ERR_SYNTAX, "row %zu", i);
			cr_expect_eq(next.url != NULL, rows[i].follows, "row %zu", i);
			cr_expect_eq(next.method, IC_HTTP_PUT);
			free(next.url);
		}
}

TEST(redirect, what_is_refused)
{
	static const struct {
		const char *url, *location;
		unsigned hops;
		bool credentials;
		int code;
		const char *why;
	} rows[] = {
		{"https://r/a", "/x", IC_MAX_REDIRECTS, false, IMGCHECK_ERR_LIMIT, "more than 9 redirects"},
		{"https://r/a", "http://r/x", 0, true, IMGCHECK_ERR_SYNTAX, "from https to http with credentials"},
		{"https://r/a", "file:///x", 0, false, IMGCHECK_ERR_SYNTAX, "scheme"},
		{"https://r/a", "https://u:p@r/x", 0, false, IMGCHECK_ERR_SYNTAX, "user information"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_redirect_step step = {.url = rows[i].url, .first = rows[i].url, .hops = rows[i].hops,
		                                .credentials = rows[i].credentials};
		struct imgcheck_error *err = NULL;
		struct ic_redirect next;

		cr_expect_eq(decide(&step, 302, rows[i].location, &next, &err), rows[i].code, "row %zu", i);
		cr_expect_null(next.url);
		cr_expect(strstr(imgcheck_error_message(err), rows[i].why), "%s", imgcheck_error_message(err));
		imgcheck_error_free(err);
	}
}

/* "307 https://host/..." of the table: status, and where to; NULL where it tells none. */
static const char *location_of(const char *answer, char *out, size_t size)
{
	const char *at = strstr(answer, "https://");

	if (!at)
		at = strstr(answer, " /");
	if (!at)
		return NULL;
	at += *at == ' ';
	(void)snprintf(out, size, "%.*s", (int)strcspn(at, " "), at);
	return out;
}

static bool is_as_told(const char *answer, const char *rule, int result, const struct ic_redirect *next)
{
	if (strstr(answer, "11 redirects"))
		return result == IMGCHECK_ERR_LIMIT;
	if (strstr(rule, "method stays HEAD"))
		return result == 0 && next->method == IC_HTTP_HEAD && next->url;
	if (strstr(answer, "without Location"))
		return result == 0 && !next->url;
	return result == 0 && next->url && next->keep_credentials == (strncmp(rule, "yes", 3) == 0);
}

TEST(redirect, agrees_with_the_shared_table)
{
	const char *path = test_shared("facts/redirects.tsv");
	size_t covered = 0;
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *id = test_table_get(t, row, "id"), *from = test_table_get(t, row, "from");
		const char *answer = test_table_get(t, row, "answer"), *rule = test_table_get(t, row, "go_clients_send_Authorization_on");
		bool many = strstr(answer, "11 redirects"), head = strncmp(answer, "HEAD", 4) == 0;
		struct ic_redirect_step step = {.method = head ? IC_HTTP_HEAD : IC_HTTP_GET, .url = from, .first = from,
		                                .hops = many ? 10 : 0, .credentials = true};
		char buffer[256];
		const char *to = many || head ? "/x" : location_of(answer, buffer, sizeof(buffer));
		struct ic_redirect next;
		int result = decide(&step, strtol(head ? answer + 5 : many ? "307" : answer, NULL, 10), to, &next, NULL);

		cr_expect(is_as_told(answer, rule, result, &next), "%s", id);
		covered++;
		free(next.url);
	}
	cr_log_info("redirects.tsv: %zu rows covered, 0 not", covered);
	test_table_close(t);
}
