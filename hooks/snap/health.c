/* SPDX-License-Identifier: Apache-2.0 */
#include "health.h"

#include <string.h>

#include "program/memory.h"
#include "check/policy.h"
#include "program/say.h"
#include "snapctl.h"
#include "program/status.h"

/* snapd takes messages of 7 to 70 characters. */
#define MOST_MESSAGE 70

#define LIMIT_MS 20000

/* What stopped the refresh, worst first. */
static const struct {
	enum imgcheck_outcome class;
	const char *code, *words;
} causes[] = {
	{ IMGCHECK_OUTCOME_MISSING, "images-missing", "missing" },
	{ IMGCHECK_OUTCOME_ALREADY_MISSING, "images-missing", "missing" },
	{ IMGCHECK_OUTCOME_UNREADABLE, "manifests-unreadable", "unreadable" },
	{ IMGCHECK_OUTCOME_UNRESOLVED, "manifests-unreadable", "unresolved" },
	{ IMGCHECK_OUTCOME_ACCESS, "access-refused", "refused" },
	{ IMGCHECK_OUTCOME_UNDECIDED, "registry-unreachable", "undecided" },
	{ IMGCHECK_OUTCOME_HINT, "images-missing", "hinted at and missing" },
	{ IMGCHECK_OUTCOME_INTERNAL, "check-failed", "internal error" },
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* The members of a list that count against the refresh; a problem that stands alone says no effect. */
static size_t count_vetoes(const json_t *list, const char *class)
{
	const json_t *item;
	size_t i, count = 0;

	json_array_foreach(list, i, item) {
		const char *effect = text_of(item, "effect");

		count += !strcmp(text_of(item, "class"), class) && (!*effect || !strcmp(effect, "veto"));
	}
	return count;
}

static size_t count_cause(const json_t *report, enum imgcheck_outcome class)
{
	const char *name = imgcheck_outcome_name(class);

	return count_vetoes(json_object_get(report, "images"), name) + count_vetoes(json_object_get(report, "problems"), name);
}

/* "refresh to 1250 stopped: 3 missing": new. */
static char *describe(const json_t *report, const char **code)
{
	const json_t *to = json_array_get(json_object_get(json_object_get(report, "hook"), "to"), 0);
	char *text = memory_printf("refresh to %.24s stopped", text_of(to, "revision"));
	const char *joint = ": ";

	*code = "refresh-stopped";
	for (size_t i = 0; i < COUNT(causes); i++) {
		size_t count = count_cause(report, causes[i].class);
		AUTO(free) char *before = count ? text : NULL;

		if (!count)
			continue;
		*code = *joint == ':' ? causes[i].code : *code;
		text = memory_printf("%s%s%zu %s", before, joint, count, causes[i].words);
		joint = ", ";
	}
	if (strlen(text) > MOST_MESSAGE)
		text[MOST_MESSAGE] = '\0';
	say_printable(text, false);
	return text;
}

int health_publish(const json_t *report)
{
	bool vetoed = !strcmp(text_of(json_object_get(report, "hook"), "result"), "vetoed");
	const char *code = NULL;
	AUTO(free) char *message = vetoed ? describe(report, &code) : NULL, *why = NULL;

	if (snapctl_set_health(vetoed ? "blocked" : "okay", message, code, LIMIT_MS, &why))
		return STATUS_OK;
	say("cannot set the health of the snap: %s", why);
	return STATUS_INTERNAL;
}
