/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A registry and a token server that are fast enough not to be what is measured: one thread, HTTP/1.1, images
 * made from their names (documents.h).
 *
 * usage: standin [-t SCHEME [-k KEY -c CERTIFICATE]] ADDRESS LOG
 *
 * With -t the registry wants tokens, which it gives itself at SCHEME://HOST/token, HOST being what the client
 * calls it: signed ones with -k and -c, else short ones that mean nothing to anybody else.  Prints
 * "listening on ADDRESS:PORT".  LOG gets a line for each request, in the format of the nginx in front of it:
 * connection, protocol, method, path, status.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/digest.h"
#include "documents.h"
#include "jwt.h"

#define REQUEST_BYTES 16384 /* the head of a request; there is no body to read */
#define MOST_BYTES ((size_t)1 << 20)
#define EVENTS 128
#define SHORT_TOKEN "short.token.for.the.repository." /* and its name: 50 bytes, as some registries have them */

struct client {
	int fd;
	unsigned long number;
	size_t len;
	char in[REQUEST_BYTES + 1];
	struct ic_buf out;
	size_t sent;
};

struct server {
	int epoll, listener;
	const char *scheme; /* of the token server; NULL: no tokens are wanted */
	struct jwt *signer; /* NULL: tokens are short */
	FILE *log;
	unsigned long connections;
};

/* A request, cut out of the client's bytes. */
struct request {
	char *method, *path;
	const char *authorization, *host; /* with what follows on the line; "" for none */
};

struct answer {
	int status;
	const char *media_type;
	struct ic_buf body;
	size_t size;       /* told, of what has no body here */
	bool is_manifest, challenge;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "standin: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------------ answers */

/* Cuts text at the last occurrence of `mark`: what is behind it, or NULL. */
static char *cut(char *text, const char *mark)
{
	char *found = strstr(text, mark);

	if (!found)
		return NULL;
	*found = '\0';
	return found + strlen(mark);
}

/* Undoes the %XX that a client may have written. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		unsigned code;

		if (*from == '%' && sscanf(from + 1, "%2x", &code) == 1) {
			*to++ = (char)code;
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static bool add_token(const struct server *s, const char *service, const char *repository, struct ic_buf *out)
{
	return s->signer ? jwt_add(s->signer, service, repository, out) :
	                   ic_buf_printf(out, NULL, SHORT_TOKEN "%s", repository) == 0;
}

/* "/token?service=S&scope=repository:NAME:pull" */
static void answer_token(struct server *s, char *query, struct answer *a)
{
	struct ic_buf token IC_AUTO(buf);
	char *found = strstr(query, "service="), *scope = strstr(query, "repository"), *name, *end, service[256];

	ic_buf_init(&token, MOST_BYTES);
	a->status = 400;
	if (!found || !scope)
		return;
	found += strlen("service=");
	(void)snprintf(service, sizeof(service), "%.*s", (int)strcspn(found, "& "), found);
	unescape(scope);
	name = cut(scope, ":");
	end = name ? strchr(name, ':') : NULL;
	if (!end)
		return;
	*end = '\0';
	a->media_type = "application/json";
	if (add_token(s, service, name, &token) &&
	    ic_buf_printf(&a->body, NULL, "{\"token\":\"%s\",\"expires_in\":300}", token.data) == 0)
		a->status = 200;
}

static bool may_pull(const struct server *s, const char *authorization, const char *repository)
{
	static const char bearer[] = "Bearer ", plain[] = SHORT_TOKEN;
	const char *token = authorization + strlen(bearer);
	size_t len;

	if (!s->scheme)
		return true;
	if (strncmp(authorization, bearer, strlen(bearer)) != 0)
		return false;
	len = strcspn(token, "\r\n");
	if (s->signer)
		return jwt_is_for(token, len, repository);
	return len == strlen(plain) + strlen(repository) && strncmp(token, plain, strlen(plain)) == 0 &&
	       strncmp(token + strlen(plain), repository, strlen(repository)) == 0;
}

static void answer_registry(const struct server *s, const struct request *r, char *repository, struct answer *a)
{
	char *manifest = cut(repository, "/manifests/"), *blob = manifest ? NULL : cut(repository, "/blobs/");

	a->status = 404;
	if (!manifest && !blob)
		return;
	if (!may_pull(s, r->authorization, repository)) {
		a->status = 401;
		a->challenge = true;
		return;
	}
	a->is_manifest = manifest != NULL;
	a->media_type = "application/octet-stream";
	if (manifest && documents_manifest(repository, manifest, &a->body, &a->media_type))
		a->status = 200;
	else if (blob && documents_blob(repository, blob, &a->body, &a->size))
		a->status = 200;
}

static void answer(struct server *s, struct request *r, struct answer *a)
{
	static const char api[] = "/v2/", token[] = "/token?";
	char path[REQUEST_BYTES];

	(void)snprintf(path, sizeof(path), "%s", r->path);
	if (strncmp(path, token, strlen(token)) == 0 && s->scheme)
		answer_token(s, path + strlen(token), a);
	else if (strcmp(path, api) == 0)
		a->status = s->scheme ? 401 : 200, a->challenge = s->scheme != NULL;
	else if (strncmp(path, api, strlen(api)) == 0)
		answer_registry(s, r, path + strlen(api), a);
	else
		a->status = 404;
}

static const char *digest_header(const struct answer *a, char out[256])
{
	char digest[IC_DIGEST_TEXT_BYTES];

	out[0] = '\0';
	if (a->is_manifest && a->status == 200 &&
	    ic_digest_compute(IC_DIGEST_SHA256, a->body.data, a->body.len, digest, NULL) == 0)
		(void)snprintf(out, 256, "Docker-Content-Digest: %s\r\n", digest);
	return out;
}

static const char *challenge_header(const struct server *s, const struct request *r, const struct answer *a, char out[512])
{
	out[0] = '\0';
	if (a->challenge)
		(void)snprintf(out, 512, "WWW-Authenticate: Bearer realm=\"%s://%.*s/token\",service=\"standin\"\r\n", s->scheme,
		               (int)strcspn(r->host, "\r\n"), r->host);
	return out;
}

static void write_answer(struct server *s, struct client *c, const struct request *r, const struct answer *a)
{
	char digest[256], challenge[512];
	bool is_head = strcmp(r->method, "HEAD") == 0;
	size_t length = a->body.len > 0 ? a->body.len : a->size;

	/* what has no body here can only be asked for by HEAD, or a first byte of it */
	if (!is_head && a->body.len == 0)
		length = 0;
	if (ic_buf_printf(&c->out, NULL, "HTTP/1.1 %d Told\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", a->status,
	                  a->media_type ? a->media_type : "text/plain", length, digest_header(a, digest),
	                  challenge_header(s, r, a, challenge)) < 0 ||
	    (!is_head && ic_buf_add(&c->out, a->body.data, a->body.len, NULL) < 0))
		fail("answer");
}

/* ------------------------------------------------------------------ clients */

static const char *header_value(const char *fields, const char *name)
{
	for (const char *line = fields; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncasecmp(line, name, strlen(name)) == 0)
			return line + strlen(name);
	}
	return "";
}

