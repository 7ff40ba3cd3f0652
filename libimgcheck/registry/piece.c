/* SPDX-License-Identifier: Apache-2.0 */
#include "piece.h"

#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/text.h"

#define OTHERS_BYTES 400 /* shown of what other endpoints said */

/* ------------------------------------------------------------------ findings */

/*
 * What weighs more in a decision: a fact about the image before "no access" before "could not tell", so that
 * of two layers the one that is missing decides, not the one that could not be asked for.
 */
static int weight(enum imgcheck_verdict verdict)
{
	switch (verdict) {
	case IMGCHECK_VERDICT_OK:
	case IMGCHECK_VERDICT_SKIPPED:
		return 0;
	case IMGCHECK_VERDICT_DEADLINE:
		return 1;
	case IMGCHECK_VERDICT_UNREACHABLE:
	case IMGCHECK_VERDICT_TLS:
	case IMGCHECK_VERDICT_RATE_LIMITED:
	case IMGCHECK_VERDICT_SERVER_ERROR:
	case IMGCHECK_VERDICT_NOT_A_REGISTRY:
		return 2;
	case IMGCHECK_VERDICT_UNAUTHORIZED:
	case IMGCHECK_VERDICT_DENIED:
		return 3;
	case IMGCHECK_VERDICT_NOT_FOUND:
	case IMGCHECK_VERDICT_NO_PLATFORM:
	case IMGCHECK_VERDICT_INCOMPLETE:
	case IMGCHECK_VERDICT_CORRUPT:
	case IMGCHECK_VERDICT_INVALID:
		return 4;
	}
	return 0;
}

/* Takes the reason of *from. */
static void replace_finding(struct ic_finding *to, struct ic_finding *from)
{
	free(to->reason);
	*to = *from;
	from->reason = NULL;
}

/* A copy of a piece's finding becomes its parent's where it weighs more. */
static void adopt(struct ic_piece *parent, const struct ic_piece *piece)
{
	struct ic_finding copy = piece->finding;

	if (weight(piece->finding.verdict) <= weight(parent->finding.verdict))
		return;
	copy.reason = copy.reason ? ic_text_copy(copy.reason, strlen(copy.reason)) : NULL;
	if (!copy.reason)
		ic_session_fail(parent->all->session, IMGCHECK_ERR_NOMEM);
	replace_finding(&parent->finding, &copy);
}

/* ------------------------------------------------------------------ all pieces */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct ic_piece *)a)->key, ((const struct ic_piece *)b)->key);
}

static void drop_exchange(struct ic_piece *piece)
{
	if (piece->exchange)
		ic_exchange_clear(piece->exchange);
	free(IC_TAKE(piece->exchange));
}

static void free_piece(void *arg)
{
	struct ic_piece *piece = arg;

	drop_exchange(piece);
	free(piece->key);
	free(piece->name);
	free(piece->media_type);
	free(piece->data);
	free(piece->finding.reason);
	free(piece->failure.reason);
	free(piece->refused.reason);
	free(piece->digest);
	ic_texts_clear(&piece->urls);
	ic_buf_clear(&piece->others);
	ic_vec_clear(&piece->parents);
	ic_vec_clear(&piece->images);
	free(piece);
}

void ic_pieces_init(struct ic_pieces *all, struct ic_session *session, ic_piece_decided decided, void *arg)
{
	*all = (struct ic_pieces){.session = session, .depth = ic_config_depth(session->config), .decided = decided, .arg = arg};
}

void ic_pieces_forget(struct ic_source *source)
{
	tdestroy(source->pieces, free_piece);
	source->pieces = NULL;
}

/* The endpoint at hand asks, or the piece is decided by those that were asked. */
static void ask_next(struct ic_piece *piece);

/*
 * What tells a piece from any other of its source: all that decides how it is asked for and judged.  The same
 * digest can be a manifest by one tag's word and an index by another's, or a layer with and without own URLs.
 */
static int write_key(const struct ic_part *part, struct ic_buf *key)
{
	int result = ic_buf_printf(key, NULL, "%s %d %d %zu %zu %zu %d %s", part->name, (int)part->kind, part->judge, part->size,
	                           part->layers, part->only, part->data != NULL, part->media_type ? part->media_type : "");

	for (size_t i = 0; result == 0 && part->urls && i < part->urls->count; i++)
		result = ic_buf_printf(key, NULL, "\n%s", ic_texts_get(part->urls, i));
	return result;
}

