/* SPDX-License-Identifier: Apache-2.0 */
/* Configs and layers: that the bytes are there, and that a config fits its manifest and the node. */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/text.h"
#include "registry/piece.h"

#define MAX_PATH_BYTES (IC_MAX_REF_BYTES + 32)

/* ------------------------------------------------------------------ configs */

/* Whether the config is for the platform; finds the first wanted one that it is not for. */
static bool fits(const struct ic_piece *piece, const struct ic_image_config *config, size_t *wanted)
{
	const struct imgcheck_config *c = piece->all->session->config;
	size_t first = piece->judge >= 0 ? (size_t)piece->judge : 0;
	size_t end = piece->judge >= 0 ? first + 1 : ic_config_platform_count(c);

	if (piece->judge == IC_JUDGE_NONE)
		return true;
	if (!config->has_platform) {
		*wanted = first;
		return piece->judge == IC_JUDGE_ALL; /* the runtime does not look where no index asks it to */
	}
	for (*wanted = first; *wanted < end; (*wanted)++)
		if (ic_platform_rank(ic_config_platform(c, *wanted), &config->platform) < 0)
			return false;
	return true;
}

static void fail_platform(struct ic_piece *piece, const struct ic_image_config *config, size_t wanted)
{
	char want[IC_PLATFORM_TEXT_BYTES], have[IC_PLATFORM_TEXT_BYTES];
	struct ic_buf shown IC_AUTO(buf);

	ic_buf_init(&shown, 4 * IC_PLATFORM_TEXT_BYTES);
	ic_platform_text(ic_config_platform(piece->all->session->config, wanted), want);
	ic_platform_text(&config->platform, have);
	if (ic_text_escape(&shown, have, strlen(have), IC_PLATFORM_TEXT_BYTES, NULL) < 0)
		ic_session_fail(piece->all->session, IMGCHECK_ERR_NOMEM);
	piece->platform = (int)wanted;
	ic_piece_fail(piece, IMGCHECK_VERDICT_NO_PLATFORM, "it is not there for %s, only for %s", want,
	              config->has_platform ? ic_buf_text(&shown) : "a platform that its config does not tell");
}

static void read_config(struct ic_piece *piece, const char *body, size_t len)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_image_config config;
	size_t wanted = 0;
	int result;

	if (!ic_piece_is_genuine(piece, body, len))
		return;
	result = ic_image_config_parse(body, len, &config, &why);
	if (result == IMGCHECK_ERR_NOMEM)
		ic_session_fail(piece->all->session, result);
	if (result < 0)
		ic_piece_fail(piece, ic_piece_unreadable(result), "its config %s cannot be used: %s", piece->name,
		              imgcheck_error_message(why));
	else if (!fits(piece, &config, &wanted))
		fail_platform(piece, &config, wanted);
	else if (piece->layers != IC_LAYERS_ANY && config.diff_ids != piece->layers)
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its config describes %zu layers where its manifest lists %zu",
		              config.diff_ids, piece->layers);
	else
		ic_piece_accept(piece);
}

static void on_config(void *arg, const struct ic_reply *reply)
{
	struct ic_piece *piece = arg;

	if (reply->verdict == IMGCHECK_VERDICT_OK)
		read_config(piece, ic_buf_text(&reply->answer->body), reply->answer->body.len);
	else
		ic_piece_fail_fetch(piece, reply);
}

static void ask_blob(struct ic_piece *piece, struct ic_question *question, ic_reply_fn done)
{
	char path[MAX_PATH_BYTES];

	(void)snprintf(path, sizeof(path), "blobs/%s", piece->name);
	question->path = path;
	ic_piece_ask(piece, question, done);
}

void ic_piece_ask_config(struct ic_piece *piece)
{
	const struct ic_profile *profile = ic_piece_profile(piece);

	if (piece->data)
		read_config(piece, piece->data, piece->size);
	else if (profile->most_config_bytes)
		ask_blob(piece, &(struct ic_question){.method = IC_HTTP_GET, .max_body = profile->most_config_bytes}, on_config);
	else if (piece->size > IC_MAX_CONFIG_BLOB_BYTES)
		ic_piece_ask_layer(piece); /* more than is read here, though a runtime does: that it is there must do */
	else
		ask_blob(piece, &(struct ic_question){.method = IC_HTTP_GET, .max_body = piece->size}, on_config);
}

