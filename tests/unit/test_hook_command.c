/* SPDX-License-Identifier: Apache-2.0 */
#include "program/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "program/memory.h"
#include "program/status.h"
#include "test.h"

/* Runs a shell's line; the end in words is new. */
static char *run(const char *line, const char *input, unsigned seconds, struct process_result *r)
{
	AUTO(lines) struct lines words = { 0 }, environment = { 0 };
	const struct command c = { .words = &words, .environment = &environment, .folder = "/", .input = input, .seconds = seconds };

	lines_add(&words, "sh");
	lines_add(&words, "-c");
	lines_add(&words, line);
	lines_add(&environment, "IMGCHECK_TEST=a b");
	command_run(&c, r);
	return command_end(&c, r);
}

TEST(command, how_it_ends_and_what_it_says)
{
	static const struct {
		const char *line, *end, *said;
	} cases[] = {
		{"true", "exit status 0", ""},
		{"echo out; echo err >&2; exit 3", "exit status 3", "out\nerr"},
		{"kill -KILL $$", "ended by signal 9", ""},
		{"printf '%s' \"$IMGCHECK_TEST\"; pwd", "exit status 0", "a b/"},
		{"cat", "exit status 0", "given"},
		{"exec /nowhere/at/all", "exit status 127", NULL},
		{"head -c 3000000 /dev/zero | tr '\\0' x; exit 4", "exit status 4", NULL},
		{"sleep 60 & sleep 60", "killed after 1 s", ""},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(process_result) struct process_result r = { 0 };
		AUTO(free) char *end = run(cases[i].line, "given", cases[i].said && !strcmp(cases[i].end, "killed after 1 s") ? 1 : 20, &r);

		cr_expect_str_eq(end, cases[i].end, "%s: %s", cases[i].line, end);
		if (cases[i].said)
			cr_expect_str_eq(r.err, cases[i].said, "%s: %s", cases[i].line, r.err);
		cr_expect_leq(strlen(r.err), 4096);
	}
}

TEST(command, a_program_that_is_not_there_or_cannot_be_run)
{
	static const struct {
		const char *name;
		int status;
	} cases[] = { { "/nowhere/at/all", STATUS_NO_COMMAND },
		      { "no-such-program-anywhere", STATUS_NO_COMMAND },
		      { "/etc/passwd", STATUS_CANNOT_EXEC } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(process_result) struct process_result r = { 0 };
		AUTO(lines) struct lines words = { 0 };

		lines_add(&words, cases[i].name);
		command_run(&(struct command){ .words = &words, .seconds = 20 }, &r);
		cr_expect(r.end == PROCESS_EXITED && r.status == cases[i].status, "%s: %d", cases[i].name, r.status);
		cr_expect(strstr(r.err, "cannot run "), "%s", r.err);
	}
}

TEST(command, input_may_be_long)
{
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char *input = memory_grow(NULL, 1000001, 1), *end = NULL;

	memset(input, 'x', 1000000);
	input[1000000] = '\0';
	end = run("wc -c", input, 20, &r);
	cr_expect_str_eq(r.err, "1000000");
}

/* Signals that we block are not blocked there, or nothing could end what it starts. */
TEST(command, signals_are_as_usual)
{
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char *end = NULL;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	end = run("kill -TERM $$; sleep 30", NULL, 20, &r);
	cr_expect_str_eq(end, "ended by signal 15");
}
