/* SPDX-License-Identifier: Apache-2.0 */
#include "source/trust.h"

#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/base64.h"
#include "source/finding.h"

#define BEGIN_LINE "-----BEGIN CERTIFICATE-----"
#define END_LINE "-----END CERTIFICATE-----"

const char *const ic_trust_system_files[] = {
	"/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Alpine, Arch */
	"/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL */
	"/etc/ssl/ca-bundle.pem",                            /* SUSE */
	"/etc/pki/tls/cacert.pem",                           /* OpenELEC */
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL 7 */
	"/etc/ssl/cert.pem",                                 /* Alpine without the links */
	NULL,
};

static unsigned line_of(const char *text, const char *at)
{
	unsigned line = 1;

	while ((text = memchr(text, '\n', (size_t)(at - text)))) {
		text++;
		line++;
	}
	return line;
}

/* The text between the two lines.  Errors: SYNTAX, NOMEM, LIMIT. */
static int check_certificate(const char *body, size_t len)
{
	struct ic_buf der IC_AUTO(buf);
	int result;

	ic_buf_init(&der, IC_MAX_CONFIG_BYTES);
	result = ic_base64_decode(body, len, IC_BASE64_PEM, &der, NULL);
	return result < 0 ? result : ic_certificate_check(der.data, der.len, NULL);
}

/* One that starts at begin, with what is left of the text up to the next one. */
static int add_certificate(const char *begin, const char *next, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *body = begin + strlen(BEGIN_LINE);
	const char *stop = memmem(body, (size_t)(next - body), END_LINE, strlen(END_LINE));
	int result = stop ? check_certificate(body, (size_t)(stop - body)) : IMGCHECK_ERR_SYNTAX;

	if (result == 0)
		result = ic_buf_add(out, begin, (size_t)(stop - begin) + strlen(END_LINE), err);
	return result < 0 ? result : ic_buf_add_text(out, "\n", err);
}

int ic_trust_add_pem(const char *name, const char *text, size_t len, struct ic_vec *problems, struct ic_buf *out,
                     struct imgcheck_error **err)
{
	const char *end = text + len, *begin = memmem(text, len, BEGIN_LINE, strlen(BEGIN_LINE)), *next;
	size_t count = 0;
	bool told = false;

	for (; begin; begin = next) {
		const char *body = begin + strlen(BEGIN_LINE);
		int result;

		next = memmem(body, (size_t)(end - body), BEGIN_LINE, strlen(BEGIN_LINE));
		result = add_certificate(begin, next ? next : end, out, err);
		count += result == 0;
		if (result == IMGCHECK_ERR_NOMEM)
			return ic_error_nomem(err);
		if (result == IMGCHECK_ERR_LIMIT)
			return result;
		if (result < 0 && !problems)
			return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, line_of(text, begin), 0,
			                       "cannot read the certificate that starts here; a PEM file is expected");
		if (result < 0 && !told &&
		    ic_finding_add(problems, name, line_of(text, begin), err, "the certificate that starts here cannot be read and is "
		                   "not used, nor are others like it") < 0)
			return ic_error_nomem(err);
		told = told || result < 0;
	}
	if (count == 0)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, 0, 0,
		                       "cannot find a certificate; a PEM file with \"" BEGIN_LINE "\" is expected");
	return 0;
}

int ic_trust_add_system(const char *const *files, struct ic_buf *out, const char **found, struct imgcheck_error **err)
{
	*found = NULL;
	for (; *files; files++) {
		struct ic_buf text IC_AUTO(buf);
		int result;

		ic_buf_init(&text, IC_MAX_TRUST_BYTES);
		result = ic_file_read(*files, &text, NULL);
		if (result == IMGCHECK_ERR_NOMEM)
			return ic_error_nomem(err);
		if (result < 0 || text.len == 0 || !memmem(text.data, text.len, BEGIN_LINE, strlen(BEGIN_LINE)))
			continue;
		*found = *files;
		result = ic_buf_add(out, text.data, text.len, err);
		return result < 0 ? result : ic_buf_add_text(out, "\n", err);
	}
	return 0;
}