static int fill(struct ic_piece *piece, const struct ic_part *part)
{
	struct ic_buf key IC_AUTO(buf);
	int result;

	ic_buf_init(&key, 2 * IC_MAX_MANIFEST_BYTES); /* its texts come from one */
	ic_buf_init(&piece->others, IC_MAX_REASON_BYTES);
	ic_texts_init(&piece->urls, IC_MAX_LIST_ITEMS);
	ic_vec_init(&piece->parents, sizeof(struct ic_piece *), IC_MAX_PIECES);
	ic_vec_init(&piece->images, sizeof(size_t), IC_MAX_IMAGES);
	result = write_key(part, &key);
	for (size_t i = 0; result == 0 && part->urls && i < part->urls->count; i++)
		result = ic_texts_push(&piece->urls, ic_texts_get(part->urls, i), strlen(ic_texts_get(part->urls, i)), NULL);
	piece->key = ic_buf_take(&key);
	piece->name = ic_text_copy(part->name, strlen(part->name));
	piece->data = part->data ? ic_text_copy(part->data, part->size) : NULL;
	if (part->data && !piece->data)
		return IMGCHECK_ERR_NOMEM;
	piece->media_type = part->media_type ? ic_text_copy(part->media_type, strlen(part->media_type)) : NULL;
	if (!piece->key || !piece->name || (part->media_type && !piece->media_type))
		return IMGCHECK_ERR_NOMEM;
	return result;
}

static struct ic_piece *new_piece(struct ic_pieces *all, struct ic_source *source, const struct ic_part *part)
{
	struct ic_piece *piece = calloc(1, sizeof(*piece));

	if (!piece)
		return NULL;
	piece->kind = part->kind;
	piece->all = all;
	piece->source = source;
	piece->size = part->size;
	piece->platform = part->platform;
	piece->judge = part->judge;
	piece->depth = part->depth;
	piece->layers = part->layers;
	piece->only = part->only;
	piece->finding.platform = piece->failure.platform = part->platform;
	if (fill(piece, part) == 0)
		return piece;
	free_piece(piece);
	return NULL;
}

struct ic_piece *ic_pieces_get(struct ic_pieces *all, struct ic_source *source, const struct ic_part *part)
{
	struct ic_piece *piece = new_piece(all, source, part), **found;

	found = piece ? tsearch(piece, &source->pieces, by_key) : NULL;
	if (!found) {
		if (piece)
			free_piece(piece);
		ic_session_fail(all->session, IMGCHECK_ERR_NOMEM);
		return NULL;
	}
	if (*found != piece) {
		free_piece(piece);
		return *found;
	}
	if (++all->count > IC_MAX_PIECES)
		ic_piece_fail(piece, IMGCHECK_VERDICT_SERVER_ERROR, "cannot check more than %zu manifests and layers in one run",
		              (size_t)IC_MAX_PIECES);
	else
		ask_next(piece);
	return piece;
}

void ic_piece_add(struct ic_piece *parent, const struct ic_part *part)
{
	struct ic_part whole = *part;
	struct ic_piece *piece;

	/* the parent must not be decided while the new piece asks */
	parent->pending++;
	whole.only = ic_piece_profile(parent)->one_endpoint ? parent->endpoint + 1 : 0;
	piece = ic_pieces_get(parent->all, parent->source, &whole);
	if (piece && !piece->decided && ic_vec_push(&piece->parents, &parent, NULL) < 0)
		ic_session_fail(parent->all->session, IMGCHECK_ERR_NOMEM);
	if (!piece || !piece->decided)
		return;
	parent->pending--;
	adopt(parent, piece);
}

void ic_piece_add_image(struct ic_piece *piece, size_t image)
{
	if (piece->decided)
		piece->all->decided(piece->all->arg, piece, image);
	else if (ic_vec_push(&piece->images, &image, NULL) < 0)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
}

/* ------------------------------------------------------------------ deciding */

/* The piece is decided once it and all below it are; then those above it may be. */
static void settle(struct ic_piece *piece)
{
	if (!piece->asked || piece->pending > 0 || piece->decided)
		return;
	piece->decided = true;
	drop_exchange(piece);
	free(IC_TAKE(piece->data));
	ic_buf_clear(&piece->others);
	for (size_t i = 0; i < piece->parents.count; i++) {
		struct ic_piece *parent = *(struct ic_piece **)ic_vec_at(&piece->parents, i);

		parent->pending--;
		adopt(parent, piece);
		settle(parent);
	}
	ic_vec_clear(&piece->parents);
	for (size_t i = 0; i < piece->images.count; i++)
		piece->all->decided(piece->all->arg, piece, *(size_t *)ic_vec_at(&piece->images, i));
	ic_vec_clear(&piece->images);
}

void ic_piece_accept(struct ic_piece *piece)
{
	if (!piece->finding.endpoint)
		piece->finding.endpoint = ic_piece_endpoint(piece);
	piece->asked = true;
	settle(piece);
}

