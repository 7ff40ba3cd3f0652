/* SPDX-License-Identifier: Apache-2.0 */
#include "connection.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TLS_HANDSHAKE 0x16 /* the first byte of a client that speaks it */
#define MAX_REQUEST_BYTES ((size_t)16 << 20)
#define READ_BYTES 65536
#define MAX_FIELDS 256

struct connection {
	int fd;
	int number; /* from 1, in the order of opening */
	SSL *ssl;
	FILE *log;
	char *in; /* NUL-terminated beyond in_len */
	size_t in_len;
	const struct rule *rule; /* that is played now; NULL while a request is awaited */
	size_t step;
	bool is_head;
	bool header_open, has_length; /* of the answer being sent */
	bool stalled, over, gone;     /* over: to be closed; gone: the client has closed its side */
	bool refused;                 /* a handshake failed: closed once the client has read why */
	struct text out;              /* bytes to send, from out_at */
	size_t out_at;
	long fill;                    /* then as many bytes "x" */
	const struct text *repeat;    /* then this again and again */
	long drip_bytes, drip_ms;
	long long wake;               /* nothing is done before */
};

static const struct rule no_rule = {.line = 0};

long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((format(printf, 2, 3))) static void note(const struct connection *c, const char *format, ...)
{
	va_list arguments;

	if (!c->log)
		return;
	(void)fprintf(c->log, "%d ", c->number);
	va_start(arguments, format);
	(void)vfprintf(c->log, format, arguments);
	va_end(arguments);
	(void)fputc('\n', c->log);
	(void)fflush(c->log);
}

struct connection *connection_new(int fd, SSL_CTX *context, FILE *log)
{
	static int number;
	struct connection *c = grow(NULL, sizeof(*c));

	*c = (struct connection){.fd = fd, .number = ++number, .log = log};
	if (context) {
		c->ssl = SSL_new(context);
		if (!c->ssl || !SSL_set_fd(c->ssl, fd))
			fail("cannot prepare TLS");
		SSL_set_accept_state(c->ssl);
	}
	c->in = grow(NULL, 1);
	c->in[0] = '\0';
	note(c, "open");
	c->rule = script_match(NULL);
	return c;
}

void connection_free(struct connection *c)
{
	note(c, "closed");
	SSL_free(c->ssl);
	(void)close(c->fd);
	free(c->in);
	free(c->out.data);
	free(c);
}

int connection_fd(const struct connection *c)
{
	return c->fd;
}

/* ------------------------------------------------------------------ bytes */

/* Like read(): 0 at the end, -1 where nothing is there yet, -2 where the connection broke. */
static ssize_t receive(struct connection *c, char *data, size_t len)
{
	ssize_t n = c->ssl ? SSL_read(c->ssl, data, (int)len) : read(c->fd, data, len);
	int why;

	if (n > 0)
		return n;
	if (!c->ssl)
		return n == 0 ? 0 : errno == EAGAIN || errno == EINTR ? -1 : -2;
	why = SSL_get_error(c->ssl, (int)n);
	if (why == SSL_ERROR_ZERO_RETURN)
		return 0;
	return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? -1 : -2;
}

/* Like write(): -1 where there is no room yet, -2 where the connection broke. */
static ssize_t transmit(struct connection *c, const char *data, size_t len)
{
	ssize_t n = c->ssl ? SSL_write(c->ssl, data, (int)len) : write(c->fd, data, len);
	int why;

	if (n > 0)
		return n;
	if (!c->ssl)
		return errno == EAGAIN || errno == EINTR ? -1 : -2;
	why = SSL_get_error(c->ssl, (int)n);
	return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? -1 : -2;
}

/* Takes what has come; false where the connection broke, or wants TLS of a server that has none. */
static bool take_input(struct connection *c)
{
	char part[READ_BYTES];
	ssize_t n;

	while ((n = receive(c, part, sizeof(part))) > 0) {
		if (c->in_len + (size_t)n > MAX_REQUEST_BYTES)
			return false;
		c->in = grow(c->in, c->in_len + (size_t)n + 1);
		memcpy(c->in + c->in_len, part, (size_t)n);
		c->in_len += (size_t)n;
		c->in[c->in_len] = '\0';
	}
	if (n == 0)
		c->gone = true;
	return n != -2 && (c->ssl || c->rule || c->in_len == 0 || c->in[0] != TLS_HANDSHAKE);
}

