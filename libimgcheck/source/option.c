/* SPDX-License-Identifier: Apache-2.0 */
#include "source/option.h"

#include <string.h>

#include "base/limits.h"
#include "base/platform.h"
#include "base/ref.h"
#include "base/text.h"
#include "source/host.h"
#include "source/proxy.h"

#define MAX_DEADLINE_SECONDS 3600
#define MAX_RESERVE 1000000

static const char *const effect_words[] = {"veto", "warn", NULL};
static const char *const switch_words[] = {"false", "true", NULL};
static const char *const runtime_words[] = {"containerd", "crio", NULL};
static const char *const depth_words[] = {"tag", "platform", "blobs", "bytes", NULL};

/* No host holds an @: what stands before it is a login, which no message may repeat. */
static int refuse_login(const char *text, struct imgcheck_error **err)
{
	if (!strchr(text, '@'))
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "it holds a login, or an @; logins belong in an auth file");
}

/*
 * host[:port][/prefix], by the grammar of references: with a name behind it, it must read as one, and as one
 * of that host.
 */
static int check_place(const char *text, size_t len, struct imgcheck_error **err)
{
	struct ic_buf name IC_AUTO(buf);
	struct ic_ref ref IC_AUTO(ref) = {0};
	const char *slash = memchr(text, '/', len);
	struct ic_host host;
	int result;

	ic_buf_init(&name, IC_MAX_OPTION_BYTES + sizeof("/name"));
	result = ic_buf_printf(&name, err, "%.*s/name", (int)len, text);
	if (result < 0)
		return result;
	if (strstr(name.data, "://"))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" has a scheme; write host[:port][/prefix]", text);
	result = ic_ref_parse(name.data, name.len, &ref, NULL);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (!ic_host_parse(text, slash ? (size_t)(slash - text) : len, &host) || result < 0)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG,
		                    "\"%s\" is not host[:port][/prefix], the prefix in lower case without a slash at its end",
		                    text);
	if (!ref.has_domain)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG,
		                    "\"%s\" would be read as a part of Docker Hub; give the host a dot or a port", text);
	return 0;
}

static int check_registry(const char *value, struct imgcheck_error **err)
{
	int result = refuse_login(value, err);

	return result < 0 ? result : check_place(value, strlen(value), err);
}

static int check_rewrite_map(const char *value, struct imgcheck_error **err)
{
	const char *equals = strchr(value, '=');
	int result = refuse_login(value, err);

	if (result < 0)
		return result;
	if (!equals)
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not FROM=TO", value);
	result = check_place(value, (size_t)(equals - value), err);
	return result < 0 ? result : check_place(equals + 1, strlen(equals + 1), err);
}

static int check_platform(const char *value, struct imgcheck_error **err)
{
	struct ic_platform platform;

	return ic_platform_parse(value, &platform, err);
}

static int check_deadline(const char *value, struct imgcheck_error **err)
{
	size_t seconds;

	if (ic_text_to_size(value, strlen(value), MAX_DEADLINE_SECONDS, &seconds) && seconds > 0)
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not a number of seconds from 1 to %d", value,
	                    MAX_DEADLINE_SECONDS);
}

static int check_reserve(const char *value, struct imgcheck_error **err)
{
	size_t number;

	if (ic_text_to_size(value, strlen(value), MAX_RESERVE, &number))
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not a number up to %d", value, MAX_RESERVE);
}

static int check_host(const char *value, struct imgcheck_error **err)
{
	struct ic_host host;
	int result = refuse_login(value, err);

	if (result < 0 || ic_host_parse(value, strlen(value), &host))
		return result;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not host[:port]", value);
}

/* References are ASCII without blanks, so that another pattern could never match. */
static int check_glob(const char *value, struct imgcheck_error **err)
{
	for (size_t i = 0; value[i]; i++)
		if (value[i] <= ' ' || value[i] > '~')
			return ic_error_set(err, IMGCHECK_ERR_CONFIG,
			                    "\"%s\" can match no reference: it holds blanks or other bytes than ASCII", value);
	return 0;
}

