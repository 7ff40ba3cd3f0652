/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_VALUE_H
#define IC_MANIFEST_TEMPLATE_VALUE_H

/*
 * Values of a template with the meaning that Python gives them: truth, text, equality, order, lookup, operators.
 * A value is a json_t; NULL is undefined.  Called by the evaluation and its filters.  Values are hostile, and
 * small ones can stand for huge ones (a list that holds another twice, thirty times over): what an operation
 * handles is taken off a budget (IC_MAX_TEMPLATE_WORK).
 *
 * Errors of this module have no place and no subject ("it divides by zero"): the evaluation knows both.
 */

#include <jansson.h>

#include "base/buf.h"
#include "manifest/template_tree.h"

/* What one rendering may still do. */
struct ic_work {
	size_t steps; /* parts to evaluate */
	size_t bytes; /* text and items to handle */
};

void ic_work_init(struct ic_work *w);

/* Errors: LIMIT. */
int ic_work_step(struct ic_work *w, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_work_spend(struct ic_work *w, size_t bytes, struct imgcheck_error **err) IC_MUST_CHECK;

/* "a text", "a list", "undefined": for messages. */
const char *ic_value_kind(const json_t *value);

/* A new text value.  Errors: NOMEM. */
int ic_value_new_text(const char *text, size_t len, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* bool(value) */
bool ic_value_truth(const json_t *value);

/* Appends str(value); undefined is empty.  Errors: UNSUPPORTED, LIMIT, NOMEM. */
int ic_value_add_text(struct ic_work *w, const json_t *value, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* a op b for the comparisons.  Errors: UNSUPPORTED where Python has no order, LIMIT. */
int ic_value_compare(struct ic_work *w, enum ic_operator op, const json_t *a, const json_t *b, bool *out,
                     struct imgcheck_error **err) IC_MUST_CHECK;

/* a op b for the operators that make a new value.  Errors: UNSUPPORTED, LIMIT, NOMEM. */
int ic_value_compute(struct ic_work *w, enum ic_operator op, const json_t *a, const json_t *b, json_t **out,
                     struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * base[key] and base.key: a new reference, or NULL where it is undefined.  Errors: UNSUPPORTED, where Python would
 * find a method of its own, and for lookups in undefined.
 */
int ic_value_item(const json_t *base, const json_t *key, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_value_attribute(const json_t *base, const char *key, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * The items that iterating over the value gives, as a list: a new reference.  Undefined has none.
 * Errors: UNSUPPORTED, LIMIT, NOMEM.
 */
int ic_value_items(struct ic_work *w, const json_t *value, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether a value made by a template is nested too deep to walk it.  Errors: LIMIT. */
int ic_value_check_depth(struct ic_work *w, const json_t *value, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
