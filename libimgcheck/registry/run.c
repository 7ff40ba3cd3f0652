/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <search.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "manifest/images.h"
#include "registry/authorize.h"
#include "registry/lanes.h"
#include "registry/piece.h"
#include "source/config.h"

struct imgcheck_run {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct ic_session session;
	struct ic_pieces pieces;
	struct ic_lanes lanes;     /* which image is begun next */
	void *sources;             /* tree of struct ic_source by key */
	struct ic_source **source; /* of each image that is begun and not decided; else NULL */
	struct ic_source *idle;    /* list of those that may be forgotten */
	struct ic_result *results;
	size_t count, done;
};

/* ------------------------------------------------------------------ results */

static char *copy_text(struct imgcheck_run *r, const char *text)
{
	char *copy = text ? ic_text_copy(text, strlen(text)) : NULL;

	if (text && !copy)
		ic_session_fail(&r->session, IMGCHECK_ERR_NOMEM);
	return copy;
}

/* A source without undecided images is forgotten, but not now: its pieces are at work. */
static void leave_source(struct imgcheck_run *r, size_t i)
{
	struct ic_source *source = IC_TAKE(r->source[i]);

	if (!source || --source->undecided > 0 || source->listed)
		return;
	source->listed = true;
	source->next = r->idle;
	r->idle = source;
}

static void tell_done(struct imgcheck_run *r, size_t i)
{
	const struct ic_result *result = &r->results[i];

	r->done++;
	ic_lanes_decided(&r->lanes, i);
	leave_source(r, i);
	ic_config_tell(r->config, &(struct imgcheck_event){IMGCHECK_EVENT_DONE, result->host, result->reference, r->done, r->count, 0});
}

/* An image that is decided without asking anybody. */
static void decide(struct imgcheck_run *r, size_t i, enum imgcheck_verdict verdict, const char *reason)
{
	struct ic_result *result = &r->results[i];

	result->verdict = verdict;
	free(result->reason);
	result->reason = copy_text(r, reason);
	tell_done(r, i);
}

/* Without the user and the password that the URL of a proxy can hold. */
static char *shown_proxy(struct imgcheck_run *r, const char *url)
{
	const char *host = url ? strrchr(url, '@') : NULL;

	if (!url || !url[0])
		return NULL;
	return copy_text(r, host ? host + 1 : url);
}

/* The platform that the finding is about, else all wanted ones. */
static char *platform_text(struct imgcheck_run *r, int platform)
{
	struct ic_buf out IC_AUTO(buf);
	char text[IC_PLATFORM_TEXT_BYTES];
	int result = 0;

	ic_buf_init(&out, SIZE_MAX - 1);
	for (size_t i = 0; result == 0 && i < ic_config_platform_count(r->config); i++) {
		if (platform >= 0 && i != (size_t)platform)
			continue;
		ic_platform_text(ic_config_platform(r->config, i), text);
		result = ic_buf_printf(&out, NULL, "%s%s", out.len > 0 ? "," : "", text);
	}
	if (result == 0)
		return ic_buf_take(&out);
	ic_session_fail(&r->session, IMGCHECK_ERR_NOMEM);
	return NULL;
}

static void on_decided(void *arg, const struct ic_piece *piece, size_t i)
{
	const struct ic_endpoint *endpoint = piece->finding.endpoint;
	struct imgcheck_run *r = arg;
	struct ic_result *result = &r->results[i];

	result->verdict = piece->finding.verdict;
	free(result->reason);
	result->reason = copy_text(r, piece->finding.reason);
	if (piece->finding.platform >= 0) {
		free(result->platform);
		result->platform = platform_text(r, piece->finding.platform);
	}
	result->digest = copy_text(r, piece->digest);
	if (endpoint) {
		result->host = copy_text(r, endpoint->host);
		result->credentials = copy_text(r, endpoint->login.source ? endpoint->login.source : "none");
		result->proxy = shown_proxy(r, endpoint->proxy);
	}
	tell_done(r, i);
}

/* ------------------------------------------------------------------ sources */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct ic_source *)a)->key, ((const struct ic_source *)b)->key);
}

static void free_source(void *arg)
{
	struct ic_source *source = arg;

	ic_pieces_forget(source);
	ic_endpoints_clear(&source->endpoints);
	free(source->key);
	free(source);
}

/*
 * What makes two references' endpoints the same: the repository asked for, and of each endpoint all that tells
 * it from another.
 */
static int source_key(struct ic_source *source, struct imgcheck_error **err)
{
	const struct ic_endpoints *e = &source->endpoints;
	struct ic_buf key IC_AUTO(buf);
	int result;

	ic_buf_init(&key, IC_MAX_CONFIG_BYTES);
	result = ic_buf_printf(&key, err, "%s/%s", e->asked.registry, e->asked.repository);
	for (size_t i = 0; result == 0 && i < e->list.count; i++) {
		const struct ic_endpoint *endpoint = ic_vec_at(&e->list, i);

		result = ic_buf_printf(&key, err, "\n%s %s%s %s %s %s", endpoint->scheme, endpoint->host, endpoint->base_path,
		                       endpoint->ns ? endpoint->ns : "", endpoint->login.user ? endpoint->login.user : "",
		                       endpoint->login.source ? endpoint->login.source : "");
	}
	if (result < 0)
		return result;
	source->key = ic_buf_take(&key);
	return source->key ? 0 : ic_error_nomem(err);
}

