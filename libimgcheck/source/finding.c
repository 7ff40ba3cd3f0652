/* SPDX-License-Identifier: Apache-2.0 */
#include "source/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

#define MAX_TEXT_BYTES 1024

void ic_findings_init(struct ic_vec *v)
{
	ic_vec_init(v, sizeof(struct imgcheck_error *), IC_MAX_PROBLEMS);
}

void ic_findings_cut(struct ic_vec *v, size_t count)
{
	while (v->count > count)
		imgcheck_error_free(*(struct imgcheck_error **)ic_vec_at(v, --v->count));
}

void ic_findings_clear(struct ic_vec *v)
{
	ic_findings_cut(v, 0);
	ic_vec_clear(v);
}

int ic_finding_add(struct ic_vec *v, const char *place, unsigned line, struct imgcheck_error **err, const char *format, ...)
{
	struct imgcheck_error *finding = NULL;
	char text[MAX_TEXT_BYTES];
	va_list arguments;
	int result;

	if (v->count == v->max)
		return 0;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)ic_error_set_at(&finding, IMGCHECK_ERR_FINDING, place, line, 0, "%s", text);
	if (imgcheck_error_code(finding) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	result = ic_vec_push(v, &finding, err);
	if (result < 0)
		imgcheck_error_free(finding);
	return result;
}
