/* SPDX-License-Identifier: Apache-2.0 */
#include "snap/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"
#include "test.h"

struct fixture {
	json_t *configuration;
	struct settings settings;
	struct lines notices;
	struct imgcheck_config *config;
};

static void open_fixture(struct fixture *f, const char *json)
{
	*f = (struct fixture){0};
	f->configuration = json ? json_loads(json, 0, NULL) : NULL;
	cr_assert(f->configuration || !json, "%s", json);
	cr_assert_eq(imgcheck_config_new(&f->config), 0);
	settings_read(&f->settings, f->configuration, &f->notices);
	settings_apply(&f->settings, "/nonexistent/common", f->config, &f->notices);
}

static void close_fixture(struct fixture *f)
{
	settings_clear(&f->settings);
	lines_clear(&f->notices);
	imgcheck_config_free(f->config);
	json_decref(f->configuration);
}

TEST(hook_settings, defaults)
{
	static const char *const nothing[] = {NULL, "{}", "{\"imgcheck\": null}", "{\"imgcheck\": {}}",
	                                      "{\"imgcheck\": {\"mode\": \"\", \"authfile\": null}}"};

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
		struct fixture f;

		open_fixture(&f, nothing[i]);
		cr_assert_eq(f.settings.mode, SETTINGS_ENFORCE);
		cr_assert_null(f.settings.accept_revision);
		cr_assert_eq(f.settings.deadline, 240);
		cr_assert_eq(f.notices.count, 0, "%s: %s", nothing[i] ? nothing[i] : "", f.notices.count ? f.notices.line[0] : "");
		close_fixture(&f);
	}
}

/* Values as snapd stores them: what looks like a number or Boolean is one. */
TEST(hook_settings, values_by_their_text)
{
	struct fixture f;

	open_fixture(&f, "{\"imgcheck\": {\"mode\": \"warn\", \"accept-revision\": 1250, \"deadline\": 30, \"depth\": \"tag\","
	                 " \"plain-http\": \"a:5000, b:5000\", \"skip-verify\": [\"c:443\"],"
	                 " \"platforms\": \"linux/amd64,linux/arm64\","
	                 " \"ignore\": [\"*/pause:*\"], \"on-missing\": \"warn\", \"on-internal-error\": \"veto\"}}");
	cr_assert_eq(f.notices.count, 0, "%s", f.notices.count ? f.notices.line[0] : "");
	cr_assert_eq(f.settings.mode, SETTINGS_WARN);
	cr_assert_str_eq(f.settings.accept_revision, "1250");
	cr_assert_eq(f.settings.deadline, 30);
	cr_assert_eq(settings_effect(&f.settings, IMGCHECK_OUTCOME_MISSING), IMGCHECK_DECISION_WARN);
	cr_assert_eq(settings_effect(&f.settings, IMGCHECK_OUTCOME_INTERNAL), IMGCHECK_DECISION_VETO);
	cr_assert_eq(settings_effect(&f.settings, IMGCHECK_OUTCOME_UNREADABLE), IMGCHECK_DECISION_VETO);
	close_fixture(&f);
}

/* Each is told and counts as not set, by which a hook is as strict as without it. */
TEST(hook_settings, bad_ones_are_told)
{
	static const char *const bad[] = {
		"\"mode\": \"enfroce\"", "\"mode\": true", "\"mode\": [\"off\"]", "\"accept-revision\": \"latest\"",
		"\"accept-revision\": 12.5", "\"accept-revision\": {\"a\": 1}", "\"deadline\": 0",
		"\"deadline\": 571", "\"deadline\": \"5m\"", "\"deadline\": -1", "\"depth\": \"deep\"",
		"\"platforms\": \"not a platform!\"", "\"plain-http\": \"http://a\"", "\"on-missing\": \"wran\"",
		"\"on-nothing\": \"warn\"", "\"acept-revision\": 12", "\"proxy\": \"http://p:3128\"",
		"\"proxy\": {\"htps\": \"x\"}", "\"authfile\": \"/etc/passwd\"", "\"authfile\": \"../x\"",
		"\"authfile\": \"a/../../x\"", "\"authfile\": \"/nonexistent/commonplace/x\"",
		"\"authfile\": \"auth.json\"", "\"auth-json\": \"{\"", "\"ca-file\": \"/nonexistent/ca.pem\"",
		"\"ca-file\": \"../ca.pem\"",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		AUTO(free) char *json = memory_printf("{\"imgcheck\": {%s}}", bad[i]);
		struct fixture f;

		open_fixture(&f, json);
		cr_assert_geq(f.notices.count, 1, "%s", bad[i]);
		cr_assert(strstr(f.notices.line[0], "imgcheck."), "%s", f.notices.line[0]);
		cr_assert_eq(f.settings.mode, SETTINGS_ENFORCE, "%s", bad[i]);
		cr_assert_null(f.settings.accept_revision, "%s", bad[i]);
		cr_assert_eq(f.settings.deadline, 240, "%s", bad[i]);
		cr_assert_eq(settings_effect(&f.settings, IMGCHECK_OUTCOME_MISSING), IMGCHECK_DECISION_VETO, "%s", bad[i]);
		close_fixture(&f);
	}
}

