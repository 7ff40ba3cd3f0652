/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_ROUND_H
#define HOOKS_WATCH_ROUND_H

/*
 * What an answer changes in the state of an image, and which event tells it.  Pure: the clock is the caller's.
 *
 *   first sight           nothing is told: nobody waited for it
 *   image.changed         another digest than the one last seen
 *   image.gone            the registry says that it is not there (404 after its challenge), once
 *   image.back            it is there again; or for the first time, where it was not at first sight
 *   image.failing         for ROUND_MISSES rounds in a row it could not be told, once; for ROUND_TURNS where it was
 *                         not asked for
 *   image.recovered       after that it can be told again; what else is new then follows as an event of its own
 *
 * Whatever is neither "here it is" nor "not here" (no connection, 401, 403, 429, 5xx, an answer that is none) changes
 * nothing that is known: a login that ran out must not look like an image that vanished.
 */

#include "state.h"

/*
 * One round that could not tell is noise, two can be one restart of a registry that fell between them; three in a
 * row, at least two whole intervals, are worth somebody's time.
 */
#define ROUND_MISSES 3

/*
 * Where a host's limits leave each image its turn in some rounds alone, the rounds between are no news: an image that
 * was not even asked for is told as failing after so many, a day of quarter hours.
 */
#define ROUND_TURNS 96

enum answer_kind {
	ANSWER_PRESENT,
	ANSWER_GONE,
	ANSWER_UNSURE, /* could not be told, or not asked for */
	ANSWER_SKIPPED /* no registry is ever asked for it: nobody watches it */
};

struct answer {
	char *ref; /* as in the set of images */
	enum answer_kind kind;
	char *digest;     /* of one that is present */
	char *registry;   /* of its reference, or NULL where it is none */
	char *host;       /* that told so, or NULL */
	char *reason;     /* one line, or NULL */
	bool asked;       /* false: it was its turn, but a limit or the deadline came first */
	bool limited;     /* its host wants no more requests */
	long long wait;   /* seconds for which that holds, as far as the host told; 0: it did not */
	unsigned pulls;   /* how nodes pull it: pull.h */
};

/* Takes in an answer of the round s->rounds.  False where the state has no room for another image. */
bool round_take(struct state *s, const struct answer *a, long long now);

#endif
