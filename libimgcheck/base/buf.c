/* SPDX-License-Identifier: Apache-2.0 */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAPACITY 64 /* bytes of a buffer, and of an array unless a single item takes more */
#define PRINTED_BYTES 119 /* room for a formatted text, so that most are formatted once */

void ic_buf_init(struct ic_buf *b, size_t max)
{
	*b = (struct ic_buf){.max = max};
}

void ic_buf_init_secret(struct ic_buf *b, size_t max)
{
	*b = (struct ic_buf){.max = max, .secret = true};
}

static void release(struct ic_buf *b)
{
	if (b->secret && b->data)
		explicit_bzero(b->data, b->capacity);
	free(b->data);
}

static void restart(struct ic_buf *b)
{
	*b = (struct ic_buf){.max = b->max, .secret = b->secret};
}

void ic_buf_clear(struct ic_buf *b)
{
	release(b);
	restart(b);
}

/* More memory for the same bytes.  What realloc() moves it leaves where it was. */
static char *enlarge(struct ic_buf *b, size_t capacity)
{
	char *data;

	if (!b->secret)
		return realloc(b->data, capacity);
	data = malloc(capacity);
	if (data && b->data) {
		memcpy(data, b->data, b->len + 1);
		release(b);
	}
	return data;
}

/* Makes room for `more` bytes and a NUL. */
static int reserve(struct ic_buf *b, size_t more, struct imgcheck_error **err)
{
	size_t wanted;
	char *data;

	if (more > b->max || b->len > b->max - more)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot hold more than %zu bytes here", b->max);
	if (b->data && b->capacity - b->len > more)
		return 0;
	wanted = b->len + more + 1;
	if (wanted < 2 * b->capacity)
		wanted = 2 * b->capacity;
	if (wanted < FIRST_CAPACITY)
		wanted = FIRST_CAPACITY;
	if (wanted - 1 > b->max)
		wanted = b->max + 1; /* doubling must not outgrow the ceiling either */
	data = enlarge(b, wanted);
	if (!data)
		return ic_error_nomem(err);
	b->data = data;
	b->capacity = wanted;
	return 0;
}

int ic_buf_reserve(struct ic_buf *b, size_t len, struct imgcheck_error **err)
{
	return len > b->len ? reserve(b, len - b->len, err) : 0;
}

int ic_buf_add(struct ic_buf *b, const void *data, size_t len, struct imgcheck_error **err)
{
	int result = reserve(b, len, err);

	if (result < 0)
		return result;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int ic_buf_add_text(struct ic_buf *b, const char *text, struct imgcheck_error **err)
{
	return ic_buf_add(b, text, strlen(text), err);
}

int ic_buf_add_char(struct ic_buf *b, char c, struct imgcheck_error **err)
{
	return ic_buf_add(b, &c, 1, err);
}

/* How many bytes, with a NUL, can be written behind the text as it is. */
static size_t spare(const struct ic_buf *b)
{
	size_t end = b->capacity <= b->max ? b->capacity : b->max + 1;

	return end > b->len ? end - b->len : 0;
}

int ic_buf_printf(struct ic_buf *b, struct imgcheck_error **err, const char *format, ...)
{
	int result = b->data ? 0 : reserve(b, b->max < PRINTED_BYTES ? b->max : PRINTED_BYTES, err);
	size_t room = spare(b);
	va_list arguments;
	int len;

	if (result < 0)
		return result;
	va_start(arguments, format);
	len = vsnprintf(b->data + b->len, room, format, arguments);
	va_end(arguments);
	if (len >= 0 && (size_t)len < room) {
		b->len += (size_t)len;
		return 0;
	}
	if (room > 0)
		b->data[b->len] = '\0';
	result = len < 0 ? ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot format a text") : reserve(b, (size_t)len, err);
	if (result < 0)
		return result;
	va_start(arguments, format);
	(void)vsnprintf(b->data + b->len, (size_t)len + 1, format, arguments);
	va_end(arguments);
	b->len += (size_t)len;
	return 0;
}

const char *ic_buf_text(const struct ic_buf *b)
{
	return b->data ? b->data : "";
}

char *ic_buf_take(struct ic_buf *b)
{
	char *data = b->data ? b->data : calloc(1, 1);

	restart(b);
	return data;
}

void ic_vec_init(struct ic_vec *v, size_t item_size, size_t max)
{
	*v = (struct ic_vec){.item_size = item_size, .max = max};
}

void ic_vec_clear(struct ic_vec *v)
{
	free(v->items);
	ic_vec_init(v, v->item_size, v->max);
}

static int vec_grow(struct ic_vec *v, struct imgcheck_error **err)
{
	size_t first = FIRST_CAPACITY / v->item_size;
	size_t wanted = v->capacity ? 2 * v->capacity : first ? first : 1;
	void *items;

	if (v->count >= v->max)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot hold more than %zu entries here", v->max);
	items = reallocarray(v->items, wanted, v->item_size);
	if (!items)
		return ic_error_nomem(err);
	v->items = items;
	v->capacity = wanted;
	return 0;
}

int ic_vec_push(struct ic_vec *v, const void *item, struct imgcheck_error **err)
{
	if (v->count == v->capacity || v->count >= v->max) {
		int result = vec_grow(v, err);

		if (result < 0)
			return result;
	}
	memcpy((char *)v->items + v->count * v->item_size, item, v->item_size);
	v->count++;
	return 0;
}

void *ic_vec_at(const struct ic_vec *v, size_t i)
{
	return (char *)v->items + i * v->item_size;
}

void ic_texts_init(struct ic_vec *v, size_t max)
{
	ic_vec_init(v, sizeof(char *), max);
}

int ic_texts_push(struct ic_vec *v, const char *text, size_t len, struct imgcheck_error **err)
{
	char *copy = calloc(1, len + 1);
	int result;

	if (!copy)
		return ic_error_nomem(err);
	if (len)
		memcpy(copy, text, len);
	result = ic_vec_push(v, &copy, err);
	if (result < 0)
		free(copy);
	return result;
}

const char *ic_texts_get(const struct ic_vec *v, size_t i)
{
	return i < v->count ? *(char **)ic_vec_at(v, i) : NULL;
}

void ic_texts_clear(struct ic_vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(*(char **)ic_vec_at(v, i));
	ic_vec_clear(v);
}
