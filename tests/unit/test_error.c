/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <string.h>

#include "test.h"

TEST(error, first_one_wins)
{
	struct imgcheck_error *err = NULL;
	unsigned line, column;

	cr_assert_eq(ic_error_set_at(&err, IMGCHECK_ERR_SYNTAX, "a.yaml", 3, 4, "cannot read %s", "this"), IMGCHECK_ERR_SYNTAX);
	cr_assert_eq(ic_error_set(&err, IMGCHECK_ERR_IO, "cannot come second"), IMGCHECK_ERR_IO);
	cr_assert_eq(imgcheck_error_code(err), IMGCHECK_ERR_SYNTAX);
	cr_assert_str_eq(imgcheck_error_message(err), "cannot read this");
	cr_assert_str_eq(imgcheck_error_place(err, &line, &column), "a.yaml");
	cr_assert_eq(line, 3);
	cr_assert_eq(column, 4);
	ic_error_prefix(&err, "cannot use %s: ", "b");
	cr_assert_str_eq(imgcheck_error_message(err), "cannot use b: cannot read this");
	ic_error_place(&err, "other", 1, 1);
	cr_assert_str_eq(imgcheck_error_place(err, NULL, NULL), "a.yaml");
	imgcheck_error_free(err);
}

TEST(error, hostile_bytes_are_escaped_and_cut)
{
	struct imgcheck_error *err = NULL;
	char huge[5000];

	memset(huge, '\n', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	(void)ic_error_set_at(&err, IMGCHECK_ERR_SYNTAX, "a\x1b[1m", 0, 0, "%s", huge);
	cr_assert(strlen(imgcheck_error_message(err)) < 1100);
	cr_assert_null(strchr(imgcheck_error_message(err), '\n'));
	cr_assert_str_eq(imgcheck_error_place(err, NULL, NULL), "a\\x1b[1m");
	imgcheck_error_free(err);
}

TEST(error, none_and_no_memory)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_error_code(NULL), IMGCHECK_OK);
	cr_assert_str_eq(imgcheck_error_message(NULL), "");
	cr_assert_null(imgcheck_error_place(NULL, NULL, NULL));
	cr_assert_eq(ic_error_nomem(&err), IMGCHECK_ERR_NOMEM);
	ic_error_prefix(&err, "more");
	ic_error_place(&err, "place", 1, 1);
	cr_assert_str_eq(imgcheck_error_message(err), "cannot allocate memory");
	cr_assert_null(imgcheck_error_place(err, NULL, NULL));
	imgcheck_error_free(err);
	cr_assert_eq(ic_error_set(NULL, IMGCHECK_ERR_IO, "cannot be told"), IMGCHECK_ERR_IO);
}
