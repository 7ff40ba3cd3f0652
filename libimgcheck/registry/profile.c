/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include "base/limits.h"
#include "base/text.h"

#define DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"
#define DOCKER_LIST "application/vnd.docker.distribution.manifest.list.v2+json"
#define DOCKER_SCHEMA1 "application/vnd.docker.distribution.manifest.v1+json"
#define DOCKER_SCHEMA1_SIGNED "application/vnd.docker.distribution.manifest.v1+prettyjws"
#define OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define OCI_INDEX "application/vnd.oci.image.index.v1+json"

static const char *const containerd_accept[] = {
	"Accept: " DOCKER_MANIFEST ", " DOCKER_LIST ", " OCI_MANIFEST ", " OCI_INDEX ", */*",
	NULL,
};

static const char *const crio_accept[] = {
	"Accept: " OCI_MANIFEST,
	"Accept: " DOCKER_MANIFEST,
	"Accept: " DOCKER_SCHEMA1_SIGNED,
	"Accept: " DOCKER_SCHEMA1,
	"Accept: " DOCKER_LIST,
	"Accept: " OCI_INDEX,
	NULL,
};

/* containerd repeats a 429 at once, which only makes it worse: it waits here too. */
static const struct ic_profile profiles[] = {
	[IC_RUNTIME_CONTAINERD] = {
		.name = "containerd",
		.head = true,
		.accept = containerd_accept,
		.accepts_told_type = true,
		.repeats_faults = true,
		.first_wait = 1000,
		.most_wait = (ic_msec)24 * 3600 * 1000,
		.client = "containerd-client",
		.password_by_post = true,
		.post_falls_back = true,
		.empty_service = true,
		.most_manifest_bytes = IC_MAX_MANIFEST_BYTES,
		.told_types = true,
		.told_sizes = true,
		.body_type = true,
		.told_digest = true,
		.nested_indexes = true,
		.inlined_blobs = true,
		.urls_then_registry = true,
		.nameless_is_judged = true,
	},
	[IC_RUNTIME_CRIO] = {
		.name = "CRI-O",
		.ping = true,
		.accept = crio_accept,
		.every_request = "Docker-Distribution-API-Version: registry/2.0",
		.last_failure_counts = true,
		.one_endpoint = true,
		.first_wait = 2000,
		.most_wait = 60000,
		.first_challenge = true,
		.ends_at_empty_value = true,
		.empty_password = true,
		.client = "containers/image",
		.token_member_first = true,
		.most_manifest_bytes = (size_t)4 << 20,
		.most_config_bytes = (size_t)4 << 20,
		.schema1 = true,
		.every_layer = true,
		.empty_layer = "sha256:a3ed95caeb02ffe68cdd9fd84406680ae93d633cb16422d00e8a7c22955b46d4",
		.written_platforms = true,
		.prefers_zstd = true,
	},
};

const struct ic_profile *ic_profile_get(enum ic_runtime runtime)
{
	return (size_t)runtime < IC_COUNT(profiles) ? &profiles[runtime] : &profiles[IC_RUNTIME_CONTAINERD];
}
