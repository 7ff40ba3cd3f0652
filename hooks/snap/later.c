/* SPDX-License-Identifier: Apache-2.0 */
#include "later.h"

#include <string.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"

#define HOOK "post-refresh"
#define MOST_PROGRAM ((size_t)64 << 20)

/* No other program has these bytes.  They stay the same as long as its post-refresh hook judges what is left to it. */
static const unsigned char mark[16] = {
	0x44, 0x41, 0x4f, 0x30, 0x67, 0xf4, 0xc6, 0x53, 0x63, 0xc9, 0x2e, 0xe5, 0xaa, 0x8d, 0xda, 0x56,
};

/* ---------------------------------------------------------------- programs */

/* The content of a file that can be run: new, or NULL. */
static char *read_program(const char *path, size_t *len)
{
	char *data;

	return access(path, X_OK) || files_read(path, MOST_PROGRAM, &data, len) ? NULL : data;
}

static bool is_this_program(const char *data, size_t len)
{
	return len > sizeof(mark) && !memcmp(data, "\177ELF", 4) && memmem(data, len, mark, sizeof(mark));
}

static bool is_path_of_ours(const char *folder, const char *below)
{
	AUTO(free) char *path = files_join(folder, below);
	size_t len;
	AUTO(free) char *data = read_program(path, &len);

	return data && is_this_program(data, len);
}

/* ---------------------------------------------------------------- scripts */

/* Takes a word off the start of the line, if it is the one that stands there. */
static bool take_word(const char **line, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*line, word, len) || ((*line)[len] && !strchr(" \t;", (*line)[len])))
		return false;
	*line += len;
	*line += strspn(*line, " \t");
	return true;
}

static bool starts_with(const char *line, const char *word)
{
	return take_word(&line, word);
}

/* Takes a path below $SNAP, quoted or not: new, without what stands for $SNAP; NULL where there is none. */
static char *take_path(const char **line)
{
	static const char *const starts[] = { "\"$SNAP/", "\"${SNAP}/", "\"$SNAP\"/", "\"${SNAP}\"/", "$SNAP/", "${SNAP}/" };

	for (size_t i = 0; i < COUNT(starts); i++) {
		size_t start = strlen(starts[i]), len;
		bool open = i < 2; /* the quote, up to the end of the path */
		char *path;

		if (strncmp(*line, starts[i], start))
			continue;
		len = strspn(*line + start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/");
		if (open && (*line)[start + len] != '"')
			return NULL;
		path = memory_text_cut(*line + start, len);
		*line += start + len + open;
		*line += strspn(*line, " \t");
		return path;
	}
	return NULL;
}

/* Whether the line runs this program as the hook, with no more behind it than *rest. */
static bool is_call(const char *folder, const char *line, const char **rest)
{
	AUTO(free) char *path = take_path(&line);
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path || strstr(path, "..") || !is_path_of_ours(folder, path))
		return false;
	if (!strcmp(slash ? slash + 1 : path, HOOK))
		(void)take_word(&line, "\"$@\"");
	else if (!take_word(&line, "hook") || !take_word(&line, HOOK))
		return false;
	*rest = *line == '#' ? "" : line;
	return true;
}

/* Where a script stands. */
struct place {
	unsigned depth; /* of blocks */
	bool stops;     /* set -e: a command that fails ends it */
};

static bool ends_with(const char *line, const char *word)
{
	size_t len = strlen(line), n = strlen(word);

	return len >= n && !strcmp(line + len - n, word);
}

/* Blocks, as far as they can be told by the start and the end of lines. */
static void follow_blocks(struct place *p, const char *line)
{
	static const char *const openers[] = { "if", "case", "while", "until", "for" };
	static const char *const closers[] = { "fi", "esac", "done", "}", ")" };
	bool closed = false;

	line += strspn(line, " \t");
	for (size_t i = 0; i < COUNT(openers); i++)
		p->depth += starts_with(line, openers[i]);
	p->depth += ends_with(line, "{") || ends_with(line, "(");
	for (size_t i = 0; i < COUNT(closers); i++)
		closed |= starts_with(line, closers[i]);
	closed |= ends_with(line, "; fi") || ends_with(line, "; esac") || ends_with(line, "; done");
	p->depth -= closed && p->depth;
}

/* set -e and set +e; the first line may have it too. */
static void follow_set(struct place *p, const char *flags)
{
	if ((*flags == '-' || *flags == '+') && flags[strcspn(flags, "e \t")] == 'e')
		p->stops = *flags == '-';
}

/* Whether a line may end the script and say that all is well. */
static bool may_exit(const char *line)
{
	const char *found = line;

	for (; (found = strstr(found, "exit")); found += strlen("exit")) {
		const char *status = found + strlen("exit");

		status += strspn(status, " ");
		if ((found == line || !strchr("abcdefghijklmnopqrstuvwxyz_", found[-1])) && !(*status >= '1' && *status <= '9'))
			return true;
	}
	return false;
}

/* Whether a line becomes another program, and does not just put a file in the place of a stream. */
static bool is_exec(const char *line)
{
	return take_word(&line, "exec") && !strchr("<>", line[strspn(line, "0123456789")]);
}

/* Whether the next line is part of this one, or its data. */
static bool goes_on(const char *line)
{
	return strstr(line, "<<") || ends_with(line, "\\") || ends_with(line, "|") || ends_with(line, "&&");
}

/* Whether nothing comes any more but comments. */
static bool is_end(const char *text)
{
	while (text && text[strspn(text, " \t\n")] == '#')
		text = strchr(text + strspn(text, " \t\n"), '\n');
	return !text || !text[strspn(text, " \t\n")];
}

/* Whether a call with `rest` on its line and `after` behind it gives its status to the script. */
static bool passes_status(const struct place *p, bool exec, const char *rest, const char *after)
{
	if (!*rest)
		return exec || p->stops || is_end(after);
	return take_word(&rest, "||") && take_word(&rest, "exit") && (!*rest || !strcmp(rest, "1") || !strcmp(rest, "$?"));
}

/* The first line of a shell script: "#!/bin/sh -e". */
static bool is_shell(const char *line, struct place *p)
{
	const char *options = strstr(line, " -");
	AUTO(free) char *program = memory_text_cut(line, options ? (size_t)(options - line) : strlen(line));

	if (options)
		follow_set(p, options + 1);
	return !strncmp(line, "#!", 2) && ends_with(program, "sh");
}

static bool script_calls_ours(const char *folder, char *text)
{
	struct place place = { 0 };
	char *after = text, *line = strsep(&after, "\n");

	if (!is_shell(line, &place))
		return false;
	while ((line = strsep(&after, "\n"))) {
		const char *at = line, *rest;
		bool exec = take_word(&at, "exec");

		if (*line == '#')
			continue;
		if (!place.depth && is_call(folder, at, &rest))
			return passes_status(&place, exec, rest, after);
		if (goes_on(line) || may_exit(line) || is_exec(line))
			return false;
		if (take_word(&at, "set"))
			follow_set(&place, at);
		follow_blocks(&place, line);
	}
	return false;
}

bool later_is_ours(const char *folder)
{
	AUTO(free) char *path = files_join(folder, "meta/hooks/" HOOK);
	size_t len;
	AUTO(free) char *data = read_program(path, &len);

	return data && (is_this_program(data, len) || script_calls_ours(folder, data));
}
