/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_UNIT_SCRIPTED_H
#define IC_TESTS_UNIT_SCRIPTED_H

/*
 * A transport that answers from a script, in place of the real one: this header defines every ic_http_...
 * function, so a test program that includes it is linked without http.c, and sends nothing anywhere.  It is
 * included by one file of a program.
 *
 * A script is a list of rules; the first one that fits a request and is not used up answers it.  Waiting times
 * are not waited for, but noted.  In rules, and in shapes of later parts, these stand for parts of one image, whose
 * answers are in scripted_image[]:
 *   @I@ @M@ @C@ @L@   digests of index, manifest, config and layer
 *   @i@ @m@ @c@ @l@   their bodies
 *   @is@ @ms@ ...     their sizes
 *   @ix@ @mx@ ...     the bodies with the first byte wrong
 *   @O@ @o@ ...       the same for an index around the index
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "registry/http.h"
#include "test.h"

#define SCRIPTED_HOST "https://r.example"
#define SCRIPTED_REPOSITORY SCRIPTED_HOST "/v2/a/b"

struct scripted_rule {
	const char *request; /* "HEAD https://r.example/v2/a/b/manifests/1": a prefix of the request */
	const char *with;    /* a text that a header line or the form must hold; "!text": that none may hold; NULL: any */
	unsigned times;      /* 0: always */
	long status;         /* 0: no answer, but: */
	enum ic_http_end end;
	const char *header;  /* lines "name: value", separated by \n; NULL for none */
	const char *body;    /* NULL for none */
};

#define SCRIPTED_LAYER "L"
#define OCI "application/vnd.oci.image."
#define ERRORS(code, message) "{\"errors\":[{\"code\":\"" code "\",\"message\":\"" message "\"}]}"

static const struct scripted_rule scripted_image[] = {
	{"HEAD " SCRIPTED_REPOSITORY "/manifests/1", NULL, 0, 200, 0,
	 "docker-content-digest: @I@\ncontent-type: " OCI "index.v1+json\ncontent-length: @is@", NULL},
	{"GET " SCRIPTED_REPOSITORY "/manifests/@O@", NULL, 0, 200, 0, "content-type: " OCI "index.v1+json", "@o@"},
	{"GET " SCRIPTED_REPOSITORY "/manifests/@I@", NULL, 0, 200, 0, "content-type: " OCI "index.v1+json", "@i@"},
	{"GET " SCRIPTED_REPOSITORY "/manifests/@M@", NULL, 0, 200, 0, "content-type: " OCI "manifest.v1+json", "@m@"},
	{"GET " SCRIPTED_REPOSITORY "/blobs/@C@", NULL, 0, 200, 0, NULL, "@c@"},
	{"HEAD " SCRIPTED_REPOSITORY "/blobs/@L@", NULL, 0, 200, 0, "content-length: 1", NULL},
	{"GET " SCRIPTED_REPOSITORY "/blobs/@L@", NULL, 0, 206, 0, NULL, SCRIPTED_LAYER},
};

/* ------------------------------------------------------------------ the image */

enum scripted_part { OUTER, INDEX, MANIFEST, CONFIG, LAYER, PARTS };

static struct {
	char text[4096];
	char digest[IC_DIGEST_TEXT_BYTES];
} scripted_parts[PARTS];

/* A good image.  Each part is built from those behind it. */
static const char *const scripted_shape[PARTS] = {
	[OUTER] = "{\"manifests\":[{\"mediaType\":\"" OCI "index.v1+json\",\"digest\":\"@I@\",\"size\":@is@,"
	          "\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]}",
	[INDEX] = "{\"manifests\":[{\"mediaType\":\"" OCI "manifest.v1+json\",\"digest\":\"@M@\",\"size\":@ms@,"
	          "\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}}]}",
	[MANIFEST] = "{\"config\":{\"mediaType\":\"" OCI "config.v1+json\",\"digest\":\"@C@\",\"size\":@cs@},"
	             "\"layers\":[{\"mediaType\":\"" OCI "layer.v1.tar+gzip\",\"digest\":\"@L@\",\"size\":@ls@}]}",
	[CONFIG] = "{\"os\":\"linux\",\"architecture\":\"amd64\",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"@L@\"]}}",
	[LAYER] = SCRIPTED_LAYER,
};

