/* SPDX-License-Identifier: Apache-2.0 */
#include "login_helper.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "program/memory.h"
#include "program/process.h"
#include "program/status.h"

#define LIMIT_MS 15000
#define MOST_BYTES 65536

/* What a helper says that knows no login; the words are part of the protocol. */
#define NOT_FOUND "credentials not found in native keychain"

struct helper {
	char *program;
	const char *server;
};

/*
 * In the child: the server's name becomes its standard input.  It leads a group of its own, so that what it starts
 * itself can be ended with it.
 */
static int exec_helper(void *arg)
{
	const struct helper *h = arg;
	size_t len = strlen(h->server);
	int ends[2];

	if (setpgid(0, 0) || pipe(ends) || write(ends[1], h->server, len) != (ssize_t)len || dup2(ends[0], STDIN_FILENO) < 0)
		return STATUS_INTERNAL;
	close(ends[0]);
	close(ends[1]);
	execlp(h->program, h->program, "get", (char *)NULL);
	return errno == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_EXEC;
}

/* A name alone, so that a file of logins cannot name any program. */
static bool is_name(const char *helper)
{
	if (!*helper || *helper == '-' || *helper == '.')
		return false;
	for (; *helper; helper++)
		if (!isalnum((unsigned char)*helper) && !strchr("._-", *helper))
			return false;
	return true;
}

/* In any case, as docker's own client takes it. */
static char *text_member(json_t *answer, const char *member)
{
	const char *text = json_string_value(json_object_get(answer, member)), *key;
	json_t *value;

	json_object_foreach(answer, key, value)
		if (!text && !strcasecmp(key, member))
			text = json_string_value(value);
	return text ? memory_text(text) : NULL;
}

static int fail(struct imgcheck_login *out, char *problem)
{
	out->problem = problem;
	return -1;
}

static int read_answer(const struct process_result *r, struct imgcheck_login *out)
{
	AUTO(json) json_t *answer = json_loadb(r->out, r->len, 0, NULL);

	out->user = text_member(answer, "Username");
	out->secret = text_member(answer, "Secret");
	if (out->user && out->secret)
		return 0;
	return fail(out, memory_text("its answer is not an object with Username and Secret"));
}

static bool says_not_found(const struct process_result *r)
{
	const char *text = r->out;
	size_t len = r->len;

	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return len == strlen(NOT_FOUND) && !memcmp(text, NOT_FOUND, len);
}

static int judge(const struct process_result *r, int64_t limit, struct imgcheck_login *out)
{
	switch (r->end) {
	case PROCESS_EXITED:
		break;
	case PROCESS_LATE:
		return fail(out, memory_printf("it did not answer in %g s", (double)limit / 1000));
	case PROCESS_TOO_MUCH:
		return fail(out, memory_text("it printed too much"));
	case PROCESS_SIGNALLED:
		return fail(out, memory_printf("it ended by signal %d", r->status));
	case PROCESS_NOT_STARTED:
		return fail(out, memory_printf("no process could be started: %s", strerror(r->status)));
	}
	if (r->status == 0)
		return read_answer(r, out);
	if (says_not_found(r))
		return 0;
	if (r->status == STATUS_NO_COMMAND)
		return fail(out, memory_text("there is no such program"));
	return fail(out, memory_printf("it ended with exit status %d", r->status));
}

int login_helper_ask(void *arg, const char *helper, const char *server, struct imgcheck_login *out)
{
	const int64_t limit = arg ? *(const int64_t *)arg : LIMIT_MS;
	AUTO(free) char *program = memory_printf("docker-credential-%s", helper);
	struct helper h = { program, server };
	struct process p = { .main = exec_helper, .arg = &h, .until = process_clock() + limit, .most = MOST_BYTES };
	AUTO(process_result) struct process_result r = { 0 };

	if (!is_name(helper) || strlen(server) > 4096)
		return fail(out, memory_text("it is not the name of a helper"));
	process_run(&p, &r);
	return judge(&r, limit, out);
}
