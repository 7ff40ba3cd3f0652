/* SPDX-License-Identifier: Apache-2.0 */
#include "source/keyring.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/host.h"

/* host[:port][/path] taken apart as text. */
struct place {
	const char *host, *port, *path; /* port without the colon; path with its slash */
	size_t host_len, port_len, path_len;
};

static const char *skip_scheme(const char *key)
{
	if (ic_text_starts(key, strlen(key), "https://"))
		return key + strlen("https://");
	if (ic_text_starts(key, strlen(key), "http://"))
		return key + strlen("http://");
	return key;
}

/* An address with a port counts without its brackets; anything else that begins as one is no host to Go. */
static void strip_brackets(struct place *p)
{
	if (p->host_len == 0 || p->host[0] != '[')
		return;
	if (p->host[p->host_len - 1] != ']') {
		p->host_len = 0;
	} else if (p->port) {
		p->host++;
		p->host_len -= 2;
	}
}

/* The host of a URL: without a login in front of it, and up to a query or fragment. */
static struct place split(const char *text)
{
	size_t len = strcspn(text, "?#"), authority = strcspn(text, "/?#"), digits = 0;
	const char *at = memrchr(text, '@', authority);
	struct place p = {.host = at ? at + 1 : text, .path = text + authority, .path_len = len - authority};

	p.host_len = (size_t)(p.path - p.host);
	text = p.host;
	while (digits < p.host_len && ic_is_digit(text[p.host_len - 1 - digits]))
		digits++;
	if (digits < p.host_len && text[p.host_len - 1 - digits] == ':') {
		p.port = p.path - digits;
		p.port_len = digits;
		p.host_len -= digits + 1;
	}
	strip_brackets(&p);
	return p;
}

/* A key as the kubelet keeps it: no scheme, no /v1 or /v2 before a path, no slash alone. */
static struct place kubelet_key(const char *key)
{
	struct place p = split(skip_scheme(key));

	if (ic_text_starts(p.path, p.path_len, "/v1/") || ic_text_starts(p.path, p.path_len, "/v2/")) {
		p.path += 3;
		p.path_len -= 3;
	}
	if (p.path_len == 1)
		p.path_len = 0;
	return p;
}

/* A bracket or a dash is none of the bytes of a class. */
static bool is_plain(char c)
{
	return c != ']' && c != '-';
}

/* One [class] of a shell pattern; moves *pattern behind it.  False where c is not in it, or it is none. */
static bool class_matches(const char **pattern, const char *end, char c)
{
	const char *p = *pattern + 1;
	bool negated = p < end && *p == '^', found = false, good = true;

	p += negated;
	for (bool first = true; good && p < end && (first || *p != ']'); first = false, p++) {
		char low = *p, high = low;

		if (p + 2 < end && p[1] == '-') {
			high = p[2];
			p += 2;
		}
		good = is_plain(low) && is_plain(high);
		found = found || (c >= low && c <= high);
	}
	*pattern = p < end ? p + 1 : end;
	return good && p < end && found != negated;
}

/* One label against its pattern: `*`, `?` and [classes].  On a mismatch the last `*` takes one byte more. */
static bool label_matches(const char *pattern, const char *pattern_end, const char *text, const char *end)
{
	const char *star = NULL, *retry = NULL;

	while (text < end) {
		const char *next = pattern + 1;
		bool one = pattern < pattern_end;

		if (one && *pattern == '*') {
			star = pattern++;
			retry = text;
			continue;
		}
		if (one && *pattern == '[') {
			next = pattern;
			one = class_matches(&next, pattern_end, *text);
		} else if (one) {
			one = *pattern == '?' || *pattern == *text;
		}
		if (!one && !star)
			return false;
		pattern = one ? next : star + 1;
		text = one ? text + 1 : ++retry;
	}
	while (pattern < pattern_end && *pattern == '*')
		pattern++;
	return pattern == pattern_end;
}

