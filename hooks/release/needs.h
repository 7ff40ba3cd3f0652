/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RELEASE_NEEDS_H
#define HOOKS_RELEASE_NEEDS_H

/*
 * The images that a release needs, for several architectures at a time: its templates are read once for each,
 * with the value `arch` set to it as addons do, and what they need is put together.
 */

#include <stdint.h>

#include "check/input.h"

struct need {
	const struct imgcheck_image *image; /* of the first architecture that needs it */
	const char *ref;
	enum imgcheck_class class; /* the strongest of all architectures */
	uint32_t archs;            /* bit i: needed on the i-th; bit 0 alone where none was named */
};

struct needs {
	struct input *inputs; /* one for each architecture */
	size_t input_count;
	struct need *need; /* sorted by reference, each once */
	size_t count;
	bool is_list; /* of a list, which does not tell architectures apart */
};

/* Collects what `what` and the paths need, for each of its architectures.  0, or an exit status after saying why. */
int needs_collect(struct needs *n, const struct input *what, const struct lines *paths);

/* Drops what is weaker than the class. */
void needs_keep(struct needs *n, enum imgcheck_class weakest);

/* Whether they look like those of a list: none of them is in an object. */
bool needs_are_listed(const struct needs *n);

/* Puts "prefix/" before each reference of a list.  0, or an exit status after saying why. */
int needs_prefix(struct needs *n, const char *prefix);

/* Says each problem once.  STATUS_UNREADABLE if one could not be read or evaluated, else 0. */
int needs_say_problems(const struct needs *n);

/* "required", "mentioned", "hint": static. */
const char *needs_class_name(enum imgcheck_class class);

/* The names of the architectures in the bits, for people or as a JSON array; NULL or empty where that is all of them. */
char *needs_arch_text(const struct lines *archs, uint32_t bits); /* "amd64, arm64": new, NULL where it is all */
json_t *needs_arch_json(const struct lines *archs, uint32_t bits); /* new */

/* All places of the image as a JSON array: new. */
json_t *needs_origins_json(const struct need *n);

/*
 * The reference as images would spell it where Debian's word for the architecture stands in it (ppc64el for
 * ppc64le, armhf for arm, i386 for 386): new, or NULL where it does not.
 */
char *needs_respell(const char *ref, const char *arch);

void needs_clear(struct needs *n);

static inline void auto_needs(struct needs *n)
{
	needs_clear(n);
}

#endif
