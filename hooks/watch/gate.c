/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "event.h"
#include "gate_rule.h"
#include "program/command.h"
#include "program/memory.h"
#include "program/say.h"
#include "program/status.h"
#include "signals.h"

#define MOST_TURNS 8       /* looks at one gate in one round: each leads to a step, or is the last */
#define STATUS_LATER 75    /* EX_TEMPFAIL: of a command that cannot tell now */
#define SHOWN_OUTPUT 1500  /* bytes of a command's output that are kept, from its end */
#define SLOW_MS 3000       /* a registry that told nothing in so long is not waited for once more in the same round */

/* The gate as the state has it now: it may have been read anew. */
static struct gate at_work(const struct watch_gate *set, struct state *s)
{
	return (struct gate){ set, s, state_gate(s, set->name), (long long)time(NULL) };
}

static int no_room(const struct watch_gate *set)
{
	say("cannot run gate %s: the state has room for %zu gates, also of those that the configuration had before", set->name,
	    STATE_MOST_GATES);
	return STATUS_INTERNAL;
}

/* ------------------------------------------------------------------ commands */

/* The end of what a command printed, as one line: new. */
static char *shown_output(const char *text)
{
	size_t len = strlen(text), from;
	char *all, *to;

	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	from = len > SHOWN_OUTPUT ? len - SHOWN_OUTPUT : 0;
	all = to = memory_grow(NULL, 3 * (len - from) + 1, 1);
	for (size_t i = from; i < len; i++) {
		const char *shown = text[i] == '\n' ? " | " : text + i;
		size_t size = text[i] == '\n' ? 3 : 1;

		memcpy(to, shown, size);
		to += size;
	}
	*to = '\0';
	say_printable(all, false);
	return all;
}

/* "the copy ended with exit status 1: what it printed": new. */
static char *describe_end(const char *what, const struct command *c, const struct process_result *r)
{
	AUTO(free) char *end = command_end(c, r), *output = shown_output(r->err);

	return memory_printf("%s: %s%s%s", what, end, *output ? ": " : "", output);
}

/*
 * Runs one of a gate's commands while the state is open to others, with the image as its last argument (NULL for none).
 * 0, and the state is read anew; GATE_STOPPED, or an exit status: the state is then closed.
 */
static int run_command(struct gate *t, const struct command *command, const char *image, struct process_result *r)
{
	AUTO(lines) struct lines environment = { 0 }, words = { 0 };
	AUTO(free) char *path = memory_text(t->state->path);
	struct command whole = *command;
	int status = state_save(t->state);

	if (status)
		return status;
	for (size_t i = 0; i < command->words->count; i++)
		lines_add(&words, command->words->line[i]);
	lines_addf(&environment, "IMGCHECK_GATE=%s", t->set->name);
	lines_addf(&environment, "IMGCHECK_CANDIDATE=%s", t->set->candidate);
	lines_addf(&environment, "IMGCHECK_SERVED=%s", t->set->served);
	if (image) {
		lines_add(&words, image);
		lines_addf(&environment, "IMGCHECK_IMAGE=%s", image);
	}
	whole.words = &words;
	whole.environment = &environment;
	state_close(t->state);
	command_run(&whole, r);
	if (signals_end())
		return GATE_STOPPED;
	status = state_open(t->state, path, STATE_WAIT_MS); /* a judgement is not to be lost */
	if (!status)
		*t = at_work(t->set, t->state);
	return status;
}

static struct command command_of(const struct watch_config *c, const struct watch_gate *set, const struct lines *words)
{
	return (struct command){ .words = words, .folder = c->folder, .seconds = set->seconds, .stop = signals_end };
}

/* Fetches the candidate from its source, where the gate has a command for that.  *fault is why it could not: new. */
static int copy(const struct watch_config *c, struct gate *t, char **fault)
{
	const struct command command = command_of(c, t->set, &t->set->copy);
	AUTO(process_result) struct process_result r = { 0 };
	int status;

	if (!t->set->copy.count)
		return 0;
	status = run_command(t, &command, NULL, &r);
	if (!status && (r.end != PROCESS_EXITED || r.status))
		*fault = describe_end("the copy failed", &command, &r);
	return status;
}

/* A command that is not there has judged nothing; 126 and 127 are what shells say of one. */
static bool has_judged(const struct process_result *r)
{
	return r->end != PROCESS_NOT_STARTED && (r->end != PROCESS_EXITED || (r->status != STATUS_LATER &&
	       r->status != STATUS_CANNOT_EXEC && r->status != STATUS_NO_COMMAND));
}

/* A candidate without a tag is the latest, and the colon of a port begins none. */
static char *pinned_name(const struct watch_gate *set, const char *digest)
{
	const char *path = strrchr(set->candidate, '/');
	const size_t before = path ? (size_t)(path - set->candidate) : 0;

	return memory_printf("%.*s@%s", (int)(before + strcspn(set->candidate + before, ":")), set->candidate, digest);
}

