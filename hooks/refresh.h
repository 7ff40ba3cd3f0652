/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_REFRESH_H
#define HOOKS_REFRESH_H

/*
 * One refresh, as the pre-refresh hook judges it.
 *
 *   hook_pre_refresh()    finds the new revision, asks snapctl, and runs the two steps below as children
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
	struct revisions revisions; /* candidates; the chosen ones are judged */
	char *subject;              /* "cdk-addons revision 1250 (1.28.3)" */
	char *first;                /* the revision that the remedy names */
	json_t *config;             /* what snapctl told, or NULL */
	struct settings settings;
	bool accepted; /* accept-revision names what comes in */
	struct lines notices;
};

/* What a run came to. */
struct outcome {
	enum imgcheck_decision decision;
	json_t *report;   /* the report as the library renders it, or one with a single problem */
	char *text;       /* for people */
	bool unreachable; /* an image that counts could not be reached */
	char *skipped;    /* why nothing was checked, or NULL */
};

/* The folder of a chosen revision: new. */
char *refresh_folder(const struct refresh *r, const struct revision *item);

/* Whether a veto stops the refresh: by mode and accept-revision. */
bool refresh_enforces(const struct refresh *r);

/* What the decision means for the refresh: "the refresh is stopped, nothing was changed": borrowed. */
const char *refresh_consequence(const struct refresh *r, enum imgcheck_decision decision);

/* The lines after the verdict: notices, the full report, and the ways out. */
void refresh_remedies(const struct refresh *r, enum imgcheck_decision decision, struct lines *remedies);

/* Children; arg is a struct refresh.  Each prints one JSON object. */
int refresh_describe(void *arg);
int refresh_judge(void *arg);

/* The outcome of a run in which the library had no say: one problem of a class. */
void refresh_alone(const struct refresh *r, enum imgcheck_outcome class, const char *message, struct outcome *out);

/* Tells everybody.  The exit status of the hook. */
int refresh_finish(struct refresh *r, struct outcome *out);

#endif
