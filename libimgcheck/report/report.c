/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <string.h>

#include "base/limits.h"
#include "base/platform.h"
#include "base/text.h"
#include "manifest/images.h"
#include "policy.h"
#include "registry/run.h"
#include "source/config.h"
#include "source/host.h"
#include "verdict.h"

IC_DEFINE_AUTO(report, struct imgcheck_report, imgcheck_report_free)
IC_DEFINE_AUTO(run, struct imgcheck_run, imgcheck_run_free)

/* ------------------------------------------------------------------ copies */

/* new, or NULL for NULL */
static int copy_text(const char *text, char **out, struct imgcheck_error **err)
{
	*out = NULL;
	if (!text)
		return 0;
	*out = ic_text_copy(text, strlen(text));
	return *out ? 0 : ic_error_nomem(err);
}

static int copy_texts(const char *const *from, char **const *to, size_t count, struct imgcheck_error **err)
{
	for (size_t i = 0; i < count; i++)
		if (copy_text(from[i], to[i], err) < 0)
			return IMGCHECK_ERR_NOMEM;
	return 0;
}

static int copy_result(const struct ic_result *from, struct ic_result *to, struct imgcheck_error **err)
{
	const char *const texts[] = {from->reason, from->reference,   from->host, from->digest,
	                             from->platform, from->credentials, from->proxy};
	char **const copies[] = {&to->reason, &to->reference, &to->host, &to->digest, &to->platform, &to->credentials, &to->proxy};

	return copy_texts(texts, copies, IC_COUNT(texts), err);
}

static void origin_clear(struct ic_report_origin *o)
{
	free(o->file);
	free(o->object);
	free(o->path);
	free(o->pull_policy);
	free(o->pull_secrets);
	free(o->node_arch);
	free(o->namespace_);
}

static int copy_origin(const struct ic_origin *from, struct ic_vec *list, struct imgcheck_error **err)
{
	struct ic_report_origin o = {.line = from->line, .class = from->class};
	const char *const texts[] = {from->file,         from->object,    from->path,      from->pull_policy,
	                             from->pull_secrets, from->node_arch, from->namespace_};
	char **const copies[] = {&o.file, &o.object, &o.path, &o.pull_policy, &o.pull_secrets, &o.node_arch, &o.namespace_};
	int result = copy_texts(texts, copies, IC_COUNT(texts), err);

	if (result == 0)
		result = ic_vec_push(list, &o, err);
	if (result < 0)
		origin_clear(&o);
	return result;
}

/* The text written in full, registry/repository:tag or @digest: new, NULL where it is no reference. */
static int copy_in_full(const char *text, char **out, struct imgcheck_error **err)
{
	struct ic_ref ref IC_AUTO(ref) = {.registry = NULL};
	struct ic_buf full IC_AUTO(buf);
	int result;

	*out = NULL;
	ic_buf_init(&full, 2 * IC_MAX_REF_BYTES);
	if (!text || !ic_ref_is_valid(text, strlen(text)))
		return 0;
	result = ic_ref_parse(text, strlen(text), &ref, err);
	if (result < 0)
		return result;
	result = ic_buf_printf(&full, err, "%s/%s%s%s", ref.registry, ref.repository, ref.digest ? "@" : ":",
	                       ref.digest ? ref.digest : ref.tag);
	if (result < 0)
		return result;
	*out = ic_buf_take(&full);
	return *out ? 0 : ic_error_nomem(err);
}

/* ------------------------------------------------------------------ making */

static void image_clear(struct ic_report_image *m)
{
	for (size_t i = 0; i < m->origins.count; i++)
		origin_clear(ic_vec_at(&m->origins, i));
	ic_vec_clear(&m->origins);
	ic_result_clear(&m->result);
	free(m->text);
	free(m->target);
	free(m->source);
}

/*
 * Where a copy of a missing image can come from: what the manifest names with no registry set, or, where
 * the configuration rewrites it, what it names.  None where that is what was asked already.
 */
static int find_source(const struct imgcheck_image *from, struct ic_report_image *m, struct imgcheck_error **err)
{
	enum imgcheck_outcome outcome = ic_verdict_outcome(m->result.verdict);
	int result;

	if (outcome != IMGCHECK_OUTCOME_MISSING && outcome != IMGCHECK_OUTCOME_ACCESS)
		return 0;
	result = copy_in_full(ic_report_image_reference(m), &m->target, err);
	if (result == 0)
		result = copy_in_full(from->source ? from->source : from->text, &m->source, err);
	if (result == 0 && m->source && (!m->target || strcmp(m->source, m->target) == 0)) {
		free(m->source);
		m->source = NULL;
	}
	return result;
}

