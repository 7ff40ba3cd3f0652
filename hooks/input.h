/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_INPUT_H
#define HOOKS_INPUT_H

/*
 * What a command line names as the source of images: files and folders, references, a target (an unpacked
 * snap), and the values for templates.  Shared by images, render, check and guard.
 */

#include "lines.h"
#include "options.h"

/* An unpacked snap by its description. */
struct input_target {
	const char *dir;                /* NULL: none was named */
	struct imgcheck_target *object; /* from input_open() on; NULL for a folder without description */
	bool configured;                /* false: the description says that this unit is not set up */
};

struct input {
	const char *command; /* for messages */
	const char *values, *snap_config;
	struct input_target target, old; /* old: what it needs does not count */
	struct lines set, refs;
	struct imgcheck_images *images; /* from input_open() on */
	json_t *config;                 /* the snap's configuration, or NULL */
};

/* Groups of flags, with input_take() and a struct input for each. */
extern const struct flag input_value_flags[];  /* --values, --set */
extern const struct flag input_target_flags[]; /* --target, --snap-config, --new-since */
extern const struct flag input_image_flags[];  /* --image */
int input_take(void *arg, int id, const char *value);

/* Opens the set of images with its values, the target and its configuration.  0, or an exit status after saying why. */
int input_open(struct input *in);

/* Whether a target was named that says that this unit is not set up. */
bool input_is_unconfigured(const struct input *in);

/* Adds all that was named.  0, or an exit status after saying why. */
int input_collect(struct input *in, const struct lines *paths);

/* Says each problem of the images.  STATUS_UNREADABLE if one of them could not be read or evaluated, else 0. */
int input_say_problems(const struct imgcheck_images *images);

void input_clear(struct input *in);

static inline void auto_input(struct input *in)
{
	input_clear(in);
}

#endif
