/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A report for people: what failed, grouped by cause, then the decision and what to do.  It is shown by
 * snapd, which keeps the last 100 lines and 10 KiB, and mostly at a bad time: the end is therefore written
 * first, with its own share of the page, and what stands above gives way to it.
 */

#include "report.h"

#include <string.h>

#include "base/limits.h"
#include "page.h"
#include "source/config.h"
#include "verdict.h"

/* How much of a text from outside is shown.  The JSON has all of it. */
#define SHOWN_REFERENCE 300
#define SHOWN_HOST 300
#define SHOWN_REASON 300
#define SHOWN_OBJECT 200
#define SHOWN_FILE 256
#define SHOWN_SUBJECT 200
#define SHOWN_REMEDY 300

/* Shares of the end of the page: about 1 KiB and one line for the decision, and these. */
#define COPY_LINES 3
#define COPY_BYTES 2048 /* together; a copy command that does not fit whole is of no use */
#define REMEDY_LINES 8

/* Of the part above it, where not even the causes fit: "... and 12345 more, for other causes". */
#define REST_LINES 2
#define REST_BYTES 128

/* ------------------------------------------------------------------ words */

struct words {
	const char *before, *after; /* around the host that decided */
	const char *hostless;       /* where none was asked */
	const char *advice;         /* what to do, or NULL */
};

static const struct words verdict_words[] = {
	[IMGCHECK_VERDICT_OK] = {"there in ", "", "there", NULL},
	[IMGCHECK_VERDICT_NOT_FOUND] = {"not found in ", "", "not found", NULL},
	[IMGCHECK_VERDICT_NO_PLATFORM] = {"not there for the wanted platform in ", "", "not there for the wanted platform",
	                                  "copy the image with all its platforms"},
	[IMGCHECK_VERDICT_INCOMPLETE] = {"not complete in ", "", "not complete", "copy the image there again"},
	[IMGCHECK_VERDICT_CORRUPT] = {"damaged or of an unsupported kind in ", "", "damaged or of an unsupported kind",
	                              "copy the image there again"},
	[IMGCHECK_VERDICT_INVALID] = {"not an image reference for ", "", "not an image reference",
	                              "correct the reference or the value it is made of"},
	[IMGCHECK_VERDICT_UNAUTHORIZED] = {"missing or no access in ", "", "missing or no access",
	                                   "give credentials that may pull, or copy the image there"},
	[IMGCHECK_VERDICT_DENIED] = {"missing, no access or against a policy in ", "", "missing, no access or against a policy",
	                             "give credentials that may pull, copy the image there, or see the registry's policy"},
	[IMGCHECK_VERDICT_UNREACHABLE] = {"cannot reach ", "", "cannot reach the registry",
	                                  "check name, port, network and proxy from this host, then try again"},
	[IMGCHECK_VERDICT_TLS] = {"no trusted connection to ", "", "no trusted connection",
	                          "give the CA certificate of the registry, or see its own certificate"},
	[IMGCHECK_VERDICT_RATE_LIMITED] = {"rate limit reached at ", "", "rate limit reached",
	                                   "try again later, or give credentials with a higher limit"},
	[IMGCHECK_VERDICT_SERVER_ERROR] = {"no usable answer from ", "", "no usable answer",
	                                   "see to the registry, then try again"},
	[IMGCHECK_VERDICT_NOT_A_REGISTRY] = {"", " does not answer as a registry does", "no answer as of a registry",
	                                     "check address and port of the registry, and the proxy"},
	[IMGCHECK_VERDICT_DEADLINE] = {"not decided in time by ", "", "not decided in time",
	                               "try again, or give the check more time (deadline)"},
	[IMGCHECK_VERDICT_SKIPPED] = {"not asked of ", "", "not asked", NULL},
};

_Static_assert(IC_COUNT(verdict_words) == IMGCHECK_VERDICT_SKIPPED + 1, "a verdict has no words");

