/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_EVAL_H
#define IC_MANIFEST_TEMPLATE_EVAL_H

/*
 * Evaluates expressions of the tree: names in their scopes, lookups, filters, operators.  Called by the engine
 * that runs the statements, and for conditions.  The work of one evaluation is bounded (template_value.h).
 */

#include "manifest/template_value.h"

/* Names that a template has set, of one loop body or of the whole. */
struct ic_scope {
	json_t *names;                /* an object; new */
	const json_t *sets;           /* the names that its statements set, sooner or later; borrowed */
	const struct ic_loop *loop;   /* of the loop whose body this is, or NULL */
	const struct ic_scope *outer; /* NULL for the whole template */
};

struct ic_loop {
	size_t index0, length;
	unsigned depth; /* loops around this one */
};

struct ic_evaluation {
	const char *name;     /* of the template, for errors */
	const json_t *values; /* what the template may use, or NULL; borrowed */
	json_t *undefined;    /* stands in a scope for a name that was set to undefined */
	const char *tag;      /* the tag that is being evaluated, for messages */
	struct ic_work work;
};

/* Errors: NOMEM. */
int ic_evaluation_init(struct ic_evaluation *e, const char *name, const json_t *values,
                       struct imgcheck_error **err) IC_MUST_CHECK;
void ic_evaluation_clear(struct ic_evaluation *e);

static inline void ic_auto_evaluation(struct ic_evaluation *e)
{
	ic_evaluation_clear(e);
}

/* The scope of a body, which is that of the template, of a loop or of its else.  Errors: NOMEM. */
int ic_scope_init(struct ic_scope *s, const struct ic_part *body, const struct ic_loop *loop, const struct ic_scope *outer,
                  struct imgcheck_error **err) IC_MUST_CHECK;
void ic_scope_clear(struct ic_scope *s);

static inline void ic_auto_scope(struct ic_scope *s)
{
	ic_scope_clear(s);
}

/* Sets a name; value is borrowed and may be NULL, undefined.  Errors: NOMEM. */
int ic_scope_set(struct ic_evaluation *e, struct ic_scope *s, const char *name, json_t *value,
                 struct imgcheck_error **err) IC_MUST_CHECK;

/* The value of an expression: a new reference, NULL for undefined.  Errors: UNSUPPORTED, LIMIT, NOMEM, with the place. */
int ic_evaluate(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                struct imgcheck_error **err) IC_MUST_CHECK;

/* What a loop goes through: a list, new.  pairs: x.items(), as a list of lists of two. */
int ic_evaluate_items(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, bool pairs,
                      json_t **out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Gives an error without place and subject both, from the part that it is about; returns result. */
int ic_evaluation_blame(const struct ic_evaluation *e, const struct ic_part *part, int result, struct imgcheck_error **err);

#endif
