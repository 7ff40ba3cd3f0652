/* SPDX-License-Identifier: Apache-2.0 */
#include "source/proxy.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "source/config.h"
#include "source/host.h"
#include "source/option.h"

/* One entry of the exceptions. */
struct exception {
	enum { EVERYTHING, BLOCK, ADDRESS, NAME, NOTHING } kind;
	struct ic_host host;       /* without the dot or `*.` before a suffix */
	unsigned char address[16]; /* BLOCK, ADDRESS */
	size_t address_len;
	size_t prefix_bits;        /* BLOCK */
	bool suffix_only;          /* NAME: sub-domains, not the name itself */
};

/* The next entry without blanks around it; moves *list behind it.  False at the end. */
static bool next_entry(const char **list, const char **entry, size_t *len)
{
	const char *start = *list;

	if (*start == '\0')
		return false;
	*len = strcspn(start, ",");
	*list = start + *len + (start[*len] == ',');
	while (*len && ic_is_space(*start)) {
		start++;
		(*len)--;
	}
	while (*len && ic_is_space(start[*len - 1]))
		(*len)--;
	*entry = start;
	return true;
}

/* An address with or without brackets, as exceptions are written: "10.0.0.1:80", "::1", "[::1]:80". */
static size_t parse_address(const char *text, size_t len, struct ic_host *host, unsigned char out[16])
{
	if (ic_host_parse(text, len, host))
		return ic_host_address(host, out);
	*host = (struct ic_host){.name = text, .len = len, .ipv6 = true};
	return ic_host_address(host, out);
}

/* Brackets have no place in a block: Go passes over one. */
static bool parse_block(const char *text, size_t len, const char *slash, struct exception *out)
{
	size_t address_len = (size_t)(slash - text);

	out->kind = BLOCK;
	out->address_len = parse_address(text, address_len, &out->host, out->address);
	return out->address_len && text[0] != '[' && out->host.port == 0 &&
	       ic_text_to_size(slash + 1, len - address_len - 1, 8 * out->address_len, &out->prefix_bits);
}

/* False where the entry could never match. */
static bool parse_exception(const char *text, size_t len, struct exception *out)
{
	const char *slash = len ? memchr(text, '/', len) : NULL;

	*out = (struct exception){.kind = NOTHING};
	if (len == 0)
		return true;
	if (slash)
		return parse_block(text, len, slash, out);
	if (ic_text_equal(text, len, "*")) {
		out->kind = EVERYTHING;
		return true;
	}
	out->address_len = parse_address(text, len, &out->host, out->address);
	if (out->address_len) {
		out->kind = ADDRESS;
		return true;
	}
	if (ic_text_starts(text, len, "*.")) {
		text++;
		len--;
	}
	out->suffix_only = text[0] == '.';
	out->kind = NAME;
	return ic_host_parse(text + out->suffix_only, len - out->suffix_only, &out->host);
}

static bool same_bits(const unsigned char *a, const unsigned char *b, size_t bits)
{
	size_t bytes = bits / 8;
	unsigned mask = 0xff00u >> (bits % 8);

	return memcmp(a, b, bytes) == 0 && (bits % 8 == 0 || ((a[bytes] ^ b[bytes]) & mask & 0xff) == 0);
}

static bool name_matches(const struct exception *e, const struct ic_host *host)
{
	struct ic_host tail = *host;

	if (host->ipv6 || host->len < e->host.len)
		return false;
	tail.name += host->len - e->host.len;
	tail.len = e->host.len;
	tail.port = e->host.port;
	if (!ic_host_same(&tail, &e->host, 0))
		return false;
	return host->len == tail.len ? !e->suffix_only : tail.name[-1] == '.';
}

