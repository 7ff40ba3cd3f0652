/* SPDX-License-Identifier: Apache-2.0 */
#include "source/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "source/authfile.h"
#include "test.h"

static struct imgcheck_config *config_new(void)
{
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	return c;
}

static void set(struct imgcheck_config *c, enum imgcheck_option o, const char *value)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_config_set(c, o, value, &err), 0, "%s", imgcheck_error_message(err));
}

static int read_text(struct imgcheck_config *c, enum imgcheck_file kind, const char *text, struct imgcheck_error **err)
{
	return imgcheck_config_read_data(c, kind, "given", text, strlen(text), err);
}

/* Failed with the code, and with a message that holds the part; *err is usable again. */
static void check_failure(int result, enum imgcheck_err code, struct imgcheck_error **err, const char *part)
{
	cr_assert_eq(result, code, "%s", imgcheck_error_message(*err));
	cr_assert_eq(imgcheck_error_code(*err), code);
	cr_assert(strstr(imgcheck_error_message(*err), part), "%s", imgcheck_error_message(*err));
	imgcheck_error_free(*err);
	*err = NULL;
}

static const struct {
	enum imgcheck_outcome outcome;
	enum imgcheck_option option;
	enum imgcheck_decision effect; /* by default */
} policy[] = {
	{IMGCHECK_OUTCOME_MISSING, IMGCHECK_OPTION_ON_MISSING, IMGCHECK_DECISION_VETO},
	{IMGCHECK_OUTCOME_ALREADY_MISSING, IMGCHECK_OPTION_ON_ALREADY_MISSING, IMGCHECK_DECISION_WARN},
	{IMGCHECK_OUTCOME_ACCESS, IMGCHECK_OPTION_ON_ACCESS, IMGCHECK_DECISION_VETO},
	{IMGCHECK_OUTCOME_UNDECIDED, IMGCHECK_OPTION_ON_UNDECIDED, IMGCHECK_DECISION_VETO},
	{IMGCHECK_OUTCOME_HINT, IMGCHECK_OPTION_ON_HINT, IMGCHECK_DECISION_WARN},
	{IMGCHECK_OUTCOME_UNRESOLVED, IMGCHECK_OPTION_ON_UNRESOLVED, IMGCHECK_DECISION_WARN},
	{IMGCHECK_OUTCOME_UNREADABLE, IMGCHECK_OPTION_ON_UNREADABLE, IMGCHECK_DECISION_VETO},
	{IMGCHECK_OUTCOME_INTERNAL, IMGCHECK_OPTION_ON_INTERNAL_ERROR, IMGCHECK_DECISION_WARN},
};

TEST(config, judges_by_the_policy)
{
	struct imgcheck_config *c = config_new();

	cr_assert_eq(ic_config_effect(c, IMGCHECK_OUTCOME_OK), IMGCHECK_DECISION_ALLOW);
	cr_assert_eq(ic_config_effect(c, IMGCHECK_OUTCOME_SKIPPED), IMGCHECK_DECISION_ALLOW);
	for (size_t i = 0; i < IC_COUNT(policy); i++) {
		cr_assert_eq(ic_config_effect(c, policy[i].outcome), policy[i].effect, "row %zu", i);
		set(c, policy[i].option, "veto");
		cr_assert_eq(ic_config_effect(c, policy[i].outcome), IMGCHECK_DECISION_VETO, "row %zu", i);
		set(c, policy[i].option, "warn");
		cr_assert_eq(ic_config_effect(c, policy[i].outcome), IMGCHECK_DECISION_WARN, "row %zu", i);
	}
	imgcheck_config_free(c);
}

TEST(config, has_defaults)
{
	struct imgcheck_config *c = config_new();
	struct ic_platform host;
	size_t len = 1;

	ic_platform_host(&host);
	cr_assert_eq(ic_config_depth(c), IC_DEPTH_BLOBS);
	cr_assert_eq(ic_config_deadline_seconds(c), 240);
	cr_assert_eq(ic_config_platform_count(c), 1);
	cr_assert_str_eq(ic_config_platform(c, 0)->architecture, host.architecture);
	cr_assert_null(ic_config_value(c, IMGCHECK_OPTION_REGISTRY));
	cr_assert_null(ic_config_ca_pem(c, &len));
	cr_assert_eq(len, 0);
	cr_assert_null(ic_config_ca_system(c));
	cr_assert(!ic_config_subject(c) && !ic_config_consequence(c) && !ic_config_remedy(c, 0));
	cr_assert_not(ic_config_ignores(c, "docker.io/library/busybox:latest"));
	cr_assert_null(ic_config_login(c, 0));
	cr_assert_null(ic_config_problem(c, 0));
	imgcheck_config_free(c);
	imgcheck_config_free(NULL);
}

