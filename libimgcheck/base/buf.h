/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_BUF_H
#define IC_BASE_BUF_H

/*
 * A growing byte buffer with a ceiling, and a growing array with a ceiling.  Nothing else in the
 * library grows.  Both live in the caller's storage: init, use, clear.
 */

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct ic_buf {
	char *data; /* NUL-terminated beyond len; NULL while nothing was added */
	size_t len;
	size_t capacity;
	size_t max; /* ceiling for len */
	bool secret; /* memory is overwritten before it is given back */
};

/* Neither allocates.  One for secrets leaves no copy of them behind, not in growing either. */
void ic_buf_init(struct ic_buf *b, size_t max);
void ic_buf_init_secret(struct ic_buf *b, size_t max);
void ic_buf_clear(struct ic_buf *b); /* frees; usable again as it was initialized */

static inline void ic_auto_buf(struct ic_buf *b)
{
	ic_buf_clear(b);
}

/* Makes room for len bytes in all, so that adding up to there does not allocate.  Errors: NOMEM, LIMIT. */
int ic_buf_reserve(struct ic_buf *b, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;

/* Errors: NOMEM, or LIMIT beyond the ceiling; the buffer then keeps what it had. */
int ic_buf_add(struct ic_buf *b, const void *data, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_buf_add_text(struct ic_buf *b, const char *text, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_buf_add_char(struct ic_buf *b, char c, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_buf_printf(struct ic_buf *b, struct imgcheck_error **err, const char *format, ...) IC_MUST_CHECK IC_PRINTF(3, 4);

/* The text so far, never NULL: borrowed until the next change. */
const char *ic_buf_text(const struct ic_buf *b);

/* Hands the bytes over: new, NUL-terminated; "" where nothing was added, NULL without memory. */
char *ic_buf_take(struct ic_buf *b);

struct ic_vec {
	void *items;
	size_t count;
	size_t capacity;
	size_t item_size;
	size_t max; /* ceiling for count */
};

void ic_vec_init(struct ic_vec *v, size_t item_size, size_t max);
void ic_vec_clear(struct ic_vec *v); /* frees the array, not what its items own */

static inline void ic_auto_vec(struct ic_vec *v)
{
	ic_vec_clear(v);
}

/* Copies item_size bytes in at the end.  Errors: NOMEM, LIMIT. */
int ic_vec_push(struct ic_vec *v, const void *item, struct imgcheck_error **err) IC_MUST_CHECK;

/* The i-th item; the index must be in range.  Valid until the next push. */
void *ic_vec_at(const struct ic_vec *v, size_t i);

/* An array of texts (item_size == sizeof(char *)): pushes a copy; clears the texts and the array. */
void ic_texts_init(struct ic_vec *v, size_t max);
int ic_texts_push(struct ic_vec *v, const char *text, size_t len, struct imgcheck_error **err) IC_MUST_CHECK;
const char *ic_texts_get(const struct ic_vec *v, size_t i); /* NULL past the end */
void ic_texts_clear(struct ic_vec *v);

static inline void ic_auto_texts(struct ic_vec *v)
{
	ic_texts_clear(v);
}

#endif
