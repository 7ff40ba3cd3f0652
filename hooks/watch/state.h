/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_STATE_H
#define HOOKS_WATCH_STATE_H

/*
 * What watch and gate remember: one JSON file with what was last seen of each image, how far each gate is, and the
 * events that not everybody has been told yet (the outbox).
 *
 * state_open() locks and reads, state_save() writes by way of a second file, fsync and rename, state_close() lets
 * go.  Whoever notices something changes the state and adds the event to the same state before it is saved, so that
 * neither is ever there without the other; events are told from what was saved (deliver.h).  After a failure to save
 * what is in memory is given up, and noticed again the next time.
 *
 * A file that is broken, cut short or of a newer version is an error and stays as it is: to begin anew in its place
 * would forget what was seen, and nobody would hear of what changed since.  The file is ours, but a disk can hurt
 * it: all of it is checked, and everything that grows has a ceiling.  A symbolic link is an error too: the rename would
 * put a file in its place, and one to a disk that is not mounted would look like a state that is new.
 *
 * Times are seconds since 1970.
 */

#include <stdint.h>

#include "program/lines.h"

#define STATE_VERSION 1
#define STATE_MOST_BYTES ((size_t)64 << 20)
#define STATE_MOST_IMAGES ((size_t)1 << 16)  /* as many as a set of images holds */
#define STATE_MOST_GATES ((size_t)1000)
#define STATE_MOST_EVENTS ((size_t)2000)     /* about 1 MiB; more are dropped, which is an event too */
#define STATE_MOST_REJECTED ((size_t)50)     /* of one gate; the oldest is forgotten */
#define STATE_MOST_HOSTS ((size_t)1000)
#define STATE_MOST_SINKS ((size_t)8)
#define STATE_MOST_NUMBER (1LL << 53)        /* far beyond any count or time, and far from an overflow */
#define STATE_MOST_REST 86400LL              /* seconds: what is longer was told while the clock was wrong */
#define STATE_MOST_TEXT ((size_t)2000)       /* a reason, an answer's words: cut beyond */
#define STATE_MOST_DATA ((size_t)16 << 10)   /* the data of one event as JSON */

/* ------------------------------------------------------------------ images */

enum state_condition {
	STATE_NEW,     /* never decided */
	STATE_PRESENT,
	STATE_GONE     /* not found */
};

struct state_image {
	char *ref;
	long long condition; /* enum state_condition */
	char *digest;        /* last seen, also of one that is gone; NULL: never seen */
	char *host;          /* that told so */
	long long since;     /* when condition or digest became so */
	long long asked;     /* the number of the round in which it was last asked for: 0 never */
	long long misses;    /* rounds in a row that could not tell */
	long long failing;   /* since when that has been told as failing; 0: it has not */
	char *reason;        /* why it is gone or could not be told; NULL for one that is there */
	bool used;           /* not saved: the round at hand knows it */
};

/* ------------------------------------------------------------------ gates */

enum state_phase {
	STATE_GATE_NEW,
	STATE_GATE_VALIDATING, /* a digest is pinned, and being judged or promoted */
	STATE_GATE_SERVED,     /* the candidate is what is served */
	STATE_GATE_REJECTED,   /* the candidate was rejected; the one before it is served */
	STATE_GATE_HELD,       /* by an operator: nothing is promoted */
	STATE_GATE_OUTDATED    /* the candidate could not be judged or promoted yet */
};

struct state_rejected {
	char *digest, *reason;
	long long time;
};

struct state_gate {
	char *name;
	long long phase;     /* enum state_phase */
	long long since;     /* when it became so */
	char *reason;        /* why; NULL where there is nothing to say */
	char *candidate;     /* digests: of the candidate as last seen, */
	char *served;        /* of what is served as last confirmed, */
	char *previous;      /* and of what was served before it */
	char *pinned;        /* that is being judged or promoted, or NULL */
	char *step;          /* of that: what was begun last, in a word, for a restart */
	char *held;          /* the digest that an operator rolled back, not to be promoted again */
	long long hold;      /* since when nothing is promoted at all; 0: it is */
	char *found;         /* where another writer has set the served tag; NULL: nobody has */
	long long outdated;  /* since when it has been told as outdated; 0: it has not */
	long long known;     /* since when `served` is known; 0: what is served is taken as it is when it is next seen */
	bool used;           /* not saved: the configuration at hand has it */
	struct state_rejected *rejected;
	size_t rejected_count;
};

/* ------------------------------------------------------------------ events */

struct state_event {
	long long number; /* from 1, never used again */
	long long time;
	char *type;       /* "image.changed", "gate.promoted" */
	char *subject;    /* the reference, or the gate's name */
	json_t *data;     /* an object */
};

