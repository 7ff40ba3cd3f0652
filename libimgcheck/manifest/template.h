/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_H
#define IC_MANIFEST_TEMPLATE_H

/*
 * Templates: a strict subset of Jinja2 that prints the same bytes as Jinja2 does.  Called by the readers of
 * this station before they parse a file, and by the target description for its conditions.
 *
 * Whatever is outside the subset is an error that names file, line and construct; nothing is guessed.
 * Template text is hostile: its size and its output (IC_MAX_TEMPLATE_BYTES), nesting (IC_MAX_EXPR_DEPTH) and
 * the work of one rendering (IC_MAX_TEMPLATE_PARTS, _STEPS, _WORK) are bounded.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Renders text into out, whose ceiling holds as well.  values is an object (borrowed) with the names that the
 * template may use, or NULL for none.  lines, where not NULL, is a vector of unsigned: its i-th item is the
 * line of the template that the i-th line of the output came from.  out and lines are emptied on entry and
 * on failure.
 * Errors: SYNTAX (not a template), UNSUPPORTED (outside the subset, or an operation that fails in Jinja2 too),
 * LIMIT, NOMEM; all with name and line.
 */
int ic_template_render(const char *name, const char *text, size_t len, const json_t *values, struct ic_buf *out,
                       struct ic_vec *lines, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Whether the text holds template marks: "{{", "{%", or "{#" with a "#}" somewhere behind it ("${#list[@]}" of
 * a shell script alone makes no template).
 */
bool ic_template_has_marks(const char *text, size_t len);

/* The truth of one expression under values; name and line say where it stands.  Errors: as for rendering. */
int ic_expression_test(const char *name, unsigned line, const char *text, size_t len, const json_t *values, bool *out,
                       struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Adds to keys (ic_texts_init) each constant key that the expression looks up in the name object, once:
 * object['key'], object.key and object.get('key').  Errors: as for rendering; UNSUPPORTED where the object is
 * used in any other way, or any other name at all, so that nothing that decides can be overlooked or undefined
 * by a slip of the pen.
 */
int ic_expression_keys(const char *name, unsigned line, const char *text, size_t len, const char *object,
                       struct ic_vec *keys, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
