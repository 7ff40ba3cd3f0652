/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <curl/curl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/text.h"
#include "http_detail.h"
#include "http_loop.h"
#include "http_queue.h"
#include "http_transfer.h"
#include "http_trust.h"
#include "source/proxy.h"
#include "url.h"

#define EVENTS 64

/* Why a callback of ours ended a transfer. */
enum stop {
	STOP_NOT,
	STOP_CUT,    /* the first byte is there */
	STOP_HEADER, /* the header is beyond its ceiling */
	STOP_LARGE,  /* the body is */
	STOP_ROOM,   /* no room in the budget now */
	STOP_TURN,   /* another transfer opens the connection */
	STOP_MEMORY
};

/* A transfer while it runs. */
struct ic_flight {
	CURL *easy;
	struct curl_slist *header;
	struct ic_http_answer answer;
	size_t header_bytes, header_fields;
	struct ic_header_encodings encodings;
	bool whole_header; /* the empty line behind it has come */
	enum stop stop;
	char error[CURL_ERROR_SIZE];
};

struct ic_http {
	struct ic_loop loop;
	struct ic_queue queue;
	CURLM *multi;
	CURLSH *share;
	ic_msec deadline;
	ic_msec curl_due;    /* when libcurl wants to be called; -1: never */
	bool stopped;
	CURLcode failed;      /* why nothing can be asked any more: no memory, or a fault */
	bool turned_away;     /* by the transfer that is being concluded, for its host */
	struct ic_http_ca ca;
	struct ic_http_cas own_cas;
	CURL *idle[IC_MAX_STREAMS]; /* handles for the next transfers, which are costly to make */
	size_t idle_count;
};

#define SET(code, easy, option, value) ((code) = (code) ? (code) : curl_easy_setopt((easy), (option), (value)))

/* ------------------------------------------------------------------ trust */

