/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define MESSAGE_BYTES 1024

struct imgcheck_error {
	enum imgcheck_err code;
	unsigned line, column;
	char *message;
	char *place; /* NULL where unknown */
};

static char nomem_message[] = "cannot allocate memory";
static struct imgcheck_error nomem_error = {IMGCHECK_ERR_NOMEM, 0, 0, nomem_message, NULL};

/* The text as one printable line: new, NULL without memory. */
static char *escaped(const char *text)
{
	struct ic_buf out IC_AUTO(buf);

	ic_buf_init(&out, 2 * MESSAGE_BYTES);
	if (ic_text_escape(&out, text, strlen(text), MESSAGE_BYTES, NULL) < 0)
		return NULL;
	return ic_buf_take(&out);
}

__attribute__((format(printf, 6, 0)))
static int store(struct imgcheck_error **err, enum imgcheck_err code, const char *place, unsigned line, unsigned column,
                 const char *format, va_list arguments)
{
	char text[MESSAGE_BYTES];
	struct imgcheck_error *e;

	if (!err || *err)
		return code;
	(void)vsnprintf(text, sizeof(text), format, arguments);
	e = calloc(1, sizeof(*e));
	if (!e)
		return ic_error_nomem(err);
	e->code = code;
	e->line = line;
	e->column = column;
	e->message = escaped(text);
	e->place = place ? escaped(place) : NULL;
	if (!e->message || (place && !e->place)) {
		imgcheck_error_free(e);
		return ic_error_nomem(err);
	}
	*err = e;
	return code;
}

int ic_error_set(struct imgcheck_error **err, enum imgcheck_err code, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = store(err, code, NULL, 0, 0, format, arguments);
	va_end(arguments);
	return result;
}

int ic_error_set_at(struct imgcheck_error **err, enum imgcheck_err code, const char *place, unsigned line,
                    unsigned column, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = store(err, code, place, line, column, format, arguments);
	va_end(arguments);
	return result;
}

int ic_error_errno(struct imgcheck_error **err, const char *place, const char *what)
{
	if (errno == ENOMEM)
		return ic_error_nomem(err);
	return ic_error_set_at(err, IMGCHECK_ERR_IO, place, 0, 0, "%s: %s", what, strerror(errno));
}

int ic_error_nomem(struct imgcheck_error **err)
{
	if (err && !*err)
		*err = &nomem_error;
	return IMGCHECK_ERR_NOMEM;
}

void ic_error_prefix(struct imgcheck_error **err, const char *format, ...)
{
	char text[MESSAGE_BYTES];
	struct ic_buf joined IC_AUTO(buf);
	char *before IC_AUTO(free) = NULL;
	va_list arguments;

	ic_buf_init(&joined, 4 * MESSAGE_BYTES);
	if (!err || !*err || *err == &nomem_error)
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	before = escaped(text);
	if (!before || ic_buf_add_text(&joined, before, NULL) < 0 || ic_buf_add_text(&joined, (*err)->message, NULL) < 0)
		return;
	free((*err)->message);
	(*err)->message = ic_buf_take(&joined);
}

void ic_error_place(struct imgcheck_error **err, const char *place, unsigned line, unsigned column)
{
	if (!err || !*err || *err == &nomem_error || (*err)->place)
		return;
	(*err)->place = escaped(place);
	(*err)->line = line;
	(*err)->column = column;
}

enum imgcheck_err imgcheck_error_code(const struct imgcheck_error *e)
{
	return e ? e->code : IMGCHECK_OK;
}

const char *imgcheck_error_message(const struct imgcheck_error *e)
{
	return e ? e->message : "";
}

const char *imgcheck_error_place(const struct imgcheck_error *e, unsigned *line, unsigned *column)
{
	if (line)
		*line = e ? e->line : 0;
	if (column)
		*column = e ? e->column : 0;
	return e ? e->place : NULL;
}

void imgcheck_error_free(struct imgcheck_error *e)
{
	if (!e || e == &nomem_error)
		return;
	free(e->message);
	free(e->place);
	free(e);
}
