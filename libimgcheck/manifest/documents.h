/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_DOCUMENTS_H
#define IC_MANIFEST_DOCUMENTS_H

/*
 * The documents of a manifest, YAML or JSON (also several JSON values behind each other), one at a time.
 * Which of the two a text is, is decided by its first character and, where that is not JSON after all, by
 * reading it as YAML.  Input is hostile; the ceilings are those of base/yaml.h and base/json.h.
 */

#include "base/yaml.h"

struct ic_docs;

/* Over text in memory; name and text are borrowed.  *out is new. */
int ic_docs_new(const char *name, const char *text, size_t len, struct ic_docs **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Over a source of bytes that is too long for memory: YAML. */
int ic_docs_new_stream(const char *name, ic_yaml_read_fn read, void *arg, struct ic_docs **out,
                       struct imgcheck_error **err) IC_MUST_CHECK;
void ic_docs_free(struct ic_docs *d);
IC_DEFINE_AUTO(docs, struct ic_docs, ic_docs_free)

/* The next document: *out is new, NULL at the end.  Errors: SYNTAX with the place, LIMIT, NOMEM; then it is at its end. */
int ic_docs_next(struct ic_docs *d, struct ic_doc **out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
