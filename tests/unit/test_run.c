/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted.h"

#include "imgcheck.h"
#include "manifest/images.h"
#include "registry/run.h"
#include "registry/session.h"

/* A run as a whole: what it shares, tells and leaves undecided.  What it finds out is test_run_*.c. */

#define HEAD_OK "docker-content-digest: @I@\ncontent-type: " OCI "index.v1+json\ncontent-length: @is@"
#define OK IMGCHECK_VERDICT_OK
#define DEADLINE IMGCHECK_VERDICT_DEADLINE

struct check {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_run *run;
};

static void init_check(struct check *c)
{
	cr_assert_eq(imgcheck_config_new(&c->config), 0);
	cr_assert_eq(imgcheck_images_new(&c->images), 0);
	cr_assert_eq(imgcheck_config_set(c->config, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL), 0);
}

static void add_refs(struct check *c, const char *const *refs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(imgcheck_images_add_ref(c->images, refs[i], NULL), 0);
}

static void start(struct check *c)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_run_new(c->config, c->images, &c->run, &err), 0, "%s", imgcheck_error_message(err));
}

static void finish(struct check *c)
{
	int result;

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

TEST(run, nothing_is_asked_twice)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/a/b/manifests/", NULL, 0, 200, 0, HEAD_OK, NULL},
	};
	static const char *const refs[] = {"r.example/a/b:1", "r.example/a/b:2", "r.example/a/b:3"};
	struct check c;

	scripted_start(rules, 1);
	init_check(&c);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	finish(&c);
	for (size_t i = 0; i < IC_COUNT(refs); i++)
		cr_expect_eq(ic_run_result(c.run, i)->verdict, OK, "%s", ic_run_result(c.run, i)->reason);
	cr_expect_eq(scripted_count("HEAD https://r.example/v2/a/b/manifests/", NULL), 3);
	cr_expect_eq(scripted_count("GET https://r.example/v2/a/b/manifests/", NULL), 2, "an index and a manifest");
	cr_expect_eq(scripted_count("GET https://r.example/v2/a/b/blobs/", NULL), 1, "a config");
	cr_expect_eq(scripted_count("HEAD https://r.example/v2/a/b/blobs/", NULL), 1, "a layer");
	end_check(&c);
}

TEST(run, one_digest_under_two_media_types_is_judged_twice)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/a/b/manifests/1", NULL, 0, 200, 0, HEAD_OK, NULL},
		{"HEAD https://r.example/v2/a/b/manifests/2", NULL, 0, 200, 0,
		 "docker-content-digest: @I@\ncontent-type: " OCI "manifest.v1+json\ncontent-length: @is@", NULL},
	};
	static const char *const refs[] = {"r.example/a/b:1", "r.example/a/b:2"};
	struct check c;

	scripted_start(rules, 2);
	init_check(&c);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	finish(&c);
	cr_expect_eq(ic_run_result(c.run, 0)->verdict, OK, "%s", ic_run_result(c.run, 0)->reason);
	cr_expect_eq(ic_run_result(c.run, 1)->verdict, IMGCHECK_VERDICT_CORRUPT, "an index that is served as a manifest");
	end_check(&c);
}

TEST(run, two_names_of_one_image_are_one_question)
{
	static const struct scripted_rule rules[] = {{"HEAD https://registry-1.docker.io", NULL, 0, 200, 0, HEAD_OK, NULL}};
	static const char *const refs[] = {"nginx", "docker.io/library/nginx:latest", "index.docker.io/library/nginx"};
	struct check c;

	scripted_start(rules, 1);
	init_check(&c);
	cr_assert_eq(imgcheck_config_set(c.config, IMGCHECK_OPTION_DEPTH, "tag", NULL), 0);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	finish(&c);
	for (size_t i = 0; i < IC_COUNT(refs); i++) {
		cr_expect_eq(ic_run_result(c.run, i)->verdict, OK, "%s", ic_run_result(c.run, i)->reason);
		cr_expect_str_eq(ic_run_result(c.run, i)->reference, "docker.io/library/nginx:latest");
	}
	cr_expect_eq(scripted.sent.count, 1);
	end_check(&c);
}

