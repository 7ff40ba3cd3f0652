/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_INPUT_H
#define HOOKS_INPUT_H

/*
 * What a command line names as the source of images: files and folders, references, a target (an unpacked
 * snap), and the values for templates.  Shared by the commands that read manifests.
 */

#include "program/lines.h"
#include "program/options.h"
#include "program/unsquash.h"

#define INPUT_MOST_ARCHS 32

/* An unpacked snap by its description. */
struct input_target {
	const char *dir;                /* NULL: none was named; from input_open() on where a .snap file is unpacked */
	struct unsquashed unpacked;     /* that folder */
	struct imgcheck_target *object; /* from input_open() on; NULL for a folder without description */
	bool configured;                /* false: the description says that this unit is not set up */
};

struct input {
	const char *command; /* for messages */
	const char *values, *snap_config;
	const char *registry; /* the value `registry` of templates, before any other; or NULL */
	const char *arch; /* the value `arch` of templates, instead of the one that they would see; or NULL */
	struct input_target target, old; /* old: what it needs does not count */
	struct lines set, refs, archs;
	struct imgcheck_images *images; /* from input_open() on */
	json_t *config;                 /* the snap's configuration, or NULL */
};

/* Groups of flags, with input_take() and a struct input for each. */
extern const struct flag input_value_flags[];  /* --values, --set */
extern const struct flag input_target_flags[]; /* --target, --snap-config, --new-since */
extern const struct flag input_config_flags[]; /* --snap-config alone, where operands are the targets */
extern const struct flag input_image_flags[];  /* --image */
extern const struct flag input_arch_flags[];   /* --arch, up to INPUT_MOST_ARCHS of them: see release/needs.h */
int input_take(void *arg, int id, const char *value);

/* The weakest class that is meant by required, mentioned or all.  False: none of these. */
bool input_class(const char *name, enum imgcheck_class *class);

/* Whether the folder is a snap with a description, not just one with manifests. */
bool input_is_snap(const char *dir);

/* The same once more, for one architecture: out is fresh and borrows the texts that are no lists. */
void input_copy(const struct input *in, const char *arch, struct input *out);

/* Opens the set of images with its values, the target and its configuration.  0, or an exit status after saying why. */
int input_open(struct input *in);

/* Whether a target was named that says that this unit is not set up. */
bool input_is_unconfigured(const struct input *in);

/* Adds all that was named.  0, or an exit status after saying why. */
int input_collect(struct input *in, const struct lines *paths);

void input_clear(struct input *in);

static inline void auto_input(struct input *in)
{
	input_clear(in);
}

#endif
