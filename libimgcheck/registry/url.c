/* SPDX-License-Identifier: Apache-2.0 */
#include "url.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#define MAX_PORT 65535
#define SHOWN_BYTES 320

static const char *known_scheme(const char *text, size_t len)
{
	static const char *const schemes[] = {"https", "http"};

	for (size_t i = 0; i < IC_COUNT(schemes); i++)
		if (ic_text_equal_nocase(text, len, schemes[i]))
			return schemes[i];
	return NULL;
}

static bool is_host_char(char c)
{
	return ic_is_alnum(c) || (c && strchr(".-_:[]", c));
}

static bool is_port(const char *digits, size_t len)
{
	size_t port;

	return len == 0 || ic_text_to_size(digits, len, MAX_PORT, &port);
}

/* A name or bracketed address, then perhaps a port of digits. */
static bool is_host(const char *text, size_t len)
{
	size_t name = len;

	for (size_t i = 0; i < len; i++)
		if (!is_host_char(text[i]))
			return false;
	while (name > 0 && ic_is_digit(text[name - 1]))
		name--;
	if (name == 0 || text[name - 1] != ':')
		return len > 0 && !memchr(text, ':', text[0] == '[' ? 0 : len) && (text[0] != '[' || text[len - 1] == ']');
	if (!is_port(text + name, len - name))
		return false;
	name--;
	return name > 0 && (text[0] == '[' ? text[name - 1] == ']' || text[len - 1] == ']' : !memchr(text, ':', name));
}

static bool has_control(const char *text)
{
	while (*text && (unsigned char)*text >= ' ' && *text != '\x7f')
		text++;
	return *text != '\0';
}

bool ic_url_parse(const char *text, struct ic_url *out)
{
	size_t scheme = strcspn(text, ":");
	const char *host = text + scheme + 3;

	if (strncmp(text + scheme, "://", 3) != 0 || strlen(text) > IC_MAX_URL_BYTES || has_control(text))
		return false;
	out->scheme = known_scheme(text, scheme);
	out->host = host;
	out->host_len = strcspn(host, "/?#");
	out->rest = host + out->host_len;
	return out->scheme && is_host(host, out->host_len);
}

void ic_url_host_name(const struct ic_url *url, const char **name, size_t *len)
{
	const char *colon = memrchr(url->host, ':', url->host_len);
	const char *bracket = memrchr(url->host, ']', url->host_len);

	*name = url->host;
	*len = colon && colon > bracket ? (size_t)(colon - url->host) : url->host_len;
}

int ic_url_origin(const char *url, char **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	struct ic_url parts;
	const char *name;
	size_t len;
	int result;

	*out = NULL;
	ic_buf_init(&text, 2 * IC_MAX_URL_BYTES);
	if (!ic_url_parse(url, &parts))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot use a URL that is not http or https");
	ic_url_host_name(&parts, &name, &len);
	result = ic_buf_add_text(&text, parts.scheme, err);
	if (result == 0)
		result = ic_buf_add_text(&text, "://", err);
	if (result == 0)
		result = ic_buf_add(&text, parts.host, parts.host_len, err);
	if (result == 0 && len == parts.host_len)
		result = ic_buf_add_text(&text, strcmp(parts.scheme, "https") == 0 ? ":443" : ":80", err);
	if (result < 0)
		return result;
	for (size_t i = 0; i < text.len; i++)
		text.data[i] = ic_to_lower(text.data[i]);
	*out = ic_buf_take(&text);
	return 0;
}

/* ------------------------------------------------------------------ references (RFC 3986, 5.2) */

/* Appends a path without its dot segments; the path begins with '/'. */
static int add_path(struct ic_buf *out, const char *path, size_t len, struct imgcheck_error **err)
{
	size_t base = out->len;
	int result = 0;

	for (size_t at = 0; result == 0 && at < len;) {
		const char *segment = path + at;
		const char *end = memchr(segment + 1, '/', len - at - 1);
		size_t n = end ? (size_t)(end - segment) : len - at;

		at += n;
		if (ic_text_equal(segment, n, "/.") || ic_text_equal(segment, n, "/..")) {
			while (n == 3 && out->len > base && out->data[--out->len] != '/')
				;
			if (at == len)
				result = ic_buf_add_char(out, '/', err);
			continue;
		}
		result = ic_buf_add(out, segment, n, err);
	}
	return result;
}

static int refuse(struct imgcheck_error **err, const char *why)
{
	return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot follow a redirect %s", why);
}

/* Whether the text begins with a scheme and ':' (RFC 3986, 3.1). */
static bool has_scheme(const char *text)
{
	size_t n = 0;

	while (ic_is_alnum(text[n]) || (text[n] && strchr("+-.", text[n])))
		n++;
	return n > 0 && ic_is_alpha(text[0]) && text[n] == ':';
}