/* One way to tell events.  They are told in order. */
struct state_sink {
	char *name;       /* "command" */
	long long told;   /* the number of the last event told */
	long long seen;   /* when a process that tells events this way last began */
	long long failures; /* attempts in a row that failed */
	long long not_before; /* when the next is due */
	char *reason;
};

/* A host that wants no requests for a while, or of which nothing came in one round. */
struct state_host {
	char *name;
	long long until;
	long long round;  /* the number of the round in which that was seen: its other gates do not ask it either */
	char *reason;
};

struct state {
	char *path;
	int lock;         /* descriptor; -1: not locked */
	char *id;         /* random, of this file: with an event's number it names the event for ever */
	char *shard;      /* "0/4": the images of one among several; NULL: all */
	long long last_event; /* number */
	long long round;  /* when the last one ended; 0: never */
	long long rounds; /* number of the last one; unlike the clock it only goes forward */
	struct state_image *images; /* sorted by reference */
	size_t image_count;
	struct state_gate *gates;
	size_t gate_count;
	struct state_event *events; /* the outbox, oldest first */
	size_t event_count;
	struct state_sink *sinks;
	size_t sink_count;
	struct state_host *hosts;
	size_t host_count;
};

/* ------------------------------------------------------------------ the file */

/*
 * Locks the file and reads it; where there is none the state is new.  Waits up to wait_ms for another process that
 * is at work on it, and says so when it takes long; STATUS_UNDECIDED where that does not end.  0, or an exit status after
 * saying why: the state is then closed.
 */
int state_open(struct state *s, const char *path, int wait_ms);

/* For who does not come again by himself, such as an operator with a hold: a round lasts as long as registries do not answer. */
#define STATE_WAIT_MS 600000

/* Reads it without a lock, for a look alone: what is there was whole when it was written. */
int state_look(struct state *s, const char *path);

/* 0, or STATUS_INTERNAL after saying why: the file is then as it was. */
int state_save(const struct state *s);

/* Unlocks and forgets.  Takes a zeroed one. */
void state_close(struct state *s);

static inline void auto_state(struct state *s)
{
	state_close(s);
}

/*
 * A second lock, for a watcher that stays: held until the descriptor is closed.  A descriptor, or -1 after saying
 * that there is a watcher already.
 */
int state_lock_watcher(const char *path);

/* ------------------------------------------------------------------ what is in it */

/*
 * A third lock, for whoever runs gates: their commands run while the state is open to others.  A descriptor, or -1 where
 * somebody else has it, or STATE_UNLOCKED after saying why it cannot be used.
 */
#define STATE_UNLOCKED (-2)
int state_lock_gates(const char *path);

/* Text for the state: printable, cut to STATE_MOST_TEXT.  *to is replaced; NULL for NULL. */
void state_set_text(char **to, const char *text);

/* The image of this reference: borrowed until the next one is added; a new one where there is none, or NULL beyond the ceiling. */
struct state_image *state_image(struct state *s, const char *ref);
const struct state_image *state_find_image(const struct state *s, const char *ref); /* adds none */

/* Forgets the images that are not marked as used. */
void state_forget_images(struct state *s);

/* The gate of this name, as state_image(); state_find_gate() adds none. */
struct state_gate *state_gate(struct state *s, const char *name);
struct state_gate *state_find_gate(const struct state *s, const char *name);

/* Remembers a digest as rejected; whether it is. */
void state_reject(struct state_gate *g, long long now, const char *digest, const char *reason);
const struct state_rejected *state_rejected(const struct state_gate *g, const char *digest);
void state_forgive(struct state_gate *g, const char *digest); /* forgets that it was */

/* The words for them: static. */
const char *state_condition_name(long long condition);
const char *state_phase_name(long long phase);

/*
 * Adds an event to the outbox.  data (taken) is an object of texts and numbers, or NULL.  Where the outbox is full the
 * oldest event makes room, and one of type "events.dropped" in its place tells how many were dropped.
 */
void state_add_event(struct state *s, long long now, const char *type, const char *subject, json_t *data);

/* The sink of this name, as state_image(). */
struct state_sink *state_sink(struct state *s, const char *name);

void state_forget_sink(struct state *s, const struct state_sink *sink); /* one of s->sinks */

/* Forgets the events up to this number. */
void state_forget_events(struct state *s, long long number);

/* The host, or NULL; and one that is left alone until then. */
const struct state_host *state_find_host(const struct state *s, const char *name);
void state_hold_host(struct state *s, const char *name, long long until, const char *reason);
void state_forget_hosts(struct state *s, long long now); /* those whose time has come, or cannot be true */

#endif
