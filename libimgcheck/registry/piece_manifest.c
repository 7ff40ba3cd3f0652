/* SPDX-License-Identifier: Apache-2.0 */
/* Tags and manifests: what the runtime's resolver and its handler for manifests ask and accept. */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/text.h"
#include "registry/answer.h"
#include "registry/authorize.h"
#include "registry/piece.h"

#define MAX_PATH_BYTES (IC_MAX_REF_BYTES + 32)
#define MAX_PLATFORMS_SHOWN 12

/* ------------------------------------------------------------------ tags */

enum tag_step {
	TAG_HEAD,
	TAG_GET,      /* the host knows no HEAD (405), or the runtime none */
	TAG_MEASURE,  /* its HEAD tells no digest or no length: GET of the same */
	TAG_WORDS,    /* its HEAD refuses: GET of the same, for the words alone */
	TAG_ANONYMOUS /* it refuses the login: HEAD without one, for the words alone */
};

static void ask_manifest(struct ic_piece *piece, const struct ic_question *question, ic_reply_fn done)
{
	char path[MAX_PATH_BYTES];
	struct ic_question whole = *question;

	(void)snprintf(path, sizeof(path), "manifests/%s", piece->name);
	whole.path = path;
	ic_piece_ask(piece, &whole, done);
}

static void on_tag(void *arg, const struct ic_reply *reply);

static void ask_tag(struct ic_piece *piece, enum tag_step step, enum ic_http_method method)
{
	piece->step = step;
	ask_manifest(piece, &(struct ic_question){.method = method, .lines = ic_piece_profile(piece)->accept,
	                                          .max_body = ic_piece_profile(piece)->most_manifest_bytes,
	                                          .anonymous = step == TAG_ANONYMOUS}, on_tag);
}

/* What a media type means that is none of a manifest's. */
static void fail_type(struct ic_piece *piece, const struct ic_http_answer *answer, const char *type)
{
	struct ic_buf shown IC_AUTO(buf);

	ic_buf_init(&shown, 1024);
	if (ic_text_escape(&shown, type, strlen(type), 100, NULL) < 0)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
	if (ic_content_kind(type) == IC_CONTENT_SCHEMA1)
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "it is in the old schema 1 format (%s), which containerd no longer pulls",
		              ic_buf_text(&shown));
	else if (ic_answer_is_web_page(answer))
		ic_piece_fail(piece, IMGCHECK_VERDICT_NOT_A_REGISTRY, "the host answers with a web page (%s), not as a registry does",
		              ic_buf_text(&shown));
	else
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "the registry gives it the media type \"%s\", which is no image's",
		              ic_buf_text(&shown));
}

/* A pull is refused now, though a HEAD is free: "ratelimit-remaining: 0;w=21600" (Docker Hub). */
static bool is_exhausted(const struct ic_http_answer *answer)
{
	const char *left = ic_http_header(answer, "ratelimit-remaining", 0);

	return left && left[0] == '0' && (left[1] == '\0' || left[1] == ';');
}

static bool is_digest(const char *name)
{
	return strchr(name, ':') != NULL;
}

static bool is_usable_kind(const struct ic_profile *profile, const char *type)
{
	enum ic_content_kind kind = ic_content_kind_for(profile, type);

	return kind == IC_CONTENT_MANIFEST || kind == IC_CONTENT_INDEX || (kind == IC_CONTENT_SCHEMA1 && profile->schema1);
}

/* The tag resolves to the digest; further than that is the manifest's matter. */
static void resolve(struct ic_piece *piece, const struct ic_http_answer *answer, const char *digest, size_t size)
{
	const struct ic_profile *profile = ic_piece_profile(piece);
	const char *type = ic_http_header(answer, "content-type", 0);

	if (!is_usable_kind(profile, type) || (profile->schema1 && ic_answer_is_web_page(answer))) {
		fail_type(piece, answer, type ? type : "");
		return;
	}
	if (is_digest(piece->name) && strcmp(piece->name, digest) != 0) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its manifest has the digest %s, not the one asked for", digest);
		return;
	}
	piece->digest = ic_text_copy(digest, strlen(digest));
	if (!piece->digest)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
	if (piece->all->depth == IC_DEPTH_TAG && profile->head && is_exhausted(answer)) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_RATE_LIMITED,
		              "it is there, but the registry's rate limit leaves no pull now (ratelimit-remaining: 0)");
		return;
	}
	if (piece->all->depth > IC_DEPTH_TAG)
		ic_piece_add(piece, &(struct ic_part){.kind = IC_PIECE_MANIFEST, .name = digest, .media_type = type, .size = size,
		                                      .data = profile->head ? NULL : ic_buf_text(&answer->body), .platform = -1,
		                                      .judge = IC_JUDGE_ALL});
	ic_piece_accept(piece);
}

