/* SPDX-License-Identifier: Apache-2.0 */
#include "refresh.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "program/document.h"
#include "program/files.h"
#include "judged.h"
#include "program/memory.h"
#include "check/policy.h"
#include "program/process.h"
#include "proven.h"
#include "recent.h"
#include "program/say.h"
#include "snapctl.h"
#include "program/status.h"

/* Milliseconds from the start of the hook; snapd ends it at 600,000. */
#define DESCRIBE_END 60000
#define CHECK_END ((int64_t)SETTINGS_MOST_DEADLINE * 1000)
#define GRACE 10000 /* from the deadline, which the library keeps by itself, to the kill */

/* Of what is shown; a report has place for eight lines after its verdict. */
#define MOST_NOTICES 5
#define MOST_NOTICE 250 /* bytes */

#define MOST_ANSWER ((size_t)32 << 20) /* a report of a thousand images has half a MiB */

/* ---------------------------------------------------------------- texts */

char *refresh_folder(const struct refresh *r, const struct revision *item)
{
	return r->hook->target ? memory_text(r->hook->target) : files_join(r->hook->root, item->name);
}

const char *refresh_hook_name(const struct refresh *r)
{
	return r->after ? "post-refresh" : "pre-refresh";
}

/*
 * When all is done already, only what is surely missing is worth going back for.  But what was left to us must be
 * readable now: else nobody would ever have judged it.
 */
enum imgcheck_decision refresh_effect(const struct refresh *r, enum imgcheck_outcome class)
{
	enum imgcheck_decision effect = settings_effect(&r->settings, class);
	bool unreadable = class == IMGCHECK_OUTCOME_UNREADABLE;
	bool counts = r->after ? class == IMGCHECK_OUTCOME_MISSING || (unreadable && r->left) : !(unreadable && r->leaves);

	return effect == IMGCHECK_DECISION_VETO && !counts ? IMGCHECK_DECISION_WARN : effect;
}

bool refresh_enforces(const struct refresh *r)
{
	return r->settings.mode == SETTINGS_ENFORCE && !r->accepted;
}

const char *refresh_consequence(const struct refresh *r, enum imgcheck_decision decision)
{
	if (decision != IMGCHECK_DECISION_VETO)
		return "the refresh goes on";
	if (r->accepted)
		return "the refresh goes on, since imgcheck.accept-revision names this revision";
	if (r->settings.mode != SETTINGS_ENFORCE)
		return "the refresh goes on, since imgcheck.mode=warn";
	return r->after ? "the refresh is undone: snapd goes back to the old revision" : "the refresh is stopped, nothing was changed";
}

void refresh_remedies(const struct refresh *r, enum imgcheck_decision decision, struct lines *remedies)
{
	for (size_t i = 0; i < r->notices.count && i < MOST_NOTICES; i++)
		lines_addf(remedies, "note:  %.*s", MOST_NOTICE, r->notices.line[i]);
	if (r->notices.count > MOST_NOTICES)
		lines_addf(remedies, "note:  and %zu more, which the full report has", r->notices.count - MOST_NOTICES);
	lines_addf(remedies, "full report:  %s/last-report.json", r->hook->state);
	if (decision == IMGCHECK_DECISION_VETO && refresh_enforces(r))
		lines_addf(remedies, "or let this revision pass (on every unit):  snap set %s imgcheck.accept-revision=%s",
			   r->hook->instance, r->first);
	/* Settings and folders may hold anything; a line of a report may not. */
	for (size_t i = 0; i < remedies->count; i++)
		say_printable(remedies->line[i], false);
}

static void describe_subject(struct refresh *r)
{
	const char *joint = "";

	r->subject = memory_printf("%s revision", r->hook->instance);
	for (size_t i = 0; i < r->revisions.count; i++) {
		const struct revision *item = &r->revisions.item[i];
		AUTO(free) char *before = r->subject;
		bool version = item->chosen && *item->version;

		r->subject = !item->chosen ? memory_text(before) :
			     memory_printf("%s%s %s%s%s%s", before, joint, item->name, version ? " (" : "", version ? item->version : "",
					   version ? ")" : "");
		joint = item->chosen ? " or" : joint;
		if (item->chosen && !r->first)
			r->first = memory_text(item->name);
	}
}

