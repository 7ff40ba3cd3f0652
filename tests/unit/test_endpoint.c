/* SPDX-License-Identifier: Apache-2.0 */
#include "source/endpoint.h"

#include <string.h>

#include "source/config.h"
#include "test.h"

struct setting {
	enum imgcheck_option option;
	const char *value;
};

static struct imgcheck_config *config_with(const struct setting *settings, size_t count)
{
	struct imgcheck_error *err = NULL;
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	for (size_t i = 0; i < count && settings[i].value; i++)
		cr_assert_eq(imgcheck_config_set(c, settings[i].option, settings[i].value, &err), 0, "%s", imgcheck_error_message(err));
	return c;
}

static struct ic_endpoints find(const struct imgcheck_config *c, const char *text)
{
	struct imgcheck_error *err = NULL;
	struct ic_endpoints found;
	struct ic_ref ref;

	cr_assert_eq(ic_ref_parse(text, strlen(text), &ref, NULL), 0);
	cr_assert_eq(ic_endpoints_find(c, &ref, &found, &err), 0, "%s: %s", text, imgcheck_error_message(err));
	cr_assert(found.list.count > 0);
	ic_ref_clear(&ref);
	return found;
}

static const struct ic_endpoint *at(const struct ic_endpoints *found, size_t i)
{
	cr_assert(i < found->list.count);
	return ic_vec_at(&found->list, i);
}

static void read_auth(struct imgcheck_config *c, const char *name, const char *text)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, name, text, strlen(text), &err), 0, "%s",
	             imgcheck_error_message(err));
}

static const struct {
	struct setting settings[3];
	const char *asked;
	const char *scheme, *host, *repository;
	bool skip_verify, http_fallback;
} rows[] = {
	{{{0}}, "busybox", "https", "registry-1.docker.io", "library/busybox", false, false},
	{{{0}}, "quay.io/a/b:1", "https", "quay.io", "a/b", false, false},
	{{{0}}, "r.internal:5000/a", "https", "r.internal:5000", "a", false, false},
	{{{0}}, "r.internal:80/a", "https", "r.internal:80", "a", false, false},
	/* loopback as containerd has it */
	{{{0}}, "localhost/a", "https", "localhost", "a", true, false},
	{{{0}}, "localhost:443/a", "https", "localhost:443", "a", true, false},
	{{{0}}, "localhost:80/a", "http", "localhost:80", "a", false, false},
	{{{0}}, "localhost:5000/a", "https", "localhost:5000", "a", true, true},
	{{{0}}, "127.3.2.1:5000/a", "https", "127.3.2.1:5000", "a", true, true},
	{{{0}}, "[::1]:5000/a", "https", "[::1]:5000", "a", true, true},
	{{{0}}, "[::1]:80/a", "http", "[::1]:80", "a", false, false},
	/* plain-http: without a port it means port 80 */
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "r.internal"}}, "r.internal/a", "http", "r.internal", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "r.internal"}}, "R.internal:80/a", "http", "R.internal:80", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "r.internal"}}, "r.internal:5000/a", "https", "r.internal:5000", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "r.internal:5000"}}, "r.internal:5000/a", "http", "r.internal:5000", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "r.internal:5000"}}, "r.internal/a", "https", "r.internal", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "x.internal"}, {IMGCHECK_OPTION_PLAIN_HTTP, "r.internal"}},
	 "r.internal/a", "http", "r.internal", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "localhost:5000"}}, "localhost:5000/a", "http", "localhost:5000", "a", false, false},
	{{{IMGCHECK_OPTION_PLAIN_HTTP, "docker.io"}}, "busybox", "http", "registry-1.docker.io", "library/busybox", false, false},
	/* skip-verify: without a port it means port 443 */
	{{{IMGCHECK_OPTION_SKIP_VERIFY, "r.internal"}}, "r.internal/a", "https", "r.internal", "a", true, false},
	{{{IMGCHECK_OPTION_SKIP_VERIFY, "r.internal"}}, "r.internal:443/a", "https", "r.internal:443", "a", true, false},
	{{{IMGCHECK_OPTION_SKIP_VERIFY, "r.internal"}}, "r.internal:5000/a", "https", "r.internal:5000", "a", false, false},
	{{{IMGCHECK_OPTION_SKIP_VERIFY, "registry-1.docker.io"}},
	 "busybox", "https", "registry-1.docker.io", "library/busybox", true, false},
	/* rewriting */
	{{{IMGCHECK_OPTION_REGISTRY, "r.internal:5000/cdk"}, {IMGCHECK_OPTION_REWRITE, "true"}},
	 "nvcr.io/nvidia/x:1", "https", "r.internal:5000", "cdk/nvidia/x", false, false},
	{{{IMGCHECK_OPTION_REGISTRY, "r.internal:5000/cdk"}}, "nvcr.io/nvidia/x:1", "https", "nvcr.io", "nvidia/x", false, false},
	/* a port that no host can have fails when it is asked, not here */
	{{{0}}, "localhost:99999/a", "https", "localhost:99999", "a", false, false},
};

