/* SPDX-License-Identifier: Apache-2.0 */
#include "source/trust.h"

#include <glob.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

static size_t count_certificates(const char *text)
{
	size_t n = 0;

	while ((text = strstr(text, "-----BEGIN CERTIFICATE-----"))) {
		text++;
		n++;
	}
	return n;
}

static int add_file(const char *path, struct ic_buf *out, struct imgcheck_error **err)
{
	size_t len;
	char *text = test_read_file(path, &len);
	int result;

	ic_buf_init(out, IC_MAX_TRUST_BYTES);
	result = ic_trust_add_pem("given.pem", text, len, NULL, out, err);
	free(text);
	return result;
}

TEST(trust, takes_valid_cases)
{
	glob_t found;

	cr_assert_eq(glob(test_data("trust/valid/*.pem"), 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct imgcheck_error *err = NULL;
		char *text = test_read_file(found.gl_pathv[i], NULL);
		struct ic_buf out;

		cr_assert_eq(add_file(found.gl_pathv[i], &out, &err), 0, "%s: %s", found.gl_pathv[i], imgcheck_error_message(err));
		cr_assert(count_certificates(text) > 0);
		cr_assert_eq(count_certificates(out.data), count_certificates(text), "%s", found.gl_pathv[i]);
		cr_assert(!strstr(out.data, "PRIVATE KEY") && !strstr(out.data, "hunter2"), "%s", found.gl_pathv[i]);
		ic_buf_clear(&out);
		free(text);
	}
	globfree(&found);
}

TEST(trust, refuses_invalid_cases)
{
	static const struct {
		const char *file;
		unsigned line;
		const char *complaint;
	} rows[] = {
		{"empty.pem", 0, "cannot find a certificate"},
		{"key-alone.pem", 0, "cannot find a certificate"},
		{"other-label.pem", 0, "cannot find a certificate"},
		{"cut.pem", 1, "cannot read the certificate"},
		{"line-missing.pem", 1, "cannot read the certificate"},
		{"no-certificate.pem", 2, "cannot read the certificate"},
		{"second-is-no-base64.pem", 12, "cannot read the certificate"},
	};
	glob_t found;

	cr_assert_eq(glob(test_data("trust/invalid/*.pem"), 0, NULL, &found), 0);
	cr_assert_eq(found.gl_pathc, IC_COUNT(rows), "each file has a row");
	globfree(&found);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		char name[64] = "trust/invalid/";
		struct ic_buf out;
		unsigned line;

		memcpy(name + strlen(name), rows[i].file, strlen(rows[i].file) + 1);
		cr_assert_eq(add_file(test_data(name), &out, &err), IMGCHECK_ERR_SYNTAX, "%s", name);
		cr_assert(strstr(imgcheck_error_message(err), rows[i].complaint), "%s: %s", name, imgcheck_error_message(err));
		cr_assert_str_eq(imgcheck_error_place(err, &line, NULL), "given.pem");
		cr_assert_eq(line, rows[i].line, "%s: line %u", name, line);
		imgcheck_error_free(err);
		ic_buf_clear(&out);
	}
}

TEST(trust, keeps_to_the_ceiling)
{
	size_t len;
	char *text = test_read_file(test_data("trust/valid/one.pem"), &len);
	struct imgcheck_error *err = NULL;
	struct ic_buf out;

	ic_buf_init(&out, len - 1);
	cr_assert_eq(ic_trust_add_pem("given.pem", text, len, NULL, &out, &err), IMGCHECK_ERR_LIMIT);
	imgcheck_error_free(err);
	ic_buf_clear(&out);
	free(text);
}

/* Files that are absent, folders or without a certificate are passed over. */
TEST(trust, finds_the_system_s_file)
{
	const char *const files[] = {"/nonexistent/ca.pem", "tests/data", "tests/data/trust/invalid/key-alone.pem",
	                             "tests/data/trust/valid/one.pem", "tests/data/trust/valid/crlf.pem", NULL};
	const char *found;
	struct ic_buf out;

	ic_buf_init(&out, IC_MAX_TRUST_BYTES);
	cr_assert_eq(ic_trust_add_system(files, &out, &found, NULL), 0);
	cr_assert_eq(found, files[3]);
	cr_assert_eq(count_certificates(ic_buf_text(&out)), 1);
	ic_buf_clear(&out);
	cr_assert_eq(ic_trust_add_system(files + 5, &out, &found, NULL), 0);
	cr_assert_null(found);
	cr_assert_eq(out.len, 0);
	cr_assert_str_eq(ic_trust_system_files[0], "/etc/ssl/certs/ca-certificates.crt");
}