/* ---------------------------------------------------------------- the new revision */

/* A folder given for a rehearsal stands for the only candidate. */
static void use_target(struct refresh *r)
{
	const char *slash = strrchr(r->hook->target, '/'), *name = slash ? slash + 1 : r->hook->target;
	struct revision item = { .chosen = true, .version = memory_text("") };

	memcpy(item.name, revisions_is_name(name) ? name : "?", revisions_is_name(name) ? strlen(name) : 1);
	r->revisions.item = memory_grow(NULL, 1, sizeof(item));
	r->revisions.item[0] = item;
	r->revisions.count = 1;
}

static size_t find_revision(struct refresh *r)
{
	struct revisions_place place = hook_place(r->hook);
	size_t count = 1;

	if (r->hook->target)
		use_target(r);
	else if (revisions_list(&place, &r->revisions))
		count = revisions_choose(&r->revisions);
	else
		count = 0;
	describe_subject(r);
	if (count > 1)
		lines_addf(&r->notices, "which revision comes in is not certain: what any of them needs was asked for");
	return count;
}

/* ---------------------------------------------------------------- children that fail */

/* Why a child gave no answer, which had so many seconds: new. */
static char *failure(const struct process_result *result, unsigned seconds, enum imgcheck_outcome *class)
{
	AUTO(free) char *first = memory_text_cut(result->err, strcspn(result->err, "\n"));

	*class = IMGCHECK_OUTCOME_INTERNAL;
	switch (result->end) {
	case PROCESS_EXITED:
		break;
	case PROCESS_SIGNALLED:
		return memory_printf("the check was ended by signal %d%s%s", result->status, *first ? ": " : "", first);
	case PROCESS_LATE:
		*class = IMGCHECK_OUTCOME_UNDECIDED;
		return memory_printf("the check was not done within %u seconds (deadline)", seconds);
	case PROCESS_TOO_MUCH:
		*class = IMGCHECK_OUTCOME_UNREADABLE;
		return memory_text("the report would have more than 32 MiB");
	case PROCESS_NOT_STARTED:
		return memory_printf("no process can be made: %s", strerror(result->status));
	}
	return memory_printf("the check ended with status %d%s%s", result->status, *first ? ": " : "", first);
}

/* ---------------------------------------------------------------- configuration */

/* The keys that the descriptions ask for, by a child.  Returns NULL, or why they are not known: new. */
static char *find_keys(struct refresh *r, struct lines *keys, enum imgcheck_outcome *class)
{
	AUTO(process_result) struct process_result result = { 0 };
	AUTO(json) json_t *answer = NULL;
	const json_t *key;
	size_t i;

	process_run(&(struct process){ .main = refresh_describe, .arg = r, .until = r->hook->began + DESCRIBE_END,
				       .most = MOST_ANSWER }, &result);
	if (result.end == PROCESS_EXITED && !result.status)
		answer = json_loadb(result.out, result.len, 0, NULL);
	if (!answer)
		return failure(&result, DESCRIBE_END / 1000, class);
	r->leaves = !r->after && json_is_true(json_object_get(answer, "later"));
	json_array_foreach(json_object_get(answer, "keys"), i, key)
		if (json_is_string(key) && !lines_has(keys, json_string_value(key)))
			lines_add(keys, json_string_value(key));
	return NULL;
}

/* By one call of snapctl.  Returns NULL, or why there is no configuration: new. */
static char *ask_configuration(struct refresh *r, const struct lines *keys)
{
	AUTO(free) char *why = NULL;

	if (snapctl_get(keys, r->hook->began + CHECK_END, &r->config, &why))
		return NULL;
	return memory_printf("cannot read the snap's configuration: %s", why);
}

/*
 * What snapctl did not tell of all keys, of the settings alone: the way out must not depend on the description.  And if
 * these are to be had, but not even now the rest, it is a key of the description that cannot be read.
 */