static const char *problem_headline(enum imgcheck_outcome o)
{
	switch (o) {
	case IMGCHECK_OUTCOME_OK:
		return "worth knowing";
	case IMGCHECK_OUTCOME_UNRESOLVED:
		return "image fields whose value is no reference";
	case IMGCHECK_OUTCOME_INTERNAL:
		return "the check itself failed";
	case IMGCHECK_OUTCOME_SKIPPED:
	case IMGCHECK_OUTCOME_MISSING:
	case IMGCHECK_OUTCOME_ALREADY_MISSING:
	case IMGCHECK_OUTCOME_ACCESS:
	case IMGCHECK_OUTCOME_UNDECIDED:
	case IMGCHECK_OUTCOME_HINT:
	case IMGCHECK_OUTCOME_UNREADABLE:
		break;
	}
	return "cannot be read or evaluated";
}

/* How a place names the image. */
static const char *origin_verb(enum imgcheck_class class)
{
	switch (class) {
	case IMGCHECK_CLASS_REQUIRED:
		return "needed by";
	case IMGCHECK_CLASS_MENTIONED:
		return "mentioned in";
	case IMGCHECK_CLASS_HINT:
		break;
	}
	return "hinted at in";
}

/* ------------------------------------------------------------------ groups */

/* One image or one problem that is to be shown. */
struct entry {
	const struct ic_report_image *image; /* NULL: a problem */
	const struct ic_report_problem *problem;
};

static enum imgcheck_decision entry_effect(const struct entry *e)
{
	return e->image ? e->image->effect : e->problem->effect;
}

static enum imgcheck_outcome entry_outcome(const struct entry *e)
{
	return e->image ? e->image->outcome : e->problem->outcome;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Zero where both have the same cause: they then stand in one group.  Vetoes come first, images before problems. */
static int compare_cause(const struct entry *a, const struct entry *b)
{
	const struct ic_result *x, *y;
	int order = (int)entry_effect(b) - (int)entry_effect(a);

	if (!order)
		order = (a->problem != NULL) - (b->problem != NULL);
	if (!order)
		order = (int)entry_outcome(a) - (int)entry_outcome(b);
	if (order || !a->image)
		return order;
	x = &a->image->result;
	y = &b->image->result;
	order = (int)x->verdict - (int)y->verdict;
	if (!order)
		order = compare_text(x->host, y->host);
	if (!order)
		order = compare_text(x->credentials, y->credentials);
	return order ? order : compare_text(x->proxy, y->proxy);
}

/* By cause, then in the order of the report, in whose arrays the pointers stand. */
static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int order = compare_cause(a, b);

	if (order)
		return order;
	if (a->image)
		return a->image < b->image ? -1 : a->image > b->image;
	return a->problem < b->problem ? -1 : a->problem > b->problem;
}

/* Everything that is not as it should be, sorted by cause; entries is of struct entry. */
static int collect(const struct imgcheck_report *p, struct ic_vec *entries, struct imgcheck_error **err)
{
	struct entry e = {NULL, NULL};
	int result = 0;

	for (size_t i = 0; result == 0 && (e.image = ic_report_image(p, i)) != NULL; i++)
		if (e.image->outcome != IMGCHECK_OUTCOME_OK && e.image->outcome != IMGCHECK_OUTCOME_SKIPPED)
			result = ic_vec_push(entries, &e, err);
	e.image = NULL;
	for (size_t i = 0; result == 0 && (e.problem = ic_report_problem(p, i)) != NULL; i++)
		result = ic_vec_push(entries, &e, err);
	if (result == 0 && entries->count)
		qsort(entries->items, entries->count, sizeof(struct entry), compare_entries);
	return result;
}

/* Where the group that starts at i ends. */
static size_t group_end(const struct ic_vec *entries, size_t i)
{
	const struct entry *first = ic_vec_at(entries, i);

	do
		i++;
	while (i < entries->count && compare_cause(first, ic_vec_at(entries, i)) == 0);
	return i;
}

/* ------------------------------------------------------------------ one group */

/* How much of a group is shown. */
struct level {
	size_t entries, places;
	bool reasons; /* of each image, where they differ; else that of the first stands for all */
};

static bool same_text(const char *a, const char *b)
{
	return compare_text(a, b) == 0;
}

/* The reason that all images of the group share, else NULL. */
static const char *common_reason(const struct ic_vec *entries, size_t from, size_t to)
{
	const struct entry *first = ic_vec_at(entries, from);

	for (size_t i = from + 1; i < to; i++) {
		const struct entry *e = ic_vec_at(entries, i);

		if (!same_text(first->image->result.reason, e->image->result.reason))
			return NULL;
	}
	return first->image->result.reason;
}

