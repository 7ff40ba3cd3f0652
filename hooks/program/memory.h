/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_MEMORY_H
#define HOOKS_MEMORY_H

/*
 * Memory for the programs, which can do nothing useful without the few KiB they need: these functions
 * end the process when there is none.  The status they end with is the caller's to choose, since for a
 * hook it is the operator's policy (memory_exit_status).
 */

#include <stddef.h>

#include "auto.h"

/* The status to end with, STATUS_INTERNAL until set. */
void memory_exit_status(int status);

/* p, or the end of the process where it is NULL: for constructors of other libraries. */
void *memory_must(void *p);

/* The end of the process where the error says that there is no memory: then nothing is known of what was refused. */
void memory_must_not_lack(const struct imgcheck_error *e);

/* An array of count items of `size` bytes: p made larger, new where p is NULL. */
void *memory_grow(void *p, size_t count, size_t size);

char *memory_text(const char *text);                      /* a copy: new; NULL for NULL */
char *memory_text_cut(const char *text, size_t len);      /* a copy of len bytes, NUL-terminated: new */
char *memory_printf(const char *format, ...) PRINTF(1, 2); /* new */

/* Overwrites all of a block that may hold a secret, then frees it.  Takes NULL. */
void memory_forget(void *p);

static inline void auto_secret(char **text)
{
	memory_forget(*text);
}

/* A block of `room` bytes with the first `used` of p, which is forgotten: growth that leaves no copy behind. */
char *memory_replace(char *p, size_t used, size_t room);

/*
 * From now on all values and texts of jansson are forgotten as they are freed: snap configurations hold logins.  And its
 * memory too is had or the process ends: where it gets none, jansson can lose bytes of a text and write beyond a block.
 */
void memory_init_json(void);

#endif
