/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "program/document.h"
#include "program/files.h"
#include "later.h"
#include "program/memory.h"
#include "check/policy.h"
#include "program/process.h"
#include "program/proxies.h"
#include "proven.h"
#include "refresh.h"
#include "recent.h"
#include "program/say.h"
#include "program/status.h"

#define DESCRIPTION "meta/imgcheck.yaml"

/* The child's state. */
struct judgement {
	struct refresh *refresh;
	json_t *answer;
	char *configuration; /* JSON text */
	struct imgcheck_images *images;
	struct imgcheck_config *config;
	bool described;  /* one of the revisions that may come in has a description */
	bool configured; /* and one says that this unit is set up */
};

/* ---------------------------------------------------------------- answers */

static int print_answer(json_t *answer, const struct lines *notices)
{
	json_t *list = document_array();

	for (size_t i = 0; i < notices->count; i++)
		document_add_text(list, notices->line[i]);
	document_set(answer, "notices", list);
	return json_dumpf(answer, stdout, JSON_COMPACT) ? STATUS_INTERNAL : STATUS_OK;
}

/* The answer is one problem: an error of the library that ends the judgement. */
static void answer_error(json_t *answer, const struct imgcheck_error *e)
{
	AUTO(free) char *text = say_text(e);
	bool internal = !e || say_status(imgcheck_error_code(e)) == STATUS_INTERNAL;

	document_set_text(answer, "class", imgcheck_outcome_name(internal ? IMGCHECK_OUTCOME_INTERNAL : IMGCHECK_OUTCOME_UNREADABLE));
	document_set_text(answer, "message", text);
}

/* ---------------------------------------------------------------- descriptions */

/* A link to nothing is there: that it cannot be read is told. */
static bool is_missing(const char *path)
{
	struct stat st;

	return lstat(path, &st) && (errno == ENOENT || errno == ENOTDIR);
}

/* The description for a revision's folder: its own, else that of our revision.  new; NULL where neither has one. */
static char *find_description(const struct refresh *r, const char *folder, bool *borrowed)
{
	AUTO(free) char *own = files_join(folder, DESCRIPTION), *ours = files_join(r->hook->snap, DESCRIPTION);

	*borrowed = is_missing(own);
	if (!*borrowed)
		return TAKE(own);
	return is_missing(ours) ? NULL : TAKE(ours);
}

static bool is_left(const struct refresh *r)
{
	bool all = true;

	for (size_t i = 0; i < r->revisions.count; i++) {
		AUTO(free) char *folder = r->revisions.item[i].chosen ? refresh_folder(r, &r->revisions.item[i]) : NULL;

		all = all && (!folder || later_is_ours(folder));
	}
	return all;
}

static void add_keys(const struct imgcheck_target *t, json_t *keys)
{
	const char *key;

	for (size_t i = 0; (key = imgcheck_target_config_key(t, i)); i++)
		document_add_text(keys, key);
}

/* Keys of one folder's description; what is wrong with it is told when it is judged. */
static void describe(const struct refresh *r, const char *folder, json_t *keys)
{
	AUTO(target) struct imgcheck_target *target = NULL;
	bool borrowed;
	AUTO(free) char *description = find_description(r, folder, &borrowed);

	if (description && !imgcheck_target_open(folder, borrowed ? description : NULL, &target, NULL))
		add_keys(target, keys);
}

int refresh_describe(void *arg)
{
	const struct refresh *r = arg;
	AUTO(json) json_t *answer = document_object();
	json_t *keys = document_array();

	document_set(answer, "keys", keys);
	for (size_t i = 0; i < r->revisions.count; i++) {
		AUTO(free) char *folder = refresh_folder(r, &r->revisions.item[i]);

		if (r->revisions.item[i].chosen)
			describe(r, folder, keys);
	}
	if (*r->before.name) {
		AUTO(free) char *folder = files_join(r->hook->root, r->before.name);

		describe(r, folder, keys);
	}
	for (size_t i = 0; i < r->olds.count; i++) {
		AUTO(free) char *folder = files_join(r->hook->root, r->olds.item[i].name);

		describe(r, folder, keys);
	}
	document_set(answer, "later", json_boolean(is_left(r)));
	return json_dumpf(answer, stdout, JSON_COMPACT) ? STATUS_INTERNAL : STATUS_OK;
}

/* ---------------------------------------------------------------- what is needed */

/* What snapd would set in the environment of the revision; all else is as for us. */
static const char *variable(const char *name, const char *folder, const struct revision *item)
{
	if (!strcmp(name, "SNAP"))
		return folder;
	if (!strcmp(name, "SNAP_REVISION"))
		return item->name;
	if (!strcmp(name, "SNAP_VERSION"))
		return item->version;
	return getenv(name);
}

/* Once for each revision, however often it is read. */
static void note_borrowed(struct refresh *r, const struct revision *item)
{
	AUTO(free) char *text = memory_printf("revision %s has no " DESCRIPTION ": that of revision %s was used", item->name,
					      r->hook->revision);

	if (!lines_has(&r->notices, text))
		lines_add(&r->notices, text);
}