static CURLcode set_trust(const struct ic_transfer *t, CURL *easy)
{
	const struct ic_http_ca *own = ic_http_cas_get(&t->http->own_cas, t->tls), *ca = own ? own : &t->http->ca;
	struct curl_blob blob = {ca->text.data, ca->text.len, CURL_BLOB_NOCOPY};
	CURLcode code = CURLE_OK;

	if (t->tls && t->tls->client.len) {
		struct curl_blob client = {t->tls->client.data, t->tls->client.len, CURL_BLOB_NOCOPY}; /* with its key */

		SET(code, easy, CURLOPT_SSLCERT_BLOB, &client);
		SET(code, easy, CURLOPT_SSLKEY_BLOB, &client);
	}
	/* a folder of certificates would be read again for each connection */
	SET(code, easy, CURLOPT_CAPATH, NULL);
	SET(code, easy, CURLOPT_PROXY_CAPATH, NULL);
	if (ca->path[0]) {
		SET(code, easy, CURLOPT_CAINFO, ca->path);
		SET(code, easy, CURLOPT_PROXY_CAINFO, ca->path);
	} else if (ca->text.len > 0) {
		SET(code, easy, CURLOPT_CAINFO_BLOB, &blob);
		SET(code, easy, CURLOPT_PROXY_CAINFO_BLOB, &blob);
	}
	SET(code, easy, CURLOPT_SSL_VERIFYPEER, t->skip_verify ? 0L : 1L);
	SET(code, easy, CURLOPT_SSL_VERIFYHOST, t->skip_verify ? 0L : 2L);
	SET(code, easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	return code;
}

/* ------------------------------------------------------------------ callbacks */

static size_t on_header(char *data, size_t one, size_t len, void *arg)
{
	struct ic_flight *f = ((struct ic_transfer *)arg)->flight;

	if (ic_text_starts(data, one * len, "HTTP/"))
		f->whole_header = false; /* behind an interim answer */
	else if (one * len <= 2)
		f->whole_header = true;
	if (ic_header_see_encoding(&f->encodings, data, one * len) != f->answer.decoded) {
		f->answer.decoded = !f->answer.decoded;
		(void)curl_easy_setopt(f->easy, CURLOPT_HTTP_CONTENT_DECODING, (long)f->answer.decoded);
	}
	f->header_bytes += one * len;
	f->header_fields++;
	if (f->header_bytes <= IC_MAX_HEADER_BYTES && f->header_fields <= IC_MAX_HEADER_FIELDS)
		return one * len;
	f->stop = STOP_HEADER;
	return 0;
}

/* The length that the server tells of what comes here; -1: none. */
static curl_off_t declared_length(const struct ic_flight *f)
{
	curl_off_t length = -1;

	if (!f->answer.decoded)
		(void)curl_easy_getinfo(f->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	return length;
}

/* Adds to the body, within the budget.  What the buffer takes, not what it holds, is counted: it doubles. */
static enum stop add_body(struct ic_transfer *t, const char *data, size_t len)
{
	struct ic_buf *body = &t->flight->answer.body;
	size_t wanted = body->len + len + 1;

	if (wanted > body->capacity) {
		if (wanted < 2 * body->capacity)
			wanted = 2 * body->capacity;
		if (wanted > body->max + 1)
			wanted = body->max + 1;
		if (!ic_queue_grow(&t->http->queue, &t->job, wanted))
			return t->job.whole ? STOP_LARGE : STOP_ROOM;
	}
	return ic_buf_add(body, data, len, NULL) < 0 ? STOP_MEMORY : STOP_NOT;
}

/* A body of known length takes its room at once: no copies while it grows, and none is given up half-way. */
static enum stop begin_body(struct ic_transfer *t, size_t declared)
{
	struct ic_buf *body = &t->flight->answer.body;

	if (declared > t->max_body)
		return STOP_LARGE;
	if (!ic_queue_grow(&t->http->queue, &t->job, declared + 1))
		return t->job.whole ? STOP_LARGE : STOP_ROOM;
	body->max = declared;
	return ic_buf_reserve(body, declared, NULL) < 0 ? STOP_MEMORY : STOP_NOT;
}

static enum stop take_body(struct ic_transfer *t, const char *data, size_t len)
{
	struct ic_http_answer *answer = &t->flight->answer;
	curl_off_t declared = declared_length(t->flight);
	enum stop stop = STOP_NOT;
	size_t left;

	(void)curl_easy_getinfo(t->flight->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	if (t->first_byte && answer->status / 100 == 2) {
		answer->body_cut = declared != 1;
		stop = add_body(t, data, 1);
		return stop == STOP_NOT && answer->body_cut ? STOP_CUT : stop;
	}
	if (declared > 0 && answer->body.len == 0)
		stop = begin_body(t, (size_t)declared);
	if (stop != STOP_NOT)
		return stop;
	left = answer->body.max - answer->body.len;
	stop = add_body(t, data, len < left ? len : left);
	return stop == STOP_NOT && len > left ? STOP_LARGE : stop;
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
	struct ic_transfer *t = arg;

	if (len == 0)
		return 0;
	t->flight->stop = take_body(t, data, one * len);
	return t->flight->stop == STOP_NOT ? one * len : 0;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct ic_transfer *t = arg;

	(void)purpose;
	t->flight->stop = ic_queue_open(&t->job) ? STOP_NOT : STOP_TURN;
	if (t->flight->stop == STOP_TURN)
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* The connection stands, and the request goes out. */
static int on_request(void *arg, char *here, char *there, int here_port, int there_port)
{
	(void)here;
	(void)there;
	(void)here_port;
	(void)there_port;
	ic_queue_opened(&((struct ic_transfer *)arg)->job);
	return CURL_PREREQFUNC_OK;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
	struct ic_http *h = arg;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		ic_loop_forget(&h->loop, fd);
		return 0;
	}
	if (!ic_loop_watch(&h->loop, fd, known != NULL, what != CURL_POLL_OUT, what != CURL_POLL_IN))
		h->failed = CURLE_FAILED_INIT;
	(void)curl_multi_assign(h->multi, fd, h);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct ic_http *h = arg;

	(void)multi;
	h->curl_due = timeout_ms < 0 ? -1 : ic_clock_now() + timeout_ms;
	return 0;
}

/* ------------------------------------------------------------------ requests */

static void free_flight(struct ic_http *h, struct ic_flight *f)
{
	if (!f)
		return;
	if (f->easy) {
		(void)curl_multi_remove_handle(h->multi, f->easy);
		curl_easy_reset(f->easy);
		(void)curl_easy_setopt(f->easy, CURLOPT_NOSIGNAL, 1L); /* its end must not touch SIGPIPE either */
		if (h->idle_count < IC_COUNT(h->idle))
			h->idle[h->idle_count++] = f->easy;
		else
			curl_easy_cleanup(f->easy);
	}
	curl_slist_free_all(f->header);
	ic_buf_clear(&f->answer.body);
	ic_texts_clear(&f->answer.header);
	free(f);
}

static void drop(struct ic_transfer *t)
{
	free_flight(t->http, t->flight);
	ic_transfer_free(t);
}

static const char not_a_url[] = "not an http or https URL";

int ic_http_submit(struct ic_http *h, const struct ic_http_request *request, ic_http_done done, void *arg,
                   struct imgcheck_error **err)
{
	char *key IC_AUTO(free) = NULL;
	struct ic_transfer *t = ic_transfer_new(request);
	int result;

	if (!t)
		return ic_error_nomem(err);
	t->http = h;
	t->done = done;
	t->arg = arg;
	t->late = request->not_before >= h->deadline;
	if (t->late)
		t->job.not_before = 0;
	result = ic_url_origin(t->url, &key, NULL);
	t->unusable = key ? NULL : not_a_url;
	if (key)
		result = ic_http_cas_key(&h->own_cas, request->tls, request->skip_verify, &key, NULL);
	if (result == IMGCHECK_ERR_LIMIT)
		t->unusable = "too many hosts with different certificates of their own (ca) are asked in one run";
	result = result == IMGCHECK_ERR_NOMEM ? ic_error_nomem(err) : ic_queue_add(&h->queue, key ? key : "", &t->job, err);
	if (result < 0) {
		drop(t);
		return result;
	}
	ic_loop_wake_at(&h->loop, 0);
	return 0;
}

void ic_http_hold(struct ic_http *h, const char *url, ic_msec until)
{
	char *key IC_AUTO(free) = NULL;

	if (until < h->deadline && ic_url_origin(url, &key, NULL) == 0)
		ic_queue_hold(&h->queue, key, until);
}

/* ------------------------------------------------------------------ starting */

static CURLcode set_connection(const struct ic_transfer *t, CURL *easy)
{
	CURLcode code = CURLE_OK;

	SET(code, easy, CURLOPT_NOSIGNAL, 1L);
	SET(code, easy, CURLOPT_QUICK_EXIT, 1L); /* else a dead resolver holds the end of the run */
	SET(code, easy, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(code, easy, CURLOPT_FOLLOWLOCATION, 0L);
	SET(code, easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	SET(code, easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(code, easy, CURLOPT_PROXY, t->proxy); /* "": none, and none from the environment */
	SET(code, easy, CURLOPT_PROXYPORT, ic_proxy_default_port(t->proxy)); /* the library's own is 1080 */
	SET(code, easy, CURLOPT_NOPROXY, "");
	SET(code, easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(code, easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	SET(code, easy, CURLOPT_PIPEWAIT, 1L); /* rather a stream than a second connection */
	SET(code, easy, CURLOPT_SHARE, t->http->share);
	SET(code, easy, CURLOPT_CONNECTTIMEOUT_MS, ic_transfer_time_limit(t->http->deadline, IC_CONNECT_SECONDS));
	SET(code, easy, CURLOPT_LOW_SPEED_LIMIT, (long)IC_SLOW_BYTES);
	SET(code, easy, CURLOPT_LOW_SPEED_TIME, (ic_transfer_time_limit(t->http->deadline, IC_SLOW_SECONDS) + 999) / 1000);
	return code;
}

static CURLcode set_callbacks(struct ic_transfer *t, CURL *easy)
{
	CURLcode code = CURLE_OK;

	SET(code, easy, CURLOPT_PRIVATE, t);
	SET(code, easy, CURLOPT_ERRORBUFFER, t->flight->error);
	SET(code, easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	SET(code, easy, CURLOPT_OPENSOCKETDATA, t);
	SET(code, easy, CURLOPT_PREREQFUNCTION, on_request);
	SET(code, easy, CURLOPT_PREREQDATA, t);
	SET(code, easy, CURLOPT_HEADERFUNCTION, on_header);
	SET(code, easy, CURLOPT_HEADERDATA, t);
	SET(code, easy, CURLOPT_WRITEFUNCTION, on_body);
	SET(code, easy, CURLOPT_WRITEDATA, t);
	return code;
}

static CURLcode set_header(const struct ic_transfer *t, struct ic_flight *f)
{
	const char *line = t->header;

	for (size_t i = 0; i < t->header_count; i++) {
		struct curl_slist *longer = curl_slist_append(f->header, line);

		if (!longer)
			return CURLE_OUT_OF_MEMORY;
		f->header = longer;
		line += strlen(line) + 1;
	}
	return curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->header);
}

static CURLcode set_request(const struct ic_transfer *t, CURL *easy)
{
	CURLcode code = CURLE_OK;

	SET(code, easy, CURLOPT_URL, t->url);
	SET(code, easy, CURLOPT_USERAGENT, "imgcheck/" IMGCHECK_VERSION);
	/* digests are over the bytes as they are stored: what is encoded nevertheless is decoded (on_header) */
	SET(code, easy, CURLOPT_ACCEPT_ENCODING, "identity");
	SET(code, easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	switch (t->method) {
	case IC_HTTP_HEAD:
		SET(code, easy, CURLOPT_NOBODY, 1L);
		break;
	case IC_HTTP_GET:
		SET(code, easy, CURLOPT_HTTPGET, 1L);
		break;
	case IC_HTTP_POST:
	case IC_HTTP_PUT: /* a POST by another name */
		SET(code, easy, CURLOPT_CUSTOMREQUEST, t->method == IC_HTTP_PUT ? "PUT" : NULL);
		SET(code, easy, CURLOPT_POST, 1L);
		SET(code, easy, CURLOPT_POSTFIELDSIZE, (long)t->body_len);
		SET(code, easy, CURLOPT_POSTFIELDS, t->body ? t->body : "");
		break;
	}
	return code;
}

static CURLcode launch(struct ic_http *h, struct ic_transfer *t)
{
	struct ic_flight *f = calloc(1, sizeof(*f));
	CURLcode code;

	if (!f)
		return CURLE_OUT_OF_MEMORY;
	t->flight = f;
	ic_buf_init_secret(&f->answer.body, t->max_body);
	ic_texts_init(&f->answer.header, IC_MAX_HEADER_FIELDS);
	f->answer.detail = "";
	f->easy = h->idle_count > 0 ? h->idle[--h->idle_count] : curl_easy_init();
	code = f->easy ? set_connection(t, f->easy) : CURLE_OUT_OF_MEMORY;
	code = code ? code : set_trust(t, f->easy);
	code = code ? code : set_callbacks(t, f->easy);
	code = code ? code : set_request(t, f->easy);
	code = code ? code : set_header(t, f);
	return code || curl_multi_add_handle(h->multi, f->easy) == CURLM_OK ? code : CURLE_OUT_OF_MEMORY;
}

/* ------------------------------------------------------------------ ending */

/* Calls back with an end that has no answer, then frees.  The job is linked no more. */
static void report_end(struct ic_transfer *t, enum ic_http_end end, const char *detail)
{
	struct ic_http_answer answer = {.end = end, .detail = detail, .crowded = t->job.crowded};

	free_flight(t->http, IC_TAKE(t->flight));
	t->done(t->arg, &answer);
	drop(t);
}

static const char large_words[] = "the answer is too large", short_words[] = "the answer was cut short";

/* What libcurl's codes mean; the rest is a fault. */
static const struct {
	CURLcode code;
	enum ic_http_end end;
	bool telling;
	const char *words;
} meanings[] = {
	{CURLE_COULDNT_RESOLVE_HOST, IC_HTTP_UNRESOLVED, false, "cannot find an address for this host name"},
	{CURLE_COULDNT_RESOLVE_PROXY, IC_HTTP_UNRESOLVED, false, "cannot find an address for the proxy's host name"},
	{CURLE_COULDNT_CONNECT, IC_HTTP_REFUSED, false, "cannot connect"},
	{CURLE_PROXY, IC_HTTP_REFUSED, true, "cannot connect through the proxy"},
	{CURLE_INTERFACE_FAILED, IC_HTTP_REFUSED, true, "cannot connect"},
	{CURLE_SSL_CONNECT_ERROR, IC_HTTP_TLS, true, "the TLS handshake failed"},
	{CURLE_PEER_FAILED_VERIFICATION, IC_HTTP_TLS, true, "the server's certificate is not accepted"},
	{CURLE_SSL_CACERT_BADFILE, IC_HTTP_TLS, true, "cannot read the trusted certificates"},
	{CURLE_SSL_CERTPROBLEM, IC_HTTP_TLS, true, "cannot use the client certificate"},
	{CURLE_SSL_CIPHER, IC_HTTP_TLS, true, "cannot use the wanted ciphers"},
	{CURLE_SSL_ISSUER_ERROR, IC_HTTP_TLS, true, "the server's certificate is not accepted"},
	{CURLE_SSL_INVALIDCERTSTATUS, IC_HTTP_TLS, true, "the server's certificate is not accepted"},
	{CURLE_SSL_CLIENTCERT, IC_HTTP_TLS, false, "the server wants a client certificate"},
	{CURLE_URL_MALFORMAT, IC_HTTP_FAILED, false, not_a_url},
	{CURLE_GOT_NOTHING, IC_HTTP_BROKEN, false, "the connection was closed without an answer"},
	{CURLE_PARTIAL_FILE, IC_HTTP_BROKEN, false, short_words},
	{CURLE_RECV_ERROR, IC_HTTP_BROKEN, true, "the connection broke"},
	{CURLE_SEND_ERROR, IC_HTTP_BROKEN, true, "the connection broke"},
	{CURLE_HTTP2, IC_HTTP_BROKEN, true, "the HTTP/2 connection broke"},
	{CURLE_HTTP2_STREAM, IC_HTTP_BROKEN, true, "the HTTP/2 connection broke"},
	{CURLE_WEIRD_SERVER_REPLY, IC_HTTP_BROKEN, false, "the answer is not HTTP"},
	{CURLE_UNSUPPORTED_PROTOCOL, IC_HTTP_BROKEN, false, "the answer is not HTTP"},
	{CURLE_BAD_CONTENT_ENCODING, IC_HTTP_BROKEN, false, "the answer's encoding is broken"},
	{CURLE_OPERATION_TIMEDOUT, IC_HTTP_STALLED, false, "the server sends nothing, or hardly anything"},
};

/* Whether the request went out on a connection that works. */
static bool was_sent(const struct ic_flight *f)
{
	curl_off_t at = 0;

	(void)curl_easy_getinfo(f->easy, CURLINFO_PRETRANSFER_TIME_T, &at);
	return at > 0;
}

static struct ic_http_failure describe(const struct ic_flight *f, CURLcode code)
{
	struct ic_http_failure failure = {.end = IC_HTTP_FAILED, .words = "the request failed", .telling = true, .text = f->error};
	curl_off_t resolved = 0;
	long os_error = 0;

	for (size_t i = 0; i < IC_COUNT(meanings); i++)
		if (meanings[i].code == code) {
			failure.end = meanings[i].end;
			failure.words = meanings[i].words;
			failure.telling = meanings[i].telling;
		}
	(void)curl_easy_getinfo(f->easy, CURLINFO_NAMELOOKUP_TIME_T, &resolved);
	(void)curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &os_error);
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		(void)curl_easy_getinfo(f->easy, CURLINFO_SSL_VERIFYRESULT, &failure.verify);
	(void)curl_easy_getinfo(f->easy, CURLINFO_HTTP_CONNECTCODE, &failure.proxy_status);
	if (code == CURLE_COULDNT_CONNECT)
		failure.os_error = (int)os_error;
	if (code == CURLE_OPERATION_TIMEDOUT && resolved == 0 && !was_sent(f)) {
		failure.end = IC_HTTP_UNRESOLVED;
		failure.words = "the name server does not answer";
	} else if (code == CURLE_OPERATION_TIMEDOUT && !was_sent(f)) {
		failure.words = "cannot connect: no answer in time";
	}
	return failure;
}

/* Header fields of the final answer, without those of interim answers and trailers. */
static int collect_header(struct ic_flight *f)
{
	struct ic_buf line IC_AUTO(buf);
	struct curl_header *field = NULL;

	ic_buf_init(&line, IC_MAX_HEADER_BYTES + 2);
	while ((field = curl_easy_nextheader(f->easy, CURLH_HEADER, -1, field))) {
		size_t least = strlen(field->name) + 2;

		line.len = 0;
		if (ic_buf_add_text(&line, field->name, NULL) < 0 || ic_buf_add_text(&line, ": ", NULL) < 0 ||
		    ic_buf_add_text(&line, field->value, NULL) < 0)
			return -1;
		for (char *c = line.data; *c != ':'; c++)
			*c = ic_to_lower(*c);
		/* libcurl leaves the end of the line in an empty value */
		while (line.len > least && ic_is_space(line.data[line.len - 1]))
			line.len--;
		if (ic_texts_push(&f->answer.header, line.data, line.len, NULL) < 0)
			return -1;
	}
	return 0;
}

/* Notes it where a header is what libcurl has no room for: it refuses one endless line in these words. */
static bool lacks_memory(struct ic_flight *f, CURLcode code)
{
	if (code != CURLE_OUT_OF_MEMORY || f->stop != STOP_NOT)
		return f->stop == STOP_MEMORY;
	if (!was_sent(f) || f->answer.body.len > 0)
		return true;
	f->stop = STOP_HEADER;
	return false;
}

/* Fills the answer from what libcurl and the callbacks know; detail is the caller's storage.  False: no memory. */
static bool judge(struct ic_transfer *t, CURLcode code, struct ic_buf *detail)
{
	struct ic_flight *f = t->flight;
	struct ic_http_answer *a = &f->answer;
	long version = 0;

	(void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &a->status);
	(void)curl_easy_getinfo(f->easy, CURLINFO_HTTP_VERSION, &version);
	a->http_version = version >= CURL_HTTP_VERSION_2_0 ? 2 : 1;
	if (lacks_memory(f, code) || collect_header(f) < 0)
		return false;
	if (f->stop == STOP_HEADER) {
		a->end = IC_HTTP_FAILED;
		a->detail = "the header of the answer is too large";
	} else if (f->stop == STOP_LARGE) {
		a->end = IC_HTTP_TOO_LARGE;
		a->detail = large_words;
	} else if (code == CURLE_OK && (!f->whole_header || a->status < 200)) {
		/* libcurl takes the end of the connection as the end of the header */
		a->end = IC_HTTP_BROKEN;
		a->detail = short_words;
	} else if (code == CURLE_OK || f->stop == STOP_CUT) {
		a->end = IC_HTTP_ANSWERED;
	} else {
		struct ic_http_failure failure = describe(f, code);

		a->end = ic_http_explain(&failure, detail);
		a->detail = ic_buf_text(detail);
		return detail->len > 0;
	}
	return true;
}

/* Those that wait for the host end in the same way: it cannot be reached, or wants no more. */
static void share_end(struct ic_http *h, struct ic_host *host, enum ic_http_end end, const char *detail)
{
	uint64_t last = h->queue.last_number;
	struct ic_job *job;

	while ((job = ic_queue_take_waiting(&h->queue, host, last)))
		report_end((struct ic_transfer *)job, end, detail);
}

/* A transfer that libcurl is through with. */
static void conclude(struct ic_http *h, struct ic_transfer *t, CURLcode code)
{
	struct ic_host *host = t->job.host;
	struct ic_buf detail IC_AUTO(buf);
	struct ic_http_answer *a = &t->flight->answer;
	enum ic_http_end end;
	bool hopeless;

	ic_buf_init(&detail, 2 * IC_MAX_DETAIL_BYTES);
	if (t->flight->stop == STOP_ROOM || t->flight->stop == STOP_TURN) {
		bool for_room = t->flight->stop == STOP_ROOM;

		free_flight(h, IC_TAKE(t->flight));
		ic_queue_again(&h->queue, &t->job, for_room);
		return;
	}
	if (!judge(t, code, &detail)) {
		h->failed = CURLE_OUT_OF_MEMORY; /* the transfer stays, undecided */
		return;
	}
	end = a->end;
	hopeless = ic_queue_done(&h->queue, &t->job, ic_transfer_lesson(a, was_sent(t->flight)), a->status == 429 || a->status == 503);
	h->turned_away = false;
	a->crowded = t->job.crowded;
	if (end == IC_HTTP_ANSWERED || end == IC_HTTP_TOO_LARGE) {
		t->done(t->arg, a);
		drop(t);
	} else {
		report_end(t, end, a->detail);
	}
	if (hopeless)
		share_end(h, host, end, ic_buf_text(&detail));
	else if (h->turned_away)
		share_end(h, host, IC_HTTP_UNSENT, "not sent, since the host wants no more requests now");
}

void ic_http_turn_away(struct ic_http *h)
{
	h->turned_away = true;
}

static void end_all(struct ic_http *h, enum ic_http_end end, const char *detail)
{
	uint64_t last = h->queue.last_number;
	struct ic_job *job;

	while ((job = ic_queue_take(&h->queue, last)))
		report_end((struct ic_transfer *)job, end, detail);
}

/* ------------------------------------------------------------------ the loop */

static void start_ready(struct ic_http *h)
{
	struct ic_job *job;

	while (!h->failed && !h->stopped && ic_clock_now() < h->deadline && (job = ic_queue_next(&h->queue, ic_clock_now()))) {
		struct ic_transfer *t = (struct ic_transfer *)job;

		if (!t->late && !t->unusable) {
			h->failed = launch(h, t); /* one that cannot be started stays, undecided */
			continue;
		}
		(void)ic_queue_done(&h->queue, job, IC_LESSON_NONE, false);
		report_end(t, t->late ? IC_HTTP_DEADLINE : IC_HTTP_FAILED,
		           t->late ? "the server asks to wait beyond the deadline" : t->unusable);
	}
}

static void act(struct ic_http *h, curl_socket_t fd, int what)
{
	int running;
	CURLMcode code = curl_multi_socket_action(h->multi, fd, what, &running);

	/* a socket that was closed by an event before this one is not an error */
	if (code != CURLM_OK && code != CURLM_BAD_SOCKET)
		h->failed = CURLE_FAILED_INIT;
}

static void reap(struct ic_http *h)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(h->multi, &left))) {
		CURLcode code = message->data.result;
		char *transfer = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		conclude(h, (struct ic_transfer *)(void *)transfer, code);
	}
}

/* The descriptor becomes readable when something is to be done, or at once where that is now. */
static void arm(struct ic_http *h)
{
	ic_msec when = h->deadline, wake = ic_queue_wake(&h->queue);

	if (h->curl_due >= 0 && h->curl_due < when)
		when = h->curl_due;
	if (wake >= 0 && wake < when)
		when = wake;
	ic_loop_wake_at(&h->loop, h->queue.count > 0 ? when : -1);
}

/* Waits for events and lets libcurl act on them. */
static int take_events(struct ic_http *h, int timeout_ms, struct imgcheck_error **err)
{
	struct ic_loop_event events[EVENTS];
	int count = ic_loop_wait(&h->loop, timeout_ms, events, EVENTS, &h->stopped, err);

	for (int i = 0; i < count; i++)
		act(h, events[i].fd, (events[i].read ? CURL_CSELECT_IN : 0) | (events[i].write ? CURL_CSELECT_OUT : 0) |
		                     (events[i].error ? CURL_CSELECT_ERR : 0));
	return count;
}

/* One round: what is due, what has ended, what can start.  1: requests remain, 0: none. */
static int advance(struct ic_http *h, struct imgcheck_error **err)
{
	if (h->curl_due >= 0 && h->curl_due <= ic_clock_now()) {
		h->curl_due = -1;
		act(h, CURL_SOCKET_TIMEOUT, 0);
	}
	reap(h);
	if (!h->failed && (h->stopped || ic_clock_now() >= h->deadline))
		end_all(h, IC_HTTP_DEADLINE, h->stopped ? "cancelled" : "out of time");
	start_ready(h);
	if (h->failed == CURLE_OUT_OF_MEMORY)
		return ic_error_nomem(err);
	if (h->failed)
		return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot go on asking: %s", curl_easy_strerror(h->failed));
	return h->queue.count > 0;
}

int ic_http_step(struct ic_http *h, int timeout_ms, struct imgcheck_error **err)
{
	int result;

	if (h->queue.count == 0)
		return 0;
	result = take_events(h, timeout_ms, err);
	if (result >= 0)
		result = advance(h, err);
	/* what was started goes out in this step, without waiting for libcurl's own timer */
	if (result > 0)
		result = advance(h, err);
	if (result >= 0)
		arm(h);
	return result;
}

int ic_http_fd(const struct ic_http *h)
{
	return h->loop.epoll;
}

void ic_http_cancel(struct ic_http *h)
{
	ic_loop_stop(&h->loop);
}

/* ------------------------------------------------------------------ the object */

static bool set_multi(struct ic_http *h)
{
	return curl_share_setopt(h->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h) == CURLM_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h) == CURLM_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX) == CURLM_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)IC_MAX_STREAMS) == CURLM_OK &&
	       curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)IC_MAX_IDLE_CONNECTIONS) == CURLM_OK;
}

