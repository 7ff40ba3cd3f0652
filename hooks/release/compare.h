/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RELEASE_COMPARE_H
#define HOOKS_RELEASE_COMPARE_H

/*
 * Two sets of needs compared: what only one of them has, with the tags of one repository put beside each
 * other.  Images are the same by what a runtime understands: busybox is docker.io/library/busybox:latest.
 * Pure; the needs stay the caller's and must live as long.
 */

#include "release/needs.h"

enum change_kind {
	CHANGE_ADDED,    /* one image in `to`; its repository was not needed before */
	CHANGE_REMOVED,  /* one image in `from`; its repository is needed no more */
	CHANGE_CHANGED,  /* the same repository under other tags: what only the one and only the other has */
	CHANGE_REPINNED  /* the same tag with another digest: one image in each */
};
#define CHANGE_KINDS 4

/* An image that one side has and the other has not, on some architecture. */
struct side_image {
	const struct need *need;
	char *name;       /* registry/repository, or the text where it is no reference: the key by which tags are put together */
	const char *mark; /* what stands behind the name in the text: ":v1", "@sha256:...", both, or "" */
	uint32_t archs;
	bool newer;       /* of the new side */
	bool listed;      /* of a list: it is for whatever architectures need it */
};

struct change {
	enum change_kind kind;
	uint32_t archs;
	const struct side_image **from, **to;
	size_t from_count, to_count;
};

struct comparison {
	struct side_image *images; /* by name, then mark */
	size_t image_count;
	struct change *changes; /* by kind, then by name */
	size_t count;
	size_t kept; /* images that both sides have */
};

void compare_needs(struct comparison *c, const struct needs *before, const struct needs *after);

/* The number of changes of a kind. */
size_t compare_count(const struct comparison *c, enum change_kind kind);

/* The name as the newest of the images is written, and its mark without ':' or '@' in front: new. */
char *compare_name(const struct change *change);
char *compare_mark(const struct side_image *image);

/* Whether two needs are the same image, whatever the texts: by name and mark. */
bool compare_same(const struct need *a, const struct need *b);

void compare_clear(struct comparison *c);

static inline void auto_comparison(struct comparison *c)
{
	compare_clear(c);
}

#endif