/* Opens the description of a folder and gives it the configuration. */
static int open_target(const struct judgement *j, const char *folder, const struct revision *item, struct imgcheck_target **out,
                       struct imgcheck_error **e)
{
	bool borrowed;
	AUTO(free) char *description = find_description(j->refresh, folder, &borrowed);
	const char *name, *value;
	int fault;

	if (!description)
		return 0;
	if (borrowed)
		note_borrowed(j->refresh, item);
	fault = imgcheck_target_open(folder, borrowed ? description : NULL, out, e);
	if (!fault)
		fault = imgcheck_target_set_config(*out, j->configuration, strlen(j->configuration), e);
	for (size_t i = 0; !fault && (name = imgcheck_target_env_name(*out, i)); i++)
		if ((value = variable(name, folder, item)))
			fault = imgcheck_target_set_env(*out, name, value, e);
	return fault;
}

/* The registry that the templates are given is the one whose login counts. */
static void set_registry(const struct judgement *j, const struct imgcheck_target *target)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *value = NULL;

	if (!imgcheck_target_value(target, "registry", &value, &e) && value)
		(void)!imgcheck_config_set(j->config, IMGCHECK_OPTION_REGISTRY, value, &e);
	if (e)
		lines_addf(&j->refresh->notices, "the value of registry is not used: %s", imgcheck_error_message(e));
}

/* Adds what a revision that comes in needs.  False: *e says why it cannot be judged. */
static bool add_revision(struct judgement *j, const struct revision *item, struct imgcheck_error **e)
{
	AUTO(free) char *folder = refresh_folder(j->refresh, item);
	AUTO(target) struct imgcheck_target *target = NULL;
	bool configured = false;

	if (open_target(j, folder, item, &target, e))
		return false;
	if (!target) {
		lines_addf(&j->refresh->notices, "revision %s has no " DESCRIPTION ", nor has ours: what it needs is not known",
			   item->name);
		return true;
	}
	j->described = true;
	if (imgcheck_target_configured(target, &configured, e))
		return false;
	if (!configured)
		return true;
	j->configured = true;
	set_registry(j, target);
	return !imgcheck_images_add_target(j->images, target, e);
}

/* What a revision of before needs: new; NULL where that is not known. */
static struct imgcheck_images *needed_by(const struct judgement *j, const struct revision *old)
{
	AUTO(free) char *folder = files_join(j->refresh->hook->root, old->name);
	AUTO(images) struct imgcheck_images *images = NULL;
	AUTO(target) struct imgcheck_target *target = NULL;
	AUTO(error) struct imgcheck_error *e = NULL;
	bool configured = false;

	if (imgcheck_images_new(&images) || open_target(j, folder, old, &target, &e) || !target)
		return NULL;
	if (imgcheck_target_configured(target, &configured, &e) || !configured || imgcheck_images_add_target(images, target, &e))
		return NULL;
	return TAKE(images);
}

/* What both need, which is the first without what only that needs: new; NULL where it is not known. */
static struct imgcheck_images *needed_by_both(const struct judgement *j, struct imgcheck_images *taken,
                                              const struct revision *first, const struct revision *other)
{
	AUTO(images) struct imgcheck_images *both = taken, *only = needed_by(j, first), *rest = needed_by(j, other);

	if (!only || !rest || imgcheck_images_subtract(only, rest, NULL) || imgcheck_images_subtract(both, only, NULL))
		return NULL;
	return TAKE(both);
}

/*
 * What the old revision needs was needed before: if it is missing, nothing gets worse.  Where it is one of several, that
 * holds for what all of them need.
 */
static void mark_known(struct judgement *j)
{
	const struct refresh *r = j->refresh;
	const struct revision *first = *r->before.name ? &r->before : r->olds.item;
	AUTO(images) struct imgcheck_images *before = first ? needed_by(j, first) : NULL;

	for (size_t i = 1; before && i < r->olds.count; i++)
		before = needed_by_both(j, before, first, &r->olds.item[i]);
	if (before)
		(void)!imgcheck_images_mark_known(j->images, before, NULL);
}

static bool collect(struct judgement *j, struct imgcheck_error **e)
{
	const struct revisions *revisions = &j->refresh->revisions;

	for (size_t i = 0; i < revisions->count; i++)
		if (revisions->item[i].chosen && !add_revision(j, &revisions->item[i], e))
			return false;
	if (j->configured)
		mark_known(j);
	return !recent_mark(j->refresh->recent, j->images);
}

/* ---------------------------------------------------------------- the check */

static bool set(struct judgement *j, enum imgcheck_option option, const char *value, struct imgcheck_error **e)
{
	return !imgcheck_config_set(j->config, option, value, e);
}

/* Hosts that never gave this unit an image only warn, unless the operator wants them to count; see proven.h. */
static void set_unproven(struct judgement *j)
{
	(void)!imgcheck_config_set(j->config, IMGCHECK_OPTION_ON_UNPROVEN, imgcheck_decision_name(IMGCHECK_DECISION_WARN), NULL);
	proven_apply(&j->refresh->proven, j->config, &j->refresh->notices);
}