TEST(hook_settings, a_tree_that_is_none)
{
	struct fixture f;

	open_fixture(&f, "{\"imgcheck\": \"off\"}");
	cr_assert_eq(f.notices.count, 1);
	cr_assert_eq(f.settings.mode, SETTINGS_ENFORCE);
	close_fixture(&f);
}

/* A login in a setting must not come back in a message. */
TEST(hook_settings, secrets_are_not_told)
{
	struct fixture f;

	open_fixture(&f, "{\"imgcheck\": {\"auth-json\": {\"auths\": {\"h\": {\"auth\": \"hunter2\"}}},"
	                 " \"proxy\": {\"https\": \"http://user:hunter2@[bad\"}}}");
	{
		AUTO(proxies) struct proxies p = {0};

		settings_proxies(&f.settings, &p);
		proxies_apply(&p, f.config, &f.notices);
	}
	cr_assert_geq(f.notices.count, 1);
	for (size_t i = 0; i < f.notices.count; i++)
		cr_assert_null(strstr(f.notices.line[i], "hunter2"), "%s", f.notices.line[i]);
	close_fixture(&f);
}

TEST(hook_settings, proxies_by_rank)
{
	char folder[] = "/tmp/imgcheck-test-XXXXXX";
	static const char file[] = "PATH=/bin\n# https_proxy=http://no:1\nexport HTTPS_PROXY=\"http://user:pw@file:3128\"  \n"
	                           "http_proxy='http://file:3129'\nHTTP_PROXY=http://no:2\nno_proxy=.internal\n";
	AUTO(proxies) struct proxies p = {0};
	AUTO(free) char *path = NULL, *text = NULL;

	test_folder(folder);
	path = files_join(folder, "environment");
	cr_assert_eq(files_replace(folder, "environment", 0644, file, sizeof(file) - 1), 0);
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("no_proxy");
	setenv("NO_PROXY", "", 1);
	setenv("http_proxy", "http://env:1", 1);
	setenv("HTTP_PROXY", "http://cgi:1", 1);
	proxies_read(&p, path);
	cr_assert_str_eq(p.http.value, "http://env:1");
	cr_assert_str_eq(p.http.source, "the environment");
	cr_assert_str_eq(p.https.value, "http://user:pw@file:3128");
	cr_assert_str_eq(p.https.source, path);
	cr_assert_str_eq(p.none.value, ".internal");
	text = proxies_text(&p);
	cr_assert(strstr(text, "http://file:3128"));
	cr_assert_null(strstr(text, "pw"));
	proxies_replace(&p.https, "http://set:1", "setting");
	cr_assert_str_eq(p.https.value, "http://set:1");
	cr_assert_eq(unlink(path) | rmdir(folder), 0);
}

/* What cannot be used is left out, in no more time than it takes to read the rest. */
TEST(hook_settings, long_lists_of_exceptions)
{
	static const struct {
		size_t count;
		const char *last, *kept;
	} lists[] = {{0, "10.0.0.0/33", ""}, {0, ",10.0.0.0/33,.b,", ",.b,"}, {12000, "10.0.0.0/33,.b", ".b"}, {60000, "b", NULL}};

	for (size_t i = 0; i < COUNT(lists); i++) {
		AUTO(config) struct imgcheck_config *config = NULL;
		AUTO(proxies) struct proxies p = {0};
		AUTO(lines) struct lines notices = {0};
		AUTO(free) char *list = memory_grow(NULL, 2 * lists[i].count + strlen(lists[i].last) + 1, 1);

		for (size_t k = 0; k < lists[i].count; k++)
			memcpy(list + 2 * k, "a,", 2);
		memcpy(list + 2 * lists[i].count, lists[i].last, strlen(lists[i].last) + 1);
		proxies_replace(&p.none, list, "the list");
		cr_assert_eq(imgcheck_config_new(&config), 0);
		proxies_apply(&p, config, &notices);
		cr_assert_eq(notices.count, 1);
		cr_assert_eq(!p.none.value, !lists[i].kept);
		if (!lists[i].kept)
			continue;
		cr_assert_eq(strlen(p.none.value), 2 * lists[i].count + strlen(lists[i].kept));
		cr_assert_str_eq(p.none.value + 2 * lists[i].count, lists[i].kept);
	}
}