/* The piece is decided by this failure, of this endpoint (NULL for none). */
static void conclude(struct ic_piece *piece, enum imgcheck_verdict verdict, const struct ic_endpoint *endpoint, const char *text)
{
	struct ic_finding finding = {.verdict = verdict, .endpoint = endpoint, .platform = piece->platform};
	struct ic_buf reason IC_AUTO(buf);

	ic_buf_init(&reason, 4 * IC_MAX_REASON_BYTES);
	if (ic_buf_printf(&reason, NULL, "%s%s%s", text, piece->others.len > 0 ? "; " : "", ic_buf_text(&piece->others)) == 0)
		finding.reason = ic_buf_take(&reason);
	if (!finding.reason)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
	replace_finding(&piece->finding, &finding);
	piece->asked = true;
	settle(piece);
}

enum imgcheck_verdict ic_piece_unreadable(int result)
{
	return result == IMGCHECK_ERR_LIMIT ? IMGCHECK_VERDICT_SERVER_ERROR : IMGCHECK_VERDICT_CORRUPT;
}

void ic_piece_fail(struct ic_piece *piece, enum imgcheck_verdict verdict, const char *format, ...)
{
	char text[IC_MAX_REASON_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	conclude(piece, verdict, ic_piece_endpoint(piece), text);
}

/* ------------------------------------------------------------------ endpoints */

const struct ic_profile *ic_piece_profile(const struct ic_piece *piece)
{
	return piece->all->session->profile;
}

const struct ic_endpoint *ic_piece_endpoint(const struct ic_piece *piece)
{
	const struct ic_vec *list = &piece->source->endpoints.list;

	return piece->endpoint < list->count ? ic_vec_at(list, piece->endpoint) : NULL;
}

int ic_piece_failure_rank(const struct ic_reply *reply)
{
	if (!reply->answer || reply->answer->status == 401)
		return 1;
	if (reply->answer->end == IC_HTTP_TOO_LARGE)
		return 4;
	if (reply->answer->end != IC_HTTP_ANSWERED)
		return 1;
	return reply->answer->status == 404 ? 2 : 3;
}

static const char *const words[] = {
	[IC_PIECE_TAG] = "",
	[IC_PIECE_MANIFEST] = "its manifest: ",
	[IC_PIECE_CONFIG] = "its config: ",
	[IC_PIECE_LAYER] = "a layer: ",
};

/* Below a tag that resolves, what is not found is a part of an image that is there. */
static enum imgcheck_verdict verdict_for_kind(const struct ic_piece *piece, enum imgcheck_verdict verdict)
{
	if (verdict == IMGCHECK_VERDICT_NOT_FOUND && piece->kind != IC_PIECE_TAG)
		return IMGCHECK_VERDICT_INCOMPLETE;
	return verdict;
}

/* An endpoint that does not decide, asked before or after the one that does. */
static void keep_other(struct ic_piece *piece, const struct ic_endpoint *endpoint, const char *reason)
{
	size_t most = piece->others.len < OTHERS_BYTES ? OTHERS_BYTES - piece->others.len : 0;

	if (most == 0)
		return;
	if (ic_buf_printf(&piece->others, NULL, "%s%s: %.*s", piece->others.len > 0 ? "; " : "also ", endpoint->host, (int)most,
	                  reason) == IMGCHECK_ERR_NOMEM)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
}

/* The endpoint at hand has failed: the next one is asked. */
static void fail_endpoint(struct ic_piece *piece, enum imgcheck_verdict verdict, int rank, const char *reason)
{
	const struct ic_endpoint *endpoint = ic_piece_endpoint(piece);
	bool instead = ic_piece_profile(piece)->last_failure_counts && !(endpoint->blocked && piece->failure.reason);

	if (rank > piece->failure_rank || instead) {
		struct ic_finding failure = {.verdict = verdict_for_kind(piece, verdict), .endpoint = endpoint,
		                             .platform = piece->platform, .reason = ic_text_copy(reason, strlen(reason))};

		if (!failure.reason)
			ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
		if (piece->failure.reason)
			keep_other(piece, piece->failure.endpoint, piece->failure.reason);
		replace_finding(&piece->failure, &failure);
		piece->failure_rank = rank;
	} else {
		keep_other(piece, endpoint, reason);
	}
	piece->endpoint++;
	ask_next(piece);
}

void ic_piece_fail_endpoint(struct ic_piece *piece, const struct ic_reply *reply)
{
	fail_endpoint(piece, reply->verdict, ic_piece_failure_rank(reply), reply->reason);
}

bool ic_reply_is_oversized(const struct ic_reply *reply, size_t most)
{
	const struct ic_http_answer *answer = reply->answer;
	const char *length = answer ? ic_http_header(answer, "content-length", 0) : NULL;
	size_t told = 0;

	if (!answer || answer->end != IC_HTTP_TOO_LARGE || answer->status / 100 != 2)
		return false;
	return answer->body.len > 0 || (length && ic_text_to_size(length, strlen(length), SIZE_MAX, &told) && told > most);
}

void ic_piece_fail_fetch(struct ic_piece *piece, const struct ic_reply *reply)
{
	const struct ic_profile *profile = ic_piece_profile(piece);
	size_t limit = piece->kind == IC_PIECE_CONFIG ? profile->most_config_bytes : profile->most_manifest_bytes;
	size_t most = profile->told_sizes ? piece->size : limit;

	if (ic_reply_is_oversized(reply, most))
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "%s%s has more than the %zu bytes that %s", words[piece->kind],
		              piece->name, most, profile->told_sizes ? "were told" : "the runtime takes");
	else
		ic_piece_fail_endpoint(piece, reply);
}

