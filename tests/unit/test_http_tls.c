/* SPDX-License-Identifier: Apache-2.0 */

/* The transport over TLS: trust, and what is said where there is none; HTTP/2. */

#include "registry/http.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "fault.h"
#include "got.h"
#include "registry/http_trust.h"
#include "test.h"

#define URL_BYTES 256

static struct ic_http *start(const char *ca_pem)
{
	struct ic_http *h = NULL;

	cr_assert_eq(ic_http_new(ca_pem, ca_pem ? strlen(ca_pem) : 0, ic_clock_now() + 20000, &h, NULL), 0);
	return h;
}

static void submit(struct ic_http *h, const char *base, const char *path, bool skip_verify, struct got *g)
{
	struct ic_http_request request = {.method = IC_HTTP_GET, .proxy = "", .skip_verify = skip_verify, .max_body = 1000};
	char url[URL_BYTES];

	(void)snprintf(url, sizeof(url), "%s%s", base, path);
	request.url = url;
	*g = (struct got){0};
	cr_assert_eq(ic_http_submit(h, &request, done, g, NULL), 0);
}

static struct got ask(const char *ca_pem, const char *base, bool skip_verify)
{
	struct ic_http *h = start(ca_pem);
	struct got g;

	submit(h, base, "/", skip_verify, &g);
	run(h);
	ic_http_free(h);
	cr_assert_eq(g.calls, 1);
	return g;
}

static char *read_certificate(const char *folder, const char *name)
{
	char path[URL_BYTES];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return test_read_file(path, NULL);
}

static const char answer_script[] = "on * *\nstatus 200 OK\nbody x\n";

/* A request with certificates of its own. */
static struct got ask_with(const char *base, const struct ic_tls *tls)
{
	struct ic_http_request request = {.method = IC_HTTP_GET, .proxy = "", .url = base, .tls = tls, .max_body = 1000};
	struct ic_http *h = start(NULL);
	struct got g = {0};

	cr_assert_eq(ic_http_submit(h, &request, done, &g, NULL), 0);
	run(h);
	ic_http_free(h);
	cr_assert_eq(g.calls, 1);
	return g;
}

static void put_file(struct ic_buf *out, const char *folder, const char *name)
{
	char *text = read_certificate(folder, name);

	cr_assert_eq(ic_buf_add_text(out, text, NULL), 0);
	free(text);
}

/* ------------------------------------------------------------------ trust */

static const struct {
	const char *pair;
	bool trusted;     /* the authority is known */
	bool client_ca;   /* the server wants a client certificate */
	bool skip_verify;
	enum ic_http_end end;
	const char *detail;
} handshakes[] = {
	{"good", true, false, false, IC_HTTP_ANSWERED, ""},
	{"good", false, false, false, IC_HTTP_TLS, "the server's certificate comes from an unknown authority: trust its CA file"},
	{"good", false, false, true, IC_HTTP_ANSWERED, ""},
	{"expired", true, false, false, IC_HTTP_TLS, "the server's certificate has expired"},
	{"expired", true, false, true, IC_HTTP_ANSWERED, ""},
	{"future", true, false, false, IC_HTTP_TLS, "the server's certificate is not valid yet: look at this machine's clock"},
	{"other", true, false, false, IC_HTTP_TLS, "the server's certificate is for another host name"},
	{"other", true, false, true, IC_HTTP_ANSWERED, ""},
	{"self", true, false, false, IC_HTTP_TLS, "the server's certificate is self-signed and not trusted here"},
	{"good", true, true, false, IC_HTTP_TLS, "the server wants a client certificate"},
	{"good", true, true, true, IC_HTTP_TLS, "the server wants a client certificate"},
};

TEST(http_tls, says_what_is_wrong_with_a_certificate)
{
	char certs[64], ca_path[128], *ca;

	fault_certs_make(certs, sizeof(certs));
	ca = read_certificate(certs, "ca.crt");
	(void)snprintf(ca_path, sizeof(ca_path), "%s/ca.crt", certs);
	for (size_t i = 0; i < sizeof(handshakes) / sizeof(handshakes[0]); i++) {
		struct fault server;
		struct got g;

		fault_start_tls(&server, answer_script, certs, handshakes[i].pair, handshakes[i].client_ca ? ca_path : NULL);
		g = ask(handshakes[i].trusted ? ca : NULL, server.base, handshakes[i].skip_verify);
		cr_expect_eq(g.end, handshakes[i].end, "row %zu: end %d, %s", i, g.end, g.detail);
		cr_expect_str_eq(g.detail, handshakes[i].detail);
		fault_stop(&server);
	}
	free(ca);
	fault_certs_remove(certs);
}

