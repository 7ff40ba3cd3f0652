/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the sanitizer's run time; absent in other builds. */
__attribute__((weak)) void __sanitizer_print_stack_trace(void);

static struct {
	bool armed, on, failed, shown;
	int report; /* a descriptor, or 0 */
	size_t at, count;
	long balance;
} state;

/* Counts one allocation.  False: it is to fail. */
static bool may_go_on(void)
{
	if (!state.armed)
		return true;
	state.count++;
	if (state.at == 0 || state.count < state.at || (state.count > state.at && !state.on))
		return true;
	if (state.shown && !state.failed && __sanitizer_print_stack_trace)
		__sanitizer_print_stack_trace();
	if (state.report > 0 && !state.failed && write(state.report, "1", 1) < 0)
		abort();
	state.failed = true;
	errno = ENOMEM;
	return false;
}

static void *made(void *p)
{
	state.balance += p != NULL;
	return p;
}

void alloc_arm(size_t n, bool on)
{
	state.armed = true;
	state.on = on;
	state.failed = false;
	state.at = n;
	state.count = 0;
}

void alloc_report(int fd)
{
	state.report = fd;
}

void alloc_show(bool shown)
{
	state.shown = shown;
}

void alloc_disarm(void)
{
	state.armed = false;
}

size_t alloc_count(void)
{
	return state.count;
}

bool alloc_failed(void)
{
	return state.failed;
}

long alloc_balance(void)
{
	return state.balance;
}

/* ------------------------------------------------------------------ in place of libc's */

/* WRAP(type, name, parameters) declares both. */
#define WRAP(type, name, ...)           \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t size)
{
	return may_go_on() ? made(__real_malloc(size)) : NULL;
}

WRAP(void *, calloc, size_t count, size_t size)
{
	return may_go_on() ? made(__real_calloc(count, size)) : NULL;
}

WRAP(void *, realloc, void *p, size_t size)
{
	void *larger = may_go_on() ? __real_realloc(p, size) : NULL;

	return p ? larger : made(larger);
}

WRAP(void *, reallocarray, void *p, size_t count, size_t size)
{
	void *larger = may_go_on() ? __real_reallocarray(p, count, size) : NULL;

	return p ? larger : made(larger);
}

WRAP(char *, strdup, const char *text)
{
	return may_go_on() ? made(__real_strdup(text)) : NULL;
}

WRAP(char *, realpath, const char *path, char *out)
{
	return may_go_on() ? made(__real_realpath(path, out)) : NULL;
}

WRAP(int, vasprintf, char **out, const char *format, va_list arguments)
{
	int len = may_go_on() ? __real_vasprintf(out, format, arguments) : -1;

	if (len >= 0)
		(void)made(*out);
	return len;
}

WRAP(void, free, void *p)
{
	state.balance -= p != NULL;
	__real_free(p);
}

WRAP(int, scandir, const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
     int (*compare)(const struct dirent **, const struct dirent **))
{
	int count = may_go_on() ? __real_scandir(path, out, filter, compare) : -1;

	if (count >= 0 && *out)
		state.balance += count + 1;
	return count;
}

WRAP(FILE *, open_memstream, char **out, size_t *len)
{
	return may_go_on() ? __real_open_memstream(out, len) : NULL;
}

WRAP(DIR *, opendir, const char *path)
{
	return may_go_on() ? __real_opendir(path) : NULL;
}

/* What is there already needs no memory. */
WRAP(void *, tsearch, const void *key, void **root, int (*compare)(const void *, const void *))
{
	void *found = tfind(key, root, compare);

	if (found)
		return found;
	return may_go_on() ? __real_tsearch(key, root, compare) : NULL;
}

/* ------------------------------------------------------------------ in place of other libraries' */

WRAP(CURL *, curl_easy_init, void)
{
	return may_go_on() ? __real_curl_easy_init() : NULL;
}

WRAP(CURLM *, curl_multi_init, void)
{
	return may_go_on() ? __real_curl_multi_init() : NULL;
}

WRAP(CURLSH *, curl_share_init, void)
{
	return may_go_on() ? __real_curl_share_init() : NULL;
}

WRAP(CURLU *, curl_url, void)
{
	return may_go_on() ? __real_curl_url() : NULL;
}

WRAP(CURLUcode, curl_url_set, CURLU *url, CURLUPart part, const char *text, unsigned flags)
{
	return may_go_on() ? __real_curl_url_set(url, part, text, flags) : CURLUE_OUT_OF_MEMORY;
}

WRAP(CURLUcode, curl_url_get, CURLU *url, CURLUPart part, char **out, unsigned flags)
{
	return may_go_on() ? __real_curl_url_get(url, part, out, flags) : CURLUE_OUT_OF_MEMORY;
}

WRAP(struct curl_slist *, curl_slist_append, struct curl_slist *list, const char *text)
{
	return may_go_on() ? __real_curl_slist_append(list, text) : NULL;
}

WRAP(CURLMcode, curl_multi_add_handle, CURLM *multi, CURL *easy)
{
	return may_go_on() ? __real_curl_multi_add_handle(multi, easy) : CURLM_OUT_OF_MEMORY;
}

WRAP(EVP_MD_CTX *, EVP_MD_CTX_new, void)
{
	return may_go_on() ? __real_EVP_MD_CTX_new() : NULL;
}

static void *json_malloc(size_t size)
{
	return __wrap_malloc(size);
}

static void json_free(void *p)
{
	__wrap_free(p);
}

void alloc_init(void)
{
	json_set_alloc_funcs(json_malloc, json_free);
}
