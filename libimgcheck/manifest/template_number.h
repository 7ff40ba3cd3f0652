/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_NUMBER_H
#define IC_MANIFEST_TEMPLATE_NUMBER_H

/*
 * Numbers as Python computes, compares, reads and prints them, within 64-bit integers and finite floating-point
 * numbers.  Called by the template parser and evaluation.  What would leave that range is an error, never a
 * rounded value.  Errors of this module have no place: the caller knows it.
 */

#include <jansson.h>

#include "base/buf.h"
#include "manifest/template_tree.h"

/* Tokens of the lexer as values: new.  Errors: UNSUPPORTED beyond the range; NOMEM. */
int ic_number_integer_literal(const char *text, size_t len, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_number_float_literal(const char *text, size_t len, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether the value counts as a number in Python: integer, float or Boolean. */
bool ic_number_is(const json_t *value);

/* Appends str(number); a Boolean is True or False. */
int ic_number_add_text(const json_t *number, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Below 0, 0 or above 0 as a < b, a == b, a > b; exact between integers and floats. */
int ic_number_compare(const json_t *a, const json_t *b);

/* a op b for the arithmetic operators: new.  Errors: UNSUPPORTED (division by zero, out of range), NOMEM. */
int ic_number_compute(enum ic_operator op, const json_t *a, const json_t *b, json_t **out,
                      struct imgcheck_error **err) IC_MUST_CHECK;

/* -number: new. */
int ic_number_negate(const json_t *number, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The filters int and float over a number or text: new, or NULL where Python raises ValueError.  Errors: UNSUPPORTED, NOMEM. */
int ic_number_to_integer(const json_t *value, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_number_to_float(const json_t *value, json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* An integer or Boolean as a number. */
json_int_t ic_number_integer(const json_t *number);

#endif
