/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_IMAGES_H
#define IC_MANIFEST_IMAGES_H

/*
 * The set of images that a run checks (imgcheck_images): unique references with every place that names
 * them, and the problems met on the way.  Filled by the readers of this station, read by the later ones.
 */

#include "base/buf.h"
#include "base/ref.h"

struct ic_origin {
	char *file, *object, *path, *pull_policy, *pull_secrets, *node_arch, *namespace_; /* NULL where not known */
	unsigned line;                                                                    /* 0 where not known */
	enum imgcheck_class class;
};

struct imgcheck_image {
	char *text;            /* as written; the key of the set */
	char *source;          /* what it is with no `registry` value, or NULL */
	struct ic_ref ref;     /* all NULL where the text is no reference */
	bool valid;
	bool known;            /* the set before needs it too */
	bool ignored;          /* by the description of a target */
	struct ic_vec origins; /* struct ic_origin */
};

/*
 * Adds one place to the image `text`, creating the image where it is new.  Everything is copied.
 * source may be NULL.  Errors: NOMEM, LIMIT.
 */
int ic_images_add(struct imgcheck_images *s, const char *text, size_t len, const struct ic_origin *origin,
                  const char *source, struct imgcheck_error **err) IC_MUST_CHECK;

/* Keeps a problem of the set: *problem is taken and cleared, also on failure. */
int ic_images_add_problem(struct imgcheck_images *s, struct imgcheck_error **problem, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether every place of the image says imagePullPolicy: Never, so that no registry is asked. */
bool ic_image_is_local(const struct imgcheck_image *m);

#endif
