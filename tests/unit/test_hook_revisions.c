/* SPDX-License-Identifier: Apache-2.0 */
#include "snap/revisions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"
#include "test.h"

TEST(hook_revisions, names)
{
	static const char *const good[] = {"1", "9", "1250", "x1", "x10", "99999999999999999999"};
	static const char *const bad[] = {"",    "0",       "01", "x",  "x0", "xx1", "1a", "-1", "current", "components",
	                                  " 1", "1 ", "x1.snap", "..", "1111111111111111111111111111"};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		cr_assert(revisions_is_name(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_assert_not(revisions_is_name(bad[i]), "\"%s\"", bad[i]);
}

/* ---------------------------------------------------------------- the choice, over lists */

/*
 * Candidates as "NAME[k][@T]": k for one that is recorded, T the time of its blob.  The record, where one
 * item is in it or `record` says so, was made at time 100.
 */
static const struct {
	const char *what, *list;
	bool record;
	const char *chosen;
} choices[] = {
	{"nothing there", "", true, ""},
	{"a store refresh", "12k@50 14@200", true, "14"},
	{"an older one retained as well", "10k@30 11k@40 14@200", true, "14"},
	{"a downgrade", "14k@90 12@200", true, "12"},
	{"a local one after others", "x1k@50 x3@200", true, "x3"},
	{"local after store", "1250k@50 x1@40", true, "x1"},
	{"one candidate, recorded: back to a kept one", "11k@50", true, "11"},
	{"no record yet, one candidate", "13@70", false, "13"},
	{"no record yet: the newest blob", "11@50 14@90 12@60", false, "14"},
	{"no record yet, a local file older than the kept one", "x9@50 x10@50", false, "x9 x10"},
	{"two came, the second is newer", "14@200 15@300", true, "15"},
	{"two came, equally new", "14@200 15@200", true, "14 15"},
	{"two came, one blob cannot be seen", "14@200 15", true, "14 15"},
	{"two came, equally new, an older third", "14@200 13@150 15@200", true, "13 14 15"},
	{"several kept, none new: the blobs' ages tell nothing", "10k@30 11k@40", true, "10 11"},
	{"recorded, but downloaded again since", "11k@50 14k@200", true, "14"},
	{"recorded, its blob cannot be seen", "11k 14k", true, "11 14"},
};

static void parse_list(const char *list, bool record, struct revisions *r)
{
	AUTO(free) char *copy = memory_text(list);
	char *word, *rest = copy;

	*r = (struct revisions){.recorded = record, .record_time = {.tv_sec = 100}};
	while ((word = strsep(&rest, " "))) {
		struct revision item = {0};
		char *at = strchr(word, '@');
		size_t len = strcspn(word, "k@");

		if (!*word)
			continue;
		item.known = word[len] == 'k';
		item.has_blob = at != NULL;
		item.blob_time.tv_sec = at ? strtol(at + 1, NULL, 10) : 0;
		memcpy(item.name, word, len);
		r->item = memory_grow(r->item, r->count + 1, sizeof(item));
		r->item[r->count++] = item;
	}
}

static void assert_chosen(const struct revisions *r, size_t count, const char *expected, const char *what)
{
	size_t words = 0;

	for (size_t i = 0; i < r->count; i++) {
		AUTO(free) char *padded = memory_printf(" %s ", expected), *name = memory_printf(" %s ", r->item[i].name);

		cr_assert_eq(r->item[i].chosen, strstr(padded, name) != NULL, "%s: %s", what, r->item[i].name);
		words += r->item[i].chosen;
	}
	cr_assert_eq(count, words, "%s", what);
	cr_assert_eq(words == 0, *expected == '\0', "%s", what);
}

TEST(hook_revisions, chooses)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		struct revisions r;
		size_t count;

		parse_list(choices[i].list, choices[i].record, &r);
		count = revisions_choose(&r);
		assert_chosen(&r, count, choices[i].chosen, choices[i].what);
		revisions_clear(&r);
	}
}

/* ---------------------------------------------------------------- listings, over fake trees */

struct tree {
	char *root, *blobs, *state;
};

static void write_file(const char *dir, const char *name, const char *text)
{
	cr_assert_eq(files_replace(dir, name, 0644, text, strlen(text)), 0);
}

static void make_revision(const struct tree *t, const char *name, const char *snap_yaml)
{
	AUTO(free) char *folder = files_join(t->root, name), *meta = files_join(folder, "meta");

	cr_assert_eq(mkdir(folder, 0755), 0);
	cr_assert_eq(mkdir(meta, 0755), 0);
	if (snap_yaml)
		write_file(meta, "snap.yaml", snap_yaml);
}

static void make_tree(struct tree *t)
{
	char folder[] = "/tmp/imgcheck-test-XXXXXX";

	test_folder(folder);
	t->root = files_join(folder, "toy");
	t->blobs = files_join(folder, "blobs");
	t->state = files_join(folder, "state");
	cr_assert_eq(mkdir(t->root, 0755) | mkdir(t->blobs, 0755) | mkdir(t->state, 0755), 0);
}