static void write_line(struct ic_page *page, const char *before, const char *text)
{
	ic_page_add(page, "%s%s", before, text);
	ic_page_end_line(page);
}

static void write_reason(struct ic_page *page, const char *indent, const char *reason)
{
	ic_page_add(page, "%sreason: ", indent);
	ic_page_add_escaped(page, reason, SHOWN_REASON);
	ic_page_end_line(page);
}

static void write_more(struct ic_page *page, const char *indent, size_t more, const char *what)
{
	ic_page_add(page, "%s... and %zu more%s", indent, more, what);
	ic_page_end_line(page);
}

/* "no credentials", with the reason where there is one, or "credentials from FILE" */
static void write_credentials(struct ic_page *page, const char *credentials)
{
	const char *none = credentials ? credentials : "none";

	if (strcmp(none, "none") != 0 && strncmp(none, "none (", strlen("none (")) != 0) {
		ic_page_add(page, "credentials from ");
		ic_page_add_foreign(page, credentials, SHOWN_FILE);
		return;
	}
	ic_page_add(page, "no credentials");
	ic_page_add_foreign(page, none + strlen("none"), SHOWN_FILE);
}

/* " (asked from this host, no credentials, proxy http://...)" */
static void write_viewpoint(struct ic_page *page, const struct ic_result *r)
{
	ic_page_add(page, " (asked from this host, ");
	write_credentials(page, r->credentials);
	if (r->proxy) {
		ic_page_add(page, ", proxy ");
		ic_page_add_foreign(page, r->proxy, SHOWN_HOST);
	}
	ic_page_add(page, ")");
}

static const char *outcome_remark(enum imgcheck_outcome o)
{
	if (o == IMGCHECK_OUTCOME_ALREADY_MISSING)
		return "; needed before too, so nothing gets worse";
	return o == IMGCHECK_OUTCOME_HINT ? "; named in hints alone" : "";
}

static void write_image_headline(struct ic_page *page, const struct ic_report_image *m)
{
	const struct words *w = &verdict_words[m->result.verdict];

	if (m->result.host) {
		ic_page_add(page, "%s", w->before);
		ic_page_add_foreign(page, m->result.host, SHOWN_HOST);
		ic_page_add(page, "%s", w->after);
		write_viewpoint(page, &m->result);
	} else {
		ic_page_add(page, "%s", w->hostless);
	}
	ic_page_add(page, "%s", outcome_remark(m->outcome));
}

static void write_headline(struct ic_page *page, const struct entry *e)
{
	const char *setting = e->image && e->image->unproven ? "on-unproven" : ic_config_effect_name(entry_outcome(e));

	if (entry_effect(e) == IMGCHECK_DECISION_WARN)
		ic_page_add(page, "only a warning (%s): ", setting ? setting : "by policy");
	if (e->image)
		write_image_headline(page, e->image);
	else
		ic_page_add(page, "%s", problem_headline(e->problem->outcome));
	write_line(page, ":", "");
}

/* "    needed by DaemonSet kube-system/x (templates/x.yml:19)" */
static void write_origin(struct ic_page *page, const struct ic_report_origin *o, size_t more)
{
	bool both = o->object && o->file;

	ic_page_add(page, "    %s ", origin_verb(o->class));
	ic_page_add_foreign(page, o->object, SHOWN_OBJECT);
	ic_page_add(page, "%s", both ? " (" : "");
	ic_page_add_foreign(page, o->file, SHOWN_FILE);
	if (o->file && o->line)
		ic_page_add(page, ":%u", o->line);
	ic_page_add(page, "%s", both ? ")" : "");
	if (more)
		ic_page_add(page, ", and %zu more", more);
	ic_page_end_line(page);
}

static bool is_known_place(const struct ic_report_origin *o)
{
	return o->object || o->file;
}

