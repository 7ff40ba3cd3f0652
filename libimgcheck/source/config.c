/* SPDX-License-Identifier: Apache-2.0 */
#include "source/config.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/authfile.h"
#include "source/config_detail.h"
#include "source/finding.h"
#include "source/host.h"
#include "source/option.h"
#include "source/secret.h"

int imgcheck_config_new(struct imgcheck_config **out)
{
	struct imgcheck_config *c;

	if (!out)
		return IMGCHECK_ERR_ARGUMENT;
	c = calloc(1, sizeof(*c));
	*out = c;
	if (!c)
		return IMGCHECK_ERR_NOMEM;
	for (size_t o = 0; o < IC_OPTION_COUNT; o++)
		ic_texts_init(&c->values[o], IC_MAX_LIST_ITEMS);
	ic_vec_init(&c->platforms, sizeof(struct ic_platform), IC_MAX_LIST_ITEMS);
	ic_vec_init(&c->logins, sizeof(struct ic_config_login), IC_MAX_LIST_ITEMS);
	ic_vec_init(&c->authfiles, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
	ic_vec_init(&c->mirrors, sizeof(struct ic_mirror_set), IC_MAX_LIST_ITEMS);
	ic_vec_init(&c->certificates, sizeof(struct ic_mirror_set), IC_MAX_LIST_ITEMS);
	ic_registries_conf_init(&c->registries_conf);
	ic_host_logins_init(&c->host_logins);
	ic_helper_logins_init(&c->helper_logins);
	ic_findings_init(&c->problems);
	for (size_t i = 0; i < IC_COUNT(c->unread); i++)
		ic_findings_init(&c->unread[i]);
	ic_buf_init(&c->ca, IC_MAX_TRUST_BYTES);
	ic_platform_host(&c->host_platform);
	return 0;
}

static void login_clear(struct ic_config_login *login)
{
	free(login->host);
	ic_secret_free(login->user);
	ic_secret_free(login->secret);
}

/* Values of options are overwritten too: the URL of a proxy can hold a password. */
static void values_clear(struct ic_vec *values)
{
	for (size_t i = 0; i < values->count; i++)
		ic_secret_free(*(char **)ic_vec_at(values, i));
	ic_vec_clear(values);
}

static void sets_clear(struct ic_vec *sets)
{
	for (size_t i = 0; i < sets->count; i++)
		ic_mirror_set_clear(ic_vec_at(sets, i));
	ic_vec_clear(sets);
}

void imgcheck_config_free(struct imgcheck_config *c)
{
	if (!c)
		return;
	for (size_t o = 0; o < IC_OPTION_COUNT; o++)
		values_clear(&c->values[o]);
	for (size_t i = 0; i < c->logins.count; i++)
		login_clear(ic_vec_at(&c->logins, i));
	for (size_t i = 0; i < c->authfiles.count; i++)
		ic_authfile_clear(ic_vec_at(&c->authfiles, i));
	sets_clear(&c->mirrors);
	sets_clear(&c->certificates);
	ic_vec_clear(&c->platforms);
	ic_vec_clear(&c->logins);
	ic_vec_clear(&c->authfiles);
	ic_registries_conf_clear(&c->registries_conf);
	ic_host_logins_clear(&c->host_logins);
	ic_helper_logins_clear(&c->helper_logins);
	ic_findings_clear(&c->problems);
	for (size_t i = 0; i < IC_COUNT(c->unread); i++)
		ic_findings_clear(&c->unread[i]);
	ic_buf_clear(&c->ca);
	free(c);
}

void ic_config_freeze(struct imgcheck_config *c)
{
	c->frozen = true;
}

int ic_config_check_open(const struct imgcheck_config *c, struct imgcheck_error **err)
{
	if (!c)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot change a configuration that is not there");
	if (!c->frozen)
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot change a configuration that a run holds");
}

/* ------------------------------------------------------------------ options */

static int add_platform(struct imgcheck_config *c, const char *value, struct imgcheck_error **err)
{
	struct ic_platform platform;
	int result = ic_platform_parse(value, &platform, err);

	return result < 0 ? result : ic_vec_push(&c->platforms, &platform, err);
}

static int store_value(struct imgcheck_config *c, enum imgcheck_option o, const char *value, struct imgcheck_error **err)
{
	struct ic_vec *values = &c->values[o];
	char **items, *old;
	int result = ic_texts_push(values, value, strlen(value), err);

	if (result < 0 || ic_option_get(o)->list || values->count == 1)
		return result;
	items = values->items;
	old = items[0];
	items[0] = items[1];
	values->count = 1;
	ic_secret_free(old);
	return 0;
}

int imgcheck_config_set(struct imgcheck_config *c, enum imgcheck_option o, const char *value,
                        struct imgcheck_error **err)
{
	int result = ic_config_check_open(c, err);

	if (result == 0)
		result = ic_option_check(o, value, err);
	if (result < 0)
		return result;
	return o == IMGCHECK_OPTION_PLATFORM ? add_platform(c, value, err) : store_value(c, o, value, err);
}

const char *ic_config_value(const struct imgcheck_config *c, enum imgcheck_option o)
{
	const char *set = ic_texts_get(&c->values[o], 0);

	return set ? set : ic_option_get(o)->initial;
}

const char *ic_config_item(const struct imgcheck_config *c, enum imgcheck_option o, size_t i)
{
	return ic_texts_get(&c->values[o], i);
}

size_t ic_config_platform_count(const struct imgcheck_config *c)
{
	return c->platforms.count ? c->platforms.count : 1;
}

const struct ic_platform *ic_config_platform(const struct imgcheck_config *c, size_t i)
{
	return c->platforms.count ? ic_vec_at(&c->platforms, i) : &c->host_platform;
}

enum ic_runtime ic_config_runtime(const struct imgcheck_config *c)
{
	return (enum ic_runtime)ic_option_word(IMGCHECK_OPTION_RUNTIME, ic_config_value(c, IMGCHECK_OPTION_RUNTIME));
}

enum ic_depth ic_config_depth(const struct imgcheck_config *c)
{
	return (enum ic_depth)ic_option_word(IMGCHECK_OPTION_DEPTH, ic_config_value(c, IMGCHECK_OPTION_DEPTH));
}

unsigned ic_config_deadline_seconds(const struct imgcheck_config *c)
{
	return (unsigned)strtoul(ic_config_value(c, IMGCHECK_OPTION_DEADLINE), NULL, 10);
}

bool ic_config_reserve(const struct imgcheck_config *c, size_t *out)
{
	const char *value = ic_config_value(c, IMGCHECK_OPTION_RESERVE);
	size_t number;

	return value && ic_text_to_size(value, strlen(value), (size_t)-1, out ? out : &number);
}

/* The option that governs an outcome; IC_OPTION_COUNT for those that are never held against anybody. */
static unsigned option_of(enum imgcheck_outcome outcome)
{
	switch (outcome) {
	case IMGCHECK_OUTCOME_OK:
	case IMGCHECK_OUTCOME_SKIPPED:
		break;
	case IMGCHECK_OUTCOME_MISSING:
		return IMGCHECK_OPTION_ON_MISSING;
	case IMGCHECK_OUTCOME_ALREADY_MISSING:
		return IMGCHECK_OPTION_ON_ALREADY_MISSING;
	case IMGCHECK_OUTCOME_ACCESS:
		return IMGCHECK_OPTION_ON_ACCESS;
	case IMGCHECK_OUTCOME_UNDECIDED:
		return IMGCHECK_OPTION_ON_UNDECIDED;
	case IMGCHECK_OUTCOME_HINT:
		return IMGCHECK_OPTION_ON_HINT;
	case IMGCHECK_OUTCOME_UNRESOLVED:
		return IMGCHECK_OPTION_ON_UNRESOLVED;
	case IMGCHECK_OUTCOME_UNREADABLE:
		return IMGCHECK_OPTION_ON_UNREADABLE;
	case IMGCHECK_OUTCOME_INTERNAL:
		return IMGCHECK_OPTION_ON_INTERNAL_ERROR;
	}
	return IC_OPTION_COUNT;
}

enum imgcheck_decision ic_config_effect(const struct imgcheck_config *c, enum imgcheck_outcome outcome)
{
	unsigned o = option_of(outcome);

	if (o == IC_OPTION_COUNT)
		return IMGCHECK_DECISION_ALLOW;
	return strcmp(ic_config_value(c, o), "veto") == 0 ? IMGCHECK_DECISION_VETO : IMGCHECK_DECISION_WARN;
}

const char *ic_config_effect_name(enum imgcheck_outcome outcome)
{
	unsigned o = option_of(outcome);

	return o == IC_OPTION_COUNT ? NULL : ic_option_get(o)->name;
}

const struct ic_registries_conf *ic_config_registries_conf(const struct imgcheck_config *c)
{
	return c->has_registries_conf ? &c->registries_conf : NULL;
}

bool ic_config_trusts_unproven(const struct imgcheck_config *c)
{
	return strcmp(ic_config_value(c, IMGCHECK_OPTION_ON_UNPROVEN), "veto") == 0;
}

bool ic_config_is_proven(const struct imgcheck_config *c, const char *host)
{
	const char *item;

	for (size_t i = 0; (item = ic_config_item(c, IMGCHECK_OPTION_PROVEN, i)); i++)
		if (strcmp(item, host) == 0)
			return true;
	return false;
}

bool ic_config_require_mirror(const struct imgcheck_config *c)
{
	return strcmp(ic_config_value(c, IMGCHECK_OPTION_REQUIRE_MIRROR), "true") == 0;
}

void imgcheck_config_set_no_mirrors(struct imgcheck_config *c)
{
	if (c)
		c->no_mirrors = true;
}

bool ic_config_no_mirrors(const struct imgcheck_config *c)
{
	return c->no_mirrors;
}

bool ic_config_ignores(const struct imgcheck_config *c, const char *ref)
{
	const char *glob;

	for (size_t i = 0; (glob = ic_config_item(c, IMGCHECK_OPTION_IGNORE, i)); i++)
		if (ic_text_glob(glob, ref))
			return true;
	return false;
}

const char *ic_config_subject(const struct imgcheck_config *c)
{
	return ic_config_value(c, IMGCHECK_OPTION_SUBJECT);
}

const char *ic_config_consequence(const struct imgcheck_config *c)
{
	return ic_config_value(c, IMGCHECK_OPTION_CONSEQUENCE);
}

const char *ic_config_remedy(const struct imgcheck_config *c, size_t i)
{
	return ic_config_item(c, IMGCHECK_OPTION_REMEDY, i);
}

/* ------------------------------------------------------------------ logins */

static int check_login(const char *host, const char *user, const char *secret, struct imgcheck_error **err)
{
	struct ic_host parsed;

	if (!user || !secret)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot set a login without a user and a password");
	if (host && !ic_host_parse(host, strlen(host), &parsed))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot set a login for \"%s\": it is not host[:port]", host);
	if (user[0] == '\0' || strchr(user, ':'))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot set a login whose user is empty or holds a colon");
	return 0;
}