/* Takes the endpoints; *out is the source with the same key, known or new. */
static int get_source(struct imgcheck_run *r, struct ic_endpoints *endpoints, struct ic_source **out, struct imgcheck_error **err)
{
	struct ic_source *source = calloc(1, sizeof(*source)), **found = NULL;
	int result;

	*out = NULL;
	if (!source) {
		ic_endpoints_clear(endpoints);
		return ic_error_nomem(err);
	}
	source->endpoints = *endpoints;
	result = source_key(source, err);
	if (result == 0)
		found = tsearch(source, &r->sources, by_key);
	if (found && *found == source) {
		*out = source;
		return 0;
	}
	free_source(source);
	*out = found ? *found : NULL;
	return found || result < 0 ? result : ic_error_nomem(err);
}

/* Nothing more is known of what no image is waiting for.  One whose repository comes next stays. */
static void forget_idle(struct imgcheck_run *r)
{
	struct ic_source *source = IC_TAKE(r->idle);

	while (source) {
		struct ic_source *next = source->next;

		source->listed = false;
		if (source->undecided == 0 && ic_lanes_is_latest(&r->lanes, source->latest)) {
			source->listed = true;
			source->next = r->idle;
			r->idle = source;
		} else if (source->undecided == 0) {
			(void)tdelete(source, &r->sources, by_key);
			for (size_t i = 0; i < source->endpoints.list.count; i++)
				ic_authorize_forget(&r->session, ic_vec_at(&source->endpoints.list, i));
			free_source(source);
		}
		source = next;
	}
}

/* ------------------------------------------------------------------ images */

static int reference_text(const struct ic_ref *ref, char **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, 4 * IC_MAX_REF_BYTES);
	result = ic_buf_printf(&text, err, "%s/%s%s%s", ref->registry, ref->repository, ref->digest ? "@" : ":",
	                       ref->digest ? ref->digest : ref->tag);
	if (result < 0)
		return result;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}

static int ask(struct imgcheck_run *r, size_t i, struct ic_endpoints *endpoints, struct imgcheck_error **err)
{
	struct ic_result *found = &r->results[i];
	const struct ic_ref *asked = &endpoints->asked;
	char *name IC_AUTO(free) = ic_text_copy(asked->digest ? asked->digest : asked->tag,
	                                        strlen(asked->digest ? asked->digest : asked->tag));
	struct ic_source *source;
	struct ic_piece *piece;
	int result = name ? reference_text(asked, &found->reference, err) : ic_error_nomem(err);

	if (result < 0 || endpoints->list.count == 0) {
		if (result == 0)
			decide(r, i, endpoints->verdict, endpoints->reason);
		ic_endpoints_clear(endpoints);
		return result;
	}
	result = get_source(r, endpoints, &source, err);
	if (result < 0)
		return result;
	source->undecided++;
	source->latest = i;
	r->source[i] = source;
	piece = ic_pieces_get(&r->pieces, source,
	                      &(struct ic_part){.kind = IC_PIECE_TAG, .name = name, .platform = -1, .judge = IC_JUDGE_ALL});
	if (piece)
		ic_piece_add_image(piece, i);
	return 0;
}

/* An image that need not be asked for. */
static int take_found(struct imgcheck_run *r, size_t i, const struct imgcheck_image *image, struct imgcheck_error **err)
{
	struct ic_result *result = &r->results[i];
	int fault = reference_text(&image->ref, &result->reference, err);

	if (fault < 0)
		return fault;
	result->host = copy_text(r, image->found_host);
	result->digest = copy_text(r, image->found_digest);
	decide(r, i, IMGCHECK_VERDICT_OK, "it was found a moment ago and not asked for again");
	return 0;
}

static int start_image(struct imgcheck_run *r, size_t i, struct imgcheck_error **err)
{
	const struct imgcheck_image *image = imgcheck_images_get(r->images, i);
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_endpoints endpoints;
	int result;

	if (!image->valid) {
		decide(r, i, IMGCHECK_VERDICT_INVALID, "it is not an image reference");
		return 0;
	}
	if (image->ignored || ic_config_ignores(r->config, image->text) || ic_image_is_local(image)) {
		decide(r, i, IMGCHECK_VERDICT_SKIPPED, NULL);
		return 0;
	}
	if (image->found_digest)
		return take_found(r, i, image, err);
	result = ic_endpoints_find_image(r->config, r->images, image, &endpoints, &why);
	if (result == IMGCHECK_ERR_SYNTAX) {
		decide(r, i, IMGCHECK_VERDICT_INVALID, imgcheck_error_message(why));
		return 0;
	}
	if (result < 0) {
		if (err)
			*err = IC_TAKE(why);
		return result;
	}
	return ask(r, i, &endpoints, err);
}