TEST(config, keeps_the_last_of_one_and_all_of_a_list)
{
	struct imgcheck_config *c = config_new();

	set(c, IMGCHECK_OPTION_DEPTH, "tag");
	set(c, IMGCHECK_OPTION_DEPTH, "platform");
	set(c, IMGCHECK_OPTION_DEADLINE, "12");
	set(c, IMGCHECK_OPTION_PLATFORM, "linux/arm64");
	set(c, IMGCHECK_OPTION_PLATFORM, "linux/s390x");
	set(c, IMGCHECK_OPTION_IGNORE, "quay.io/*");
	set(c, IMGCHECK_OPTION_IGNORE, "*:nightly");
	set(c, IMGCHECK_OPTION_SUBJECT, "addons");
	set(c, IMGCHECK_OPTION_CONSEQUENCE, "stopped");
	set(c, IMGCHECK_OPTION_REMEDY, "first");
	set(c, IMGCHECK_OPTION_REMEDY, "second");
	cr_assert_eq(ic_config_depth(c), IC_DEPTH_PLATFORM);
	cr_assert_eq(ic_config_deadline_seconds(c), 12);
	cr_assert_eq(ic_config_platform_count(c), 2);
	cr_assert_str_eq(ic_config_platform(c, 0)->architecture, "arm64");
	cr_assert_str_eq(ic_config_platform(c, 1)->architecture, "s390x");
	cr_assert(ic_config_ignores(c, "quay.io/a/b:1"));
	cr_assert(ic_config_ignores(c, "ghcr.io/a/b:nightly"));
	cr_assert_not(ic_config_ignores(c, "ghcr.io/a/b:1"));
	cr_assert_str_eq(ic_config_subject(c), "addons");
	cr_assert_str_eq(ic_config_consequence(c), "stopped");
	cr_assert_str_eq(ic_config_remedy(c, 1), "second");
	cr_assert_null(ic_config_remedy(c, 2));
	imgcheck_config_free(c);
}

TEST(config, is_unchanged_by_a_bad_value)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;

	set(c, IMGCHECK_OPTION_DEPTH, "tag");
	check_failure(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, "deep", &err), IMGCHECK_ERR_CONFIG, &err, "depth");
	cr_assert_eq(ic_config_depth(c), IC_DEPTH_TAG);
	imgcheck_config_free(c);
}

TEST(config, bounds_lists)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;

	for (size_t i = 0; i < IC_MAX_LIST_ITEMS; i++)
		set(c, IMGCHECK_OPTION_REMEDY, "more");
	check_failure(imgcheck_config_set(c, IMGCHECK_OPTION_REMEDY, "more", &err), IMGCHECK_ERR_LIMIT, &err, "cannot hold");
	imgcheck_config_free(c);
}

TEST(config, refuses_changes_once_frozen)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;

	ic_config_freeze(c);
	check_failure(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, "tag", &err), IMGCHECK_ERR_ARGUMENT, &err, "a run holds");
	check_failure(read_text(c, IMGCHECK_FILE_AUTH, "{}", &err), IMGCHECK_ERR_ARGUMENT, &err, "a run holds");
	check_failure(imgcheck_config_set_login(c, NULL, "u", "p", &err), IMGCHECK_ERR_ARGUMENT, &err, "a run holds");
	imgcheck_config_free(c);
}

TEST(config, holds_one_login_for_a_host)
{
	struct imgcheck_config *c = config_new();

	cr_assert_eq(imgcheck_config_set_login(c, "r.example.com:5000", "u", "p", NULL), 0);
	cr_assert_eq(imgcheck_config_set_login(c, NULL, "v", "q", NULL), 0);
	cr_assert_eq(imgcheck_config_set_login(c, "R.example.com:5000", "w", "", NULL), 0);
	cr_assert_str_eq(ic_config_login(c, 0)->user, "w");
	cr_assert_str_eq(ic_config_login(c, 0)->secret, "");
	cr_assert_null(ic_config_login(c, 1)->host);
	cr_assert_null(ic_config_login(c, 2));
	imgcheck_config_free(c);
}

TEST(config, refuses_bad_logins_without_telling_secrets)
{
	static const struct {
		const char *host, *user, *secret;
		enum imgcheck_err code;
	} rows[] = {
		{"https://r.example.com", "u", "hunter2", IMGCHECK_ERR_CONFIG},
		{"r.example.com/path", "u", "hunter2", IMGCHECK_ERR_CONFIG},
		{"r.example.com", "hunter2:x", "hunter2", IMGCHECK_ERR_CONFIG},
		{"r.example.com", "", "hunter2", IMGCHECK_ERR_CONFIG},
		{"r.example.com", NULL, "hunter2", IMGCHECK_ERR_ARGUMENT},
		{"r.example.com", "u", NULL, IMGCHECK_ERR_ARGUMENT},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_config *c = config_new();
		struct imgcheck_error *err = NULL;

		cr_assert_eq(imgcheck_config_set_login(c, rows[i].host, rows[i].user, rows[i].secret, &err), rows[i].code, "row %zu", i);
		cr_assert(!strstr(imgcheck_error_message(err), "hunter2"), "%s", imgcheck_error_message(err));
		cr_assert_null(ic_config_login(c, 0));
		imgcheck_error_free(err);
		imgcheck_config_free(c);
	}
}