TEST(http_tls, shows_a_client_certificate)
{
	static const struct {
		const char *certificate, *key;
		enum ic_http_end end;
	} rows[] = {
		{"good.crt", "good.key", IC_HTTP_ANSWERED},
		{"self.crt", "self.key", IC_HTTP_TLS},
		{"good.crt", "other.key", IC_HTTP_TLS},
		{NULL, NULL, IC_HTTP_TLS},
	};
	char certs[64], ca_path[128];

	fault_certs_make(certs, sizeof(certs));
	(void)snprintf(ca_path, sizeof(ca_path), "%s/ca.crt", certs);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_tls tls;
		struct fault server;
		struct got g;

		ic_buf_init(&tls.ca, 1 << 20);
		ic_buf_init(&tls.client, 1 << 20);
		put_file(&tls.ca, certs, "ca.crt");
		if (rows[i].key) {
			put_file(&tls.client, certs, rows[i].certificate);
			put_file(&tls.client, certs, rows[i].key);
		}
		fault_start_tls(&server, answer_script, certs, "good", ca_path);
		g = ask_with(server.base, &tls);
		cr_expect_eq(g.end, rows[i].end, "row %zu: end %d, %s", i, g.end, g.detail);
		fault_stop(&server);
		ic_buf_clear(&tls.ca);
		ic_buf_clear(&tls.client);
	}
	fault_certs_remove(certs);
}

/* One file for all hosts that add the same, though they are queued apart. */
TEST(http_tls, hosts_of_one_authority_share_its_file)
{
	struct ic_tls tls[3] = {0};
	char *keys[3] = {NULL}, text[20] = "";
	const struct ic_http_ca *files[3];
	struct ic_http_cas cas;
	FILE *file;

	ic_http_cas_init(&cas, "common\n", 7);
	for (size_t i = 0; i < 3; i++) {
		ic_buf_init(&tls[i].ca, 100);
		cr_assert_eq(ic_buf_add_text(&tls[i].ca, i < 2 ? "mine\n" : "other\n", NULL), 0);
		keys[i] = strdup("https://host:443");
		cr_assert_eq(ic_http_cas_key(&cas, &tls[i], false, &keys[i], NULL), 0);
	}
	for (size_t i = 0; i < 3; i++)
		files[i] = ic_http_cas_get(&cas, &tls[i]);
	cr_expect(files[0] == files[1] && files[0] != files[2] && files[2]);
	cr_expect_str_neq(keys[0], keys[1]);
	cr_expect_str_eq(keys[2], "https://host:443 3");
	file = fopen(files[0]->path, "r");
	cr_assert(file && fread(text, 1, sizeof(text) - 1, file) > 0);
	cr_expect_str_eq(text, "common\nmine\n");
	(void)fclose(file);
	for (size_t i = 0; i < 3; i++) {
		free(keys[i]);
		ic_buf_clear(&tls[i].ca);
	}
	ic_http_cas_clear(&cas);
}

/* The host is told, and the others are asked. */
TEST(http_tls, different_certificates_of_hosts_are_bounded)
{
	struct ic_http_request request = {.method = IC_HTTP_GET, .proxy = "", .url = "https://127.0.0.1:1/", .max_body = 1000};
	enum { COUNT = IC_MAX_OWN_TRUST_BYTES / IC_MAX_TRUST_BYTES + 1 };
	char *common = malloc(IC_MAX_TRUST_BYTES);
	struct ic_tls tls[COUNT] = {0};
	struct got g[COUNT] = {{0}};
	struct ic_http *h;

	cr_assert_not_null(common);
	memset(common, '\n', IC_MAX_TRUST_BYTES);
	cr_assert_eq(ic_http_new(common, IC_MAX_TRUST_BYTES - 100, ic_clock_now() + 60000, &h, NULL), 0);
	for (size_t i = 0; i < COUNT; i++) {
		ic_buf_init(&tls[i].ca, 100);
		cr_assert_eq(ic_buf_printf(&tls[i].ca, NULL, "%098zu\n", i), 0);
		request.tls = &tls[i];
		cr_assert_eq(ic_http_submit(h, &request, done, &g[i], NULL), 0);
	}
	run(h);
	for (size_t i = 0; i < COUNT - 1; i++)
		cr_expect_eq(g[i].end, IC_HTTP_REFUSED, "%s", g[i].detail);
	cr_expect_eq(g[COUNT - 1].end, IC_HTTP_FAILED);
	cr_expect(strstr(g[COUNT - 1].detail, "too many hosts with different certificates"), "%s", g[COUNT - 1].detail);
	ic_http_free(h);
	for (size_t i = 0; i < COUNT; i++)
		ic_buf_clear(&tls[i].ca);
	free(common);
}