/* The text with its @...@ replaced: new. */
static char *scripted_expand(const char *text)
{
	static const char names[] = "oimcl";
	struct ic_buf out;

	ic_buf_init(&out, (size_t)1 << 20);
	while (*text) {
		const char *end = *text == '@' ? strchr(text + 1, '@') : NULL;
		const char *name = end && end - text <= 3 ? strchr(names, text[1] | 0x20) : NULL;
		int result;

		if (!name) {
			result = ic_buf_add_char(&out, *text++, NULL);
		} else {
			size_t i = (size_t)(name - names);

			if (end - text == 2)
				result = ic_buf_add_text(&out, text[1] & 0x20 ? scripted_parts[i].text : scripted_parts[i].digest, NULL);
			else if (text[2] == 's')
				result = ic_buf_printf(&out, NULL, "%zu", strlen(scripted_parts[i].text));
			else
				result = ic_buf_printf(&out, NULL, " %s", scripted_parts[i].text + 1);
			text = end + 1;
		}
		cr_assert_eq(result, 0);
	}
	return ic_buf_take(&out);
}

/* shape: texts in place of the good ones, NULL for those; may itself be NULL. */
static void scripted_build_image(const char *const shape[PARTS])
{
	for (size_t i = PARTS; i-- > 0;) {
		char *text = scripted_expand(shape && shape[i] ? shape[i] : scripted_shape[i]);

		cr_assert_lt(strlen(text), sizeof(scripted_parts[i].text));
		memcpy(scripted_parts[i].text, text, strlen(text) + 1);
		cr_assert_eq(ic_digest_compute(IC_DIGEST_SHA256, text, strlen(text), scripted_parts[i].digest, NULL), 0);
		free(text);
	}
}

/* ------------------------------------------------------------------ the transport */

struct scripted_request {
	char *line, *header, *form; /* header: all lines, each with \n */
	ic_http_done done;
	void *arg;
	ic_msec wait;
	size_t max_body;
	bool first_byte, skip_verify;
	char *proxy;
};

/* One script at a time. */
static struct {
	const struct scripted_rule *rules;
	size_t count;
	unsigned used[64], used_image[IC_COUNT(scripted_image)];
	struct ic_vec sent;     /* struct scripted_request, all of them */
	size_t answered;
	ic_msec deadline;
	bool cancelled, holding;
} scripted;

static void scripted_start(const struct scripted_rule *rules, size_t count)
{
	memset(&scripted, 0, sizeof(scripted));
	cr_assert_leq(count, IC_COUNT(scripted.used));
	scripted.rules = rules;
	scripted.count = count;
	ic_vec_init(&scripted.sent, sizeof(struct scripted_request), 100000);
	scripted_build_image(NULL);
}

static const struct scripted_request *scripted_sent(size_t i)
{
	return i < scripted.sent.count ? ic_vec_at(&scripted.sent, i) : NULL;
}

/* How many requests began so, and held that text (NULL for any). */
static inline size_t scripted_count(const char *request, const char *with)
{
	size_t count = 0;

	for (size_t i = 0; i < scripted.sent.count; i++) {
		const struct scripted_request *r = scripted_sent(i);

		count += strncmp(r->line, request, strlen(request)) == 0 && (!with || strstr(r->header, with) || strstr(r->form, with));
	}
	return count;
}

static void scripted_end(void)
{
	for (size_t i = 0; i < scripted.sent.count; i++) {
		struct scripted_request *r = ic_vec_at(&scripted.sent, i);

		free(r->line);
		free(r->header);
		free(r->form);
		free(r->proxy);
	}
	ic_vec_clear(&scripted.sent);
}

static bool scripted_fits(const struct scripted_rule *rule, const struct scripted_request *r)
{
	char *request = scripted_expand(rule->request);
	bool absent = rule->with && rule->with[0] == '!', fits = strncmp(r->line, request, strlen(request)) == 0;
	const char *with = absent ? rule->with + 1 : rule->with;

	free(request);
	if (fits && with)
		fits = (strstr(r->header, with) || strstr(r->form, with)) != absent;
	return fits;
}

static const struct scripted_rule *scripted_find(const struct scripted_rule *rules, size_t count, unsigned *used,
                                                 const struct scripted_request *r)
{
	for (size_t i = 0; i < count; i++)
		if ((rules[i].times == 0 || used[i] < rules[i].times) && scripted_fits(&rules[i], r)) {
			used[i]++;
			return &rules[i];
		}
	return NULL;
}

