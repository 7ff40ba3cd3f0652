/* SPDX-License-Identifier: Apache-2.0 */
#include "pull.h"

#include <string.h>

#include "program/lines.h"
#include "program/memory.h"

static const struct {
	enum pull_policy policy;
	const char *name;
	const char *words[2]; /* by enum pull_case */
} policies[PULL_POLICIES] = {
	{ PULL_ALWAYS, "Always",
	  { "every container that starts from now on runs the new image, those that run keep the old one",
	    "no container starts, also on nodes that have the image; those that run go on" } },
	{ PULL_IF_NOT_PRESENT, "IfNotPresent",
	  { "nodes that have the old image keep it, nodes that do not have it run the new one: the cluster runs both",
	    "containers start only on nodes that have the image; not on new ones, nor where it was cleaned up" } },
	{ PULL_NEVER, "Never",
	  { "nothing changes: nodes run what was loaded onto them",
	    "nothing changes: nodes never ask for it" } },
};

static unsigned default_policy(const struct imgcheck_image *m)
{
	const char *tag = imgcheck_image_part(m, IMGCHECK_PART_TAG);

	return tag && !strcmp(tag, "latest") ? PULL_ALWAYS : PULL_IF_NOT_PRESENT;
}

static unsigned find_policy(const char *name)
{
	for (size_t i = 0; i < COUNT(policies); i++)
		if (!strcmp(policies[i].name, name))
			return policies[i].policy;
	return 0;
}

unsigned pull_policies(const struct imgcheck_image *m)
{
	unsigned found = 0;

	for (size_t i = 0; imgcheck_image_origin(m, i, IMGCHECK_FIELD_FILE); i++) {
		const char *policy = imgcheck_image_origin(m, i, IMGCHECK_FIELD_PULL_POLICY);

		found |= policy ? find_policy(policy) : default_policy(m);
	}
	return found ? found : default_policy(m);
}

const char *pull_name(enum pull_policy p)
{
	for (size_t i = 0; i < COUNT(policies); i++)
		if (policies[i].policy == p)
			return policies[i].name;
	return "";
}

const char *pull_words(enum pull_case what, enum pull_policy p)
{
	for (size_t i = 0; i < COUNT(policies); i++)
		if (policies[i].policy == p)
			return policies[i].words[what];
	return "";
}

char *pull_text(enum pull_case what, unsigned set)
{
	char *text = memory_text("");

	for (size_t i = 0; i < COUNT(policies); i++) {
		char *longer;

		if (!(set & policies[i].policy))
			continue;
		longer = memory_printf("%s%s%s: %s", text, *text ? "; " : "", policies[i].name, policies[i].words[what]);
		free(text);
		text = longer;
	}
	return text;
}