static void put(struct connection *c, const char *data, size_t len)
{
	c->out.data = grow(c->out.data, c->out.len + len + 1);
	memcpy(c->out.data + c->out.len, data, len);
	c->out.len += len;
}

static void put_text(struct connection *c, const char *text)
{
	put(c, text, strlen(text));
}

/* The bytes that come next; *len 0: none wait. */
static const char *pending(const struct connection *c, size_t *len)
{
	static char filling[READ_BYTES];

	if (!filling[0])
		memset(filling, 'x', sizeof(filling));
	*len = c->out.len - c->out_at;
	if (*len > 0)
		return c->out.data + c->out_at;
	*len = c->fill < READ_BYTES ? (size_t)c->fill : READ_BYTES;
	return filling;
}

static void consume(struct connection *c, size_t len)
{
	if (c->out_at == c->out.len) {
		c->fill -= (long)len;
		return;
	}
	c->out_at += len;
	if (c->out_at < c->out.len)
		return;
	c->out_at = c->out.len = 0;
	/* many at a time: a client that reads faster than single ones are sent would be the only one served */
	while (c->repeat && c->out.len < READ_BYTES)
		put(c, c->repeat->data, c->repeat->len);
}

/* Sends as much as goes; false where the connection broke. */
static bool flush(struct connection *c)
{
	size_t len;
	const char *data = pending(c, &len);

	while (len > 0 && now_ms() >= c->wake) {
		ssize_t n = transmit(c, data, c->drip_bytes > 0 && len > (size_t)c->drip_bytes ? (size_t)c->drip_bytes : len);

		if (n < 0)
			return n == -1;
		consume(c, (size_t)n);
		if (c->drip_bytes > 0)
			c->wake = now_ms() + c->drip_ms;
		data = pending(c, &len);
	}
	return true;
}

static bool has_output(const struct connection *c)
{
	size_t len;

	(void)pending(c, &len);
	return len > 0;
}

/* ------------------------------------------------------------------ requests */

static void log_request(const struct connection *c, const struct request *q, const struct rule *rule)
{
	if (!c->log)
		return;
	note(c, "%s %s%s", q->method, q->target, rule == &no_rule ? " no rule" : "");
	for (size_t i = 0; i < q->field_count; i++)
		(void)fprintf(c->log, "\t%s\n", q->fields[i]);
	if (*q->body)
		(void)fprintf(c->log, "\t= %s\n", q->body);
	(void)fflush(c->log);
}

/* Splits the head, which ends in an empty line, in place; gives the length of the body that follows. */
static size_t split_head(char *head, struct request *q, char **fields)
{
	char *rest = head, *line = strsep(&rest, "\n");
	size_t length = 0;

	q->method = strsep(&line, " ");
	q->target = line ? strsep(&line, " \r") : "";
	while (rest && (line = strsep(&rest, "\n")) && *line && *line != '\r' && q->field_count < MAX_FIELDS) {
		line[strcspn(line, "\r")] = '\0';
		for (char *p = line; *p && *p != ':'; p++)
			*p = (char)tolower((unsigned char)*p);
		if (strncmp(line, "content-length:", 15) == 0)
			length = strtoul(line + 15, NULL, 10);
		fields[q->field_count++] = line;
	}
	q->fields = fields;
	return length;
}

/* Finds the rule for a whole request, where one has come. */
static void take_request(struct connection *c)
{
	char *end = strstr(c->in, "\r\n\r\n"), *fields[MAX_FIELDS], *head, *body;
	struct request q = {.body = ""};
	size_t head_len, body_len;

	if (!end)
		return;
	head_len = (size_t)(end - c->in) + 4;
	head = grow(NULL, head_len + 1);
	memcpy(head, c->in, head_len);
	head[head_len] = '\0';
	body_len = split_head(head, &q, fields);
	if (c->in_len - head_len < body_len) {
		free(head);
		return;
	}
	body = grow(NULL, body_len + 1);
	memcpy(body, c->in + head_len, body_len);
	body[body_len] = '\0';
	q.body = body;
	c->rule = script_match(&q);
	if (!c->rule)
		c->rule = &no_rule;
	c->is_head = strcmp(q.method, "HEAD") == 0;
	log_request(c, &q, c->rule);
	c->in_len -= head_len + body_len;
	memmove(c->in, c->in + head_len + body_len, c->in_len + 1);
	free(body);
	free(head);
}

