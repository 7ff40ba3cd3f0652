/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_PULL_H
#define HOOKS_WATCH_PULL_H

/*
 * What imagePullPolicy means for a node when a tag moves or an image vanishes: for events and the status page, since a
 * moved tag is harmless under one policy and splits a cluster under another.
 */

#include "imgcheck.h"

/* A set of them is their sum. */
enum pull_policy { PULL_ALWAYS = 1, PULL_IF_NOT_PRESENT = 2, PULL_NEVER = 4 };
#define PULL_POLICIES 3

enum pull_case {
	PULL_MOVED, /* the tag names another image now */
	PULL_GONE   /* the registry does not have it, or cannot be reached */
};

/*
 * The policies by which manifests pull the image; where one states none, what Kubernetes then takes: Always for the tag
 * latest, else IfNotPresent.  The same for an image that no manifest names.
 */
unsigned pull_policies(const struct imgcheck_image *m);

/* "Always", and what it means: static. */
const char *pull_name(enum pull_policy p);
const char *pull_words(enum pull_case what, enum pull_policy p);

/* "Always: ...; IfNotPresent: ..." of a set: new. */
char *pull_text(enum pull_case what, unsigned set);

#endif
