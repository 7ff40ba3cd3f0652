/* SPDX-License-Identifier: Apache-2.0 */
#include "source/mirror.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>
#include <wctype.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/finding.h"
#include "source/host.h"
#include "source/secret.h"
#include "source/trust.h"

#define MAX_GROUPS 10 /* $0 to $9 */
#define MAX_REPEATS 6 /* groups with a plus, each of which the GNU library writes out twice */

/* ------------------------------------------------------------------ memory */

void ic_mirror_init(struct ic_mirror *m)
{
	*m = (struct ic_mirror){.resolve = true, .pull = true};
	ic_texts_init(&m->header, IC_MAX_HEADER_FIELDS);
	ic_vec_init(&m->rewrites, sizeof(struct ic_rewrite_rule), IC_MAX_LIST_ITEMS);
}

static void tls_free(struct ic_tls *tls)
{
	if (!tls)
		return;
	ic_buf_clear(&tls->ca);
	ic_buf_clear(&tls->client);
	free(tls);
}

void ic_mirror_clear(struct ic_mirror *m)
{
	free(m->scheme);
	free(m->host);
	free(m->path);
	tls_free(m->tls);
	for (size_t i = 0; i < m->header.count; i++)
		ic_secret_free(*(char **)ic_vec_at(&m->header, i));
	ic_vec_clear(&m->header);
	for (size_t i = 0; i < m->rewrites.count; i++) {
		struct ic_rewrite_rule *rule = ic_vec_at(&m->rewrites, i);

		free(rule->pattern);
		free(rule->replacement);
	}
	ic_vec_clear(&m->rewrites);
	*m = (struct ic_mirror){0};
}

void ic_mirrors_init(struct ic_mirrors *m)
{
	*m = (struct ic_mirrors){0};
	ic_vec_init(&m->hosts, sizeof(struct ic_mirror), IC_MAX_LIST_ITEMS);
}

void ic_mirrors_clear(struct ic_mirrors *m)
{
	free(m->name);
	free(m->place);
	free(m->broken);
	for (size_t i = 0; i < m->hosts.count; i++)
		ic_mirror_clear(ic_vec_at(&m->hosts, i));
	ic_vec_clear(&m->hosts);
	*m = (struct ic_mirrors){0};
}

void ic_mirror_set_init(struct ic_mirror_set *s, enum ic_mirror_names names)
{
	s->names = names;
	ic_vec_init(&s->list, sizeof(struct ic_mirrors), IC_MAX_LIST_ITEMS);
}

void ic_mirror_set_clear(struct ic_mirror_set *s)
{
	for (size_t i = 0; i < s->list.count; i++)
		ic_mirrors_clear(ic_vec_at(&s->list, i));
	ic_vec_clear(&s->list);
}

int ic_mirrors_add(struct ic_mirrors *to, struct ic_mirror *m, struct imgcheck_error **err)
{
	int result = ic_vec_push(&to->hosts, m, err);

	if (result == 0)
		*m = (struct ic_mirror){0};
	return result;
}

int ic_mirror_set_add(struct ic_mirror_set *to, struct ic_mirrors *m, struct imgcheck_error **err)
{
	int result = ic_vec_push(&to->list, m, err);

	if (result == 0)
		*m = (struct ic_mirrors){0};
	return result;
}

/* ------------------------------------------------------------------ names */

const struct ic_mirrors *ic_mirror_set_get(const struct ic_mirror_set *s, const char *name)
{
	for (size_t i = 0; i < s->list.count; i++) {
		const struct ic_mirrors *m = ic_vec_at(&s->list, i);

		if (strcmp(m->name, name) == 0)
			return m;
	}
	return NULL;
}

int ic_mirror_folder(const char *registry, char **out, struct imgcheck_error **err)
{
	const char *colon = strrchr(registry, ':');
	struct ic_buf name IC_AUTO(buf);
	int result;

	*out = NULL;
	ic_buf_init(&name, IC_MAX_PATH_BYTES);
	if (colon && colon > registry)
		result = ic_buf_printf(&name, err, "%.*s_%s_", (int)(colon - registry), registry, colon + 1);
	else
		result = ic_buf_add_text(&name, registry, err);
	if (result < 0)
		return result;
	*out = ic_buf_take(&name);
	return *out ? 0 : ic_error_nomem(err);
}

