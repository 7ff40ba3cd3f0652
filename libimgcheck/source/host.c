/* SPDX-License-Identifier: Apache-2.0 */
#include "source/host.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define MAX_NAME_BYTES 255 /* RFC 1035, 2.3.4 */
#define MAX_PORT 65535

/* Labels of letters, digits and inner dashes, joined by dots: the grammar of distribution/reference. */
static bool is_name(const char *text, size_t len)
{
	char before = '.';

	if (len == 0 || len > MAX_NAME_BYTES)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!ic_is_alnum(text[i]) && text[i] != '-' && text[i] != '.')
			return false;
		if (!ic_is_alnum(text[i]) && before == '.')
			return false;
		if (text[i] == '.' && before == '-')
			return false;
		before = text[i];
	}
	return ic_is_alnum(before);
}

static size_t parse_address(int family, const char *text, size_t len, unsigned char out[16])
{
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy))
		return 0;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strlen(copy) != len || inet_pton(family, copy, out) != 1)
		return 0;
	return family == AF_INET ? 4 : 16;
}

/* The port behind the colon, where there is one. */
static bool parse_port(const char *text, size_t len, unsigned *port)
{
	size_t value;

	*port = 0;
	if (len == 0)
		return true;
	if (text[0] != ':' || !ic_text_to_size(text + 1, len - 1, MAX_PORT, &value) || value == 0)
		return false;
	*port = (unsigned)value;
	return true;
}

bool ic_host_parse(const char *text, size_t len, struct ic_host *out)
{
	const char *end;
	unsigned char address[16];

	*out = (struct ic_host){.name = text};
	if (len > 0 && text[0] == '[') {
		end = memchr(text, ']', len);
		if (!end)
			return false;
		out->name = text + 1;
		out->len = (size_t)(end - text) - 1;
		out->ipv6 = true;
		end++;
		return parse_address(AF_INET6, out->name, out->len, address) &&
		       parse_port(end, len - (size_t)(end - text), &out->port);
	}
	end = len ? memchr(text, ':', len) : NULL;
	out->len = end ? (size_t)(end - text) : len;
	return is_name(text, out->len) && parse_port(text + out->len, len - out->len, &out->port);
}

bool ic_host_same(const struct ic_host *a, const struct ic_host *b, unsigned default_port)
{
	if (a->len != b->len || a->ipv6 != b->ipv6)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (ic_to_lower(a->name[i]) != ic_to_lower(b->name[i]))
			return false;
	return (a->port ? a->port : default_port) == (b->port ? b->port : default_port);
}

size_t ic_host_address(const struct ic_host *h, unsigned char out[16])
{
	return parse_address(h->ipv6 ? AF_INET6 : AF_INET, h->name, h->len, out);
}

bool ic_host_is_loopback(const struct ic_host *h)
{
	static const unsigned char v6_loopback[16] = {[15] = 1};
	unsigned char address[16];

	switch (ic_host_address(h, address)) {
	case 4:
		return address[0] == 127;
	case 16:
		return memcmp(address, v6_loopback, sizeof(v6_loopback)) == 0;
	}
	return ic_text_equal_nocase(h->name, h->len, "localhost");
}

unsigned ic_host_default_port(const char *scheme)
{
	return strcmp(scheme, "http") == 0 ? 80 : 443;
}

bool ic_host_is_hub(const char *host, size_t len)
{
	static const char *const names[] = {"docker.io", "index.docker.io", "registry-1.docker.io"};

	for (size_t i = 0; i < IC_COUNT(names); i++)
		if (ic_text_equal(host, len, names[i]))
			return true;
	return false;
}