TEST(endpoint, follows_settings_and_runtime)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_config *c = config_with(rows[i].settings, IC_COUNT(rows[i].settings));
		struct ic_endpoints found = find(c, rows[i].asked);
		const struct ic_endpoint *e = at(&found, 0);

		cr_assert_eq(found.list.count, 1);
		cr_assert_str_eq(e->scheme, rows[i].scheme, "row %zu", i);
		cr_assert_str_eq(e->host, rows[i].host, "row %zu", i);
		cr_assert_str_eq(e->base_path, "/v2");
		cr_assert_str_eq(e->repository, rows[i].repository, "row %zu", i);
		cr_assert_eq(e->skip_verify, rows[i].skip_verify, "row %zu", i);
		cr_assert_eq(e->http_fallback, rows[i].http_fallback, "row %zu", i);
		cr_assert(e->resolve && e->pull);
		cr_assert_str_eq(e->proxy, "");
		cr_assert(!e->proxy_source && !e->login.user && !e->login.secret && !e->login.identity_token && !e->login.source);
		ic_endpoints_clear(&found);
		imgcheck_config_free(c);
	}
}

TEST(endpoint, has_its_proxy)
{
	const struct setting settings[] = {{IMGCHECK_OPTION_HTTPS_PROXY, "http://user:hunter2@proxy.internal:3128"},
	                                   {IMGCHECK_OPTION_NO_PROXY, ".internal"}};
	struct imgcheck_config *c = config_with(settings, IC_COUNT(settings));
	struct ic_endpoints found = find(c, "quay.io/a/b");

	cr_assert_str_eq(at(&found, 0)->proxy, "http://user:hunter2@proxy.internal:3128");
	cr_assert_str_eq(at(&found, 0)->proxy_source, "https-proxy");
	ic_endpoints_clear(&found);
	found = find(c, "r.internal/a/b");
	cr_assert_str_eq(at(&found, 0)->proxy, "");
	cr_assert_null(at(&found, 0)->proxy_source);
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

static const struct {
	const char *login_host; /* NULL: the configured registry, which is r.internal:5000/cdk */
	const char *asked;
	bool used;
} logins[] = {
	{NULL, "r.internal:5000/cdk/a", true},
	{NULL, "r.internal:5000/other/a", true},
	{NULL, "r.internal/cdk/a", false},
	{NULL, "quay.io/a", false},
	{"quay.io", "quay.io/a", true},
	{"quay.io:443", "quay.io/a", true},
	{"quay.io", "quay.io:443/a", true},
	{"QUAY.io", "quay.io/a", true},
	{"quay.io", "quay.io:8443/a", false},
	{"quay.io", "cdn.quay.io/a", false},
	{"docker.io", "busybox", true},
	{"registry-1.docker.io", "busybox", true},
};

TEST(endpoint, binds_a_login_to_its_host_and_port)
{
	const struct setting settings[] = {{IMGCHECK_OPTION_REGISTRY, "r.internal:5000/cdk"}};

	for (size_t i = 0; i < IC_COUNT(logins); i++) {
		struct imgcheck_config *c = config_with(settings, IC_COUNT(settings));
		struct ic_endpoints found;

		cr_assert_eq(imgcheck_config_set_login(c, logins[i].login_host, "alice", "hunter2", NULL), 0);
		found = find(c, logins[i].asked);
		cr_assert_eq(found.list.count, 1);
		cr_assert_eq(at(&found, 0)->login.user != NULL, logins[i].used, "row %zu", i);
		if (logins[i].used) {
			cr_assert_str_eq(at(&found, 0)->login.user, "alice");
			cr_assert_str_eq(at(&found, 0)->login.secret, "hunter2");
			cr_assert(strstr(at(&found, 0)->login.source, "the login set for "), "%s", at(&found, 0)->login.source);
			cr_assert(!strstr(at(&found, 0)->login.source, "hunter2"));
		}
		ic_endpoints_clear(&found);
		imgcheck_config_free(c);
	}
}

TEST(endpoint, refuses_a_login_for_no_registry)
{
	struct imgcheck_config *c = config_with(NULL, 0);
	struct imgcheck_error *err = NULL;
	struct ic_endpoints found;
	struct ic_ref ref;

	cr_assert_eq(imgcheck_config_set_login(c, NULL, "alice", "hunter2", NULL), 0);
	cr_assert_eq(ic_ref_parse("quay.io/a", 9, &ref, NULL), 0);
	cr_assert_eq(ic_endpoints_find(c, &ref, &found, &err), IMGCHECK_ERR_CONFIG);
	cr_assert(strstr(imgcheck_error_message(err), "configured registry"), "%s", imgcheck_error_message(err));
	cr_assert(!found.asked.registry && !found.list.count);
	imgcheck_error_free(err);
	ic_ref_clear(&ref);
	imgcheck_config_free(c);
}

/* The kubelet tries them one after the other, the most specific key first, across files. */
TEST(endpoint, stands_once_for_each_credential)
{
	struct imgcheck_config *c = config_with(NULL, 0);
	struct ic_endpoints found;

	read_auth(c, "first.json", "{\"auths\": {\"quay.io\": {\"auth\": \"YTphMQ==\"}, \"quay.io/org\": {\"username\": \"b\"}}}");
	read_auth(c, "second\n.json", "{\"auths\": {\"quay.io\": {\"auth\": \"YzpjOjE=\"}, \"ghcr.io\": {}}}");
	found = find(c, "quay.io/org/x");
	cr_assert_eq(found.list.count, 3);
	cr_assert_str_eq(at(&found, 0)->login.user, "b");
	cr_assert_str_eq(at(&found, 0)->login.secret, "");
	cr_assert_str_eq(at(&found, 0)->login.source, "first.json (quay.io/org)");
	cr_assert_str_eq(at(&found, 1)->login.user, "a");
	cr_assert_str_eq(at(&found, 1)->login.source, "first.json (quay.io)");
	cr_assert_str_eq(at(&found, 2)->login.secret, "c:1");
	cr_assert_str_eq(at(&found, 2)->login.source, "second\\x0a.json (quay.io)");
	cr_assert_str_eq(at(&found, 2)->host, "quay.io");
	ic_endpoints_clear(&found);
	found = find(c, "ghcr.io/org/x");
	cr_assert_eq(found.list.count, 1);
	cr_assert_null(at(&found, 0)->login.user);
	ic_endpoints_clear(&found);
	cr_assert_eq(imgcheck_config_set_login(c, "quay.io", "alice", "p", NULL), 0);
	found = find(c, "quay.io/org/x");
	cr_assert_eq(found.list.count, 1, "a login that was set goes before all files");
	cr_assert_str_eq(at(&found, 0)->login.user, "alice");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, says_why_there_are_no_credentials)
{
	struct imgcheck_config *c = config_with(NULL, 0);
	struct ic_endpoints found;

	read_auth(c, "auth.json", "{\"auths\": {\"r.internal:443\": {\"auth\": \"dTpw\"}, \"gcr.io\": {}},"
	                          " \"credHelpers\": {\"gcr.io\": \"gcloud\"}}");
	found = find(c, "gcr.io/a/b");
	cr_assert_eq(found.list.count, 1);
	cr_assert_null(at(&found, 0)->login.user);
	cr_assert_str_eq(at(&found, 0)->login.source, "none (auth.json leaves gcr.io to docker-credential-gcloud, which is not run)");
	ic_endpoints_clear(&found);
	found = find(c, "r.internal/a/b");
	cr_assert_null(at(&found, 0)->login.user);
	cr_assert_str_eq(at(&found, 0)->login.source, "none (auth.json has r.internal:443, which is another port)");
	ic_endpoints_clear(&found);
	found = find(c, "quay.io/a/b");
	cr_assert_null(at(&found, 0)->login.source);
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, looks_credentials_up_under_the_new_name)
{
	const struct setting settings[] = {{IMGCHECK_OPTION_REGISTRY, "r.internal/cdk"}, {IMGCHECK_OPTION_REWRITE, "true"}};
	struct imgcheck_config *c = config_with(settings, IC_COUNT(settings));
	struct ic_endpoints found;

	read_auth(c, "auth.json", "{\"auths\": {\"r.internal/cdk\": {\"auth\": \"dTpw\"}, \"quay.io\": {\"auth\": \"eDp5\"}}}");
	found = find(c, "quay.io/a/b:1");
	cr_assert_eq(found.list.count, 1);
	cr_assert_str_eq(at(&found, 0)->login.user, "u");
	cr_assert_str_eq(found.asked.registry, "r.internal");
	cr_assert_str_eq(found.asked.repository, "cdk/a/b");
	cr_assert_str_eq(found.asked.tag, "1");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

static void read_mirrors(struct imgcheck_config *c, const char *text)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_YAML, "registries.yaml", text, strlen(text), &err), 0, "%s",
	             imgcheck_error_message(err));
}

