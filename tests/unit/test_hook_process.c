/* SPDX-License-Identifier: Apache-2.0 */
#include "program/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static int talk(void *arg)
{
	char byte;

	printf("out %s\n", (const char *)arg);
	fprintf(stderr, "err\n");
	return read(STDIN_FILENO, &byte, 1) == 0 ? 7 : 8; /* input is empty */
}

static int crash(void *arg)
{
	(void)arg;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 0;
}

static int hang(void *arg)
{
	(void)arg;
	printf("some");
	fflush(stdout);
	while (pause())
		;
	return 0;
}

/* Output ends, the process does not. */
static int linger(void *arg)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	return hang(arg);
}

static int flood(void *arg)
{
	(void)arg;
	while (puts("0123456789") != EOF)
		;
	return 0;
}

static int grumble(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10000; i++)
		fputs("0123456789", stderr);
	return 0;
}

static void run(int (*main)(void *), int64_t limit_ms, struct process_result *r)
{
	char word[] = "word";

	process_run(&(struct process){main, word, process_clock() + limit_ms, 100000}, r);
}

TEST(hook_process, collects)
{
	struct process_result r;

	run(talk, 10000, &r);
	cr_assert_eq(r.end, PROCESS_EXITED);
	cr_assert_eq(r.status, 7);
	cr_assert_str_eq(r.out, "out word\n");
	cr_assert_eq(r.len, 9);
	cr_assert_str_eq(r.err, "err\n");
	process_result_clear(&r);
}

TEST(hook_process, tells_a_crash)
{
	struct process_result r;

	run(crash, 10000, &r);
	cr_assert_eq(r.end, PROCESS_SIGNALLED);
	cr_assert_eq(r.status, SIGSEGV);
	process_result_clear(&r);
}

TEST(hook_process, ends_what_takes_too_long)
{
	int64_t began = process_clock();
	struct process_result r;

	run(hang, 200, &r);
	cr_assert_eq(r.end, PROCESS_LATE);
	cr_assert_str_eq(r.out, "some");
	process_result_clear(&r);
	run(linger, 200, &r);
	cr_assert_eq(r.end, PROCESS_LATE);
	process_result_clear(&r);
	cr_assert_lt(process_clock() - began, 5000);
}

TEST(hook_process, ends_what_prints_too_much)
{
	struct process_result r;

	run(flood, 20000, &r);
	cr_assert_eq(r.end, PROCESS_TOO_MUCH);
	cr_assert_eq(r.len, 100000);
	process_result_clear(&r);
}

TEST(hook_process, keeps_the_start_of_errors)
{
	struct process_result r;

	run(grumble, 20000, &r);
	cr_assert_eq(r.end, PROCESS_EXITED);
	cr_assert_eq(r.status, 0);
	cr_assert_eq(strlen(r.err), 4096);
	cr_assert_eq(strncmp(r.err, "0123456789", 10), 0);
	process_result_clear(&r);
}
