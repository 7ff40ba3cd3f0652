/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_IMAGES_H
#define IC_MANIFEST_IMAGES_H

/*
 * The set of images that a run checks (imgcheck_images): unique references with every place that names
 * them, and the problems met on the way.  Filled by the readers of this station, read by the later ones.
 * What goes in comes from hostile files: its amount is bounded by IC_MAX_IMAGES, _ORIGINS and _PROBLEMS.
 */

#include <jansson.h>

#include "base/buf.h"
#include "base/ref.h"
#include "pull_secrets.h"

/* What a place leaves open until all places are known; see ic_images_settle(). */
enum ic_certainty {
	IC_CERTAIN,
	IC_PARTIAL, /* could be the end of a longer reference whose start stands elsewhere */
	IC_REWRITE  /* what a name written elsewhere becomes (kustomize) */
};

/* A place as a reader finds it; texts are borrowed, NULL where not known. */
struct ic_place {
	const char *file, *object, *path, *pull_policy, *pull_secrets, *node_arch, *namespace_;
	const char *account; /* the ServiceAccount whose pull secrets the pod gets, for want of own ones */
	unsigned line; /* 0 where not known */
	enum imgcheck_class class;
	enum ic_certainty certainty;
};

/* A place as it is kept. */
struct ic_origin {
	char *file, *object, *path, *pull_policy, *pull_secrets, *node_arch, *namespace_; /* NULL where not known */
	char *account, *line_text;                                                        /* NULL where not known */
	unsigned line;                                                                    /* 0 where not known */
	enum imgcheck_class class;
	enum ic_certainty certainty;
	char *memory; /* which holds all of the texts */
};

struct imgcheck_image {
	char *text;            /* as written; the key of the set */
	char *source;          /* what it is with no `registry` value, or NULL */
	struct ic_ref ref;     /* all NULL where the text is no reference */
	bool valid;
	bool known;            /* the set before needs it too */
	char *found_host;      /* where it was found a moment ago, or NULL */
	char *found_digest;    /* and as what */
	bool ignored;          /* by the description of a target */
	bool surplus;          /* about to be taken out of the set */
	struct ic_vec origins; /* struct ic_origin */
};

struct imgcheck_images {
	struct ic_vec images;   /* struct imgcheck_image *, sorted by text */
	struct ic_vec problems; /* struct imgcheck_error * */
	struct ic_pull_secrets pull_secrets;
	size_t origins;         /* in all images together */
	json_t *values;         /* template values, an object, or NULL: nothing is rendered */
	size_t held;            /* by so many runs, which count on the images as they are */
};

/* A run takes hold of the set, and lets go of it again. */
void ic_images_hold(struct imgcheck_images *s);
void ic_images_let_go(struct imgcheck_images *s);

/* 0 where the set may be changed: it is there, and no run holds it.  Errors: ARGUMENT. */
int ic_images_check_open(const struct imgcheck_images *s, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Adds one place to the image `text`, creating the image where it is new.  Everything is copied.
 * source may be NULL.  Errors: NOMEM, LIMIT.
 */
int ic_images_add(struct imgcheck_images *s, const char *text, size_t len, const struct ic_place *place,
                  const char *source, struct imgcheck_error **err) IC_MUST_CHECK;

/* Keeps a problem of the set: *problem is taken and cleared, also on failure. */
int ic_images_add_problem(struct imgcheck_images *s, struct imgcheck_error **problem, struct imgcheck_error **err) IC_MUST_CHECK;

/*
 * Removes each image that is no image of its own: all its places are partial, and its text is the end, behind
 * a '/', of another image's, so that somewhere its registry is put before it; or all are rewrites, and the
 * name without tag and digest stands in the set as it is written.  At the end of each public call that adds.
 */
void ic_images_settle(struct imgcheck_images *s);

/* Marks each image as ignored that matches one of the globs (ic_texts) over its text. */
void ic_images_ignore(struct imgcheck_images *s, const struct ic_vec *globs);

/* Whether every place of the image says imagePullPolicy: Never, so that no registry is asked. */
bool ic_image_is_local(const struct imgcheck_image *m);

#endif