static const char mirrors[] = "mirrors:\n  quay.io:\n    endpoint: [\"https://m:5000\", \"http://n:5000\"]\n"
                              "configs:\n  \"m:5000\":\n    auth: {username: carol, password: hunter3}\n";

/* The whole pull is repeated with each credential of the kubelet, which go to mirrors too, but never in the clear. */
TEST(endpoint, offers_credentials_to_mirrors)
{
	struct imgcheck_config *c = config_with(NULL, 0);
	static const char *const users[] = {"b", NULL, "b", "a", NULL, "a"};
	static const char *const hosts[] = {"m:5000", "n:5000", "quay.io", "m:5000", "n:5000", "quay.io"};
	struct ic_endpoints found;

	read_mirrors(c, mirrors);
	read_auth(c, "auth.json", "{\"auths\": {\"quay.io\": {\"auth\": \"YTphMQ==\"}, \"quay.io/org\": {\"username\": \"b\"}}}");
	found = find(c, "quay.io/org/x");
	cr_assert_eq(found.list.count, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct ic_endpoint *e = at(&found, i);

		cr_assert_str_eq(e->host, hosts[i]);
		cr_assert_eq(e->login.user != NULL, users[i] != NULL, "endpoint %zu", i);
		if (users[i])
			cr_assert_str_eq(e->login.user, users[i]);
	}
	cr_assert(strstr(at(&found, 1)->login.source, "not sent over plain http"), "%s", at(&found, 1)->login.source);
	ic_endpoints_clear(&found);
	found = find(c, "quay.io/other/x");
	cr_assert_eq(found.list.count, 3, "only one credential matches");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, uses_a_runtime_s_login_where_there_is_no_other)
{
	struct imgcheck_config *c = config_with(NULL, 0);
	struct ic_endpoints found;

	read_mirrors(c, mirrors);
	found = find(c, "quay.io/a");
	cr_assert_eq(found.list.count, 3);
	cr_assert_str_eq(at(&found, 0)->login.user, "carol");
	cr_assert_str_eq(at(&found, 0)->login.source, "registries.yaml (m:5000)");
	cr_assert(!at(&found, 1)->login.user && !at(&found, 2)->login.user);
	ic_endpoints_clear(&found);
	cr_assert_eq(imgcheck_config_set_login(c, "m:5000", "dave", "p", NULL), 0);
	found = find(c, "quay.io/a");
	cr_assert_str_eq(at(&found, 0)->login.user, "dave", "what the operator set goes before");
	cr_assert_null(at(&found, 2)->login.user, "and to no other host");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, follows_settings_for_mirrors)
{
	const struct setting settings[] = {{IMGCHECK_OPTION_PLAIN_HTTP, "m:5000"}, {IMGCHECK_OPTION_SKIP_VERIFY, "quay.io"},
	                                   {IMGCHECK_OPTION_HTTPS_PROXY, "http://proxy.internal:3128"}};
	struct imgcheck_config *c = config_with(settings, IC_COUNT(settings));
	struct ic_endpoints found;

	read_mirrors(c, mirrors);
	found = find(c, "quay.io/a");
	cr_assert_str_eq(at(&found, 0)->scheme, "http");
	cr_assert_str_eq(at(&found, 0)->proxy, "", "an http host asks no https proxy");
	cr_assert(!at(&found, 0)->skip_verify && at(&found, 2)->skip_verify);
	cr_assert_str_eq(at(&found, 2)->proxy, "http://proxy.internal:3128");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, asks_no_upstream_where_a_mirror_is_required)
{
	const struct setting settings[] = {{IMGCHECK_OPTION_REQUIRE_MIRROR, "true"}, {IMGCHECK_OPTION_REGISTRY, "r.internal:5000/cdk"}};
	struct imgcheck_config *c = config_with(settings, IC_COUNT(settings));
	struct ic_endpoints found;
	struct ic_ref ref;

	read_mirrors(c, mirrors);
	found = find(c, "quay.io/a");
	cr_assert_eq(found.list.count, 2);
	cr_assert_str_eq(at(&found, 1)->host, "n:5000");
	ic_endpoints_clear(&found);
	found = find(c, "r.internal:5000/cdk/a");
	cr_assert_eq(found.list.count, 1, "the configured registry counts as one");
	ic_endpoints_clear(&found);
	cr_assert_eq(ic_ref_parse("busybox", 7, &ref, NULL), 0);
	cr_assert_eq(ic_endpoints_find(c, &ref, &found, NULL), 0);
	cr_assert_eq(found.list.count, 0);
	cr_assert_eq(found.verdict, IMGCHECK_VERDICT_NOT_FOUND);
	cr_assert(strstr(found.reason, "no mirror is configured for docker.io"), "%s", found.reason);
	ic_endpoints_clear(&found);
	ic_ref_clear(&ref);
	imgcheck_config_free(c);
}