/* The candidate is pinned, and the command asked. */
static int validate(const struct watch_config *c, struct gate *t)
{
	const struct command command = command_of(c, t->set, &t->set->validate);
	AUTO(process_result) struct process_result r = { 0 };
	AUTO(free) char *digest = memory_text(t->g->candidate), *image = pinned_name(t->set, digest), *reason = NULL;
	int status;

	gate_pin(t);
	status = run_command(t, &command, image, &r);
	if (status || !t->g)
		return status ? status : no_room(t->set);
	if (!gate_is_judging(t, digest))
		return 0; /* an operator came in between */
	reason = describe_end("the validation", &command, &r);
	if (r.end == PROCESS_EXITED && !r.status)
		gate_pass(t);
	else if (has_judged(&r))
		gate_reject(t, reason);
	else
		gate_postpone(t, reason);
	return state_save(t->state);
}

/* ------------------------------------------------------------------ registries */

/*
 * A gate sets tags of the registry itself, so it looks there: by a mirror that is behind it, what the gate has just set would
 * be another writer's, and what was there before would be what is served.
 */
static struct imgcheck_config *registry_config(const struct watch_config *c)
{
	struct imgcheck_config *config = watch_config_library(c);

	imgcheck_config_set_no_mirrors(config);
	return config;
}

static int ask_tag(const struct watch_config *c, const char *ref, struct answer *out)
{
	AUTO(config) struct imgcheck_config *config = registry_config(c);

	return ask_one(config, ref, out);
}

/* An answer that tells nothing changes nothing, but that it is told why. */
static bool is_telling(struct gate *t, const struct answer *a)
{
	AUTO(free) char *reason = NULL;

	if (a && (a->kind == ANSWER_PRESENT || a->kind == ANSWER_GONE))
		return true;
	reason = memory_printf("cannot tell where its tags are: %s", a && a->reason ? a->reason : "they are not asked for");
	state_set_text(&t->g->reason, reason);
	if (a && a->limited && a->registry)
		state_hold_host(t->state, a->registry, t->now + (a->wait > 0 ? a->wait : 1), a->reason);
	return false;
}

/* Whether the registry of these images said that it wants no requests for a while. */
static bool is_resting(struct gate *t, const struct imgcheck_images *images)
{
	const char *registry = imgcheck_image_part(imgcheck_images_get(images, 0), IMGCHECK_PART_REGISTRY);
	const struct state_host *host = registry ? state_find_host(t->state, registry) : NULL;
	AUTO(free) char *reason = NULL, *when = NULL;

	if (!host || (host->until <= t->now && host->round != t->state->rounds))
		return false;
	when = event_time(host->until);
	reason = host->until > t->now ?
		 memory_printf("%s is not asked before %s, as it wants: %s", host->name, when, host->reason ? host->reason : "") :
		 memory_printf("%s is not asked once more in this round: %s", host->name, host->reason ? host->reason : "");
	state_set_text(&t->g->reason, reason);
	return true;
}

/* The many gates of a registry that does not answer would each wait for it, and so would all that come behind them. */
static void leave_alone(struct gate *t, const struct imgcheck_images *images)
{
	const char *registry = imgcheck_image_part(imgcheck_images_get(images, 0), IMGCHECK_PART_REGISTRY);
	const struct state_host *host = registry ? state_find_host(t->state, registry) : NULL;

	if (registry && !(host && host->until > t->now))
		state_hold_host(t->state, registry, t->now, t->g->reason);
}

/* Sets a tag.  What does not work out is told by *reason, new. */
static enum imgcheck_err move(const struct watch_config *c, const char *tag, const char *digest, const char *expected,
			      char **reason)
{
	AUTO(config) struct imgcheck_config *config = watch_config_library(c);
	AUTO(error) struct imgcheck_error *e = NULL;

	free(TAKE(*reason));
	if (!config) {
		*reason = memory_text("cannot use the configuration");
		return IMGCHECK_ERR_CONFIG;
	}
	if (imgcheck_tag_move(config, tag, digest, expected, &e))
		*reason = say_text(e);
	return imgcheck_error_code(e);
}

/* What was seen, and the answers that it is borrowed from. */
struct view {
	struct answers answers;
	char *confirmed;
	struct gate_seen seen;
	bool known; /* false: it cannot be told */
};

static void auto_view(struct view *v)
{
	answers_clear(&v->answers);
	free(v->confirmed);
}

/*
 * A digest in a header field is easily told, or left out, by a registry that is at fault; another writer is told only where
 * the bytes say so.  To move a tag to where it is expected sets nothing, and finds out whether it is there.
 */