static void scripted_fill(struct ic_http_answer *answer, const struct scripted_rule *rule, const struct scripted_request *r)
{
	char *header = scripted_expand(rule->header ? rule->header : "");
	char *body = scripted_expand(rule->body && strncmp(r->line, "HEAD", 4) != 0 ? rule->body : "");
	size_t len = strlen(body);

	answer->status = rule->status;
	answer->end = rule->end;
	if (answer->end == IC_HTTP_TOO_LARGE)
		answer->detail = "the answer is too large";
	for (char *line = header; *line; line += strcspn(line, "\n"), line += *line == '\n')
		cr_assert_eq(ic_texts_push(&answer->header, line, strcspn(line, "\n"), NULL), 0);
	if (r->first_byte && rule->status / 100 == 2 && len > 1) {
		answer->body_cut = true;
		len = 1;
	}
	if (len > r->max_body) {
		answer->end = IC_HTTP_TOO_LARGE;
		answer->detail = "the answer is too large";
		len = r->max_body;
	}
	cr_assert_eq(ic_buf_add(&answer->body, body, len, NULL), 0);
	free(header);
	free(body);
}

static void scripted_answer(const struct scripted_request *r)
{
	static const struct scripted_rule unknown = {.status = 404, .body = "not in the script"};
	struct ic_http_answer answer = {.detail = "", .http_version = 2};
	const struct scripted_rule *rule = scripted_find(scripted.rules, scripted.count, scripted.used, r);

	if (!rule)
		rule = scripted_find(scripted_image, IC_COUNT(scripted_image), scripted.used_image, r);
	ic_buf_init(&answer.body, (size_t)32 << 20);
	ic_texts_init(&answer.header, 64);
	scripted_fill(&answer, rule ? rule : &unknown, r);
	if (answer.end != IC_HTTP_ANSWERED && answer.end != IC_HTTP_TOO_LARGE) {
		answer.status = 0;
		answer.detail = rule->body ? rule->body : "scripted end";
	}
	if (scripted.cancelled || ic_clock_now() + r->wait >= scripted.deadline) {
		answer.end = IC_HTTP_DEADLINE;
		answer.detail = "out of time";
		answer.status = 0;
	}
	r->done(r->arg, &answer);
	ic_buf_clear(&answer.body);
	ic_texts_clear(&answer.header);
}

/* An object for the interface; all state is the script's. */
struct ic_http {
	int nothing;
};

int ic_http_new(const char *ca_pem, size_t ca_len, ic_msec deadline, struct ic_http **out, struct imgcheck_error **err)
{
	(void)ca_pem;
	(void)ca_len;
	scripted.deadline = deadline;
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : ic_error_nomem(err);
}

void ic_http_free(struct ic_http *h)
{
	free(h);
}

static const char *const scripted_methods[] = {"HEAD", "GET", "POST", "PUT"};

int ic_http_submit(struct ic_http *h, const struct ic_http_request *request, ic_http_done done, void *arg,
                   struct imgcheck_error **err)
{
	struct scripted_request r = {.done = done, .arg = arg, .max_body = request->max_body, .first_byte = request->first_byte,
	                             .skip_verify = request->skip_verify};
	struct ic_buf line, header;
	ic_msec now = ic_clock_now();

	(void)h;
	ic_buf_init(&line, 65536);
	ic_buf_init(&header, 1 << 20);
	cr_assert_eq(ic_buf_printf(&line, err, "%s %s", scripted_methods[request->method], request->url), 0);
	for (const char *const *field = request->header; field && *field; field++)
		cr_assert_eq(ic_buf_printf(&header, err, "%s\n", *field), 0);
	r.line = ic_buf_take(&line);
	r.header = ic_buf_take(&header);
	r.form = strndup(request->body ? request->body : "", request->body_len);
	r.proxy = strdup(request->proxy ? request->proxy : "");
	r.wait = request->not_before > now ? request->not_before - now : 0;
	return ic_vec_push(&scripted.sent, &r, err);
}

void ic_http_hold(struct ic_http *h, const char *url, ic_msec until)
{
	(void)h;
	(void)url;
	(void)until;
	scripted.holding = true;
}

void ic_http_turn_away(struct ic_http *h)
{
	(void)h;
}

int ic_http_fd(const struct ic_http *h)
{
	(void)h;
	return -1;
}

int ic_http_step(struct ic_http *h, int timeout_ms, struct imgcheck_error **err)
{
	size_t last = scripted.sent.count;

	(void)h;
	(void)timeout_ms;
	(void)err;
	while (scripted.answered < last) {
		struct scripted_request r = *scripted_sent(scripted.answered++);

		scripted_answer(&r);
	}
	return scripted.answered < scripted.sent.count;
}

void ic_http_cancel(struct ic_http *h)
{
	(void)h;
	scripted.cancelled = true;
}

const char *ic_http_header(const struct ic_http_answer *answer, const char *name, size_t i)
{
	size_t len = strlen(name);

	for (size_t at = 0; at < answer->header.count; at++) {
		const char *field = ic_texts_get(&answer->header, at);

		if (strncmp(field, name, len) == 0 && field[len] == ':' && i-- == 0)
			return field + len + 2;
	}
	return NULL;
}

#endif
