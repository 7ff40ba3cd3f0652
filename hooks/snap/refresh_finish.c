/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "program/document.h"
#include "program/files.h"
#include "history.h"
#include "program/memory.h"
#include "judged.h"
#include "plug.h"
#include "program/process.h"
#include "proven.h"
#include "refresh.h"
#include "recent.h"
#include "program/say.h"
#include "program/status.h"

/* snapd keeps the last 100 lines and 10 KiB of a hook's output; we stay below with what else may be in it. */
#define MOST_LINES 60
#define MOST_BYTES ((size_t)8 << 10)

#define MOST_HOST 200 /* bytes */

#define SYSLOG_MS 2000

#define REPORT "last-report.json"
#define STATUS "last-status"

/* ---------------------------------------------------------------- the text */

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* Takes lines away after the first one, the heading, until the text fits: verdict and remedies stand at its end. */
static void make_fit(char *text)
{
	char *second = strchr(text, '\n'), *cut;

	while (second && (count_lines(text) > MOST_LINES || strlen(text) > MOST_BYTES)) {
		cut = strchr(second + 1, '\n');
		if (!cut)
			break;
		memmove(second, cut, strlen(cut) + 1);
	}
}

static void append(struct outcome *out, char *taken)
{
	AUTO(free) char *before = out->text;
	AUTO(free) char *line = taken;
	size_t len = strlen(before);

	out->text = memory_printf("%s%s%s\n", before, len && before[len - 1] != '\n' ? "\n" : "", line);
}

/* A hook without its plug meets what looks like a dead network. */
static void explain_network(const struct refresh *r, struct outcome *out)
{
	char *why = out->unreachable ? plug_explain(refresh_hook_name(r), process_clock() + SYSLOG_MS * 2) : NULL;

	if (why)
		append(out, why);
}

/* What this hook lets pass though the settings would not, and what to do about it. */
static void explain_mildness(const struct refresh *r, struct outcome *out)
{
	AUTO(lines) struct lines lacking = { 0 };

	if (r->leaves && refresh_count(out, IMGCHECK_OUTCOME_UNREADABLE))
		append(out, memory_text("what cannot be read here is left to the post-refresh hook of the new revision"));
	if (out->judged && !settings_is_veto(&r->settings, "on-unproven"))
		proven_lacks(&r->proven, out->report, &lacking);
	if (!lacking.count)
		return;
	append(out, memory_printf("%.*s%s never gave this unit an image, so that only warns: set imgcheck.authfile, ca-file, "
				  "plain-http or proxy.https as it needs, or imgcheck.on-unproven=veto", MOST_HOST, lacking.line[0],
				  lacking.count > 1 ? " and others" : ""));
}

/* ---------------------------------------------------------------- the report */

static bool is_veto(const struct refresh *r, const struct outcome *out)
{
	return out->decision == IMGCHECK_DECISION_VETO && refresh_enforces(r);
}

static const char *result_name(const struct refresh *r, const struct outcome *out)
{
	if (out->skipped)
		return "skipped";
	return is_veto(r, out) ? "vetoed" : "allowed";
}

static void format_time(char *out, size_t size)
{
	time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) || !strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts))
		*out = '\0';
}

/* What the hook adds to the report: which refresh this was, and what became of it. */
static void add_hook(const struct refresh *r, const struct outcome *out, const char *now)
{
	json_t *hook = document_object(), *revisions = document_array(), *notices = document_array();

	for (size_t i = 0; i < r->revisions.count; i++) {
		json_t *revision;

		if (!r->revisions.item[i].chosen)
			continue;
		revision = document_object();
		document_set_text(revision, "revision", r->revisions.item[i].name);
		document_set_text(revision, "version", r->revisions.item[i].version);
		document_add(revisions, revision);
	}
	for (size_t i = 0; i < r->notices.count; i++)
		document_add_text(notices, r->notices.line[i]);
	document_set_text(hook, "name", refresh_hook_name(r));
	document_set_text(hook, "snap", r->hook->instance);
	document_set_text(hook, "time", now);
	document_set_text(hook, "result", result_name(r, out));
	document_set_text(hook, "skipped", out->skipped);
	document_set_text(hook, "mode", settings_mode_name(r->settings.mode));
	document_set(hook, "accepted", json_boolean(r->accepted));
	document_set_text(hook, "from", *r->before.name ? r->before.name : NULL);
	document_set(hook, "to", revisions);
	document_set(hook, "notices", notices);
	document_set_text(hook, "text", out->text);
	document_set(out->report, "hook", hook);
}

/* What is left of an earlier run must not pass for a report of this one. */
static void remove_file(const struct refresh *r, const char *name)
{
	AUTO(free) char *path = files_join(r->hook->state, name);

	unlink(path);
}

