/* SPDX-License-Identifier: Apache-2.0 */
/* WWW-Authenticate fields, one a line: what is chosen can be answered, and what it asks for makes a token request. */
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "fuzz.h"
#include "registry/token.h"

/* The request that the challenge leads to holds no line end, and nothing of the login but where it belongs. */
static void build_request(const struct ic_profile *profile, const struct ic_challenge *challenge)
{
	static char user[] = "u", secret[] = "hunter2";
	const struct ic_login login = {.user = user, .secret = secret};
	const char *realm = ic_challenge_get(challenge, "realm");
	struct ic_vec scopes IC_AUTO(texts);
	struct ic_buf url IC_AUTO(buf), form IC_AUTO(buf);
	struct ic_token_request request = {profile, realm, ic_challenge_get(challenge, "service"), &scopes, &login};
	bool grown;

	ic_texts_init(&scopes, IC_MAX_LIST_ITEMS);
	ic_buf_init(&url, IC_MAX_URL_BYTES);
	ic_buf_init(&form, IC_MAX_URL_BYTES);
	if (!realm || !ic_token_realm_is_usable(realm) ||
	    ic_token_add_scopes(&scopes, "a/b", ic_challenge_get(challenge, "scope"), &grown, NULL) < 0)
		return;
	for (size_t i = 1; i < scopes.count; i++)
		FUZZ_REQUIRE(strcmp(ic_texts_get(&scopes, i - 1), ic_texts_get(&scopes, i)) < 0);
	if (ic_token_build(&request, ic_token_first_way(profile, &login), &url, &form, NULL) < 0)
		return;
	FUZZ_REQUIRE(strncasecmp(url.data, "http", 4) == 0 && url.data[strcspn(url.data, "\r\n")] == '\0');
	FUZZ_REQUIRE(strlen(ic_buf_text(&form)) == strcspn(ic_buf_text(&form), " \r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ic_profile *profile = ic_profile_get(size > 0 && data[0] % 2 ? IC_RUNTIME_CRIO : IC_RUNTIME_CONTAINERD);
	const char *at = (const char *)data, *end = at + size;
	struct ic_vec fields IC_AUTO(texts);
	struct ic_vec found IC_AUTO(challenges);
	const struct ic_challenge *chosen;

	ic_texts_init(&fields, IC_MAX_HEADER_FIELDS);
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		line_end = line_end ? line_end : end;
		if (fields.count < IC_MAX_HEADER_FIELDS)
			FUZZ_REQUIRE(ic_texts_push(&fields, at, (size_t)(line_end - at), NULL) == 0);
		at = line_end + 1;
	}
	FUZZ_REQUIRE(ic_challenges_parse(profile, &fields, &found, NULL) == 0);
	FUZZ_REQUIRE(found.count <= fields.count);
	chosen = ic_challenges_choose(&found);
	FUZZ_REQUIRE(!chosen || chosen->scheme == IC_SCHEME_BEARER || chosen->scheme == IC_SCHEME_BASIC);
	if (chosen)
		build_request(profile, chosen);
	return 0;
}
