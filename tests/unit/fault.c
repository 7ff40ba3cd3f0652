/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define PATH_BYTES 4096
#define ARGUMENTS 12

extern char **environ;

static void make_folder(char *folder, size_t size)
{
	(void)snprintf(folder, size, "/tmp/imgcheck-test-XXXXXX");
	test_folder(folder);
}

/* Runs a program to its end, and gives its status. */
static int run_any(const char *const *arguments)
{
	int status = -1;
	pid_t pid;
	char *copy[ARGUMENTS] = {NULL};

	for (size_t i = 0; arguments[i]; i++)
		copy[i] = strdup(arguments[i]);
	cr_assert_eq(posix_spawnp(&pid, copy[0], NULL, NULL, copy, environ), 0, "cannot start %s", copy[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; copy[i]; i++)
		free(copy[i]);
	return status;
}

static void run(const char *const *arguments)
{
	cr_assert_eq(run_any(arguments), 0, "%s failed", arguments[0]);
}

void fault_certs_make(char *folder, size_t size)
{
	make_folder(folder, size);
	run((const char *const[]){"sh", "tests/fault/certs.sh", folder, NULL});
}

void fault_certs_remove(const char *folder)
{
	run((const char *const[]){"rm", "-rf", folder, NULL});
}

static void write_script(const struct fault *f, const char *script)
{
	char path[PATH_BYTES];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/script", f->folder);
	out = fopen(path, "w");
	cr_assert(out && fputs(script, out) >= 0 && fclose(out) == 0, "cannot write %s", path);
}

/* The server stands beside the test program. */
static void server_path(char *path, size_t size)
{
	char own[PATH_BYTES];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	cr_assert(len > 0);
	own[len] = '\0';
	*strrchr(own, '/') = '\0';
	(void)snprintf(path, size, "%s/faultserver", own);
}

/* The line that the server prints when it is ready. */
static void read_base(struct fault *f, int fd)
{
	FILE *out = fdopen(fd, "r");

	cr_assert(out && fgets(f->base, sizeof(f->base), out), "the fault server does not start");
	f->base[strcspn(f->base, "\n")] = '\0';
	(void)fclose(out);
}

/* extra: more arguments, NULL-terminated. */
static void spawn(struct fault *f, const char *script, const char *const *extra)
{
	char server[PATH_BYTES + 16], log[PATH_BYTES];
	char *arguments[ARGUMENTS] = {strdup("faultserver"), strdup("-l"), NULL};
	posix_spawn_file_actions_t actions;
	int input[2], output[2];
	size_t n = 3;

	server_path(server, sizeof(server));
	(void)snprintf(log, sizeof(log), "%s/log", f->folder);
	arguments[2] = strdup(log);
	for (; extra && *extra; extra++)
		arguments[n++] = strdup(*extra);
	arguments[n] = strdup(script);
	cr_assert(pipe2(input, O_CLOEXEC) == 0 && pipe2(output, O_CLOEXEC) == 0);
	cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
	cr_assert_eq(posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO), 0);
	cr_assert_eq(posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO), 0);
	cr_assert_eq(posix_spawn(&f->pid, server, &actions, NULL, arguments, environ), 0, "cannot start %s", server);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(input[0]);
	(void)close(output[1]);
	f->input = input[1];
	read_base(f, output[0]);
	for (size_t i = 0; arguments[i]; i++)
		free(arguments[i]);
}

static void start_text(struct fault *f, const char *script, const char *const *extra)
{
	char path[PATH_BYTES];

	make_folder(f->folder, sizeof(f->folder));
	write_script(f, script);
	(void)snprintf(path, sizeof(path), "%s/script", f->folder);
	spawn(f, path, extra);
}

/* With no time to serve the server ends at once. */
char *fault_check(const char *script)
{
	char server[PATH_BYTES + 16], said[PATH_BYTES], path[PATH_BYTES], *message;
	struct fault f;

	make_folder(f.folder, sizeof(f.folder));
	write_script(&f, script);
	server_path(server, sizeof(server));
	(void)snprintf(path, sizeof(path), "%s/script", f.folder);
	(void)snprintf(said, sizeof(said), "%s/said", f.folder);
	run_any((const char *const[]){"sh", "-c", "\"$1\" -t 0 \"$2\" >/dev/null 2>\"$3\"", "sh", server, path, said, NULL});
	message = test_read_file(said, NULL);
	fault_certs_remove(f.folder);
	return message;
}

void fault_start(struct fault *f, const char *script)
{
	start_text(f, script, NULL);
}

void fault_start_file(struct fault *f, const char *name)
{
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "tests/data/fault/%s", name);
	make_folder(f->folder, sizeof(f->folder));
	spawn(f, path, NULL);
}

void fault_start_tls(struct fault *f, const char *script, const char *certs, const char *pair, const char *client_ca)
{
	char cert[PATH_BYTES], key[PATH_BYTES];

	(void)snprintf(cert, sizeof(cert), "%s/%s.crt", certs, pair);
	(void)snprintf(key, sizeof(key), "%s/%s.key", certs, pair);
	start_text(f, script, (const char *const[]){"-c", cert, "-k", key, client_ca ? "-a" : NULL, client_ca, NULL});
}

void fault_stop(struct fault *f)
{
	int status = -1;

	(void)close(f->input);
	cr_assert(waitpid(f->pid, &status, 0) == f->pid);
	fault_certs_remove(f->folder);
	cr_assert_eq(status, 0, "the fault server ended with status %d", status);
}

char *fault_log(const struct fault *f)
{
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/log", f->folder);
	return test_read_file(path, NULL);
}

/* Calls see() with each line that begins with a connection's number: the number, and what stands behind it. */
static void walk(const struct fault *f, void (*see)(void *arg, size_t connection, const char *what), void *arg)
{
	char *log = fault_log(f), *rest = log, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *what;
		size_t connection = strtoul(line, &what, 10);

		if (what != line && *what == ' ')
			see(arg, connection, what + 1);
	}
	free(log);
}

struct count {
	const char *glob;
	size_t found;
};

static void count_matches(void *arg, size_t connection, const char *what)
{
	struct count *c = arg;

	(void)connection;
	c->found += fnmatch(c->glob, what, 0) == 0;
}

size_t fault_requests(const struct fault *f, const char *glob)
{
	struct count c = {glob, 0};

	walk(f, count_matches, &c);
	return c.found;
}

size_t fault_connections(const struct fault *f)
{
	return fault_requests(f, "open");
}

struct load {
	size_t now, most;
	bool waits[1024]; /* by connection: a request is unanswered */
};

static void follow(void *arg, size_t connection, const char *what)
{
	struct load *l = arg;
	bool waits = strcmp(what, "open") != 0 && strcmp(what, "answered") != 0 && strcmp(what, "closed") != 0;

	cr_assert(connection < sizeof(l->waits) / sizeof(l->waits[0]));
	l->now = l->now + waits - l->waits[connection];
	l->waits[connection] = waits;
	if (l->now > l->most)
		l->most = l->now;
}

size_t fault_most_at_once(const struct fault *f)
{
	struct load l = {0, 0, {false}};

	walk(f, follow, &l);
	return l.most;
}