/* The body is at hand: what it hashes to is its digest. */
static void resolve_body(struct ic_piece *piece, const struct ic_http_answer *answer)
{
	const char *header = ic_piece_profile(piece)->told_digest ? ic_http_header(answer, "docker-content-digest", 0) : NULL;
	const char *told = is_digest(piece->name) ? piece->name : header;
	enum ic_digest_algorithm algorithm = IC_DIGEST_SHA256;
	char digest[IC_DIGEST_TEXT_BYTES];

	if (answer->body.len == 0) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its manifest is empty");
		return;
	}
	if (told)
		(void)ic_digest_is_valid(told, strlen(told), &algorithm);
	if (ic_digest_compute(algorithm, answer->body.data, answer->body.len, digest, NULL) < 0)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_INTERNAL);
	else if (told && strcmp(told, digest) != 0)
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its manifest has the digest %s, not the one that the registry tells",
		              digest);
	else
		resolve(piece, answer, digest, answer->body.len);
}

#define MAX_LIMIT_BYTES 120

static const char *too_large(const struct ic_profile *profile, char text[MAX_LIMIT_BYTES])
{
	(void)snprintf(text, MAX_LIMIT_BYTES, "its manifest is larger than the %zu bytes that %s takes", profile->most_manifest_bytes,
	               profile->name);
	return text;
}

/* The next host is asked then. */
static void fail_oversized(struct ic_piece *piece, const struct ic_http_answer *answer)
{
	char text[MAX_LIMIT_BYTES];

	ic_piece_fail_endpoint(piece, &(struct ic_reply){.answer = answer, .verdict = IMGCHECK_VERDICT_CORRUPT,
	                                                 .reason = too_large(ic_piece_profile(piece), text)});
}

static void resolve_head(struct ic_piece *piece, const struct ic_http_answer *answer)
{
	const char *digest = is_digest(piece->name) ? piece->name : ic_http_header(answer, "docker-content-digest", 0);
	const char *length = ic_http_header(answer, "content-length", 0);
	size_t size = 0;

	if (!digest || !digest[0] || !length || !ic_text_to_size(length, strlen(length), SIZE_MAX, &size)) {
		ask_tag(piece, TAG_MEASURE, IC_HTTP_GET);
	} else if (!ic_digest_is_valid(digest, strlen(digest), NULL)) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "the registry tells a digest for it that is none");
	} else if (size == 0) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "the registry tells a size of zero for its manifest");
	} else if (size > ic_piece_profile(piece)->most_manifest_bytes) {
		fail_oversized(piece, answer);
	} else {
		resolve(piece, answer, digest, size);
	}
}

/* ------------------------------------------------------------------ tags that do not resolve */

/* Appends to the reason of the refusal that is kept. */
static void add_to_reason(struct ic_piece *piece, const char *joint, const char *text)
{
	struct ic_buf reason IC_AUTO(buf);
	const char *kept = piece->refused.reason ? piece->refused.reason : "";

	ic_buf_init(&reason, 4 * IC_MAX_REASON_BYTES);
	if (ic_buf_add_text(&reason, kept, NULL) < 0 || ic_buf_add_text(&reason, joint, NULL) < 0 ||
	    ic_buf_add_text(&reason, text, NULL) < 0)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
	free(piece->refused.reason);
	piece->refused.reason = ic_buf_take(&reason);
}

/* The words of a GET of the same are those that HEAD cannot have; where it disagrees, HEAD has decided. */
static void take_words(struct ic_piece *piece, const struct ic_reply *reply)
{
	long status = reply->answer && reply->answer->end == IC_HTTP_ANSWERED ? reply->answer->status : 0;

	if (status == piece->refused.status) {
		free(IC_TAKE(piece->refused.reason));
		add_to_reason(piece, "", reply->reason);
		if (status == 404 && ic_answer_is_web_page(reply->answer))
			piece->refused.verdict = IMGCHECK_VERDICT_NOT_A_REGISTRY;
	} else if (reply->verdict == IMGCHECK_VERDICT_OK) {
		add_to_reason(piece, "; ", "a GET of the same is answered, but containerd does not try it then");
	}
}

