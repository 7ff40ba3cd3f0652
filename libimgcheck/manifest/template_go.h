/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_GO_H
#define IC_MANIFEST_TEMPLATE_GO_H

/*
 * Go templates (Helm charts) use the same braces as Jinja2 and mean something else.  When a tag cannot be
 * evaluated, the engine asks here whether it is one of theirs, to name the real reason.
 */

#include "manifest/template_parse.h"

/* Whether the tag at the front of text reads as one of a Go template. */
bool ic_template_looks_go(const char *text, size_t len);

/* The error that says so, at the line of the tag: UNSUPPORTED. */
int ic_template_refuse_go(const struct ic_source *source, const char *tag, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
