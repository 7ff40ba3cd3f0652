/* SPDX-License-Identifier: Apache-2.0 */
#include "source/proxy.h"

#include <string.h>

#include "test.h"

static const struct {
	const char *exceptions, *scheme, *host;
	bool exempt;
} exemptions[] = {
	{"", "https", "r.example.com", false},
	{"*", "https", "r.example.com", true},
	{"a.org,*", "https", "r.example.com", true},
	/* names and suffixes */
	{"example.com", "https", "example.com", true},
	{"example.com", "https", "r.example.com", true},
	{"example.com", "https", "R.EXAMPLE.COM:5000", true},
	{"example.com", "https", "badexample.com", false},
	{".example.com", "https", "r.example.com", true},
	{".example.com", "https", "example.com", false},
	{"*.example.com", "https", "a.b.example.com", true},
	{"*.example.com", "https", "example.com", false},
	{" a.org , example.com ", "https", "example.com", true},
	{",,example.com,", "https", "example.com", true},
	{"example.com", "https", "example.org", false},
	/* ports; the scheme's where none is written */
	{"example.com:5000", "https", "r.example.com:5000", true},
	{"example.com:5000", "https", "r.example.com", false},
	{"example.com:443", "https", "r.example.com", true},
	{"example.com:443", "http", "r.example.com", false},
	{"example.com:80", "http", "r.example.com", true},
	{"10.0.0.1:5000", "https", "10.0.0.1:5000", true},
	{"10.0.0.1:5000", "https", "10.0.0.1", false},
	/* addresses */
	{"10.0.0.1", "https", "10.0.0.1:5000", true},
	{"10.0.0.1", "https", "10.0.0.11", false},
	{"0.0.1", "https", "10.0.0.1", true},
	{"2001:db8::1", "https", "[2001:db8::1]:5000", true},
	{"[2001:db8::1]", "https", "[2001:DB8:0::1]", true},
	{"[2001:db8::1]:5000", "https", "[2001:db8::1]:5000", true},
	{"[2001:db8::1]:5000", "https", "[2001:db8::1]", false},
	{"2001:db8::2", "https", "[2001:db8::1]", false},
	/* blocks hold for addresses alone */
	{"10.0.0.0/8", "https", "10.200.3.4:5000", true},
	{"10.0.0.0/8", "https", "11.0.0.1", false},
	{"10.0.0.0/9", "https", "10.128.0.1", false},
	{"10.0.0.0/9", "https", "10.127.0.1", true},
	{"192.168.1.64/26", "https", "192.168.1.127", true},
	{"192.168.1.64/26", "https", "192.168.1.128", false},
	{"0.0.0.0/0", "https", "8.8.8.8", true},
	{"0.0.0.0/0", "https", "r.example.com", false},
	{"10.0.0.1/32", "https", "10.0.0.1", true},
	{"2001:db8::/32", "https", "[2001:db8:ffff::9]", true},
	{"2001:db8::/32", "https", "[2001:db9::9]", false},
	{"2001:db8::/32", "https", "32.1.13.184", false},
	/* loopback never goes through a proxy */
	{"", "https", "localhost:5000", true},
	{"", "http", "127.0.0.2", true},
	{"", "https", "[::1]:5000", true},
	/* what is no host is not exempt */
	{"*", "https", "under_score", false},
};

TEST(proxy, exempts)
{
	for (size_t i = 0; i < IC_COUNT(exemptions); i++)
		cr_assert_eq(ic_proxy_is_exempt(exemptions[i].exceptions, exemptions[i].scheme, exemptions[i].host),
		             exemptions[i].exempt, "%s for %s://%s", exemptions[i].exceptions, exemptions[i].scheme, exemptions[i].host);
}

static const struct {
	const char *url;
	const char *complaint; /* NULL where the URL is taken */
} urls[] = {
	{"", NULL},
	{"http://proxy.internal:3128", NULL},
	{"http://proxy.internal:3128/", NULL},
	{"https://proxy.internal", NULL},
	{"socks5://10.0.0.1:1080", NULL},
	{"socks5h://[2001:db8::1]:1080", NULL},
	{"proxy.internal:3128", NULL},
	{"http://user:hunter2@proxy.internal:3128", NULL},
	{"http://user:hunter2@with@proxy.internal", NULL},
	{"ftp://user:hunter2@proxy.internal", "another scheme"},
	{"http://user:hunter2@proxy.internal/path", "has a path"},
	{"http://user:hunter2@proxy.internal?query", "has a path"},
	{"http://user:hunter2@proxy.internal#hash", "has a path"},
	{"http://user:hunter2/x@proxy.internal", "before the @"},
	{"http://user:hunter2 @proxy.internal", "blanks"},
	{"http://user:hunter2\n@proxy.internal", "blanks"},
	{"http://user:hunter2\xc3\xa9@proxy.internal", "other bytes"},
	{"http://user:hunter2@", "no valid host"},
	{"http://user:hunter2@proxy.internal:port", "no valid host"},
	{"http://", "no valid host"},
};