/* A line of a report. */
static int check_line(const char *value, struct imgcheck_error **err)
{
	if (ic_text_utf8_check(value, strlen(value)) != strlen(value))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not UTF-8", value);
	for (size_t i = 0; value[i]; i++)
		if ((value[i] >= '\0' && value[i] < ' ') || value[i] == '\x7f')
			return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not one line of text", value);
	return 0;
}

#define EFFECT(option_name, default_word, what)                                                   \
	{                                                                                         \
		.name = (option_name), .argument = "veto|warn",                                   \
		.help = "what " what " does (" default_word ")", .initial = default_word,         \
		.words = effect_words                                                             \
	}

static const struct ic_option options[] = {
	[IMGCHECK_OPTION_REGISTRY] = {.name = "registry", .argument = "HOST[:PORT][/PREFIX]",
	                              .help = "the configured registry", .check = check_registry},
	[IMGCHECK_OPTION_REWRITE] = {.name = "rewrite", .help = "ask the registry for plain references too",
	                             .initial = "false", .words = switch_words},
	[IMGCHECK_OPTION_REWRITE_MAP] = {.name = "rewrite-map", .argument = "FROM=TO", .list = true,
	                                 .help = "ask at TO for what stands under FROM; the first match wins",
	                                 .check = check_rewrite_map},
	[IMGCHECK_OPTION_RUNTIME] = {.name = "runtime", .argument = "containerd|crio", .initial = "containerd",
	                             .help = "whose rules decide (containerd)", .words = runtime_words},
	[IMGCHECK_OPTION_PLATFORM] = {.name = "platform", .argument = "OS/ARCH[/VARIANT]", .list = true,
	                              .help = "a platform that is wanted, instead of this machine's",
	                              .check = check_platform},
	[IMGCHECK_OPTION_DEPTH] = {.name = "depth", .argument = "tag|platform|blobs|bytes", .initial = "blobs",
	                           .help = "how far to look into an image (blobs)", .words = depth_words},
	[IMGCHECK_OPTION_DEADLINE] = {.name = "deadline", .argument = "SECONDS", .initial = "240",
	                              .help = "time for the whole check, 1 to 3600 (240)", .check = check_deadline},
	[IMGCHECK_OPTION_RESERVE] = {.name = "reserve", .argument = "N",
	                             .help = "leave a host's last N requests (RateLimit-Remaining) to others", .check = check_reserve},
	[IMGCHECK_OPTION_PLAIN_HTTP] = {.name = "plain-http", .argument = "HOST[:PORT]", .list = true,
	                                .help = "ask this host without TLS; without a port: port 80",
	                                .check = check_host},
	[IMGCHECK_OPTION_SKIP_VERIFY] = {.name = "skip-verify", .argument = "HOST[:PORT]", .list = true,
	                                 .help = "insecure: take any certificate of this host; without a port: port 443",
	                                 .check = check_host},
	[IMGCHECK_OPTION_HTTP_PROXY] = {.name = "http-proxy", .argument = "URL", .initial = "",
	                                .help = "proxy for http, empty for none", .check = ic_proxy_check_url},
	[IMGCHECK_OPTION_HTTPS_PROXY] = {.name = "https-proxy", .argument = "URL", .initial = "",
	                                 .help = "proxy for https, empty for none", .check = ic_proxy_check_url},
	[IMGCHECK_OPTION_NO_PROXY] = {.name = "no-proxy", .argument = "LIST", .initial = "",
	                              .help = "hosts, suffixes and CIDR blocks asked without a proxy",
	                              .check = ic_proxy_check_exceptions},
	[IMGCHECK_OPTION_REQUIRE_MIRROR] = {.name = "require-mirror", .initial = "false", .words = switch_words,
	                                    .help = "never ask an upstream, only mirrors and the configured registry"},
	[IMGCHECK_OPTION_IGNORE] = {.name = "ignore", .argument = "GLOB", .list = true,
	                            .help = "do not ask for references that match", .check = check_glob},
	[IMGCHECK_OPTION_ON_MISSING] = EFFECT("on-missing", "veto", "a missing image"),
	[IMGCHECK_OPTION_ON_ALREADY_MISSING] = EFFECT("on-already-missing", "warn", "an image that was missing before"),
	[IMGCHECK_OPTION_ON_ACCESS] = EFFECT("on-access", "veto", "an image that access is refused to"),
	[IMGCHECK_OPTION_ON_UNDECIDED] = EFFECT("on-undecided", "veto", "an image that could not be decided"),
	[IMGCHECK_OPTION_ON_HINT] = EFFECT("on-hint", "warn", "an image that is only hinted at"),
	[IMGCHECK_OPTION_ON_UNRESOLVED] = EFFECT("on-unresolved", "warn", "an image field that is no reference"),
	[IMGCHECK_OPTION_ON_UNREADABLE] = EFFECT("on-unreadable", "veto", "a manifest that cannot be read"),
	[IMGCHECK_OPTION_ON_INTERNAL_ERROR] = EFFECT("on-internal-error", "warn", "a fault of the check itself"),
	[IMGCHECK_OPTION_ON_UNPROVEN] = EFFECT("on-unproven", "veto", "a refusal or failure of a host that never gave an image"),
	[IMGCHECK_OPTION_PROVEN] = {.name = "proven", .argument = "HOST[:PORT]", .list = true,
	                            .help = "a host that gave an image before, for on-unproven", .check = check_host},
	[IMGCHECK_OPTION_SUBJECT] = {.name = "subject", .argument = "TEXT", .help = "whose images these are, for reports",
	                             .check = check_line},
	[IMGCHECK_OPTION_CONSEQUENCE] = {.name = "consequence", .argument = "TEXT",
	                                 .help = "what a veto means, for reports", .check = check_line},
	[IMGCHECK_OPTION_REMEDY] = {.name = "remedy", .argument = "TEXT", .list = true,
	                            .help = "a further line of a report after a veto", .check = check_line},
};