static int fill_image(const struct imgcheck_image *from, const struct ic_result *found, const struct ic_judgement *j,
                      struct ic_report_image *m, struct imgcheck_error **err)
{
	int result = copy_result(found, &m->result, err);

	m->result.verdict = j->verdict;
	m->class = imgcheck_image_class(from);
	m->outcome = j->outcome;
	m->effect = j->effect;
	m->unproven = j->unproven;
	if (result == 0)
		result = copy_text(from->text, &m->text, err);
	if (result == 0 && j->why_skipped) {
		free(m->result.reason);
		result = copy_text(j->why_skipped, &m->result.reason, err);
	}
	for (size_t i = 0; result == 0 && i < from->origins.count; i++)
		result = copy_origin(ic_vec_at(&from->origins, i), &m->origins, err);
	return result == 0 ? find_source(from, m, err) : result;
}

static void count_in(struct imgcheck_report *p, enum imgcheck_decision effect)
{
	if (effect > p->decision)
		p->decision = effect;
}

static bool lists_host(const struct imgcheck_config *c, enum imgcheck_option o, const struct ic_host *host, unsigned port)
{
	struct ic_host listed;
	const char *item;

	for (size_t i = 0; (item = ic_config_item(c, o, i)); i++)
		if (ic_host_parse(item, strlen(item), &listed) && ic_host_same(&listed, host, port))
			return true;
	return false;
}

/* Whether the host of a reference, which is in full, is asked without TLS or without verifying it: where set, and on loopback. */
static bool is_insecure(const struct imgcheck_config *c, const char *ref)
{
	struct ic_host host;

	return ic_host_parse(ref, strcspn(ref, "/"), &host) &&
	       (ic_host_is_loopback(&host) || lists_host(c, IMGCHECK_OPTION_PLAIN_HTTP, &host, 80) ||
	        lists_host(c, IMGCHECK_OPTION_SKIP_VERIFY, &host, 443));
}

/* The host that decided, or would have: borrowed, NULL where the text is no reference. */
static const char *host_of(const struct imgcheck_run *r, size_t i)
{
	const char *host = ic_run_result(r, i)->host;

	return host ? host : imgcheck_image_part(imgcheck_images_get(ic_run_images(r), i), IMGCHECK_PART_REGISTRY);
}

/* Whether the host of an image gave an `ok`, before or in this run; only looked for where it matters. */
static bool is_proven(const struct imgcheck_run *r, size_t i)
{
	const char *host = host_of(r, i), *other;

	if (!host || ic_config_trusts_unproven(ic_run_config(r)) || ic_config_is_proven(ic_run_config(r), host))
		return true;
	for (size_t k = 0; k < imgcheck_images_count(ic_run_images(r)); k++) {
		other = ic_run_result(r, k)->host;
		if (other && ic_run_result(r, k)->verdict == IMGCHECK_VERDICT_OK && strcmp(other, host) == 0)
			return true;
	}
	return false;
}

static int add_image(struct imgcheck_report *p, const struct imgcheck_run *r, size_t i, struct imgcheck_error **err)
{
	const struct imgcheck_image *from = imgcheck_images_get(ic_run_images(r), i);
	const struct ic_result *found = ic_run_result(r, i);
	struct ic_judgement j = ic_policy_judge_image(ic_run_config(r), from, found->verdict,
	                                              found->verdict == IMGCHECK_VERDICT_OK || is_proven(r, i));
	struct ic_report_image m = {.text = NULL};
	int result;

	ic_vec_init(&m.origins, sizeof(struct ic_report_origin), IC_MAX_ORIGINS);
	result = fill_image(from, found, &j, &m, err);
	m.insecure_target = m.source && is_insecure(ic_run_config(r), m.target);
	m.insecure_source = m.source && is_insecure(ic_run_config(r), m.source);
	if (result == 0)
		result = ic_vec_push(&p->images, &m, err);
	if (result < 0)
		image_clear(&m);
	else
		count_in(p, m.effect);
	return result;
}

