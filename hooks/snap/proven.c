/* SPDX-License-Identifier: Apache-2.0 */
#include "proven.h"

#include <string.h>

#include "program/files.h"
#include "program/memory.h"

#define FILE_NAME "proven-hosts"
#define MOST_FILE ((size_t)64 << 10)
#define MOST_HOSTS 256

void proven_read(const char *state, struct lines *hosts)
{
	AUTO(free) char *path = files_join(state, FILE_NAME), *text = NULL;
	char *line, *rest;
	size_t len;

	if (files_read(path, MOST_FILE, &text, &len))
		return;
	rest = text;
	while ((line = strsep(&rest, "\n")) && hosts->count < MOST_HOSTS)
		if (*line)
			lines_add(hosts, line);
}

void proven_apply(const struct lines *hosts, struct imgcheck_config *c, struct lines *notices)
{
	AUTO(error) struct imgcheck_error *first = NULL;

	for (size_t i = 0; i < hosts->count; i++) {
		AUTO(error) struct imgcheck_error *e = NULL;

		if (imgcheck_config_set(c, IMGCHECK_OPTION_PROVEN, hosts->line[i], &e))
			memory_must_not_lack(e);
		if (!first)
			first = TAKE(e);
	}
	if (first)
		lines_addf(notices, "the list of proven hosts is not used whole: %s", imgcheck_error_message(first));
}

static const char *text_of(const json_t *image, const char *name)
{
	const char *text = json_string_value(json_object_get(image, name));

	return text ? text : "";
}

/* The host that decided, or that stands in the reference where none was asked in time: new. */
static char *host_of(const json_t *image)
{
	const char *host = text_of(image, "host"), *reference = text_of(image, "reference");

	return *host ? memory_text(host) : memory_text_cut(reference, strcspn(reference, "/"));
}

/* The hosts of the images of a class, each once, beyond those in `but`. */
static void hosts_of(const json_t *report, const char *class, const struct lines *but, struct lines *hosts)
{
	const json_t *image;
	size_t i;

	json_array_foreach(json_object_get(report, "images"), i, image) {
		AUTO(free) char *host = strcmp(text_of(image, "class"), class) ? NULL : host_of(image);

		if (host && *host && !lines_has(but, host) && !lines_has(hosts, host))
			lines_add(hosts, host);
	}
}

int proven_add(const char *state, const struct lines *hosts, const json_t *report)
{
	AUTO(lines) struct lines all = { 0 }, fresh = { 0 };
	AUTO(free) char *text = NULL;

	hosts_of(report, imgcheck_outcome_name(IMGCHECK_OUTCOME_OK), hosts, &fresh);
	if (!fresh.count)
		return 0;
	for (size_t i = 0; i < fresh.count && all.count < MOST_HOSTS; i++)
		lines_add(&all, fresh.line[i]);
	for (size_t i = 0; i < hosts->count && all.count < MOST_HOSTS; i++)
		lines_add(&all, hosts->line[i]);
	text = lines_join(&all);
	return files_replace(state, FILE_NAME, 0600, text, strlen(text));
}

void proven_lacks(const struct lines *hosts, const json_t *report, struct lines *lacking)
{
	AUTO(lines) struct lines good = { 0 };

	for (size_t i = 0; i < hosts->count; i++)
		lines_add(&good, hosts->line[i]);
	hosts_of(report, imgcheck_outcome_name(IMGCHECK_OUTCOME_OK), hosts, &good);
	hosts_of(report, imgcheck_outcome_name(IMGCHECK_OUTCOME_ACCESS), &good, lacking);
	hosts_of(report, imgcheck_outcome_name(IMGCHECK_OUTCOME_UNDECIDED), &good, lacking);
}
