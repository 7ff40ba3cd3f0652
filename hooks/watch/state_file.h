/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_STATE_FILE_H
#define HOOKS_WATCH_STATE_FILE_H

/*
 * The state as JSON.  Which members a record has in the file is a table each, so that a new one is a line.  Used by
 * state.c alone.  What is read may be broken: wrong types, texts beyond their ceiling and lists beyond theirs are
 * errors that name the member.
 */

#include "state.h"

/* The document: new. */
json_t *state_file_write(const struct state *s);

/* Fills the state, which is empty but for its path.  NULL, or what is wrong with it: new. */
char *state_file_read(struct state *s, const json_t *document);

/* Frees the records of the state. */
void state_file_clear(struct state *s);

#endif