/* A host that never asks for the login that is there for it may hide what only that login may see. */
static bool is_unasked(const struct ic_piece *piece)
{
	bool is_final = piece->refused.status == 404 || (piece->refused.status == 401 && ic_piece_profile(piece)->ping);

	return is_final && !piece->refused.with_login &&
	       !ic_login_is_anonymous(&ic_piece_endpoint(piece)->login);
}

static bool is_about_access(const struct ic_piece *piece)
{
	return piece->refused.verdict == IMGCHECK_VERDICT_UNAUTHORIZED || piece->refused.verdict == IMGCHECK_VERDICT_DENIED;
}

/* All words are there, but for what the login has to do with it. */
static void end_refusal(struct ic_piece *piece)
{
	if (is_unasked(piece))
		add_to_reason(piece, ": ", "the registry never asked for the credentials");
	if (is_about_access(piece) && piece->refused.with_login && ic_piece_is_last_endpoint(piece))
		ask_tag(piece, TAG_ANONYMOUS, ic_piece_profile(piece)->head ? IC_HTTP_HEAD : IC_HTTP_GET);
	else
		ic_piece_fail_refused(piece);
}

/* What HEAD refuses stays refused; a GET only finds the words for it. */
static bool is_worth_words(const struct ic_piece *piece)
{
	long status = piece->refused.status;

	if (piece->step != TAG_HEAD)
		return false;
	if (status == 403)
		return true;
	return ic_piece_is_last_endpoint(piece) && (status == 400 || status == 401 || status == 404 || status == 412);
}

/* The endpoint does not resolve the tag. */
static void refuse(struct ic_piece *piece, const struct ic_reply *reply)
{
	const struct ic_http_answer *answer = reply->answer;
	bool answered = answer && answer->end == IC_HTTP_ANSWERED;

	free(piece->refused.reason);
	piece->refused = (struct ic_refused){.verdict = reply->verdict, .rank = ic_piece_failure_rank(reply),
	                                     .status = answered ? answer->status : 0, .with_login = reply->with_login};
	add_to_reason(piece, "", reply->reason);
	if (piece->refused.status == 404 && ic_answer_is_web_page(answer))
		piece->refused.verdict = IMGCHECK_VERDICT_NOT_A_REGISTRY;
	if (is_worth_words(piece))
		ask_tag(piece, TAG_WORDS, IC_HTTP_GET);
	else
		end_refusal(piece);
}

/* ------------------------------------------------------------------ answers about tags */

static void on_unresolved(struct ic_piece *piece, const struct ic_reply *reply)
{
	long status = reply->answer && reply->answer->end == IC_HTTP_ANSWERED ? reply->answer->status : 0;

	if (piece->step == TAG_HEAD && status == 405)
		ask_tag(piece, TAG_GET, IC_HTTP_GET);
	else if (ic_reply_is_oversized(reply, ic_piece_profile(piece)->most_manifest_bytes))
		fail_oversized(piece, reply->answer);
	else if (piece->step == TAG_MEASURE || (status / 100 == 3 && !ic_piece_profile(piece)->last_failure_counts))
		ic_piece_fail(piece, reply->verdict, "%s", reply->reason); /* containerd asks no other host then */
	else
		refuse(piece, reply);
}

static void on_tag(void *arg, const struct ic_reply *reply)
{
	struct ic_piece *piece = arg;

	switch ((enum tag_step)piece->step) {
	case TAG_HEAD:
	case TAG_GET:
	case TAG_MEASURE:
		if (reply->verdict != IMGCHECK_VERDICT_OK)
			on_unresolved(piece, reply);
		else if (piece->step == TAG_HEAD)
			resolve_head(piece, reply->answer);
		else
			resolve_body(piece, reply->answer);
		break;
	case TAG_WORDS:
		take_words(piece, reply);
		end_refusal(piece);
		break;
	case TAG_ANONYMOUS:
		if (reply->verdict == IMGCHECK_VERDICT_OK)
			add_to_reason(piece, "; ", "without credentials it could be pulled");
		ic_piece_fail_refused(piece);
		break;
	}
}

void ic_piece_ask_tag(struct ic_piece *piece)
{
	if (ic_piece_profile(piece)->head)
		ask_tag(piece, TAG_HEAD, IC_HTTP_HEAD);
	else
		ask_tag(piece, TAG_GET, IC_HTTP_GET);
}

