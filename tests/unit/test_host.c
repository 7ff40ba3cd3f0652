/* SPDX-License-Identifier: Apache-2.0 */
#include "source/host.h"

#include <string.h>

#include "base/cleanup.h"
#include "test.h"

static const struct {
	const char *text;
	const char *name; /* NULL where the text is no host[:port] */
	unsigned port;
	bool loopback;
} rows[] = {
	{"registry.internal", "registry.internal", 0, false},
	{"registry.internal:5000", "registry.internal", 5000, false},
	{"localhost", "localhost", 0, true},
	{"LOCALHOST:80", "LOCALHOST", 80, true},
	{"localhost.example.com", "localhost.example.com", 0, false},
	{"127.0.0.1:5000", "127.0.0.1", 5000, true},
	{"127.255.0.9", "127.255.0.9", 0, true},
	{"128.0.0.1", "128.0.0.1", 0, false},
	{"127.example.com", "127.example.com", 0, false},
	{"[::1]:5000", "::1", 5000, true},
	{"[2001:db8::1]", "2001:db8::1", 0, false},
	{"a-b.c--d:65535", "a-b.c--d", 65535, false},
	{"", NULL, 0, false},
	{":5000", NULL, 0, false},
	{"host:", NULL, 0, false},
	{"host:0", NULL, 0, false},
	{"host:65536", NULL, 0, false},
	{"host:5000:1", NULL, 0, false},
	{"host:x", NULL, 0, false},
	{"-host", NULL, 0, false},
	{"host-", NULL, 0, false},
	{"host-.example", NULL, 0, false},
	{"host..example", NULL, 0, false},
	{".example", NULL, 0, false},
	{"host.", NULL, 0, false},
	{"under_score", NULL, 0, false},
	{"host/path", NULL, 0, false},
	{"http://host", NULL, 0, false},
	{"user@host", NULL, 0, false},
	{"::1", NULL, 0, false},
	{"[::1", NULL, 0, false},
	{"[::1]5000", NULL, 0, false},
	{"[::1]:", NULL, 0, false},
	{"[host]", NULL, 0, false},
	{"[]", NULL, 0, false},
};

TEST(host, takes_apart)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_host host;

		cr_assert_eq(ic_host_parse(rows[i].text, strlen(rows[i].text), &host), rows[i].name != NULL, "%s", rows[i].text);
		if (!rows[i].name)
			continue;
		cr_assert_eq(host.len, strlen(rows[i].name), "%s", rows[i].text);
		cr_assert_eq(memcmp(host.name, rows[i].name, host.len), 0, "%s", rows[i].text);
		cr_assert_eq(host.port, rows[i].port, "%s", rows[i].text);
		cr_assert_eq(ic_host_is_loopback(&host), rows[i].loopback, "%s", rows[i].text);
	}
}

TEST(host, is_bounded)
{
	char text[300];
	struct ic_host host;

	memset(text, 'a', sizeof(text));
	cr_assert(ic_host_parse(text, 255, &host));
	cr_assert_not(ic_host_parse(text, 256, &host));
	cr_assert_not(ic_host_parse("a\0b", 3, &host));
	text[0] = '[';
	text[299] = ']';
	cr_assert_not(ic_host_parse(text, sizeof(text), &host));
	cr_assert_not(ic_host_parse("[::1\0]", 6, &host));
}

TEST(host, compares)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{"r.example.com", "R.Example.com", true},
		{"r.example.com", "r.example.com:443", true},
		{"r.example.com:5000", "r.example.com", false},
		{"r.example.com:5000", "r.example.com:5000", true},
		{"r.example.com", "r.example.org", false},
		{"[::1]", "[::1]:443", true},
		{"a", "ab", false},
	};

	for (size_t i = 0; i < IC_COUNT(pairs); i++) {
		struct ic_host a, b;

		cr_assert(ic_host_parse(pairs[i].a, strlen(pairs[i].a), &a));
		cr_assert(ic_host_parse(pairs[i].b, strlen(pairs[i].b), &b));
		cr_assert_eq(ic_host_same(&a, &b, 443), pairs[i].same, "%s %s", pairs[i].a, pairs[i].b);
		cr_assert_eq(ic_host_same(&b, &a, 443), pairs[i].same, "%s %s", pairs[i].b, pairs[i].a);
	}
	cr_assert_eq(ic_host_default_port("http"), 80);
	cr_assert_eq(ic_host_default_port("https"), 443);
}

TEST(host, knows_docker_hub)
{
	cr_assert(ic_host_is_hub("docker.io", 9));
	cr_assert(ic_host_is_hub("index.docker.io", 15));
	cr_assert(ic_host_is_hub("registry-1.docker.io", 20));
	cr_assert_not(ic_host_is_hub("docker.io.example.com", 21));
	cr_assert_not(ic_host_is_hub("docker.io", 8));
}
