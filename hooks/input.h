/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_INPUT_H
#define HOOKS_INPUT_H

/*
 * What a command line names as the source of images: files and folders, references, a target (an unpacked
 * snap), and the values for templates.  Shared by images, render, check and guard.
 */

#include "lines.h"
#include "options.h"

struct input {
	const char *command; /* for messages */
	const char *values, *target, *snap_config;
	struct lines set, refs;
	struct imgcheck_images *images;     /* from input_open() on */
	struct imgcheck_target *description; /* NULL without --target */
	json_t *config;                      /* the snap's configuration, or NULL */
	bool configured;                     /* false: the target says that this unit is not set up */
};

/* Groups of flags, with input_take() and a struct input for each. */
extern const struct flag input_value_flags[];  /* --values, --set */
extern const struct flag input_target_flags[]; /* --target, --snap-config */
extern const struct flag input_image_flags[];  /* --image */
int input_take(void *arg, int id, const char *value);

/* Opens the set of images with its values, the target and its configuration.  0, or an exit status after saying why. */
int input_open(struct input *in);

/* Adds all that was named.  0, or an exit status after saying why. */
int input_collect(struct input *in, const struct lines *paths);

/* Says each problem of the images.  STATUS_UNREADABLE if one of them could not be read or evaluated, else 0. */
int input_say_problems(const struct input *in);

void input_clear(struct input *in);

static inline void auto_input(struct input *in)
{
	input_clear(in);
}

#endif