/* A folder "host_port_" without making its name. */
static bool is_folder_of(const char *name, const char *registry)
{
	const char *colon = strrchr(registry, ':');
	size_t host = colon ? (size_t)(colon - registry) : 0, len = strlen(registry);

	return host > 0 && strlen(name) == len + 1 && memcmp(name, registry, host) == 0 && name[host] == '_' &&
	       memcmp(name + host + 1, colon + 1, len - host - 1) == 0 && name[len] == '_';
}

const struct ic_mirrors *ic_mirror_set_find(const struct ic_mirror_set *s, const char *registry)
{
	const struct ic_mirrors *found;

	for (size_t i = 0; i < s->list.count && s->names == IC_MIRROR_FOLDERS; i++) {
		found = ic_vec_at(&s->list, i);
		if (is_folder_of(found->name, registry))
			return found;
	}
	found = ic_mirror_set_get(s, registry);
	return found ? found : ic_mirror_set_get(s, s->names == IC_MIRROR_FOLDERS ? "_default" : "*");
}

/* ------------------------------------------------------------------ URLs */

static int set_text(char **out, const char *text, size_t len, struct imgcheck_error **err)
{
	free(*out);
	*out = ic_text_copy(text, len);
	return *out ? 0 : ic_error_nomem(err);
}

/* The scheme in front of a URL, "https" where there is none; *rest is what stands behind it.  NULL for another one. */
static const char *split_scheme(const char *url, const char **rest)
{
	size_t len = strlen(url);

	*rest = url;
	if (ic_text_starts(url, len, "https://")) {
		*rest = url + strlen("https://");
		return "https";
	}
	if (ic_text_starts(url, len, "http://")) {
		*rest = url + strlen("http://");
		return "http";
	}
	/* containerd takes "http..." for a URL, whatever follows */
	return ic_text_starts(url, len, "http") ? NULL : "https";
}

bool ic_mirror_is_path(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || *text == '?' || *text == '#')
			return false;
	return true;
}

/* What may stand in a host by RFC 3986 as Go reads it, with the brackets and the colons of addresses and ports. */
static bool is_host_text(const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len), *bracket = memrchr(text, ']', len);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x80 && !ic_is_alnum(text[i]) && !strchr("-_.~!$&'()*+,;=:[]<>\"", text[i]))
			return false;
	if ((len > 0 && text[0] == '[') != (bracket != NULL))
		return false;
	if (bracket && bracket + 1 < text + len && bracket[1] != ':')
		return false;
	if (!colon || (bracket && colon < bracket))
		return true;
	return strspn(colon + 1, "0123456789") >= (size_t)(text + len - colon - 1);
}

/* A URL's part between its scheme and its path, without a login. */
static const char *split_authority(const char *rest, size_t *len)
{
	const char *at;

	*len = strcspn(rest, "/?#");
	at = memrchr(rest, '@', *len);
	if (!at)
		return rest;
	*len -= (size_t)(at + 1 - rest);
	return at + 1;
}

