/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

#include <stdint.h>
#include <string.h>

#include "digest.h"
#include "limits.h"
#include "text.h"

#define HUB "docker.io"
#define HUB_ALIAS "index.docker.io"
#define HUB_PREFIX "library/"
#define HUB_REQUEST_HOST "registry-1.docker.io"

#define MAX_TAG_BYTES 128
#define IDENTIFIER_BYTES 64 /* so many hex digits alone are taken for an image id, never for a name */
#define SHOWN_BYTES 160     /* of the text, in an error */

struct slice {
	const char *s;
	size_t len;
};

/* A reference taken apart; s is NULL for what is not written. */
struct parts {
	struct slice domain, path, tag, digest;
	bool is_official; /* "library/" belongs before the path */
};

static struct slice slice_from(struct slice whole, size_t from)
{
	return (struct slice){whole.s + from, whole.len - from};
}

static struct slice slice_until(struct slice whole, size_t end)
{
	return (struct slice){whole.s, end};
}

/* Where the first byte out of `set` stands, or len. */
static size_t find_any(struct slice text, const char *set)
{
	size_t first = text.len;

	for (; *set; set++) {
		const char *found = first > 0 ? memchr(text.s, *set, first) : NULL;

		if (found)
			first = (size_t)(found - text.s);
	}
	return first;
}

static bool is_hex(char c)
{
	return ic_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool has_upper(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (ic_is_upper(text.s[i]))
			return true;
	return false;
}

/* Behind the lower-case letters and digits at i. */
static size_t skip_alnum(struct slice text, size_t i)
{
	while (i < text.len && (ic_is_lower(text.s[i]) || ic_is_digit(text.s[i])))
		i++;
	return i;
}

/* Behind one separator of a path component at i: one of ".", "_", "__", or any number of dashes. */
static size_t skip_separator(struct slice text, size_t i)
{
	if (i < text.len && text.s[i] == '.')
		return i + 1;
	if (i < text.len && text.s[i] == '_')
		return i + 1 < text.len && text.s[i + 1] == '_' ? i + 2 : i + 1;
	while (i < text.len && text.s[i] == '-')
		i++;
	return i;
}

static bool is_path_component(struct slice text)
{
	size_t i = skip_alnum(text, 0);

	if (i == 0)
		return false;
	while (i < text.len) {
		size_t word = skip_separator(text, i);
		size_t end = skip_alnum(text, word);

		if (word == i || end == word)
			return false;
		i = end;
	}
	return true;
}

static bool is_path(struct slice text)
{
	for (;;) {
		size_t end = find_any(text, "/");

		if (!is_path_component(slice_until(text, end)))
			return false;
		if (end == text.len)
			return true;
		text = slice_from(text, end + 1);
	}
}

static bool is_label(struct slice text)
{
	if (text.len == 0 || !ic_is_alnum(text.s[0]) || !ic_is_alnum(text.s[text.len - 1]))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!ic_is_alnum(text.s[i]) && text.s[i] != '-')
			return false;
	return true;
}

static bool is_host_name(struct slice text)
{
	for (;;) {
		size_t end = find_any(text, ".");

		if (!is_label(slice_until(text, end)))
			return false;
		if (end == text.len)
			return true;
		text = slice_from(text, end + 1);
	}
}

/* Behind "[hex and colons]", or 0. */
static size_t skip_ipv6(struct slice text)
{
	size_t i = 1;

	while (i < text.len && (is_hex(text.s[i]) || text.s[i] == ':'))
		i++;
	return i > 1 && i < text.len && text.s[i] == ']' ? i + 1 : 0;
}

static bool is_domain(struct slice text)
{
	size_t end;

	if (text.len && text.s[0] == '[') {
		end = skip_ipv6(text);
		if (end == 0)
			return false;
	} else {
		end = find_any(text, ":");
		if (!is_host_name(slice_until(text, end)))
			return false;
	}
	if (end == text.len)
		return true;
	if (text.s[end] != ':' || end + 1 == text.len)
		return false;
	for (size_t i = end + 1; i < text.len; i++)
		if (!ic_is_digit(text.s[i]))
			return false;
	return true;
}