static void problem_clear(struct ic_report_problem *x)
{
	free(x->place);
	free(x->message);
}

static int add_problem(struct imgcheck_report *p, const struct imgcheck_config *c, const struct imgcheck_error *from,
                       struct imgcheck_error **err)
{
	struct ic_judgement j = ic_policy_judge_problem(c, imgcheck_error_code(from));
	struct ic_report_problem x = {.code = imgcheck_error_code(from), .outcome = j.outcome, .effect = j.effect};
	int result = copy_text(imgcheck_error_place(from, &x.line, &x.column), &x.place, err);

	if (result == 0)
		result = copy_text(imgcheck_error_message(from), &x.message, err);
	if (result == 0)
		result = ic_vec_push(&p->problems, &x, err);
	if (result < 0)
		problem_clear(&x);
	else
		count_in(p, x.effect);
	return result;
}

/* Those of the images, then what the configuration does not use. */
static int add_problems(struct imgcheck_report *p, const struct imgcheck_run *r, struct imgcheck_error **err)
{
	const struct imgcheck_config *c = ic_run_config(r);
	const struct imgcheck_error *problem;
	int result = 0;

	for (size_t i = 0; result == 0 && (problem = imgcheck_images_problem(ic_run_images(r), i)) != NULL; i++)
		result = add_problem(p, c, problem, err);
	for (size_t i = 0; result == 0 && (problem = ic_config_problem(c, i)) != NULL; i++)
		result = add_problem(p, c, problem, err);
	return result;
}

/* What the report says around the results. */
static int add_frame(struct imgcheck_report *p, const struct imgcheck_config *c, struct imgcheck_error **err)
{
	int result = copy_text(ic_config_subject(c), &p->subject, err);
	const char *line;

	if (result == 0)
		result = copy_text(ic_config_consequence(c), &p->consequence, err);
	if (result == 0)
		result = copy_text(ic_config_value(c, IMGCHECK_OPTION_DEPTH), &p->depth, err);
	for (size_t i = 0; result == 0 && (line = ic_config_remedy(c, i)) != NULL; i++)
		result = ic_texts_push(&p->remedy, line, strlen(line), err);
	for (size_t i = 0; result == 0 && i < ic_config_platform_count(c); i++) {
		char text[IC_PLATFORM_TEXT_BYTES];

		ic_platform_text(ic_config_platform(c, i), text);
		result = ic_texts_push(&p->platforms, text, strlen(text), err);
	}
	return result;
}

static int report_new(struct imgcheck_report **out, struct imgcheck_error **err)
{
	struct imgcheck_report *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return ic_error_nomem(err);
	ic_vec_init(&p->images, sizeof(struct ic_report_image), IC_MAX_IMAGES);
	ic_vec_init(&p->problems, sizeof(struct ic_report_problem), IC_MAX_PROBLEMS + IC_MAX_LIST_ITEMS);
	ic_texts_init(&p->platforms, IC_MAX_LIST_ITEMS);
	ic_texts_init(&p->remedy, IC_MAX_LIST_ITEMS);
	return 0;
}

int imgcheck_run_take_report(struct imgcheck_run *r, struct imgcheck_report **out, struct imgcheck_error **err)
{
	struct imgcheck_report *p IC_AUTO(report) = NULL;
	int result;

	if (out)
		*out = NULL;
	if (!r || !out)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot make a report without a run and a place for it");
	result = report_new(&p, err);
	if (result == 0)
		result = add_frame(p, ic_run_config(r), err);
	for (size_t i = 0; result == 0 && i < imgcheck_images_count(ic_run_images(r)); i++)
		result = add_image(p, r, i, err);
	if (result == 0)
		result = add_problems(p, r, err);
	if (result == 0)
		*out = IC_TAKE(p);
	return result;
}

int imgcheck_check(struct imgcheck_config *c, struct imgcheck_images *s, struct imgcheck_report **out,
                   struct imgcheck_error **err)
{
	struct imgcheck_run *r IC_AUTO(run) = NULL;
	int result;

	if (out)
		*out = NULL;
	result = imgcheck_run_new(c, s, &r, err);
	if (result < 0)
		return result;
	do
		result = imgcheck_run_step(r, -1, err);
	while (result > 0);
	return result < 0 ? result : imgcheck_run_take_report(r, out, err);
}