TEST(config, adds_own_certificates_to_the_system_s)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;
	char *own = test_read_file(test_data("trust/valid/one.pem"), NULL);
	size_t len, twice;

	cr_assert_eq(read_text(c, IMGCHECK_FILE_CA, own, &err), 0, "%s", imgcheck_error_message(err));
	cr_assert_not_null(ic_config_ca_pem(c, &len));
	cr_assert(strstr(ic_config_ca_pem(c, &len), own));
	cr_assert_eq(strlen(ic_config_ca_pem(c, &len)), len);
	if (ic_config_ca_system(c)) {
		size_t system_len;
		char *system_pem = test_read_file(ic_config_ca_system(c), &system_len);

		cr_assert(len >= system_len + strlen(own));
		cr_assert_eq(memcmp(ic_config_ca_pem(c, &len), system_pem, system_len), 0);
		free(system_pem);
	}
	cr_assert_eq(read_text(c, IMGCHECK_FILE_CA, own, &err), 0);
	cr_assert_not_null(ic_config_ca_pem(c, &twice));
	cr_assert_eq(twice, len + strlen(own), "the system's certificates stand there once");
	free(own);
	imgcheck_config_free(c);
}

TEST(config, refuses_what_holds_no_certificate)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;
	size_t len;

	check_failure(read_text(c, IMGCHECK_FILE_CA, "nothing\n", &err), IMGCHECK_ERR_SYNTAX, &err, "cannot find a certificate");
	check_failure(imgcheck_config_read(c, IMGCHECK_FILE_CA, "/nonexistent/ca.pem", &err), IMGCHECK_ERR_IO, &err, "cannot read");
	cr_assert_null(ic_config_ca_pem(c, &len));
	imgcheck_config_free(c);
}

TEST(config, reads_auth_files_and_tells_what_is_not_used)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;
	const struct imgcheck_error *problem;
	char path[] = "/tmp/imgcheck-test-XXXXXX";
	static const char text[] = "{\"auths\": {\"r.example.com\": {\"auth\": \"dTpw\", \"identitytoken\": \"hunter2\"}},"
	                           " \"credsStore\": \"desktop\"}";
	int fd = test_file(path);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
	cr_assert_eq(imgcheck_config_read(c, IMGCHECK_FILE_AUTH, path, &err), 0, "%s", imgcheck_error_message(err));
	(void)unlink(path);
	cr_assert_eq(ic_config_authfiles(c)->count, 1);
	problem = ic_config_problem(c, 0);
	cr_assert_eq(imgcheck_error_code(problem), IMGCHECK_ERR_FINDING);
	cr_assert(strstr(imgcheck_error_message(problem), "docker-credential-desktop"));
	cr_assert_str_eq(imgcheck_error_place(problem, NULL, NULL), path);
	problem = ic_config_problem(c, 1);
	cr_assert(strstr(imgcheck_error_message(problem), "identity token of \"r.example.com\""));
	cr_assert(!strstr(imgcheck_error_message(problem), "hunter2"));
	cr_assert_null(ic_config_problem(c, 2));
	imgcheck_config_free(c);
}

TEST(config, refuses_wrong_calls_of_read)
{
	struct imgcheck_config *c = config_new();
	struct imgcheck_error *err = NULL;
	char *large = calloc(1, IC_MAX_CONFIG_BYTES + 1);

	check_failure(imgcheck_config_read(c, IMGCHECK_FILE_AUTH, NULL, &err), IMGCHECK_ERR_ARGUMENT, &err, "path");
	check_failure(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, NULL, "", 0, &err), IMGCHECK_ERR_ARGUMENT, &err, "name");
	check_failure(imgcheck_config_read_data(c, (enum imgcheck_file)99, "x", "", 0, &err), IMGCHECK_ERR_ARGUMENT, &err, "kind");
	check_failure(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "x", large, IC_MAX_CONFIG_BYTES + 1, &err),
	              IMGCHECK_ERR_LIMIT, &err, "more than");
	check_failure(imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "x", NULL, 0, &err), IMGCHECK_ERR_SYNTAX, &err, "JSON");
	cr_assert_eq(ic_config_authfiles(c)->count, 0);
	free(large);
	imgcheck_config_free(c);
}

static void count_event(void *arg, const struct imgcheck_event *event)
{
	*(size_t *)arg += event->done;
}

TEST(config, tells_events)
{
	struct imgcheck_config *c = config_new();
	const struct imgcheck_event event = {.kind = IMGCHECK_EVENT_DONE, .text = "x", .done = 3, .total = 4};
	size_t seen = 0;

	ic_config_tell(c, &event);
	imgcheck_config_set_event_fn(c, count_event, &seen);
	ic_config_tell(c, &event);
	cr_assert_eq(seen, 3);
	imgcheck_config_free(c);
}
