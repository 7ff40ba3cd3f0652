/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <string.h>

#include "commands.h"
#include "program/memory.h"
#include "snap/hook.h"
#include "program/options.h"
#include "program/say.h"
#include "program/status.h"

enum { TAKE_TARGET, TAKE_BLOBS, TAKE_ENVIRONMENT };

static const struct flag hook_flags[] = {
	{ "target", "DIR", "the new revision, instead of looking for it", TAKE_TARGET },
	{ "blobs", "DIR", "where snapd keeps .snap files (/var/lib/snapd/snaps)", TAKE_BLOBS },
	{ "environment", "FILE", "where proxies may be set (/etc/environment)", TAKE_ENVIRONMENT },
	{ 0 },
};

static int hook_take(void *arg, int id, const char *value)
{
	struct hook *h = arg;

	switch (id) {
	case TAKE_TARGET:
		h->target = value;
		break;
	case TAKE_BLOBS:
		h->blobs = value;
		break;
	case TAKE_ENVIRONMENT:
		h->environment = value;
		break;
	}
	return 0;
}

/* Runs one hook, with what its command line says: snapd gives none. */
static int run(const char *name, int (*main)(const struct hook *h), char *const *argv)
{
	AUTO(hook) struct hook h = { 0 };
	AUTO(lines) struct lines operands = { 0 };
	const struct flag_group groups[] = { { hook_flags, hook_take, &h } };
	const struct command_line line = {
		.command = "hook", .usage = "pre-refresh|post-refresh|install|configure [OPTION]...",
		.about = "Runs a hook of a snap: pre-refresh, post-refresh, install or configure.  Called by one of "
			 "these names, the program is that hook.  snapd gives no options: they are for a rehearsal.",
		.notes = "Exit status: 0 lets snapd go on, 1 is a veto.  See imgcheck-hook(8).",
		.groups = groups, .group_count = COUNT(groups) };
	int status;

	/* Until the settings are known their defaults hold, by which an internal error lets a refresh pass. */
	memory_exit_status(main ? STATUS_OK : STATUS_INTERNAL);
	status = options_read(&line, argv, &operands, NULL);
	if (status != STATUS_GO)
		return status;
	if (!main)
		return say_usage("hook", "which hook?");
	if (operands.count)
		return say_usage("hook", "%s takes no operand", name);
	/* Who reads our output may go away, and files may be limited: no signal may end us, which snapd takes for a veto. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	status = hook_init(&h);
	return status ? status : main(&h);
}

static int pre_refresh(char *const *argv)
{
	return run("pre-refresh", hook_pre_refresh, argv);
}

static int post_refresh(char *const *argv)
{
	return run("post-refresh", hook_post_refresh, argv);
}

static int install(char *const *argv)
{
	return run("install", hook_record, argv);
}

static int configure(char *const *argv)
{
	return run("configure", hook_configure, argv);
}

int (*cmd_find_hook(const char *name))(char *const *argv)
{
	static const struct {
		const char *name;
		int (*main)(char *const *argv);
	} hooks[] = {
		{ "pre-refresh", pre_refresh },
		{ "post-refresh", post_refresh },
		{ "install", install },
		{ "configure", configure },
	};

	for (size_t i = 0; i < COUNT(hooks); i++)
		if (!strcmp(name, hooks[i].name))
			return hooks[i].main;
	return NULL;
}

int cmd_hook(char *const *argv)
{
	int (*main)(char *const *argv) = *argv ? cmd_find_hook(*argv) : NULL;

	if (main)
		return main(argv + 1);
	if (*argv && **argv == '-')
		return run("", NULL, argv); /* --help */
	return say_usage("hook", *argv ? "there is no hook %s" : "which hook?%s", *argv ? *argv : "");
}