static bool is_tag(struct slice text)
{
	if (text.len == 0 || text.len > MAX_TAG_BYTES || text.s[0] == '.' || text.s[0] == '-')
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!ic_is_alnum(text.s[i]) && (text.s[i] == '\0' || !strchr("_.-", text.s[i])))
			return false;
	return true;
}

/*
 * Whether what stands before the first slash is a registry.  A name without a slash has none, so that
 * "host:5000" is the tag 5000 of an image of Docker Hub.
 */
static bool names_domain(struct slice first)
{
	return ic_text_equal(first.s, first.len, "localhost") || find_any(first, ".:") < first.len || has_upper(first);
}

/* Splits off the domain; what remains is path, tag and digest. */
static struct slice split_domain(struct slice text, struct parts *out)
{
	size_t slash = find_any(text, "/");
	struct slice first = slice_until(text, slash);

	if (slash < text.len && names_domain(first)) {
		out->domain = first;
		text = slice_from(text, slash + 1);
	}
	out->is_official = find_any(text, "/") == text.len &&
	                   (!out->domain.s || ic_text_equal(first.s, first.len, HUB) ||
	                    ic_text_equal(first.s, first.len, HUB_ALIAS));
	return text;
}

/*
 * A first component like foo_bar.com is no domain by the grammar; it is then read as part of the path, and
 * runtimes nevertheless ask it as a host.
 */
static bool is_underscore_host(struct slice domain)
{
	return find_any(domain, "_") < domain.len && is_path_component(domain);
}

static const char *check_name(const struct parts *parts)
{
	size_t bytes = parts->path.len + (parts->is_official ? strlen(HUB_PREFIX) : 0);

	if (parts->path.len == 0)
		return "it names no repository";
	if (parts->domain.s && !is_domain(parts->domain)) {
		if (!is_underscore_host(parts->domain))
			return "what stands before the first '/' is not a host name or host:port";
		bytes += parts->domain.len + 1;
	}
	if (!is_path(parts->path))
		return "its repository is not lower-case letters and digits, joined by '/', '.', '_', '__' or '-'";
	if (bytes > IC_MAX_REPOSITORY_BYTES)
		return "its repository is longer than 255 bytes";
	return NULL;
}

static bool is_identifier(struct slice text)
{
	if (text.len != IDENTIFIER_BYTES)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!is_hex(text.s[i]) || ic_is_upper(text.s[i]))
			return false;
	return true;
}

