/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_ASK_H
#define HOOKS_WATCH_ASK_H

/*
 * Asks registries for the digests of images: one HEAD each, over the library's engine.  What a host says of its limits
 * is kept to: see IMGCHECK_OPTION_RESERVE.  The config says how to ask; NULL for one that could not be made, which was said.
 */

#include "config.h"
#include "round.h"

struct answers {
	struct answer *list; /* sorted by reference, as a set of images is */
	size_t count;
};

/* Which of a set's images are asked for, and what is known of the others; called for each. */
typedef bool (*ask_wanted)(void *arg, const struct imgcheck_image *image);

/*
 * Asks for those of the images that are wanted (all where wanted is NULL), within the config's deadline, and
 * adds an answer for each.  The set is changed.  0; ASK_STOPPED where the process is to end, nothing then being added;
 * or an exit status after saying why.
 */
#define ASK_STOPPED (-2)
int ask_images(struct imgcheck_config *c, struct imgcheck_images *images, ask_wanted wanted, void *arg, struct answers *out);

/* The same for one reference.  *out is filled with an answer, for answer_clear(). */
int ask_one(struct imgcheck_config *c, const char *ref, struct answer *out);

/* Puts them in order, after answers from several askings were put together. */
void answers_sort(struct answers *a);

/* The answer for the reference, or NULL: borrowed. */
const struct answer *answers_find(const struct answers *a, const char *ref);

void answer_clear(struct answer *a);
void answers_clear(struct answers *a);

static inline void auto_answer(struct answer *a)
{
	answer_clear(a);
}

static inline void auto_answers(struct answers *a)
{
	answers_clear(a);
}

#endif
