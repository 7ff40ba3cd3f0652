/* SPDX-License-Identifier: Apache-2.0 */
#include "login_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* A folder with one helper, docker-credential-test, a shell script; it is in front of PATH. */
static void make_helper(char *folder, const char *script)
{
	char path[128], search[256];
	FILE *f;

	cr_assert(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/docker-credential-test", folder);
	f = fopen(path, "w");
	cr_assert(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	(void)fclose(f);
	cr_assert_eq(chmod(path, 0755), 0);
	(void)snprintf(search, sizeof(search), "%s:/usr/bin:/bin", folder);
	cr_assert_eq(setenv("PATH", search, 1), 0);
}

static void remove_helper(const char *folder)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/docker-credential-test", folder);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(rmdir(folder), 0);
}

static const struct {
	const char *script;
	const char *user, *secret;
	const char *problem; /* a part; NULL: there is none */
} rows[] = {
	{"[ \"$1\" = get ] && read -r server; echo '{\"ServerURL\": \"'$server'\", \"Username\": \"u-'$server'\", \"Secret\": \"s\"}'",
	 "u-r.example.com", "s", NULL},
	{"echo '{\"Username\": \"<token>\", \"Secret\": \"T\"}'", "<token>", "T", NULL},
	{"echo; echo ' credentials not found in native keychain '; exit 1", NULL, NULL, NULL},
	{"echo 'no credentials server URL'; exit 1", NULL, NULL, "exit status 1"},
	{"echo 'hunter2'; exit 0", NULL, NULL, "not an object with Username and Secret"},
	{"echo '{\"Username\": \"u\"}'", NULL, NULL, "not an object with Username and Secret"},
	{"kill -9 $$", NULL, NULL, "by signal 9"},
	{"exec yes hunter2", NULL, NULL, "printed too much"},
};

TEST(hook_login_helper, speaks_the_protocol)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char folder[] = "/tmp/imgcheck-helper-XXXXXX";
		struct imgcheck_login login = {0};
		int result;

		make_helper(folder, rows[i].script);
		result = login_helper_ask(NULL, "test", "r.example.com", &login);
		cr_assert_eq(result < 0, rows[i].problem != NULL, "row %zu: %s", i, login.problem ? login.problem : "");
		if (rows[i].problem) {
			cr_assert(strstr(login.problem, rows[i].problem), "row %zu: %s", i, login.problem);
			cr_assert(!strstr(login.problem, "hunter2"), "row %zu", i);
		} else if (rows[i].user) {
			cr_assert_str_eq(login.user, rows[i].user, "row %zu", i);
			cr_assert_str_eq(login.secret, rows[i].secret, "row %zu", i);
		} else {
			cr_assert_null(login.user, "row %zu", i);
		}
		free(login.user);
		free(login.secret);
		free(login.problem);
		remove_helper(folder);
	}
}

TEST(hook_login_helper, runs_no_other_program)
{
	static const char *const names[] = {"none-of-that-name", "../../../bin/sh", "", "-x", "a b", "x;y"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct imgcheck_login login = {0};

		cr_assert_lt(login_helper_ask(NULL, names[i], "r.example.com", &login), 0, "%s", names[i]);
		cr_assert_not_null(login.problem);
		cr_assert(!login.user && !login.secret);
		free(login.problem);
	}
}

/* The rows of the protocol in the facts have one above. */
TEST(hook_login_helper, knows_the_facts)
{
	static const char *const ids[] = {"C099", "C101", "C103", "C106", "C107"};
	const char *path = test_shared("facts/credential_lookup.tsv");
	struct test_table *t;
	size_t count = 0;

	if (!path)
		cr_skip("no ../shared");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++)
		if (strcmp(test_table_get(t, row, "algorithm"), "credential helper protocol") == 0) {
			cr_assert_lt(count, sizeof(ids) / sizeof(ids[0]));
			cr_assert_str_eq(test_table_get(t, row, "id"), ids[count++]);
		}
	cr_assert_eq(count, sizeof(ids) / sizeof(ids[0]));
	test_table_close(t);
}
