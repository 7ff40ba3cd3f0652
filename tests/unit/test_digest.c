/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <string.h>

#include "test.h"

#define EMPTY_SHA256 "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

TEST(digest, computes_what_the_standard_says)
{
	char text[IC_DIGEST_TEXT_BYTES];

	cr_assert_eq(ic_digest_compute(IC_DIGEST_SHA256, NULL, 0, text, NULL), 0);
	cr_assert_str_eq(text, EMPTY_SHA256);
	cr_assert_eq(ic_digest_compute(IC_DIGEST_SHA512, "abc", 3, text, NULL), 0);
	cr_assert_str_eq(text, "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	                       "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
	cr_assert(ic_digest_matches(text, "abc", 3));
	cr_assert_not(ic_digest_matches(text, "abd", 3));
	cr_assert_not(ic_digest_matches("sha256:abc", "abc", 3));
}

TEST(digest, knows_valid_texts)
{
	static const struct {
		const char *text;
		bool valid;
	} rows[] = {
		{EMPTY_SHA256, true},
		{"sha256:e3b0", false},
		{"sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", false},
		{"md5:d41d8cd98f00b204e9800998ecf8427e", false},
		{"", false},
		{"sha256:", false},
	};
	enum ic_digest_algorithm algorithm = IC_DIGEST_SHA512;

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_digest_is_valid(rows[i].text, strlen(rows[i].text), &algorithm), rows[i].valid, "%s", rows[i].text);
	cr_assert_eq(algorithm, IC_DIGEST_SHA256);
}

TEST(digest, knows_no_certificate_in_other_bytes)
{
	struct imgcheck_error *err = NULL;

	cr_assert_eq(ic_certificate_check("hunter2", 7, &err), IMGCHECK_ERR_SYNTAX);
	imgcheck_error_free(err);
	cr_assert_eq(ic_certificate_check(NULL, 0, NULL), IMGCHECK_ERR_SYNTAX);
}
