/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_UPSTREAM_H
#define IC_MANIFEST_UPSTREAM_H

/*
 * Where images of a template come from upstream: the same template rendered without the value `registry`,
 * and the image that stands at the same place of the same document.  Input is hostile; what is kept is
 * bounded by the template's size and IC_MAX_ORIGINS.
 */

#include <jansson.h>

#include "base/buf.h"

struct ic_sources {
	struct ic_vec items; /* struct source, sorted by document and path */
};

void ic_sources_init(struct ic_sources *sources);
void ic_sources_clear(struct ic_sources *sources);

static inline void ic_auto_sources(struct ic_sources *sources)
{
	ic_sources_clear(sources);
}

/*
 * Fills sources from a template and the values that it was rendered with; without `registry` among them, and
 * where the template cannot be rendered without it, there is nothing.  Errors: NOMEM, LIMIT.
 */
int ic_sources_read(struct ic_sources *sources, const char *name, const char *data, size_t len, const json_t *values,
                    struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * What the image `text` is at this place without the registry: borrowed, NULL where not known.  Only an image
 * of the same name and tag is taken for it.  sources may be NULL.
 */
const char *ic_sources_find(const struct ic_sources *sources, size_t document, const char *path, const char *text, size_t len);

#endif
