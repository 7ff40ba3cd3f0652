/* SPDX-License-Identifier: Apache-2.0 */
#include "source/hosts_toml.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/toml.h"
#include "source/finding.h"
#include "source/secret.h"

struct reader {
	const char *folder, *place;
	struct ic_mirrors *out;
	struct ic_vec *problems;
	struct ic_mirror *host; /* that is being read */
	bool unsendable;        /* no request can be made with its header fields */
};

static int reject(const struct reader *r, const struct ic_node *node, struct imgcheck_error **err, const char *what)
{
	return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, node->line, node->column, "%s", what);
}

static bool is_text(const struct ic_node *node)
{
	return ic_node_is(node, IC_NODE_SCALAR) && node->style == IC_STYLE_QUOTED && ic_node_text(node);
}

/* ------------------------------------------------------------------ keys of one host */

/* A path as it stands in the file: *out is new. */
static int absolute(const struct reader *r, const char *path, char **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	*out = NULL;
	ic_buf_init(&text, IC_MAX_PATH_BYTES);
	result = path[0] == '/' ? ic_buf_add_text(&text, path, err) : ic_buf_printf(&text, err, "%s/%s", r->folder, path);
	if (result < 0)
		return result;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}

static int take_capabilities(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	static const char *const words[] = {"pull", "resolve", "push", "referrers"};
	bool *const flags[] = {&r->host->pull, &r->host->resolve, NULL, NULL};

	if (!ic_node_is(value, IC_NODE_SEQUENCE))
		return reject(r, value, err, "capabilities is not a list");
	if (!ic_node_items(value))
		return 0;
	r->host->pull = r->host->resolve = false;
	for (const struct ic_item *i = ic_node_items(value); i; i = i->next) {
		size_t w = 0;

		while (w < IC_COUNT(words) && !(is_text(i->value) && ic_text_equal_nocase(i->value->text, i->value->len, words[w])))
			w++;
		if (w == IC_COUNT(words))
			return reject(r, i->value, err, "there is no such capability");
		if (flags[w])
			*flags[w] = true;
	}
	return 0;
}

static int add_ca(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	char *path IC_AUTO(free) = NULL;
	int result;

	if (!is_text(value))
		return reject(r, value, err, "ca is neither a text nor a list of texts");
	result = absolute(r, value->text, &path, err);
	if (result == 0 && ic_mirror_add_ca(r->host, path, r->problems, &why) < 0)
		result = ic_mirrors_break(r->out, why, err);
	return result;
}

static int take_ca(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	int result = 0;

	if (!ic_node_is(value, IC_NODE_SEQUENCE))
		return add_ca(r, value, err);
	for (const struct ic_item *i = ic_node_items(value); i && result == 0; i = i->next)
		result = add_ca(r, i->value, err);
	return result;
}

static int add_client(struct reader *r, const struct ic_node *certificate, const struct ic_node *key, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	char *certificate_path IC_AUTO(free) = NULL, *key_path IC_AUTO(free) = NULL;
	bool more = r->host->tls && r->host->tls->client.len;
	struct ic_mirror further IC_AUTO(mirror);
	int result;

	ic_mirror_init(&further);
	if (!is_text(certificate) || (key && !is_text(key)))
		return reject(r, certificate, err, "client is neither a text, nor a list of texts or of pairs");
	result = absolute(r, certificate->text, &certificate_path, err);
	if (result == 0 && key)
		result = absolute(r, key->text, &key_path, err);
	if (result < 0)
		return result;
	if (ic_mirror_add_client(more ? &further : r->host, certificate_path, key_path, &why) < 0)
		return ic_mirrors_break(r->out, why, err);
	return !more ? 0 : ic_finding_add(r->problems, r->place, certificate->line, err,
	                                  "only the first client certificate is used; containerd picks what the server accepts");
}