/* Takes the text apart; NULL, or the reason why it is no reference (in the order that runtimes find it). */
static const char *take_apart(struct slice text, struct parts *out)
{
	struct slice rest;
	const char *reason;
	size_t end;

	*out = (struct parts){{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, false};
	if (text.len == 0)
		return "it is empty";
	if (text.len > IC_MAX_REF_BYTES)
		return "it is longer than 1024 bytes";
	if (is_identifier(text))
		return "64 hex digits are an image id, not a name";
	rest = split_domain(text, out);
	if (has_upper(slice_until(rest, find_any(rest, ":"))))
		return "its repository must be lower case";
	end = find_any(rest, ":@");
	out->path = slice_until(rest, end);
	if (end < rest.len && rest.s[end] == ':') {
		rest = slice_from(rest, end + 1);
		end = find_any(rest, "@");
		out->tag = slice_until(rest, end);
	}
	if (end < rest.len)
		out->digest = slice_from(rest, end + 1);
	reason = check_name(out);
	if (!reason && out->tag.s && !is_tag(out->tag))
		reason = "its tag is not 1 to 128 letters, digits, '_', '.' or '-'";
	if (!reason && out->digest.s && !ic_digest_is_valid(out->digest.s, out->digest.len, NULL))
		reason = "its digest is not sha256, sha384 or sha512 with the right number of lower-case hex digits";
	return reason;
}

/* new, NULL without memory */
static char *repository_text(const struct parts *parts)
{
	size_t before = parts->is_official ? strlen(HUB_PREFIX) : 0;
	char *out = malloc(before + parts->path.len + 1);

	if (!out)
		return NULL;
	memcpy(out, HUB_PREFIX, before);
	memcpy(out + before, parts->path.s, parts->path.len);
	out[before + parts->path.len] = '\0';
	return out;
}

static char *registry_text(const struct parts *parts)
{
	if (!parts->domain.s || ic_text_equal(parts->domain.s, parts->domain.len, HUB_ALIAS))
		return ic_text_copy(HUB, strlen(HUB));
	return ic_text_copy(parts->domain.s, parts->domain.len);
}

static int build(const struct parts *parts, struct ic_ref *ref, struct imgcheck_error **err)
{
	struct ic_ref made IC_AUTO(ref) = {.has_domain = parts->domain.s != NULL};

	made.registry = registry_text(parts);
	made.repository = repository_text(parts);
	if (parts->digest.s) {
		made.tag_ignored = parts->tag.s != NULL;
		made.digest = ic_text_copy(parts->digest.s, parts->digest.len);
	} else {
		made.tag = parts->tag.s ? ic_text_copy(parts->tag.s, parts->tag.len) : ic_text_copy("latest", strlen("latest"));
	}
	if (!made.registry || !made.repository || (!made.tag && !made.digest))
		return ic_error_nomem(err);
	*ref = made;
	made = (struct ic_ref){.registry = NULL};
	return 0;
}

int ic_ref_parse(const char *text, size_t len, struct ic_ref *ref, struct imgcheck_error **err)
{
	struct parts parts;
	const char *reason = take_apart((struct slice){text, len}, &parts);

	*ref = (struct ic_ref){.registry = NULL};
	if (reason)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot read '%.*s%s' as an image reference: %s",
		                    (int)(len > SHOWN_BYTES ? SHOWN_BYTES : len), len ? text : "", len > SHOWN_BYTES ? "..." : "", reason);
	return build(&parts, ref, err);
}

void ic_ref_clear(struct ic_ref *ref)
{
	free(ref->registry);
	free(ref->repository);
	free(ref->tag);
	free(ref->digest);
	*ref = (struct ic_ref){.registry = NULL};
}

bool ic_ref_is_strict(const char *text, size_t len)
{
	struct slice whole = {text, len};
	struct parts parts;

	return !take_apart(whole, &parts) && find_any(whole, "/") < len && (parts.tag.s || parts.digest.s);
}

bool ic_ref_is_valid(const char *text, size_t len)
{
	struct parts parts;

	return !take_apart((struct slice){text, len}, &parts);
}

const char *ic_ref_request_host(const struct ic_ref *ref)
{
	return strcmp(ref->registry, HUB) == 0 ? HUB_REQUEST_HOST : ref->registry;
}

int ic_ref_hide_login(const char **text, size_t *len, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *end = *text + *len, *scheme = memmem(*text, *len, "://", 3), *host = scheme ? scheme + 3 : *text;
	const char *slash = memchr(host, '/', (size_t)(end - host));
	const char *at = slash ? memrchr(host, '@', (size_t)(slash - host)) : NULL;
	int result;

	ic_buf_init(out, SIZE_MAX - 1);
	if (!at)
		return 0;
	result = ic_buf_add(out, *text, (size_t)(host - *text), err);
	if (result == 0)
		result = ic_buf_add_text(out, "***", err);
	if (result == 0)
		result = ic_buf_add(out, at, (size_t)(end - at), err);
	*text = ic_buf_text(out);
	*len = out->len;
	return result;
}
