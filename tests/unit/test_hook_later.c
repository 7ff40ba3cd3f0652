/* SPDX-License-Identifier: Apache-2.0 */
#include "snap/later.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"
#include "program/scratch.h"
#include "test.h"

#define CALL "\"$SNAP/bin/imgcheck\" hook post-refresh"

static const struct {
	const char *what, *script;
	bool ours;
} scripts[] = {
	{"only mentions it", "#!/bin/sh\n# once: " CALL "\necho imgcheck hook post-refresh\n", false},
	{"a stub", "#!/bin/true\n", false},
	{"runs it last", "#!/bin/sh\necho hello\n" CALL "\n", true},
	{"runs it last, a comment behind", "#!/bin/sh\n" CALL " # images\n\n# the end\n", true},
	{"becomes it", "#!/bin/bash\nexec " CALL "\n", true},
	{"becomes it, all else is dead", "#!/bin/bash\nexec " CALL "\nexit 0\n", true},
	{"as snapcraft wraps it", "#!/bin/sh\nexec \"$SNAP/snap/hooks/post-refresh\" \"$@\"\n", true},
	{"as snapcraft wraps another one", "#!/bin/sh\nexec \"$SNAP/snap/hooks/other\" \"$@\"\n", false},
	{"other ways to write the path", "#!/bin/sh\nexec ${SNAP}/bin/imgcheck hook post-refresh\n", true},
	{"and one more", "#!/bin/sh\nexec \"${SNAP}\"/bin/imgcheck hook post-refresh\n", true},
	{"a quote that stays open", "#!/bin/sh\nexec \"$SNAP/bin/imgcheck hook post-refresh\n", false},
	{"found on PATH, whatever that is", "#!/bin/sh\nexec imgcheck hook post-refresh\n", false},
	{"another program of a like name", "#!/bin/sh\nexec \"$SNAP/bin/other\" hook post-refresh\n", false},
	{"a program that is not there", "#!/bin/sh\nexec \"$SNAP/bin/none\" hook post-refresh\n", false},
	{"a path that leads out", "#!/bin/sh\nexec \"$SNAP/../bin/imgcheck\" hook post-refresh\n", false},
	{"another hook", "#!/bin/sh\n\"$SNAP/bin/imgcheck\" hook install\n", false},
	{"with an option", "#!/bin/sh\n" CALL " --target /x\n", false},
	{"its status goes on", "#!/bin/sh\n" CALL " || exit 1\necho done\n", true},
	{"its status goes on as it is", "#!/bin/sh\n" CALL " || exit $?\necho done\n", true},
	{"its status is lost", "#!/bin/sh\n" CALL "\necho done\n", false},
	{"its status is thrown away", "#!/bin/sh\nset -e\n" CALL " || true\n", false},
	{"its status is turned round", "#!/bin/sh\n" CALL " || exit 0\n", false},
	{"set -e", "#!/bin/sh\nset -eu\n" CALL "\necho done\n", true},
	{"set -e in the first line", "#!/bin/sh -e\n" CALL "\necho done\n", true},
	{"set -e taken back", "#!/bin/sh\nset -e\nset +e\n" CALL "\necho done\n", false},
	{"set -u alone", "#!/bin/sh\nset -u\n" CALL "\necho done\n", false},
	{"behind a block", "#!/bin/sh\nif true; then\n\techo a\nfi\nfor i in 1 2; do echo $i; done\n" CALL "\n", true},
	{"behind a function", "#!/bin/sh\nhello() {\n\techo ${1}\n}\nhello x\n" CALL "\n", true},
	{"in a block", "#!/bin/sh\nif false; then\n" CALL "\nfi\n", false},
	{"in a block, behind another", "#!/bin/sh\nif false; then\n\tif true; then\n\t\t:\n\tfi\n" CALL "\nfi\n", false},
	{"in a function", "#!/bin/sh\nnever() {\n" CALL "\n}\n", false},
	{"in a loop", "#!/bin/sh\nwhile false\ndo\n" CALL "\ndone\n", false},
	{"in a sub-shell", "#!/bin/sh\nx=$(\n" CALL "\n)\n", false},
	{"in a document", "#!/bin/sh\ncat <<X\n" CALL "\nX\n", false},
	{"an argument of what stands before", "#!/bin/sh\necho \\\n" CALL "\n", false},
	{"if something else is so", "#!/bin/sh\n[ -e x ] &&\n" CALL "\n", false},
	{"if something else is not so", "#!/bin/sh\ntrue ||\n" CALL "\n", false},
	{"behind the end", "#!/bin/sh\nexit 0\n" CALL "\n", false},
	{"behind what may be the end", "#!/bin/sh\n[ -e x ] || exit\n" CALL "\n", false},
	{"behind an end that fails too", "#!/bin/sh\n[ -e x ] || exit 1\n" CALL "\n", true},
	{"behind another program", "#!/bin/sh\nexec sleep 1\n" CALL "\n", false},
	{"with its streams elsewhere", "#!/bin/sh\nexec 2>&1\n" CALL "\n", true},
	{"no shell", "#!/usr/bin/python3\n" CALL "\n", false},
	{"no script", CALL "\n", false},
	{"empty", "", false},
	{"one line without an end", "#!/bin/sh", false},
};

static void write_script(const char *dir, const char *text, mode_t mode)
{
	AUTO(free) char *hooks = files_join(dir, "meta/hooks");

	cr_assert_eq(files_replace(hooks, "post-refresh", mode, text, strlen(text)), 0);
}

static void link_program(const char *dir, const char *name, const char *program)
{
	AUTO(free) char *path = files_join(dir, name);

	unlink(path);
	cr_assert_eq(symlink(program, path), 0);
}

/* A revision with this program, as which the test itself passes, in two places, and with another one. */
static void make_folder(struct scratch *s, char *self, size_t size)
{
	static const char *const folders[] = {"bin", "meta", "meta/hooks", "snap", "snap/hooks"};
	ssize_t len;

	cr_assert_eq(scratch_make(s), 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		AUTO(free) char *path = files_join(s->dir, folders[i]);

		cr_assert_eq(mkdir(path, 0755), 0);
	}
	len = readlink("/proc/self/exe", self, size - 1);
	cr_assert_gt(len, 0);
	self[len] = '\0';
	link_program(s->dir, "bin/imgcheck", self);
	link_program(s->dir, "snap/hooks/post-refresh", self);
	link_program(s->dir, "snap/hooks/other", "/bin/true");
	link_program(s->dir, "bin/other", "/bin/true");
}

TEST(hook_later, scripts)
{
	struct scratch s;
	char self[4096];

	make_folder(&s, self, sizeof(self));
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		write_script(s.dir, scripts[i].script, 0755);
		cr_assert_eq(later_is_ours(s.dir), scripts[i].ours, "%s", scripts[i].what);
	}
	write_script(s.dir, "#!/bin/sh\nexec " CALL "\n", 0644);
	cr_assert_not(later_is_ours(s.dir), "nobody can run it");
	scratch_remove(&s);
}

TEST(hook_later, programs)
{
	struct scratch s;
	char self[4096];

	make_folder(&s, self, sizeof(self));
	cr_assert_not(later_is_ours(s.dir), "there is none");
	link_program(s.dir, "meta/hooks/post-refresh", self);
	cr_assert(later_is_ours(s.dir));
	link_program(s.dir, "meta/hooks/post-refresh", "/bin/true");
	cr_assert_not(later_is_ours(s.dir));
	link_program(s.dir, "meta/hooks/post-refresh", "nowhere");
	cr_assert_not(later_is_ours(s.dir));
	scratch_remove(&s);
}
