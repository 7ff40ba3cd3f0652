/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <jansson.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "status.h"

static int exit_status = STATUS_INTERNAL;

void memory_exit_status(int status)
{
	exit_status = status;
}

void *memory_must(void *p)
{
	static const char text[] = "imgcheck: cannot go on: no memory\n";

	if (p)
		return p;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(exit_status); /* nobody to tell */
	_exit(exit_status);
}

void memory_must_not_lack(const struct imgcheck_error *e)
{
	if (imgcheck_error_code(e) == IMGCHECK_ERR_NOMEM)
		memory_must(NULL);
}

void *memory_grow(void *p, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count ? count : 1, size, &bytes))
		bytes = SIZE_MAX; /* which realloc refuses */
	return memory_must(realloc(p, bytes));
}

char *memory_text(const char *text)
{
	return text ? memory_must(strdup(text)) : NULL;
}

char *memory_text_cut(const char *text, size_t len)
{
	char *copy = memory_grow(NULL, len + 1, 1);

	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *memory_printf(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return memory_must(text);
}

void memory_forget(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

char *memory_replace(char *p, size_t used, size_t room)
{
	char *fresh = memory_grow(NULL, room, 1);

	if (used)
		memcpy(fresh, p, used);
	memory_forget(p);
	return fresh;
}

static void *grow_json(size_t size)
{
	return memory_grow(NULL, size, 1);
}

void memory_init_json(void)
{
	json_set_alloc_funcs(grow_json, memory_forget);
}