/* Copies up to the fragment, blanks and bytes beyond ASCII escaped. */
static int clean(const char *location, struct ic_buf *out, struct imgcheck_error **err)
{
	size_t len = strcspn(location, "#");
	int result = 0;

	if (len > IC_MAX_URL_BYTES)
		return refuse(err, "whose Location is too long");
	for (size_t i = 0; result == 0 && i < len; i++) {
		unsigned char c = (unsigned char)location[i];

		if (c < ' ' || c == 0x7f)
			return refuse(err, "whose Location holds control bytes");
		if (c == ' ' || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' || c == '`' || c > 0x7f)
			result = ic_buf_printf(out, err, "%%%02X", (unsigned)c);
		else
			result = ic_buf_add_char(out, (char)c, err);
	}
	return result;
}

static int check_absolute(const char *url, struct imgcheck_error **err)
{
	size_t scheme = strcspn(url, ":");
	const char *authority = url + scheme + 3;
	struct ic_url parts;

	if (!known_scheme(url, scheme))
		return refuse(err, "to a scheme other than http and https");
	if (strncmp(url + scheme, "://", 3) == 0 && memchr(authority, '@', strcspn(authority, "/?")))
		return refuse(err, "to a URL with user information");
	return ic_url_parse(url, &parts) ? 0 : refuse(err, "to something that is not a URL");
}

/* Path and query of a reference that has neither scheme nor host. */
static int add_relative(struct ic_buf *out, const struct ic_url *base, const char *reference, struct imgcheck_error **err)
{
	size_t path = strcspn(reference, "?"), base_path = strcspn(base->rest, "?#");
	struct ic_buf merged IC_AUTO(buf);
	int result;

	ic_buf_init(&merged, 2 * IC_MAX_URL_BYTES + 2);
	if (path == 0) {
		result = add_path(out, base->rest, base_path, err);
		return result == 0 ? ic_buf_add_text(out, reference, err) : result;
	}
	while (base_path > 0 && base->rest[base_path - 1] != '/')
		base_path--;
	result = 0;
	if (reference[0] != '/')
		result = base_path > 0 ? ic_buf_add(&merged, base->rest, base_path, err) : ic_buf_add_char(&merged, '/', err);
	if (result == 0)
		result = ic_buf_add(&merged, reference, path, err);
	if (result == 0)
		result = add_path(out, ic_buf_text(&merged), merged.len, err);
	return result == 0 ? ic_buf_add_text(out, reference + path, err) : result;
}

int ic_url_resolve(const char *base, const char *location, char **out, struct imgcheck_error **err)
{
	struct ic_buf reference IC_AUTO(buf), url IC_AUTO(buf);
	struct ic_url parts;
	int result;

	*out = NULL;
	ic_buf_init(&reference, 3 * IC_MAX_URL_BYTES);
	ic_buf_init(&url, 4 * IC_MAX_URL_BYTES);
	result = clean(location, &reference, err);
	if (result < 0)
		return result;
	if (!ic_url_parse(base, &parts))
		return refuse(err, "from something that is not a URL");
	location = ic_buf_text(&reference);
	if (has_scheme(location))
		result = ic_buf_add_text(&url, location, err);
	else if (strncmp(location, "//", 2) == 0)
		result = ic_buf_printf(&url, err, "%s:%s", parts.scheme, location);
	else
		result = ic_buf_printf(&url, err, "%s://%.*s", parts.scheme, (int)parts.host_len, parts.host);
	if (result == 0 && !has_scheme(location) && strncmp(location, "//", 2) != 0)
		result = add_relative(&url, &parts, location, err);
	if (result == 0)
		result = check_absolute(ic_buf_text(&url), err);
	if (result < 0)
		return result;
	*out = ic_buf_take(&url);
	return 0;
}

/* ------------------------------------------------------------------ writing */

int ic_url_add_component(struct ic_buf *out, const char *text, struct imgcheck_error **err)
{
	int result = 0;

	for (; result == 0 && *text; text++) {
		if (ic_is_alnum(*text) || strchr("-._~", *text))
			result = ic_buf_add_char(out, *text, err);
		else
			result = ic_buf_printf(out, err, "%%%02X", (unsigned)(unsigned char)*text);
	}
	return result;
}

int ic_url_add_shown(struct ic_buf *out, const char *url, struct imgcheck_error **err)
{
	size_t end = strcspn(url, "?#");
	const char *place = memmem(url, end, "://", strlen("://")), *login;
	struct ic_url parts;
	int result;

	if (ic_url_parse(url, &parts))
		return ic_text_escape(out, url, end, SHOWN_BYTES, err);
	place = place ? place + strlen("://") : url;
	result = ic_text_escape(out, url, (size_t)(place - url), SHOWN_BYTES, err);
	/* a login reaches to the last '@'; with one behind a '?' nobody knows what is part of it */
	login = strrchr(place, '@');
	if (result < 0 || (login && login >= url + end))
		return result < 0 ? result : ic_buf_add_text(out, "...", err);
	place = login ? login + 1 : place;
	return ic_text_escape(out, place, (size_t)(url + end - place), SHOWN_BYTES, err);
}
