/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_RULES_H
#define IC_MANIFEST_RULES_H

/*
 * The rules by which images are found in a document: which key, in which company, means an image, and what
 * never counts.  They stand in one table in rules.c, with a small function for each.  Documents are hostile;
 * a walk is as large as base/node.h lets a tree be, and documents inside of values add their own size.
 */

#include "base/node.h"
#include "images.h"
#include "form.h"

/* One find; all of it is borrowed for the call. */
struct ic_found {
	enum ic_form form; /* IC_FORM_REFERENCE or IC_FORM_UNRESOLVED */
	const char *text;
	size_t len;
	const char *note;    /* worth telling about it, or NULL */
	unsigned column;
	struct ic_place place; /* its file is NULL */
};

struct ic_sink {
	int (*found)(void *arg, const struct ic_found *found, struct imgcheck_error **err);
	void *arg;
	size_t *aliased; /* nodes reached through aliases in all documents that were given to it, or NULL: not bounded */
};

/* Gives all images of a document to the sink, whose errors end the walk.  Errors: NOMEM, LIMIT, those of the sink. */
int ic_rules_apply(const struct ic_doc *doc, const struct ic_sink *sink, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
