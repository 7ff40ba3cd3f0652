/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/http.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/limits.h"
#include "fault.h"
#include "got.h"
#include "test.h"

#define URL_BYTES 256

static struct ic_http *start(ic_msec time)
{
	struct ic_http *h = NULL;

	cr_assert_eq(ic_http_new(NULL, 0, ic_clock_now() + time, &h, NULL), 0);
	return h;
}

/* Submits a GET of base + path, with what else the caller has set in the request. */
static void submit(struct ic_http *h, struct ic_http_request request, const char *base, const char *path, struct got *g)
{
	char url[URL_BYTES];

	(void)snprintf(url, sizeof(url), "%s%s", base, path);
	request.url = url;
	request.proxy = request.proxy ? request.proxy : "";
	*g = (struct got){0};
	cr_assert_eq(ic_http_submit(h, &request, done, g, NULL), 0);
	memset(url, 'x', sizeof(url)); /* it was copied */
}

static struct got ask(struct ic_http_request request, const char *base, const char *path, ic_msec time)
{
	struct ic_http *h = start(time);
	struct got g;

	submit(h, request, base, path, &g);
	run(h);
	ic_http_free(h);
	cr_assert_eq(g.calls, 1, "%s: called back %zu times", path, g.calls);
	return g;
}

static const struct ic_http_request get = {.method = IC_HTTP_GET, .max_body = 1000};

static size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	cr_assert(folder);
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

/* ------------------------------------------------------------------ single answers */

