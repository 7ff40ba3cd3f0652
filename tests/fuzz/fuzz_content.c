/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of manifests, indexes and configs; the first byte chooses. */
#include <string.h>

#include "base/digest.h"
#include "fuzz.h"
#include "registry/content.h"

static void check_descriptor(const struct ic_descriptor *d)
{
	char digest[IC_DIGEST_TEXT_BYTES];

	FUZZ_REQUIRE(d->media_type);
	FUZZ_REQUIRE(d->fault || ic_digest_is_valid(d->digest, strlen(d->digest), NULL));
	if (d->data) /* as large as is told: the sanitizer sees a read behind it */
		FUZZ_REQUIRE(ic_digest_compute(IC_DIGEST_SHA256, d->data, d->size, digest, NULL) == 0);
}

static void check_choice(const struct ic_content *index)
{
	static const char *const platforms[] = {"linux/amd64", "linux/arm/v7", "windows/amd64", "linux/arm64"};

	for (size_t i = 0; i < IC_COUNT(platforms); i++) {
		struct ic_platform want;
		size_t entry;

		FUZZ_REQUIRE(ic_platform_parse(platforms[i], &want, NULL) == 0);
		if (ic_content_choose(index, &want, &entry))
			FUZZ_REQUIRE(entry < index->entries.count);
	}
}

static void read_content(const struct ic_profile *profile, enum ic_content_kind kind, const char *body, size_t len)
{
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_content c;
	int result = ic_content_parse(profile, kind, body, len, &c, &err);

	if (result < 0) {
		FUZZ_REQUIRE(imgcheck_error_code(err) == (enum imgcheck_err)result);
		return;
	}
	FUZZ_REQUIRE(c.layers <= c.entries.count);
	for (size_t i = 0; i < c.entries.count; i++)
		check_descriptor(ic_vec_at(&c.entries, i));
	if (kind == IC_CONTENT_INDEX)
		check_choice(&c);
	ic_content_clear(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *body = (const char *)data + 1;
	const struct ic_profile *profile;
	struct ic_image_config config;

	if (size == 0)
		return 0;
	profile = ic_profile_get(data[0] & 1 ? IC_RUNTIME_CRIO : IC_RUNTIME_CONTAINERD);
	switch (data[0] >> 1 & 3) {
	case 0:
		read_content(profile, IC_CONTENT_MANIFEST, body, size - 1);
		break;
	case 1:
		read_content(profile, IC_CONTENT_INDEX, body, size - 1);
		break;
	case 2:
		read_content(profile, IC_CONTENT_SCHEMA1, body, size - 1);
		break;
	default:
		if (ic_image_config_parse(body, size - 1, &config, NULL) == 0)
			FUZZ_REQUIRE(config.diff_ids < size);
	}
	return 0;
}
