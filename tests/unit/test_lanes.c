/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/lanes.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

/* Registry and repository of each image; what is begun in which order, each decided before the next is begun. */
static const struct {
	const char *name;
	const char *images[8][2];
	size_t order[8];
} rows[] = {
	{"none", {{NULL}}, {0}},
	{"one registry: repositories together", {{"a", "x"}, {"a", "y"}, {"a", "x"}, {"a", "y"}}, {0, 2, 1, 3}},
	{"registries take turns", {{"a", "x"}, {"a", "y"}, {"b", "x"}, {"b", "y"}, {"b", "z"}}, {0, 2, 1, 3, 4}},
	{"no reference", {{"a", "x"}, {"", ""}, {"b", "x"}}, {1, 0, 2}},
};

static size_t fill(size_t row, struct ic_ref *refs, const struct ic_ref **list)
{
	size_t count = 0;

	for (; count < 8 && rows[row].images[count][0]; count++) {
		const char *registry = rows[row].images[count][0], *repository = rows[row].images[count][1];

		refs[count] = (struct ic_ref){.registry = registry[0] ? strdup(registry) : NULL,
		                              .repository = repository[0] ? strdup(repository) : NULL};
		list[count] = &refs[count];
	}
	return count;
}

TEST(lanes, begin_in_turns)
{
	for (size_t row = 0; row < IC_COUNT(rows); row++) {
		struct ic_lanes lanes;
		struct ic_ref refs[8] = {{0}};
		const struct ic_ref *list[8];
		size_t count = fill(row, refs, list), image = SIZE_MAX;

		cr_assert_eq(ic_lanes_init(&lanes, list, count, NULL), 0, "%s", rows[row].name);
		for (size_t i = 0; i < count; i++) {
			cr_assert(ic_lanes_next(&lanes, &image), "%s: %zu", rows[row].name, i);
			cr_assert_eq(image, rows[row].order[i], "%s: %zu is %zu", rows[row].name, i, image);
			ic_lanes_decided(&lanes, image);
		}
		cr_assert_not(ic_lanes_next(&lanes, &image), "%s", rows[row].name);
		ic_lanes_clear(&lanes);
		for (size_t i = 0; i < count; i++) {
			free(refs[i].registry);
			free(refs[i].repository);
		}
	}
}

/* A registry whose images are never decided has its own share; the other one's go on. */
TEST(lanes, one_that_hangs_holds_up_none_but_its_own)
{
	const struct ic_ref hanging = {.registry = (char[]){"a"}, .repository = (char[]){"x"}};
	const struct ic_ref other = {.registry = (char[]){"b"}, .repository = (char[]){"x"}};
	static const struct ic_ref *refs[2 * IC_MAX_BEGUN];
	size_t begun[2] = {0, 0}, image;
	struct ic_lanes lanes;

	for (size_t i = 0; i < IC_COUNT(refs); i++)
		refs[i] = i % 2 == 0 ? &hanging : &other;
	cr_assert_eq(ic_lanes_init(&lanes, refs, IC_COUNT(refs), NULL), 0);
	while (ic_lanes_next(&lanes, &image)) {
		begun[image % 2]++;
		if (image % 2 == 1)
			ic_lanes_decided(&lanes, image);
	}
	cr_assert_eq(begun[0], IC_MAX_BEGUN_IN_LANE);
	cr_assert_eq(begun[1], IC_MAX_BEGUN);
	cr_assert_eq(lanes.begun, IC_MAX_BEGUN_IN_LANE);
	ic_lanes_clear(&lanes);
}

/* The last image begun keeps its repository in mind for the next one. */
TEST(lanes, the_latest_is_known)
{
	const struct ic_ref one = {.registry = (char[]){"a"}, .repository = (char[]){"x"}};
	const struct ic_ref *refs[] = {&one, &one};
	struct ic_lanes lanes;
	size_t image;

	cr_assert_eq(ic_lanes_init(&lanes, refs, IC_COUNT(refs), NULL), 0);
	cr_assert(ic_lanes_next(&lanes, &image));
	cr_assert(ic_lanes_is_latest(&lanes, image));
	cr_assert(ic_lanes_next(&lanes, &image));
	cr_assert_not(ic_lanes_is_latest(&lanes, 0));
	cr_assert_not(ic_lanes_is_latest(&lanes, image), "nothing follows");
	ic_lanes_clear(&lanes);
}
