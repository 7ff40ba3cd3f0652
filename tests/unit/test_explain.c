/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "test.h"

static const char mirrors[] = "mirrors:\n  docker.io:\n    endpoint: [\"https://m.local:5000\", \"http://n:5000\"]\n"
                              "configs:\n  \"m.local:5000\":\n    auth: {username: carol, password: hunter2}\n"
                              "    tls: {insecure_skip_verify: true}\nmirror: {}\n";

static struct imgcheck_config *make_config(void)
{
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_HTTPS_PROXY, "http://user:hunter2@proxy:3128", NULL), 0);
	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_YAML, "registries.yaml", mirrors, strlen(mirrors), NULL), 0);
	return c;
}

static const char *const lines[] = {
	"busybox, asked for as library/busybox of docker.io",
	"1. https://m.local:5000/v2/library/busybox/manifests/latest?ns=docker.io",
	"   credentials: registries.yaml (m.local:5000)",
	"   connection: TLS, certificate not verified (insecure)",
	"   proxy: http://proxy:3128 (https-proxy)",
	"2. http://n:5000/v2/library/busybox/manifests/latest?ns=docker.io",
	"   connection: plain http",
	"   proxy: none",
	"3. https://registry-1.docker.io/v2/library/busybox/manifests/latest",
	"   upstream",
	"   connection: TLS, certificate verified",
	"note: registries.yaml:8: \"mirror\" is neither mirrors nor configs",
};

TEST(explain, tells_who_would_be_asked)
{
	struct imgcheck_config *c = make_config();
	struct imgcheck_error *err = NULL;
	char *text;
	size_t len;

	cr_assert_eq(imgcheck_config_explain(c, "busybox", IMGCHECK_FORMAT_TEXT, &text, &len, &err), 0, "%s",
	             imgcheck_error_message(err));
	cr_assert_eq(strlen(text), len);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_assert(strstr(text, lines[i]), "%s: not in\n%s", lines[i], text);
	cr_assert(!strstr(text, "hunter2"), "%s", text);
	free(text);
	imgcheck_config_free(c);
}

TEST(explain, tells_the_same_in_json)
{
	struct imgcheck_config *c = make_config();
	json_t *told = NULL, *endpoints;
	char *text;
	size_t len;

	cr_assert_eq(imgcheck_config_explain(c, "busybox", IMGCHECK_FORMAT_JSON, &text, &len, NULL), 0);
	cr_assert(!strstr(text, "hunter2"), "%s", text);
	cr_assert_eq(ic_json_parse("told", text, len, &told, NULL), 0);
	endpoints = json_object_get(told, "endpoints");
	cr_assert_eq(json_array_size(endpoints), 3);
	cr_assert_str_eq(ic_json_text(json_array_get(endpoints, 0), "tls"), "insecure");
	cr_assert(json_is_true(json_object_get(json_array_get(endpoints, 0), "mirror")));
	cr_assert_str_eq(ic_json_text(json_array_get(endpoints, 2), "proxy"), "http://proxy:3128");
	json_decref(told);
	free(text);
	imgcheck_config_free(c);
}

TEST(explain, tells_why_nobody_would_be_asked)
{
	struct imgcheck_config *c = make_config();
	char *text;

	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REQUIRE_MIRROR, "true", NULL), 0);
	cr_assert_eq(imgcheck_config_explain(c, "quay.io/a/b:1", IMGCHECK_FORMAT_TEXT, &text, NULL, NULL), 0);
	cr_assert(strstr(text, "nobody is asked: no mirror is configured for quay.io"), "%s", text);
	free(text);
	imgcheck_config_free(c);
}

TEST(explain, refuses_what_is_no_reference)
{
	struct imgcheck_config *c = make_config();
	struct imgcheck_error *err = NULL;
	char *text;

	cr_assert_eq(imgcheck_config_explain(c, "Upper:1", IMGCHECK_FORMAT_TEXT, &text, NULL, &err), IMGCHECK_ERR_SYNTAX);
	cr_assert_null(text);
	imgcheck_error_free(err);
	err = NULL;
	cr_assert_eq(imgcheck_config_explain(c, NULL, IMGCHECK_FORMAT_TEXT, &text, NULL, &err), IMGCHECK_ERR_ARGUMENT);
	imgcheck_error_free(err);
	imgcheck_config_free(c);
}

static int fail_to_ask(void *arg, const char *helper, const char *server, struct imgcheck_login *out)
{
	(void)arg;
	(void)helper;
	(void)server;
	out->problem = strdup("it did not answer");
	return -1;
}

/* A mirror of CRI-O's is told nothing of whom it stands in for, and is one all the same. */
TEST(explain, tells_who_would_not_be_asked)
{
	static const char conf[] = "[[registry]]\nlocation = \"r.io\"\n[[registry.mirror]]\nlocation = \"m.io\"\n";
	static const char auth[] = "{\"credHelpers\": {\"m.io\": \"x\"}}";
	struct imgcheck_config *c;
	char *text;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	imgcheck_config_set_login_fn(c, fail_to_ask, NULL);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, "crio", NULL), 0);
	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_CONF, "registries.conf", conf, strlen(conf), NULL), 0);
	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "auth.json", auth, strlen(auth), NULL), 0);
	cr_assert_eq(imgcheck_config_explain(c, "r.io/a:1", IMGCHECK_FORMAT_TEXT, &text, NULL, NULL), 0);
	cr_assert(strstr(text, "1. https://m.io/v2/a/manifests/1\n   mirror\n   not asked: cannot ask docker-credential-x (auth.json)"
	                       " for a login for m.io: it did not answer\n"), "%s", text);
	cr_assert(strstr(text, "2. https://r.io/v2/a/manifests/1\n   upstream\n   credentials"), "%s", text);
	free(text);
	imgcheck_config_free(c);
}
