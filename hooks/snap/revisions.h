/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_REVISIONS_H
#define HOOKS_REVISIONS_H

/*
 * Which revision a refresh brings.  snapd does not tell a hook, so it is worked out from what is mounted
 * beside our own revision: those of our snap, without the ones that were there when a hook of ours last
 * looked (revisions_record), and of several the one that was downloaded last.
 *
 * snap.yaml of the other revisions is the input here; what it holds is bounded and checked before use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "program/auto.h"

#define REVISIONS_MOST_NAME 24

struct revision {
	char name[REVISIONS_MOST_NAME]; /* "1250" or "x2" */
	char *version;                  /* as its snap.yaml says, or "" */
	bool known;                     /* recorded before */
	bool has_blob;
	struct timespec blob_time; /* when the .snap file was last written, if has_blob */
	bool chosen;
};

struct revisions {
	struct revision *item;
	size_t count;
	bool recorded; /* there was a record, made at record_time */
	struct timespec record_time;
};

/* Where to look. */
struct revisions_place {
	const char *root;     /* the folder with one folder for each revision: dirname $SNAP */
	const char *blobs;    /* the folder with the .snap files */
	const char *name;     /* SNAP_NAME: what snap.yaml must say */
	const char *instance; /* SNAP_INSTANCE_NAME: what the .snap files are called by */
	const char *current;  /* SNAP_REVISION: never a candidate */
	const char *state;    /* the folder with our record */
};

/* A revision as snapd names them: 12 or x12. */
bool revisions_is_name(const char *text);

/* Lists the candidates, sorted by name, with what is known of each.  False where the folder cannot be read. */
bool revisions_list(const struct revisions_place *place, struct revisions *r);

/*
 * Marks the candidates that may be the new revision and returns how many: 0 none, 1 found, more: not
 * certain.  Looks at nothing but the list.
 */
size_t revisions_choose(struct revisions *r);

/* Records every revision that is there now.  0 or an errno. */
int revisions_record(const struct revisions_place *place);

void revisions_clear(struct revisions *r);

static inline void auto_revisions(struct revisions *r)
{
	revisions_clear(r);
}

#endif