static void ask_settings(struct refresh *r, const struct lines *keys, json_t **tree, char **why, enum imgcheck_outcome *class)
{
	AUTO(lines) struct lines settings_only = { 0 };
	AUTO(free) char *again = NULL;

	lines_add(&settings_only, SETTINGS_TREE);
	if (!snapctl_get(&settings_only, r->hook->began + CHECK_END, tree, &again) || keys->count <= 1)
		return;
	free(*why);
	*why = ask_configuration(r, keys);
	*class = IMGCHECK_OUTCOME_UNREADABLE;
}

/*
 * What cannot be read is left to post-refresh only where that will know of it: the record stands before anything is left.
 * The end of the run replaces it, or takes it away.
 */
static void leave(struct refresh *r)
{
	int fault, lock;

	r->leaves = r->leaves && !settings_has(&r->settings, "on-unreadable");
	if (!r->leaves)
		return;
	lock = hook_lock(r->hook);
	fault = judged_write(r, true);
	hook_unlock(lock);
	if (!fault)
		return;
	r->leaves = false;
	lines_addf(&r->notices, "nothing can be left to post-refresh: cannot write to %s: %s", r->hook->state, strerror(fault));
}

/*
 * The configuration and the settings.  Nothing is judged by part of a configuration: without its keys, a unit would look
 * as if it were not set up.  Returns NULL, or why there is no configuration: new.
 */
static char *read_configuration(struct refresh *r, enum imgcheck_outcome *class)
{
	AUTO(lines) struct lines keys = { 0 };
	AUTO(json) json_t *tree = NULL;
	char *why;

	lines_add(&keys, SETTINGS_TREE);
	why = find_keys(r, &keys, class);
	if (!why) {
		*class = IMGCHECK_OUTCOME_INTERNAL;
		why = ask_configuration(r, &keys);
	}
	if (why)
		ask_settings(r, &keys, &tree, &why, class);
	settings_read(&r->settings, r->config ? r->config : tree, &r->notices);
	leave(r);
	for (size_t i = 0; r->settings.accept_revision && i < r->revisions.count; i++)
		r->accepted |= r->revisions.item[i].chosen && !strcmp(r->revisions.item[i].name, r->settings.accept_revision);
	return why;
}

/* ---------------------------------------------------------------- the check */

void refresh_alone(const struct refresh *r, enum imgcheck_outcome class, const char *message, struct outcome *out)
{
	AUTO(lines) struct lines remedies = { 0 };
	AUTO(free) char *tail = NULL;
	json_t *problem = document_object(), *problems = document_array(), *counts = document_object();

	out->decision = refresh_effect(r, class);
	if (class == IMGCHECK_OUTCOME_UNDECIDED && !r->proven.count && !settings_is_veto(&r->settings, "on-unproven"))
		out->decision = IMGCHECK_DECISION_WARN;
	document_set_text(problem, "class", imgcheck_outcome_name(class));
	document_set_text(problem, "message", message);
	document_add(problems, problem);
	document_set_number(counts, imgcheck_outcome_name(class), 1);
	out->report = document_object();
	document_set_number(out->report, "version", 1);
	document_set_text(out->report, "decision", imgcheck_decision_name(out->decision));
	document_set(out->report, "counts", counts);
	document_set(out->report, "images", document_array());
	document_set(out->report, "problems", problems);
	refresh_remedies(r, out->decision, &remedies);
	tail = lines_join(&remedies);
	out->text = memory_printf("cannot check the images that %s needs: %s\n%s\n%s", r->subject, message,
				  refresh_consequence(r, out->decision), tail);
}

/* Nothing to judge, which is told but stops nothing. */
static void skip(const struct refresh *r, const char *why, struct outcome *out)
{
	out->decision = IMGCHECK_DECISION_ALLOW;
	out->skipped = memory_text(why);
	out->report = document_object();
	document_set_number(out->report, "version", 1);
	document_set_text(out->report, "decision", imgcheck_decision_name(out->decision));
	document_set(out->report, "counts", document_object());
	document_set(out->report, "images", document_array());
	document_set(out->report, "problems", document_array());
	out->text = memory_printf("%s: %s: no image was asked for\n", r->hook->instance, why);
}

