/* SPDX-License-Identifier: Apache-2.0 */
#include "source/host_login.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "test.h"

static const struct row {
	struct ic_cri_auth auth;
	const char *host;
	const char *user, *secret, *token; /* all NULL: nothing */
	bool error;
} rows[] = {
	{{.user = "u", .password = "p"}, "x.io", "u", "p", NULL, false},
	{{.user = "u"}, "x.io", "u", "", NULL, false},
	{{.user = "u", .identity_token = "T"}, "x.io", "u", "", NULL, false},
	{{.identity_token = "T", .auth = "dTpw"}, "x.io", NULL, NULL, "T", false},
	{{.user = "", .auth = "dTpwOnE="}, "x.io", "u", "p:q", NULL, false},
	{{.auth = "bm9jb2xvbg=="}, "x.io", NULL, NULL, NULL, true},
	{{.auth = "!!!"}, "x.io", NULL, NULL, NULL, true},
	{{.auth = "AAA6"}, "x.io", NULL, NULL, NULL, true},
	{{.password = "p"}, "x.io", NULL, NULL, NULL, false},
	{{.user = "u", .password = "p", .server_address = "https://x.io"}, "x.io", "u", "p", NULL, false},
	{{.user = "u", .password = "p", .server_address = "http://x.io/v1/"}, "x.io", "u", "p", NULL, false},
	{{.user = "u", .password = "p", .server_address = "https://x.io"}, "x.io:443", NULL, NULL, NULL, false},
	{{.user = "u", .password = "p", .server_address = "https://y.io"}, "x.io", NULL, NULL, NULL, false},
	{{.user = "u", .password = "p", .server_address = "x.io"}, "x.io", NULL, NULL, NULL, false},
	{{.server_address = ""}, "x.io", NULL, NULL, NULL, false},
};

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

TEST(host_login, is_read_as_containerd_reads_it)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_host_login login;
		int result = ic_cri_auth_read(&rows[i].auth, rows[i].host, &login, &err);

		cr_assert_eq(result, rows[i].error ? IMGCHECK_ERR_CONFIG : 0, "row %zu", i);
		cr_assert(same(login.user, rows[i].user) && same(login.secret, rows[i].secret), "row %zu", i);
		cr_assert(same(login.identity_token, rows[i].token), "row %zu", i);
		imgcheck_error_free(err);
		ic_host_login_clear(&login);
	}
}

/* "user u, secret p", "user u, empty secret ...", "none", "anonymous", "error: ..." */
static void check_fact(const struct test_table *t, size_t row)
{
	const char *id = test_table_get(t, row, "id"), *host = test_table_get(t, row, "image_or_host");
	const char *expected = test_table_get(t, row, "expected");
	json_t *config = json_loads(test_table_get(t, row, "config"), 0, NULL);
	struct ic_cri_auth auth = {ic_json_text(config, "username"), ic_json_text(config, "password"), ic_json_text(config, "auth"),
	                           ic_json_text(config, "identitytoken"), ic_json_text(config, "serveraddress")};
	bool error = strncmp(expected, "error", 5) == 0;
	struct imgcheck_error *err = NULL;
	struct ic_host_login login;
	char told[64] = "";

	cr_assert(config, "%s", id);
	cr_assert_eq(ic_cri_auth_read(&auth, host, &login, &err), error ? IMGCHECK_ERR_CONFIG : 0, "%s", id);
	if (login.user)
		(void)snprintf(told, sizeof(told), login.secret[0] ? "user %s, secret %s" : "user %s, empty secret",
		               login.user, login.secret);
	if (strncmp(expected, "user ", 5) == 0)
		cr_assert(told[0] && ic_text_starts(expected, strlen(expected), told), "%s: %s", id, told);
	else
		cr_assert(!told[0] && !login.identity_token, "%s", id);
	imgcheck_error_free(err);
	ic_host_login_clear(&login);
	json_decref(config);
}

TEST(host_login, agrees_with_the_facts)
{
	const char *path = test_shared("facts/credential_lookup.tsv");
	struct test_table *t;
	size_t count = 0;

	if (!path)
		cr_skip("no ../shared");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++)
		if (strcmp(test_table_get(t, row, "algorithm"), "containerd CRI ParseAuth") == 0) {
			check_fact(t, row);
			count++;
		}
	cr_assert(count > 0);
	test_table_close(t);
}

TEST(host_login, is_for_the_host_as_it_is_written)
{
	struct ic_vec logins;

	ic_host_logins_init(&logins);
	for (size_t i = 0; i < 2; i++) {
		struct ic_host_login login = {.host = strdup(i ? "x.io" : "x.io:5000"), .user = strdup("u"), .secret = strdup("p")};

		cr_assert_eq(ic_vec_push(&logins, &login, NULL), 0);
	}
	cr_assert_str_eq(ic_host_logins_find(&logins, "x.io")->host, "x.io");
	cr_assert_null(ic_host_logins_find(&logins, "x.io:443"));
	ic_host_logins_cut(&logins, 1);
	cr_assert_null(ic_host_logins_find(&logins, "x.io"));
	ic_host_logins_clear(&logins);
}
