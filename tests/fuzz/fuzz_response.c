/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole check against a registry that says what the input says.  The transport is replaced by the one below, so
 * that challenge, token, redirect, retry, manifest, platform, config and layers meet any sequence of answers.
 *
 * Input: a line of choices (runtime, depth, images, login: a digit each), then answers, each behind a line "=":
 *
 *     STATUS [WHICH [END [VERSION]]]    which of the waiting requests is answered, how it ends (enum ic_http_end)
 *     Name: value
 *                                       an empty line, then the body
 *
 * In an answer @1 to @9 stand for the digest of the body of the first to ninth answer behind it, and #1 to #9 for its
 * size: no fuzzer would find those.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/digest.h"
#include "base/text.h"
#include "fuzz.h"
#include "imgcheck.h"
#include "registry/http.h"

#define SECRET "hunter2"
#define SECRET_BASIC "dXNlcjpodW50ZXIy" /* user:hunter2 */
#define MOST_ANSWERS 64
#define MOST_BYTES ((size_t)1 << 20)
#define MOST_REQUESTS 4096

struct scripted {
	long status;
	size_t which;
	enum ic_http_end end;
	int version;
	struct ic_buf head, body; /* head: "Name: value" lines */
	char digest[IC_DIGEST_TEXT_BYTES];
};

struct waiting {
	enum ic_http_method method;
	size_t max_body;
	bool first_byte;
	ic_http_done done;
	void *arg;
};

struct ic_http {
	struct ic_vec waiting; /* struct waiting */
	size_t next, requests;
	bool cancelled;
};

/* What the input says, and what of it was given out. */
static struct {
	struct scripted answers[MOST_ANSWERS];
	size_t count;
	bool served[MOST_ANSWERS]; /* as the whole body of a success */
} script;

/* ------------------------------------------------------------------ the script */

static int add_reference(size_t from, char kind, size_t behind, struct ic_buf *out)
{
	const struct scripted *to = from + behind < script.count ? &script.answers[from + behind] : NULL;

	if (!to)
		return ic_buf_add_char(out, '0', NULL);
	return kind == '@' ? ic_buf_add_text(out, to->digest, NULL) : ic_buf_printf(out, NULL, "%zu", to->body.len);
}

static void expand(size_t number, const char *text, size_t len, struct ic_buf *out)
{
	int result = 0;

	ic_buf_init(out, MOST_BYTES);
	for (size_t i = 0; i < len && result == 0; i++)
		if ((text[i] == '@' || text[i] == '#') && i + 1 < len && text[i + 1] >= '1' && text[i + 1] <= '9') {
			result = add_reference(number, text[i], (size_t)(text[i + 1] - '0'), out);
			i++;
		} else {
			result = ic_buf_add_char(out, text[i], NULL);
		}
}

static void read_answer(size_t number, const char *text, size_t len)
{
	struct scripted *a = &script.answers[number];
	const char *end = text + len, *line_end = memchr(text, '\n', len), *blank;
	unsigned which = 0, how = 0, version = 1;
	char line[32] = "";

	line_end = line_end ? line_end : end;
	snprintf(line, sizeof(line), "%.*s", (int)(line_end - text < 31 ? line_end - text : 31), text);
	a->status = strtol(line, NULL, 10);
	a->status = a->status >= 100 && a->status <= 999 ? a->status : 200;
	(void)sscanf(line, "%*3d %3u %3u %1u", &which, &how, &version);
	a->which = which;
	a->end = (enum ic_http_end)(how % (IC_HTTP_FAILED + 1));
	a->version = version == 2 ? 2 : 1;
	blank = memmem(line_end, (size_t)(end - line_end), "\n\n", 2);
	blank = blank ? blank : end;
	expand(number, line_end, (size_t)(blank - line_end), &a->head);
	expand(number, blank + 2 < end ? blank + 2 : end, blank + 2 < end ? (size_t)(end - blank) - 2 : 0, &a->body);
	FUZZ_REQUIRE(ic_digest_compute(IC_DIGEST_SHA256, ic_buf_text(&a->body), a->body.len, a->digest, NULL) == 0);
}

/* Answers are read from the last one, since each may name those behind it. */
static void read_script(const char *text, size_t len)
{
	const char *starts[MOST_ANSWERS], *end = text + len, *at = text;

	memset(&script, 0, sizeof(script));
	while (script.count < MOST_ANSWERS && (at = memmem(at, (size_t)(end - at), "\n=\n", 3))) {
		at += 3;
		starts[script.count++] = at;
	}
	for (size_t i = script.count; i-- > 0;)
		read_answer(i, starts[i], (size_t)((i + 1 < script.count ? starts[i + 1] - 3 : end) - starts[i]));
}

static void forget_script(void)
{
	for (size_t i = 0; i < script.count; i++) {
		ic_buf_clear(&script.answers[i].head);
		ic_buf_clear(&script.answers[i].body);
	}
}