bool ic_mirror_is_url(const char *url)
{
	const char *scheme = strstr(url, "://"), *rest = scheme ? scheme + strlen("://") : url, *host;
	size_t len;

	for (const char *c = url; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	/* "http..." is taken for a URL as it is, and is then a path or a scheme alone */
	if (!scheme && ic_text_starts(url, strlen(url), "http"))
		return true;
	host = split_authority(rest, &len);
	for (const char *c = host + len; (c = strchr(c, '%')); c++)
		if (!isxdigit((unsigned char)c[1]) || !isxdigit((unsigned char)c[2]))
			return false;
	return is_host_text(host, len);
}

int ic_mirror_hide_login(const char *url, char **out, struct imgcheck_error **err)
{
	const char *scheme = strstr(url, "://"), *begin = scheme ? scheme + strlen("://") : url, *at = strrchr(begin, '@');
	struct ic_buf text IC_AUTO(buf);
	int result;

	*out = NULL;
	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	result = ic_buf_printf(&text, err, "%.*s%s", (int)(begin - url), url, at ? at + 1 : begin);
	if (result < 0)
		return result;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}

int ic_mirror_pass_over(struct ic_vec *problems, const char *place, unsigned line, const char *url, struct imgcheck_error **err)
{
	char *shown IC_AUTO(free) = NULL;
	int result = ic_mirror_hide_login(url, &shown, err);

	return result < 0 ? result : ic_finding_add(problems, place, line, err,
	                                            "no request can be made to \"%.200s\": https://host[:port][/path] is expected",
	                                            shown);
}

int ic_mirror_set_url(struct ic_mirror *m, const char *url, bool *ok, struct imgcheck_error **err)
{
	const char *rest, *scheme = split_scheme(url, &rest), *name, *path;
	struct ic_host host;
	size_t len;
	int result;

	name = split_authority(rest, &len);
	path = name + len;
	*ok = scheme && ic_host_parse(name, len, &host);
	if (!*ok)
		return 0;
	result = set_text(&m->scheme, scheme, strlen(scheme), err);
	if (result == 0)
		result = set_text(&m->host, name, len, err);
	if (result == 0)
		result = set_text(&m->path, path, strcspn(path, "?#"), err);
	*ok = result < 0 || ic_mirror_is_path(m->path);
	return result;
}

/* Without empty and dot parts, and without a slash at its end. */
static int clean_path(const char *path, struct ic_buf *out, struct imgcheck_error **err)
{
	while (*path) {
		size_t len = strcspn(path, "/");
		int result = 0;

		if (len == 2 && memcmp(path, "..", 2) == 0) {
			while (out->len > 0 && out->data[--out->len] != '/')
				;
		} else if (len > 0 && !(len == 1 && *path == '.')) {
			result = ic_buf_printf(out, err, "/%.*s", (int)len, path);
		}
		if (result < 0)
			return result;
		path += len + (path[len] == '/');
	}
	return 0;
}

int ic_mirror_finish_path(struct ic_mirror *m, bool override, struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf);
	int result;

	ic_buf_init(&path, IC_MAX_OPTION_BYTES);
	result = clean_path(m->path ? m->path : "", &path, err);
	if (result == 0 && !override && !ic_text_ends(ic_buf_text(&path), path.len, "/v2"))
		result = ic_buf_add_text(&path, "/v2", err);
	return result < 0 ? result : set_text(&m->path, ic_buf_text(&path), path.len, err);
}

int ic_mirror_prefer_tls(struct ic_mirror *m, struct imgcheck_error **err)
{
	struct ic_host host;

	if (!m->scheme || strcmp(m->scheme, "http") != 0 || (!m->tls && m->skip_verify == IC_CHOICE_NONE))
		return 0;
	if (ic_host_parse(m->host, strlen(m->host), &host) && host.port == 80)
		return 0;
	m->http_fallback = true;
	return set_text(&m->scheme, "https", strlen("https"), err);
}

int ic_mirrors_break(struct ic_mirrors *m, const struct imgcheck_error *why, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	const char *place = imgcheck_error_place(why, NULL, NULL);
	int result;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	if (imgcheck_error_code(why) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (m->broken)
		return 0;
	result = ic_buf_printf(&text, err, "%s%s%s", place ? place : "", place ? ": " : "", imgcheck_error_message(why));
	if (result < 0)
		return result;
	m->broken = ic_buf_take(&text);
	return m->broken ? 0 : ic_error_nomem(err);
}

/* ------------------------------------------------------------------ certificates */

static int need_tls(struct ic_mirror *m, struct imgcheck_error **err)
{
	if (m->tls)
		return 0;
	m->tls = calloc(1, sizeof(*m->tls));
	if (!m->tls)
		return ic_error_nomem(err);
	ic_buf_init(&m->tls->ca, IC_MAX_TRUST_BYTES);
	ic_buf_init_secret(&m->tls->client, 2 * IC_MAX_CONFIG_BYTES);
	return 0;
}

int ic_mirror_add_ca_text(struct ic_mirror *m, const char *name, const char *pem, size_t len, struct ic_vec *problems,
                          struct imgcheck_error **err)
{
	int result = need_tls(m, err);

	return result < 0 ? result : ic_trust_add_pem(name, pem, len, problems, &m->tls->ca, err);
}

int ic_mirror_add_ca(struct ic_mirror *m, const char *path, struct ic_vec *problems, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	result = ic_file_read(path, &text, err);
	return result < 0 ? result : ic_mirror_add_ca_text(m, path, ic_buf_text(&text), text.len, problems, err);
}

int ic_mirror_add_client_text(struct ic_mirror *m, const char *name, const char *pem, size_t len, struct imgcheck_error **err)
{
	int result = need_tls(m, err);

	if (result < 0)
		return result;
	if (!memmem(pem, len, "-----BEGIN CERTIFICATE-----", strlen("-----BEGIN CERTIFICATE-----")) ||
	    !memmem(pem, len, "PRIVATE KEY-----", strlen("PRIVATE KEY-----")))
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, 0, 0,
		                       "cannot find a client certificate and its private key; both are expected in PEM form");
	result = ic_client_check(pem, len, err);
	ic_error_place(err, name, 0, 0);
	if (result < 0)
		return result;
	return ic_buf_add(&m->tls->client, pem, len, err);
}

