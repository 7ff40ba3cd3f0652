/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

void ic_result_clear(struct ic_result *r)
{
	free(r->reason);
	free(r->reference);
	free(r->host);
	free(r->digest);
	free(r->platform);
	free(r->credentials);
	free(r->proxy);
	*r = (struct ic_result){.verdict = IMGCHECK_VERDICT_DEADLINE};
}