TEST(endpoint, asks_no_mirror_where_the_registry_itself_is_wanted)
{
	const struct setting only_mirrors[] = {{IMGCHECK_OPTION_REQUIRE_MIRROR, "true"}};
	struct imgcheck_config *c = config_with(NULL, 0);
	struct ic_endpoints found;

	read_mirrors(c, mirrors);
	imgcheck_config_set_no_mirrors(c);
	found = find(c, "quay.io/a");
	cr_assert_eq(found.list.count, 1);
	cr_assert_str_eq(at(&found, 0)->host, "quay.io");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
	c = config_with(only_mirrors, 1);
	read_mirrors(c, mirrors);
	imgcheck_config_set_no_mirrors(c);
	found = find(c, "quay.io/a");
	cr_assert_eq(found.list.count, 2, "what is left");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

/* Counts its calls in *arg. */
static int ask_helper(void *arg, const char *helper, const char *server, struct imgcheck_login *out)
{
	++*(size_t *)arg;
	if (strcmp(helper, "broken") == 0) {
		out->problem = strdup("it did not answer");
		return -1;
	}
	if (strcmp(helper, "empty") == 0)
		return 0;
	out->user = strdup(strcmp(helper, "token") == 0 ? "<token>" : server);
	out->secret = strdup("hunter2");
	return 0;
}

static const char helpers[] = "{\"auths\": {\"known.io\": {\"auth\": \"dTpw\"}}, \"credsStore\": \"store\", \"credHelpers\":"
                              " {\"token.io\": \"token\", \"broken.io\": \"broken\", \"empty.io\": \"empty\"}}";

TEST(endpoint, asks_helpers_where_no_entry_matches)
{
	static const struct {
		const char *image, *user, *token, *source;
	} wanted[] = {
		{"known.io/a", "u", NULL, "auth.json (known.io)"},
		{"x.io:5000/a", "x.io:5000", NULL, "auth.json (docker-credential-store)"},
		{"x.io:5000/b", "x.io:5000", NULL, "auth.json (docker-credential-store)"},
		{"busybox", "https://index.docker.io/v1/", NULL, "auth.json (docker-credential-store)"},
		{"token.io/a", NULL, "hunter2", "auth.json (docker-credential-token)"},
		{"empty.io/a", NULL, NULL, NULL},
	};
	struct imgcheck_config *c = config_with(NULL, 0);
	size_t calls = 0;

	imgcheck_config_set_login_fn(c, ask_helper, &calls);
	read_auth(c, "auth.json", helpers);
	cr_assert_null(ic_config_problem(c, 0));
	for (size_t i = 0; i < IC_COUNT(wanted); i++) {
		struct ic_endpoints found = find(c, wanted[i].image);
		const struct ic_login *login = &at(&found, 0)->login;

		cr_assert_eq(found.list.count, 1);
		cr_assert(wanted[i].user ? login->user && strcmp(login->user, wanted[i].user) == 0 : !login->user, "%s", wanted[i].image);
		cr_assert(!wanted[i].token == !login->identity_token, "%s", wanted[i].image);
		cr_assert(wanted[i].source ? strcmp(login->source, wanted[i].source) == 0 : !login->source, "%s", wanted[i].image);
		ic_endpoints_clear(&found);
	}
	cr_assert_eq(calls, 4, "each helper is asked once for each server, not %zu times", calls);
	imgcheck_config_free(c);
}

TEST(endpoint, asks_nobody_where_a_helper_fails)
{
	struct imgcheck_config *c = config_with(NULL, 0);
	struct ic_endpoints found;
	struct ic_ref ref;
	size_t calls = 0;

	imgcheck_config_set_login_fn(c, ask_helper, &calls);
	read_auth(c, "auth.json", helpers);
	cr_assert_eq(ic_ref_parse("broken.io/a", 11, &ref, NULL), 0);
	cr_assert_eq(ic_endpoints_find(c, &ref, &found, NULL), 0);
	cr_assert_eq(found.list.count, 0);
	cr_assert_eq(found.verdict, IMGCHECK_VERDICT_UNREACHABLE);
	cr_assert_str_eq(found.reason, "cannot ask docker-credential-broken (auth.json) for a login for broken.io: it did not answer");
	ic_endpoints_clear(&found);
	ic_ref_clear(&ref);
	imgcheck_config_free(c);
}

static const char registries_conf[] =
	"unqualified-search-registries = [\"a.io\", \"b.io\"]\nshort-name-mode = \"enforcing\"\n"
	"[[registry]]\nlocation = \"docker.io\"\n[[registry.mirror]]\nlocation = \"m.local/hub\"\ninsecure = true\n"
	"[[registry]]\nlocation = \"blocked.io\"\nblocked = true\n"
	"[[registry]]\nprefix = \"blocked.io/with\"\nlocation = \"blocked.io/with\"\nblocked = true\n"
	"[[registry.mirror]]\nlocation = \"m.local\"\n";

static const struct setting as_crio[] = {{IMGCHECK_OPTION_RUNTIME, "crio"}};

TEST(endpoint, follows_registries_conf)
{
	struct imgcheck_config *c = config_with(as_crio, 1);
	struct ic_endpoints found;

	read_auth(c, "auth.json", "{\"auths\": {\"docker.io\": {\"auth\": \"dTpw\"}, \"m.local/hub\": {\"auth\": \"bTpw\"}}}");
	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_CONF, "registries.conf", registries_conf,
	                                       strlen(registries_conf), NULL),
	             0);
	found = find(c, "docker.io/library/a:1");
	cr_assert_eq(found.list.count, 2);
	cr_assert_str_eq(at(&found, 0)->host, "m.local");
	cr_assert_str_eq(at(&found, 0)->repository, "hub/library/a");
	cr_assert(at(&found, 0)->skip_verify && at(&found, 0)->http_fallback && !at(&found, 0)->ns);
	cr_assert_str_eq(at(&found, 0)->login.user, "m", "a mirror has its own login");
	cr_assert_str_eq(at(&found, 1)->host, "registry-1.docker.io");
	cr_assert_str_eq(at(&found, 1)->login.user, "u");
	cr_assert(!at(&found, 1)->skip_verify);
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, asks_the_mirrors_of_a_blocked_registry)
{
	struct imgcheck_config *c = config_with(as_crio, 1);
	struct ic_endpoints found;

	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_CONF, "registries.conf", registries_conf,
	                                       strlen(registries_conf), NULL),
	             0);
	found = find(c, "blocked.io/with/a:1");
	cr_assert_eq(found.list.count, 2);
	cr_assert_str_eq(at(&found, 0)->host, "m.local");
	cr_assert(!at(&found, 0)->blocked && !at(&found, 0)->broken);
	cr_assert(at(&found, 1)->blocked);
	cr_assert_str_eq(at(&found, 1)->broken, "registries.conf blocks it");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