static void remove_tree(struct tree *t)
{
	AUTO(free) char *command = NULL;
	char *slash = strrchr(t->root, '/');
	pid_t pid;

	*slash = '\0';
	pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", t->root, (char *)NULL);
		_exit(127);
	}
	cr_assert_gt(pid, 0);
	free(t->root);
	free(t->blobs);
	free(t->state);
}

static struct revisions_place place_of(const struct tree *t, const char *current)
{
	return (struct revisions_place){.root = t->root, .blobs = t->blobs, .name = "toy", .instance = "toy_one", .current = current,
	                                .state = t->state};
}

static const struct revision *find(const struct revisions *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->item[i].name, name))
			return &r->item[i];
	return NULL;
}

TEST(hook_revisions, lists_what_is_ours)
{
	struct tree t;
	struct revisions r;
	struct revisions_place place;

	make_tree(&t);
	place = place_of(&t, "12");
	make_revision(&t, "12", "name: toy\nversion: 1.1\n");
	make_revision(&t, "14", "summary: x\n\tversion: 9\nname:   toy   # ours\nversion: '1.28.3'\n");
	make_revision(&t, "x2", "name: \"toy\"\nversion: \"2 \x1b[31m\"\n");
	make_revision(&t, "x3", "name: \"toy\"");
	make_revision(&t, "15", "name: other\nversion: 1\n");
	make_revision(&t, "17", NULL);
	make_revision(&t, "components", "name: toy\n");
	write_file(t.blobs, "toy_one_14.snap", "");
	write_file(t.blobs, "toy_x2.snap", "");
	cr_assert(revisions_list(&place, &r));
	cr_assert_eq(r.count, 3);
	cr_assert_str_eq(r.item[0].name, "14");
	cr_assert_str_eq(r.item[0].version, "1.28.3");
	cr_assert(r.item[0].has_blob);
	cr_assert_str_eq(r.item[1].name, "x2");
	cr_assert_str_eq(r.item[1].version, "");
	cr_assert_not(r.item[1].has_blob, "blobs go by the name of the instance");
	cr_assert_str_eq(r.item[2].version, "");
	cr_assert_not(r.recorded);
	revisions_clear(&r);
	remove_tree(&t);
}

/* YAML has many ways to say it, which snapd all takes; not to see what comes in would be to let it pass. */
TEST(hook_revisions, however_the_name_is_said)
{
	static const char *const texts[] = {
		"name: toy\r\nversion: 1\r\n", "name : toy\n", "\"name\": toy\n", "  name: toy\n", "{name: toy, version: 1}\n",
		"\xef\xbb\xbfname: toy\n", "name: >-\n  toy\n", "name:\n  toy\n", "name: &n toy\n", "name: !!str toy\n",
	};
	struct tree t;
	struct revisions_place place;

	make_tree(&t);
	place = place_of(&t, "9");
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(free) char *name = memory_printf("%zu", 10 + i);

		make_revision(&t, name, texts[i]);
	}
	make_revision(&t, "30", "name: toys\n");
	{
		AUTO(free) char *long_text = memory_printf("%*s\nname: toy\n", 1 << 20, "#");

		make_revision(&t, "40", long_text);
	}
	AUTO(revisions) struct revisions r = { 0 };
	cr_assert(revisions_list(&place, &r));
	cr_assert_eq(r.count, COUNT(texts) + 1);
	cr_assert_null(find(&r, "30"));
	cr_assert_str_eq(find(&r, "40")->version, "", "one that is too long to read");
	remove_tree(&t);
}

TEST(hook_revisions, records)
{
	struct tree t;
	struct revisions r;
	struct revisions_place place;

	make_tree(&t);
	place = place_of(&t, "12");
	make_revision(&t, "11", "name: toy\n");
	make_revision(&t, "12", "name: toy\n");
	cr_assert_eq(revisions_record(&place), 0);
	make_revision(&t, "9", "name: toy\nversion: 1.0\n");
	cr_assert(revisions_list(&place, &r));
	cr_assert_eq(r.count, 2);
	cr_assert(r.recorded);
	cr_assert(find(&r, "11")->known);
	cr_assert_not(find(&r, "9")->known);
	cr_assert_eq(revisions_choose(&r), 1);
	cr_assert(find(&r, "9")->chosen);
	revisions_clear(&r);
	remove_tree(&t);
}

TEST(hook_revisions, folder_that_cannot_be_read)
{
	const struct revisions_place place = {.root = "/nonexistent/toy", .blobs = "/", .name = "toy", .instance = "toy",
	                                      .current = "1", .state = "/nonexistent"};
	struct revisions r;

	cr_assert_not(revisions_list(&place, &r));
	cr_assert_eq(revisions_choose(&r), 0);
	cr_assert_neq(revisions_record(&place), 0);
	revisions_clear(&r);
}