/* ------------------------------------------------------------------ manifests */

static void add_layers(struct ic_piece *piece, const struct ic_content *manifest)
{
	const struct ic_profile *profile = manifest->profile;

	for (size_t i = 0; i < manifest->entries.count; i++) {
		const struct ic_descriptor *layer = ic_vec_at(&manifest->entries, i);

		if (profile->empty_layer && strcmp(layer->digest, profile->empty_layer) == 0)
			continue;
		ic_piece_add(piece, &(struct ic_part){.kind = IC_PIECE_LAYER, .name = layer->digest, .size = layer->size,
		                                      .data = profile->inlined_blobs ? layer->data : NULL, .urls = &layer->urls,
		                                      .platform = piece->platform, .judge = IC_JUDGE_NONE});
	}
}

static void take_manifest(struct ic_piece *piece, const struct ic_content *manifest)
{
	const struct ic_descriptor *config = &manifest->config;
	bool deep = piece->all->depth >= IC_DEPTH_BLOBS;

	if ((deep || piece->judge != IC_JUDGE_NONE) && manifest->kind != IC_CONTENT_SCHEMA1)
		ic_piece_add(piece, &(struct ic_part){.kind = IC_PIECE_CONFIG, .name = config->digest, .size = config->size,
		                                      .platform = piece->platform, .judge = piece->judge,
		                                      .data = manifest->profile->inlined_blobs ? config->data : NULL,
		                                      .layers = deep ? manifest->layers : IC_LAYERS_ANY});
	if (deep)
		add_layers(piece, manifest);
	ic_piece_accept(piece);
}

/* "linux/arm64, linux/s390x" */
static int list_platforms(const struct ic_content *index, struct ic_buf *out)
{
	size_t shown = 0;
	int result = 0;

	for (size_t i = 0; result == 0 && i < index->entries.count; i++) {
		const struct ic_descriptor *entry = ic_vec_at(&index->entries, i);
		char text[IC_PLATFORM_TEXT_BYTES];

		ic_platform_text(&entry->platform, text);
		if (!entry->has_platform || strcmp(entry->platform.architecture, "unknown") == 0)
			continue;
		if (shown++ == MAX_PLATFORMS_SHOWN)
			return ic_buf_add_text(out, ", ...", NULL);
		if (shown > 1)
			result = ic_buf_add_text(out, ", ", NULL);
		if (result == 0)
			result = ic_text_escape(out, text, strlen(text), IC_PLATFORM_TEXT_BYTES, NULL);
	}
	return result < 0 || shown > 0 ? result : ic_buf_add_text(out, "no platform at all", NULL);
}

static void fail_platform(struct ic_piece *piece, const struct ic_content *index, size_t wanted)
{
	struct ic_buf there IC_AUTO(buf);
	char text[IC_PLATFORM_TEXT_BYTES];

	ic_buf_init(&there, IC_MAX_REASON_BYTES);
	if (list_platforms(index, &there) == IMGCHECK_ERR_NOMEM)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
	ic_platform_text(ic_config_platform(piece->all->session->config, wanted), text);
	piece->platform = (int)wanted;
	ic_piece_fail(piece, IMGCHECK_VERDICT_NO_PLATFORM, "it is not there for %s, only for %s", text, ic_buf_text(&there));
}

static void add_child(struct ic_piece *piece, const struct ic_content *index, size_t entry, size_t wanted)
{
	const struct ic_descriptor *child = ic_vec_at(&index->entries, entry);
	bool is_judged = !child->has_platform && index->profile->nameless_is_judged;

	ic_piece_add(piece, &(struct ic_part){.kind = IC_PIECE_MANIFEST, .name = child->digest, .media_type = child->media_type,
	                                      .size = child->size, .data = child->data, .platform = (int)wanted,
	                                      .depth = piece->depth + 1,
	                                      .judge = is_judged ? (int)wanted : IC_JUDGE_NONE});
}

/* Whether the piece serves this wanted platform: an index within an index serves the one that it was chosen for. */
static bool serves(const struct ic_piece *piece, size_t wanted)
{
	return piece->platform < 0 || (size_t)piece->platform == wanted;
}