TEST(endpoint, asks_nobody_where_registries_conf_says_so)
{
	static const struct {
		const char *image, *reason;
		enum imgcheck_verdict verdict;
	} wanted[] = {
		{"blocked.io/a:1", "registries.conf blocks blocked.io/a", IMGCHECK_VERDICT_DENIED},
		{"a:1", "cannot pull the short name \"a\": several registries", IMGCHECK_VERDICT_INVALID},
	};
	struct imgcheck_config *c = config_with(as_crio, 1);

	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_CONF, "registries.conf", registries_conf,
	                                       strlen(registries_conf), NULL),
	             0);
	for (size_t i = 0; i < IC_COUNT(wanted); i++) {
		struct ic_endpoints found;
		struct ic_ref ref;

		cr_assert_eq(ic_ref_parse(wanted[i].image, strlen(wanted[i].image), &ref, NULL), 0);
		cr_assert_eq(ic_endpoints_find(c, &ref, &found, NULL), 0);
		cr_assert_eq(found.list.count, 0);
		cr_assert_eq(found.verdict, wanted[i].verdict, "%s", wanted[i].image);
		cr_assert(strstr(found.reason, wanted[i].reason), "%s", found.reason);
		ic_endpoints_clear(&found);
		ic_ref_clear(&ref);
	}
	imgcheck_config_free(c);
}

