/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/deliver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/document.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/status.h"
#include "test.h"
#include "watch/event.h"
#include "watch/pull.h"
#include "watch/shard.h"
#include "watch/webhook.h"

static char folder[64];

/* A state with two events, in a folder of its own, and a command that writes down which it was told. */
static char *begin(struct state *s)
{
	AUTO(free) char *path = NULL;

	(void)snprintf(folder, sizeof(folder), "/tmp/imgcheck-deliver-XXXXXX");
	test_folder(folder);
	path = memory_printf("%s/state", folder);
	cr_assert_eq(state_open(s, path, 0), 0);
	state_add_event(s, 1, "image.changed", "r.io/a:1", NULL);
	state_add_event(s, 2, "image.gone", "r.io/b:1", NULL);
	cr_assert_eq(state_save(s), 0);
	return memory_printf("echo $IMGCHECK_EVENT >> %s/told; test ! -e %s/broken", folder, folder);
}

static void touch(const char *name)
{
	cr_assert_eq(files_replace(folder, name, 0600, "", 0), 0);
}

static void drop_file(const char *name)
{
	AUTO(free) char *path = files_join(folder, name);

	unlink(path);
}

static char *told(void)
{
	AUTO(free) char *path = files_join(folder, "told");
	char *text = NULL;
	size_t len;

	return files_read(path, 4096, &text, &len) ? memory_text("") : text;
}

static void end(struct state *s)
{
	static const char *const names[] = { "state", "state.lock", "told", "broken" };

	state_close(s);
	for (size_t i = 0; i < COUNT(names); i++)
		drop_file(names[i]);
	cr_expect_eq(rmdir(folder), 0);
}

TEST(watch_deliver, in_order_and_then_forgotten)
{
	AUTO(state) struct state s = { 0 };
	AUTO(free) char *command = begin(&s), *seen = NULL;
	struct deliver d = { .command = command };
	long long due = -1;

	cr_expect_eq(deliver_events(&d, &s, 100, &due), 0);
	cr_expect_eq(due, 0);
	cr_expect_eq(s.event_count, 0);
	seen = told();
	cr_expect_str_eq(seen, "image.changed\nimage.gone\n");
	end(&s);
}

TEST(watch_deliver, one_that_fails_waits_and_keeps_its_place)
{
	AUTO(state) struct state s = { 0 };
	AUTO(free) char *command = begin(&s), *first = NULL, *second = NULL;
	struct deliver d = { .command = command };
	long long due;

	touch("broken");
	cr_expect_eq(deliver_events(&d, &s, 100, &due), 0);
	cr_expect_eq(due, 101);
	cr_expect_eq(deliver_events(&d, &s, 100, &due), 0);
	cr_expect_eq(due, 101, "it is left alone until then");
	cr_expect_eq(deliver_events(&d, &s, 101, &due), 0);
	cr_expect_eq(due, 103, "twice as long");
	first = told();
	cr_expect_str_eq(first, "image.changed\nimage.changed\n", "the second one waits behind the first");
	cr_expect_eq(s.event_count, 2);
	drop_file("broken");
	cr_expect_eq(deliver_events(&d, &s, 103, &due), 0);
	second = told();
	cr_expect_str_eq(second, "image.changed\nimage.changed\nimage.changed\nimage.gone\n");
	cr_expect_eq(due, 0);
	end(&s);
}

TEST(watch_deliver, a_clock_that_was_set_back_does_not_silence_it)
{
	AUTO(state) struct state s = { 0 };
	AUTO(free) char *command = begin(&s);
	struct deliver d = { .command = command };
	long long due;

	state_sink(&s, "command")->not_before = 1000000;
	cr_expect_eq(deliver_events(&d, &s, 100, &due), 0);
	cr_expect_eq(s.event_count, 0);
	end(&s);
}