/* The places that make the image what it is: those of its own class, the first `most` of them. */
static void write_origins(struct ic_page *page, const struct ic_report_image *m, size_t most)
{
	size_t known = 0, own = 0, shown = 0;

	for (size_t i = 0; i < m->origins.count; i++) {
		const struct ic_report_origin *o = ic_vec_at(&m->origins, i);

		known += is_known_place(o);
		own += is_known_place(o) && o->class == m->class;
	}
	if (most > own)
		most = own;
	for (size_t i = 0; shown < most; i++) {
		const struct ic_report_origin *o = ic_vec_at(&m->origins, i);

		if (o->class != m->class || !is_known_place(o))
			continue;
		shown++;
		write_origin(page, o, shown == most ? known - shown : 0);
	}
}

/* "  REFERENCE", or "  REFERENCE (linux/arm64)" where the platform matters. */
static void write_image(struct ic_page *page, const struct ic_report_image *m, bool own_reason, size_t places)
{
	ic_page_add(page, "  ");
	ic_page_add_foreign(page, ic_report_image_reference(m), SHOWN_REFERENCE);
	if (m->result.verdict == IMGCHECK_VERDICT_NO_PLATFORM && m->result.platform) {
		ic_page_add(page, " (");
		ic_page_add_foreign(page, m->result.platform, SHOWN_HOST);
		ic_page_add(page, ")");
	}
	ic_page_end_line(page);
	if (own_reason && m->result.reason)
		write_reason(page, "    ", m->result.reason);
	write_origins(page, m, places);
}

static void write_problem(struct ic_page *page, const struct ic_report_problem *x)
{
	ic_page_add(page, "  ");
	if (x->place) {
		ic_page_add_escaped(page, x->place, SHOWN_FILE);
		if (x->line)
			ic_page_add(page, ":%u", x->line);
		if (x->line && x->column)
			ic_page_add(page, ":%u", x->column);
		ic_page_add(page, ": ");
	}
	ic_page_add_escaped(page, x->message, SHOWN_REASON);
	ic_page_end_line(page);
}

static void write_group(struct ic_page *page, const struct ic_vec *entries, size_t from, size_t to, const struct level *level)
{
	const struct entry *first = ic_vec_at(entries, from);
	const char *reason = first->image ? common_reason(entries, from, to) : NULL;
	const char *advice = first->image ? verdict_words[first->image->result.verdict].advice : NULL;
	size_t end = to - from > level->entries ? from + level->entries : to;

	write_headline(page, first);
	if (reason)
		write_reason(page, "  ", reason);
	for (size_t i = from; i < end; i++) {
		const struct entry *e = ic_vec_at(entries, i);

		if (e->image)
			write_image(page, e->image, !reason && (level->reasons || i == from), level->places);
		else
			write_problem(page, e->problem);
	}
	if (end < to)
		write_more(page, "  ", to - end, "");
	if (advice)
		write_line(page, "  to do: ", advice);
	ic_page_end_line(page);
}

/* ------------------------------------------------------------------ all groups */

static void write_groups(struct ic_page *page, const struct ic_vec *entries, const struct level *level)
{
	for (size_t i = 0, end; page->result == 0 && i < entries->count; i = end) {
		end = group_end(entries, i);
		write_group(page, entries, i, end, level);
	}
}

/* As many whole groups as fit, and how many entries are left. */
static void write_some_groups(struct ic_page *page, const struct ic_vec *entries, const struct level *level)
{
	size_t max_bytes = page->text.max, max_lines = page->max_lines, len = 0, lines = 0, i = 0;

	page->text.max = max_bytes - REST_BYTES;
	page->max_lines = max_lines - REST_LINES;
	while (i < entries->count) {
		size_t end = group_end(entries, i);

		write_group(page, entries, i, end, level);
		if (page->result < 0)
			break;
		i = end;
		len = page->text.len;
		lines = page->lines;
	}
	page->text.max = max_bytes;
	page->max_lines = max_lines;
	ic_page_cut(page, len, lines);
	write_more(page, "", entries->count - i, ", for other causes");
	ic_page_end_line(page);
}

/* Shows as much of each group as the page holds: the same number of entries of each, so that none hides another. */
static void write_body(struct ic_page *page, const struct ic_vec *entries)
{
	static const struct level levels[] = {
		{60, 4, true},  {60, 1, true}, {60, 1, false}, {30, 1, false}, {20, 1, false}, {12, 1, false},
		{8, 1, false},  {5, 1, false}, {3, 1, false},  {2, 1, false},  {1, 1, false},
	};

	for (size_t i = 0; i < IC_COUNT(levels); i++) {
		write_groups(page, entries, &levels[i]);
		if (page->result != IMGCHECK_ERR_LIMIT)
			return;
		ic_page_cut(page, 0, 0);
	}
	write_some_groups(page, entries, &levels[IC_COUNT(levels) - 1]);
}