/* Both files in one text. */
int ic_mirror_add_client(struct ic_mirror *m, const char *certificate, const char *key, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&text, 2 * IC_MAX_CONFIG_BYTES);
	result = ic_file_read(certificate, &text, err);
	if (result == 0 && key)
		result = ic_buf_add_text(&text, "\n", err);
	if (result == 0 && key)
		result = ic_file_read(key, &text, err);
	return result < 0 ? result : ic_mirror_add_client_text(m, key ? key : certificate, ic_buf_text(&text), text.len, err);
}

bool ic_mirror_set_has_ca(const struct ic_mirror_set *s)
{
	for (size_t i = 0; i < s->list.count; i++) {
		const struct ic_mirrors *mirrors = ic_vec_at(&s->list, i);

		for (size_t k = 0; k < mirrors->hosts.count; k++) {
			const struct ic_tls *tls = ((const struct ic_mirror *)ic_vec_at(&mirrors->hosts, k))->tls;

			if (tls && tls->ca.len)
				return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------ rewriting */

static bool is_repeat(char c)
{
	return c == '*' || c == '+' || c == '?';
}

/*
 * What Go's expressions have and POSIX's not, outside of classes: anchors by letter, groups with marks, lazy repeats.  Counted
 * repeats are refused too, since the GNU library writes them out, which can take all memory; and repeats of repeats, of
 * which it does the same and Go knows none.
 */
static bool is_refused(const char *c)
{
	if (*c == '\\')
		return ic_is_alnum(c[1]) && !strchr("wWsSbBd", c[1]);
	return *c == '{' || (is_repeat(*c) && is_repeat(c[1])) || (*c == '(' && c[1] == '?');
}

/* Adds what a letter behind a backslash stands for in a class; false for those that Go alone knows. */
static bool add_letter(char letter, bool set[256])
{
	for (int c = 0; c < 128; c++)
		if (letter == 'd' ? ic_is_digit((char)c) : letter == 'w' ? ic_is_alnum((char)c) || c == '_' : ic_is_space((char)c))
			set[c] = true;
	return strchr("dws", letter);
}

/* "[:name:]" in a class; returns what stands behind it. */
static const char *add_named(const char *at, bool set[256])
{
	const char *end = strstr(at, ":]");
	char name[16] = "";
	wctype_t type;

	if (!end || end - at - 2 >= (ptrdiff_t)sizeof(name))
		return NULL;
	memcpy(name, at + 2, (size_t)(end - at - 2));
	type = wctype(name);
	for (wint_t c = 0; c < 128; c++)
		set[c] = set[c] || (type && iswctype(c, type));
	return type ? end + 2 : NULL;
}

/* One sign, or a range of them. */
static const char *add_range(const char *at, bool set[256])
{
	unsigned char low, high;

	at += *at == '\\' && at[1];
	low = high = (unsigned char)*at++;
	if (*at == '-' && at[1] && at[1] != ']') {
		at += at[1] == '\\' && at[2] ? 2 : 1;
		high = (unsigned char)*at++;
	}
	for (int c = low; c <= high; c++)
		set[c] = true;
	return low <= high ? at : NULL;
}

/* A class of Go's, [...]; returns its end, the bracket, or NULL where it cannot be evaluated. */
static const char *read_class(const char *at, bool set[256])
{
	bool negated = at[1] == '^', first = true;

	at += negated ? 2 : 1;
	for (; at && *at && (first || *at != ']'); first = false) {
		if (at[0] == '[' && at[1] == ':')
			at = add_named(at, set);
		else if (at[0] == '\\' && ic_is_alnum(at[1]))
			at = add_letter(at[1], set) ? at + 2 : NULL;
		else
			at = add_range(at, set);
	}
	for (int c = 0; c < 256; c++)
		set[c] = set[c] != negated;
	return at && *at ? at : NULL;
}

/* POSIX has no escapes in classes, so that one is written as those of its signs that a repository's name can hold. */
static int translate_class(const char **at, struct ic_buf *out, struct imgcheck_error **err)
{
	static const char signs[] = "abcdefghijklmnopqrstuvwxyz0123456789_./-";
	bool set[256] = {false};
	const char *end = read_class(*at, set);
	size_t before;
	int result = ic_buf_add_char(out, '[', err);

	if (!end)
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "cannot evaluate the pattern from %.200s on", *at);
	before = out->len;
	for (const char *sign = signs; *sign && result == 0; sign++)
		if (set[(unsigned char)*sign])
			result = ic_buf_add_char(out, *sign, err);
	if (result == 0 && out->len == before)
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "cannot evaluate %.*s, in which there is nothing that a name can hold",
		                    (int)(end + 1 - *at), *at);
	*at = end;
	return result < 0 ? result : ic_buf_add_char(out, ']', err);
}

/* What a piece of the pattern matches in any case, as its first sign, and *at behind it; 0 where that is open. */
static char fixed_sign(const char **at)
{
	const char *c = *at + (**at == '\\');

	if (!*c || (*c == **at ? strchr(".[]()|*+?{^$", *c) != NULL : ic_is_alnum(*c)) || (c[1] && strchr("*?{", c[1])))
		return 0;
	*at = c + 1;
	return *c;
}

/* Whether only one of two alternatives can match at a place, since they begin with different texts. */
static bool is_exclusive(const char *a, const char *b)
{
	char x, y;

	a += *a == '^';
	b += *b == '^';
	do {
		x = fixed_sign(&a);
		y = fixed_sign(&b);
	} while (x && x == y);
	return x && y;
}

/* The alternative behind this one in the same group, or NULL. */
static const char *next_alternative(const char *at)
{
	bool set[256] = {false};
	size_t depth = 0;

	for (; at && *at; at++) {
		if (*at == '|' && depth == 0)
			return at + 1;
		if (*at == ')' && depth-- == 0)
			return NULL;
		depth += *at == '(';
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '[' && !(at = read_class(at, set)))
			return NULL;
	}
	return NULL;
}

