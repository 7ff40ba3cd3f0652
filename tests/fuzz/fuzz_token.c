/* SPDX-License-Identifier: Apache-2.0 */
/* A token server's answer: a token that can stand in a header line, or an error that repeats nothing of it. */
#include <string.h>

#include "fuzz.h"
#include "registry/token.h"

#define MARK "hunter2"

static void read_answer(enum ic_runtime runtime, enum ic_token_way way, const char *body, size_t len)
{
	const struct ic_token_answer answer = {ic_profile_get(runtime), way, body, len};
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	char *token;
	size_t seconds;
	int result = ic_token_read(&answer, &token, &seconds, &err);

	if (result < 0) {
		FUZZ_REQUIRE(!token && imgcheck_error_code(err) == (enum imgcheck_err)result);
		FUZZ_REQUIRE(!strstr(imgcheck_error_message(err), MARK));
		return;
	}
	for (const char *c = token; *c; c++)
		FUZZ_REQUIRE(*c > ' ' && *c <= '~');
	ic_secret_free(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int runtime = IC_RUNTIME_CONTAINERD; runtime <= IC_RUNTIME_CRIO; runtime++) {
		read_answer((enum ic_runtime)runtime, IC_TOKEN_GET, (const char *)data, size);
		read_answer((enum ic_runtime)runtime, IC_TOKEN_POST, (const char *)data, size);
	}
	return 0;
}
