/* SPDX-License-Identifier: Apache-2.0 */

/* The transport over HTTP/2, against nginx: one connection, and what becomes of the requests when it ends. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "registry/http.h"
#include "test.h"

#define PATH_BYTES 4096
#define MANY 300
#define NGINX "build/tools/bin/nginx"

extern char **environ;

struct nginx {
	char folder[64], base[64];
	pid_t pid;
};

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_BYTES];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0, "cannot write %s", path);
}

static void configure(const struct nginx *n, int port, unsigned keepalive_requests)
{
	static const char format[] =
		"daemon off;\n%s\nworker_processes 1;\npid nginx.pid;\nerror_log error.log;\nevents { worker_connections 512; }\n"
		"http {\n"
		"	log_format tests '$connection $server_protocol $request_uri $status';\n	access_log access.log tests;\n"
		"	client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;\n"
		"	keepalive_requests %u;\n"
		"	server {\n"
		"		listen 127.0.0.1:%d ssl http2;\n		ssl_certificate good.crt;\n		ssl_certificate_key good.key;\n"
		"		ssl_protocols TLSv1.2 TLSv1.3;\n		root .;\n		location /tag { return 200 x; }\n"
		"	}\n}\n";
	char text[PATH_BYTES];

	(void)snprintf(text, sizeof(text), format, geteuid() == 0 ? "user root;" : "", keepalive_requests, port);
	write_file(n->folder, "nginx.conf", text);
}

/* A listening socket on a port of the kernel's choice, which nginx inherits: connections wait until it is up. */
static int listen_anywhere(int *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 256) == 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* Before 1.19.7 the limit of requests has another name, and breaks the connection. */
static bool is_new(void)
{
	char program[] = NGINX, option[] = "-v", *arguments[] = {program, option, NULL};
	unsigned major = 0, minor = 0, patch = 0;
	posix_spawn_file_actions_t actions;
	int ends[2];
	bool told;
	FILE *said;
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
	cr_assert_eq(posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO), 0);
	cr_assert_eq(posix_spawn(&pid, program, &actions, NULL, arguments, environ), 0);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	said = fdopen(ends[0], "r");
	told = said && fscanf(said, "nginx version: nginx/%u.%u.%u", &major, &minor, &patch) == 3;
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert(told && fclose(said) == 0, "nginx does not tell its version");
	return major > 1 || minor > 19 || (minor == 19 && patch >= 7);
}

static bool has_nginx(void)
{
	char *arguments[] = {strdup("tests/support/tools.sh"), strdup("nginx"), NULL};
	int status = -1;
	pid_t pid;

	if (access(NGINX, X_OK) != 0 && posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) == 0)
		cr_assert_eq(waitpid(pid, &status, 0), pid);
	free(arguments[0]);
	free(arguments[1]);
	return access(NGINX, X_OK) == 0 && is_new();
}

/* It ends with this process however that ends, and holds none of its output open. */
static void nginx_start(struct nginx *n, unsigned keepalive_requests)
{
	char program[PATH_BYTES], inherited[32];
	char setpriv[] = "setpriv", pdeathsig[] = "--pdeathsig", term[] = "TERM", p[] = "-p", c[] = "-c", conf[] = "nginx.conf";
	char *arguments[] = {setpriv, pdeathsig, term, program, p, n->folder, c, conf, NULL};
	posix_spawn_file_actions_t actions;
	int port, fd = listen_anywhere(&port);

	fault_certs_make(n->folder, sizeof(n->folder));
	configure(n, port, keepalive_requests);
	(void)snprintf(n->base, sizeof(n->base), "https://127.0.0.1:%d", port);
	(void)snprintf(inherited, sizeof(inherited), "%d;", fd);
	cr_assert_eq(setenv("NGINX", inherited, 1), 0);
	cr_assert(realpath(NGINX, program));
	cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
	cr_assert_eq(posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0), 0);
	cr_assert_eq(posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO), 0);
	cr_assert_eq(posix_spawnp(&n->pid, arguments[0], &actions, NULL, arguments, environ), 0);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(fd);
}

/* Stops it, and gives its log: new. */
static char *nginx_stop(struct nginx *n)
{
	char path[PATH_BYTES], *log;

	cr_assert_eq(kill(n->pid, SIGTERM), 0);
	cr_assert_eq(waitpid(n->pid, NULL, 0), n->pid);
	(void)snprintf(path, sizeof(path), "%s/access.log", n->folder);
	log = test_read_file(path, NULL);
	fault_certs_remove(n->folder);
	return log;
}

