/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/url.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

TEST(url, only_plain_http_and_https_is_taken)
{
	static const struct {
		const char *text;
		bool ok;
		const char *scheme, *host, *rest;
	} rows[] = {
		{"https://r.example/v2/a", true, "https", "r.example", "/v2/a"},
		{"HTTP://r:5000", true, "http", "r:5000", ""},
		{"https://[2001:db8::1]:5000/v2/?x=1", true, "https", "[2001:db8::1]:5000", "/v2/?x=1"},
		{"https://[::1]", true, "https", "[::1]", ""},
		{"https://r?x", true, "https", "r", "?x"},
		{"https://under_score.example/", true, "https", "under_score.example", "/"},
		{"", false, NULL, NULL, NULL},
		{"https", false, NULL, NULL, NULL},
		{"https:/r/a", false, NULL, NULL, NULL},
		{"https:///a", false, NULL, NULL, NULL},
		{"https://:5000/a", false, NULL, NULL, NULL},
		{"https://r:a/", false, NULL, NULL, NULL},
		{"https://r:65536/", false, NULL, NULL, NULL},
		{"https://user@r/", false, NULL, NULL, NULL},
		{"https://u:p@r/", false, NULL, NULL, NULL},
		{"https://r r/", false, NULL, NULL, NULL},
		{"https://2001:db8::1/", false, NULL, NULL, NULL},
		{"https://[::1", false, NULL, NULL, NULL},
		{"file:///etc/passwd", false, NULL, NULL, NULL},
		{"null://host/x", false, NULL, NULL, NULL},
		{"ftp://r/", false, NULL, NULL, NULL},
		{"//r/a", false, NULL, NULL, NULL},
		{"/v2/token", false, NULL, NULL, NULL},
		{"https://r/a\rb", false, NULL, NULL, NULL},
		{"https://r/a\x7f", false, NULL, NULL, NULL},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_url url;

		cr_assert_eq(ic_url_parse(rows[i].text, &url), rows[i].ok, "%s", rows[i].text);
		if (!rows[i].ok)
			continue;
		cr_expect_str_eq(url.scheme, rows[i].scheme);
		cr_expect_eq(url.host_len, strlen(rows[i].host), "%s", rows[i].text);
		cr_expect(strncmp(url.host, rows[i].host, url.host_len) == 0, "%s", rows[i].text);
		cr_expect_str_eq(url.rest, rows[i].rest);
	}
}

TEST(url, origins_have_a_port_and_no_case)
{
	static const struct {
		const char *url, *origin;
	} rows[] = {
		{"https://R.Example/v2/", "https://r.example:443"},
		{"http://r/", "http://r:80"},
		{"https://r:5000", "https://r:5000"},
		{"https://[2001:DB8::1]/x", "https://[2001:db8::1]:443"},
		{"https://[2001:db8::1]:5000/x", "https://[2001:db8::1]:5000"},
	};
	struct imgcheck_error *err = NULL;
	char *none;

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		char *origin;

		cr_assert_eq(ic_url_origin(rows[i].url, &origin, NULL), 0);
		cr_expect_str_eq(origin, rows[i].origin);
		free(origin);
	}
	cr_assert_eq(ic_url_origin("file:///x", &none, &err), IMGCHECK_ERR_SYNTAX);
	cr_assert_null(none);
	imgcheck_error_free(err);
}

TEST(url, host_names_have_no_port)
{
	static const struct {
		const char *url, *name;
	} rows[] = {{"https://r:5000/a:b", "r"}, {"https://r/a:b", "r"}, {"https://[::1]:5000/", "[::1]"}, {"https://[::1]/", "[::1]"}};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_url url;
		const char *name;
		size_t len;

		cr_assert(ic_url_parse(rows[i].url, &url));
		ic_url_host_name(&url, &name, &len);
		cr_expect(len == strlen(rows[i].name) && memcmp(name, rows[i].name, len) == 0, "%s", rows[i].url);
	}
}

#define BASE "http://a/b/c/d;p?q"