static void doubt(const struct watch_config *c, const struct gate *t, struct view *v)
{
	const char *const ours[] = { t->g->served, t->g->pinned };
	AUTO(free) char *reason = NULL;

	for (size_t i = 0; i < COUNT(ours) && gate_is_news(t, v->seen.served); i++)
		if (ours[i] && move(c, t->set->served, ours[i], ours[i], &reason) == IMGCHECK_OK) {
			v->confirmed = memory_text(ours[i]);
			v->seen.served = v->confirmed;
			return;
		}
}

/* Where the tags are.  An operator does not wait for a registry that wants no requests now. */
static int look(const struct watch_config *c, struct gate *t, bool wait, struct view *v)
{
	AUTO(config) struct imgcheck_config *config = registry_config(c);
	AUTO(images) struct imgcheck_images *images = NULL;
	AUTO(error) struct imgcheck_error *e = NULL;
	const struct answer *candidate, *served;
	int64_t start = process_clock();
	int status;

	if (imgcheck_images_new(&images) || imgcheck_images_add_ref(images, t->set->candidate, &e) ||
	    imgcheck_images_add_ref(images, t->set->served, &e))
		return say_error(e);
	if (wait && is_resting(t, images))
		return 0;
	status = ask_images(config, images, NULL, NULL, &v->answers);
	if (status)
		return status == ASK_STOPPED ? GATE_STOPPED : status;
	t->now = (long long)time(NULL);
	candidate = answers_find(&v->answers, t->set->candidate);
	served = answers_find(&v->answers, t->set->served);
	v->known = is_telling(t, candidate) && is_telling(t, served);
	if (v->known) {
		v->seen.candidate = candidate->digest;
		v->seen.served = served->digest;
		doubt(c, t, v);
	} else if (process_clock() - start >= SLOW_MS) {
		leave_alone(t, images);
	}
	return 0;
}

/* What is served stays to be had under the backup tag.  False: *reason tells why not, new. */
static bool keep_served(const struct watch_config *c, const struct gate *t, char **reason)
{
	AUTO(answer) struct answer backup = { 0 };

	if (!t->g->served)
		return true;
	if (!ask_tag(c, t->set->backup, &backup) && (backup.kind == ANSWER_PRESENT || backup.kind == ANSWER_GONE))
		return gate_same(backup.digest, t->g->served) ||
		       move(c, t->set->backup, t->g->served, backup.digest, reason) == IMGCHECK_OK;
	*reason = memory_printf("cannot tell where %s is: %s", t->set->backup, backup.reason ? backup.reason : "it is not asked for");
	return false;
}

/* ------------------------------------------------------------------ one gate */

/* A gate while it is run. */
struct running {
	const struct watch_config *config;
	struct gate *t;
	char *copy_fault;
	bool refused; /* the tag was not where a look had seen it */
	bool now;   /* an operator wants it */
	bool again; /* a candidate that was rejected is judged once more */
	bool moves; /* only what was begun is done: nothing is judged */
};

/* The served tag is set to the pinned digest, and was read there.  True: there is another look to be had. */
static bool serve(struct running *r, bool keep)
{
	struct gate *t = r->t;
	AUTO(free) char *reason = NULL, *pinned = memory_text(t->g->pinned);
	enum imgcheck_err code = IMGCHECK_ERR_REGISTRY;

	if (!keep || keep_served(r->config, t, &reason))
		code = move(r->config, t->set->served, t->g->pinned, t->g->served, &reason);
	if (code == IMGCHECK_OK) {
		gate_settle(t, pinned);
		return true;
	}
	if (code == IMGCHECK_ERR_CONFLICT && !r->refused) {
		r->refused = true; /* the next look tells who it was */
		return true;
	}
	gate_postpone(t, reason);
	return false;
}

/* Does what is to be done next.  *more: there is another look to be had. */
static int act(struct running *r, enum gate_action action, bool *more)
{
	int status;

	*more = false;
	switch (action) {
	case GATE_WAIT:
		break;
	case GATE_VALIDATE:
		if (r->moves) {
			gate_defer(r->t);
			break;
		}
		status = validate(r->config, r->t);
		*more = !status && gate_has_passed(r->t);
		return status;
	case GATE_PROMOTE:
		*more = serve(r, true);
		break;
	case GATE_ROLL_BACK:
		*more = serve(r, false);
		break;
	}
	return 0;
}

/* Looks and acts by turns, until there is nothing more to be done. */
static int take_turns(struct running *r)
{
	bool more = true;
	int status = 0;

	for (int i = 0; i < MOST_TURNS && more && !status; i++) {
		AUTO(view) struct view v = { .seen.copy_fault = r->copy_fault };

		status = look(r->config, r->t, !r->now, &v);
		if (status || !v.known)
			return status;
		if (r->again)
			gate_judge_again(r->t, v.seen.candidate);
		r->again = false;
		status = act(r, gate_decide(r->t, &v.seen), &more);
	}
	return status;
}

