/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template.h"

/*
 * The same templates rendered by Jinja2 (tests/template/jinja2-cases) and here.  A larger run of random ones, or
 * other ones:  TEMPLATE_CASES=2500 TEMPLATE_SEED=7 build/release/tests/test_template_jinja
 */

#define DEFAULT_CASES "400"
#define DEFAULT_SEED  "1"
#define SHOWN         10 /* differences printed */

extern char **environ;

/* What came out, counted. */
struct tally {
	size_t cases, same, refused_by_both, refused_here, different;
};

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

static bool has_jinja(void)
{
	char python[] = "/usr/bin/python3", option[] = "-c", import[] = "import jinja2";
	char *probe[] = {python, option, import, NULL};
	pid_t child;
	int status;

	if (posix_spawn(&child, python, NULL, NULL, probe, environ) != 0)
		return false;
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status == 0;
}

/* Starts the script, whose output can be read from *from. */
static pid_t start(char *const arguments[], FILE **from)
{
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	cr_assert_eq(posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	*from = fdopen(ends[0], "r");
	cr_assert(*from);
	return child;
}

static void show_difference(const json_t *c, const struct ic_buf *out, const struct imgcheck_error *err)
{
	char *template = json_dumps(json_object_get(c, "template"), JSON_ENCODE_ANY);
	char *theirs = json_dumps(json_object_get(c, json_object_get(c, "output") ? "output" : "error"), JSON_ENCODE_ANY);

	fprintf(stderr, "different: %s\n  template: %.2000s\n  jinja2:   %.2000s\n  here:     %.2000s%s\n",
	        ic_json_text(c, "name"), template, theirs, ic_buf_text(out), imgcheck_error_message(err));
	free(template);
	free(theirs);
}

static bool is_same(const struct ic_buf *out, const json_t *expected)
{
	return out->len == json_string_length(expected) && memcmp(ic_buf_text(out), json_string_value(expected), out->len) == 0;
}

static void run_case(const json_t *c, struct tally *t)
{
	const json_t *template = json_object_get(c, "template"), *expected = json_object_get(c, "output");
	struct imgcheck_error *err = NULL;
	struct ic_buf out;
	int result;

	ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
	result = ic_template_render("case", json_string_value(template), json_string_length(template),
	                            json_object_get(c, "values"), &out, NULL, &err);
	t->cases++;
	if (result < 0 && !expected) {
		t->refused_by_both++;
	} else if (result < 0 && !json_is_true(json_object_get(c, "whole"))) {
		if (++t->refused_here <= SHOWN)
			fprintf(stderr, "refused here: %s: %s\n", ic_json_text(c, "name"), imgcheck_error_message(err));
	} else if (result == 0 && expected && is_same(&out, expected)) {
		t->same++;
	} else if (++t->different <= SHOWN) {
		show_difference(c, &out, err);
	}
	imgcheck_error_free(err);
	ic_buf_clear(&out);
}

static struct tally run(char *const arguments[])
{
	struct tally t = {0};
	char *line = NULL;
	size_t capacity = 0;
	ssize_t len;
	int status;
	FILE *f;
	pid_t child = start(arguments, &f);

	while ((len = getline(&line, &capacity, f)) > 0) {
		json_t *c = NULL;

		cr_assert_eq(ic_json_parse("case", line, (size_t)len, &c, NULL), 0, "%s", line);
		run_case(c, &t);
		json_decref(c);
	}
	free(line);
	(void)fclose(f);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	fprintf(stderr, "%zu templates: %zu same, %zu refused by both, %zu refused here alone, %zu different\n", t.cases, t.same,
	        t.refused_by_both, t.refused_here, t.different);
	return t;
}

TEST(template_jinja, random_templates)
{
	char script[] = "tests/template/jinja2-cases", kind[] = "random", seed[32], cases[32];
	char *arguments[] = {script, kind, seed, cases, NULL};
	struct tally t;

	if (!has_jinja())
		cr_skip("/usr/bin/python3 has no jinja2 here");
	(void)snprintf(seed, sizeof(seed), "%s", setting("TEMPLATE_SEED", DEFAULT_SEED));
	(void)snprintf(cases, sizeof(cases), "%s", setting("TEMPLATE_CASES", DEFAULT_CASES));
	t = run(arguments);
	cr_assert_eq(t.cases, strtoul(cases, NULL, 10));
	cr_assert_eq(t.different, 0);
	cr_assert_gt(t.same, t.cases / 4);
	cr_assert_leq(t.refused_here, t.cases / 20, "the generator leaves the subset, or the subset lost something");
}

TEST(template_jinja, templates_of_real_addons)
{
	char script[] = "tests/template/jinja2-cases", kind[] = "corpus", folder[] = "../shared/corpus";
	char *arguments[] = {script, kind, folder, NULL};
	struct tally t;

	if (!test_shared("corpus") || !has_jinja())
		cr_skip("../shared/corpus or jinja2 is not here");
	t = run(arguments);
	cr_assert_eq(t.different, 0);
	cr_assert_gt(t.same, 400);
}