_Static_assert(IC_COUNT(options) == IC_OPTION_COUNT, "each option has its row");

const struct ic_option *ic_option_get(enum imgcheck_option o)
{
	return (size_t)o < IC_COUNT(options) ? &options[o] : NULL;
}

/* The index of the value among the words, or their count. */
static unsigned find_word(const char *const *words, const char *value)
{
	unsigned i = 0;

	while (words[i] && strcmp(words[i], value) != 0)
		i++;
	return i;
}

static int check_word(const struct ic_option *option, const char *value, struct imgcheck_error **err)
{
	struct ic_buf all IC_AUTO(buf);
	int result = 0;

	ic_buf_init(&all, IC_MAX_OPTION_BYTES);
	if (option->words[find_word(option->words, value)])
		return 0;
	for (size_t i = 0; option->words[i] && result == 0; i++)
		result = ic_buf_printf(&all, err, "%s%s", i ? ", " : "", option->words[i]);
	if (result < 0)
		return result;
	return ic_error_set(err, IMGCHECK_ERR_CONFIG, "\"%s\" is not supported, only: %s", value, ic_buf_text(&all));
}

int ic_option_check(enum imgcheck_option o, const char *value, struct imgcheck_error **err)
{
	const struct ic_option *option = ic_option_get(o);
	int result;

	if (!option || !value)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot set an option that is not known, or without a value");
	if (strlen(value) > IC_MAX_OPTION_BYTES)
		result = ic_error_set(err, IMGCHECK_ERR_CONFIG, "longer than %zu bytes", (size_t)IC_MAX_OPTION_BYTES);
	else if (value[0] == '\0' && !(option->initial && option->initial[0] == '\0'))
		result = ic_error_set(err, IMGCHECK_ERR_CONFIG, "the value is empty");
	else
		result = option->words ? check_word(option, value, err) : option->check(value, err);
	if (result < 0)
		ic_error_prefix(err, "cannot set %s: ", option->name);
	return result;
}

unsigned ic_option_word(enum imgcheck_option o, const char *value)
{
	return find_word(options[o].words, value);
}

bool imgcheck_option_info(enum imgcheck_option o, const char **name, const char **argument, const char **help)
{
	const struct ic_option *option = ic_option_get(o);

	if (name)
		*name = option ? option->name : NULL;
	if (argument)
		*argument = option ? option->argument : NULL;
	if (help)
		*help = option ? option->help : NULL;
	return option != NULL;
}