/* The examples of RFC 3986, 5.4, without those that another scheme makes useless here. */
TEST(url, references_resolve_as_the_rfc_says)
{
	static const struct {
		const char *location, *url;
	} rows[] = {
		{"g", "http://a/b/c/g"},
		{"./g", "http://a/b/c/g"},
		{"g/", "http://a/b/c/g/"},
		{"/g", "http://a/g"},
		{"//g", "http://g"},
		{"?y", "http://a/b/c/d;p?y"},
		{"g?y", "http://a/b/c/g?y"},
		{"#s", "http://a/b/c/d;p"},
		{"g#s", "http://a/b/c/g"},
		{";x", "http://a/b/c/;x"},
		{"g;x=1/./y", "http://a/b/c/g;x=1/y"},
		{"g;x=1/../y", "http://a/b/c/y"},
		{".", "http://a/b/c/"},
		{"./", "http://a/b/c/"},
		{"..", "http://a/b/"},
		{"../", "http://a/b/"},
		{"../g", "http://a/b/g"},
		{"../..", "http://a/"},
		{"../../g", "http://a/g"},
		{"../../../g", "http://a/g"},
		{"/./g", "http://a/g"},
		{"/../g", "http://a/g"},
		{"g.", "http://a/b/c/g."},
		{"..g", "http://a/b/c/..g"},
		{"./g/.", "http://a/b/c/g/"},
		{"g/./h", "http://a/b/c/g/h"},
		{"g/../h", "http://a/b/c/h"},
		{"g?y/../x", "http://a/b/c/g?y/../x"},
		{"https://s3.example/bucket?X-Amz-Signature=a%2Fb", "https://s3.example/bucket?X-Amz-Signature=a%2Fb"},
		{"/with blank\xc3\xa9", "http://a/with%20blank%C3%A9"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		char *url;

		cr_assert_eq(ic_url_resolve(BASE, rows[i].location, &url, NULL), 0, "%s", rows[i].location);
		cr_expect_str_eq(url, rows[i].url, "%s: %s", rows[i].location, url);
		free(url);
	}
}

TEST(url, a_base_without_a_path_is_fine)
{
	char *url;

	cr_assert_eq(ic_url_resolve("https://r", "x", &url, NULL), 0);
	cr_expect_str_eq(url, "https://r/x");
	free(url);
}

TEST(url, dangerous_locations_are_refused)
{
	static const struct {
		const char *location, *why;
	} rows[] = {
		{"file:///etc/passwd", "scheme"},
		{"ftp://h/", "scheme"},
		{"javascript:alert(1)", "scheme"},
		{"https://user:pass@h/", "user information"},
		{"//user@h/", "user information"},
		{"https://", "not a URL"},
		{"https:h/x", "not a URL"},
		{"https://h h/", "not a URL"},
		{"https://h/\r\nX: y", "control bytes"},
		{"/a\x7f", "control bytes"},
	};
	char *long_one = calloc(1, IC_MAX_URL_BYTES + 2);
	struct imgcheck_error *err = NULL;
	char *url;

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		cr_assert_eq(ic_url_resolve("https://r/v2/", rows[i].location, &url, &err), IMGCHECK_ERR_SYNTAX, "%s", rows[i].location);
		cr_assert_null(url);
		cr_expect(strstr(imgcheck_error_message(err), rows[i].why), "%s: %s", rows[i].location, imgcheck_error_message(err));
		imgcheck_error_free(err);
		err = NULL;
	}
	memset(long_one, 'a', IC_MAX_URL_BYTES + 1);
	cr_assert_eq(ic_url_resolve("https://r/v2/", long_one, &url, &err), IMGCHECK_ERR_SYNTAX);
	cr_expect(strstr(imgcheck_error_message(err), "too long"));
	imgcheck_error_free(err);
	free(long_one);
}

TEST(url, components_are_escaped_and_queries_not_shown)
{
	struct ic_buf out;

	ic_buf_init(&out, 4096);
	cr_assert_eq(ic_url_add_component(&out, "repository:a/b:pull &=+%\xc3\xa9~", NULL), 0);
	cr_expect_str_eq(ic_buf_text(&out), "repository%3Aa%2Fb%3Apull%20%26%3D%2B%25%C3%A9~");
	ic_buf_clear(&out);
	cr_assert_eq(ic_url_add_shown(&out, "https://s3/x?X-Amz-Signature=secret", NULL), 0);
	cr_expect_str_eq(ic_buf_text(&out), "https://s3/x");
	ic_buf_clear(&out);
}

TEST(url, logins_are_not_shown)
{
	static const char *const rows[][2] = {
		{"https://host/a@b?c", "https://host/a@b"},      {"https://u:p@host/token?k=v", "https://host/token"},
		{"HTTP://p@host#f", "HTTP://host"},              {"https://u:p/q@r@host/t", "https://host/t"},
		{"https://u:p?q@host/t", "https://..."},         {"https://u:p#q@host/t", "https://..."},
		{"u:p@host/token", "host/token"},                {"//u:p@host/token?k", "host/token"},
		{"ftp://host/x?k", "ftp://host/x"},              {"?u:p@host", "..."},
		{"https:/u:p@host/x", "host/x"},                 {"", ""},
	};
	struct ic_buf out;

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		ic_buf_init(&out, 100);
		cr_assert_eq(ic_url_add_shown(&out, rows[i][0], NULL), 0);
		cr_expect_str_eq(ic_buf_text(&out), rows[i][1]);
		ic_buf_clear(&out);
	}
}
