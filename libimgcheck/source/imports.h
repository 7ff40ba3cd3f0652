/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_IMPORTS_H
#define IC_SOURCE_IMPORTS_H

/*
 * containerd's config.toml with the files that it imports, in the order in which containerd loads them: a file, then those of
 * its `imports`, then those of these.  How their tables are put together is decided in cri_registry.h.
 */

#include "base/node.h"

struct ic_import {
	char *place; /* as it was named */
	char *real;  /* its real name, or NULL */
	struct ic_doc *doc; /* its root is a mapping */
};

/*
 * Fills *files (struct ic_import), initialized here and cleared with ic_imports_clear(), whatever the result.  Errors: IO,
 * SYNTAX or CONFIG with file and line for what containerd would not start with, or reads differently by its version; LIMIT, NOMEM.
 */
int ic_imports_read(const char *path, struct ic_vec *files, struct imgcheck_error **err) IC_MUST_CHECK;

/* The same for a text that stands for a file: it must import nothing. */
int ic_imports_parse(const char *place, const char *text, size_t len, struct ic_vec *files,
                     struct imgcheck_error **err) IC_MUST_CHECK;
void ic_imports_clear(struct ic_vec *files);

static inline void ic_auto_imports(struct ic_vec *files)
{
	ic_imports_clear(files);
}

#endif