/* ------------------------------------------------------------------ the end: decision, copies, remedy */

struct tally {
	size_t missing, access, undecided; /* images */
	size_t places;                     /* problems */
};

/* What has this effect. */
static struct tally count(const struct imgcheck_report *p, enum imgcheck_decision effect)
{
	const struct ic_report_problem *x;
	const struct ic_report_image *m;
	struct tally t = {0, 0, 0, 0};

	for (size_t i = 0; (m = ic_report_image(p, i)) != NULL; i++) {
		enum imgcheck_outcome outcome = ic_verdict_outcome(m->result.verdict);

		if (m->effect != effect)
			continue;
		if (outcome == IMGCHECK_OUTCOME_ACCESS)
			t.access++;
		else if (outcome == IMGCHECK_OUTCOME_UNDECIDED)
			t.undecided++;
		else
			t.missing++;
	}
	for (size_t i = 0; (x = ic_report_problem(p, i)) != NULL; i++)
		t.places += x->effect == effect;
	return t;
}

/* " of 22 images that SUBJECT needs" */
static void write_whole(struct ic_page *page, const struct imgcheck_report *p)
{
	ic_page_add(page, " of %zu image%s", p->images.count, p->images.count == 1 ? "" : "s");
	if (!p->subject)
		return;
	ic_page_add(page, " that ");
	ic_page_add_foreign(page, p->subject, SHOWN_SUBJECT);
	ic_page_add(page, " needs");
}

/* "cannot pull 1, cannot access 2, cannot decide 3 of 22 images that SUBJECT needs" */
static void write_failures(struct ic_page *page, const struct imgcheck_report *p, const struct tally *t)
{
	const struct {
		const char *text;
		size_t count;
	} parts[] = {{"cannot pull", t->missing}, {"cannot access", t->access}, {"cannot decide", t->undecided}};
	const char *between = "";

	for (size_t i = 0; i < IC_COUNT(parts); i++) {
		if (!parts[i].count)
			continue;
		ic_page_add(page, "%s%s %zu", between, parts[i].text, parts[i].count);
		between = ", ";
	}
	if (*between)
		write_whole(page, p);
	if (!t->places)
		return;
	ic_page_add(page, "%scannot read or resolve %zu place%s", between, t->places, t->places == 1 ? "" : "s");
	if (!*between && p->subject) {
		ic_page_add(page, " in what ");
		ic_page_add_foreign(page, p->subject, SHOWN_SUBJECT);
		ic_page_add(page, " needs");
	}
}

static void write_veto(struct ic_page *page, const struct imgcheck_report *p)
{
	struct tally t = count(p, IMGCHECK_DECISION_VETO);

	write_failures(page, p, &t);
	if (p->consequence) {
		ic_page_add(page, "; ");
		ic_page_add_foreign(page, p->consequence, SHOWN_SUBJECT);
	}
	ic_page_end_line(page);
}

static void write_warning(struct ic_page *page, const struct imgcheck_report *p)
{
	struct tally t = count(p, IMGCHECK_DECISION_WARN);

	ic_page_add(page, "warning: ");
	write_failures(page, p, &t);
	write_line(page, "; this only warns, nothing is stopped", "");
}

static void write_nothing_needed(struct ic_page *page, const struct imgcheck_report *p)
{
	ic_page_add(page, "ok: ");
	ic_page_add_foreign(page, p->subject, SHOWN_SUBJECT);
	write_line(page, p->subject ? " needs no image" : "no image is needed", "");
}