static int take_client(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	int result = 0;

	if (!ic_node_is(value, IC_NODE_SEQUENCE))
		return add_client(r, value, NULL, err);
	for (const struct ic_item *i = ic_node_items(value); i && result == 0; i = i->next) {
		const struct ic_item *pair = ic_node_items(i->value);

		if (!ic_node_is(i->value, IC_NODE_SEQUENCE))
			result = add_client(r, i->value, NULL, err);
		else if (i->value->len != 2)
			result = reject(r, i->value, err, "a pair of client is not a certificate and a key");
		else
			result = add_client(r, pair->value, pair->next->value, err);
	}
	return result;
}

static int take_skip_verify(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	bool is, skip = ic_toml_bool(value, &is);

	if (!is)
		return reject(r, value, err, "skip_verify is not true or false");
	r->host->skip_verify = skip ? IC_CHOICE_YES : IC_CHOICE_NO;
	return 0;
}

/* A token (RFC 9110, 5.6.2). */
static bool is_field_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!ic_is_alnum(text[i]) && !(text[i] && strchr("!#$%&'*+-.^_`|~", text[i])))
			return false;
	return len > 0;
}

/* Without what would end the field, and let it hold further ones. */
static bool is_field_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == '\x7f')
			return false;
	return true;
}

/* Fields that Go's client writes itself, whatever is configured for them. */
static bool is_own_field(const struct ic_node *name)
{
	static const char *const names[] = {"Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer"};

	for (size_t i = 0; i < IC_COUNT(names); i++)
		if (ic_text_equal_nocase(name->text, name->len, names[i]))
			return true;
	return false;
}

static int add_field(struct reader *r, const struct ic_node *name, const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_buf line IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&line, IC_MAX_OPTION_BYTES);
	if (!is_text(value))
		return reject(r, name, err, "a field of header is neither a text nor a list of texts");
	/* Go's client makes no request with it, which ends the host and not the file */
	if (!is_field_name(name->text, name->len) || !is_field_text(value->text, value->len)) {
		r->unsendable = true;
		return ic_finding_add(r->problems, r->place, name->line, err,
		                      "a field of header cannot be sent, so that containerd cannot ask this host");
	}
	if (is_own_field(name))
		return ic_finding_add(r->problems, r->place, name->line, err, "containerd sends no %.100s from here", name->text);
	result = ic_buf_printf(&line, err, "%s: %s", name->text, value->text);
	return result < 0 ? result : ic_texts_push(&r->host->header, line.data, line.len, err);
}

static int take_header(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	int result = 0;

	if (!ic_node_is(value, IC_NODE_MAPPING))
		return reject(r, value, err, "header is not a table");
	for (const struct ic_item *i = ic_node_items(value); i && result == 0; i = i->next) {
		if (!ic_node_is(i->value, IC_NODE_SEQUENCE))
			result = add_field(r, i->key, i->value, err);
		for (const struct ic_item *k = i->value->kind == IC_NODE_SEQUENCE ? i->value->items : NULL; k && result == 0; k = k->next)
			result = add_field(r, i->key, k->value, err);
	}
	return result;
}

/* One number with its unit; returns what stands behind, NULL where it is none. */
static const char *skip_duration(const char *text)
{
	/* the micro sign, and the Greek letter that looks like it */
	static const char *const units[] = {"ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s", "m", "h"};
	size_t whole = strspn(text, "0123456789"), dot = text[whole] == '.', rest = dot ? strspn(text + whole + 1, "0123456789") : 0;

	text += whole + dot + rest;
	for (size_t i = 0; i < IC_COUNT(units) && whole + rest > 0; i++)
		if (ic_text_starts(text, strlen(text), units[i]))
			return text + strlen(units[i]);
	return NULL;
}

/* Go's durations: numbers with units, "30s", "-1m30.5s", and "0". */
static int take_dial_timeout(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	const char *text = is_text(value) ? value->text : NULL, *number = text ? text + strspn(text, "+-") : NULL;

	if (text && (text[0] == '\0' || (number - text <= 1 && strcmp(number, "0") == 0)))
		return 0;
	if (text && number - text <= 1)
		text = number;
	do
		text = text ? skip_duration(text) : NULL;
	while (text && *text);
	return text ? 0 : reject(r, value, err, "dial_timeout is not a duration such as \"30s\"");
}

