/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_PARSE_H
#define IC_MANIFEST_TEMPLATE_PARSE_H

/*
 * Builds the tree of a template or of one expression.  Called by the template engine alone.  What is no template
 * and what is outside the subset is an error here already, also in a branch that would not be taken.
 */

#include "manifest/template_tree.h"

struct ic_source {
	const char *name; /* for errors; may be NULL */
	unsigned line;    /* of the first byte */
	const char *text; /* line ends are \n; the tree borrows it */
	size_t len;
};

/*
 * A template: *root is a body.  *tag is the tag that could not be parsed, NULL where that is not known.
 * Errors: SYNTAX, UNSUPPORTED, LIMIT, NOMEM, with the place.
 */
int ic_parse_template(const struct ic_source *source, struct ic_tree *tree, struct ic_part **root, const char **tag,
                      struct imgcheck_error **err) IC_MUST_CHECK;

/* One expression and nothing behind it. */
int ic_parse_expression(const struct ic_source *source, struct ic_tree *tree, struct ic_part **root,
                        struct imgcheck_error **err) IC_MUST_CHECK;

#endif
