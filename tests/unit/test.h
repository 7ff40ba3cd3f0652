/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_UNIT_TEST_H
#define IC_TESTS_UNIT_TEST_H

/*
 * What every unit test includes.  TEST(suite, name) is Criterion's Test with a time limit and a check for
 * leaks at its end: Criterion calls a test passed whose process only leaks.
 *
 *   TEST(buf, grows)
 *   {
 *           cr_assert(...);
 *   }
 */

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>

/* From the sanitizer's run time; absent in other builds. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

#define TEST_SECONDS 60

#define TEST(suite_, name_)                                                                    \
	static void suite_##_##name_##_body(void);                                                 \
	Test(suite_, name_, .timeout = TEST_SECONDS)                                               \
	{                                                                                          \
		suite_##_##name_##_body();                                                             \
		if (__lsan_do_recoverable_leak_check)                                                  \
			cr_assert_eq(__lsan_do_recoverable_leak_check(), 0, "memory leaked, see the log"); \
	}                                                                                          \
	static void suite_##_##name_##_body(void)

/*
 * The path of a file or folder in the shared test material beside the checkout (../shared), or NULL where
 * that is not there: the test then says so with cr_skip().  Overwritten by the next call.
 */
const char *test_shared(const char *relative);

/* The path of a file under tests/data.  Overwritten by the next call. */
const char *test_data(const char *relative);

/* Whether this machine's libyaml does: one before 0.2.5 takes a document that says version 1.2 for an error. */
bool test_libyaml_reads(const char *text);

/*
 * mkdtemp() and mkstemp() for tests, which fail where those do: what is made so, and all in it, is removed once the
 * tests of the program are over, also where one failed or crashed.
 */
void test_folder(char *template);
int test_file(char *template);

/* The whole file, NUL-terminated: new, never NULL (the test fails); len may be NULL. */
char *test_read_file(const char *path, size_t *len);

/*
 * A table with tab-separated columns and a header line.  The test fails where the file cannot be read or
 * has no row.
 */
struct test_table;

struct test_table *test_table_open(const char *path);
void test_table_close(struct test_table *t);
size_t test_table_rows(const struct test_table *t);

/* A field, "" where the row is short; the test fails where there is no such column. */
const char *test_table_get(const struct test_table *t, size_t row, const char *column);

/* The ids in an array of structures with a member `id`: the first, how far apart they are, and how many. */
struct test_ids {
	const char *const *first;
	size_t step, count;
};
#define TEST_IDS(rows_) ((struct test_ids){&(rows_)[0].id, sizeof((rows_)[0]), sizeof(rows_) / sizeof((rows_)[0])})

/* Each row of a table of the shared test material is tested here or elsewhere, by its id.  Without the table: a skip. */
void test_table_is_covered(const char *relative, struct test_ids here, struct test_ids elsewhere);

#endif