TEST(proxy, checks_urls_without_telling_passwords)
{
	for (size_t i = 0; i < IC_COUNT(urls); i++) {
		struct imgcheck_error *err = NULL;
		int result = ic_proxy_check_url(urls[i].url, &err);

		cr_assert_eq(result, urls[i].complaint ? IMGCHECK_ERR_CONFIG : 0, "%s: %s", urls[i].url, imgcheck_error_message(err));
		if (urls[i].complaint)
			cr_assert(strstr(imgcheck_error_message(err), urls[i].complaint), "%s: %s", urls[i].url, imgcheck_error_message(err));
		cr_assert(!strstr(imgcheck_error_message(err), "hunter2"), "%s", imgcheck_error_message(err));
		imgcheck_error_free(err);
	}
}

TEST(proxy, has_the_port_of_its_scheme)
{
	static const struct {
		const char *url;
		long port;
	} ports[] = {{"", 80}, {"proxy.internal", 80}, {"http://u:p@proxy.internal", 80}, {"HTTPS://proxy.internal", 443},
	             {"socks5://proxy.internal", 1080}, {"socks5h://proxy.internal", 1080}, {"socks5.internal", 80}};

	for (size_t i = 0; i < IC_COUNT(ports); i++)
		cr_expect_eq(ic_proxy_default_port(ports[i].url), ports[i].port, "%s", ports[i].url);
}

TEST(proxy, checks_exceptions)
{
	static const struct {
		const char *list;
		const char *complaint;
	} lists[] = {
		{"", NULL},
		{"localhost,127.0.0.1,.svc,*.internal:443, 10.0.0.0/8,fd00::/8,[::1]:80,*", NULL},
		{"a.example.com,10.0.0.0/33", "10.0.0.0/33"},
		{"fd00::/129", "fd00::/129"},
		{"[fd00::]/8", "[fd00::]/8"},
		{"example.com/24", "example.com/24"},
		{"10.0.0.0:80/8", "10.0.0.0:80/8"},
		{"a b", "a b"},
		{"http://example.com", "http://example.com"},
		{"..example.com", "..example.com"},
		{"*.", "*."},
		{"example.com:http", "example.com:http"},
		{"ex*mple.com", "ex*mple.com"},
	};

	for (size_t i = 0; i < IC_COUNT(lists); i++) {
		struct imgcheck_error *err = NULL;

		cr_assert_eq(ic_proxy_check_exceptions(lists[i].list, &err), lists[i].complaint ? IMGCHECK_ERR_CONFIG : 0, "%s: %s",
		             lists[i].list, imgcheck_error_message(err));
		if (lists[i].complaint)
			cr_assert(strstr(imgcheck_error_message(err), lists[i].complaint), "%s", imgcheck_error_message(err));
		imgcheck_error_free(err);
	}
}

TEST(proxy, is_chosen_by_scheme_and_host)
{
	struct imgcheck_config *c;
	const char *source = "x";

	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_str_eq(ic_proxy_choose(c, "https", "r.example.com", &source), "");
	cr_assert_null(source);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_HTTPS_PROXY, "http://proxy:1", NULL), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_HTTP_PROXY, "http://proxy:2", NULL), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_NO_PROXY, "inside.example.com", NULL), 0);
	cr_assert_str_eq(ic_proxy_choose(c, "https", "r.example.com", &source), "http://proxy:1");
	cr_assert_str_eq(source, "https-proxy");
	cr_assert_str_eq(ic_proxy_choose(c, "http", "r.example.com", &source), "http://proxy:2");
	cr_assert_str_eq(source, "http-proxy");
	cr_assert_str_eq(ic_proxy_choose(c, "https", "inside.example.com", &source), "");
	cr_assert_null(source);
	cr_assert_str_eq(ic_proxy_choose(c, "http", "localhost", NULL), "");
	imgcheck_config_free(c);
}
