/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "program/document.h"
#include "program/files.h"
#include "program/memory.h"
#include "check/policy.h"
#include "revisions.h"

/* Settings that are options of the library.  All policies (on-...) are, too, by the names of the options. */
static const struct {
	const char *key;
	enum imgcheck_option option;
	bool list;
} options[] = {
	{ "plain-http", IMGCHECK_OPTION_PLAIN_HTTP, true },
	{ "skip-verify", IMGCHECK_OPTION_SKIP_VERIFY, true },
	{ "platforms", IMGCHECK_OPTION_PLATFORM, true },
	{ "ignore", IMGCHECK_OPTION_IGNORE, true },
	{ "depth", IMGCHECK_OPTION_DEPTH, false },
};

static const char *const others[] = { "mode", "accept-revision", "deadline", "authfile", "auth-json", "ca-file", "proxy" };
static const char *const modes[] = { "enforce", "warn", "off" };
static const char *const proxy_keys[] = { "http", "https", "no-proxy" };

const char *settings_mode_name(enum settings_mode mode)
{
	return modes[mode];
}

/* The text that `snapctl get` prints for a value: new.  NULL where it is not set, null or empty. */
static char *text_of(const json_t *value)
{
	if (!value || json_is_null(value))
		return NULL;
	if (!json_is_string(value))
		return memory_must(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
	return *json_string_value(value) ? memory_text(json_string_value(value)) : NULL;
}

static char *setting(const struct settings *s, const char *key)
{
	return text_of(json_object_get(s->tree, key));
}

static bool is_policy(const char *key)
{
	const char *name;

	for (int i = 0; imgcheck_option_info((enum imgcheck_option)i, &name, NULL, NULL); i++)
		if (!strncmp(name, "on-", 3) && !strcmp(name, key))
			return true;
	return false;
}

static bool is_known(const char *key)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (!strcmp(key, options[i].key))
			return true;
	for (size_t i = 0; i < COUNT(others); i++)
		if (!strcmp(key, others[i]))
			return true;
	return is_policy(key);
}

static bool is_proxy_key(const char *key)
{
	for (size_t i = 0; i < COUNT(proxy_keys); i++)
		if (!strcmp(key, proxy_keys[i]))
			return true;
	return false;
}

/* Names that mean nothing: a typo would else go unseen. */
static void read_names(const struct settings *s, struct lines *notices)
{
	json_t *proxy = json_object_get(s->tree, "proxy"), *value;
	const char *key;

	json_object_foreach(s->tree, key, value)
		if (!is_known(key))
			lines_addf(notices, "setting imgcheck.%s is not known", key);
	if (proxy && !json_is_null(proxy) && !json_is_object(proxy))
		lines_add(notices, "setting imgcheck.proxy is not used: set imgcheck.proxy.https, .http or .no-proxy");
	json_object_foreach(proxy, key, value)
		if (!is_proxy_key(key))
			lines_addf(notices, "setting imgcheck.proxy.%s is not known", key);
}

static void read_mode(struct settings *s, struct lines *notices)
{
	AUTO(free) char *text = setting(s, "mode");

	for (size_t i = 0; text && i < COUNT(modes); i++)
		if (!strcmp(text, modes[i])) {
			s->mode = (enum settings_mode)i;
			return;
		}
	if (text)
		lines_addf(notices, "setting imgcheck.mode=%s counts as enforce: it is not enforce, warn or off", text);
}

static void read_deadline(struct settings *s, struct lines *notices)
{
	AUTO(free) char *text = setting(s, "deadline");
	char *end = NULL;
	unsigned long seconds;

	if (!text)
		return;
	seconds = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && seconds >= 1 && seconds <= SETTINGS_MOST_DEADLINE)
		s->deadline = (unsigned)seconds;
	else
		lines_addf(notices, "setting imgcheck.deadline=%s counts as %d: it is not 1 to %d seconds", text, SETTINGS_DEADLINE,
			   SETTINGS_MOST_DEADLINE);
}

static void read_accepted(struct settings *s, struct lines *notices)
{
	AUTO(free) char *text = setting(s, "accept-revision");

	if (text && revisions_is_name(text))
		s->accept_revision = TAKE(text);
	else if (text)
		lines_addf(notices, "setting imgcheck.accept-revision=%s is not used: it is not a revision like 12 or x12", text);
}

