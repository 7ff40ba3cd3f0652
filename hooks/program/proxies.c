/* SPDX-License-Identifier: Apache-2.0 */
#include "proxies.h"

#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "memory.h"

#define MOST_ENVIRONMENT ((size_t)1 << 20)

/* Names in curl's order.  HTTP_PROXY does not count: a CGI client can set it. */
static const char *const names[3][2] = {
	{ "http_proxy", NULL },
	{ "https_proxy", "HTTPS_PROXY" },
	{ "no_proxy", "NO_PROXY" },
};

static struct proxy *slot(struct proxies *p, size_t i)
{
	return i == 0 ? &p->http : i == 1 ? &p->https : &p->none;
}

void proxies_replace(struct proxy *p, const char *value, const char *source)
{
	memory_forget(p->value);
	p->value = memory_text(value);
	p->source = source;
}

static void add(struct proxy *p, const char *value, const char *source)
{
	if (!p->value && value && *value)
		proxies_replace(p, value, source);
}

/* NAME=value, with `export ` before it and quotes around the value allowed, as PAM reads them. */
static char *file_value(char *line, const char *name)
{
	size_t len = strlen(name), end;
	char *value;

	line += strspn(line, " \t");
	if (!strncmp(line, "export ", 7))
		line += 7 + strspn(line + 7, " \t");
	if (strncmp(line, name, len) || line[len] != '=')
		return NULL;
	value = line + len + 1;
	end = strlen(value);
	while (end && strchr(" \t\r", value[end - 1]))
		end--;
	if (end >= 2 && (value[0] == '"' || value[0] == '\'') && value[end - 1] == value[0]) {
		value++;
		end -= 2;
	}
	value[end] = '\0';
	return value;
}

static void read_file(struct proxies *p, const char *file)
{
	AUTO(secret) char *data = NULL;
	char *line, *rest;
	size_t len;

	if (files_read(file, MOST_ENVIRONMENT, &data, &len))
		return; /* there need not be one */
	rest = data;
	while ((line = strsep(&rest, "\n")))
		for (size_t i = 0; i < 3; i++)
			for (size_t k = 0; k < 2 && names[i][k]; k++)
				add(slot(p, i), file_value(line, names[i][k]), file);
}

void proxies_read(struct proxies *p, const char *file)
{
	*p = (struct proxies){ 0 };
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2 && names[i][k]; k++)
			add(slot(p, i), getenv(names[i][k]), "the environment");
	if (file)
		read_file(p, file);
}

static void apply(struct proxy *p, enum imgcheck_option option, struct imgcheck_config *c, struct lines *notices)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	if (!p->value || !imgcheck_config_set(c, option, p->value, &e))
		return;
	lines_addf(notices, "cannot use the proxy setting of %s: %s", p->source, imgcheck_error_message(e));
	memory_forget(TAKE(p->value));
}

/*
 * Go and curl pass over an entry that they cannot use, and so must we, or the others would not count either.  Each is tried
 * alone, and then all together: the list may be long.
 */
static void keep_usable(struct proxy *p, struct imgcheck_config *c, struct lines *notices)
{
	AUTO(free) char *copy = memory_text(p->value), *usable = memory_text(p->value);
	char *rest = copy, *end = usable, *entry;

	if (!copy || !imgcheck_config_set(c, IMGCHECK_OPTION_NO_PROXY, copy, NULL))
		return;
	while ((entry = strsep(&rest, ","))) {
		AUTO(error) struct imgcheck_error *e = NULL;

		if (!imgcheck_config_set(c, IMGCHECK_OPTION_NO_PROXY, entry, &e)) {
			end = mempcpy(end, entry, strlen(entry));
			*end++ = ',';
			continue;
		}
		memory_must_not_lack(e);
		lines_addf(notices, "an exception in the proxy setting of %s is not used: %s", p->source, imgcheck_error_message(e));
	}
	end[end > usable ? -1 : 0] = '\0'; /* the last comma: no longer than it was */
	proxies_replace(p, usable, p->source);
	apply(p, IMGCHECK_OPTION_NO_PROXY, c, notices);
}

void proxies_apply(struct proxies *p, struct imgcheck_config *c, struct lines *notices)
{
	apply(&p->http, IMGCHECK_OPTION_HTTP_PROXY, c, notices);
	apply(&p->https, IMGCHECK_OPTION_HTTPS_PROXY, c, notices);
	keep_usable(&p->none, c, notices);
}

/* The URL without what stands before an @. */
static char *without_login(const char *url)
{
	const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url, *at = strrchr(host, '@');

	return at ? memory_printf("%.*s%s", (int)(host - url), url, at + 1) : memory_text(url);
}

char *proxies_text(const struct proxies *p)
{
	const struct proxy *main = p->https.value ? &p->https : &p->http;
	AUTO(free) char *url = NULL;

	if (!main->value)
		return NULL;
	url = without_login(main->value);
	return memory_printf("through the proxy %s (from %s)", url, main->source);
}

void proxies_clear(struct proxies *p)
{
	for (size_t i = 0; i < 3; i++)
		memory_forget(slot(p, i)->value);
	*p = (struct proxies){ 0 };
}
