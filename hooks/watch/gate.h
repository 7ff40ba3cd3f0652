/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_GATE_H
#define HOOKS_WATCH_GATE_H

/*
 * Gates: a candidate is served once a command has found it good.  gate_rule.h has the rules; here registries are asked,
 * commands run and tags moved, each step being saved before it begins.
 *
 * The state is locked and open when a function begins, and when it ends well; while a command runs it is open to
 * others, so that an operator can hold a gate whose validation is under way.  After a failure it may be closed.
 */

#include "config.h"
#include "shard.h"
#include "state.h"

#define GATE_STOPPED (-2) /* the process is to end: what was begun is begun anew the next time */

/*
 * Runs the gates of this shard, one after the other; those that another process runs at the moment are left to it.  0,
 * GATE_STOPPED, or an exit status after saying why.
 */
int gates_run(const struct watch_config *c, const struct shard *shard, struct state *s);

/* One gate, now; a candidate that was rejected is judged again.  As gates_run(), or STATUS_UNDECIDED where another runs them. */
int gate_run(const struct watch_config *c, const struct watch_gate *set, struct state *s);

/* What an operator may do instead: saved when they end well.  0, or an exit status after saying why. */
int gate_promote(const struct watch_config *c, const struct watch_gate *set, struct state *s);
int gate_rollback(const struct watch_config *c, const struct watch_gate *set, struct state *s);
int gate_set_hold(const struct watch_gate *set, struct state *s);
int gate_end_hold(const struct watch_gate *set, struct state *s);

/* All about the gates of a configuration, or about one, from the state alone. */
json_t *gate_document(const struct watch_config *c, const char *name, const struct state *s); /* new */
void gate_print(const json_t *document, FILE *out);

#endif
