/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_YAML_H
#define IC_BASE_YAML_H

/*
 * YAML streams, one document after the other: text of any length is read with the memory of its largest
 * document.  libyaml is named in yaml.c alone.  Input is hostile; scalars are bounded by
 * IC_MAX_SCALAR_BYTES, nesting by IC_MAX_DEPTH, aliases by IC_MAX_ALIAS_NODES, a tree by IC_MAX_DOC_BYTES.
 *
 * Text is UTF-8 (UTF-16 with a byte order mark is for the caller to convert, base/unicode.h).  A byte
 * order mark at the start of a line is skipped, as kubectl does.  A byte that is no text ends the stream
 * with an error at its line and column, and the document that holds it does not count.
 */

#include "node.h"

struct ic_yaml;

/* Fills out with up to size bytes; *got is 0 at the end. */
typedef int (*ic_yaml_read_fn)(void *arg, char *out, size_t size, size_t *got, struct imgcheck_error **err);

/* A reader over a source of bytes; name (borrowed) is the place of errors.  *out is new. */
int ic_yaml_new(const char *name, ic_yaml_read_fn read, void *arg, struct ic_yaml **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The same over text in memory, borrowed. */
int ic_yaml_new_text(const char *name, const char *text, size_t len, struct ic_yaml **out,
                     struct imgcheck_error **err) IC_MUST_CHECK;
void ic_yaml_free(struct ic_yaml *y);
IC_DEFINE_AUTO(yaml, struct ic_yaml, ic_yaml_free)

/*
 * The next document: *out is new, or NULL at the end.  After an error the stream is at its end.
 * Errors: SYNTAX with line and column, LIMIT, NOMEM, and those of the source.
 */
int ic_yaml_next(struct ic_yaml *y, struct ic_doc **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Text that must hold exactly one document, as configuration files do.  *out is new; its root may be NULL. */
int ic_yaml_parse(const char *name, const char *text, size_t len, struct ic_doc **out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