/* ------------------------------------------------------------------ the transport, as http.h has it */

int ic_http_new(const char *ca_pem, size_t ca_len, ic_msec deadline, struct ic_http **out, struct imgcheck_error **err)
{
	(void)ca_pem, (void)ca_len, (void)deadline, (void)err;
	*out = calloc(1, sizeof(**out));
	FUZZ_REQUIRE(*out);
	ic_vec_init(&(*out)->waiting, sizeof(struct waiting), MOST_REQUESTS);
	return 0;
}

void ic_http_free(struct ic_http *h)
{
	if (h)
		ic_vec_clear(&h->waiting);
	free(h);
}

static void require_line(const char *text)
{
	for (; *text; text++)
		FUZZ_REQUIRE(*text != '\r' && *text != '\n');
}

int ic_http_submit(struct ic_http *h, const struct ic_http_request *request, ic_http_done done, void *arg,
                   struct imgcheck_error **err)
{
	struct waiting w = {request->method, request->max_body, request->first_byte, done, arg};

	FUZZ_REQUIRE(strncasecmp(request->url, "http://", 7) == 0 || strncasecmp(request->url, "https://", 8) == 0);
	require_line(request->url);
	FUZZ_REQUIRE(!strstr(request->url, SECRET) && !strstr(request->url, SECRET_BASIC));
	for (size_t i = 0; request->header && request->header[i]; i++) {
		require_line(request->header[i]);
		/* A password leaves over TLS alone. */
		FUZZ_REQUIRE(strncasecmp(request->url, "https:", 6) == 0 || !strstr(request->header[i], SECRET_BASIC));
	}
	FUZZ_REQUIRE(strncasecmp(request->url, "https:", 6) == 0 || !request->body || !strstr(request->body, SECRET));
	FUZZ_REQUIRE(++h->requests <= MOST_REQUESTS);
	return ic_vec_push(&h->waiting, &w, err);
}

void ic_http_hold(struct ic_http *h, const char *url, ic_msec until)
{
	(void)h, (void)url, (void)until;
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

void ic_http_cancel(struct ic_http *h)
{
	h->cancelled = true;
}

static struct waiting take_waiting(struct ic_http *h, size_t which)
{
	struct waiting w = *(struct waiting *)ic_vec_at(&h->waiting, which);

	*(struct waiting *)ic_vec_at(&h->waiting, which) = *(struct waiting *)ic_vec_at(&h->waiting, h->waiting.count - 1);
	h->waiting.count--;
	return w;
}

static void add_field(const char *line, size_t name, size_t len, struct ic_vec *fields)
{
	const char *value = line + name + 1;
	struct ic_buf field IC_AUTO(buf);

	ic_buf_init(&field, MOST_BYTES);
	for (size_t i = 0; i < name; i++)
		FUZZ_REQUIRE(ic_buf_add_char(&field, (char)tolower((unsigned char)line[i]), NULL) == 0);
	while (*value == ' ')
		value++;
	FUZZ_REQUIRE(ic_buf_printf(&field, NULL, ": %.*s", (int)(value < line + len ? line + len - value : 0), value) == 0);
	FUZZ_REQUIRE(ic_texts_push(fields, field.data, field.len, NULL) == 0);
}

static void add_fields(const struct ic_buf *head, struct ic_vec *fields)
{
	const char *at = ic_buf_text(head);

	while (*at) {
		size_t len = strcspn(at, "\n"), name = strcspn(at, ":\n");

		if (name > 0 && at[name] == ':')
			add_field(at, name, len, fields);
		at += len + (at[len] == '\n');
	}
}

static void add_body(const struct waiting *w, size_t number, struct ic_http_answer *answer)
{
	const struct scripted *a = &script.answers[number];
	size_t len = w->method == IC_HTTP_HEAD ? 0 : a->body.len;
	bool success = a->status >= 200 && a->status <= 299;

	if (w->first_byte && success && len > 1) {
		answer->body_cut = true;
		len = 1;
	}
	if (len > w->max_body) {
		answer->end = IC_HTTP_TOO_LARGE;
		len = w->max_body;
	}
	FUZZ_REQUIRE(ic_buf_add(&answer->body, ic_buf_text(&a->body), len, NULL) == 0);
	if (answer->end == IC_HTTP_ANSWERED && success && w->method == IC_HTTP_GET && len == a->body.len)
		script.served[number] = true;
}

/* Past the end of the script nothing is answered any more. */
static void answer_next(struct ic_http *h)
{
	size_t number = h->next++;
	bool told = number < script.count && !h->cancelled;
	const struct scripted *a = told ? &script.answers[number] : NULL;
	struct waiting w = take_waiting(h, a ? a->which % h->waiting.count : 0);
	struct ic_http_answer answer = {.end = a ? a->end : IC_HTTP_DEADLINE, .detail = "", .http_version = a ? a->version : 1};

	ic_buf_init(&answer.body, MOST_BYTES);
	ic_texts_init(&answer.header, MOST_BYTES);
	if (a && (a->end == IC_HTTP_ANSWERED || a->end == IC_HTTP_TOO_LARGE)) {
		answer.status = a->status;
		add_fields(&a->head, &answer.header);
		add_body(&w, number, &answer);
	}
	w.done(w.arg, &answer);
	ic_buf_clear(&answer.body);
	ic_texts_clear(&answer.header);
}

int ic_http_step(struct ic_http *h, int timeout_ms, struct imgcheck_error **err)
{
	(void)timeout_ms, (void)err;
	if (h->waiting.count > 0)
		answer_next(h);
	return h->waiting.count > 0;
}

/* ------------------------------------------------------------------ the check */

static struct imgcheck_config *make_config(const char choices[4])
{
	static const char *const depths[] = {"tag", "platform", "blobs", "bytes"};
	struct imgcheck_config *c;

	FUZZ_REQUIRE(imgcheck_config_new(&c) == 0);
	FUZZ_REQUIRE(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, choices[0] % 2 ? "crio" : "containerd", NULL) == 0);
	FUZZ_REQUIRE(imgcheck_config_set(c, IMGCHECK_OPTION_DEPTH, depths[choices[1] % 4], NULL) == 0);
	FUZZ_REQUIRE(imgcheck_config_set(c, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL) == 0);
	if (choices[2] & 4)
		FUZZ_REQUIRE(imgcheck_config_set(c, IMGCHECK_OPTION_PLATFORM, "linux/arm/v7", NULL) == 0);
	if (choices[3] % 2)
		FUZZ_REQUIRE(imgcheck_config_set_login(c, "r.example", "user", SECRET, NULL) == 0);
	return c;
}

