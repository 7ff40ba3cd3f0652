/* SPDX-License-Identifier: Apache-2.0 */
#include "program/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

/* As a script that writes to a file of its own from its first line on. */
static int work_in_silence(void *arg)
{
	const struct timespec work = { .tv_sec = 2, .tv_nsec = 200000000 };

	(void)arg;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	nanosleep(&work, NULL);
	_exit(3);
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

	process_run(&(struct process){.main = main, .arg = word, .until = process_clock() + limit_ms, .most = 100000}, r);
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

TEST(hook_process, waits_for_what_has_closed_its_output)
{
	struct process_result r;

	run(work_in_silence, 20000, &r);
	cr_assert_eq(r.end, PROCESS_EXITED);
	cr_assert_eq(r.status, 3);
	process_result_clear(&r);
}

TEST(hook_process, ends_what_prints_too_much)
{
	struct process_result r;

	run(flood, 20000, &r);
	cr_assert_eq(r.end, PROCESS_TOO_MUCH);
	cr_assert_eq(r.len, 100000);
	process_result_clear(&r);
}

static int count(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 9999; i++)
		fprintf(stderr, "%04d\n", i);
	return 0;
}

TEST(hook_process, keeps_the_end_of_errors_where_that_is_wanted)
{
	struct process_result r;

	process_run(&(struct process){.main = count, .until = process_clock() + 20000, .most = 1, .tail = true}, &r);
	cr_assert_eq(r.end, PROCESS_EXITED);
	cr_assert_eq(strlen(r.err), 4096);
	cr_assert_str_eq(r.err + 4096 - 10, "9998\n9999\n");
	cr_assert_str_eq(strstr(r.err, "\n9994\n"), "\n9994\n9995\n9996\n9997\n9998\n9999\n", "nothing is lost in it");
	process_result_clear(&r);
}

/* Leaves a process behind that holds the output; that one ends by itself. */
static int leave(void *arg)
{
	(void)arg;
	if (fork() == 0) {
		alarm(30);
		hang(NULL);
	}
	dprintf(STDERR_FILENO, "done");
	return 7;
}

TEST(hook_process, does_not_wait_for_what_the_child_left_behind)
{
	int64_t began = process_clock();
	struct process_result r;

	run(leave, 60000, &r);
	cr_assert_eq(r.end, PROCESS_EXITED);
	cr_assert_eq(r.status, 7);
	cr_assert_str_eq(r.err, "done");
	cr_assert_lt(process_clock() - began, 20000);
	process_result_clear(&r);
}

static int looks;

static bool is_third_look(void)
{
	return ++looks == 3;
}

TEST(hook_process, ends_what_is_to_stop)
{
	int64_t began = process_clock();
	struct process_result r;

	process_run(&(struct process){.main = hang, .until = process_clock() + 60000, .most = 100, .stop = is_third_look}, &r);
	cr_assert_eq(r.end, PROCESS_LATE);
	cr_assert_lt(process_clock() - began, 20000);
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
