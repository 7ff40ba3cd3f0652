/* SPDX-License-Identifier: Apache-2.0 */
#include "snapctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/document.h"
#include "program/memory.h"
#include "program/process.h"
#include "program/status.h"

#define LIMIT_MS 20000
#define MOST_ANSWER ((size_t)4 << 20)

bool snapctl_here(void)
{
	return getenv("SNAP") && (getenv("SNAP_COOKIE") || getenv("SNAP_CONTEXT"));
}

static int exec_snapctl(void *arg)
{
	char *const *argv = arg;

	execvp(argv[0], argv);
	perror("cannot run snapctl");
	return STATUS_NO_COMMAND;
}

static void run(char **argv, int64_t until, struct process_result *r)
{
	int64_t limit = process_clock() + LIMIT_MS;

	process_run(&(struct process){ .main = exec_snapctl, .arg = argv, .until = limit < until ? limit : until,
				       .most = MOST_ANSWER }, r);
}

/* What went wrong: new. */
static char *failure(const struct process_result *r)
{
	switch (r->end) {
	case PROCESS_EXITED:
		if (*r->err)
			return memory_printf("snapctl: %.*s", (int)strcspn(r->err, "\n"), r->err);
		return memory_printf("snapctl ended with status %d", r->status);
	case PROCESS_SIGNALLED:
		return memory_printf("snapctl was ended by signal %d", r->status);
	case PROCESS_LATE:
		return memory_text("snapctl did not answer in time");
	case PROCESS_TOO_MUCH:
		return memory_text("snapctl printed too much");
	case PROCESS_NOT_STARTED:
		return memory_printf("cannot run snapctl: %s", strerror(r->status));
	}
	return memory_text("cannot run snapctl");
}

/* snapd's syntax of one part of a key: words of a-z0-9 joined by single dashes, at least one letter. */
static bool is_key_part(const char *text, size_t len)
{
	bool letter = false, dash = true;

	for (size_t i = 0; i < len; i++) {
		bool low = text[i] >= 'a' && text[i] <= 'z';

		if (text[i] == '-' ? dash : !low && !(text[i] >= '0' && text[i] <= '9'))
			return false;
		dash = text[i] == '-';
		letter |= low;
	}
	return letter && !dash;
}

static bool is_key(const char *key)
{
	for (;;) {
		size_t len = strcspn(key, ".");

		if (!is_key_part(key, len))
			return false;
		if (!key[len])
			return true;
		key += len + 1;
	}
}

bool snapctl_get(const struct lines *keys, int64_t until, json_t **out, char **why)
{
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char **argv = memory_grow(NULL, keys->count + 4, sizeof(*argv));
	AUTO(free) char *program = memory_text("snapctl"), *verb = memory_text("get"), *document = memory_text("-d");
	size_t n = 3;

	*out = NULL;
	*why = NULL;
	argv[0] = program;
	argv[1] = verb;
	argv[2] = document;
	for (size_t i = 0; i < keys->count; i++)
		if (is_key(keys->line[i]))
			argv[n++] = keys->line[i];
	argv[n] = NULL;
	run(argv, until, &r);
	if (r.end != PROCESS_EXITED || r.status) {
		*why = failure(&r);
		return false;
	}
	*out = document_read_config(r.out, r.len, NULL);
	if (json_is_object(*out))
		return true;
	json_decref(*out);
	*out = NULL;
	*why = memory_text("snapctl printed no JSON object");
	return false;
}

bool snapctl_unset(const char *key, int64_t until, char **why)
{
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char *program = memory_text("snapctl"), *verb = memory_text("unset"), *name = memory_text(key);
	char *argv[] = { program, verb, name, NULL };

	run(argv, until, &r);
	*why = r.end == PROCESS_EXITED && !r.status ? NULL : failure(&r);
	return !*why;
}

bool snapctl_set_health(const char *state, const char *message, const char *code, int64_t limit_ms, char **why)
{
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char *program = memory_text("snapctl"), *verb = memory_text("set-health"), *word = memory_text(state);
	AUTO(free) char *text = memory_text(message), *option = code ? memory_printf("--code=%s", code) : NULL;
	char *argv[] = { program, verb, word, text, option, NULL };

	run(argv, process_clock() + limit_ms, &r);
	*why = r.end == PROCESS_EXITED && !r.status ? NULL : failure(&r);
	return !*why;
}

enum snapctl_plug snapctl_plug(const char *name, int64_t until)
{
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char *program = memory_text("snapctl"), *verb = memory_text("is-connected"), *plug = memory_text(name);
	char *argv[] = { program, verb, plug, NULL };

	run(argv, until, &r);
	if (r.end == PROCESS_EXITED && !r.status)
		return SNAPCTL_PLUG_CONNECTED;
	/* 1 is the answer no; with a text it may mean anything. */
	if (r.end != PROCESS_EXITED || r.status != 1)
		return SNAPCTL_PLUG_UNKNOWN;
	if (!*r.err)
		return SNAPCTL_PLUG_NOT_CONNECTED;
	return strstr(r.err, "no plug") ? SNAPCTL_PLUG_NOT_THERE : SNAPCTL_PLUG_UNKNOWN;
}