static void add_images(const char choices[4], struct imgcheck_images *images)
{
	static const char *const refs[] = {"r.example/a:1", "r.example/b:1", "docker.io/library/c:2", "r.example/a:3"};

	for (size_t i = 0; i <= (size_t)choices[2] % 4; i++)
		FUZZ_REQUIRE(imgcheck_images_add_ref(images, refs[i], NULL) == 0);
}

static bool was_served(const char *digest)
{
	for (size_t i = 0; i < script.count; i++)
		if (script.served[i] && strcmp(script.answers[i].digest, digest) == 0)
			return true;
	return false;
}

/* What is called good was there: its manifest came whole, with the digest that is reported. */
static void require_proof(const struct imgcheck_report *report, size_t image, bool tag_only)
{
	const char *digest = imgcheck_report_text(report, image, IMGCHECK_TEXT_DIGEST);

	if (imgcheck_report_verdict(report, image) != IMGCHECK_VERDICT_OK) {
		FUZZ_REQUIRE(imgcheck_report_text(report, image, IMGCHECK_TEXT_REASON));
		return;
	}
	FUZZ_REQUIRE(imgcheck_report_text(report, image, IMGCHECK_TEXT_HOST));
	/* Other algorithms than the script's cannot be told apart here. */
	if (!tag_only && digest && strncmp(digest, "sha256:", 7) == 0)
		FUZZ_REQUIRE(was_served(digest));
}

static void require_clean(const struct imgcheck_report *report, enum imgcheck_format format)
{
	char *text;
	size_t len;

	FUZZ_REQUIRE(imgcheck_report_render(report, format, &text, &len, NULL) == 0);
	FUZZ_REQUIRE(strlen(text) == len);
	FUZZ_REQUIRE(!strstr(text, SECRET) && !strstr(text, SECRET_BASIC));
	for (size_t i = 0; format == IMGCHECK_FORMAT_TEXT && i < len; i++)
		FUZZ_REQUIRE(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_report *report;
	char choices[4];

	/* an input that says the password itself proves nothing */
	if (size < sizeof(choices) + 1 || memmem(data, size, SECRET, strlen(SECRET)) ||
	    memmem(data, size, SECRET_BASIC, strlen(SECRET_BASIC)))
		return 0;
	for (size_t i = 0; i < sizeof(choices); i++)
		choices[i] = (char)(data[i] & 7);
	read_script((const char *)data + sizeof(choices), size - sizeof(choices));
	config = make_config(choices);
	FUZZ_REQUIRE(imgcheck_images_new(&images) == 0);
	add_images(choices, images);
	FUZZ_REQUIRE(imgcheck_check(config, images, &report, NULL) == 0);
	FUZZ_REQUIRE(imgcheck_report_count(report) == imgcheck_images_count(images));
	for (size_t i = 0; i < imgcheck_report_count(report); i++)
		require_proof(report, i, choices[1] % 4 == 0);
	require_clean(report, IMGCHECK_FORMAT_TEXT);
	require_clean(report, IMGCHECK_FORMAT_JSON);
	imgcheck_report_free(report);
	imgcheck_images_free(images);
	imgcheck_config_free(config);
	forget_script();
	return 0;
}
