/* SPDX-License-Identifier: Apache-2.0 */
/* Auth files: what is read can be looked up under all rules, and no error repeats what stands in a file. */
#include <string.h>

#include "base/limits.h"
#include "fuzz.h"
#include "source/keyring.h"

#define MARK "hunter2"

static void look_up(const struct ic_vec *files, const char *repository)
{
	static const enum ic_auth_rules rules[] = {IC_AUTH_KUBELET, IC_AUTH_CONTAINERS};
	const struct ic_authfile *file = ic_vec_at(files, 0);
	struct ic_vec found IC_AUTO(vec);
	struct ic_auth_match next;
	size_t at = 0;

	ic_vec_init(&found, sizeof(struct ic_auth_match), 2 * IC_MAX_LIST_ITEMS);
	FUZZ_REQUIRE(ic_keyring_find(files, repository, &found, NULL) == 0);
	FUZZ_REQUIRE(found.count <= 2 * file->entries.count);
	for (size_t m = 0; m < found.count; m++) {
		const struct ic_auth_match *match = ic_vec_at(&found, m);

		FUZZ_REQUIRE(match->file == file && match->entry->key);
		(void)ic_keyring_use(IC_AUTH_KUBELET, match->entry);
	}
	if (ic_keyring_next(files, repository, &at, &next)) {
		FUZZ_REQUIRE(next.file == file && at == 1 && !next.entry != !next.helper);
		if (next.entry)
			(void)ic_keyring_use(IC_AUTH_CONTAINERS, next.entry);
	}
	for (size_t i = 0; i < IC_COUNT(rules); i++)
		(void)ic_keyring_helper(rules[i], file, repository);
	(void)ic_keyring_near_miss(file, repository);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const repositories[] = {"docker.io/library/busybox", "r.example.com:5000/team/app", "[::1]:5000/x"};
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_authfile f IC_AUTO(authfile) = {0};
	struct ic_vec files IC_AUTO(vec);
	int result = ic_authfile_parse("given", (const char *)data, size, &f, &err);

	ic_vec_init(&files, sizeof(f), 1);
	if (result < 0) {
		FUZZ_REQUIRE(imgcheck_error_code(err) == (enum imgcheck_err)result);
		/* Keys are told, and may hold anything. */
		FUZZ_REQUIRE(strstr(imgcheck_error_message(err), "the entry") || !strstr(imgcheck_error_message(err), MARK));
		return 0;
	}
	FUZZ_REQUIRE(ic_vec_push(&files, &f, NULL) == 0);
	for (size_t i = 0; i < IC_COUNT(repositories); i++)
		look_up(&files, repositories[i]);
	return 0;
}