int ic_http_new(const char *ca_pem, size_t ca_len, ic_msec deadline, struct ic_http **out, struct imgcheck_error **err)
{
	struct ic_http *h;
	int result;

	*out = NULL;
	/* counted, and safe in any thread since libcurl 7.84: each object takes and gives back one */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot initialise libcurl");
	h = calloc(1, sizeof(*h));
	if (!h) {
		curl_global_cleanup();
		return ic_error_nomem(err);
	}
	h->deadline = deadline;
	h->curl_due = -1;
	ic_http_ca_init(&h->ca);
	ic_http_cas_init(&h->own_cas, ca_pem, ca_len);
	ic_queue_init(&h->queue, IC_MAX_BODIES_BYTES);
	h->multi = curl_multi_init();
	h->share = curl_share_init();
	result = ic_loop_init(&h->loop, err);
	if (result == 0 && (!h->multi || !h->share || !set_multi(h)))
		result = ic_error_nomem(err);
	if (result == 0 && ca_pem)
		result = ic_http_ca_set(&h->ca, ca_pem, ca_len, err);
	if (result < 0) {
		ic_http_free(h);
		return result;
	}
	*out = h;
	return 0;
}

void ic_http_free(struct ic_http *h)
{
	struct ic_job *job;

	if (!h)
		return;
	while ((job = ic_queue_take(&h->queue, UINT64_MAX)))
		drop((struct ic_transfer *)job);
	while (h->idle_count > 0)
		curl_easy_cleanup(h->idle[--h->idle_count]);
	(void)curl_multi_cleanup(h->multi);
	(void)curl_share_cleanup(h->share);
	ic_queue_clear(&h->queue);
	ic_loop_clear(&h->loop);
	ic_http_ca_clear(&h->ca);
	ic_http_cas_clear(&h->own_cas);
	free(h);
	curl_global_cleanup();
}