TEST(run, who_is_not_asked_for)
{
	static const struct scripted_rule rules[] = {{"HEAD", NULL, 0, 200, 0, HEAD_OK, NULL}};
	static const char *const refs[] = {"Not A Reference", "r.example/ignored/x:1"};
	struct check c;

	scripted_start(rules, 1);
	init_check(&c);
	cr_assert_eq(imgcheck_config_set(c.config, IMGCHECK_OPTION_IGNORE, "*/ignored/*", NULL), 0);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	cr_assert_eq(imgcheck_run_step(c.run, 0, NULL), 0);
	cr_expect_eq(ic_run_result(c.run, 0)->verdict, IMGCHECK_VERDICT_INVALID);
	cr_expect_eq(ic_run_result(c.run, 1)->verdict, IMGCHECK_VERDICT_SKIPPED);
	cr_expect_eq(scripted.sent.count, 0);
	end_check(&c);
}

TEST(run, no_image_is_no_work)
{
	struct check c;

	scripted_start(NULL, 0);
	init_check(&c);
	start(&c);
	cr_assert_eq(imgcheck_run_step(c.run, -1, NULL), 0);
	end_check(&c);
}

TEST(run, what_is_not_decided_says_so)
{
	static const char *const refs[] = {"r.example/a/b:1", "r.example/a/c:1"};
	struct check c;

	scripted_start(NULL, 0);
	init_check(&c);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	for (size_t i = 0; i < IC_COUNT(refs); i++) {
		cr_expect_eq(ic_run_result(c.run, i)->verdict, DEADLINE);
		cr_expect(strstr(ic_run_result(c.run, i)->reason, "240 seconds"), "%s", ic_run_result(c.run, i)->reason);
	}
	end_check(&c); /* with requests under way */
}

TEST(run, a_cancelled_run_ends)
{
	static const char *const refs[] = {"r.example/a/b:1", "r.example/a/c:1", "q.example/a/d:1"};
	struct check c;

	scripted_start(NULL, 0);
	init_check(&c);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	imgcheck_run_cancel(c.run);
	finish(&c);
	for (size_t i = 0; i < IC_COUNT(refs); i++)
		cr_expect_eq(ic_run_result(c.run, i)->verdict, DEADLINE);
	end_check(&c);
}

/* Half-way: the token is there, and the rest finds no time. */
TEST(run, a_run_out_of_time_ends_wherever_it_is)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/a/b/manifests/1", "!Authorization", 0, 401, 0,
		 "www-authenticate: Bearer realm=\"https://t/\"", NULL},
		{"GET https://t/", NULL, 0, 200, 0, NULL, "{\"token\":\"t\"}"},
		{"GET https://r.example/v2/a/b/manifests/@I@", NULL, 0, 0, IC_HTTP_DEADLINE, NULL, "out of time"},
		{"HEAD https://q.example", NULL, 0, 429, 0, "retry-after: 86000", NULL},
	};
	static const char *const refs[] = {"q.example/z:1", "r.example/a/b:1"};
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	init_check(&c);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	finish(&c);
	cr_expect_eq(ic_run_result(c.run, 0)->verdict, IMGCHECK_VERDICT_RATE_LIMITED, "waiting would take longer than the run");
	cr_expect_eq(ic_run_result(c.run, 1)->verdict, DEADLINE);
	cr_expect(strstr(ic_run_result(c.run, 1)->reason, "out of time"), "%s", ic_run_result(c.run, 1)->reason);
	end_check(&c);
}

