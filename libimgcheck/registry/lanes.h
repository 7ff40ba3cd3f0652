/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_LANES_H
#define IC_REGISTRY_LANES_H

/*
 * Which image of a run is begun next.  Not all are begun at once, since each takes some KiB until it is decided;
 * so many that every host is kept busy.  Each registry has a lane of its own and they take turns: one that hangs
 * holds up none but its own images.  Within a lane the images of one repository come after one another, so that
 * what is known of it can be forgotten once they are decided.
 *
 * Used by run.c.  Pure.
 */

#include "base/buf.h"
#include "base/ref.h"

struct ic_lanes {
	size_t *order;     /* images, those of a lane together */
	size_t *lane_of;   /* of each image */
	struct ic_vec all; /* struct lane */
	size_t turn;       /* the lane that is looked at first */
	size_t begun;      /* images that are begun and not decided */
};

/* refs: of each image; one whose registry is NULL is in a lane of those.  Borrowed until this returns.  Errors: NOMEM. */
int ic_lanes_init(struct ic_lanes *l, const struct ic_ref *const *refs, size_t count, struct imgcheck_error **err) IC_MUST_CHECK;
void ic_lanes_clear(struct ic_lanes *l); /* of zeros too */

/* The image to begin now; it counts as begun.  False: none, until others are decided. */
bool ic_lanes_next(struct ic_lanes *l, size_t *image);

/* A begun image is decided. */
void ic_lanes_decided(struct ic_lanes *l, size_t image);

/* Whether the image that is begun after this one may be of the same repository, which is therefore still of use. */
bool ic_lanes_is_latest(const struct ic_lanes *l, size_t image);

#endif
