/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/http_detail.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

static const struct {
	struct ic_http_failure failure;
	enum ic_http_end end;
	const char *detail;
} rows[] = {
	{{.end = IC_HTTP_UNRESOLVED, .words = "cannot find it", .text = "Could not resolve host: a"},
	 IC_HTTP_UNRESOLVED, "cannot find it"},
	{{.end = IC_HTTP_REFUSED, .words = "cannot connect", .text = "Failed to connect", .os_error = ECONNREFUSED},
	 IC_HTTP_REFUSED, "cannot connect: connection refused"},
	{{.end = IC_HTTP_REFUSED, .words = "cannot connect", .text = "", .os_error = ENETUNREACH}, IC_HTTP_REFUSED,
	 "cannot connect: network is unreachable"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .text = "Recv failure: Connection reset by peer", .telling = true},
	 IC_HTTP_BROKEN, "it broke: recv failure: Connection reset by peer"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .text = "HTTP/2 stream 1 was not closed cleanly", .telling = true},
	 IC_HTTP_BROKEN, "it broke: HTTP/2 stream 1 was not closed cleanly"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .text = "", .telling = true}, IC_HTTP_BROKEN, "it broke"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .text = "a\x1b[31m\n\xff", .telling = true}, IC_HTTP_BROKEN,
	 "it broke: a\\x1b[31m\\x0a\\xff"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .telling = true, .text = "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 "
	 "alert certificate required, errno 0"}, IC_HTTP_TLS, "the server wants a client certificate"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .telling = true, .text = "on red alert"},
	 IC_HTTP_BROKEN, "it broke: on red alert"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .telling = true, .text = "getpeername() failed with errno 107"},
	 IC_HTTP_BROKEN, "it broke"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .verify = 10, .text = "SSL certificate problem"}, IC_HTTP_TLS,
	 "the server's certificate has expired"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .verify = 9, .text = ""}, IC_HTTP_TLS,
	 "the server's certificate is not valid yet: look at this machine's clock"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .verify = 20, .text = ""}, IC_HTTP_TLS,
	 "the server's certificate comes from an unknown authority: trust its CA file"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .verify = 7, .telling = true, .text = "SSL certificate problem: bad signature"},
	 IC_HTTP_TLS, "no TLS: SSL certificate problem: bad signature"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .telling = true, .text = "SSL: no alternative certificate subject name matches target "
	 "host name 'a'"}, IC_HTTP_TLS, "the server's certificate is for another host name"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .telling = true, .text = "error:0A00010B:SSL routines::wrong version number"},
	 IC_HTTP_TLS, "the server does not speak TLS on this port: it may want plain http"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .telling = true, .text = "SSL_connect: SSL_ERROR_SYSCALL in connection to a:1"},
	 IC_HTTP_REFUSED, "the connection was closed during the TLS handshake"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .text = "what we have not seen yet", .telling = true}, IC_HTTP_TLS,
	 "no TLS: what we have not seen yet"},
	{{.end = IC_HTTP_BROKEN, .words = "it broke", .text = "CONNECT tunnel failed, response 403", .proxy_status = 403},
	 IC_HTTP_REFUSED, "the proxy refuses the connection (status 403)"},
	{{.end = IC_HTTP_TLS, .words = "no TLS", .text = "", .verify = 10, .proxy_status = 200}, IC_HTTP_TLS,
	 "the server's certificate has expired"},
};

TEST(http_detail, puts_failures_into_words)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_buf detail IC_AUTO(buf);

		ic_buf_init(&detail, 2 * IC_MAX_DETAIL_BYTES);
		cr_expect_eq(ic_http_explain(&rows[i].failure, &detail), rows[i].end, "row %zu", i);
		cr_expect_str_eq(ic_buf_text(&detail), rows[i].detail);
	}
}

TEST(http_detail, cuts_long_texts_and_stays_empty_without_room)
{
	char text[5000];
	struct ic_http_failure failure = {.end = IC_HTTP_BROKEN, .words = "it broke", .telling = true, .text = text};
	struct ic_buf detail IC_AUTO(buf);

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ic_buf_init(&detail, 2 * IC_MAX_DETAIL_BYTES);
	cr_expect_eq(ic_http_explain(&failure, &detail), IC_HTTP_BROKEN);
	cr_expect_leq(detail.len, IC_MAX_DETAIL_BYTES);
	cr_expect_str_eq(ic_buf_text(&detail) + detail.len - 7, "\\x0a...");
	ic_buf_clear(&detail);
	ic_buf_init(&detail, 5);
	cr_expect_eq(ic_http_explain(&failure, &detail), IC_HTTP_BROKEN);
	cr_expect_eq(detail.len, 0);
}