void settings_read(struct settings *s, json_t *configuration, struct lines *notices)
{
	json_t *tree = json_object_get(configuration, SETTINGS_TREE);

	*s = (struct settings){ .deadline = SETTINGS_DEADLINE };
	if (!tree || json_is_null(tree))
		return;
	if (!json_is_object(tree)) {
		lines_add(notices, "setting imgcheck is not used: settings stand below it, like imgcheck.mode=warn");
		return;
	}
	s->tree = json_incref(tree);
	read_names(s, notices);
	read_mode(s, notices);
	read_deadline(s, notices);
	read_accepted(s, notices);
}

static void set_option(struct imgcheck_config *c, enum imgcheck_option option, const char *key, const char *text,
                       struct lines *notices)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	if (imgcheck_config_set(c, option, text, &e)) {
		memory_must_not_lack(e);
		lines_addf(notices, "setting imgcheck.%s=%s is not used: %s", key, text, imgcheck_error_message(e));
	}
}

void settings_list(const struct settings *s, const char *key, struct lines *items)
{
	const json_t *value = json_object_get(s->tree, key), *member;
	AUTO(free) char *text = text_of(value);
	char *item, *rest = text;
	size_t i;

	if (json_is_array(value)) {
		json_array_foreach(value, i, member) {
			AUTO(free) char *one = text_of(member);

			if (one)
				lines_add(items, one);
		}
		return;
	}
	while (rest && (item = strsep(&rest, ", \t\n")))
		if (*item)
			lines_add(items, item);
}

static void set_list(const struct settings *s, struct imgcheck_config *c, enum imgcheck_option option, const char *key,
                     struct lines *notices)
{
	AUTO(lines) struct lines items = { 0 };

	settings_list(s, key, &items);
	for (size_t i = 0; i < items.count; i++)
		set_option(c, option, key, items.line[i], notices);
}

static void apply_options(const struct settings *s, struct imgcheck_config *c, struct lines *notices)
{
	AUTO(free) char *deadline = memory_printf("%u", s->deadline);
	const char *name;

	set_option(c, IMGCHECK_OPTION_DEADLINE, "deadline", deadline, notices);
	for (size_t i = 0; i < COUNT(options); i++) {
		AUTO(free) char *text = setting(s, options[i].key);

		if (text && options[i].list)
			set_list(s, c, options[i].option, options[i].key, notices);
		else if (text)
			set_option(c, options[i].option, options[i].key, text, notices);
	}
	for (int i = 0; imgcheck_option_info((enum imgcheck_option)i, &name, NULL, NULL); i++) {
		AUTO(free) char *text = is_policy(name) ? setting(s, name) : NULL;

		if (text)
			set_option(c, (enum imgcheck_option)i, name, text, notices);
	}
}

/* Where a setting that names a file points: below $SNAP_COMMON, given with or without it.  NULL where not there. */
static char *file_below(const char *common, const char *text)
{
	size_t len = common ? strlen(common) : 0;
	AUTO(free) char *slashed = memory_printf("/%s/", text);

	if (!common || strstr(slashed, "/../"))
		return NULL;
	if (*text != '/')
		return files_join(common, text);
	return !strncmp(text, common, len) && text[len] == '/' ? memory_text(text) : NULL;
}

static void read_file(struct imgcheck_config *c, enum imgcheck_file kind, const char *key, const char *path, struct lines *notices)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	if (imgcheck_config_read(c, kind, path, &e)) {
		memory_must_not_lack(e);
		lines_addf(notices, "setting imgcheck.%s=%s is not used: %s", key, path, imgcheck_error_message(e));
	}
}

static char *find_ca_file(const char *common, const char *text)
{
	return text && *text != '/' ? file_below(common, text) : memory_text(text);
}

static void apply_files(const struct settings *s, const char *common, struct imgcheck_config *c, struct lines *notices)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *auth = setting(s, "authfile"), *ca = setting(s, "ca-file");
	AUTO(secret) char *json = setting(s, "auth-json");
	AUTO(free) char *auth_path = auth ? file_below(common, auth) : NULL;
	AUTO(free) char *ca_path = find_ca_file(common, ca);

	if (auth_path)
		read_file(c, IMGCHECK_FILE_AUTH, "authfile", auth_path, notices);
	else if (auth)
		lines_addf(notices, "setting imgcheck.authfile=%s is not used: it is not a file below %s", auth,
			   common ? common : "SNAP_COMMON");
	if (json && imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "setting imgcheck.auth-json", json, strlen(json), &e)) {
		memory_must_not_lack(e);
		lines_addf(notices, "setting imgcheck.auth-json is not used: %s", imgcheck_error_message(e));
	}
	if (ca_path)
		read_file(c, IMGCHECK_FILE_CA, "ca-file", ca_path, notices);
	else if (ca)
		lines_addf(notices, "setting imgcheck.ca-file=%s is not used: give a path from /", ca);
}

