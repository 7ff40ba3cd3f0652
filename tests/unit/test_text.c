/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdint.h>
#include <string.h>

#include "test.h"

TEST(text, numbers)
{
	static const struct {
		const char *text;
		size_t max;
		bool ok;
		size_t value;
	} rows[] = {
		{"0", 10, true, 0},
		{"10", 10, true, 10},
		{"11", 10, false, 0},
		{"007", 10, true, 7},
		{"", 10, false, 0},
		{"-1", 10, false, 0},
		{"+1", 10, false, 0},
		{" 1", 10, false, 0},
		{"1x", 10, false, 0},
		{"5", 3, false, 0},
		{"18446744073709551615", SIZE_MAX, true, SIZE_MAX},
		{"18446744073709551616", SIZE_MAX, false, 0},
		{"99999999999999999999", SIZE_MAX, false, 0},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		size_t value = 0;

		cr_expect_eq(ic_text_to_size(rows[i].text, strlen(rows[i].text), rows[i].max, &value), rows[i].ok, "%s",
		             rows[i].text);
		cr_expect_eq(value, rows[i].value, "%s", rows[i].text);
	}
}

TEST(text, escapes_and_cuts)
{
	struct ic_buf out;

	ic_buf_init(&out, 1000);
	cr_assert_eq(ic_text_escape(&out, "a\\b\n\xc3\xa4\0z", 8, 100, NULL), 0);
	cr_assert_str_eq(ic_buf_text(&out), "a\\\\b\\x0a\\xc3\\xa4\\x00z");
	ic_buf_clear(&out);
	cr_assert_eq(ic_text_escape(&out, "abc\ndef", 7, 5, NULL), 0);
	cr_assert_str_eq(ic_buf_text(&out), "abc...");
	ic_buf_clear(&out);
}

TEST(text, globs)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} rows[] = {
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a*c", "abbbc", true},
		{"a*c", "ac", true},
		{"a*c", "acb", false},
		{"*/k8s-*:v?", "nvcr.io/nvidia/k8s-device-plugin:v1", true},
		{"*/k8s-*:v?", "nvcr.io/nvidia/k8s-device-plugin:v12", false},
		{"a?", "a", false},
		{"[a]", "a", false},
		{"*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_text_glob(rows[i].pattern, rows[i].text), rows[i].match, "%s %s", rows[i].pattern, rows[i].text);
}

TEST(text, finds_the_first_byte_that_is_not_utf8)
{
	static const struct {
		const char *text;
		size_t len, bad;
	} rows[] = {
		{"", 0, 0},
		{"abc", 3, 3},
		{"\xc3\xa4", 2, 2},
		{"\xe2\x82\xac\xf0\x9f\x98\x80", 7, 7},
		{"a\xff", 2, 1},
		{"a\xc3", 2, 1},            /* cut short */
		{"\xc0\x80", 2, 0},         /* overlong */
		{"\xe0\x80\x80", 3, 0},     /* overlong */
		{"\xed\xa0\x80", 3, 0},     /* surrogate */
		{"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
		{"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
		{"\x80", 1, 0},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_text_utf8_check(rows[i].text, rows[i].len), rows[i].bad, "row %zu", i);
}

TEST(text, compares)
{
	cr_expect(ic_text_equal("abc", 2, "ab"));
	cr_expect_not(ic_text_equal("abc", 2, "abc"));
	cr_expect(ic_text_equal_nocase("BeArEr", 6, "bearer"));
	cr_expect_not(ic_text_equal_nocase("Basic", 5, "bearer"));
	cr_expect(ic_text_starts("sha256:", 7, "sha256:"));
	cr_expect_not(ic_text_starts("sha", 3, "sha256:"));
	cr_expect(ic_text_ends("a.yaml", 6, ".yaml"));
	cr_expect_not(ic_text_ends("l", 1, ".yaml"));
}
