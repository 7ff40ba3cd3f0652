/* SPDX-License-Identifier: Apache-2.0 */
#include "turn.h"

#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "event.h"
#include "program/memory.h"
#include "program/process.h"
#include "program/say.h"
#include "program/status.h"

#define MOST_AGES 4  /* runs of one round */
#define THIS_ROUND 1 /* seconds: of a registry that did not say for how long it wants no more */

_Static_assert(TURN_STOPPED == ASK_STOPPED, "one is handed on as the other");

struct round {
	const struct watch *watch;
	struct state *state;
	long long now;
	long long after, until; /* the run at hand: images that were last asked for in these rounds */
	bool first;             /* and those of which that is not known */
	struct answers answers;
};

/* ------------------------------------------------------------------ what is asked for */

/* Said when they change, not each round anew. */
static void say_problems(struct watch *w, const struct imgcheck_images *images)
{
	AUTO(lines) struct lines problems = { 0 };
	const struct imgcheck_error *e;
	char *text;

	w->last.problems = 0;
	for (size_t i = 0; (e = imgcheck_images_problem(images, i)); i++) {
		AUTO(free) char *line = say_text(e);

		if (imgcheck_error_code(e) == IMGCHECK_ERR_FINDING)
			continue;
		lines_add(&problems, line);
		/* An image field that is no reference is nothing to watch, and was nothing before. */
		w->last.problems += imgcheck_error_code(e) != IMGCHECK_ERR_UNRESOLVED;
	}
	text = lines_join(&problems);
	if (*text && (!w->last.said || strcmp(text, w->last.said)))
		for (size_t i = 0; i < problems.count; i++)
			say("%s", problems.line[i]);
	free(w->last.said);
	w->last.said = text;
}

static bool is_wanted(void *arg, const struct imgcheck_image *image)
{
	const struct round *r = arg;
	const char *ref = imgcheck_image_ref(image), *registry = imgcheck_image_part(image, IMGCHECK_PART_REGISTRY);
	const struct state_image *m = state_find_image(r->state, ref);
	const struct state_host *host = registry ? state_find_host(r->state, registry) : NULL;

	if (!shard_has(&r->watch->shard, ref) || (host && host->until > r->now))
		return false;
	return m ? m->asked > r->after && m->asked <= r->until : r->first;
}

static int by_number(const void *a, const void *b)
{
	long long left = *(const long long *)a, right = *(const long long *)b;

	return (left > right) - (left < right);
}

/*
 * The rounds in which images were last asked for, oldest first, each once: new.  Usually all were asked for in the round
 * before; where a limit ended it early, those that were left are older.  They get a run of their own in front of the
 * others, or they would be left each time.
 */
static long long *find_ages(const struct state *s, size_t *count)
{
	long long *ages = memory_grow(NULL, s->image_count + 1, sizeof(*ages));
	size_t kept = 0;

	for (size_t i = 0; i < s->image_count; i++)
		ages[i] = s->images[i].asked;
	qsort(ages, s->image_count, sizeof(*ages), by_number);
	for (size_t i = 0; i < s->image_count; i++)
		if (!kept || ages[i] != ages[kept - 1])
			ages[kept++] = ages[i];
	if (!kept)
		ages[kept++] = 0;
	if (kept > MOST_AGES) {
		ages[MOST_AGES - 1] = ages[kept - 1];
		kept = MOST_AGES;
	}
	*count = kept;
	return ages;
}

/* The registries that said that they want no more now, in the answers from `first` on. */
static void hold_registries(struct round *r, size_t first)
{
	for (size_t i = first; i < r->answers.count; i++) {
		const struct answer *a = &r->answers.list[i];

		if (a->limited && a->registry)
			state_hold_host(r->state, a->registry, r->now + (a->wait > THIS_ROUND ? a->wait : THIS_ROUND), a->reason);
	}
}

/* One set of images for each run, since a run leaves its marks in it. */
static int ask_age(struct round *r)
{
	AUTO(images) struct imgcheck_images *images = watch_config_images(&r->watch->config);
	AUTO(config) struct imgcheck_config *config = watch_config_library(&r->watch->config);
	AUTO(answers) struct answers some = { 0 };
	size_t first = r->answers.count;
	int status = images ? ask_images(config, images, is_wanted, r, &some) : STATUS_USAGE;

	if (status)
		return status;
	r->answers.list = memory_grow(r->answers.list, first + some.count, sizeof(*some.list));
	if (some.count)
		memcpy(r->answers.list + first, some.list, some.count * sizeof(*some.list));
	r->answers.count += some.count;
	some.count = 0; /* moved */
	hold_registries(r, first);
	return 0;
}

static int ask_all(struct round *r)
{
	size_t count;
	AUTO(free) long long *ages = find_ages(r->state, &count);
	int status = 0;

	r->after = -1;
	for (size_t i = 0; i < count && !status; i++) {
		r->first = i == 0;
		r->until = ages[i];
		status = ask_age(r);
		r->after = ages[i];
	}
	return status;
}

/* ------------------------------------------------------------------ what is made of it */

/* Of an image that was not asked for, since its registry wants no requests. */
static bool take_unasked(struct round *r, const struct imgcheck_image *image)
{
	const char *registry = imgcheck_image_part(image, IMGCHECK_PART_REGISTRY);
	const struct state_host *host = registry ? state_find_host(r->state, registry) : NULL;
	AUTO(free) char *when = event_time(host ? host->until : r->now);
	AUTO(free) char *reason = memory_printf("not asked for before %s, as its registry wants: %s", when,
						host && host->reason ? host->reason : "");
	AUTO(free) char *ref = memory_text(imgcheck_image_ref(image));

	return round_take(r->state, &(struct answer){ .ref = ref, .kind = ANSWER_UNSURE, .reason = reason }, r->now);
}

static void take_answers(struct round *r, const struct imgcheck_images *images)
{
	size_t lost = 0;

	for (size_t i = 0; i < imgcheck_images_count(images); i++) {
		const struct imgcheck_image *image = imgcheck_images_get(images, i);
		const char *ref = imgcheck_image_ref(image);
		const struct answer *a = answers_find(&r->answers, ref);

		if (shard_has(&r->watch->shard, ref))
			lost += !(a ? round_take(r->state, a, r->now) : take_unasked(r, image));
	}
	if (lost)
		say("cannot watch %zu of the images: there is room for %zu", lost, STATE_MOST_IMAGES);
}

/* What could not be read is not what is needed no more. */
static void forget_others(struct round *r)
{
	if (!r->watch->last.problems)
		state_forget_images(r->state);
}

int turn_round(struct watch *w, struct state *s, long long now)
{
	struct imgcheck_images *images = watch_config_images(&w->config);
	struct round r = { .watch = w, .state = s, .now = now };
	int64_t start = process_clock();
	int status = images ? 0 : STATUS_USAGE;

	if (status)
		return status;
	imgcheck_images_free(w->last.images);
	w->last.images = images;
	say_problems(w, images);
	state_forget_hosts(s, now);
	s->rounds++;
	status = ask_all(&r);
	if (!status) {
		answers_sort(&r.answers);
		take_answers(&r, images);
		forget_others(&r);
		state_forget_hosts(s, now + THIS_ROUND);
		s->round = now;
		status = state_save(s);
	}
	answers_clear(&r.answers);
	w->last.seconds = (double)(process_clock() - start) / 1000;
	return status || !w->last.problems ? status : STATUS_UNREADABLE;
}