/* Two logins for the same host and port; ports are compared as written here. */
static bool same_login(const char *a, const char *b)
{
	struct ic_host x, y;

	if (!a || !b)
		return a == b;
	return ic_host_parse(a, strlen(a), &x) && ic_host_parse(b, strlen(b), &y) && ic_host_same(&x, &y, 0);
}

static int store_login(struct imgcheck_config *c, struct ic_config_login *login, struct imgcheck_error **err)
{
	for (size_t i = 0; i < c->logins.count; i++) {
		struct ic_config_login *old = ic_vec_at(&c->logins, i);

		if (same_login(old->host, login->host)) {
			login_clear(old);
			*old = *login;
			return 0;
		}
	}
	return ic_vec_push(&c->logins, login, err);
}

int imgcheck_config_set_login(struct imgcheck_config *c, const char *host, const char *user, const char *secret,
                              struct imgcheck_error **err)
{
	struct ic_config_login login = {0};
	int result = ic_config_check_open(c, err);

	if (result == 0)
		result = check_login(host, user, secret, err);
	if (result < 0)
		return result;
	login.host = host ? ic_text_copy(host, strlen(host)) : NULL;
	login.user = ic_text_copy(user, strlen(user));
	login.secret = ic_text_copy(secret, strlen(secret));
	if (!login.user || !login.secret || (host && !login.host))
		result = ic_error_nomem(err);
	else
		result = store_login(c, &login, err);
	if (result < 0)
		login_clear(&login);
	return result;
}

const struct ic_config_login *ic_config_login(const struct imgcheck_config *c, size_t i)
{
	return i < c->logins.count ? ic_vec_at(&c->logins, i) : NULL;
}

void imgcheck_config_set_login_fn(struct imgcheck_config *c, imgcheck_login_fn fn, void *arg)
{
	if (!c)
		return;
	c->helper_logins.fn = fn;
	c->helper_logins.arg = arg;
	c->helpers = fn ? &c->helper_logins : NULL;
}

struct ic_helper_logins *ic_config_helpers(const struct imgcheck_config *c)
{
	return c->helpers;
}

/* ------------------------------------------------------------------ events */

void imgcheck_config_set_event_fn(struct imgcheck_config *c, imgcheck_event_fn fn, void *arg)
{
	if (!c)
		return;
	c->event_fn = fn;
	c->event_arg = arg;
}

bool ic_config_listens(const struct imgcheck_config *c)
{
	return c->event_fn;
}

void ic_config_tell(const struct imgcheck_config *c, const struct imgcheck_event *event)
{
	if (c->event_fn)
		c->event_fn(c->event_arg, event);
}
