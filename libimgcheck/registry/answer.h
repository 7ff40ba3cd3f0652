/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_ANSWER_H
#define IC_REGISTRY_ANSWER_H

/*
 * What an answer that is not the wanted one means: the verdict by its status or its end, and the reason in
 * the registry's own words.  Words refine the reason and never change the verdict (with one exception, told
 * at accept_is_lacking in answer.c).  Pure; the bodies are hostile.
 */

#include "registry/http.h"

/*
 * request is "HEAD https://host/v2/..." for the reason.  A 2xx is judged as one that is of no use as a
 * manifest.  reason receives one escaped line.  Errors: NOMEM, LIMIT.
 */
int ic_answer_judge(const struct ic_http_answer *answer, const char *request, enum imgcheck_verdict *verdict,
                    struct ic_buf *reason, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether the answer calls itself a web page: a portal, a login page or another server's, never a registry's. */
bool ic_answer_is_page(const struct ic_http_answer *answer);

#endif
