/* SPDX-License-Identifier: Apache-2.0 */
/* References: what is parsed prints and parses to itself; what is strict is valid. */
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/ref.h"
#include "fuzz.h"

static void reparse(const struct ic_ref *ref)
{
	struct ic_ref again IC_AUTO(ref) = {0};
	struct ic_buf text IC_AUTO(buf);

	ic_buf_init(&text, 4 * IC_MAX_REF_BYTES);
	FUZZ_REQUIRE(ic_buf_printf(&text, NULL, "%s/%s%s%s%s%s", ref->registry, ref->repository, ref->tag ? ":" : "",
	                           ref->tag ? ref->tag : "", ref->digest ? "@" : "", ref->digest ? ref->digest : "") == 0);
	FUZZ_REQUIRE(ic_ref_parse(text.data, text.len, &again, NULL) == 0);
	FUZZ_REQUIRE(strcmp(again.registry, ref->registry) == 0 && strcmp(again.repository, ref->repository) == 0);
	FUZZ_REQUIRE((again.tag == NULL) == (ref->tag == NULL) && (again.digest == NULL) == (ref->digest == NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_ref ref IC_AUTO(ref) = {0};
	const char *text = (const char *)data;
	bool valid = ic_ref_is_valid(text, size);

	FUZZ_REQUIRE(valid || !ic_ref_is_strict(text, size));
	FUZZ_REQUIRE((ic_ref_parse(text, size, &ref, &err) == 0) == valid);
	if (valid)
		reparse(&ref);
	return 0;
}