void imgcheck_report_free(struct imgcheck_report *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->images.count; i++)
		image_clear(ic_vec_at(&p->images, i));
	for (size_t i = 0; i < p->problems.count; i++)
		problem_clear(ic_vec_at(&p->problems, i));
	ic_vec_clear(&p->images);
	ic_vec_clear(&p->problems);
	ic_texts_clear(&p->platforms);
	ic_texts_clear(&p->remedy);
	free(p->subject);
	free(p->consequence);
	free(p->depth);
	free(p);
}

/* ------------------------------------------------------------------ reading */

const struct ic_report_image *ic_report_image(const struct imgcheck_report *p, size_t i)
{
	return p && i < p->images.count ? ic_vec_at(&p->images, i) : NULL;
}

const struct ic_report_problem *ic_report_problem(const struct imgcheck_report *p, size_t i)
{
	return p && i < p->problems.count ? ic_vec_at(&p->problems, i) : NULL;
}

const char *ic_report_image_reference(const struct ic_report_image *m)
{
	return m->result.reference ? m->result.reference : m->text;
}

enum imgcheck_decision imgcheck_report_decision(const struct imgcheck_report *p)
{
	return p ? p->decision : IMGCHECK_DECISION_VETO;
}

size_t imgcheck_report_count(const struct imgcheck_report *p)
{
	return p ? p->images.count : 0;
}

/* What is asked for a result that is not there fails closed: not decided, a veto. */
enum imgcheck_verdict imgcheck_report_verdict(const struct imgcheck_report *p, size_t i)
{
	const struct ic_report_image *m = ic_report_image(p, i);

	return m ? m->result.verdict : IMGCHECK_VERDICT_DEADLINE;
}

enum imgcheck_outcome imgcheck_report_outcome(const struct imgcheck_report *p, size_t i)
{
	const struct ic_report_image *m = ic_report_image(p, i);

	return m ? m->outcome : IMGCHECK_OUTCOME_UNDECIDED;
}

enum imgcheck_decision imgcheck_report_effect(const struct imgcheck_report *p, size_t i)
{
	const struct ic_report_image *m = ic_report_image(p, i);

	return m ? m->effect : IMGCHECK_DECISION_VETO;
}

const char *imgcheck_report_text(const struct imgcheck_report *p, size_t i, enum imgcheck_text t)
{
	const struct ic_report_image *m = ic_report_image(p, i);

	if (!m)
		return NULL;
	switch (t) {
	case IMGCHECK_TEXT_REFERENCE:
		return ic_report_image_reference(m);
	case IMGCHECK_TEXT_HOST:
		return m->result.host;
	case IMGCHECK_TEXT_DIGEST:
		return m->result.digest;
	case IMGCHECK_TEXT_PLATFORM:
		return m->result.platform;
	case IMGCHECK_TEXT_REASON:
		return m->result.reason;
	case IMGCHECK_TEXT_CREDENTIALS:
		return m->result.credentials;
	case IMGCHECK_TEXT_SOURCE:
		return m->source;
	}
	return NULL;
}

size_t imgcheck_report_vetoes(const struct imgcheck_report *p, enum imgcheck_outcome o)
{
	const struct ic_report_problem *x;
	const struct ic_report_image *m;
	size_t count = 0;

	for (size_t i = 0; (m = ic_report_image(p, i)) != NULL; i++)
		count += m->outcome == o && m->effect == IMGCHECK_DECISION_VETO;
	for (size_t i = 0; (x = ic_report_problem(p, i)) != NULL; i++)
		count += x->outcome == o && x->effect == IMGCHECK_DECISION_VETO;
	return count;
}

int imgcheck_report_render(const struct imgcheck_report *p, enum imgcheck_format f, char **out, size_t *len,
                           struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = IMGCHECK_ERR_ARGUMENT;

	ic_buf_init(&text, IC_MAX_REPORT_BYTES);
	if (out)
		*out = NULL;
	if (len)
		*len = 0;
	if (!p || !out)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot render without a report and a place for its text");
	switch (f) {
	case IMGCHECK_FORMAT_TEXT:
		result = ic_report_render_text(p, &text, err);
		break;
	case IMGCHECK_FORMAT_JSON:
		result = ic_report_render_json(p, &text, err);
		break;
	}
	if (result == IMGCHECK_ERR_ARGUMENT)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot render in an unknown format");
	if (result < 0)
		return result;
	if (len)
		*len = text.len;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}
