/* SPDX-License-Identifier: Apache-2.0 */
#include "source/base64.h"

#include <string.h>

#include "test.h"

static const struct {
	const char *text;
	const char *bytes; /* NULL where the text is malformed */
	enum ic_base64_rules rules;
} rows[] = {
	/* RFC 4648, 10 */
	{"", "", IC_BASE64_PADDED},
	{"Zg==", "f", IC_BASE64_PADDED},
	{"Zm8=", "fo", IC_BASE64_PADDED},
	{"Zm9v", "foo", IC_BASE64_PADDED},
	{"Zm9vYg==", "foob", IC_BASE64_PADDED},
	{"Zm9vYmE=", "fooba", IC_BASE64_PADDED},
	{"Zm9vYmFy", "foobar", IC_BASE64_PADDED},
	{"Zg", NULL, IC_BASE64_PADDED},
	{"Zg", "f", IC_BASE64_UNPADDED},
	{"Zm8", "fo", IC_BASE64_UNPADDED},
	{"Zm9v", "foo", IC_BASE64_UNPADDED},
	{"Zm\n8", "fo", IC_BASE64_UNPADDED},
	{"Zm8=", NULL, IC_BASE64_UNPADDED},
	{"Zm9vY", NULL, IC_BASE64_UNPADDED},
	{"Zm9v\r\nYmFy\n", "foobar", IC_BASE64_PADDED},
	{" Zm9v", NULL, IC_BASE64_PADDED},
	{"Zm9v\t", NULL, IC_BASE64_PADDED},
	{" Zm9v\tYg == \n", "foob", IC_BASE64_PEM},
	{"Zm8", NULL, IC_BASE64_PEM},
	{"+/+/", "\xfb\xff\xbf", IC_BASE64_PADDED},
	{"Z", NULL, IC_BASE64_PADDED},
	{"Zm9vY", NULL, IC_BASE64_PADDED},
	{"Zg=", NULL, IC_BASE64_PADDED},
	{"Zm8==", NULL, IC_BASE64_PADDED},
	{"Zm9v=", NULL, IC_BASE64_PADDED},
	{"Zm9v====", NULL, IC_BASE64_PADDED},
	{"====", NULL, IC_BASE64_PADDED},
	{"Zg==Zg==", NULL, IC_BASE64_PADDED},
	{"Zm-_", NULL, IC_BASE64_PADDED},
	{"Zm9v!", NULL, IC_BASE64_PADDED},
};

TEST(base64, reads)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_buf out;
		int result;

		ic_buf_init(&out, 100);
		result = ic_base64_decode(rows[i].text, strlen(rows[i].text), rows[i].rules, &out, &err);
		cr_assert_eq(result, rows[i].bytes ? 0 : IMGCHECK_ERR_SYNTAX, "%s", rows[i].text);
		if (rows[i].bytes)
			cr_assert_str_eq(ic_buf_text(&out), rows[i].bytes, "%s", rows[i].text);
		else
			cr_assert_str_eq(imgcheck_error_message(err), "cannot read base64");
		imgcheck_error_free(err);
		ic_buf_clear(&out);
	}
}

TEST(base64, keeps_to_the_ceiling_and_takes_zeros)
{
	struct imgcheck_error *err = NULL;
	struct ic_buf out;

	ic_buf_init(&out, 3);
	cr_assert_eq(ic_base64_decode("AAAA", 4, IC_BASE64_PADDED, &out, &err), 0);
	cr_assert_eq(out.len, 3);
	cr_assert_eq(memcmp(out.data, "\0\0\0", 3), 0);
	cr_assert_eq(ic_base64_decode("AAAA", 4, IC_BASE64_PADDED, &out, &err), IMGCHECK_ERR_LIMIT);
	imgcheck_error_free(err);
	ic_buf_clear(&out);
}