static int init_results(struct imgcheck_run *r, struct imgcheck_error **err)
{
	char *platforms IC_AUTO(free) = platform_text(r, -1);
	struct ic_buf reason IC_AUTO(buf);
	int result;

	ic_buf_init(&reason, IC_MAX_REASON_BYTES);
	r->count = imgcheck_images_count(r->images);
	r->results = calloc(r->count ? r->count : 1, sizeof(*r->results));
	if (!r->results)
		return ic_error_nomem(err);
	result = ic_buf_printf(&reason, err, "it was not decided within the run's %u seconds", ic_config_deadline_seconds(r->config));
	for (size_t i = 0; result == 0 && i < r->count; i++) {
		const char *text = imgcheck_image_ref(imgcheck_images_get(r->images, i));

		r->results[i].verdict = IMGCHECK_VERDICT_DEADLINE;
		r->results[i].reason = copy_text(r, ic_buf_text(&reason));
		r->results[i].platform = copy_text(r, platforms);
		if (!imgcheck_images_get(r->images, i)->valid)
			r->results[i].reference = copy_text(r, text);
	}
	return result < 0 ? result : r->session.failed ? ic_error_nomem(err) : 0;
}

/* Begins as many images as there is room for.  1: some were. */
static int begin_images(struct imgcheck_run *r, struct imgcheck_error **err)
{
	int result = 0;
	bool some = false;
	size_t i;

	while (result == 0 && ic_lanes_next(&r->lanes, &i)) {
		result = start_image(r, i, err);
		some = true;
	}
	return result < 0 ? result : some;
}

static int init_lanes(struct imgcheck_run *r, struct imgcheck_error **err)
{
	const struct ic_ref **refs = calloc(r->count + 1, sizeof(*refs));
	int result;

	r->source = calloc(r->count + 1, sizeof(*r->source));
	for (size_t i = 0; refs && i < r->count; i++)
		refs[i] = &imgcheck_images_get(r->images, i)->ref;
	result = refs && r->source ? ic_lanes_init(&r->lanes, refs, r->count, err) : ic_error_nomem(err);
	free(refs);
	return result;
}

/* ------------------------------------------------------------------ the run */

static int start(struct imgcheck_run *r, struct imgcheck_error **err)
{
	ic_msec deadline = ic_clock_now() + (ic_msec)ic_config_deadline_seconds(r->config) * 1000;
	int result = ic_session_init(&r->session, r->config, deadline, err);

	ic_pieces_init(&r->pieces, &r->session, on_decided, r);
	if (result == 0)
		result = init_results(r, err);
	if (result == 0)
		result = init_lanes(r, err);
	return result < 0 ? result : begin_images(r, err);
}

int imgcheck_run_new(struct imgcheck_config *c, struct imgcheck_images *s, struct imgcheck_run **out, struct imgcheck_error **err)
{
	struct imgcheck_run *r;
	int result;

	if (out)
		*out = NULL;
	if (!out || !c || !s)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot start a run without a config, images and a place for it");
	r = calloc(1, sizeof(*r));
	if (!r)
		return ic_error_nomem(err);
	r->config = c;
	r->images = s;
	ic_config_freeze(c);
	ic_images_hold(s);
	result = start(r, err);
	if (result < 0) {
		imgcheck_run_free(r);
		return result;
	}
	*out = r;
	return 0;
}

void imgcheck_run_free(struct imgcheck_run *r)
{
	if (!r)
		return;
	ic_session_clear(&r->session);
	tdestroy(r->sources, free_source);
	for (size_t i = 0; r->results && i < r->count; i++)
		ic_result_clear(&r->results[i]);
	free(r->results);
	free(r->source);
	ic_lanes_clear(&r->lanes);
	ic_images_let_go(r->images);
	free(r);
}

int imgcheck_run_fd(const struct imgcheck_run *r)
{
	return r ? ic_http_fd(r->session.http) : IMGCHECK_ERR_ARGUMENT;
}

int imgcheck_run_step(struct imgcheck_run *r, int timeout_ms, struct imgcheck_error **err)
{
	int asking, begun = 0;

	if (!r)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot go on with a run that is not there");
	asking = ic_http_step(r->session.http, timeout_ms, err);
	if (asking >= 0 && r->session.failed == 0) {
		forget_idle(r);
		begun = begin_images(r, err);
	}
	if (asking < 0 || begun < 0)
		return asking < 0 ? asking : begun;
	if (r->session.failed == 0)
		return r->done < r->count && (asking > 0 || begun > 0);
	if (r->session.failed == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot go on with the check: an internal fault");
}

void imgcheck_run_cancel(struct imgcheck_run *r)
{
	if (r)
		ic_http_cancel(r->session.http);
}

const struct imgcheck_config *ic_run_config(const struct imgcheck_run *r)
{
	return r->config;
}

const struct imgcheck_images *ic_run_images(const struct imgcheck_run *r)
{
	return r->images;
}

const struct ic_result *ic_run_result(const struct imgcheck_run *r, size_t i)
{
	return &r->results[i];
}