/* Answers the request at the start of the client's bytes, `len` of them.  False: it is none. */
static bool handle(struct server *s, struct client *c, size_t len)
{
	struct answer a = {.media_type = NULL};
	struct request r = {.method = c->in};
	char *fields = memchr(c->in, '\n', len);

	ic_buf_init(&a.body, MOST_BYTES);
	c->in[len - 1] = '\0';
	if (!fields)
		return false;
	*fields = '\0';
	r.authorization = header_value(fields + 1, "authorization: ");
	r.host = header_value(fields + 1, "host: ");
	r.path = cut(r.method, " ");
	if (!r.path || !cut(r.path, " HTTP/1.1"))
		return false;
	answer(s, &r, &a);
	write_answer(s, c, &r, &a);
	fprintf(s->log, "%lu HTTP/1.1 %s %s %d\n", c->number, r.method, r.path, a.status);
	ic_buf_clear(&a.body);
	return true;
}

static void close_client(struct client *c)
{
	(void)close(c->fd);
	ic_buf_clear(&c->out);
	free(c);
}

/* False: the connection is gone. */
static bool flush(struct server *s, struct client *c)
{
	while (c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};

			return epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &event) == 0;
		}
		if (n < 0)
			return false;
		c->sent += (size_t)n;
	}
	c->out.len = c->sent = 0;
	return true;
}

static bool serve(struct server *s, struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->len, REQUEST_BYTES - c->len, MSG_DONTWAIT);
	char *end;

	if (n == 0 || (n < 0 && errno != EAGAIN))
		return false;
	c->len += n > 0 ? (size_t)n : 0;
	c->in[c->len] = '\0';
	while ((end = strstr(c->in, "\r\n\r\n"))) {
		size_t len = (size_t)(end - c->in) + 4;

		if (!handle(s, c, len))
			return false;
		memmove(c->in, c->in + len, c->len - len + 1);
		c->len -= len;
	}
	/* who begins with TLS is not kept waiting */
	return c->len < REQUEST_BYTES && c->in[0] != '\x16' && flush(s, c);
}

static void take_client(struct server *s)
{
	struct client *c;
	struct epoll_event event = {.events = EPOLLIN};
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;

	if (fd < 0)
		return;
	c = calloc(1, sizeof(*c));
	if (!c)
		fail("keep a client");
	c->fd = fd;
	c->number = ++s->connections;
	ic_buf_init(&c->out, MOST_BYTES);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	event.data.ptr = c;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		fail("wait for a client");
}

static void run(struct server *s)
{
	for (;;) {
		struct epoll_event events[EVENTS];
		int n = epoll_wait(s->epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct client *c = events[i].data.ptr;

			if (!c)
				take_client(s);
			else if (!serve(s, c))
				close_client(c);
		}
		(void)fflush(s->log);
	}
}

static void listen_at(struct server *s, const char *address)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	socklen_t len = sizeof(in);
	struct epoll_event event = {.events = EPOLLIN};

	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (inet_pton(AF_INET, address, &in.sin_addr) != 1 || bind(s->listener, (const struct sockaddr *)&in, len) < 0 ||
	    listen(s->listener, 1024) < 0 || getsockname(s->listener, (struct sockaddr *)&in, &len) < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener, &event) < 0)
		fail("listen");
	printf("listening on %s:%d\n", address, ntohs(in.sin_port));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	struct server s = {.scheme = NULL};
	const char *key = NULL, *certificate = NULL;
	int option;

	while ((option = getopt(argc, argv, "t:k:c:")) != -1) {
		if (option == 't')
			s.scheme = optarg;
		else if (option == 'k')
			key = optarg;
		else if (option == 'c')
			certificate = optarg;
		else
			return 2;
	}
	if (argc - optind != 2)
		return 2;
	if (key && certificate)
		s.signer = jwt_new(key, certificate);
	if (key && !s.signer)
		fail("read the key and the certificate");
	s.log = fopen(argv[optind + 1], "we");
	if (!s.log)
		fail("write the log");
	listen_at(&s, argv[optind]);
	run(&s);
}