static const struct {
	const char *path;
	enum ic_http_method method;
	bool first_byte;
	enum ic_http_end end;
	long status;
	size_t len;
	bool cut;
	const char *detail; /* begins with */
} answers[] = {
	{"/good", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 20, false, ""},
	{"/good", IC_HTTP_HEAD, false, IC_HTTP_ANSWERED, 200, 0, false, ""},
	{"/chunked", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 11, false, ""},
	{"/until-close", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 5, false, ""},
	{"/form", IC_HTTP_POST, false, IC_HTTP_ANSWERED, 200, 6, false, ""},
	{"/none", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 204, 0, false, ""},
	{"/missing", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 404, 20, false, ""},
	{"/elsewhere", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 307, 0, false, ""},
	{"/interim", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 20, false, ""},
	{"/zipped", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer's encoding is broken"},
	{"/zipped-otherwise", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 20, false, ""},
	{"/zipped-twice", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 20, false, ""},
	{"/zipped-by-interim", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 20, false, ""},

	{"/range", IC_HTTP_GET, true, IC_HTTP_ANSWERED, 206, 1, false, ""},
	{"/whole", IC_HTTP_GET, true, IC_HTTP_ANSWERED, 200, 1, true, ""},
	{"/empty", IC_HTTP_GET, true, IC_HTTP_ANSWERED, 200, 0, false, ""},
	{"/first-then-nothing", IC_HTTP_GET, true, IC_HTTP_ANSWERED, 200, 1, true, ""},
	{"/missing", IC_HTTP_GET, true, IC_HTTP_ANSWERED, 404, 20, false, ""},

	{"/exact", IC_HTTP_GET, false, IC_HTTP_ANSWERED, 200, 1000, false, ""},
	{"/long", IC_HTTP_GET, false, IC_HTTP_TOO_LARGE, 200, 0, false, "the answer is too large"},
	{"/long-chunked", IC_HTTP_GET, false, IC_HTTP_TOO_LARGE, 200, 1000, false, "the answer is too large"},
	{"/endless-fields", IC_HTTP_GET, false, IC_HTTP_FAILED, 0, 0, false, "the header of the answer is too large"},
	{"/many-fields", IC_HTTP_GET, false, IC_HTTP_FAILED, 0, 0, false, "the header of the answer is too large"},
	{"/endless-field", IC_HTTP_GET, false, IC_HTTP_FAILED, 0, 0, false, "the header of the answer is too large"},
	{"/endless-interim", IC_HTTP_GET, false, IC_HTTP_FAILED, 0, 0, false, "the header of the answer is too large"},

	{"/reset", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the connection broke: "},
	{"/close", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the connection was closed without an answer"},
	{"/reset-in-header", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the connection broke: "},
	{"/cut-in-header", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer was cut short"},
	{"/interim-only", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the connection was closed without an answer"},
	{"/cut", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer was cut short"},
	{"/cut-chunk", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer was cut short"},
	{"/bad-chunk", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the connection broke: "},
	{"/garbage", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer is not HTTP"},
	{"/ssh", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer is not HTTP"},
	{"/bad-length", IC_HTTP_GET, false, IC_HTTP_BROKEN, 0, 0, false, "the answer is not HTTP"},
};

TEST(http, tells_how_each_request_ended)
{
	struct fault server;

	fault_start_file(&server, "answers");
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct ic_http_request request = get;
		struct got g;

		request.method = answers[i].method;
		request.first_byte = answers[i].first_byte;
		request.body = answers[i].method == IC_HTTP_POST ? "a=1&b=2" : NULL;
		request.body_len = 7;
		g = ask(request, server.base, answers[i].path, 20000);
		cr_expect_eq(g.end, answers[i].end, "%s: end %d, %s", answers[i].path, g.end, g.detail);
		cr_expect_eq(g.status, answers[i].status, "%s: status %ld", answers[i].path, g.status);
		cr_expect_eq(g.len, answers[i].len, "%s: %zu bytes", answers[i].path, g.len);
		cr_expect_eq(g.cut, answers[i].cut, "%s: cut %d", answers[i].path, g.cut);
		cr_expect_eq(strncmp(g.detail, answers[i].detail, strlen(answers[i].detail)), 0, "%s: %s", answers[i].path, g.detail);
		cr_expect((*answers[i].detail != '\0') == (*g.detail != '\0'), "%s: %s", answers[i].path, g.detail);
		if (g.end == IC_HTTP_ANSWERED)
			cr_expect_eq(g.version, 1);
	}
	cr_assert_eq(fault_requests(&server, "*no rule"), 0);
	fault_stop(&server);
}

TEST(http, ends_what_stalls_or_drips)
{
	static const char *const paths[] = {"/stall", "/stall-in-header", "/stall-in-body", "/drip", "/drip-header"};
	struct got good, got[5];
	struct fault server;
	struct ic_http *h;
	ic_msec began;

	fault_start_file(&server, "answers");
	/* a third of the time is what each may take, and libcurl looks once a second */
	h = start(6000);
	began = ic_clock_now();
	submit(h, get, server.base, "/good", &good);
	for (size_t i = 0; i < 5; i++)
		submit(h, get, server.base, paths[i], &got[i]);
	run(h);
	ic_http_free(h);
	for (size_t i = 0; i < 5; i++) {
		cr_expect_eq(got[i].end, IC_HTTP_STALLED, "%s: end %d, %s", paths[i], got[i].end, got[i].detail);
		cr_expect_str_eq(got[i].detail, "the server sends nothing, or hardly anything");
		cr_expect_leq(got[i].at - began, 5000);
	}
	fault_stop(&server);
}

/* ------------------------------------------------------------------ what is sent, what is kept */

static void keep_fields(void *arg, const struct ic_http_answer *answer)
{
	bool *called = arg;

	cr_expect_str_eq(ic_http_header(answer, "x-two", 0), "one");
	cr_expect_str_eq(ic_http_header(answer, "x-two", 1), "two");
	cr_expect_null(ic_http_header(answer, "x-two", 2));
	cr_expect_null(ic_http_header(answer, "x-tw", 0));
	cr_expect_str_eq(ic_http_header(answer, "x-folded", 0), "a b");
	cr_expect_str_eq(ic_http_header(answer, "x-empty", 0), "");
	cr_expect_str_eq(ic_texts_get(&answer->header, 0), "x-two: one");
	*called = true;
}

TEST(http, gives_header_fields_by_name)
{
	struct ic_http *h = start(10000);
	struct fault server;
	struct ic_http_request request = get;
	char url[URL_BYTES];
	bool called = false;

	fault_start_file(&server, "answers");
	(void)snprintf(url, sizeof(url), "%s/headers", server.base);
	request.url = url;
	request.proxy = "";
	cr_assert_eq(ic_http_submit(h, &request, keep_fields, &called, NULL), 0);
	run(h);
	cr_assert(called);
	ic_http_free(h);
	fault_stop(&server);
}

TEST(http, puts_the_bytes_that_it_gets)
{
	static const char *const header[] = {"Content-Type: a/b", NULL};
	struct ic_http_request request = {.method = IC_HTTP_PUT, .header = header, .body = "a\"b;0", .body_len = 4, .max_body = 100};
	struct fault server;
	char *log;

	fault_start(&server, "on PUT *\nstatus 201 Created\n");
	cr_expect_eq(ask(request, server.base, "/a", 10000).status, 201);
	log = fault_log(&server);
	cr_expect(strstr(log, "PUT /a\n"), "%s", log);
	cr_expect(strstr(log, "\tcontent-length: 4\n"), "%s", log);
	cr_expect(strstr(log, "\tcontent-type: a/b\n"), "%s", log);
	cr_expect(strstr(log, "\t= a\"b;\n"), "%s", log);
	free(log);
	fault_stop(&server);
}

TEST(http, sends_what_was_asked_and_no_more)
{
	static const char *const header[] = {"Accept: a/b", "Authorization: Bearer secret", NULL};
	struct ic_http_request request = {.method = IC_HTTP_POST, .header = header, .body = "a=1", .body_len = 3, .max_body = 100};
	struct fault server;
	char *log;

	fault_start(&server, "on * *\nstatus 200 OK\n");
	cr_assert_eq(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	cr_expect_eq(ask(request, server.base, "/a?b=c", 10000).end, IC_HTTP_ANSWERED);
	cr_assert_eq(setenv("http_proxy", server.base, 1), 0);
	cr_assert_eq(setenv("no_proxy", "*", 1), 0);
	request = get;
	request.proxy = server.base;
	cr_expect_eq(ask(request, "http://registry.invalid", "/through", 10000).status, 200, "NO_PROXY counts");
	log = fault_log(&server);
	cr_expect(strstr(log, "POST /a?b=c\n\thost: 127.0.0.1:"));
	cr_expect(strstr(log, "\n\tuser-agent: imgcheck/" IMGCHECK_VERSION "\n\taccept-encoding: identity\n"
	                      "\taccept: a/b\n\tauthorization: Bearer secret\n\tcontent-length: 3\n"
	                      "\tcontent-type: application/x-www-form-urlencoded\n\t= a=1\n"), "%s", log);
	cr_expect(strstr(log, "GET http://registry.invalid/through\n"), "%s", log);
	free(log);
	fault_stop(&server);
}

TEST(http, refuses_what_is_no_http_url)
{
	static const char *const urls[] = {"file:///etc/passwd", "ftp://127.0.0.1/", "", "127.0.0.1", "http://",
	                                   "gopher://127.0.0.1:1/x", "http://user:secret@127.0.0.1:1/", "http://a b/", "//127.0.0.1/"};

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct got g = ask(get, urls[i], "", 10000);

		cr_expect_eq(g.end, IC_HTTP_FAILED, "%s: end %d", urls[i], g.end);
		cr_expect_str_eq(g.detail, "not an http or https URL");
	}
	cr_expect_eq(ask(get, "http://127.0.0.1:99999/", "", 10000).end, IC_HTTP_FAILED);
}

/* ------------------------------------------------------------------ hosts that cannot be reached */

TEST(http, tells_why_there_is_no_connection)
{
	struct ic_http_request proxied = get;
	struct fault server;
	struct got g;

	fault_start(&server, "on CONNECT *\nstatus 407 Proxy Authentication Required\n");
	g = ask(get, "http://127.0.0.1:1", "/", 10000);
	cr_expect_eq(g.end, IC_HTTP_REFUSED);
	cr_expect_str_eq(g.detail, "cannot connect: connection refused");
	g = ask(get, "http://registry.invalid", "/", 10000);
	cr_expect_eq(g.end, IC_HTTP_UNRESOLVED);
	cr_expect_str_eq(g.detail, "cannot find an address for this host name");
	proxied.proxy = "http://user:secret@proxy.invalid:3128";
	g = ask(proxied, "http://registry.invalid", "/", 10000);
	cr_expect_eq(g.end, IC_HTTP_UNRESOLVED);
	cr_expect_str_eq(g.detail, "cannot find an address for the proxy's host name");
	proxied.proxy = server.base;
	g = ask(proxied, "https://registry.invalid", "/", 10000);
	cr_expect_eq(g.end, IC_HTTP_REFUSED, "end %d", g.end);
	cr_expect_str_eq(g.detail, "the proxy refuses the connection (status 407)");
	cr_expect_eq(g.status, 0);
	fault_stop(&server);
}

TEST(http, those_that_wait_share_the_end_of_the_first)
{
	struct ic_http *h = start(20000);
	struct fault server;
	struct got got[300];

	fault_start(&server, "accept\nreset\n");
	for (size_t i = 0; i < 300; i++)
		submit(h, get, "https://127.0.0.1:1", "/", &got[i]);
	run(h);
	for (size_t i = 0; i < 300; i++)
		cr_expect(got[i].calls == 1 && got[i].end == IC_HTTP_REFUSED);
	for (size_t i = 0; i < 300; i++)
		submit(h, get, "https:", strchr(server.base, '/'), &got[i]);
	run(h);
	for (size_t i = 0; i < 300; i++)
		cr_expect(got[i].calls == 1 && got[i].end == IC_HTTP_REFUSED, "end %d: %s", got[i].end, got[i].detail);
	cr_expect_eq(fault_connections(&server), 1);
	ic_http_free(h);
	fault_stop(&server);
}

/* ------------------------------------------------------------------ many at once */

#define MANY 200

static const char slow_script[] = "on * *\ndelay 20\nstatus 200 OK\nbody x\n";

TEST(http, runs_sixteen_at_once_behind_the_first)
{
	static struct got got[MANY];
	struct ic_http *h = start(20000);
	struct fault server;
	char *log, path[32];

	fault_start(&server, slow_script);
	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(path, sizeof(path), "/%zu", i);
		submit(h, get, server.base, path, &got[i]);
	}
	run(h);
	for (size_t i = 0; i < MANY; i++)
		cr_expect(got[i].calls == 1 && got[i].end == IC_HTTP_ANSWERED);
	cr_expect_eq(fault_requests(&server, "GET /*"), MANY, "each is asked once");
	cr_expect_eq(fault_most_at_once(&server), 16);
	cr_expect_eq(fault_connections(&server), 16);
	log = fault_log(&server);
	cr_expect_eq(strncmp(log, "1 open\n1 GET /0\n", 16), 0);
	cr_expect_lt((size_t)strstr(log, "1 answered\n"), (size_t)strstr(log, "2 open\n"), "the first goes alone");
	for (size_t i = 0; i + 40 < MANY; i++) { /* in order, give or take who is served first */
		char before[32], after[32];

		(void)snprintf(before, sizeof(before), " GET /%zu\n", i);
		(void)snprintf(after, sizeof(after), " GET /%zu\n", i + 40);
		cr_expect_lt((size_t)strstr(log, before), (size_t)strstr(log, after));
	}
	free(log);
	ic_http_free(h);
	fault_stop(&server);
}

TEST(http, cuts_two_bodies_at_once)
{
	static struct got got[40];
	struct ic_http_request cut = get;
	struct ic_http *h = start(55000); /* no test of time: a busy machine may take long over the large bodies */
	struct fault server;

	fault_start(&server, "on GET /cut\ndelay 10\nstatus 200 OK\nbody-size 10000000\non * *\ndelay 10\nstatus 200 OK\nbody x\n");
	cut.first_byte = true;
	for (size_t i = 0; i < 40; i++)
		submit(h, i % 2 ? cut : get, server.base, i % 2 ? "/cut" : "/plain", &got[i]);
	run(h);
	for (size_t i = 0; i < 40; i++)
		cr_expect(got[i].end == IC_HTTP_ANSWERED && got[i].len == 1 && got[i].cut == (i % 2 == 1), "request %zu: end %d, %zu bytes",
		          i, got[i].end, got[i].len);
	cr_expect_leq(fault_connections(&server), 16 + 20);
	cr_expect_leq(fault_most_at_once(&server), 16);
	ic_http_free(h);
	fault_stop(&server);
}

TEST(http, a_host_that_hangs_does_not_keep_the_others_waiting)
{
	static struct got hanging[MANY], quick[MANY];
	struct ic_http *h = start(60000);
	struct fault bad, good;
	size_t answered = 0;

	fault_start(&bad, "on GET /first\nstatus 200 OK\non * *\nstall\n");
	fault_start(&good, slow_script);
	submit(h, get, bad.base, "/first", &hanging[0]);
	for (size_t i = 1; i < MANY; i++)
		submit(h, get, bad.base, "/", &hanging[i]);
	for (size_t i = 0; i < MANY; i++)
		submit(h, get, good.base, "/", &quick[i]);
	while (answered < MANY && ic_http_step(h, -1, NULL) > 0) {
		answered = 0;
		for (size_t i = 0; i < MANY; i++)
			answered += quick[i].calls && quick[i].end == IC_HTTP_ANSWERED;
	}
	cr_expect_eq(answered, (size_t)MANY);
	cr_expect_eq(hanging[MANY - 1].calls, 0U, "still waiting while all others are answered");
	ic_http_cancel(h);
	run(h);
	cr_expect_eq(hanging[MANY - 1].end, IC_HTTP_DEADLINE);
	ic_http_free(h);
	fault_stop(&bad);
	fault_stop(&good);
}

TEST(http, fewer_at_once_where_the_server_asks_for_it)
{
	static struct got got[MANY];
	struct ic_http *h = start(20000);
	struct fault server;
	char *log, *at;
	size_t in_a_row = 0;

	fault_start(&server, "on GET /first\nstatus 200 OK\n"
	                     "on * *\ntimes 16\ndelay 20\nstatus 429 Too Many\non * *\ndelay 20\nstatus 200 OK\n");
	submit(h, get, server.base, "/first", &got[0]);
	for (size_t i = 1; i < MANY; i++)
		submit(h, get, server.base, "/", &got[i]);
	run(h);
	log = fault_log(&server);
	/* behind the sixteenth refusal the next goes out alone: its answer comes before another request */
	at = strstr(log, "GET /\n");
	for (char *next = at; next && (next = strstr(next, "answered\n")); next += strlen("answered\n")) {
		char *answer = strstr(next + 1, "answered\n"), *request = strstr(next + 1, "GET /\n");

		in_a_row += answer && request && request < answer && strstr(request + 1, "GET /\n") > answer;
	}
	cr_expect_gt(in_a_row, 0);
	cr_expect_eq(fault_requests(&server, "GET /*"), MANY);
	free(log);
	ic_http_free(h);
	fault_stop(&server);
}

static void turn_away(void *arg, const struct ic_http_answer *answer)
{
	ic_http_turn_away(answer->status == 200 ? arg : NULL);
}

TEST(http, a_host_that_is_turned_away_from_gets_nothing_more)
{
	struct ic_http *h = start(20000);
	struct fault server;
	struct got got;

	fault_start(&server, "on * *\nstatus 200 OK\n");
	cr_assert_eq(ic_http_submit(h, &(struct ic_http_request){.url = server.base, .proxy = ""}, turn_away, h, NULL), 0);
	submit(h, get, server.base, "/", &got);
	run(h);
	cr_expect(got.end == IC_HTTP_UNSENT && fault_requests(&server, "* /*") == 1, "%d: %s", got.end, got.detail);
	ic_http_free(h);
	fault_stop(&server);
}

/* ------------------------------------------------------------------ time */

TEST(http, waits_for_the_time_of_a_retry_and_of_a_held_host)
{
	struct ic_http *h = start(10000);
	struct ic_http_request later = get;
	struct fault server;
	struct got first, held, retry, late;
	ic_msec began = ic_clock_now();

	fault_start(&server, "on * *\nstatus 200 OK\n");
	submit(h, get, server.base, "/first", &first);
	later.not_before = began + 300;
	submit(h, later, server.base, "/retry", &retry);
	later.not_before = began + 11000;
	submit(h, later, server.base, "/late", &late);
	run(h);
	cr_expect_lt(first.at - began, 200);
	cr_expect(retry.end == IC_HTTP_ANSWERED && retry.at - began >= 300 && retry.at - began < 1000);
	cr_expect_eq(late.end, IC_HTTP_DEADLINE);
	cr_expect_lt(late.at - began, 200, "at once, since it can never be sent");
	cr_expect_eq(fault_requests(&server, "GET /late"), 0);
	began = ic_clock_now();
	ic_http_hold(h, server.base, began + 200);
	ic_http_hold(h, server.base, began + 60000);
	submit(h, get, server.base, "/held", &held);
	run(h);
	cr_expect(held.end == IC_HTTP_ANSWERED && held.at - began >= 200 && held.at - began < 1000);
	ic_http_free(h);
	fault_stop(&server);
}

TEST(http, ends_everything_at_the_deadline)
{
	static struct got got[MANY];
	struct ic_http_request later = get;
	ic_msec began = ic_clock_now();
	struct ic_http *h = start(500);
	struct fault server;

	fault_start(&server, "on GET /first\nstatus 200 OK\non * *\nstall\n");
	submit(h, get, server.base, "/first", &got[0]);
	later.not_before = began + 400;
	for (size_t i = 1; i < MANY; i++)
		submit(h, i % 2 ? get : later, server.base, "/", &got[i]);
	run(h);
	cr_expect_eq(got[0].end, IC_HTTP_ANSWERED);
	for (size_t i = 1; i < MANY; i++) {
		cr_expect(got[i].calls == 1 && got[i].end == IC_HTTP_DEADLINE, "end %d", got[i].end);
		cr_expect_str_eq(got[i].detail, "out of time");
	}
	cr_expect(ic_clock_now() - began >= 500 && ic_clock_now() - began < 1000);
	submit(h, get, server.base, "/first", &got[0]);
	run(h);
	cr_expect_eq(got[0].end, IC_HTTP_DEADLINE, "nothing starts behind the deadline");
	ic_http_free(h);
	fault_stop(&server);
}

static struct ic_http *to_cancel;

static void on_alarm(int number)
{
	(void)number;
	ic_http_cancel(to_cancel);
}

TEST(http, is_cancelled_from_a_signal_handler)
{
	struct sigaction action = {.sa_handler = on_alarm}, old;
	struct itimerval soon = {.it_value = {0, 100000}};
	struct got got[20];
	struct fault server;

	fault_start(&server, "on * *\nstall\n");
	to_cancel = start(60000);
	for (size_t i = 0; i < 20; i++)
		submit(to_cancel, get, server.base, "/", &got[i]);
	cr_assert_eq(sigaction(SIGALRM, &action, &old), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	run(to_cancel);
	cr_assert_eq(sigaction(SIGALRM, &old, NULL), 0);
	for (size_t i = 0; i < 20; i++) {
		cr_expect(got[i].calls == 1 && got[i].end == IC_HTTP_DEADLINE);
		cr_expect_str_eq(got[i].detail, "cancelled");
	}
	ic_http_free(to_cancel);
	fault_stop(&server);
}

/* A network of its own with nothing in it but a name server that never answers; false where that is not allowed. */
static bool enter_silent_network(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	char path[] = "/tmp/imgcheck-test-XXXXXX";
	int fd = test_file(path), server;
	bool mounted;

	cr_assert(fd >= 0 && write(fd, "nameserver 127.0.0.1\n", 21) == 21 && close(fd) == 0);
	mounted = unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
	          mount(path, "/etc/resolv.conf", "none", MS_BIND, NULL) == 0;
	(void)unlink(path);
	if (!mounted)
		return false;
	server = socket(AF_INET, SOCK_DGRAM, 0);
	cr_assert_geq(server, 0);
	cr_assert_eq(ioctl(server, SIOCSIFFLAGS, &loopback), 0);
	cr_assert_eq(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	return true;
}

TEST(http, a_silent_name_server_does_not_hold_up_the_end)
{
	static struct got got[10];
	struct ic_http *h;
	ic_msec began;

	if (geteuid() != 0)
		cr_skip("only root can make a network");
	if (!enter_silent_network())
		cr_skip("no network of its own is allowed here");
	began = ic_clock_now();
	h = start(600);
	for (size_t i = 0; i < 10; i++)
		submit(h, get, i % 2 ? "http://a.example" : "https://b.example:5000", "/", &got[i]);
	run(h);
	ic_http_free(h);
	cr_expect_lt(ic_clock_now() - began, 1500);
	for (size_t i = 0; i < 10; i++) {
		cr_expect_eq(got[i].calls, 1);
		cr_expect_eq(got[i].end, IC_HTTP_UNRESOLVED, "end %d", got[i].end);
		cr_expect_str_eq(got[i].detail, "the name server does not answer");
	}
}

/* ------------------------------------------------------------------ the loop from outside */

TEST(http, one_descriptor_tells_when_to_step)
{
	static struct got got[20];
	struct ic_http *h = start(10000);
	struct pollfd polled = {.fd = ic_http_fd(h), .events = POLLIN};
	struct ic_http_request later = get;
	struct fault server;
	size_t quiet = 0;
	int left = 1;

	fault_start(&server, "on * *\ndelay 50\nstatus 200 OK\nbody x\n");
	later.not_before = ic_clock_now() + 300;
	cr_assert_eq(ic_http_step(h, -1, NULL), 0, "nothing to do, so it does not wait");
	for (size_t i = 0; i < 20; i++)
		submit(h, i ? get : later, server.base, "/", &got[i]);
	while (left > 0) {
		cr_assert_eq(poll(&polled, 1, 5000), 1, "no word within 5 s");
		left = ic_http_step(h, 0, NULL);
		quiet++;
	}
	cr_assert_eq(left, 0);
	cr_expect_lt(quiet, 500, "it wakes up %zu times for 20 requests", quiet);
	for (size_t i = 0; i < 20; i++)
		cr_expect_eq(got[i].end, IC_HTTP_ANSWERED);
	ic_http_free(h);
	fault_stop(&server);
}

struct chain {
	struct ic_http *h;
	const char *base;
	size_t left;
};

static void go_on(void *arg, const struct ic_http_answer *answer)
{
	struct chain *c = arg;
	struct ic_http_request next = get;

	cr_assert_eq(answer->end, IC_HTTP_ANSWERED);
	next.url = c->base;
	next.proxy = "";
	if (c->left-- > 0)
		cr_assert_eq(ic_http_submit(c->h, &next, go_on, c, NULL), 0);
}

TEST(http, takes_more_requests_while_calling_back)
{
	struct fault server;
	struct chain chain;
	struct ic_http_request first = get;

	fault_start(&server, "on * *\nstatus 200 OK\nbody x\n");
	chain = (struct chain){start(10000), server.base, 49};
	first.url = server.base;
	first.proxy = "";
	cr_assert_eq(ic_http_submit(chain.h, &first, go_on, &chain, NULL), 0);
	run(chain.h);
	cr_expect_eq(fault_requests(&server, "GET /"), 50);
	cr_expect_eq(fault_connections(&server), 1);
	ic_http_free(chain.h);
	fault_stop(&server);
}

TEST(http, frees_what_still_runs_without_calling_back)
{
	static struct got got[MANY];
	struct fault server;
	size_t files;
	struct ic_http *h;

	fault_start(&server, "on GET /first\nstatus 200 OK\non * *\nstatus 200 OK\nheader Content-Length: 5\nend\nsend x\nstall\n");
	files = open_files();
	h = start(10000);
	submit(h, get, server.base, "/first", &got[0]);
	for (size_t i = 1; i < MANY; i++)
		submit(h, get, server.base, "/", &got[i]);
	while (fault_requests(&server, "GET /*") < 17)
		cr_assert_eq(ic_http_step(h, 100, NULL), 1);
	ic_http_free(h);
	cr_expect_eq(got[0].calls, 1);
	for (size_t i = 1; i < MANY; i++)
		cr_expect_eq(got[i].calls, 0);
	cr_expect_eq(open_files(), files);
	ic_http_free(NULL);
	fault_stop(&server);
}

TEST(http, gets_by_with_few_descriptors)
{
	struct fault server;
	struct rlimit limit, old;
	size_t failed = 0, answered = 0;

	fault_start(&server, "on * *\nstatus 200 OK\nbody x\n");
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	limit = old;
	for (size_t more = 0; more < 16; more++) {
		struct imgcheck_error *err = NULL;
		struct ic_http *h = NULL;
		struct got got[4];
		size_t open = open_files();

		limit.rlim_cur = open - 1 + more; /* the folder that was counted is closed again */
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		if (ic_http_new(NULL, 0, ic_clock_now() + 5000, &h, &err) < 0) {
			cr_expect_eq(imgcheck_error_code(err), IMGCHECK_ERR_INTERNAL, "%s", imgcheck_error_message(err));
			failed++;
		} else {
			for (size_t i = 0; i < 4; i++)
				submit(h, get, server.base, "/", &got[i]);
			run(h);
			for (size_t i = 0; i < 4; i++)
				answered += got[i].calls == 1 && got[i].end == IC_HTTP_ANSWERED;
		}
		imgcheck_error_free(err);
		ic_http_free(h);
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
		cr_expect_eq(open_files(), open);
	}
	cr_expect_gt(failed, 0);
	cr_expect_gt(answered, 0);
	fault_stop(&server);
}

/* ------------------------------------------------------------------ memory */

/* Peak of resident memory so far, in KiB. */
static size_t peak(void)
{
	struct rusage usage;

	cr_assert_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return (size_t)usage.ru_maxrss;
}

TEST(http, bodies_share_one_budget)
{
	static struct got got[3][50];
	struct ic_http *h = start(40000);
	struct ic_http_request request = get;
	struct fault servers[3];
	size_t before = peak();

	request.max_body = IC_MAX_MANIFEST_BYTES;
	for (size_t s = 0; s < 3; s++) {
		fault_start(&servers[s], "on GET /first\nstatus 200 OK\non * *\nstatus 200 OK\nbody-size 4393216\n");
		submit(h, request, servers[s].base, "/first", &got[s][0]);
		for (size_t i = 1; i < 50; i++)
			submit(h, request, servers[s].base, "/", &got[s][i]);
	}
	run(h);
	for (size_t s = 0; s < 3; s++) {
		for (size_t i = 1; i < 50; i++)
			cr_expect(got[s][i].calls == 1 && got[s][i].end == IC_HTTP_ANSWERED && got[s][i].len == IC_MAX_MANIFEST_BYTES);
		cr_expect_leq(fault_requests(&servers[s], "GET /"), 2 * 49, "given up more than once");
		fault_stop(&servers[s]);
	}
	if (!__lsan_do_recoverable_leak_check) /* the sanitizer keeps what is freed */
		cr_expect_leq(peak() - before, (IC_MAX_BODIES_BYTES >> 10) + 8192, "%zu KiB more", peak() - before);
	ic_http_free(h);
}

TEST(http, no_body_is_larger_than_half_the_budget)
{
	struct ic_http_request request = get;
	char script[2048];
	struct fault server;
	struct got g;

	(void)snprintf(script, sizeof(script),
	               "on * *\nstatus 200 OK\nheader Transfer-Encoding: chunked\nend\nrepeat 400\\r\\n%01024d\\r\\n\n", 0);
	fault_start(&server, script);
	request.max_body = SIZE_MAX;
	g = ask(request, server.base, "/", 60000);
	cr_expect_eq(g.end, IC_HTTP_TOO_LARGE, "end %d", g.end);
	cr_expect_leq(g.len, IC_MAX_BODIES_BYTES / 2);
	cr_expect_leq(fault_requests(&server, "GET /"), 2);
	fault_stop(&server);
}