static int run(const struct watch_config *c, const struct watch_gate *set, struct state *s, bool now)
{
	struct gate t = at_work(set, s);
	struct running r = { .config = c, .t = &t, .now = now, .again = now };
	int status = t.g ? copy(c, &t, &r.copy_fault) : no_room(set);

	if (!status && !t.g)
		status = no_room(set);
	if (!status)
		status = take_turns(&r);
	free(r.copy_fault);
	return status ? status : state_save(s);
}

int gates_run(const struct watch_config *c, const struct shard *shard, struct state *s)
{
	int status = 0, lock;

	if (!c->gate_count)
		return 0;
	lock = state_lock_gates(s->path);
	if (lock == STATE_UNLOCKED)
		return STATUS_INTERNAL;
	if (lock < 0) {
		say("the gates are left to another imgcheck, which runs them now");
		return 0;
	}
	for (size_t i = 0; i < c->gate_count && !status; i++)
		if (shard_has(shard, c->gates[i].name))
			status = run(c, &c->gates[i], s, false);
	close(lock);
	return status;
}

int gate_run(const struct watch_config *c, const struct watch_gate *set, struct state *s)
{
	int lock = state_lock_gates(s->path), status;

	if (lock == STATE_UNLOCKED)
		return STATUS_INTERNAL;
	if (lock < 0) {
		say("cannot run gate %s: another imgcheck runs gates now", set->name);
		return STATUS_UNDECIDED;
	}
	status = run(c, set, s, true);
	close(lock);
	return status;
}

/* ------------------------------------------------------------------ what an operator wants */

/* A look that must tell something. */
static int look_well(const struct watch_config *c, struct gate *t, struct view *v)
{
	int status = t->g ? look(c, t, false, v) : no_room(t->set);

	if (!status && v->known)
		gate_settle(t, v->seen.served);
	if (status || v->known)
		return status;
	say("cannot go on with gate %s: %s", t->set->name, t->g->reason);
	return STATUS_UNDECIDED;
}

/* What was saved as begun is done. */
static int carry_out(const struct watch_config *c, struct gate *t)
{
	struct running r = { .config = c, .t = t, .now = true, .moves = true };
	int status = state_save(t->state);

	if (!status)
		status = take_turns(&r);
	return status ? status : state_save(t->state);
}

int gate_promote(const struct watch_config *c, const struct watch_gate *set, struct state *s)
{
	AUTO(view) struct view v = { 0 };
	struct gate t = at_work(set, s);
	int status = look_well(c, &t, &v);

	if (status)
		return status;
	if (!v.seen.candidate) {
		say("cannot promote %s: there is none", set->candidate);
		return STATUS_DIFFERENT;
	}
	gate_force(&t, &v.seen);
	return carry_out(c, &t);
}

/* The digest to go back to: what this gate served before, else what the backup tag names.  *to is new; or an exit status. */
static int find_previous(const struct watch_config *c, const struct gate *t, const char *served, char **to)
{
	AUTO(answer) struct answer backup = { .kind = ANSWER_GONE };
	const char *digest = t->g->previous;
	int status = digest ? 0 : ask_tag(c, t->set->backup, &backup);

	if (status)
		return status == ASK_STOPPED ? GATE_STOPPED : status;
	digest = digest ? digest : backup.digest;
	if (digest && !gate_same(digest, served)) {
		*to = memory_text(digest);
		return 0;
	}
	status = digest || backup.kind == ANSWER_GONE ? STATUS_DIFFERENT : STATUS_UNDECIDED;
	if (digest)
		say("cannot roll gate %s back: what was served before is served now", t->set->name);
	else
		say("cannot roll gate %s back: it has served nothing else, and %s %s: %s", t->set->name, t->set->backup,
		    status == STATUS_DIFFERENT ? "is not there" : "cannot be told", backup.reason ? backup.reason : "it is not asked for");
	return status;
}

int gate_rollback(const struct watch_config *c, const struct watch_gate *set, struct state *s)
{
	AUTO(view) struct view v = { 0 };
	AUTO(free) char *to = NULL;
	struct gate t = at_work(set, s);
	int status = look_well(c, &t, &v);

	if (!status)
		status = find_previous(c, &t, v.seen.served, &to);
	if (status)
		return status;
	gate_go_back(&t, v.seen.served, to);
	return carry_out(c, &t);
}

int gate_set_hold(const struct watch_gate *set, struct state *s)
{
	struct gate t = at_work(set, s);

	if (!t.g)
		return no_room(set);
	gate_hold(&t);
	return state_save(s);
}

int gate_end_hold(const struct watch_gate *set, struct state *s)
{
	struct gate t = at_work(set, s);

	if (!t.g)
		return no_room(set);
	gate_release(&t);
	return state_save(s);
}
