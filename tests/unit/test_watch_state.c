/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/state.h"

#include <fcntl.h>
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

#define DIGEST "sha256:0000000000000000000000000000000000000000000000000000000000000001"

static char folder[64], path[128];

static void setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/imgcheck-state-XXXXXX");
	test_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/state.json", folder);
}

static void remove_all(void)
{
	static const char *const names[] = { "state.json", "state.json.lock", "state.json.watcher" };

	for (size_t i = 0; i < COUNT(names); i++) {
		AUTO(free) char *name = files_join(folder, names[i]);

		unlink(name);
	}
	cr_expect_eq(rmdir(folder), 0, "something is left in the folder");
}

static void fill(struct state *s)
{
	struct state_image *m = state_image(s, "r.io/b:1");
	struct state_gate *g = state_gate(s, "notebook");
	json_t *data = document_object();

	m->condition = STATE_PRESENT;
	m->since = 100;
	state_set_text(&m->digest, DIGEST);
	m = state_image(s, "r.io/a:1");
	m->condition = STATE_GONE;
	m->misses = 2;
	state_set_text(&m->reason, "404 with a \x01 byte");
	g->phase = STATE_GATE_HELD;
	g->since = 7;
	state_set_text(&g->held, DIGEST);
	state_reject(g, 8, DIGEST, "exit status 1");
	document_set_text(data, "digest", DIGEST);
	state_add_event(s, 9, "image.changed", "r.io/b:1", data);
	state_sink(s, "webhook")->told = 0;
	state_hold_host(s, "r.io", 50, "429");
	state_set_text(&s->shard, "1/4");
	s->round = 99;
}