/* Label by label, so that `*` never crosses a dot. */
static bool host_matches(const struct place *key, const struct place *image)
{
	const char *k = key->host, *k_end = k + key->host_len;
	const char *h = image->host, *h_end = h + image->host_len;

	for (;;) {
		const char *k_dot = memchr(k, '.', (size_t)(k_end - k));
		const char *h_dot = memchr(h, '.', (size_t)(h_end - h));

		if (!label_matches(k, k_dot ? k_dot : k_end, h, h_dot ? h_dot : h_end))
			return false;
		if (!k_dot || !h_dot)
			return !k_dot && !h_dot;
		k = k_dot + 1;
		h = h_dot + 1;
	}
}

/* The path is a prefix of the text, whatever stands behind it. */
static bool kubelet_matches(const struct place *key, const struct place *image)
{
	return key->port_len == image->port_len &&
	       (key->port_len == 0 || memcmp(key->port, image->port, key->port_len) == 0) &&
	       key->path_len <= image->path_len &&
	       (key->path_len == 0 || memcmp(key->path, image->path, key->path_len) == 0) && host_matches(key, image);
}

/* Order of the keys as whole texts; a key's bytes up to its path stand together, the path behind a cut "/v1". */
static int compare_keys(const struct place *a, const struct place *b)
{
	size_t a_front = a->host_len + (a->port ? a->port_len + 1 : 0), a_len = a_front + a->path_len;
	size_t b_front = b->host_len + (b->port ? b->port_len + 1 : 0), b_len = b_front + b->path_len;

	for (size_t i = 0; i < a_len && i < b_len; i++) {
		unsigned char x = (unsigned char)(i < a_front ? a->host[i] : a->path[i - a_front]);
		unsigned char y = (unsigned char)(i < b_front ? b->host[i] : b->path[i - b_front]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a_len < b_len ? -1 : a_len > b_len;
}

/* Puts the match behind those whose keys sort the same or later: the kubelet goes through keys in reverse. */
static int insert_match(struct ic_vec *out, size_t from, const struct ic_auth_match *match, struct imgcheck_error **err)
{
	struct place key = kubelet_key(match->entry->key);
	struct ic_auth_match *items;
	int result = ic_vec_push(out, match, err);
	size_t i;

	if (result < 0)
		return result;
	items = out->items;
	for (i = out->count - 1; i > from; i--) {
		struct place before = kubelet_key(items[i - 1].entry->key);

		if (compare_keys(&before, &key) >= 0)
			break;
		items[i] = items[i - 1];
	}
	items[i] = *match;
	return 0;
}

/* Where nothing else fits, Docker Hub takes the key of its old index. */
static bool is_hub(const struct place *image)
{
	return ic_text_equal(image->host, image->host_len, "docker.io") ||
	       ic_text_equal(image->host, image->host_len, "index.docker.io");
}

static bool is_index_key(const struct place *key)
{
	return key->port_len == 0 && key->path_len == 0 && ic_text_equal(key->host, key->host_len, "index.docker.io");
}

static int kubelet_pass(const struct ic_vec *files, const struct place *image, bool index_keys, struct ic_vec *out,
                        struct imgcheck_error **err)
{
	size_t from = out->count;

	for (size_t f = 0; f < files->count; f++) {
		const struct ic_authfile *file = ic_vec_at(files, f);

		for (size_t i = 0; i < file->entries.count; i++) {
			struct ic_auth_match match = {.file = file, .entry = ic_vec_at(&file->entries, i)};
			struct place key = kubelet_key(match.entry->key);
			int result = 0;

			if (index_keys ? is_index_key(&key) : kubelet_matches(&key, image))
				result = insert_match(out, from, &match, err);
			if (result < 0)
				return result;
		}
	}
	return 0;
}

int ic_keyring_find(const struct ic_vec *files, const char *repository, struct ic_vec *out, struct imgcheck_error **err)
{
	struct place image = split(repository);
	size_t before = out->count;
	int result = kubelet_pass(files, &image, false, out, err);

	return result == 0 && out->count == before && is_hub(&image) ? kubelet_pass(files, &image, true, out, err) : result;
}

static const struct ic_auth_entry *exact_entry(const struct ic_authfile *file, const char *key, size_t len)
{
	for (size_t i = 0; i < file->entries.count; i++) {
		const struct ic_auth_entry *entry = ic_vec_at(&file->entries, i);

		if (ic_text_equal(key, len, entry->key))
			return entry;
	}
	return NULL;
}

/* Keys with a scheme, which `docker login` writes, count by their host; Docker Hub's names are one. */
static bool host_key_matches(const char *key, const char *host, size_t host_len)
{
	const char *rest = skip_scheme(key);
	size_t len = rest == key ? strlen(rest) : strcspn(rest, "/");

	if (ic_host_is_hub(host, host_len))
		return ic_host_is_hub(rest, len);
	return len == host_len && memcmp(rest, host, len) == 0;
}

/* From the whole repository up to the host, path component by path component; then by host. */
static const struct ic_auth_entry *find_containers(const struct ic_authfile *file, const char *repository)
{
	const struct ic_auth_entry *entry;
	size_t len = strlen(repository), host_len = strcspn(repository, "/");

	while (len > 0) {
		entry = exact_entry(file, repository, len);
		if (entry)
			return entry;
		while (len > 0 && repository[len - 1] != '/')
			len--;
		len = len ? len - 1 : 0;
	}
	for (size_t i = 0; i < file->entries.count; i++) {
		entry = ic_vec_at(&file->entries, i);
		if (host_key_matches(entry->key, repository, host_len))
			return entry;
	}
	return NULL;
}

bool ic_keyring_next(const struct ic_vec *files, const char *repository, size_t *at, struct ic_auth_match *out)
{
	char host[IC_MAX_REF_BYTES];
	size_t len = strcspn(repository, "/");

	*out = (struct ic_auth_match){0};
	if (len >= sizeof(host))
		return false;
	memcpy(host, repository, len);
	host[len] = '\0';
	while (*at < files->count) {
		out->file = ic_vec_at(files, (*at)++);
		out->helper = ic_keyring_helper(IC_AUTH_CONTAINERS, out->file, host);
		out->entry = out->helper ? NULL : find_containers(out->file, repository);
		if (out->helper || out->entry)
			return true;
	}
	return false;
}

struct ic_auth_use ic_keyring_use(enum ic_auth_rules rules, const struct ic_auth_entry *entry)
{
	switch (rules) {
	case IC_AUTH_KUBELET:
		if (entry->auth_user)
			return (struct ic_auth_use){.user = entry->auth_user, .secret = entry->auth_secret};
		return (struct ic_auth_use){.user = entry->user, .secret = entry->secret};
	case IC_AUTH_CONTAINERS:
		return (struct ic_auth_use){entry->auth_user, entry->auth_secret, entry->identity_token};
	}
	return (struct ic_auth_use){0};
}

static bool names_helper(enum ic_auth_rules rules, const char *key, const char *host)
{
	switch (rules) {
	case IC_AUTH_KUBELET:
		return host_key_matches(key, host, strlen(host));
	case IC_AUTH_CONTAINERS:
		return strcmp(key, host) == 0;
	}
	return false;
}

const char *ic_keyring_helper(enum ic_auth_rules rules, const struct ic_authfile *file, const char *host)
{
	const char *store = NULL;

	for (size_t i = 0; i < file->helpers.count; i++) {
		const struct ic_auth_helper *helper = ic_vec_at(&file->helpers, i);

		if (!helper->key)
			store = rules == IC_AUTH_KUBELET ? helper->name : NULL;
		else if (names_helper(rules, helper->key, host))
			return helper->name;
	}
	return store;
}

const char *ic_keyring_near_miss(const struct ic_authfile *file, const char *host)
{
	struct place asked = split(host);

	for (size_t i = 0; i < file->entries.count; i++) {
		const struct ic_auth_entry *entry = ic_vec_at(&file->entries, i);
		struct place key = kubelet_key(entry->key);

		if (key.host_len == asked.host_len && memcmp(key.host, asked.host, key.host_len) == 0 &&
		    (key.port_len != asked.port_len || (key.port && asked.port && memcmp(key.port, asked.port, key.port_len) != 0)))
			return entry->key;
	}
	return NULL;
}