static void write_report(const struct refresh *r, struct outcome *out)
{
	AUTO(free) char *text = document_render(out->report);
	int fault = files_replace(r->hook->state, REPORT, 0600, text, strlen(text));

	if (fault)
		remove_file(r, REPORT);
	else
		fault = history_add(r->hook->state, text, strlen(text));
	if (fault)
		append(out, memory_printf("the report cannot be written to %s: %s", r->hook->state, strerror(fault)));
}

/* "ok=21 missing=1" of the report: new. */
static char *format_counts(const struct outcome *out, const char *separator)
{
	char *text = memory_text("");
	const char *name;
	json_t *count;

	json_object_foreach(json_object_get(out->report, "counts"), name, count) {
		AUTO(free) char *before = text;

		text = memory_printf("%s%s%s=%lld", before, separator, name, (long long)json_integer_value(count));
	}
	return text;
}

/* For monitoring: no name of a host or an image in it, so everybody may read it. */
static void write_status(const struct refresh *r, const struct outcome *out, const char *now)
{
	AUTO(free) char *counts = format_counts(out, "\n");
	AUTO(free) char *text = memory_printf("time=%s\nresult=%s\ndecision=%s\nrevision=%s%s\n", now, result_name(r, out),
					      imgcheck_decision_name(out->decision), r->first ? r->first : "", counts);

	if (files_replace(r->hook->state, STATUS, 0644, text, strlen(text)))
		remove_file(r, STATUS); /* write_report() told what is wrong */
}

/* A revision that was stopped is not judged for whoever brings it in without asking us, and what failed is not at all. */
static int remember_judged(const struct refresh *r, const struct outcome *out)
{
	bool left = r->leaves && refresh_count(out, IMGCHECK_OUTCOME_UNREADABLE);

	if (r->after)
		return 0;
	return !is_veto(r, out) && (out->judged || left) ? judged_write(r, left) : judged_forget(r->hook->state);
}

/* For the hooks that come after this one.  Whatever is lost of it only makes them check once more. */
static void remember(const struct refresh *r, const struct outcome *out)
{
	int fault = remember_judged(r, out);

	if (!fault)
		fault = proven_add(r->hook->state, &r->proven, out->report);
	if (!fault && r->ways)
		fault = recent_write(r->hook->state, r->ways, r->recent, out->report);
	if (fault)
		say("cannot write to %s: %s", r->hook->state, strerror(fault));
}

/* ---------------------------------------------------------------- the journal */

struct entry {
	const char *ident, *text;
	int priority;
};

static int log_entry(void *arg)
{
	const struct entry *entry = arg;

	openlog(entry->ident, LOG_PID, LOG_USER);
	syslog(entry->priority, "%s", entry->text);
	closelog();
	return STATUS_OK;
}

/* By a child: a journal that does not take the entry must not hold the hook. */
static void log_line(const struct refresh *r, const struct outcome *out)
{
	AUTO(process_result) struct process_result ignored = { 0 };
	AUTO(free) char *counts = format_counts(out, " ");
	AUTO(free) char *ident = memory_printf("%s.imgcheck", r->hook->instance);
	AUTO(free) char *text = memory_printf("%s result=%s decision=%s from=%s to=%s mode=%s%s%s%s", refresh_hook_name(r),
					      result_name(r, out),
					      imgcheck_decision_name(out->decision), *r->before.name ? r->before.name : "unknown",
					      r->first ? r->first : "none",
					      settings_mode_name(r->settings.mode), counts, out->skipped ? ": " : "",
					      out->skipped ? out->skipped : "");
	struct entry entry = { ident, text, LOG_INFO };

	if (out->skipped || r->notices.count || out->decision == IMGCHECK_DECISION_WARN || r->accepted)
		entry.priority = LOG_WARNING;
	if (out->decision == IMGCHECK_DECISION_VETO)
		entry.priority = refresh_enforces(r) ? LOG_ERR : LOG_WARNING;
	process_run(&(struct process){ .main = log_entry, .arg = &entry, .until = process_clock() + SYSLOG_MS,
				       .most = 1 }, &ignored);
}

/* ---------------------------------------------------------------- the end */

/* What other programs and later runs read. */
static void write_files(struct refresh *r, struct outcome *out)
{
	int lock = hook_lock(r->hook);
	char now[32];

	format_time(now, sizeof(now));
	add_hook(r, out, now);
	write_report(r, out);
	write_status(r, out, now);
	remember(r, out);
	hook_unlock(lock);
}

int refresh_finish(struct refresh *r, struct outcome *out)
{
	explain_mildness(r, out);
	explain_network(r, out);
	say_printable(out->text, true);
	make_fit(out->text);
	write_files(r, out);
	log_line(r, out);
	if (out->decision != IMGCHECK_DECISION_ALLOW || (out->skipped && !r->after)) {
		fputs(out->text, stderr);
		fflush(stderr);
	}
	return is_veto(r, out) ? STATUS_MISSING : STATUS_OK;
}