bool ic_piece_is_genuine(struct ic_piece *piece, const char *data, size_t len)
{
	/* whoever stores a config compares its size */
	if (len != piece->size && (ic_piece_profile(piece)->told_sizes || piece->kind == IC_PIECE_CONFIG))
		ic_piece_fail(piece, len == 0 ? IMGCHECK_VERDICT_INCOMPLETE : IMGCHECK_VERDICT_CORRUPT,
		              "%s%s has %zu bytes where %zu were told", words[piece->kind], piece->name, len, piece->size);
	else if (!ic_digest_matches(piece->name, data, len))
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "%sits bytes do not have the digest %s", words[piece->kind], piece->name);
	else
		return true;
	return false;
}

void ic_piece_fail_refused(struct ic_piece *piece)
{
	char *reason IC_AUTO(free) = IC_TAKE(piece->refused.reason);

	fail_endpoint(piece, piece->refused.verdict, piece->refused.rank, reason ? reason : "");
}

static bool may_be_asked(const struct ic_piece *piece, size_t i)
{
	const struct ic_endpoint *endpoint = ic_vec_at(&piece->source->endpoints.list, i);

	if (piece->only && i + 1 != piece->only)
		return false;
	/* hosts for layers and configs are taken as they come, whatever they are said to be capable of */
	if (piece->kind == IC_PIECE_CONFIG || piece->kind == IC_PIECE_LAYER)
		return true;
	if (piece->kind == IC_PIECE_TAG && !strchr(piece->name, ':') && !endpoint->resolve)
		return false;
	return endpoint->pull;
}

static void fail_for_good(struct ic_piece *piece)
{
	char text[2 * IC_MAX_REASON_BYTES];

	(void)snprintf(text, sizeof(text), "%s%s", words[piece->kind],
	               piece->failure.reason ? piece->failure.reason : "no host is configured that may be asked for it");
	conclude(piece, piece->failure.reason ? piece->failure.verdict : IMGCHECK_VERDICT_NOT_FOUND, piece->failure.endpoint, text);
}

static void ask_next(struct ic_piece *piece)
{
	const struct ic_endpoint *endpoint;

	while ((endpoint = ic_piece_endpoint(piece)) && !may_be_asked(piece, piece->endpoint))
		piece->endpoint++;
	piece->step = 0;
	if (!endpoint) {
		fail_for_good(piece);
		return;
	}
	if (endpoint->broken) {
		fail_endpoint(piece, endpoint->blocked ? IMGCHECK_VERDICT_DENIED : IMGCHECK_VERDICT_UNREACHABLE,
		              ic_piece_failure_rank(&(struct ic_reply){0}), endpoint->broken);
		return;
	}
	switch (piece->kind) {
	case IC_PIECE_TAG:
		ic_piece_ask_tag(piece);
		break;
	case IC_PIECE_MANIFEST:
		ic_piece_ask_manifest(piece);
		break;
	case IC_PIECE_CONFIG:
		ic_piece_ask_config(piece);
		break;
	case IC_PIECE_LAYER:
		ic_piece_ask_layer(piece);
		break;
	}
}

bool ic_piece_is_last_endpoint(const struct ic_piece *piece)
{
	const struct ic_vec *list = &piece->source->endpoints.list;

	for (size_t i = piece->endpoint + 1; i < list->count; i++)
		if (may_be_asked(piece, i) && !((const struct ic_endpoint *)ic_vec_at(list, i))->broken)
			return false;
	return true;
}

void ic_piece_ask(struct ic_piece *piece, const struct ic_question *question, ic_reply_fn done)
{
	struct ic_question whole = *question;

	whole.last_endpoint = ic_piece_is_last_endpoint(piece);
	if (!piece->exchange) {
		piece->exchange = calloc(1, sizeof(*piece->exchange));
		if (!piece->exchange) {
			ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
			return;
		}
		ic_exchange_init(piece->exchange, piece->all->session);
	}
	ic_exchange_ask(piece->exchange, ic_piece_endpoint(piece), &whole, done, piece);
}
