/* SPDX-License-Identifier: Apache-2.0 */
#include "http_detail.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"

/*
 * Verify results of OpenSSL (X509_V_ERR_... in openssl/x509_vfy.h, numbers that are part of its ABI), by the
 * number, so that this module needs none of its headers.
 */
static const struct {
	long code;
	const char *words;
} certificates[] = {
	{9, "the server's certificate is not valid yet: look at this machine's clock"},
	{10, "the server's certificate has expired"},
	{18, "the server's certificate is self-signed and not trusted here"},
	{19, "the server's certificate comes from an unknown authority: trust its CA file"},
	{20, "the server's certificate comes from an unknown authority: trust its CA file"},
	{21, "the server's certificate comes from an unknown authority: trust its CA file"},
	{23, "the server's certificate has been revoked"},
	{24, "the server's certificate was signed by a certificate that is no authority"},
	{62, "the server's certificate is for another host name"},
	{64, "the server's certificate is for another address"},
};

/* What the TLS library's text tells.  Matched in order, without regard to case. */
static const struct clue {
	const char *text;
	enum ic_http_end end;
	const char *words;
} clues[] = {
	{"certificate required", IC_HTTP_TLS, "the server wants a client certificate"},
	{"bad certificate", IC_HTTP_TLS, "the server does not accept the client certificate, or wants one"},
	{"alert unknown ca", IC_HTTP_TLS, "the server does not trust the client certificate"},
	{"no alternative certificate subject name", IC_HTTP_TLS, "the server's certificate is for another host name"},
	{"does not match target host name", IC_HTTP_TLS, "the server's certificate is for another host name"},
	{"unable to obtain common name", IC_HTTP_TLS, "the server's certificate is for another host name"},
	{"wrong version number", IC_HTTP_TLS, "the server does not speak TLS on this port: it may want plain http"},
	{"packet length too long", IC_HTTP_TLS, "the server does not speak TLS on this port: it may want plain http"},
	{"http request", IC_HTTP_TLS, "the server does not speak TLS on this port: it may want plain http"},
	{"protocol version", IC_HTTP_TLS, "the server and this machine have no TLS version in common"},
	{"unsupported protocol", IC_HTTP_TLS, "the server and this machine have no TLS version in common"},
	{"handshake failure", IC_HTTP_TLS, "the server refuses the TLS handshake"},
	{"unrecognized name", IC_HTTP_TLS, "the server does not know this host name"},
	{"connection reset", IC_HTTP_REFUSED, "the connection was closed during the TLS handshake"},
	{"unexpected eof", IC_HTTP_REFUSED, "the connection was closed during the TLS handshake"},
	{"SSL_ERROR_SYSCALL", IC_HTTP_REFUSED, "the connection was closed during the TLS handshake"},
};

static const char *certificate_words(long verify)
{
	for (size_t i = 0; i < IC_COUNT(certificates); i++)
		if (certificates[i].code == verify)
			return certificates[i].words;
	return NULL;
}

static const struct clue *find_clue(const char *text)
{
	for (size_t i = 0; i < IC_COUNT(clues); i++)
		if (strcasestr(text, clues[i].text))
			return &clues[i];
	return NULL;
}

/* A TLS alert that comes after the handshake (TLS 1.3) looks like a broken connection. */
static bool is_alert(const struct ic_http_failure *f)
{
	return f->end == IC_HTTP_BROKEN && strcasestr(f->text, "ssl") && strcasestr(f->text, "alert");
}

/* ": " and the library's text; it begins with a capital, which goes, unless the word is one like "SSL". */
static int add_more(struct ic_buf *detail, const char *text)
{
	size_t len = strlen(text), skip = len > 1 && ic_is_upper(text[0]) && !ic_is_upper(text[1]);
	int result = 0;

	if (len == 0)
		return 0;
	result = ic_buf_add_text(detail, ": ", NULL);
	if (result == 0 && skip)
		result = ic_buf_add_char(detail, ic_to_lower(text[0]), NULL);
	if (result == 0)
		result = ic_text_escape(detail, text + skip, len - skip, IC_MAX_DETAIL_BYTES / 2, NULL);
	return result;
}

/* The words that say most; *end is corrected by what they tell. */
static const char *best_words(const struct ic_http_failure *f, enum ic_http_end *end)
{
	const char *words = NULL;
	const struct clue *clue;

	if (*end != IC_HTTP_TLS)
		return NULL;
	words = certificate_words(f->verify);
	clue = words ? NULL : find_clue(f->text);
	if (!clue)
		return words;
	*end = clue->end;
	return clue->words;
}

static int add_words(const struct ic_http_failure *f, const char *best, struct ic_buf *detail)
{
	int result = ic_buf_add_text(detail, best ? best : f->words, NULL);

	if (result < 0 || best)
		return result;
	if (f->os_error != 0)
		return add_more(detail, strerror(f->os_error));
	/* libcurl's first words about a connection that was reset before it could look at it tell nothing */
	return f->telling && !strstr(f->text, "getpeername()") ? add_more(detail, f->text) : 0;
}

enum ic_http_end ic_http_explain(const struct ic_http_failure *f, struct ic_buf *detail)
{
	enum ic_http_end end = is_alert(f) ? IC_HTTP_TLS : f->end;
	int result;

	if (f->proxy_status >= 300) {
		end = IC_HTTP_REFUSED;
		result = ic_buf_printf(detail, NULL, "the proxy refuses the connection (status %ld)", f->proxy_status);
	} else {
		const char *best = best_words(f, &end);

		result = add_words(f, best, detail);
	}
	if (result < 0)
		ic_buf_clear(detail);
	return end;
}