/* Each with its own certificates, though all wait for one host and the first ones fail. */
TEST(http_tls, keeps_ways_of_trusting_a_host_apart)
{
	char certs[64];
	struct ic_tls own = {0}, wrong = {0};
	struct got g[6] = {{0}};
	struct fault server;
	struct ic_http *h = start(NULL);

	fault_certs_make(certs, sizeof(certs));
	ic_buf_init(&own.ca, 1 << 20);
	ic_buf_init(&wrong.ca, 1 << 20);
	put_file(&own.ca, certs, "ca.crt");
	put_file(&wrong.ca, certs, "self.crt");
	fault_start_tls(&server, answer_script, certs, "good", NULL);
	for (size_t i = 0; i < 6; i++) {
		const struct ic_tls *ways[] = {NULL, &wrong, &own};
		struct ic_http_request request = {.method = IC_HTTP_GET, .proxy = "", .url = server.base, .tls = ways[i % 3],
		                                  .max_body = 1000};

		cr_assert_eq(ic_http_submit(h, &request, done, &g[i], NULL), 0);
	}
	run(h);
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(g[i].end, i % 3 == 2 ? IC_HTTP_ANSWERED : IC_HTTP_TLS, "request %zu: %s", i, g[i].detail);
	ic_http_free(h);
	fault_stop(&server);
	ic_buf_clear(&own.ca);
	ic_buf_clear(&wrong.ca);
	fault_certs_remove(certs);
}

TEST(http_tls, tells_plain_http_and_closed_handshakes)
{
	static const struct {
		const char *script;
		enum ic_http_end end;
		const char *detail;
	} rows[] = {
		{"accept\nsend HTTP/1.1 400 Bad Request\\r\\n\\r\\n\nclose\n", IC_HTTP_TLS,
		 "the server does not speak TLS on this port: it may want plain http"},
		{"accept\ndelay 50\nclose\n", IC_HTTP_REFUSED, "the connection was closed during the TLS handshake"},
		{"accept\ndelay 50\nreset\n", IC_HTTP_REFUSED, "the connection was closed during the TLS handshake"},
		{"accept\nsend \\x15\\x03\\x03\\x00\\x02\\x02\\x46\nclose\n", IC_HTTP_TLS,
		 "the server and this machine have no TLS version in common"},
		{"accept\nsend \\x15\\x03\\x03\\x00\\x02\\x02\\x28\nclose\n", IC_HTTP_TLS, "the server refuses the TLS handshake"},
		{"accept\nstall\n", IC_HTTP_STALLED, "cannot connect: no answer in time"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_http *h;
		struct fault server;
		struct got g;

		fault_start(&server, rows[i].script);
		cr_assert_eq(ic_http_new(NULL, 0, ic_clock_now() + 3000, &h, NULL), 0);
		submit(h, "https:", strchr(server.base, '/'), false, &g);
		run(h);
		cr_expect_eq(g.end, rows[i].end, "row %zu: end %d, %s", i, g.end, g.detail);
		cr_expect_str_eq(g.detail, rows[i].detail);
		ic_http_free(h);
		fault_stop(&server);
	}
}

TEST(http_tls, a_bundle_without_certificates_trusts_nobody)
{
	char certs[64];
	struct fault server;

	fault_certs_make(certs, sizeof(certs));
	fault_start_tls(&server, answer_script, certs, "good", NULL);
	cr_expect_eq(ask("", server.base, false).end, IC_HTTP_TLS);
	cr_expect_eq(ask("no certificate\n", server.base, false).end, IC_HTTP_TLS);
	fault_stop(&server);
	fault_certs_remove(certs);
}

/* The file in memory that holds the trusted certificates, opened for writing; -1: there is none. */
static int trust_file(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	cr_assert(folder);
	while ((entry = readdir(folder))) {
		char target[64] = "";

		if (readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1) > 0 && strstr(target, "imgcheck-ca"))
			found = (int)strtol(entry->d_name, NULL, 10);
	}
	(void)closedir(folder);
	return found;
}

