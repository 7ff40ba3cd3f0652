/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_PLATFORM_H
#define IC_BASE_PLATFORM_H

/*
 * Platforms "os/architecture[/variant]" and containerd's order of what an image may be for
 * (containerd/platforms: database.go, compare.go).
 */

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct ic_platform {
	char os[32];
	char architecture[32];
	char variant[16]; /* "" where none */
};

/*
 * Parses and normalises: x86_64 is amd64, aarch64 and arm64/v8 are arm64, armhf is arm/v7, dpkg's ppc64el is
 * ppc64le ... A text without os means linux.  Errors: CONFIG.
 */
int ic_platform_parse(const char *text, struct ic_platform *out, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Normalises fields as they stand in an index or an image config, NULL where absent; what is too long
 * becomes unknown.
 */
void ic_platform_from_fields(const char *os, const char *architecture, const char *variant, struct ic_platform *out);

/* The platform of this machine. */
void ic_platform_host(struct ic_platform *out);

/* "linux/arm/v7". */
#define IC_PLATFORM_TEXT_BYTES 96
void ic_platform_text(const struct ic_platform *p, char out[IC_PLATFORM_TEXT_BYTES]);

/*
 * How well an image for `have` serves a node that wants `want`: 0 is exact, higher is worse, -1 is not
 * at all.  containerd's local pull (platforms.Only): amd64 takes 386, arm64 takes arm/v8 to v5 ...
 */
int ic_platform_rank(const struct ic_platform *want, const struct ic_platform *have);

/* Fields as they are written, NULL where absent; false where one does not fit, which is no platform then. */
bool ic_platform_from_text(const char *os, const char *architecture, const char *variant, struct ic_platform *out);

/*
 * The same as ic_platform_rank() by containers/image (internal/pkg/platform, platform_matcher.go): texts are compared,
 * arm goes down its variants, and an entry without a variant comes last.
 */
int ic_platform_rank_written(const struct ic_platform *want, const struct ic_platform *written);

#endif