/* The most specific entry alone, where the kubelet would go through both; and no mirror of containerd's. */
TEST(endpoint, looks_credentials_up_as_crio_does)
{
	struct imgcheck_config *c = config_with(as_crio, 1);
	struct ic_endpoints found;

	read_auth(c, "auth.json", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}, \"r.io/team\": {\"auth\": \"dDpw\"}}}");
	found = find(c, "r.io/team/a:1");
	cr_assert_eq(found.list.count, 1);
	cr_expect_str_eq(at(&found, 0)->login.user, "t");
	cr_expect_str_eq(at(&found, 0)->login.source, "auth.json (r.io/team)");
	ic_endpoints_clear(&found);
	found = find(c, "r.io/teamwork/a:1");
	cr_expect_str_eq(at(&found, 0)->login.user, "u", "a path is no prefix of text");
	ic_endpoints_clear(&found);
	found = find(c, "localhost:5000/a:1");
	cr_expect_not(at(&found, 0)->skip_verify, "loopback is a host as any other");
	cr_expect_null(at(&found, 0)->login.user);
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

static void read_conf(struct imgcheck_config *c, const char *text)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_config_read_data(c, IMGCHECK_FILE_REGISTRIES_CONF, "registries.conf", text, strlen(text), &err), 0, "%s",
	             imgcheck_error_message(err));
}