/* ------------------------------------------------------------------ steps */

static void end_header(struct connection *c, size_t length)
{
	char line[64];

	if (!c->has_length) {
		(void)snprintf(line, sizeof(line), "Content-Length: %zu\r\n", length);
		put_text(c, line);
	}
	put_text(c, "\r\n");
	c->header_open = false;
}

static void send_status(struct connection *c, const char *text)
{
	put_text(c, "HTTP/1.1 ");
	put_text(c, text);
	put_text(c, "\r\n");
	c->header_open = true;
	c->has_length = false;
}

static void send_header(struct connection *c, const char *text)
{
	if (strncasecmp(text, "content-length:", 15) == 0 || strncasecmp(text, "transfer-encoding:", 18) == 0)
		c->has_length = true;
	put_text(c, text);
	put_text(c, "\r\n");
}

static void close_now(struct connection *c, bool reset)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};

	if (reset)
		(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	c->over = true;
}

static void play(struct connection *c, const struct step *s)
{
	switch (s->kind) {
	case STEP_STATUS:
		send_status(c, s->text.data);
		return;
	case STEP_HEADER:
		send_header(c, s->text.data);
		return;
	case STEP_BODY:
		end_header(c, s->text.len);
		if (!c->is_head)
			put(c, s->text.data, s->text.len);
		return;
	case STEP_BODY_SIZE:
		end_header(c, (size_t)s->first);
		c->fill = c->is_head ? 0 : s->first;
		return;
	case STEP_END:
		put_text(c, "\r\n");
		break;
	case STEP_REPEAT:
		c->repeat = &s->text;
		put(c, s->text.data, s->text.len);
		break;
	case STEP_SEND:
		put(c, s->text.data, s->text.len);
		break;
	case STEP_DRIP:
		c->drip_bytes = s->first;
		c->drip_ms = s->second;
		return;
	case STEP_DELAY:
		c->wake = now_ms() + s->first;
		return;
	case STEP_STALL:
		c->stalled = true;
		break;
	case STEP_CLOSE:
	case STEP_RESET:
		close_now(c, s->kind == STEP_RESET);
		break;
	}
	c->header_open = false; /* the script says itself how the answer ends */
}

static void finish(struct connection *c)
{
	if (c->rule == &no_rule)
		send_status(c, "404 No Rule");
	if (c->header_open)
		end_header(c, 0);
}

/* Plays steps until one of them has to wait; false where the connection broke. */
static bool play_on(struct connection *c)
{
	bool ended = false;

	while (!c->over && !c->stalled && now_ms() >= c->wake) {
		if (!flush(c))
			return false;
		if (has_output(c))
			return true;
		if (ended) {
			if (!c->rule->on_accept)
				note(c, "answered");
			c->rule = NULL;
			c->step = 0;
			c->drip_bytes = 0;
			return true;
		}
		if (c->step < c->rule->step_count) {
			play(c, &c->rule->steps[c->step++]);
			continue;
		}
		finish(c);
		ended = true;
	}
	return true;
}

short connection_wants(const struct connection *c, long long *until)
{
	bool waits = now_ms() < c->wake;

	*until = waits ? c->wake : -1;
	return (short)((c->gone ? 0 : POLLIN) | (!waits && has_output(c) ? POLLOUT : 0));
}

/* Throws away what comes; false at its end.  Closing at once would reset the connection, and lose the alert. */
static bool drain(const struct connection *c)
{
	char part[READ_BYTES];
	ssize_t n;

	while ((n = read(c->fd, part, sizeof(part))) > 0)
		;
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

bool connection_act(struct connection *c, short events)
{
	if (c->refused)
		return drain(c);
	if (events & (POLLIN | POLLHUP | POLLERR) && !take_input(c)) {
		c->refused = c->ssl && !SSL_is_init_finished(c->ssl);
		return c->refused && shutdown(c->fd, SHUT_WR) == 0;
	}
	do {
		if (!c->rule)
			take_request(c);
		if (!c->rule)
			return !c->gone;
		if (!play_on(c))
			return false;
	} while (!c->over && !c->rule);
	return !c->over && !(c->gone && c->stalled);
}