/* Go takes the first alternative that leads to a match, POSIX the longest match: the same only where one can match. */
static bool is_clear(const char *group)
{
	for (const char *a = group; a; a = next_alternative(a))
		for (const char *b = next_alternative(a); b; b = next_alternative(b))
			if (!is_exclusive(a, b))
				return false;
	return true;
}

/* For a pattern whose classes can be read. */
static int check_alternatives(const char *pattern, struct imgcheck_error **err)
{
	bool set[256] = {false}, clear = is_clear(pattern);

	for (const char *c = pattern; *c && clear; c++) {
		if (*c == '(')
			clear = is_clear(c + 1);
		else if (*c == '\\' && c[1])
			c++;
		else if (*c == '[' && !(c = read_class(c, set)))
			break;
	}
	if (clear)
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "cannot evaluate the alternatives (|) in the pattern \"%s\": they do not "
	                    "begin with different texts, and more than one could match", pattern);
}

/* As an extended expression of POSIX.  The GNU library knows \w, \s and \b too, but not \d. */
static int translate(const char *pattern, struct ic_buf *out, struct imgcheck_error **err)
{
	unsigned repeats = 0;
	int result = 0;

	if (strlen(pattern) > IC_MAX_REF_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot use a pattern of more than %zu bytes", IC_MAX_REF_BYTES);
	for (const char *c = pattern; *c && result == 0; c++) {
		size_t len = *c == '\\' && c[1] ? 2 : 1;

		if (*c == ')' && c[1] == '+' && ++repeats > MAX_REPEATS)
			return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot use a pattern with so many repeated groups");
		if (*c == '[') {
			result = translate_class(&c, out, err);
			continue;
		}
		if (is_refused(c))
			return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "cannot evaluate %.2s in the pattern \"%s\"", c, pattern);
		if (len == 2 && c[1] == 'd')
			result = ic_buf_add_text(out, "[0-9]", err);
		else
			result = ic_buf_add(out, c, len, err);
		c += len - 1;
	}
	return result;
}

