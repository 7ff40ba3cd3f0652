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
#include "base/toml.h"
#include "toml.h"

/*
 * The same random texts read by Python's tomllib (tests/toml/tomllib-cases) and here.  A larger run, or
 * another one:  TOML_CASES=100000 TOML_SEED=7 build/release/tests/test_toml_python
 */

#define DEFAULT_CASES "3000"
#define DEFAULT_SEED "1"
#define SHOWN 10 /* differences printed */

extern char **environ;

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

/* Starts the generator; its output can be read from the descriptor.  0 where there is no tomllib. */
static pid_t start_generator(int *from)
{
	char seed[32], cases[32];
	char python[] = "/usr/bin/python3", script[] = "tests/toml/tomllib-cases", check[] = "-c", import[] = "import tomllib";
	char *probe[] = {python, check, import, NULL}, *arguments[] = {python, script, seed, cases, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status;
	pid_t child;

	(void)snprintf(seed, sizeof(seed), "%s", setting("TOML_SEED", DEFAULT_SEED));
	(void)snprintf(cases, sizeof(cases), "%s", setting("TOML_CASES", DEFAULT_CASES));
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

/* What came out, counted. */
struct tally {
	size_t same, refused, different;
};

static void run_case(const char *line, const json_t *c, struct tally *t)
{
	const json_t *text = json_object_get(c, "text"), *expected = json_object_get(c, "value");
	struct imgcheck_error *err = NULL;
	struct ic_doc *doc;
	json_t *told = NULL;

	cr_assert(json_is_string(text), "%s", line);
	if (ic_toml_parse("case", json_string_value(text), json_string_length(text), &doc, &err) == 0)
		told = tell_toml(doc->root);
	if (!told && !expected) {
		t->refused++;
	} else if (told && expected && json_equal(told, expected)) {
		t->same++;
	} else if (++t->different <= SHOWN) {
		char *ours = told ? json_dumps(told, JSON_ENCODE_ANY) : NULL;

		fprintf(stderr, "different: %s  here: %s%s\n", line, ours ? ours : "", imgcheck_error_message(err));
		free(ours);
	}
	json_decref(told);
	ic_doc_free(doc);
	imgcheck_error_free(err);
}

TEST(toml_python, same_values_or_both_refuse)
{
	struct tally t = {0};
	char *line = NULL;
	size_t capacity = 0, cases = 0;
	ssize_t len;
	int from, status;
	pid_t child = start_generator(&from);
	FILE *f;

	if (!child)
		cr_skip("/usr/bin/python3 has no tomllib here");
	f = fdopen(from, "r");
	for (; (len = getline(&line, &capacity, f)) > 0; cases++) {
		json_t *c = json_loadb(line, (size_t)len, JSON_ALLOW_NUL, NULL);

		cr_assert(c, "%s", line);
		run_case(line, c, &t);
		json_decref(c);
	}
	free(line);
	(void)fclose(f);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	fprintf(stderr, "%zu texts: %zu same, %zu refused by both, %zu different\n", cases, t.same, t.refused, t.different);
	cr_assert_eq(cases, strtoul(setting("TOML_CASES", DEFAULT_CASES), NULL, 10));
	cr_assert_eq(t.different, 0);
	cr_assert_gt(t.same, cases / 5, "the generator writes too little that is right");
	cr_assert_gt(t.refused, cases / 5, "the generator writes too little that is wrong");
}