TEST(watch_state, is_the_same_when_read_again)
{
	AUTO(free) char *first = NULL, *second = NULL;
	AUTO(state) struct state s = { 0 };
	const struct state_gate *g;
	struct stat st;
	size_t len;

	setup();
	cr_assert_eq(state_open(&s, path, 0), 0);
	cr_expect_eq(strlen(s.id), 32);
	fill(&s);
	cr_assert_eq(state_save(&s), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	cr_assert_eq(files_read(path, FILES_MAX_JSON, &first, &len), 0);
	state_close(&s);

	cr_assert_eq(state_open(&s, path, 0), 0);
	cr_expect_eq(s.image_count, 2);
	cr_expect_str_eq(s.images[0].ref, "r.io/a:1");
	cr_expect_eq(s.images[0].condition, STATE_GONE);
	cr_expect_str_eq(s.images[0].reason, "404 with a ? byte");
	cr_expect_str_eq(state_image(&s, "r.io/b:1")->digest, DIGEST);
	g = state_find_gate(&s, "notebook");
	cr_expect_eq(g->phase, STATE_GATE_HELD);
	cr_expect_str_eq(state_rejected(g, DIGEST)->reason, "exit status 1");
	cr_expect_str_eq(s.events[0].type, "image.changed");
	cr_expect_eq(s.last_event, 1);
	cr_expect_eq(state_find_host(&s, "r.io")->until, 50);
	cr_expect_str_eq(s.shard, "1/4");
	cr_assert_eq(state_save(&s), 0);
	cr_assert_eq(files_read(path, FILES_MAX_JSON, &second, &len), 0);
	cr_expect_str_eq(first, second);
	state_close(&s);
	remove_all();
}

/* Cut at any place, or of a form that it cannot have: an error, and not a byte of the file changed. */
static void expect_refused(const char *text, size_t len)
{
	AUTO(state) struct state s = { 0 };
	AUTO(free) char *after = NULL;
	size_t size;

	cr_assert_eq(files_replace(folder, "state.json", 0600, text, len), 0);
	cr_expect_eq(state_open(&s, path, 0), STATUS_INTERNAL, "taken: %.*s", (int)len, text);
	cr_assert_eq(files_read(path, FILES_MAX_JSON, &after, &size), 0);
	cr_expect(size == len && !memcmp(after, text, len), "the file was touched");
}

TEST(watch_state, a_broken_file_is_left_untouched)
{
	static const char *const broken[] = {
		"", "{}", "[]", "{\"version\": 0}", "{\"version\": 2, \"id\": \"x\"}", "{\"version\": 1}", "null", "\x7f""ELF",
		"{\"version\":1,\"id\":\"x\",\"images\":[{}],\"gates\":[],\"events\":[],\"sinks\":[],\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"images\":[],\"gates\":{},\"events\":[],\"sinks\":[],\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"images\":[],\"gates\":[],\"events\":[],\"sinks\":[]}",
		"{\"version\":1,\"id\":\"x\",\"round\":-1,\"images\":[],\"gates\":[],\"events\":[],\"sinks\":[],\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"images\":[{\"ref\":\"a\",\"condition\":\"odd\"}],\"gates\":[],\"events\":[],\"sinks\":[],"
		"\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"images\":[{\"ref\":\"b\",\"condition\":\"new\"},{\"ref\":\"a\",\"condition\":\"new\"}],"
		"\"gates\":[],\"events\":[],\"sinks\":[],\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"images\":[],\"gates\":[],\"events\":[{\"number\":1,\"type\":\"a\",\"subject\":\"b\","
		"\"data\":{}}],\"sinks\":[],\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"images\":[],\"gates\":[],\"events\":[],\"sinks\":[{\"name\":\"command\",\"told\":1}],"
		"\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"last_event\":9223372036854775807,\"images\":[],\"gates\":[],\"events\":[],\"sinks\":[],"
		"\"hosts\":[]}",
		"{\"version\":1,\"id\":\"x\",\"id\":\"y\",\"images\":[],\"gates\":[],\"events\":[],\"sinks\":[],\"hosts\":[]}",
	};
	AUTO(free) char *whole = NULL;
	AUTO(state) struct state s = { 0 };
	size_t len;

	setup();
	cr_assert_eq(state_open(&s, path, 0), 0);
	fill(&s);
	cr_assert_eq(state_save(&s), 0);
	state_close(&s);
	cr_assert_eq(files_read(path, FILES_MAX_JSON, &whole, &len), 0);
	for (size_t cut = 0; cut + 2 < len; cut += 7)
		expect_refused(whole, cut);
	for (size_t i = 0; i < COUNT(broken); i++)
		expect_refused(broken[i], strlen(broken[i]));
	remove_all();
}

TEST(watch_state, one_at_a_time)
{
	AUTO(state) struct state first = { 0 }, second = { 0 };
	int watcher, other;

	setup();
	cr_assert_eq(state_open(&first, path, 0), 0);
	cr_expect_eq(state_open(&second, path, 30), STATUS_UNDECIDED);
	cr_expect_eq(state_look(&second, path), 0, "a look needs no lock");
	state_close(&second);
	state_close(&first);
	cr_expect_eq(state_open(&second, path, 0), 0);
	watcher = state_lock_watcher(path);
	cr_expect(watcher >= 0);
	cr_expect_eq(state_lock_watcher(path), -1);
	close(watcher);
	other = state_lock_watcher(path);
	cr_expect(other >= 0);
	close(other);
	state_close(&second);
	remove_all();
}

TEST(watch_state, images_are_sorted_and_forgotten)
{
	AUTO(state) struct state s = { .lock = -1 };
	static const char *const refs[] = { "m", "a", "z", "b", "m", "k" };

	for (size_t i = 0; i < COUNT(refs); i++)
		state_image(&s, refs[i])->used = strcmp(refs[i], "k") && strcmp(refs[i], "a");
	cr_expect_eq(s.image_count, 5);
	for (size_t i = 1; i < s.image_count; i++)
		cr_expect(strcmp(s.images[i - 1].ref, s.images[i].ref) < 0);
	state_forget_images(&s);
	cr_expect_eq(s.image_count, 3);
	cr_expect_str_eq(s.images[0].ref, "b");
}

TEST(watch_state, a_full_outbox_tells_what_it_dropped)
{
	AUTO(state) struct state s = { .lock = -1 };
	long long dropped;

	for (size_t i = 0; i < STATE_MOST_EVENTS + 100; i++)
		state_add_event(&s, (long long)i, "image.changed", "a", NULL);
	cr_expect_eq(s.event_count, STATE_MOST_EVENTS);
	cr_expect_eq(s.last_event, STATE_MOST_EVENTS + 100);
	cr_expect_str_eq(s.events[0].type, "events.dropped");
	dropped = json_integer_value(json_object_get(s.events[0].data, "count"));
	cr_expect_eq(dropped, 101, "all but %zu of %lld: %lld", s.event_count - 1, s.last_event, dropped);
	cr_expect_eq(s.events[0].number, dropped);
	cr_expect_eq(s.events[1].number, dropped + 1, "no event is missing between");
	state_forget_events(&s, s.events[10].number);
	cr_expect_eq(s.event_count, STATE_MOST_EVENTS - 11);
	state_forget_events(&s, s.last_event);
	cr_expect_eq(s.event_count, 0);
}

TEST(watch_state, long_data_of_an_event_are_not_kept)
{
	AUTO(state) struct state s = { .lock = -1 };
	AUTO(free) char *text = memory_grow(NULL, STATE_MOST_DATA + 1, 1);
	json_t *data = document_object();

	memset(text, 'x', STATE_MOST_DATA);
	text[STATE_MOST_DATA] = '\0';
	document_set_text(data, "output", text);
	state_add_event(&s, 1, "gate.rejected", "a", data);
	cr_expect_null(json_object_get(s.events[0].data, "output"));
	cr_expect_not_null(json_object_get(s.events[0].data, "reason"));
}

TEST(watch_state, lists_have_ceilings)
{
	AUTO(state) struct state s = { .lock = -1 };
	struct state_gate *g = state_gate(&s, "g");
	AUTO(free) char *first = memory_printf("%d", 0);

	for (int i = 0; i < (int)STATE_MOST_REJECTED + 5; i++) {
		AUTO(free) char *digest = memory_printf("%d", i);

		state_reject(g, i, digest, "bad");
	}
	cr_expect_eq(g->rejected_count, STATE_MOST_REJECTED);
	cr_expect_null(state_rejected(g, first));
	state_reject(g, 99, "10", "again");
	cr_expect_eq(g->rejected_count, STATE_MOST_REJECTED);
	cr_expect_eq(state_rejected(g, "10")->time, 99);
	for (int i = 0; i < (int)STATE_MOST_HOSTS + 5; i++) {
		AUTO(free) char *name = memory_printf("%d", i);

		state_hold_host(&s, name, i, "429");
	}
	cr_expect_eq(s.host_count, STATE_MOST_HOSTS);
	state_hold_host(&s, "7", 5000, "429");
	state_forget_hosts(&s, 2000);
	cr_expect_eq(s.host_count, 1);
	cr_expect_eq(state_find_host(&s, "7")->until, 5000);
}

TEST(watch_state, a_full_disk_leaves_the_file_as_it_was)
{
	AUTO(free) char *before = NULL, *after = NULL, *big = memory_grow(NULL, 2000, 1);
	AUTO(state) struct state s = { 0 };
	size_t len;

	setup();
	cr_assert_eq(state_open(&s, path, 0), 0);
	fill(&s);
	cr_assert_eq(state_save(&s), 0);
	cr_assert_eq(files_read(path, FILES_MAX_JSON, &before, &len), 0);
	memset(big, 'x', 1999);
	big[1999] = '\0';
	state_set_text(&s.images[0].reason, big);
	{
		AUTO(free) char *fresh = memory_printf("%s/.state.json.new", folder);

		cr_assert_eq(mkdir(fresh, 0700), 0, "what cannot be written");
		cr_expect_eq(state_save(&s), STATUS_INTERNAL);
		rmdir(fresh);
	}
	cr_assert_eq(files_read(path, FILES_MAX_JSON, &after, &len), 0);
	cr_expect_str_eq(before, after);
	state_close(&s);
	remove_all();
}