/* Read with the URL. */
static int take_override_path(struct reader *r, const struct ic_node *value, struct imgcheck_error **err)
{
	bool is;

	(void)ic_toml_bool(value, &is);
	return is ? 0 : reject(r, value, err, "override_path is not true or false");
}

static const struct {
	const char *key;
	int (*take)(struct reader *r, const struct ic_node *value, struct imgcheck_error **err);
} keys[] = {
	{"capabilities", take_capabilities}, {"ca", take_ca},         {"client", take_client},
	{"skip_verify", take_skip_verify},   {"header", take_header}, {"override_path", take_override_path},
	{"dial_timeout", take_dial_timeout},
};

/* Keys that the root has besides. */
static bool is_root_key(const struct ic_node *key)
{
	return ic_text_equal_nocase(key->text, key->len, "server") || ic_node_equals(key, "host");
}

static int take_keys(struct reader *r, const struct ic_node *table, bool root, struct imgcheck_error **err)
{
	int result = 0;

	for (const struct ic_item *i = ic_node_items(table); i && result == 0; i = i->next) {
		size_t k = 0;

		while (k < IC_COUNT(keys) && !ic_text_equal_nocase(i->key->text, i->key->len, keys[k].key))
			k++;
		if (k < IC_COUNT(keys))
			result = keys[k].take(r, i->value, err);
		else if (!root || !is_root_key(i->key))
			result = ic_finding_add(r->problems, r->place, i->key->line, err, "containerd does not know the key \"%.100s\" here",
			                        i->key->text);
	}
	return result;
}

/* ------------------------------------------------------------------ hosts */

/* Without a URL it is the registry itself, which has all capabilities. */
static int set_place(struct ic_mirror *m, const char *url, bool override, bool *ok, struct imgcheck_error **err)
{
	int result;

	*ok = true;
	if (!url || !url[0]) {
		m->pull = m->resolve = true;
		return ic_mirror_finish_path(m, false, err);
	}
	result = ic_mirror_set_url(m, url, ok, err);
	if (result == 0 && *ok)
		result = ic_mirror_finish_path(m, override, err);
	return result == 0 && *ok ? ic_mirror_prefer_tls(m, err) : result;
}

/* A server without a host in its URL is none, and the registry itself stands in. */
static bool is_hostless(const char *url)
{
	const char *scheme = strstr(url, "://");

	if (!ic_text_starts(url, strlen(url), "http"))
		return url[0] == '/';
	return !scheme || strchr("/?#", scheme[strlen("://")]);
}

/* url is the text of a host, NULL for the root without a server. */
static int add_host(struct reader *r, const struct ic_node *url, const struct ic_node *table, bool root,
                    struct imgcheck_error **err)
{
	struct ic_mirror host IC_AUTO(mirror);
	bool override = ic_toml_bool(ic_toml_get(table, "override_path"), NULL), ok;
	int result;

	ic_mirror_init(&host);
	if (url && !ic_mirror_is_url(url->text))
		return reject(r, url, err, "the URL of a host cannot be read: https://host[:port][/path] is expected");
	r->host = &host;
	r->unsendable = false;
	result = take_keys(r, table, root, err);
	if (result == 0)
		result = set_place(&host, url && !(root && is_hostless(url->text)) ? url->text : NULL, override, &ok, err);
	if (result < 0 || r->unsendable)
		return result;
	if (!ok || (!root && !host.host))
		return ic_mirror_pass_over(r->problems, r->place, url->line, url->text, err);
	return ic_mirrors_add(r->out, &host, err);
}

/* containerd 2 takes the hosts and their order from headers alone; 1 asks this one too. */
static int pass_over_unheaded(const struct reader *r, const struct ic_node *url, struct imgcheck_error **err)
{
	char *shown IC_AUTO(free) = NULL;
	int result = ic_mirror_hide_login(url->text, &shown, err);

	if (result < 0)
		return result;
	return ic_finding_add(r->problems, r->place, url->line, err,
	                      "containerd 2 does not ask this host: write it as a table of its own, [host.\"%.200s\"]", shown);
}

