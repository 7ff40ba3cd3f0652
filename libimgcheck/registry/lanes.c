/* SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

struct lane {
	size_t next, end; /* in the order */
	size_t begun;
};

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_repository(const void *a, const void *b, void *arg)
{
	const struct ic_ref *const *refs = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	int result = compare_texts(refs[i]->registry, refs[k]->registry);

	if (result == 0)
		result = compare_texts(refs[i]->repository, refs[k]->repository);
	return result != 0 ? result : (i > k) - (i < k);
}

static int make_lanes(struct ic_lanes *l, const struct ic_ref *const *refs, size_t count, struct imgcheck_error **err)
{
	for (size_t at = 0; at < count;) {
		struct lane lane = {.next = at, .end = at};
		const char *registry = refs[l->order[at]]->registry;
		int result;

		for (; at < count && compare_texts(refs[l->order[at]]->registry, registry) == 0; at++)
			l->lane_of[l->order[at]] = l->all.count;
		lane.end = at;
		result = ic_vec_push(&l->all, &lane, err);
		if (result < 0)
			return result;
	}
	return 0;
}

int ic_lanes_init(struct ic_lanes *l, const struct ic_ref *const *refs, size_t count, struct imgcheck_error **err)
{
	void *arg = (void *)(uintptr_t)refs;

	*l = (struct ic_lanes){.order = calloc(count + 1, sizeof(*l->order)), .lane_of = calloc(count + 1, sizeof(*l->lane_of))};
	ic_vec_init(&l->all, sizeof(struct lane), IC_MAX_IMAGES);
	if (!l->order || !l->lane_of)
		return ic_error_nomem(err);
	for (size_t i = 0; i < count; i++)
		l->order[i] = i;
	qsort_r(l->order, count, sizeof(*l->order), by_repository, arg);
	return make_lanes(l, refs, count, err);
}

void ic_lanes_clear(struct ic_lanes *l)
{
	free(l->order);
	free(l->lane_of);
	ic_vec_clear(&l->all);
	*l = (struct ic_lanes){0};
}

bool ic_lanes_next(struct ic_lanes *l, size_t *image)
{
	for (size_t tried = 0; l->begun < IC_MAX_BEGUN && tried < l->all.count; tried++) {
		struct lane *lane = ic_vec_at(&l->all, l->turn);

		if (lane->next < lane->end && lane->begun < IC_MAX_BEGUN_IN_LANE) {
			*image = l->order[lane->next++];
			lane->begun++;
			l->begun++;
			l->turn = (l->turn + 1) % l->all.count;
			return true;
		}
		l->turn = (l->turn + 1) % l->all.count;
	}
	return false;
}

void ic_lanes_decided(struct ic_lanes *l, size_t image)
{
	struct lane *lane = ic_vec_at(&l->all, l->lane_of[image]);

	lane->begun--;
	l->begun--;
}

bool ic_lanes_is_latest(const struct ic_lanes *l, size_t image)
{
	const struct lane *lane = ic_vec_at(&l->all, l->lane_of[image]);

	return lane->next < lane->end && l->order[lane->next - 1] == image;
}
