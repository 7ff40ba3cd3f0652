/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "program/memory.h"
#include "program/process.h"
#include "program/say.h"

#define QUIET_MS 1000 /* what ends sooner is not watched */
#define TICK_MS 200
#define SHOWN_HOST 60

/* The images of one registry that are not decided yet. */
struct waiting {
	char *registry;
	size_t left;
};

struct progress {
	enum progress_mode mode;
	int64_t start, shown; /* shown: when the line was last written, 0 if never */
	size_t done, total;
	struct waiting *registries;
	size_t count;
};

/* The registry of a reference as it is asked, "host:port/name:tag". */
static struct waiting *find(struct progress *p, const char *text)
{
	size_t len = strcspn(text, "/");

	for (size_t i = 0; i < p->count; i++)
		if (strlen(p->registries[i].registry) == len && !memcmp(p->registries[i].registry, text, len))
			return &p->registries[i];
	return NULL;
}

static void expect(struct progress *p, const struct imgcheck_images *s)
{
	for (size_t i = 0; i < imgcheck_images_count(s); i++) {
		const char *registry = imgcheck_image_part(imgcheck_images_get(s, i), IMGCHECK_PART_REGISTRY);
		struct waiting *w = registry ? find(p, registry) : NULL;

		if (!registry)
			continue;
		if (!w) {
			p->registries = memory_grow(p->registries, p->count + 1, sizeof(*p->registries));
			w = &p->registries[p->count++];
			*w = (struct waiting){ .registry = memory_text(registry) };
		}
		w->left++;
	}
}

static void print_line(const struct progress *p)
{
	const struct waiting *most = NULL;

	for (size_t i = 0; i < p->count; i++)
		if (p->registries[i].left && (!most || p->registries[i].left > most->left))
			most = &p->registries[i];
	fprintf(stderr, "\r\033[K%zu of %zu images", p->done, p->total);
	if (most && p->done < p->total)
		fprintf(stderr, ", waiting for %.*s (%zu)", SHOWN_HOST, most->registry, most->left);
	fflush(stderr);
}

static void update(struct progress *p)
{
	int64_t now = process_clock();

	if (p->mode != PROGRESS_LINE || now - p->start < QUIET_MS || (p->shown && now - p->shown < TICK_MS))
		return;
	p->shown = now;
	print_line(p);
}

static void print_request(const char *text)
{
	AUTO(free) char *copy = memory_text(text);

	say_printable(copy, false);
	fprintf(stderr, "%s\n", copy);
}

static void on_event(void *arg, const struct imgcheck_event *event)
{
	struct progress *p = arg;
	struct waiting *w;

	switch (event->kind) {
	case IMGCHECK_EVENT_REQUEST:
		if (p->mode == PROGRESS_REQUESTS && event->text)
			print_request(event->text);
		break;
	case IMGCHECK_EVENT_DONE:
		p->done = event->done;
		p->total = event->total;
		w = event->text ? find(p, event->text) : NULL;
		if (w && w->left)
			w->left--;
		break;
	}
	update(p);
}

static void clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	for (size_t i = 0; i < p->count; i++)
		free(p->registries[i].registry);
	free(p->registries);
}

int progress_check(struct imgcheck_config *c, struct imgcheck_images *s, enum progress_mode mode,
                   struct imgcheck_report **out, struct imgcheck_error **err)
{
	struct progress p = { .mode = mode, .start = process_clock(), .total = imgcheck_images_count(s) };
	AUTO(run) struct imgcheck_run *run = NULL;
	int result;

	*out = NULL;
	if (mode == PROGRESS_NONE)
		return imgcheck_check(c, s, out, err);
	expect(&p, s);
	imgcheck_config_set_event_fn(c, on_event, &p);
	result = imgcheck_run_new(c, s, &run, err);
	if (result == 0) {
		while ((result = imgcheck_run_step(run, TICK_MS, err)) > 0)
			update(&p);
	}
	if (result == 0)
		result = imgcheck_run_take_report(run, out, err);
	clear(&p);
	return result;
}
