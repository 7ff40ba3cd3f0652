/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_DOCUMENT_H
#define HOOKS_DOCUMENT_H

/* JSON documents as the programs build them: as jansson, but without memory the process ends (memory.h). */

#include "auto.h"

json_t *document_object(void); /* new */
json_t *document_array(void);  /* new */

/* value is taken. */
void document_set(json_t *object, const char *name, json_t *value);
void document_add(json_t *array, json_t *value);

/* A text, or null for NULL.  Bytes that are not UTF-8 become "?". */
void document_set_text(json_t *object, const char *name, const char *text);
void document_add_text(json_t *array, const char *text);
void document_set_number(json_t *object, const char *name, long long number);

/*
 * A snap's configuration, as snapctl prints it: new, or NULL with *where, which may be NULL.  A number that jansson would
 * change, as it would make 1.1000000000000001 of 1.10, becomes a text: it is by its text that a configuration counts.
 */
json_t *document_read_config(const char *text, size_t len, json_error_t *where);

/* The document's text, in ASCII, indented and with a newline at the end: new. */
char *document_render(const json_t *document);

#endif
