/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The fault server: answers as a script says (script.h has the format), for tests of how we take bad answers.
 *
 *   faultserver [-l LOG] [-t SECONDS] [-c CERT -k KEY [-a CA]] SCRIPT
 *
 * It listens on a port of the kernel's choice on 127.0.0.1, prints its base URL as one line and serves until
 * its standard input is closed, or for SECONDS (default 120).  -c and -k: https with this certificate and key;
 * -a: clients have to show a certificate of that authority.
 *
 * LOG gets one line for each thing that happens, beginning with the connection's number: `1 open`,
 * `1 GET /v2/`, `1 answered`, `1 closed`.  Behind a request stand its header fields, names in lower case, and
 * its body after `= `, each on a line that begins with a tab.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"

#define MAX_CONNECTIONS 1024
#define BACKLOG 512

static struct {
	struct connection *list[MAX_CONNECTIONS];
	size_t count;
} connections;

void fail(const char *format, ...)
{
	va_list arguments;

	(void)fputs("faultserver: ", stderr);
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	exit(2);
}

void *grow(void *old, size_t size)
{
	void *new = realloc(old, size);

	if (!new)
		fail("no memory");
	return new;
}

static int listen_anywhere(int *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		fail("cannot listen: %s", strerror(errno));
	*port = ntohs(address.sin_port);
	return fd;
}

static SSL_CTX *prepare_tls(const char *cert, const char *key, const char *ca)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (!context || SSL_CTX_use_certificate_chain_file(context, cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
		fail("cannot use %s and %s", cert, key);
	(void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (ca && SSL_CTX_load_verify_locations(context, ca, NULL) != 1)
		fail("cannot use %s", ca);
	if (ca)
		SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return context;
}

static void drop(size_t i)
{
	connection_free(connections.list[i]);
	connections.list[i] = connections.list[--connections.count];
}

static void welcome(int listener, SSL_CTX *context, FILE *log)
{
	int one = 1, fd;

	while (connections.count < MAX_CONNECTIONS && (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		connections.list[connections.count++] = connection_new(fd, context, log);
		if (!connection_act(connections.list[connections.count - 1], 0))
			drop(connections.count - 1);
	}
}

/* Waits once and acts; false when standard input is closed. */
static bool serve(int listener, SSL_CTX *context, FILE *log, long long end)
{
	struct pollfd polled[MAX_CONNECTIONS + 2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
	size_t count = connections.count;
	long long first = end, now, until;
	char byte;

	for (size_t i = 0; i < count; i++) {
		polled[i + 2] = (struct pollfd){.fd = connection_fd(connections.list[i])};
		polled[i + 2].events = connection_wants(connections.list[i], &until);
		if (until >= 0 && until < first)
			first = until;
	}
	now = now_ms();
	if (poll(polled, count + 2, first > now ? (int)(first - now) : 0) < 0 && errno != EINTR)
		fail("cannot poll: %s", strerror(errno));
	if (polled[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
		return false;
	/* from the end, since dropping one moves the last into its place */
	for (size_t i = count; i-- > 0;)
		if (!connection_act(connections.list[i], polled[i + 2].revents))
			drop(i);
	if (polled[1].revents)
		welcome(listener, context, log);
	return true;
}

static FILE *open_log(const char *path)
{
	FILE *log = path ? fopen(path, "ae") : NULL;

	if (path && !log)
		fail("%s: %s", path, strerror(errno));
	return log;
}

int main(int argc, char **argv)
{
	const char *cert = NULL, *key = NULL, *ca = NULL, *log_path = NULL;
	long seconds = 120;
	SSL_CTX *context;
	long long end;
	int option, listener, port;
	FILE *log;

	while ((option = getopt(argc, argv, "l:t:c:k:a:")) != -1)
		switch (option) {
		case 'l': log_path = optarg; break;
		case 't': seconds = strtol(optarg, NULL, 10); break;
		case 'c': cert = optarg; break;
		case 'k': key = optarg; break;
		case 'a': ca = optarg; break;
		default: fail("usage: faultserver [-l LOG] [-t SECONDS] [-c CERT -k KEY [-a CA]] SCRIPT");
		}
	if (optind != argc - 1 || !cert != !key)
		fail("usage: faultserver [-l LOG] [-t SECONDS] [-c CERT -k KEY [-a CA]] SCRIPT");
	(void)signal(SIGPIPE, SIG_IGN);
	listener = listen_anywhere(&port);
	context = cert ? prepare_tls(cert, key, ca) : NULL;
	script_read(argv[optind], cert ? "https" : "http", port);
	log = open_log(log_path);
	(void)printf("%s://127.0.0.1:%d\n", cert ? "https" : "http", port);
	(void)fflush(stdout);
	end = now_ms() + seconds * 1000;
	while (now_ms() < end && serve(listener, context, log, end))
		;
	while (connections.count > 0)
		drop(connections.count - 1);
	SSL_CTX_free(context);
	if (log)
		(void)fclose(log);
	(void)close(listener);
	return 0;
}