/* ------------------------------------------------------------------ layers */

enum layer_step {
	LAYER_HEAD,
	LAYER_BYTE,  /* proof by a first byte */
	LAYER_WHOLE, /* the same where ranges are refused: the rest is not read */
	LAYER_URL    /* the first byte of a foreign layer's own URL */
};

static void ask_byte(struct ic_piece *piece, enum layer_step step);
static void ask_url(struct ic_piece *piece);
static const char *next_url(struct ic_piece *piece);
static void ask_place(struct ic_piece *piece, const char *url);

/* The whole size that an answer tells: of Content-Range behind the slash, else Content-Length. */
static bool told_size(const struct ic_http_answer *answer, size_t *size)
{
	const char *range = ic_http_header(answer, "content-range", 0);
	const char *text = range ? strrchr(range, '/') : ic_http_header(answer, "content-length", 0);

	if (range && text)
		text++;
	return text && !answer->decoded && (range || answer->status != 206) && ic_text_to_size(text, strlen(text), SIZE_MAX, size);
}

/* Where no size is told, any will do. */
static bool has_size(const struct ic_piece *piece, size_t size)
{
	return size == piece->size || piece->size == 0;
}

static void fail_size(struct ic_piece *piece, size_t size)
{
	ic_piece_fail(piece, size == 0 ? IMGCHECK_VERDICT_INCOMPLETE : IMGCHECK_VERDICT_CORRUPT,
	              "its layer %s has %zu bytes where its manifest says %zu", piece->name, size, piece->size);
}

/* 416 with the right size: it is there, only the range was not to its liking. */
static bool is_there(const struct ic_piece *piece, const struct ic_http_answer *answer)
{
	size_t size = 0;

	return answer && answer->end == IC_HTTP_ANSWERED && answer->status == 416 && told_size(answer, &size) && has_size(piece, size);
}

/* Its stored bytes are sent, in gzip as layers are, and said to be so by Content-Encoding: a runtime decodes them in vain. */
static bool is_mislabelled(const struct ic_piece *piece, const struct ic_http_answer *answer)
{
	const char *length = ic_http_header(answer, "content-length", 0);
	size_t size = 0;

	return answer->decoded && length && ic_text_to_size(length, strlen(length), SIZE_MAX, &size) && size == piece->size;
}

static void take_byte(struct ic_piece *piece, const struct ic_http_answer *answer)
{
	size_t size = 0;

	if (answer->body.len == 0)
		fail_size(piece, 0);
	else if (is_mislabelled(piece, answer))
		ic_piece_fail(piece, IMGCHECK_VERDICT_CORRUPT, "its layer %s is sent with a Content-Encoding though its own bytes are "
		              "sent: nodes decode it to something else", piece->name);
	else if (told_size(answer, &size) && !has_size(piece, size))
		fail_size(piece, size);
	else
		ic_piece_accept(piece);
}

/*
 * A foreign layer's URL that says 404 leaves it to the next one, at last to the registry, and any other failure is
 * the pull's; or each failure leaves it to the next one, and none to the registry.
 */
static void fail_url(struct ic_piece *piece, const struct ic_reply *reply)
{
	bool to_registry = ic_piece_profile(piece)->urls_then_registry;
	const char *url = to_registry ? NULL : next_url(piece);

	if (url)
		ask_place(piece, url);
	else if (to_registry && reply->answer && reply->answer->status == 404)
		ask_url(piece);
	else
		ic_piece_fail(piece, reply->verdict, "its layer %s comes from a place of its own: %s", piece->name, reply->reason);
}

/* No runtime asks for a range: what stands in its way does not stand in theirs. */
static bool refuses_ranges(const struct ic_reply *reply)
{
	long status = reply->answer && reply->answer->end == IC_HTTP_ANSWERED ? reply->answer->status : 0;

	return status == 400 || status == 416 || status == 501;
}

