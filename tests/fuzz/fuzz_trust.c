/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates: what is kept of a file reads again to itself. */
#include <string.h>

#include "base/limits.h"
#include "fuzz.h"
#include "source/trust.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_buf once IC_AUTO(buf), twice IC_AUTO(buf);
	int result;

	ic_buf_init(&once, IC_MAX_TRUST_BYTES);
	ic_buf_init(&twice, IC_MAX_TRUST_BYTES);
	result = ic_trust_add_pem("given", (const char *)data, size, NULL, &once, &err);
	FUZZ_REQUIRE(result == 0 || result == IMGCHECK_ERR_SYNTAX);
	if (result < 0)
		return 0;
	FUZZ_REQUIRE(ic_trust_add_pem("again", once.data, once.len, NULL, &twice, NULL) == 0);
	FUZZ_REQUIRE(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
	return 0;
}