/* What was told and could not be saved is not told again by the same process. */
TEST(watch_deliver, a_full_disk_does_not_make_it_repeat_itself)
{
	AUTO(state) struct state s = { 0 };
	AUTO(free) char *command = begin(&s), *seen = NULL;
	AUTO(free) char *path = files_join(folder, "state"), *fresh = files_join(folder, ".state.new");
	struct deliver d = { .command = command };
	long long due;

	cr_assert_eq(mkdir(fresh, 0700), 0);
	cr_expect_eq(deliver_events(&d, &s, 100, &due), STATUS_INTERNAL);
	state_close(&s);
	cr_assert_eq(state_open(&s, path, 0), 0);
	cr_expect_eq(s.event_count, 2, "the file still has them");
	rmdir(fresh);
	cr_expect_eq(deliver_events(&d, &s, 101, &due), 0);
	cr_expect_eq(s.event_count, 0);
	seen = told();
	cr_expect_str_eq(seen, "image.changed\nimage.gone\n");
	end(&s);
}

TEST(watch_deliver, pauses_double_up_to_a_quarter_of_an_hour)
{
	static const struct {
		long long failures;
		long retry_after;
		long long pause;
	} cases[] = { { 1, 0, 1 },    { 2, 0, 2 },        { 3, 0, 4 },    { 10, 0, 512 },
		      { 11, 0, 900 }, { 1000000, 0, 900 }, { 1, 60, 60 }, { 11, 60, 900 } };

	for (size_t i = 0; i < COUNT(cases); i++)
		cr_expect_eq(deliver_pause(cases[i].failures, cases[i].retry_after), cases[i].pause, "%lld", cases[i].failures);
}

TEST(watch_deliver, an_event_in_all_its_forms)
{
	AUTO(state) struct state s = { .lock = -1, .id = memory_text("0123") };
	AUTO(lines) struct lines variables = { 0 };
	AUTO(free) char *json = NULL, *line = NULL, *all = NULL;
	json_t *data = document_object();

	document_set_text(data, "digest", "sha256:b");
	document_set_text(data, "previous", "sha256:a");
	document_set_text(data, "event", "not this");
	document_set_number(data, "exit-status", 3);
	document_set(data, "list", document_array());
	state_add_event(&s, 1800000000, "image.changed", "r.io/a:1\n", data);
	json = event_json(&s, &s.events[0]);
	cr_expect_str_eq(json, "{\"specversion\":\"1.0\",\"id\":\"0123-1\",\"source\":\"/imgcheck/watch/0123\","
	                       "\"type\":\"imgcheck.image.changed\",\"subject\":\"r.io/a:1?\",\"time\":\"2027-01-15T08:00:00Z\","
	                       "\"datacontenttype\":\"application/json\",\"data\":{\"digest\":\"sha256:b\","
	                       "\"previous\":\"sha256:a\",\"event\":\"not this\",\"exit-status\":3,\"list\":[]}}");
	event_environment(&s, &s.events[0], &variables);
	all = lines_join(&variables);
	cr_expect_str_eq(all, "IMGCHECK_DIGEST=sha256:b\nIMGCHECK_PREVIOUS=sha256:a\nIMGCHECK_EVENT=not this\nIMGCHECK_EXIT_STATUS=3\n"
	                      "IMGCHECK_EVENT=image.changed\nIMGCHECK_EVENT_ID=0123-1\nIMGCHECK_SUBJECT=r.io/a:1?\n");
	line = event_line(&s.events[0]);
	cr_expect_str_eq(line, "2027-01-15T08:00:00Z image.changed r.io/a:1?: sha256:a -> sha256:b");
}

