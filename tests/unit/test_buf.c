/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

TEST(buf, grows_and_hands_over)
{
	struct ic_buf b;
	char *text;

	ic_buf_init(&b, 10000);
	cr_assert_str_eq(ic_buf_text(&b), "");
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(ic_buf_printf(&b, NULL, "%d,", i % 10), 0);
	cr_assert_eq(b.len, 2000);
	text = ic_buf_take(&b);
	cr_assert_eq(strncmp(text, "0,1,2,3,", 8), 0);
	cr_assert_eq(b.len, 0);
	free(text);
	text = ic_buf_take(&b);
	cr_assert_str_eq(text, "");
	free(text);
}

TEST(buf, keeps_what_it_had_at_the_ceiling)
{
	struct imgcheck_error *err = NULL;
	struct ic_buf b;

	ic_buf_init(&b, 4);
	cr_assert_eq(ic_buf_add(&b, "abcd", 4, &err), 0);
	cr_assert_eq(ic_buf_add_char(&b, 'e', &err), IMGCHECK_ERR_LIMIT);
	cr_assert_eq(imgcheck_error_code(err), IMGCHECK_ERR_LIMIT);
	cr_assert_eq(ic_buf_add(&b, "x", SIZE_MAX, NULL), IMGCHECK_ERR_LIMIT);
	cr_assert_str_eq(ic_buf_text(&b), "abcd");
	imgcheck_error_free(err);
	ic_buf_clear(&b);
}

TEST(vec, holds_items_up_to_its_ceiling)
{
	struct ic_vec v;

	ic_vec_init(&v, sizeof(int), 20);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(ic_vec_push(&v, &i, NULL), 0);
	cr_assert_eq(ic_vec_push(&v, &(int){20}, NULL), IMGCHECK_ERR_LIMIT);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(*(int *)ic_vec_at(&v, (size_t)i), i);
	ic_vec_clear(&v);
	cr_assert_eq(v.count, 0);
}

TEST(texts, copies)
{
	struct ic_vec v;

	ic_texts_init(&v, 2);
	cr_assert_eq(ic_texts_push(&v, "abc", 2, NULL), 0);
	cr_assert_eq(ic_texts_push(&v, NULL, 0, NULL), 0);
	cr_assert_eq(ic_texts_push(&v, "c", 1, NULL), IMGCHECK_ERR_LIMIT);
	cr_assert_str_eq(ic_texts_get(&v, 0), "ab");
	cr_assert_str_eq(ic_texts_get(&v, 1), "");
	cr_assert_null(ic_texts_get(&v, 2));
	ic_texts_clear(&v);
}