/* How many different connections the log names, all HTTP/2, and how many requests. */
static size_t count_connections(char *log, size_t *requests)
{
	unsigned long seen[MANY];
	size_t count = 0;
	char *line;

	*requests = 0;
	while ((line = strsep(&log, "\n")) && *line) {
		char *protocol;
		unsigned long connection = strtoul(line, &protocol, 10);
		size_t i = 0;

		cr_assert_eq(strncmp(protocol, " HTTP/2.0 ", 10), 0, "%s", line);
		while (i < count && seen[i] != connection)
			i++;
		seen[i] = connection;
		count += i == count;
		++*requests;
	}
	return count;
}

struct got {
	size_t calls;
	enum ic_http_end end;
	int version;
	bool cut;
	char detail[400];
};

static void done(void *arg, const struct ic_http_answer *answer)
{
	struct got *g = arg;

	g->calls++;
	g->end = answer->end;
	g->version = answer->http_version;
	g->cut = answer->body_cut;
	(void)snprintf(g->detail, sizeof(g->detail), "%s", answer->detail);
}

/* Asks MANY times for the path, and expects an answer to each. */
static void ask(const struct nginx *n, const char *path, bool first_byte)
{
	static struct got got[MANY];
	char url[256], ca_path[PATH_BYTES], *ca;
	struct ic_http_request request = {.method = IC_HTTP_GET, .url = url, .proxy = "", .first_byte = first_byte, .max_body = 1000};
	struct imgcheck_error *err = NULL;
	struct ic_http *h = NULL;
	int left;

	(void)snprintf(ca_path, sizeof(ca_path), "%s/ca.crt", n->folder);
	(void)snprintf(url, sizeof(url), "%s%s", n->base, path);
	ca = test_read_file(ca_path, NULL);
	cr_assert_eq(ic_http_new(ca, strlen(ca), ic_clock_now() + 30000, &h, NULL), 0);
	free(ca);
	memset(got, 0, sizeof(got));
	for (size_t i = 0; i < MANY; i++)
		cr_assert_eq(ic_http_submit(h, &request, done, &got[i], NULL), 0);
	while ((left = ic_http_step(h, -1, &err)) > 0)
		;
	cr_assert_eq(left, 0, "%s", imgcheck_error_message(err));
	ic_http_free(h);
	for (size_t i = 0; i < MANY; i++) {
		cr_assert(got[i].calls == 1 && got[i].end == IC_HTTP_ANSWERED && got[i].version == 2, "%zu: end %d, %s", i,
		          got[i].end, got[i].detail);
		cr_assert_eq(got[i].cut, first_byte);
	}
}

TEST(http2, uses_one_connection)
{
	struct nginx n;
	size_t requests;
	char *log;

	if (!has_nginx())
		cr_skip("no nginx from 1.19.7 on");
	nginx_start(&n, 1000);
	ask(&n, "/tag", false);
	log = nginx_stop(&n);
	cr_expect_eq(count_connections(log, &requests), 1);
	cr_expect_eq(requests, MANY);
	free(log);
}

TEST(http2, outlives_connections_that_the_server_ends)
{
	static const unsigned limits[] = {100, 30, 7};

	if (!has_nginx())
		cr_skip("no nginx from 1.19.7 on");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct nginx n;
		size_t requests, connections, least = (MANY + limits[i] - 1) / limits[i];
		char *log;

		nginx_start(&n, limits[i]);
		ask(&n, "/tag", false);
		log = nginx_stop(&n);
		connections = count_connections(log, &requests);
		cr_expect_eq(requests, MANY, "%zu requests: something was asked twice", requests);
		/* one more now and then, where requests were on their way when a connection ended */
		cr_expect(connections >= least && connections <= least + least / 5 + 1, "limit %u: %zu connections", limits[i],
		          connections);
		free(log);
	}
}

TEST(http2, a_cut_body_does_not_cost_the_connection)
{
	static char large[1000000];
	struct nginx n;
	size_t requests;
	char *log;

	if (!has_nginx())
		cr_skip("no nginx from 1.19.7 on");
	memset(large, 'x', sizeof(large) - 1);
	nginx_start(&n, 1000);
	write_file(n.folder, "large", large);
	ask(&n, "/large", true);
	log = nginx_stop(&n);
	cr_expect_eq(count_connections(log, &requests), 1);
	cr_expect_eq(requests, MANY);
	free(log);
}