TEST(watch_deliver, of_a_url_only_the_host_is_shown)
{
	static const struct {
		const char *url, *shown;
	} cases[] = {
		{"https://hooks.example/services/secret?x=secret", "https://hooks.example"},
		{"http://user:secret@h:8080/p#secret", "http://h:8080"},
		{"ftp://h/", NULL},
		{"file:///etc/passwd", NULL},
		{"h/secret", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(free) char *shown = webhook_shown(cases[i].url);

		if (cases[i].shown)
			cr_expect_str_eq(shown, cases[i].shown);
		else
			cr_expect_null(shown, "%s: %s", cases[i].url, shown);
	}
}

TEST(watch_shard, each_image_is_of_one_shard_on_every_machine)
{
	struct shard all = { 0, 0 };
	size_t sizes[4] = { 0 };

	for (unsigned i = 0; i < 4000; i++) {
		AUTO(free) char *ref = memory_printf("registry.internal:5000/team/image:%u", i);
		unsigned found = 0;

		for (unsigned k = 0; k < 4; k++)
			if (shard_has(&(struct shard){ k, 4 }, ref)) {
				found++;
				sizes[k]++;
			}
		cr_assert_eq(found, 1);
		cr_assert(shard_has(&all, ref));
	}
	for (unsigned k = 0; k < 4; k++)
		cr_expect(sizes[k] > 800 && sizes[k] < 1200, "%zu", sizes[k]);
	/* of the same shard in each version, or an upgrade would begin anew */
	cr_expect(shard_has(&(struct shard){ 0, 4 }, "docker.io/library/busybox:latest"));
}

TEST(watch_shard, how_one_is_named)
{
	static const char *const good[] = { "0/1", "0/4", "3/4", "9999/10000" };
	static const char *const bad[] = { "",    "/",    "4/4", "-1/4",    "1",                     "1/", "/4",
					   "0/0", "1/4 ", "a/b", "0/10001", "99999999999999999999/4" };
	struct shard s;

	for (size_t i = 0; i < COUNT(good); i++)
		cr_expect(shard_parse(good[i], &s), "%s", good[i]);
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect_not(shard_parse(bad[i], &s), "%s", bad[i]);
}

TEST(watch_pull, policies_of_an_image)
{
	static const char manifest[] =
		"kind: Pod\nspec:\n  containers:\n"
		"  - {name: a, image: 'r.io/a:1', imagePullPolicy: Always}\n"
		"  - {name: b, image: 'r.io/a:1', imagePullPolicy: Never}\n"
		"  - {name: c, image: 'r.io/b:1'}\n"
		"  - {name: d, image: 'r.io/c'}\n"
		"  - {name: e, image: 'r.io/d:1', imagePullPolicy: IfNotPresent}\n";
	static const struct {
		const char *ref;
		unsigned policies;
	} cases[] = { { "r.io/a:1", PULL_ALWAYS | PULL_NEVER }, { "r.io/b:1", PULL_IF_NOT_PRESENT }, { "r.io/c", PULL_ALWAYS },
		      { "r.io/d:1", PULL_IF_NOT_PRESENT }, { "r.io/e:1", PULL_IF_NOT_PRESENT }, { "r.io/f:latest", PULL_ALWAYS } };
	AUTO(images) struct imgcheck_images *images = NULL;
	size_t seen = 0;

	cr_assert_eq(imgcheck_images_new(&images), 0);
	cr_assert_eq(imgcheck_images_add_data(images, "pod.yaml", manifest, strlen(manifest), NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(images, "r.io/e:1", NULL), 0);
	cr_assert_eq(imgcheck_images_add_ref(images, "r.io/f:latest", NULL), 0);
	for (size_t i = 0; i < imgcheck_images_count(images); i++)
		for (size_t k = 0; k < COUNT(cases); k++)
			if (!strcmp(imgcheck_image_ref(imgcheck_images_get(images, i)), cases[k].ref)) {
				seen++;
				cr_expect_eq(pull_policies(imgcheck_images_get(images, i)), cases[k].policies, "%s", cases[k].ref);
			}
	cr_expect_eq(seen, COUNT(cases));
}

TEST(watch_pull, every_policy_has_words_for_every_case)
{
	AUTO(free) char *text = pull_text(PULL_GONE, PULL_ALWAYS | PULL_NEVER);

	for (unsigned p = PULL_ALWAYS; p <= PULL_NEVER; p *= 2)
		cr_expect(*pull_name((enum pull_policy)p) && *pull_words(PULL_MOVED, (enum pull_policy)p) &&
		          *pull_words(PULL_GONE, (enum pull_policy)p));
	cr_expect(strstr(text, "Always: ") == text && strstr(text, "; Never: ") && !strstr(text, "IfNotPresent"), "%s", text);
}