TEST(run, nodes_that_were_turned_away_together_do_not_come_back_together)
{
	const struct ic_session session = {.deadline = ic_clock_now() + 100000};
	ic_msec first = ic_session_spread(&session, 1000);
	bool differs = false;

	for (size_t i = 0; i < 100; i++) {
		ic_msec wait = ic_session_spread(&session, 1000);

		cr_expect(wait >= 1000 && wait <= 1500, "%lld", (long long)wait);
		differs |= wait != first;
	}
	cr_expect(differs);
	cr_expect_lt(ic_session_spread(&session, 80000), 100000, "not beyond the deadline");
	cr_expect_geq(ic_session_spread(&session, 80000), 80000);
	cr_expect_eq(ic_session_spread(&session, 200000), 200000);
	cr_expect_eq(ic_session_spread(&session, 0), 0);
	cr_expect_eq(ic_session_spread(&session, -1), -1);
}

/* ------------------------------------------------------------------ events */

struct told {
	size_t requests, done;
	struct ic_buf text;
};

static void on_event(void *arg, const struct imgcheck_event *event)
{
	struct told *told = arg;

	switch (event->kind) {
	case IMGCHECK_EVENT_REQUEST:
		told->requests++;
		cr_assert_eq(ic_buf_printf(&told->text, NULL, "%s|%s\n", event->host, event->text), 0);
		break;
	case IMGCHECK_EVENT_DONE:
		told->done++;
		cr_expect_eq(event->done, told->done);
		cr_expect_eq(event->total, 2);
		break;
	}
}

TEST(run, tells_each_answer_and_each_decision)
{
	static const struct scripted_rule rules[] = {
		{"HEAD https://r.example/v2/a/b/manifests/1", "!Authorization", 0, 401, 0,
		 "www-authenticate: Bearer realm=\"https://t.example/x\"", NULL},
		{"POST https://t.example/x", NULL, 0, 200, 0, NULL, "{\"access_token\":\"hush\"}"},
		{"HEAD https://q.example", NULL, 0, 0, IC_HTTP_REFUSED, NULL, "cannot connect"},
	};
	static const char *const refs[] = {"r.example/a/b:1", "q.example/x:1"};
	struct told told = {0};
	struct check c;

	scripted_start(rules, IC_COUNT(rules));
	init_check(&c);
	ic_buf_init(&told.text, 65536);
	cr_assert_eq(imgcheck_config_set(c.config, IMGCHECK_OPTION_DEPTH, "tag", NULL), 0);
	cr_assert_eq(imgcheck_config_set_login(c.config, "r.example", "user", "hush", NULL), 0);
	imgcheck_config_set_event_fn(c.config, on_event, &told);
	add_refs(&c, refs, IC_COUNT(refs));
	start(&c);
	finish(&c);
	cr_expect_eq(told.done, 2);
	cr_expect_eq(told.requests, scripted.sent.count);
	cr_expect(strstr(told.text.data, "r.example|HEAD https://r.example/v2/a/b/manifests/1 401\n"), "%s", told.text.data);
	cr_expect(strstr(told.text.data, "t.example|POST https://t.example/x 200\n"), "%s", told.text.data);
	cr_expect(strstr(told.text.data, "q.example|HEAD https://q.example/v2/x/manifests/1: cannot connect\n"), "%s", told.text.data);
	cr_expect_not(strstr(told.text.data, "hush"), "%s", told.text.data);
	ic_buf_clear(&told.text);
	end_check(&c);
}

TEST(run, refuses_to_start_without_what_it_needs)
{
	struct imgcheck_error *err = NULL;
	struct imgcheck_run *run = NULL;
	struct check c;

	scripted_start(NULL, 0);
	init_check(&c);
	cr_expect_eq(imgcheck_run_new(NULL, c.images, &run, &err), IMGCHECK_ERR_ARGUMENT);
	imgcheck_error_free(err);
	cr_expect_eq(imgcheck_run_new(c.config, NULL, &run, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_run_new(c.config, c.images, NULL, NULL), IMGCHECK_ERR_ARGUMENT);
	start(&c);
	cr_expect_eq(imgcheck_config_set(c.config, IMGCHECK_OPTION_DEPTH, "tag", NULL), IMGCHECK_ERR_ARGUMENT, "it is frozen");
	end_check(&c);
}