static int compile(const struct ic_rewrite_rule *rule, regex_t *out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	char why[200];
	int result, code;

	ic_buf_init(&text, IC_MAX_OPTION_BYTES);
	result = translate(rule->pattern, &text, err);
	if (result == 0)
		result = check_alternatives(rule->pattern, err);
	if (result < 0)
		return result;
	code = regcomp(out, ic_buf_text(&text), REG_EXTENDED);
	if (code == 0)
		return 0;
	(void)regerror(code, out, why, sizeof(why));
	return code == REG_ESPACE ? ic_error_nomem(err)
	                          : ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot use the pattern \"%s\": %s", rule->pattern, why);
}

int ic_mirror_check_rule(const struct ic_rewrite_rule *rule, struct imgcheck_error **err)
{
	regex_t regex;
	int result = compile(rule, &regex, err);

	if (result == 0)
		regfree(&regex);
	return result;
}

/* The number of a group; a leading zero makes it a name, as in Go. */
static bool is_group(const char *name, size_t len, size_t *group)
{
	return (len == 1 || name[0] != '0') && ic_text_to_size(name, len, MAX_GROUPS - 1, group);
}

/* The replacement with $1, ${1} and $$ filled in; other names are nothing, as in Go. */
static int expand(const char *replacement, const char *text, const regmatch_t *groups, struct ic_buf *out,
                  struct imgcheck_error **err)
{
	int result = 0;

	for (const char *c = replacement; *c && result == 0; c++) {
		const char *name = c[1] == '{' ? c + 2 : c + 1;
		size_t len = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"), group;

		if (*c != '$' || (c[1] == '{' && name[len] != '}') || (c[1] != '$' && len == 0)) {
			result = ic_buf_add_char(out, *c, err);
			continue;
		}
		if (c[1] == '$') {
			result = ic_buf_add_char(out, *++c, err);
			continue;
		}
		if (is_group(name, len, &group) && groups[group].rm_so >= 0)
			result = ic_buf_add(out, text + groups[group].rm_so, (size_t)(groups[group].rm_eo - groups[group].rm_so), err);
		c = name + len - (c[1] != '{');
	}
	return result;
}

/* All matches replaced, from left to right; an empty one right behind another counts for nothing, as in Go. */
static int replace_all(const regex_t *regex, const char *replacement, const char *text, struct ic_buf *out,
                       struct imgcheck_error **err)
{
	regoff_t len = (regoff_t)strlen(text), done = 0;
	regmatch_t groups[MAX_GROUPS];
	int result = 0;

	for (regoff_t from = 0; from <= len && result == 0; from = done > from ? done : from + 1) {
		groups[0] = (regmatch_t){.rm_so = from, .rm_eo = len};
		if (regexec(regex, text, MAX_GROUPS, groups, REG_STARTEND) != 0)
			break;
		result = ic_buf_add(out, text + done, (size_t)(groups[0].rm_so - done), err);
		if (result == 0 && (groups[0].rm_eo > done || groups[0].rm_so == 0))
			result = expand(replacement, text, groups, out, err);
		done = groups[0].rm_eo;
	}
	return result < 0 ? result : ic_buf_add_text(out, text + done, err);
}

/* The rule that changes the name counts, as for k3s' containerd; one that matches and leaves it as it is does not. */
int ic_mirror_rewrite(const struct ic_mirror *m, const char *repository, char **out, struct imgcheck_error **err)
{
	*out = NULL;
	for (size_t i = 0; i < m->rewrites.count; i++) {
		const struct ic_rewrite_rule *rule = ic_vec_at(&m->rewrites, i);
		struct ic_buf name IC_AUTO(buf);
		regex_t regex;
		int result = compile(rule, &regex, err);

		ic_buf_init(&name, IC_MAX_REF_BYTES);
		if (result < 0)
			return result;
		result = replace_all(&regex, rule->replacement, repository, &name, err);
		regfree(&regex);
		if (result < 0)
			return result;
		if (strcmp(ic_buf_text(&name), repository) == 0)
			continue;
		if (name.len == 0 || !ic_mirror_is_path(ic_buf_text(&name)))
			return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot rewrite %s to \"%s\", which is no repository", repository,
			                    ic_buf_text(&name));
		*out = ic_buf_take(&name);
		return *out ? 0 : ic_error_nomem(err);
	}
	*out = ic_text_copy(repository, strlen(repository));
	return *out ? 0 : ic_error_nomem(err);
}