/* "ok: 22 of 22 images that SUBJECT needs can be pulled" */
static void write_ok(struct ic_page *page, const struct imgcheck_report *p)
{
	const struct ic_report_image *m;
	size_t skipped = 0;

	if (p->images.count == 0) {
		write_nothing_needed(page, p);
		return;
	}
	for (size_t i = 0; (m = ic_report_image(p, i)) != NULL; i++)
		skipped += m->outcome == IMGCHECK_OUTCOME_SKIPPED;
	ic_page_add(page, "ok: %zu", p->images.count - skipped);
	write_whole(page, p);
	ic_page_add(page, " can be pulled");
	if (skipped)
		ic_page_add(page, ", %zu not asked for", skipped);
	ic_page_end_line(page);
}

static void write_decision(struct ic_page *page, const struct imgcheck_report *p)
{
	switch (p->decision) {
	case IMGCHECK_DECISION_ALLOW:
		write_ok(page, p);
		break;
	case IMGCHECK_DECISION_WARN:
		write_warning(page, p);
		break;
	case IMGCHECK_DECISION_VETO:
		write_veto(page, p);
		break;
	}
}

/* An image that a copy would help, of those that decided. */
static bool wants_copy(const struct imgcheck_report *p, const struct ic_report_image *m)
{
	return m->effect == p->decision && m->source && ic_verdict_outcome(m->result.verdict) == IMGCHECK_OUTCOME_MISSING;
}

/* References hold nothing that a shell would take for its own, but for the brackets of an IPv6 address. */
static void write_copy(struct ic_page *page, const struct ic_report_image *m)
{
	ic_page_add(page, "copy it:  skopeo copy --all%s%s docker://", m->insecure_source ? " --src-tls-verify=false" : "",
	            m->insecure_target ? " --dest-tls-verify=false" : "");
	ic_page_add_foreign(page, m->source, IC_MAX_REF_BYTES);
	ic_page_add(page, " docker://");
	ic_page_add_foreign(page, m->target, IC_MAX_REF_BYTES);
	ic_page_end_line(page);
}

/* The first few copy commands, each whole or not at all. */
static void write_copies(struct ic_page *page, const struct imgcheck_report *p)
{
	size_t start = page->text.len, wanted = 0, shown = 0;
	const struct ic_report_image *m;

	for (size_t i = 0; (m = ic_report_image(p, i)) != NULL; i++) {
		size_t len = page->text.len, lines = page->lines;

		if (!wants_copy(p, m))
			continue;
		wanted++;
		if (shown == COPY_LINES)
			continue;
		write_copy(page, m);
		if (page->text.len - start <= COPY_BYTES)
			shown++;
		else
			ic_page_cut(page, len, lines);
	}
	if (wanted > shown)
		write_more(page, "          ", wanted - shown, " to copy");
}

static void write_remedy(struct ic_page *page, const struct imgcheck_report *p)
{
	size_t most = p->remedy.count > REMEDY_LINES ? REMEDY_LINES - 1 : p->remedy.count;

	for (size_t i = 0; i < most; i++) {
		ic_page_add_foreign(page, ic_texts_get(&p->remedy, i), SHOWN_REMEDY);
		ic_page_end_line(page);
	}
	if (most < p->remedy.count)
		write_more(page, "", p->remedy.count - most, "");
}

static void write_end(struct ic_page *page, const struct imgcheck_report *p)
{
	write_decision(page, p);
	write_copies(page, p);
	if (p->decision == IMGCHECK_DECISION_VETO)
		write_remedy(page, p);
}

static int append(struct ic_buf *out, const struct ic_page *page, struct imgcheck_error **err)
{
	if (page->result == 0)
		return ic_buf_add(out, ic_buf_text(&page->text), page->text.len, err);
	if (page->result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot fit the report on a page");
}

int ic_report_render_text(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err)
{
	struct ic_page body IC_AUTO(page), end IC_AUTO(page);
	struct ic_vec entries IC_AUTO(vec);
	int result;

	ic_vec_init(&entries, sizeof(struct entry), p->images.count + p->problems.count);
	ic_page_init(&end, IC_MAX_REPORT_TEXT_BYTES, IC_MAX_REPORT_LINES);
	write_end(&end, p);
	ic_page_init(&body, IC_MAX_REPORT_TEXT_BYTES - end.text.len, IC_MAX_REPORT_LINES - end.lines);
	result = collect(p, &entries, err);
	if (result < 0)
		return result;
	write_body(&body, &entries);
	result = append(out, &body, err);
	return result < 0 ? result : append(out, &end, err);
}
