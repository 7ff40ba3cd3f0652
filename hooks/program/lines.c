/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

static void push(struct lines *l, char *taken)
{
	l->line = memory_grow(l->line, l->count + 1, sizeof(*l->line));
	l->line[l->count++] = taken;
}

void lines_add(struct lines *l, const char *text)
{
	push(l, memory_text(text));
}

void lines_addf(struct lines *l, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	push(l, memory_must(text));
}

bool lines_has(const struct lines *l, const char *text)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->line[i], text))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

void lines_sort(struct lines *l)
{
	if (l->count)
		qsort(l->line, l->count, sizeof(*l->line), compare);
}

char *lines_join(const struct lines *l)
{
	size_t len = 0, at = 0;
	char *text;

	for (size_t i = 0; i < l->count; i++)
		len += strlen(l->line[i]) + 1;
	text = memory_grow(NULL, len + 1, 1);
	for (size_t i = 0; i < l->count; i++) {
		size_t piece = strlen(l->line[i]);

		memcpy(text + at, l->line[i], piece);
		at += piece;
		text[at++] = '\n';
	}
	text[at] = '\0';
	return text;
}

void lines_clear(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->line[i]);
	free(l->line);
	*l = (struct lines){ 0 };
}