static int add_hosts(struct reader *r, const struct ic_node *root, struct imgcheck_error **err)
{
	const struct ic_node *hosts = ic_node_get(root, "host"), *server = ic_toml_get(root, "server");
	int result = 0;

	if (hosts && !ic_node_is(hosts, IC_NODE_MAPPING))
		return reject(r, hosts, err, "host is not a table");
	if (server && !is_text(server))
		return reject(r, server, err, "server is not a text");
	for (const struct ic_item *i = ic_node_items(hosts); i && result == 0; i = i->next) {
		if (!ic_node_is(i->value, IC_NODE_MAPPING))
			result = reject(r, i->value, err, "a host is not a table");
		else if (!i->value->headed)
			result = pass_over_unheaded(r, i->key, err);
		else
			result = add_host(r, i->key, i->value, false, err);
	}
	return result < 0 ? result : add_host(r, server, root, true, err);
}

int ic_hosts_toml_parse(const char *folder, const char *place, const char *text, size_t len, struct ic_mirrors *out,
                        struct ic_vec *problems, struct imgcheck_error **err)
{
	struct reader r = {.folder = folder, .place = place, .out = out, .problems = problems};
	struct ic_doc *doc IC_AUTO(doc) = NULL;
	int result = ic_toml_parse(place, text, len, &doc, err);

	return result < 0 ? result : add_hosts(&r, doc->root, err);
}

/* ------------------------------------------------------------------ folders */

static int join(const char *folder, const char *name, struct ic_buf *out, struct imgcheck_error **err)
{
	ic_buf_init(out, IC_MAX_PATH_BYTES);
	return ic_buf_printf(out, err, "%s/%s", folder, name);
}

static int add_docker_pair(struct reader *r, const char *certificate, struct imgcheck_error **err)
{
	struct ic_node certificate_node = {.kind = IC_NODE_SCALAR, .style = IC_STYLE_QUOTED, .text = certificate,
	                                   .len = strlen(certificate)};
	struct ic_buf key IC_AUTO(buf), path IC_AUTO(buf);
	struct ic_node key_node = certificate_node;
	struct stat status;
	int result;

	ic_buf_init(&key, IC_MAX_PATH_BYTES);
	ic_buf_init(&path, IC_MAX_PATH_BYTES);
	result = ic_buf_printf(&key, err, "%.*s.key", (int)(strlen(certificate) - strlen(".cert")), certificate);
	if (result < 0)
		return result;
	result = join(r->folder, ic_buf_text(&key), &path, err);
	if (result < 0)
		return result;
	/* without one it is looked for in the same file */
	if (stat(ic_buf_text(&path), &status) < 0 && errno == ENOENT)
		return add_client(r, &certificate_node, NULL, err);
	key_node.text = ic_buf_text(&key);
	key_node.len = key.len;
	return add_client(r, &certificate_node, &key_node, err);
}

/* Folders between the certificates are passed over. */
static int add_docker_file(struct reader *r, const char *name, struct imgcheck_error **err)
{
	struct ic_node node = {.kind = IC_NODE_SCALAR, .style = IC_STYLE_QUOTED, .text = name, .len = strlen(name)};
	struct ic_buf path IC_AUTO(buf);
	struct stat status;
	int result = join(r->folder, name, &path, err);

	if (result < 0 || (lstat(ic_buf_text(&path), &status) == 0 && S_ISDIR(status.st_mode)))
		return result;
	if (ic_text_ends(name, node.len, ".crt"))
		return add_ca(r, &node, err);
	return ic_text_ends(name, node.len, ".cert") ? add_docker_pair(r, name, err) : 0;
}

