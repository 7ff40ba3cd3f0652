/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TEMPLATE_RUN_H
#define IC_MANIFEST_TEMPLATE_RUN_H

/*
 * Runs the statements of a parsed template: prints text and values, takes branches, goes through loops, sets
 * names.  Called by the template engine alone.  Keeps, for each line of the output, the line of the template
 * that it came from.
 */

#include "manifest/template_eval.h"

struct ic_output {
	struct ic_buf *text;
	struct ic_vec *lines; /* unsigned, or NULL */
	bool begun;           /* the current output line has bytes */
	bool blank;           /* so far only blanks */
};

/* Errors: UNSUPPORTED, LIMIT, NOMEM, with the place. */
int ic_run_template(struct ic_evaluation *e, const struct ic_part *root, struct ic_output *out,
                    struct imgcheck_error **err) IC_MUST_CHECK;

#endif