size_t refresh_count(const struct outcome *out, enum imgcheck_outcome class)
{
	return (size_t)json_integer_value(json_object_get(json_object_get(out->report, "counts"), imgcheck_outcome_name(class)));
}

/* What the child made of the check. */
static bool take_answer(struct refresh *r, const json_t *answer, struct outcome *out)
{
	const char *class_name = json_string_value(json_object_get(answer, "class"));
	const char *message = json_string_value(json_object_get(answer, "message"));
	json_t *report = json_object_get(answer, "report"), *notices = json_object_get(answer, "notices"), *notice;
	const char *text = json_string_value(json_object_get(answer, "text"));
	const char *skipped = json_string_value(json_object_get(answer, "skipped"));
	enum imgcheck_outcome class;
	size_t i;

	json_array_foreach(notices, i, notice)
		if (json_is_string(notice) && !lines_has(&r->notices, json_string_value(notice)))
			lines_add(&r->notices, json_string_value(notice));
	if (skipped) {
		skip(r, skipped, out);
		return true;
	}
	if (class_name && message && policy_class(class_name, &class)) {
		refresh_alone(r, class, message, out);
		return true;
	}
	if (!json_is_object(report) || !text)
		return false;
	out->decision = (enum imgcheck_decision)json_integer_value(json_object_get(answer, "decision"));
	out->report = json_incref(report);
	out->text = memory_text(text);
	out->unreachable = json_is_true(json_object_get(answer, "unreachable"));
	out->judged = !r->leaves || !refresh_count(out, IMGCHECK_OUTCOME_UNREADABLE);
	return true;
}

/* A child that did its work and gave no answer that can be used counts as one that failed. */
static void take_failure(const struct refresh *r, const struct process_result *result, struct outcome *out)
{
	enum imgcheck_outcome class;
	AUTO(free) char *message = failure(result, r->settings.deadline, &class);

	refresh_alone(r, class, message, out);
}

static void check(struct refresh *r, struct outcome *out)
{
	AUTO(process_result) struct process_result result = { 0 };
	AUTO(json) json_t *answer = NULL;
	int64_t now = process_clock(), left = (r->hook->began + CHECK_END - now) / 1000;

	if (left < (int64_t)r->settings.deadline)
		r->settings.deadline = left < 1 ? 1 : (unsigned)left;
	process_run(&(struct process){ .main = refresh_judge, .arg = r, .until = now + (int64_t)r->settings.deadline * 1000 + GRACE,
				       .most = MOST_ANSWER }, &result);
	if (result.end == PROCESS_EXITED && !result.status)
		answer = json_loadb(result.out, result.len, 0, NULL);
	if (!answer || !take_answer(r, answer, out))
		take_failure(r, &result, out);
}

/* ---------------------------------------------------------------- the hook */

static void clear(struct refresh *r, struct outcome *out)
{
	revisions_clear(&r->revisions);
	revisions_clear(&r->olds);
	free(r->before.version);
	lines_clear(&r->proven);
	json_decref(r->ways);
	json_decref(r->recent);
	free(r->subject);
	free(r->first);
	json_decref(r->config);
	settings_clear(&r->settings);
	lines_clear(&r->notices);
	json_decref(out->report);
	free(out->text);
	free(out->skipped);
}

static json_t *find_ways(const struct refresh *r)
{
	AUTO(proxies) struct proxies proxies = { 0 };

	proxies_read(&proxies, r->hook->environment);
	settings_proxies(&r->settings, &proxies);
	return settings_ways(&r->settings, r->hook->common, &proxies);
}