/* docker's layout: certificates for the registry itself. */
static int add_docker_files(struct reader *r, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_vec names IC_AUTO(texts);
	struct ic_mirror host IC_AUTO(mirror);
	bool ok;
	int result = ic_file_list(r->folder, &names, &why);

	ic_mirror_init(&host);
	r->host = &host;
	if (result < 0)
		return ic_mirrors_break(r->out, why, err);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = add_docker_file(r, ic_texts_get(&names, i), err);
	if (result == 0)
		result = set_place(&host, NULL, false, &ok, err);
	return result < 0 ? result : ic_mirrors_add(r->out, &host, err);
}

/* The file is read as it is there; one that containerd rejects counts as one that is not. */
static int read_hosts_toml(struct reader *r, bool *used, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_buf text IC_AUTO(buf);
	struct ic_mirrors parsed IC_AUTO(mirrors);
	struct stat status;
	unsigned line;
	int result;

	ic_buf_init_secret(&text, IC_MAX_CONFIG_BYTES);
	ic_mirrors_init(&parsed);
	*used = false;
	if (stat(r->place, &status) < 0 && errno == ENOENT)
		return 0;
	*used = true;
	if (ic_file_read(r->place, &text, &why) < 0)
		return ic_mirrors_break(r->out, why, err);
	*used = text.len > 0;
	result = *used ? ic_hosts_toml_parse(r->folder, r->place, text.data, text.len, &parsed, r->problems, &why) : 0;
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result < 0) {
		*used = false;
		(void)imgcheck_error_place(why, &line, NULL);
		return ic_finding_add(r->problems, r->place, line, err, "containerd ignores this file: %s", imgcheck_error_message(why));
	}
	ic_vec_clear(&r->out->hosts);
	r->out->hosts = parsed.hosts;
	ic_vec_init(&parsed.hosts, sizeof(struct ic_mirror), 0);
	if (!r->out->broken)
		r->out->broken = IC_TAKE(parsed.broken);
	return 0;
}

/* A link that leads nowhere is no folder, and the next name counts. */
static bool is_there(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 || errno != ENOENT;
}

static int read_folder(const char *root, const char *name, struct ic_mirror_set *out, struct ic_vec *problems,
                       struct imgcheck_error **err)
{
	struct ic_mirrors mirrors IC_AUTO(mirrors);
	struct ic_buf folder IC_AUTO(buf), place IC_AUTO(buf);
	struct reader r = {.problems = problems, .out = &mirrors};
	bool used = false;
	int result = join(root, name, &folder, err);

	ic_mirrors_init(&mirrors);
	ic_buf_init(&place, 0);
	if (result == 0)
		result = join(ic_buf_text(&folder), "hosts.toml", &place, err);
	if (result < 0 || !is_there(ic_buf_text(&folder)))
		return result;
	r.folder = ic_buf_text(&folder);
	r.place = ic_buf_text(&place);
	mirrors.name = ic_text_copy(name, strlen(name));
	result = mirrors.name ? read_hosts_toml(&r, &used, err) : ic_error_nomem(err);
	if (result == 0 && !used)
		result = add_docker_files(&r, err);
	if (result < 0)
		return result;
	mirrors.place = ic_text_copy(used ? r.place : r.folder, used ? place.len : folder.len);
	return mirrors.place ? ic_mirror_set_add(out, &mirrors, err) : ic_error_nomem(err);
}

int ic_hosts_tree_read(const char *root, struct ic_mirror_set *out, struct ic_vec *problems, struct imgcheck_error **err)
{
	struct ic_mirror_set set IC_AUTO(mirror_set);
	struct ic_vec names IC_AUTO(texts);
	int result = ic_file_list(root, &names, err);

	ic_mirror_set_init(out, IC_MIRROR_FOLDERS);
	ic_mirror_set_init(&set, IC_MIRROR_FOLDERS);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = read_folder(root, ic_texts_get(&names, i), &set, problems, err);
	if (result < 0)
		return result;
	*out = set;
	ic_mirror_set_init(&set, IC_MIRROR_FOLDERS);
	return 0;
}
