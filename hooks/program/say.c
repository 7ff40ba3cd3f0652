/* SPDX-License-Identifier: Apache-2.0 */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

#include "memory.h"
#include "status.h"

void say(const char *format, ...)
{
	va_list args;

	fputs("imgcheck: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int say_usage(const char *command, const char *format, ...)
{
	va_list args;

	fputs("imgcheck: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see imgcheck %s%s--help)\n", command, *command ? " " : "");
	return STATUS_USAGE;
}

void say_printable(char *text, bool newlines)
{
	for (; *text; text++)
		if ((*text < ' ' || *text > '~') && !(newlines && *text == '\n'))
			*text = '?';
}

char *say_text(const struct imgcheck_error *e)
{
	unsigned line = 0, column = 0;
	const char *place = imgcheck_error_place(e, &line, &column), *message = imgcheck_error_message(e);

	if (!e)
		return memory_text("internal error without a message");
	if (!place)
		return memory_text(message);
	if (!line)
		return memory_printf("%s: %s", place, message);
	if (!column)
		return memory_printf("%s:%u: %s", place, line, message);
	return memory_printf("%s:%u:%u: %s", place, line, column, message);
}

int say_status(enum imgcheck_err code)
{
	switch (code) {
	case IMGCHECK_OK:
	case IMGCHECK_ERR_FINDING:
		return STATUS_OK;
	case IMGCHECK_ERR_CONFIG:
	case IMGCHECK_ERR_ARGUMENT:
		return STATUS_USAGE;
	case IMGCHECK_ERR_IO:
	case IMGCHECK_ERR_SYNTAX:
	case IMGCHECK_ERR_UNSUPPORTED:
	case IMGCHECK_ERR_LIMIT:
	case IMGCHECK_ERR_UNRESOLVED:
		return STATUS_UNREADABLE;
	case IMGCHECK_ERR_CONFLICT:
		return STATUS_DIFFERENT;
	case IMGCHECK_ERR_REGISTRY:
		return STATUS_UNDECIDED;
	case IMGCHECK_ERR_NOMEM:
	case IMGCHECK_ERR_INTERNAL:
		return STATUS_INTERNAL;
	}
	return STATUS_INTERNAL;
}

int say_error(const struct imgcheck_error *e)
{
	AUTO(free) char *text = say_text(e);

	say("%s", text);
	return e ? say_status(imgcheck_error_code(e)) : STATUS_INTERNAL;
}

int say_refused(const struct imgcheck_error *e)
{
	int status = say_error(e);

	return status == STATUS_INTERNAL ? status : STATUS_USAGE;
}