TEST(http_tls, reads_the_trusted_certificates_once)
{
	char certs[64], *ca;
	struct got got[20];
	struct fault server;
	struct ic_http *h;
	int fd;

	fault_certs_make(certs, sizeof(certs));
	ca = read_certificate(certs, "ca.crt");
	/* each answer ends its connection, so that each request makes a handshake */
	fault_start_tls(&server, "on * *\nstatus 200 OK\nheader Connection: close\nbody x\nclose\n", certs, "good", NULL);
	h = start(ca);
	fd = trust_file();
	cr_assert_geq(fd, 0);
	submit(h, server.base, "/", false, &got[0]);
	run(h);
	cr_assert_eq(got[0].end, IC_HTTP_ANSWERED, "%s", got[0].detail);
	cr_assert_eq(ftruncate(fd, 0), 0);
	for (size_t i = 0; i < 20; i++)
		submit(h, server.base, "/", false, &got[i]);
	run(h);
	for (size_t i = 0; i < 20; i++)
		cr_expect_eq(got[i].end, IC_HTTP_ANSWERED, "%s", got[i].detail);
	cr_expect_eq(fault_connections(&server), 21);
	ic_http_free(h);
	cr_expect_eq(trust_file(), -1);
	free(ca);
	fault_stop(&server);
	fault_certs_remove(certs);
}

/* From here on the system has no memfd_create(), as an old kernel or a strict filter. */
static void forbid_memory_files(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(http_tls, needs_no_file_for_the_trusted_certificates)
{
	char certs[64], *ca;
	struct fault good, bad;

	fault_certs_make(certs, sizeof(certs));
	ca = read_certificate(certs, "ca.crt");
	fault_start_tls(&good, answer_script, certs, "good", NULL);
	fault_start_tls(&bad, answer_script, certs, "self", NULL);
	forbid_memory_files();
	cr_expect_eq(ask(ca, good.base, false).end, IC_HTTP_ANSWERED);
	cr_expect_eq(ask(ca, bad.base, false).end, IC_HTTP_TLS);
	free(ca);
	fault_stop(&good);
	fault_stop(&bad);
	fault_certs_remove(certs);
}

TEST(http_tls, a_broken_connection_raises_no_signal)
{
	static char body[200000];
	static struct got got[40];
	struct ic_http_request request = {.method = IC_HTTP_POST, .proxy = "", .body = body,
	                                  .body_len = sizeof(body) - 1, .max_body = 1000};
	char certs[64], *ca, url[URL_BYTES];
	struct fault server;
	struct ic_http *h;

	cr_assert_neq(signal(SIGPIPE, SIG_DFL), SIG_ERR);
	memset(body, 'x', sizeof(body) - 1);
	fault_certs_make(certs, sizeof(certs));
	ca = read_certificate(certs, "ca.crt");
	fault_start_tls(&server, "on GET /keep\nstatus 200 OK\nbody x\ndelay 50\nreset\n"
	                         "on GET *\nstatus 200 OK\non POST *\nreset\n", certs, "good", NULL);
	h = start(ca);
	(void)snprintf(url, sizeof(url), "%s/", server.base);
	request.url = url;
	submit(h, server.base, "/first", false, &got[0]);
	for (size_t i = 1; i < 20; i++)
		submit(h, server.base, "/keep", false, &got[i]);
	for (size_t i = 20; i < 40; i++)
		cr_assert_eq(ic_http_submit(h, &request, done, &got[i], NULL), 0);
	run(h);
	cr_expect_eq(got[0].end, IC_HTTP_ANSWERED);
	for (size_t i = 20; i < 40; i++)
		cr_expect_eq(got[i].end, IC_HTTP_BROKEN, "end %d %s", got[i].end, got[i].detail);
	ic_http_free(h);
	free(ca);
	fault_stop(&server);
	fault_certs_remove(certs);
}
