/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"
#include "memory.h"
#include "status.h"

#define MOST_OUTPUT ((size_t)1) /* nothing goes there: see exec_words() */

/* A file in memory, since a pipe may be too short for the input. */
static bool give_input(const char *text)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	return fd >= 0 && !files_write(fd, text, strlen(text)) && !lseek(fd, 0, SEEK_SET) && dup2(fd, STDIN_FILENO) >= 0;
}

static bool give_environment(const struct lines *environment)
{
	for (size_t i = 0; environment && i < environment->count; i++)
		if (putenv(environment->line[i]))
			return false;
	return true;
}

/* In the child. */
static int exec_words(void *arg)
{
	const struct command *c = arg;
	char **words = memory_grow(NULL, c->words->count + 1, sizeof(*words));
	int fault;

	memcpy(words, c->words->line, c->words->count * sizeof(*words));
	words[c->words->count] = NULL;
	if (setpgid(0, 0) || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || (c->input && !give_input(c->input)) ||
	    !give_environment(c->environment) || (c->folder && chdir(c->folder)))
		return STATUS_CANNOT_EXEC;
	execvp(words[0], words);
	fault = errno;
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", words[0], strerror(fault));
	return fault == ENOENT ? STATUS_NO_COMMAND : STATUS_CANNOT_EXEC;
}

/* What is printed usually ends with a newline, which would stand in the middle of a sentence. */
static void cut_end(char *text)
{
	size_t len = strlen(text);

	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
}

void command_run(const struct command *c, struct process_result *r)
{
	struct command copy = *c;
	const struct process p = { .main = exec_words, .arg = &copy, .most = MOST_OUTPUT, .tail = true, .stop = c->stop,
				   .until = process_clock() + (int64_t)c->seconds * 1000 };

	process_run(&p, r);
	cut_end(r->err);
}

char *command_end(const struct command *c, const struct process_result *r)
{
	switch (r->end) {
	case PROCESS_EXITED:
		return memory_printf("exit status %d", r->status);
	case PROCESS_SIGNALLED:
		return memory_printf("ended by signal %d", r->status);
	case PROCESS_LATE:
		return memory_printf("killed after %u s", c->seconds);
	case PROCESS_TOO_MUCH:
		return memory_text("killed, since it printed too much");
	case PROCESS_NOT_STARTED:
		return memory_printf("no process could be started: %s", strerror(r->status));
	}
	return memory_text("ended");
}