/* A part of it cannot be had, or tells nothing: a first byte alone decodes to none. */
static bool is_worth_whole(const struct ic_piece *piece, const struct ic_reply *reply)
{
	return piece->step == LAYER_BYTE &&
	       (reply->verdict == IMGCHECK_VERDICT_OK ? reply->answer->decoded : refuses_ranges(reply));
}

static void on_byte(void *arg, const struct ic_reply *reply)
{
	struct ic_piece *piece = arg;

	if (is_there(piece, reply->answer))
		ic_piece_accept(piece);
	else if (is_worth_whole(piece, reply))
		ask_byte(piece, LAYER_WHOLE);
	else if (reply->verdict == IMGCHECK_VERDICT_OK)
		take_byte(piece, reply->answer);
	else if (piece->step == LAYER_URL)
		fail_url(piece, reply);
	else
		ic_piece_fail_endpoint(piece, reply);
}

static void ask_byte(struct ic_piece *piece, enum layer_step step)
{
	const char *range = step == LAYER_BYTE ? "Range: bytes=0-0" : NULL;

	piece->step = step;
	ask_blob(piece, &(struct ic_question){.method = IC_HTTP_GET, .header = range, .first_byte = true,
	                                      .max_body = IC_MAX_ERROR_BODY_BYTES}, on_byte);
}

/*
 * What a HEAD refuses a GET may serve, and runtimes send no HEAD: a cache that has it not yet, a store's URL
 * signed for GET alone, a proxy that fails over HEAD, or that tells the length of its own empty answer.
 */
static bool is_worth_a_byte(const struct ic_reply *reply)
{
	long status = reply->answer && reply->answer->end == IC_HTTP_ANSWERED ? reply->answer->status : 0;

	return status >= 400 && status != 401 && status != 429;
}

static void on_head(void *arg, const struct ic_reply *reply)
{
	struct ic_piece *piece = arg;
	bool ok = reply->verdict == IMGCHECK_VERDICT_OK;
	size_t size = 0;

	/* A success that tells nothing, or something else, is no proof. */
	if (is_worth_a_byte(reply) || (ok && (!told_size(reply->answer, &size) || !has_size(piece, size))))
		ask_byte(piece, LAYER_BYTE);
	else if (ok)
		ic_piece_accept(piece);
	else
		ic_piece_fail_endpoint(piece, reply);
}

static void ask_registry(struct ic_piece *piece)
{
	piece->step = LAYER_HEAD;
	if (piece->all->depth >= IC_DEPTH_BYTES || !ic_piece_profile(piece)->head)
		ask_byte(piece, LAYER_BYTE);
	else
		ask_blob(piece, &(struct ic_question){.method = IC_HTTP_HEAD, .max_body = IC_MAX_ERROR_BODY_BYTES}, on_head);
}

/* The next of a foreign layer's URLs that can be asked; NULL behind the last. */
static const char *next_url(struct ic_piece *piece)
{
	struct ic_url parts;
	const char *url;

	do
		url = ic_texts_get(&piece->urls, piece->url++);
	while (url && !ic_url_parse(url, &parts));
	return url;
}

static void ask_url(struct ic_piece *piece)
{
	const char *url = next_url(piece);

	if (url)
		ask_place(piece, url);
	else
		ask_registry(piece);
}

static void ask_place(struct ic_piece *piece, const char *url)
{
	piece->step = LAYER_URL;
	ic_piece_ask(piece, &(struct ic_question){.method = IC_HTTP_GET, .url = url, .header = "Range: bytes=0-0",
	                                          .first_byte = true, .max_body = IC_MAX_ERROR_BODY_BYTES}, on_byte);
}

void ic_piece_ask_layer(struct ic_piece *piece)
{
	if (piece->data) {
		if (ic_piece_is_genuine(piece, piece->data, piece->size))
			ic_piece_accept(piece);
		return;
	}
	if (piece->endpoint == 0)
		piece->url = 0;
	ask_url(piece);
}