static bool matches(const struct exception *e, const struct ic_host *host, unsigned port)
{
	unsigned char address[16];
	size_t address_len = ic_host_address(host, address);

	if (e->host.port && e->host.port != port)
		return false;
	switch (e->kind) {
	case EVERYTHING:
		return true;
	case BLOCK:
		return address_len == e->address_len && same_bits(address, e->address, e->prefix_bits);
	case ADDRESS:
		return address_len == e->address_len && memcmp(address, e->address, address_len) == 0;
	case NAME:
		return name_matches(e, host);
	case NOTHING:
		break;
	}
	return false;
}

bool ic_proxy_is_exempt(const char *exceptions, const char *scheme, const char *host)
{
	struct exception e;
	struct ic_host asked;
	const char *entry;
	size_t len;

	if (!ic_host_parse(host, strlen(host), &asked))
		return false;
	if (ic_host_is_loopback(&asked))
		return true;
	while (next_entry(&exceptions, &entry, &len))
		if (parse_exception(entry, len, &e) && matches(&e, &asked, asked.port ? asked.port : ic_host_default_port(scheme)))
			return true;
	return false;
}

const char *ic_proxy_choose(const struct imgcheck_config *c, const char *scheme, const char *host, const char **source)
{
	enum imgcheck_option option =
		strcmp(scheme, "http") == 0 ? IMGCHECK_OPTION_HTTP_PROXY : IMGCHECK_OPTION_HTTPS_PROXY;
	const char *proxy = ic_config_value(c, option);

	if (proxy[0] && ic_proxy_is_exempt(ic_config_value(c, IMGCHECK_OPTION_NO_PROXY), scheme, host))
		proxy = "";
	if (source)
		*source = proxy[0] ? ic_option_get(option)->name : NULL;
	return proxy;
}

/* Behind "scheme://"; NULL for a scheme that is not spoken here. */
static const char *skip_scheme(const char *value)
{
	static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};

	for (size_t i = 0; i < IC_COUNT(schemes); i++)
		if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0)
			return value + strlen(schemes[i]);
	return strstr(value, "://") ? NULL : value;
}

long ic_proxy_default_port(const char *value)
{
	static const struct {
		const char *scheme;
		long port;
	} ports[] = {{"https://", 443}, {"socks5://", 1080}, {"socks5h://", 1080}};

	for (size_t i = 0; i < IC_COUNT(ports); i++)
		if (strncasecmp(value, ports[i].scheme, strlen(ports[i].scheme)) == 0)
			return ports[i].port;
	return 80;
}

int ic_proxy_check_url(const char *value, struct imgcheck_error **err)
{
	const char *rest = skip_scheme(value), *at;
	struct ic_host host;
	size_t len;

	if (value[0] == '\0')
		return 0;
	if (!rest)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "the URL has another scheme than http, https, socks5 or socks5h");
	for (const char *p = rest; *p; p++)
		if (*p <= ' ' || *p > '~')
			return ic_error_set(err, IMGCHECK_ERR_CONFIG, "the URL holds blanks or other bytes than ASCII; write %%XX");
	at = strrchr(rest, '@');
	if (at && strcspn(rest, "/?#") < (size_t)(at - rest))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "the URL has /, ? or # before the @; write %%XX in a password");
	rest = at ? at + 1 : rest;
	len = strcspn(rest, "/?#");
	if (rest[len] && strcmp(rest + len, "/") != 0)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "the URL has a path; write [scheme://][user:password@]host[:port]");
	if (!ic_host_parse(rest, len, &host))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "the URL has no valid host; write [scheme://][user:password@]host[:port]");
	return 0;
}

int ic_proxy_check_exceptions(const char *value, struct imgcheck_error **err)
{
	struct exception e;
	const char *entry;
	size_t len;

	while (next_entry(&value, &entry, &len))
		if (!parse_exception(entry, len, &e))
			return ic_error_set(err, IMGCHECK_ERR_CONFIG,
			                    "\"%.*s\" is not a host, a suffix, an address or a CIDR block", (int)len, entry);
	return 0;
}