/* Whether the index has an entry for the wanted platform that can be fetched; else the piece has failed. */
static bool is_usable(struct ic_piece *piece, const struct ic_content *index, size_t wanted)
{
	const struct ic_descriptor *child;
	size_t entry;

	if (!ic_content_choose(index, ic_config_platform(piece->all->session->config, wanted), &entry)) {
		fail_platform(piece, index, wanted);
		return false;
	}
	child = ic_vec_at(&index->entries, entry);
	if (!child->fault)
		return true;
	piece->platform = (int)wanted;
	ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its index cannot be used: %s", child->fault);
	return false;
}

static void take_index(struct ic_piece *piece, const struct ic_content *index)
{
	const struct imgcheck_config *config = piece->all->session->config;
	size_t entry;

	if (piece->depth > 0 && !index->profile->nested_indexes) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its index lists a further index, %s, which %s does not follow",
		              piece->name, index->profile->name);
		return;
	}
	if (piece->depth >= IC_MAX_INDEX_DEPTH) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_SERVER_ERROR, "it has indexes within indexes, more than %d deep", IC_MAX_INDEX_DEPTH);
		return;
	}
	for (size_t wanted = 0; wanted < ic_config_platform_count(config); wanted++)
		if (serves(piece, wanted) && !is_usable(piece, index, wanted))
			return;
	for (size_t wanted = 0; wanted < ic_config_platform_count(config); wanted++)
		if (serves(piece, wanted) && ic_content_choose(index, ic_config_platform(config, wanted), &entry))
			add_child(piece, index, entry, wanted);
	ic_piece_accept(piece);
}

static void read_manifest(struct ic_piece *piece, const char *body, size_t len)
{
	enum ic_content_kind kind = ic_content_kind_for(ic_piece_profile(piece), piece->media_type);
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_content content IC_AUTO(content) = {0};
	int result;

	if (!ic_piece_is_genuine(piece, body, len))
		return;
	result = ic_content_parse(ic_piece_profile(piece), kind, body, len, &content, &why);
	content.docker_list = ic_content_is_docker_list(piece->media_type);
	if (result == IMGCHECK_ERR_NOMEM)
		ic_session_fail(piece->all->session, result);
	if (result < 0)
		ic_piece_fail(piece, ic_piece_unreadable(result), "its manifest %s cannot be used: %s", piece->name,
		              imgcheck_error_message(why));
	else if (kind == IC_CONTENT_INDEX)
		take_index(piece, &content);
	else
		take_manifest(piece, &content);
}

/* The answer's own type counts, not what named the manifest. */
static void set_type(struct ic_piece *piece, const char *type)
{
	free(piece->media_type);
	piece->media_type = type ? ic_text_copy(type, strlen(type)) : NULL;
	if (type && !piece->media_type)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
}

static void on_manifest(void *arg, const struct ic_reply *reply)
{
	struct ic_piece *piece = arg;

	if (reply->verdict == IMGCHECK_VERDICT_OK && !ic_piece_profile(piece)->told_types)
		set_type(piece, ic_http_header(reply->answer, "content-type", 0));
	if (reply->verdict == IMGCHECK_VERDICT_OK)
		read_manifest(piece, ic_buf_text(&reply->answer->body), reply->answer->body.len);
	else
		ic_piece_fail_fetch(piece, reply);
}

void ic_piece_ask_manifest(struct ic_piece *piece)
{
	const struct ic_profile *profile = ic_piece_profile(piece);
	const char *type = piece->media_type ? piece->media_type : "";
	struct ic_question question = {.method = IC_HTTP_GET};
	struct ic_buf accept IC_AUTO(buf);
	char text[MAX_LIMIT_BYTES];

	ic_buf_init(&accept, IC_MAX_URL_BYTES);
	if (profile->told_types && !is_usable_kind(profile, type)) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its index lists %s as something that is no image manifest", piece->name);
	} else if (piece->size > profile->most_manifest_bytes && profile->told_sizes) {
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "%s", too_large(profile, text));
	} else if (piece->data) {
		read_manifest(piece, piece->data, piece->size);
	} else {
		if (ic_buf_printf(&accept, NULL, "Accept: %.*s, */*", (int)strcspn(type, ";"), type) < 0)
			ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
		question.header = profile->accepts_told_type ? ic_buf_text(&accept) : NULL;
		question.lines = profile->accepts_told_type ? NULL : profile->accept;
		question.max_body = profile->told_sizes ? piece->size : profile->most_manifest_bytes;
		ask_manifest(piece, &question, on_manifest);
	}
}