static void judge(struct refresh *r, struct outcome *out)
{
	enum imgcheck_outcome class;
	AUTO(free) char *why = read_configuration(r, &class);
	bool internal_vetoes = refresh_effect(r, IMGCHECK_OUTCOME_INTERNAL) == IMGCHECK_DECISION_VETO;

	memory_exit_status(refresh_enforces(r) && internal_vetoes ? STATUS_MISSING : STATUS_OK);
	if (r->settings.mode == SETTINGS_OFF) {
		skip(r, "setting imgcheck.mode=off", out);
		return;
	}
	if (why) {
		refresh_alone(r, class, why, out);
		return;
	}
	r->ways = find_ways(r);
	r->recent = recent_read(r->hook->state, r->ways);
	check(r, out);
}

/* The old revision, in pre-refresh: ours. */
static void set_before(struct refresh *r)
{
	const char *version = getenv("SNAP_VERSION");

	if (revisions_is_name(r->hook->revision))
		memcpy(r->before.name, r->hook->revision, strlen(r->hook->revision));
	r->before.version = memory_text(version ? version : "");
}

int hook_pre_refresh(const struct hook *h)
{
	struct refresh r = { .hook = h };
	struct outcome out = { 0 };
	int status, fault = judged_forget(h->state);

	settings_read(&r.settings, NULL, &r.notices);
	proven_read(h->state, &r.proven);
	set_before(&r);
	if (fault)
		lines_addf(&r.notices, "post-refresh may not judge again: cannot change %s: %s", h->state, strerror(fault));
	if (find_revision(&r))
		judge(&r, &out);
	else
		skip(&r, "no new revision is to be seen", &out);
	status = refresh_finish(&r, &out);
	clear(&r, &out);
	return status;
}

/* ---------------------------------------------------------------- after it */

/* Ours is the new revision; the old is the only other one, or that which left something to us, or any of the others. */
static void find_ourselves(struct refresh *r)
{
	struct revisions_place place = hook_place(r->hook);
	struct revisions others = { 0 };
	const char *version = getenv("SNAP_VERSION");
	struct revision item = { .chosen = true, .version = memory_text(version ? version : "") };

	if (revisions_is_name(r->hook->revision))
		memcpy(item.name, r->hook->revision, strlen(r->hook->revision));
	r->revisions.item = memory_grow(NULL, 1, sizeof(item));
	r->revisions.item[0] = item;
	r->revisions.count = 1;
	if (revisions_list(&place, &others))
		for (size_t i = 0; i < others.count && !*r->before.name; i++)
			if (others.count == 1 || (r->left && judged_from(r->hook->state, others.item[i].name))) {
				r->before = others.item[i];
				others.item[i].version = NULL;
			}
	if (*r->before.name)
		revisions_clear(&others);
	else
		r->olds = others;
	describe_subject(r);
}

/*
 * It was meant for one refresh, which this one was: it names this revision, or another one that might have been it when
 * pre-refresh, which then tells one of them, could not be certain.
 */
static void clear_accepted(const struct refresh *r)
{
	const char *state = r->hook->state, *accepted = r->settings.accept_revision;
	bool meant = r->accepted || (accepted && judged_has(state, r->hook->revision) && judged_has(state, accepted));
	AUTO(free) char *why = NULL;

	if (meant && !snapctl_unset(SETTINGS_TREE ".accept-revision", r->hook->began + CHECK_END, &why))
		say("cannot unset imgcheck.accept-revision: %s", why);
}

int hook_post_refresh(const struct hook *h)
{
	struct refresh r = { .hook = h, .after = true };
	struct outcome out = { 0 };
	enum imgcheck_outcome ignored;
	int status = STATUS_OK;

	settings_read(&r.settings, NULL, &r.notices);
	proven_read(h->state, &r.proven);
	r.left = judged_left(h->state, h->revision);
	find_ourselves(&r);
	if (judged_has(h->state, h->revision))
		free(read_configuration(&r, &ignored)); /* for accept-revision alone */
	else
		judge(&r, &out);
	if (out.report)
		status = refresh_finish(&r, &out);
	if (status == STATUS_OK) {
		clear_accepted(&r);
		status = hook_record(h);
		(void)!judged_forget(h->state); /* a later refresh to this revision is another one */
	}
	clear(&r, &out);
	return status;
}