void settings_apply(const struct settings *s, const char *common, struct imgcheck_config *c, struct lines *notices)
{
	apply_options(s, c, notices);
	apply_files(s, common, c, notices);
}

static bool holds_login(const struct settings *s, const struct proxies *p)
{
	AUTO(secret) char *json = setting(s, "auth-json");

	return json || (p->http.value && strchr(p->http.value, '@')) || (p->https.value && strchr(p->https.value, '@'));
}

/* Whatever is written anew, or put in its place, has another number or another time of change. */
static void add_file(json_t *ways, const char *key, const char *path)
{
	json_t *file = document_object();
	struct stat st;

	if (!stat(path, &st)) {
		document_set_number(file, "device", (long long)st.st_dev);
		document_set_number(file, "inode", (long long)st.st_ino);
		document_set_number(file, "size", (long long)st.st_size);
		document_set_number(file, "changed", (long long)st.st_ctim.tv_sec);
		document_set_number(file, "nanoseconds", (long long)st.st_ctim.tv_nsec);
	}
	document_set(ways, key, file);
}

json_t *settings_ways(const struct settings *s, const char *common, const struct proxies *p)
{
	AUTO(free) char *auth = setting(s, "authfile"), *ca = setting(s, "ca-file");
	AUTO(free) char *auth_path = auth ? file_below(common, auth) : NULL, *ca_path = find_ca_file(common, ca);
	json_t *ways;

	if (holds_login(s, p))
		return NULL;
	ways = document_object();
	for (size_t i = 0; i < COUNT(options); i++) {
		AUTO(free) char *text = setting(s, options[i].key);

		document_set_text(ways, options[i].key, text);
	}
	if (auth_path)
		add_file(ways, "authfile", auth_path);
	if (ca_path)
		add_file(ways, "ca-file", ca_path);
	document_set_text(ways, "proxy.http", p->http.value);
	document_set_text(ways, "proxy.https", p->https.value);
	document_set_text(ways, "proxy.no-proxy", p->none.value);
	return ways;
}

void settings_proxies(const struct settings *s, struct proxies *p)
{
	const json_t *tree = json_object_get(s->tree, "proxy");
	struct proxy *slots[] = { &p->http, &p->https, &p->none };
	static const char *const sources[] = { "setting imgcheck.proxy.http", "setting imgcheck.proxy.https",
					       "setting imgcheck.proxy.no-proxy" };

	for (size_t i = 0; i < COUNT(proxy_keys); i++) {
		AUTO(secret) char *text = text_of(json_object_get(tree, proxy_keys[i]));

		if (text)
			proxies_replace(slots[i], text, sources[i]);
	}
}

enum imgcheck_decision settings_effect(const struct settings *s, enum imgcheck_outcome class)
{
	AUTO(free) char *text = NULL;
	enum imgcheck_option option;
	const char *name = NULL;

	if (policy_option(class, &option) && imgcheck_option_info(option, &name, NULL, NULL))
		text = setting(s, name);
	if (text && !strcmp(text, imgcheck_decision_name(IMGCHECK_DECISION_WARN)))
		return IMGCHECK_DECISION_WARN;
	if (text && !strcmp(text, imgcheck_decision_name(IMGCHECK_DECISION_VETO)))
		return IMGCHECK_DECISION_VETO;
	return policy_default(class);
}

bool settings_has(const struct settings *s, const char *key)
{
	AUTO(free) char *text = setting(s, key);

	return text != NULL;
}

bool settings_is_veto(const struct settings *s, const char *key)
{
	AUTO(free) char *text = setting(s, key);

	return text && !strcmp(text, imgcheck_decision_name(IMGCHECK_DECISION_VETO));
}

void settings_clear(struct settings *s)
{
	json_decref(s->tree);
	free(s->accept_revision);
	*s = (struct settings){ 0 };
}