/* Where this hook is milder than the settings are. */
static void set_effects(struct judgement *j)
{
	enum imgcheck_option option;

	for (int class = IMGCHECK_OUTCOME_OK; class <= IMGCHECK_OUTCOME_INTERNAL; class++) {
		enum imgcheck_decision effect = refresh_effect(j->refresh, (enum imgcheck_outcome)class);

		if (effect != settings_effect(&j->refresh->settings, (enum imgcheck_outcome)class) &&
		    policy_option((enum imgcheck_outcome)class, &option))
			(void)!imgcheck_config_set(j->config, option, imgcheck_decision_name(effect), NULL);
	}
}

/* Settings and proxies; what is wrong with them becomes a notice. */
static void configure(struct judgement *j)
{
	struct refresh *r = j->refresh;
	AUTO(proxies) struct proxies proxies = { 0 };
	AUTO(free) char *proxy = NULL;

	set_unproven(j);
	settings_apply(&r->settings, r->hook->common, j->config, &r->notices);
	set_effects(j);
	proxies_read(&proxies, r->hook->environment);
	settings_proxies(&r->settings, &proxies);
	proxies_apply(&proxies, j->config, &r->notices);
	proxy = proxies_text(&proxies);
	if (proxy)
		lines_addf(&r->notices, "registries were asked %s", proxy);
}

/* Reading took of the time, and whoever waits for us knows one deadline: the rest of it is for asking. */
static bool set_time_left(struct judgement *j, int64_t began, struct imgcheck_error **e)
{
	int64_t left = (int64_t)j->refresh->settings.deadline - (process_clock() - began) / 1000;
	AUTO(free) char *text = memory_printf("%lld", left < 1 ? 1 : (long long)left);

	return set(j, IMGCHECK_OPTION_DEADLINE, text, e);
}

/* The texts of the report, once all notices are known. */
static bool set_texts(struct judgement *j, struct imgcheck_error **e)
{
	AUTO(lines) struct lines remedies = { 0 };

	refresh_remedies(j->refresh, IMGCHECK_DECISION_VETO, &remedies);
	if (!set(j, IMGCHECK_OPTION_SUBJECT, j->refresh->subject, e) ||
	    !set(j, IMGCHECK_OPTION_CONSEQUENCE, refresh_consequence(j->refresh, IMGCHECK_DECISION_VETO), e))
		return false;
	for (size_t i = 0; i < remedies.count; i++)
		if (!set(j, IMGCHECK_OPTION_REMEDY, remedies.line[i], e))
			return false;
	return true;
}

static bool counts_as_unreachable(const struct imgcheck_report *report)
{
	for (size_t i = 0; i < imgcheck_report_count(report); i++)
		if (imgcheck_report_verdict(report, i) == IMGCHECK_VERDICT_UNREACHABLE &&
		    imgcheck_report_effect(report, i) != IMGCHECK_DECISION_ALLOW)
			return true;
	return false;
}

static bool answer_report(struct judgement *j, const struct imgcheck_report *report, struct imgcheck_error **e)
{
	AUTO(free) char *text = NULL, *rendered = NULL;
	json_t *document;
	size_t len;

	if (imgcheck_report_render(report, IMGCHECK_FORMAT_TEXT, &text, &len, e))
		return false;
	document_set_text(j->answer, "text", text);
	if (imgcheck_report_render(report, IMGCHECK_FORMAT_JSON, &rendered, &len, e))
		return false;
	document = json_loadb(rendered, len, 0, NULL);
	if (!document)
		return false;
	document_set(j->answer, "report", document);
	document_set_number(j->answer, "decision", imgcheck_report_decision(report));
	document_set(j->answer, "unreachable", json_boolean(counts_as_unreachable(report)));
	return true;
}

static bool judge(struct judgement *j, struct imgcheck_error **e)
{
	AUTO(report) struct imgcheck_report *report = NULL;
	const int64_t began = process_clock();

	if (imgcheck_images_new(&j->images) || imgcheck_config_new(&j->config))
		return false;
	configure(j);
	if (!collect(j, e))
		return false;
	if (!j->configured) {
		document_set_text(j->answer, "skipped", j->described ? "this unit is not set up" : "there is no " DESCRIPTION);
		return true;
	}
	return set_texts(j, e) && set_time_left(j, began, e) && !imgcheck_check(j->config, j->images, &report, e) &&
	       answer_report(j, report, e);
}

static void clear(struct judgement *j)
{
	json_decref(j->answer);
	memory_forget(j->configuration);
	imgcheck_images_free(j->images);
	imgcheck_config_free(j->config);
}

int refresh_judge(void *arg)
{
	struct judgement j = { .refresh = arg, .answer = document_object() };
	AUTO(error) struct imgcheck_error *e = NULL;
	int status;

	j.configuration = memory_must(json_dumps(j.refresh->config, JSON_COMPACT));
	if (!judge(&j, &e))
		answer_error(j.answer, e);
	status = print_answer(j.answer, &j.refresh->notices);
	clear(&j);
	return status;
}
