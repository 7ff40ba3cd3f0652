/* SPDX-License-Identifier: Apache-2.0 */
#include "check/login_helper.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* A folder with one helper, docker-credential-test, a shell script; it is in front of PATH. */
static void make_helper(char *folder, const char *script)
{
	char path[128], search[256];
	FILE *f;

	test_folder(folder);
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
	{"echo hunter2 >&2; exit 3", NULL, NULL, "exit status 3"},
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

/* The process is there and no zombie. */
static bool is_running(long pid)
{
	char path[64], line[256] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	(void)fclose(f);
	return line[0] && !strstr(line, ") Z ");
}

/* What the helper started is ended with it: the file has its process id. */
static void check_that_it_ends(const char *folder)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char path[128], text[32] = "";
	long pid;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/pid", folder);
	f = fopen(path, "r");
	cr_assert(f && fgets(text, sizeof(text), f));
	(void)fclose(f);
	cr_assert_eq(unlink(path), 0);
	pid = strtol(text, NULL, 10);
	cr_assert_gt(pid, 1);
	for (int i = 0; i < 300 && is_running(pid); i++)
		nanosleep(&pause, NULL);
	cr_assert(!is_running(pid), "process %ld outlives the helper", pid);
}

TEST(hook_login_helper, ends_one_that_hangs)
{
	static const char *const scripts[] = {
		"exec sleep 100",
		"echo '{\"Username\": \"u\", \"Secret\": \"hunter2\"}'; exec sleep 100",
		"echo '{\"Username\": \"u\", \"Secret\": \"hunter2\"}'; exec >&- 2>&-; sleep 100",
		"trap '' TERM; sleep 100 & wait",
	};
	int64_t limit = 300;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		char folder[] = "/tmp/imgcheck-helper-XXXXXX", script[256];
		struct imgcheck_login login = {0};
		time_t began = time(NULL);

		(void)snprintf(script, sizeof(script), "sleep 100 >/dev/null 2>&1 & echo $! >${0%%/*}/pid\n%s", scripts[i]);
		make_helper(folder, script);
		cr_assert_lt(login_helper_ask(&limit, "test", "r.example.com", &login), 0, "row %zu", i);
		cr_assert(!login.user && !login.secret, "row %zu", i);
		cr_assert_str_eq(login.problem, "it did not answer in 0.3 s", "row %zu", i);
		cr_assert_lt(time(NULL) - began, 10, "row %zu", i);
		check_that_it_ends(folder);
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