/* Which login, or why none is known: each place by itself. */
static const struct {
	const char *conf, *first, *second; /* registries.conf, and two auth files */
	const char *user, *broken;
} lookups[] = {
	{"", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}, \"credHelpers\": {\"r.io\": \"good\"}}", "{}", "r.io", NULL},
	{"", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}, \"credHelpers\": {\"r.io\": \"empty\"}}", "{}", NULL, NULL},
	{"", "{\"credHelpers\": {\"r.io\": \"empty\"}}", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}}", "u", NULL},
	{"", "{\"credHelpers\": {\"r.io\": \"broken\"}}", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}}", NULL,
	 "cannot ask docker-credential-broken (first) for a login for r.io"},
	{"", "{\"credsStore\": \"good\"}", "{}", NULL, NULL},
	{"", "{\"credHelpers\": {\"https://r.io\": \"good\", \"r.io/team\": \"good\"}}", "{}", NULL, NULL},
	{"", "{\"auths\": {\"r.io/team\": {}, \"r.io\": {\"auth\": \"dTpw\"}}}", "{}", NULL, NULL},
	{"credential-helpers = [\"good\"]", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}}", "{}", "r.io", NULL},
	{"credential-helpers = [\"empty\"]", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}}", "{}", NULL, NULL},
	{"credential-helpers = [\"containers-auth.json\", \"good\"]", "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}}", "{}", "u", NULL},
	{"credential-helpers = [\"broken\", \"good\"]", "{}", "{}", "r.io", NULL},
	{"credential-helpers = [\"broken\", \"containers-auth.json\"]", "{}", "{}", NULL,
	 "cannot ask docker-credential-broken (registries.conf) for a login for r.io"},
	{"credential-helpers = [\"broken\", \"containers-auth.json\"]", "{\"credHelpers\": {\"r.io\": \"broken\"}}",
	 "{\"auths\": {\"r.io\": {\"auth\": \"dTpw\"}}}", NULL, "; cannot ask docker-credential-broken (first)"},
};

