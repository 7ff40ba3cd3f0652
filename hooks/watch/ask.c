/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "program/memory.h"
#include "program/say.h"
#include "program/status.h"
#include "pull.h"
#include "signals.h"

#define TICK_MS 200 /* how often a run looks whether the process is to end */

/* Stands for the digest of an image that is not asked for: the library then leaves it alone. */
#define NOT_ASKED "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static int by_ref(const void *a, const void *b)
{
	return strcmp(((const struct answer *)a)->ref, ((const struct answer *)b)->ref);
}

/* A HEAD that is answered with a digest is an answer, also where the host's limit would leave no node a pull now. */
static enum answer_kind kind_of(enum imgcheck_verdict verdict, const char *digest)
{
	if (digest && (verdict == IMGCHECK_VERDICT_OK || verdict == IMGCHECK_VERDICT_RATE_LIMITED))
		return ANSWER_PRESENT;
	if (verdict == IMGCHECK_VERDICT_SKIPPED)
		return ANSWER_SKIPPED;
	return verdict == IMGCHECK_VERDICT_NOT_FOUND ? ANSWER_GONE : ANSWER_UNSURE;
}

/* Hosts that want no requests for a while, as they say in their answers. */
struct pause {
	char *host;
	long seconds;
};

struct pauses {
	struct pause *list;
	size_t count;
};

static struct pause *find_pause(const struct pauses *p, const char *host)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->list[i].host, host))
			return &p->list[i];
	return NULL;
}

static void on_event(void *arg, const struct imgcheck_event *event)
{
	struct pauses *p = arg;
	struct pause *known;

	if (!event->host || event->retry_after <= 0)
		return;
	known = find_pause(p, event->host);
	if (!known) {
		p->list = memory_grow(p->list, p->count + 1, sizeof(*p->list));
		known = &p->list[p->count++];
		*known = (struct pause){ .host = memory_text(event->host) };
	}
	known->seconds = event->retry_after > known->seconds ? event->retry_after : known->seconds;
}

static void auto_pauses(struct pauses *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].host);
	free(p->list);
}

static void add_waits(const struct pauses *p, struct answers *out)
{
	for (size_t i = 0; i < out->count; i++) {
		struct answer *a = &out->list[i];
		const struct pause *known = a->limited && a->host ? find_pause(p, a->host) : NULL;

		a->wait = known ? known->seconds : 0;
	}
}

static void add_answer(const struct imgcheck_image *image, const struct imgcheck_report *report, size_t i, struct answers *out)
{
	enum imgcheck_verdict verdict = imgcheck_report_verdict(report, i);
	const char *digest = imgcheck_report_text(report, i, IMGCHECK_TEXT_DIGEST);
	struct answer a = { .ref = memory_text(imgcheck_image_ref(image)), .kind = kind_of(verdict, digest) };

	a.limited = verdict == IMGCHECK_VERDICT_RATE_LIMITED && a.kind != ANSWER_PRESENT;
	a.asked = !a.limited && verdict != IMGCHECK_VERDICT_DEADLINE;
	a.digest = a.kind == ANSWER_PRESENT ? memory_text(digest) : NULL;
	a.registry = memory_text(imgcheck_image_part(image, IMGCHECK_PART_REGISTRY));
	a.host = memory_text(imgcheck_report_text(report, i, IMGCHECK_TEXT_HOST));
	a.reason = a.kind == ANSWER_PRESENT ? NULL : memory_text(imgcheck_report_text(report, i, IMGCHECK_TEXT_REASON));
	a.pulls = pull_policies(image);
	out->list = memory_grow(out->list, out->count + 1, sizeof(*out->list));
	out->list[out->count++] = a;
}

/* One run to its end.  ASK_STOPPED, 0, or an exit status. */
static int run(struct imgcheck_config *config, struct imgcheck_images *images, struct imgcheck_report **report)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(run) struct imgcheck_run *r = NULL;
	int result = imgcheck_run_new(config, images, &r, &e);

	if (result == 0)
		while ((result = imgcheck_run_step(r, TICK_MS, &e)) > 0)
			if (signals_end())
				return ASK_STOPPED;
	if (result == 0)
		result = imgcheck_run_take_report(r, report, &e);
	return result ? say_error(e) : 0;
}

static int leave_out(struct imgcheck_images *images, const char *ref)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	return imgcheck_images_mark_found(images, ref, "", NOT_ASKED, &e) ? say_error(e) : 0;
}

int ask_images(struct imgcheck_config *c, struct imgcheck_images *images, ask_wanted wanted, void *arg, struct answers *out)
{
	AUTO(report) struct imgcheck_report *report = NULL;
	AUTO(pauses) struct pauses pauses = { 0 };
	size_t count = imgcheck_images_count(images);
	AUTO(free) bool *asked = memory_grow(NULL, count, sizeof(*asked));
	int status = c ? 0 : STATUS_USAGE;

	for (size_t i = 0; i < count && !status; i++) {
		const struct imgcheck_image *image = imgcheck_images_get(images, i);

		asked[i] = !wanted || wanted(arg, image);
		status = asked[i] ? 0 : leave_out(images, imgcheck_image_ref(image));
	}
	if (!status) {
		imgcheck_config_set_event_fn(c, on_event, &pauses);
		status = run(c, images, &report);
		imgcheck_config_set_event_fn(c, NULL, NULL);
	}
	if (status)
		return status;
	for (size_t i = 0; i < count; i++)
		if (asked[i])
			add_answer(imgcheck_images_get(images, i), report, i, out);
	add_waits(&pauses, out);
	answers_sort(out);
	return 0;
}

int ask_one(struct imgcheck_config *c, const char *ref, struct answer *out)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(images) struct imgcheck_images *images = NULL;
	AUTO(answers) struct answers answers = { 0 };
	int status;

	*out = (struct answer){ 0 };
	if (imgcheck_images_new(&images) || imgcheck_images_add_ref(images, ref, &e))
		return say_error(e);
	status = ask_images(c, images, NULL, NULL, &answers);
	if (status)
		return status;
	*out = answers.list[0];
	answers.count = 0; /* moved */
	return 0;
}

void answers_sort(struct answers *a)
{
	if (a->count)
		qsort(a->list, a->count, sizeof(*a->list), by_ref);
}

static int find_ref(const void *ref, const void *a)
{
	return strcmp(ref, ((const struct answer *)a)->ref);
}

const struct answer *answers_find(const struct answers *a, const char *ref)
{
	return a->count ? bsearch(ref, a->list, a->count, sizeof(*a->list), find_ref) : NULL;
}

void answer_clear(struct answer *a)
{
	free(a->ref);
	free(a->digest);
	free(a->registry);
	free(a->host);
	free(a->reason);
	*a = (struct answer){ 0 };
}

void answers_clear(struct answers *a)
{
	for (size_t i = 0; i < a->count; i++)
		answer_clear(&a->list[i]);
	free(a->list);
	*a = (struct answers){ 0 };
}
