/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_REFRESH_H
#define HOOKS_REFRESH_H

/*
 * One refresh, as the pre-refresh hook judges it, and as post-refresh does where that could not.
 *
 *   hook_pre_refresh()    finds the new revision, asks snapctl, and runs the two steps below as children
 *   hook_post_refresh()   the same for its own revision, unless that was judged; a veto for a missing image, or for
 *                         what was left to it and cannot be read even now
 *   refresh_describe()    child: which configuration keys the revisions ask for
 *   refresh_judge()       child: reads both revisions, checks, renders
 *   refresh_finish()      writes the report, tells syslog, prints; the exit status
 *
 * All reading of what is in a revision, other than its snap.yaml, happens in a child, so that a fault
 * there ends as the policy says and not as a veto by signal.
 */

#include "hook.h"
#include "settings.h"

struct refresh {
	const struct hook *hook;
	bool after;                 /* post-refresh: the new revision is ours */
	bool left;                  /* post-refresh: pre-refresh left to it what it could not read */
	struct revisions revisions; /* candidates; the chosen ones are judged */
	struct revision before;     /* the old revision; without a name where it is not known */
	struct revisions olds;      /* then it is one of these */
	char *subject;              /* "cdk-addons revision 1250 (1.28.3)" */
	char *first;                /* the revision that the remedy names */
	json_t *config;             /* what snapctl told, or NULL */
	struct settings settings;
	bool accepted; /* accept-revision names what comes in */
	bool leaves;   /* what cannot be read is left to the new revision's own post-refresh hook */
	json_t *ways;        /* how images are asked for, or NULL where that is not to be kept */
	json_t *recent;      /* images found a moment ago in the same way, or NULL */
	struct lines proven; /* registries that gave this unit an image before */
	struct lines notices;
};

/* What a run came to. */
struct outcome {
	enum imgcheck_decision decision;
	json_t *report;   /* the report as the library renders it, or one with a single problem */
	char *text;       /* for people */
	bool unreachable; /* an image that counts could not be reached */
	char *skipped;    /* why nothing was checked, or NULL */
	bool judged;      /* all of it was judged, nothing failed or was left to another hook */
};

/* The folder of a chosen revision: new. */
char *refresh_folder(const struct refresh *r, const struct revision *item);

/* "pre-refresh" or "post-refresh": static. */
const char *refresh_hook_name(const struct refresh *r);

/* What a class means in this hook, where the library is not there to say it. */
enum imgcheck_decision refresh_effect(const struct refresh *r, enum imgcheck_outcome class);

/* Whether a veto stops the refresh: by mode and accept-revision. */
bool refresh_enforces(const struct refresh *r);

/* What the decision means for the refresh: "the refresh is stopped, nothing was changed": borrowed. */
const char *refresh_consequence(const struct refresh *r, enum imgcheck_decision decision);

/* The lines after the verdict: notices, the full report, and the ways out. */
void refresh_remedies(const struct refresh *r, enum imgcheck_decision decision, struct lines *remedies);

/* Children; arg is a struct refresh.  Each prints one JSON object. */
int refresh_describe(void *arg);
int refresh_judge(void *arg);

/* How many images and problems of a class the report counts. */
size_t refresh_count(const struct outcome *out, enum imgcheck_outcome class);

/* The outcome of a run in which the library had no say: one problem of a class. */
void refresh_alone(const struct refresh *r, enum imgcheck_outcome class, const char *message, struct outcome *out);

/* Tells everybody.  The exit status of the hook. */
int refresh_finish(struct refresh *r, struct outcome *out);

#endif
