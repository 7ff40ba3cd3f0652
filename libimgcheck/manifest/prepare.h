/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_PREPARE_H
#define IC_MANIFEST_PREPARE_H

/*
 * The bytes of a file made into the text that is parsed: UTF-16 becomes UTF-8, and a template is rendered.
 * Input is hostile; what comes out is bounded by IC_MAX_FILE_BYTES, or IC_MAX_TEMPLATE_BYTES where rendered.
 */

#include <jansson.h>

#include "base/buf.h"

struct ic_prepared {
	const char *text; /* within the input or `owned` */
	size_t len;
	struct ic_buf owned;
	struct ic_vec lines; /* unsigned: the line of the template for each line of text; empty where that is the same */
	bool rendered;       /* text is what the input rendered to */
	bool marked;         /* text still holds template marks */
	struct imgcheck_error *refusal; /* why it was not rendered although there were values: a Go template, else NULL */
};

void ic_prepared_clear(struct ic_prepared *p);

static inline void ic_auto_prepared(struct ic_prepared *p)
{
	ic_prepared_clear(p);
}

/*
 * Fills out, which may borrow from data and is cleared with ic_prepared_clear() in any case.  values is an
 * object, or NULL: nothing is rendered.  A Go template is left as it is, with the refusal: its text can be
 * YAML all the same, such as a Prometheus rule.  Errors: those of ic_template_render(), SYNTAX for UTF-16.
 */
int ic_prepare(const char *name, const char *data, size_t len, const json_t *values, struct ic_prepared *out,
               struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * The error to tell of a text with template marks that could not be parsed unrendered: what a template needs
 * that was meant as one.  *why, the parser's error, is taken.  Always an error.
 */
int ic_prepare_explain(const struct ic_prepared *p, const char *name, struct imgcheck_error **why, struct imgcheck_error **err);

#endif
