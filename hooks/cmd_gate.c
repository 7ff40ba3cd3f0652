/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "program/document.h"
#include "program/memory.h"
#include "program/options.h"
#include "program/output.h"
#include "program/say.h"
#include "program/status.h"
#include "watch/gate.h"
#include "watch/signals.h"

enum { TAKE_CONFIG, TAKE_STATE, TAKE_FORMAT };

static const struct flag gate_flags[] = {
	{ "config", "FILE", "that tells of the gates: imgcheck-watch(5)", TAKE_CONFIG },
	{ "state", "FILE", "what the watch remembers (CONFIG.state)", TAKE_STATE },
	{ "format", "text|json", "of status", TAKE_FORMAT },
	{ 0 },
};

struct request {
	const char *config_path, *state_path;
	bool json;
};

static int gate_take(void *arg, int id, const char *value)
{
	struct request *r = arg;

	if (id == TAKE_CONFIG) {
		r->config_path = value;
		return 0;
	}
	if (id == TAKE_STATE) {
		r->state_path = value;
		return 0;
	}
	r->json = !strcmp(value, "json");
	return r->json || !strcmp(value, "text") ? 0 : say_usage("gate", "--format %s: it is text or json", value);
}

static int do_hold(const struct watch_config *c, const struct watch_gate *set, struct state *s)
{
	(void)c;
	return gate_set_hold(set, s);
}

static int do_release(const struct watch_config *c, const struct watch_gate *set, struct state *s)
{
	(void)c;
	return gate_end_hold(set, s);
}

/* Whether the candidate is served. */
static int came_to_serve(const struct state_gate *g)
{
	switch ((enum state_phase)g->phase) {
	case STATE_GATE_SERVED:
		return STATUS_OK;
	case STATE_GATE_REJECTED:
	case STATE_GATE_HELD:
		return STATUS_DIFFERENT;
	case STATE_GATE_NEW:
	case STATE_GATE_VALIDATING:
	case STATE_GATE_OUTDATED:
		break;
	}
	return STATUS_UNDECIDED;
}

/* Whether nothing of it is still to be done, and nobody came in between. */
static int came_back(const struct state_gate *g)
{
	return g->step || g->found ? STATUS_UNDECIDED : STATUS_OK;
}

/* What an operator may do to one gate. */
static const struct action {
	const char *name;
	int (*act)(const struct watch_config *c, const struct watch_gate *set, struct state *s);
	int (*result)(const struct state_gate *g); /* its exit status, where it can come to nothing */
} actions[] = {
	{ "run", gate_run, came_to_serve }, { "promote", gate_promote, came_to_serve }, { "rollback", gate_rollback, came_back },
	{ "hold", do_hold, NULL },          { "release", do_release, NULL },
};

static int print(const struct watch_config *c, const char *name, const struct state *s, bool as_json)
{
	AUTO(json) json_t *document = gate_document(c, name, s);
	AUTO(output) struct output page = { 0 };

	output_open(&page);
	if (as_json) {
		AUTO(free) char *text = document_render(document);

		fputs(text, page.stream);
	} else {
		gate_print(document, page.stream);
	}
	return output_finish(&page, stdout, NULL);
}

/* What is said to a part that never sees to the gate would be heard by nobody. */
static int check_shard(const struct state *s, const char *name)
{
	struct shard shard;

	if (!s->shard || !shard_parse(s->shard, &shard) || shard_has(&shard, name))
		return 0;
	return say_usage("gate", "gate %s does not belong to shard %s, of which the state %s is", name, s->shard, s->path);
}

static int act(const struct watch_config *c, const char *path, const struct action *action, const char *name)
{
	const struct watch_gate *set = watch_config_gate(c, name);
	AUTO(state) struct state s = { .lock = -1 };
	const struct state_gate *g;
	int status;

	if (!set)
		return say_usage("gate", "there is no gate %s in %s", name, c->path);
	status = state_open(&s, path, STATE_WAIT_MS);
	if (!status)
		status = check_shard(&s, name);
	signals_hold(); /* a command of the gate ends with us, and whatever it started */
	if (!status)
		status = action->act(c, set, &s);
	if (status == GATE_STOPPED) {
		say("ended by a signal: what was begun is begun anew the next time");
		return STATUS_UNDECIDED;
	}
	if (status)
		return status;
	g = state_find_gate(&s, name);
	status = print(c, name, &s, false);
	return status || !action->result ? status : action->result(g);
}

static int show(const struct watch_config *c, const char *path, const char *name, bool as_json)
{
	AUTO(state) struct state s = { .lock = -1 };
	int status;

	if (name && !watch_config_gate(c, name))
		return say_usage("gate", "there is no gate %s in %s", name, c->path);
	status = state_look(&s, path);
	return status ? status : print(c, name, &s, as_json);
}

static int run(const struct request *r, const struct lines *operands)
{
	AUTO(watch_config) struct watch_config c = { 0 };
	AUTO(free) char *path = NULL;
	const char *what = operands->count ? operands->line[0] : NULL, *name = operands->count > 1 ? operands->line[1] : NULL;
	int status;

	if (!what || operands->count > 2)
		return say_usage("gate", "give what to do, and the name of one gate");
	if (!r->config_path)
		return say_usage("gate", "which gates? give --config FILE");
	status = watch_config_read(r->config_path, &c);
	if (status)
		return status;
	path = r->state_path ? memory_text(r->state_path) : memory_printf("%s.state", r->config_path);
	if (!strcmp(what, "status"))
		return show(&c, path, name, r->json);
	for (size_t i = 0; i < COUNT(actions); i++)
		if (!strcmp(what, actions[i].name))
			return name ? act(&c, path, &actions[i], name) : say_usage("gate", "%s: give the name of a gate", what);
	return say_usage("gate", "%s: it is status, run, promote, rollback, hold or release", what);
}

int cmd_gate(char *const *argv)
{
	struct request r = { 0 };
	AUTO(lines) struct lines operands = { 0 };
	const struct flag_group groups[] = { { gate_flags, gate_take, &r } };
	const struct command_line line = {
		.command = "gate",
		.usage = "status|run|promote|rollback|hold|release --config FILE [OPTION]... [NAME]",
		.about = "What is served behind a gate, and what an operator may do about it.",
		.notes = "status    phase of each gate, or of one, since when and why\n"
			 "run       looks at the candidate and validates it now, also a rejected one\n"
			 "promote   serves the candidate as it is, without validating it\n"
			 "rollback  serves what was before; what is served now is not promoted again\n"
			 "hold      promotes nothing, until release\n"
			 "release   ends a hold, and takes what another writer has set as what is served\n"
			 "Exit status: 0 done (run, promote: the candidate is served), 1 rejected, held, or nothing to go back to, "
			 "2 usage or configuration, 4 not decided yet, 70 internal error, or a state that cannot be used.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &operands, NULL);

	return status == STATUS_GO ? run(&r, &operands) : status;
}
