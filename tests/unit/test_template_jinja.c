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
 * The same random templates rendered by Jinja2 (tests/template/jinja2-cases) and here.  A larger run, or
 * another one:  TEMPLATE_CASES=20000 TEMPLATE_SEED=7 build/release/tests/test_template_jinja
 */

#define DEFAULT_CASES "400"
#define DEFAULT_SEED "1"
#define SHOWN 10 /* differences printed */

extern char **environ;

/* What came out, counted. */
struct tally {
	size_t same, refused_by_both, refused_here, different;
};

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

/* Starts the generator; its output can be read from the descriptor.  0 where there is no Jinja2. */
static pid_t start_generator(int *from)
{
	char seed[32], cases[32];
	char python[] = "/usr/bin/python3", script[] = "tests/template/jinja2-cases", check[] = "-c", import[] = "import jinja2";
	char *probe[] = {python, check, import, NULL}, *arguments[] = {python, script, seed, cases, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status;
	pid_t child;

	(void)snprintf(seed, sizeof(seed), "%s", setting("TEMPLATE_SEED", DEFAULT_SEED));
	(void)snprintf(cases, sizeof(cases), "%s", setting("TEMPLATE_CASES", DEFAULT_CASES));
	if (posix_spawn(&child, python, NULL, NULL, probe, environ) != 0)
		return 0;
	cr_assert_eq(waitpid(child, &status, 0), child);
	if (status != 0)
		return 0;
	cr_assert_eq(pipe(ends), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	cr_assert_eq(posix_spawn(&child, python, &actions, NULL, arguments, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	*from = ends[0];
	return child;
}

static void show(const char *what, const json_t *c, const struct ic_buf *out, const struct imgcheck_error *err)
{
	char *template = json_dumps(json_object_get(c, "template"), JSON_ENCODE_ANY);
	char *theirs = json_dumps(json_object_get(c, json_object_get(c, "output") ? "output" : "error"), JSON_ENCODE_ANY);

	fprintf(stderr, "%s\n  template: %s\n  jinja2:   %s\n  here:     %s%s\n", what, template, theirs, ic_buf_text(out),
	        imgcheck_error_message(err));
	free(template);
	free(theirs);
}

static void run_case(const json_t *c, struct tally *t)
{
	const json_t *template = json_object_get(c, "template"), *expected = json_object_get(c, "output");
	struct imgcheck_error *err = NULL;
	struct ic_buf out;
	int result;

	ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
	result = ic_template_render("case", json_string_value(template), json_string_length(template), json_object_get(c, "values"),
	                            &out, NULL, &err);
	if (result < 0 && !expected) {
		t->refused_by_both++;
	} else if (result < 0) {
		if (++t->refused_here <= SHOWN)
			show("refused here", c, &out, err);
	} else if (expected && out.len == json_string_length(expected) && memcmp(ic_buf_text(&out), json_string_value(expected), out.len) == 0) {
		t->same++;
	} else if (++t->different <= SHOWN) {
		show("different", c, &out, err);
	}
	imgcheck_error_free(err);
	ic_buf_clear(&out);
}

TEST(template_jinja, same_bytes_or_both_refuse)
{
	struct tally t = {0};
	char *line = NULL;
	size_t capacity = 0, cases = 0;
	ssize_t len;
	int from, status;
	pid_t child = start_generator(&from);
	FILE *f;

	if (!child)
		cr_skip("/usr/bin/python3 has no jinja2 here");
	f = fdopen(from, "r");
	while ((len = getline(&line, &capacity, f)) > 0) {
		json_t *c = NULL;

		cr_assert_eq(ic_json_parse("case", line, (size_t)len, &c, NULL), 0, "%s", line);
		run_case(c, &t);
		json_decref(c);
		cases++;
	}
	free(line);
	(void)fclose(f);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	fprintf(stderr, "%zu templates: %zu same, %zu refused by both, %zu refused here alone, %zu different\n", cases, t.same,
	        t.refused_by_both, t.refused_here, t.different);
	cr_assert_eq(cases, strtoul(setting("TEMPLATE_CASES", DEFAULT_CASES), NULL, 10));
	cr_assert_eq(t.different, 0);
	cr_assert_gt(t.same, cases / 4);
	cr_assert_leq(t.refused_here, cases / 20, "the generator leaves the subset, or the subset lost something");
}
