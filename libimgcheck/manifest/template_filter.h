/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_FILTER_H
#define IC_MANIFEST_TEMPLATE_FILTER_H

/*
 * The filters and tests of templates, one function each, in two tables.  The parser asks whether one exists, the
 * evaluation applies it.  Errors have no place and no subject, as in template_value.h.
 */

#include "manifest/template_value.h"

#define IC_FILTER_ARGUMENTS 3

bool ic_filter_exists(const char *name);
bool ic_test_exists(const char *name);

/*
 * The position of a named argument of a filter: `count` (of Jinja2's replace) is 2.  -1 where the filter has no
 * such argument that is supported.
 */
int ic_filter_argument(const char *filter, const char *argument);

/* How many arguments the filter takes at most, and needs at least. */
size_t ic_filter_most(const char *filter);
size_t ic_filter_least(const char *filter);

/* An argument as the evaluation hands it over: a value, which may be undefined, or not given at all. */
struct ic_argument {
	json_t *value; /* borrowed */
	bool given;
};

/* value|name(arguments): a new reference, NULL for undefined.  The name must exist.  Errors: UNSUPPORTED, LIMIT, NOMEM. */
int ic_filter_apply(struct ic_work *w, const char *name, json_t *value,
                    const struct ic_argument arguments[IC_FILTER_ARGUMENTS], json_t **out,
                    struct imgcheck_error **err) IC_MUST_CHECK;

/* value is name.  The name must exist. */
bool ic_test_apply(const char *name, const json_t *value);

#endif
