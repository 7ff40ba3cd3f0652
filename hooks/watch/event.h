/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_EVENT_H
#define HOOKS_WATCH_EVENT_H

/*
 * An event of the outbox in the forms in which it is told: CloudEvents 1.0 as JSON, for a command and a webhook alike;
 * variables for a command that reads no JSON; a line for people.
 */

#include "state.h"

#define EVENT_PREFIX "imgcheck."                               /* of the type */
#define EVENT_MEDIA_TYPE "application/cloudevents+json; charset=UTF-8" /* structured content mode */

/* The event as JSON in one line: new.  Source and id together are the same each time it is told, and unique. */
char *event_json(const struct state *s, const struct state_event *e);

/* IMGCHECK_EVENT, IMGCHECK_EVENT_ID, IMGCHECK_SUBJECT, and IMGCHECK_NAME for each text and number of its data. */
void event_environment(const struct state *s, const struct state_event *e, struct lines *out);

/* "2026-11-30T23:00:00Z image.changed r.io/a:1: sha256:... -> sha256:...": new. */
char *event_line(const struct state_event *e);

/* "2026-11-30T23:00:00Z": new. */
char *event_time(long long seconds);

#endif