TEST(endpoint, looks_for_a_login_in_the_order_of_crio)
{
	for (size_t i = 0; i < IC_COUNT(lookups); i++) {
		struct imgcheck_config *c = config_with(as_crio, 1);
		struct ic_endpoints found;
		const struct ic_endpoint *e;
		size_t calls = 0;

		imgcheck_config_set_login_fn(c, ask_helper, &calls);
		read_conf(c, lookups[i].conf);
		read_auth(c, "first", lookups[i].first);
		read_auth(c, "second", lookups[i].second);
		found = find(c, "r.io/team/a:1");
		e = at(&found, 0);
		cr_expect_eq(found.list.count, 1);
		cr_expect(lookups[i].user ? e->login.user && strcmp(e->login.user, lookups[i].user) == 0 : !e->login.user, "row %zu: %s", i,
		          e->login.user ? e->login.user : "(none)");
		cr_expect(lookups[i].broken ? e->broken && strstr(e->broken, lookups[i].broken) : !e->broken, "row %zu: %s", i,
		          e->broken ? e->broken : "(not broken)");
		ic_endpoints_clear(&found);
		imgcheck_config_free(c);
	}
}

/* A mirror's helper is the mirror's affair. */
TEST(endpoint, asks_the_other_places_where_a_helper_fails)
{
	struct imgcheck_config *c = config_with(as_crio, 1);
	struct ic_endpoints found;
	size_t calls = 0;

	imgcheck_config_set_login_fn(c, ask_helper, &calls);
	read_conf(c, "[[registry]]\nlocation = \"r.io\"\n[[registry.mirror]]\nlocation = \"m.io\"\n");
	read_auth(c, "auth.json", "{\"credHelpers\": {\"m.io\": \"broken\", \"r.io\": \"good\"}}");
	found = find(c, "r.io/a:1");
	cr_assert_eq(found.list.count, 2);
	cr_assert_str_eq(at(&found, 0)->host, "m.io");
	cr_assert(at(&found, 0)->broken && !at(&found, 1)->broken);
	cr_assert_str_eq(at(&found, 1)->login.user, "r.io");
	ic_endpoints_clear(&found);
	imgcheck_config_free(c);
}

/* What a runtime does not read decides nothing, and is told, whether the runtime is set before or after. */
TEST(endpoint, tells_files_that_the_runtime_does_not_read)
{
	static const struct {
		enum imgcheck_file kind;
		const char *text, *runtime;
	} given[] = {
		{IMGCHECK_FILE_REGISTRIES_CONF, "[[registry]]\nlocation = \"r.io\"\nblocked = true\n", "containerd"},
		{IMGCHECK_FILE_REGISTRIES_YAML, "mirrors: {r.io: {endpoint: ['http://m.io']}}", "crio"},
		{IMGCHECK_FILE_CUSTOM_REGISTRIES, "[{\"url\": \"http://m.io\", \"host\": \"r.io\"}]", "crio"},
		{IMGCHECK_FILE_CONTAINERD, "[plugins.cri.registry.mirrors.\"r.io\"]\nendpoint = [\"http://m.io\"]", "crio"},
	};

	for (size_t i = 0; i < 2 * IC_COUNT(given); i++) {
		struct imgcheck_config *c = config_with(NULL, 0);
		struct ic_endpoints found;

		if (i % 2)
			cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, given[i / 2].runtime, NULL), 0);
		cr_assert_eq(imgcheck_config_read_data(c, given[i / 2].kind, "given", given[i / 2].text, strlen(given[i / 2].text), NULL),
		             0);
		if (i % 2 == 0)
			cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, given[i / 2].runtime, NULL), 0);
		cr_assert(strstr(imgcheck_error_message(ic_config_problem(c, 0)), "does not read it"));
		cr_assert_str_eq(imgcheck_error_place(ic_config_problem(c, 0), NULL, NULL), "given");
		cr_assert_null(ic_config_problem(c, 1));
		found = find(c, "r.io/a:1");
		cr_assert_eq(found.list.count, 1);
		cr_assert_str_eq(at(&found, 0)->host, "r.io");
		ic_endpoints_clear(&found);
		imgcheck_config_free(c);
	}
}
