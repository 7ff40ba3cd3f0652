/* SPDX-License-Identifier: Apache-2.0 */
#include "jwt.h"

#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_BYTES ((size_t)1 << 16)

struct jwt {
	EVP_PKEY *key;
	struct ic_buf header; /* encoded */
	unsigned serial;
};

/* ------------------------------------------------------------------ base64 */

static bool add_base64(struct ic_buf *out, const void *data, size_t len, bool for_url)
{
	size_t from = out->len, text_len = (len + 2) / 3 * 4;

	if (ic_buf_reserve(out, from + text_len + 1, NULL) < 0)
		return false;
	EVP_EncodeBlock((unsigned char *)out->data + from, data, (int)len);
	out->len = from + text_len;
	for (size_t i = from; for_url && i < out->len; i++) {
		if (out->data[i] == '+')
			out->data[i] = '-';
		else if (out->data[i] == '/')
			out->data[i] = '_';
	}
	while (for_url && out->len > from && out->data[out->len - 1] == '=')
		out->len--;
	out->data[out->len] = '\0';
	return true;
}

/* The bytes behind base64 for URLs; false where it is none. */
static bool decode(const char *text, size_t len, struct ic_buf *out)
{
	char block[MOST_BYTES];
	int decoded;

	if (len + 4 > sizeof(block) || ic_buf_reserve(out, len + 4, NULL) < 0)
		return false;
	for (size_t i = 0; i < len; i++)
		block[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	while (len % 4 != 0)
		block[len++] = '=';
	decoded = EVP_DecodeBlock((unsigned char *)out->data, (const unsigned char *)block, (int)len);
	if (decoded < 0)
		return false;
	out->len = (size_t)decoded;
	out->data[out->len] = '\0';
	return true;
}

/* ------------------------------------------------------------------ the signer */

static bool read_header(const char *path, struct ic_buf *header)
{
	struct ic_buf json IC_AUTO(buf);
	FILE *in = fopen(path, "re");
	X509 *certificate = in ? PEM_read_X509(in, NULL, NULL, NULL) : NULL;
	unsigned char *der = NULL;
	int len = certificate ? i2d_X509(certificate, &der) : -1;
	bool ok;

	ic_buf_init(&json, MOST_BYTES);
	ok = len > 0 && ic_buf_add_text(&json, "{\"typ\":\"JWT\",\"alg\":\"ES256\",\"x5c\":[\"", NULL) == 0 &&
	     add_base64(&json, der, (size_t)len, false) && ic_buf_add_text(&json, "\"]}", NULL) == 0 &&
	     add_base64(header, json.data, json.len, true);
	if (in)
		(void)fclose(in);
	X509_free(certificate);
	OPENSSL_free(der);
	return ok;
}

struct jwt *jwt_new(const char *key, const char *certificate)
{
	struct jwt *j = calloc(1, sizeof(*j));
	FILE *in = j ? fopen(key, "re") : NULL;

	if (!in)
		return NULL;
	j->key = PEM_read_PrivateKey(in, NULL, NULL, NULL);
	(void)fclose(in);
	ic_buf_init(&j->header, MOST_BYTES);
	return j->key && read_header(certificate, &j->header) ? j : NULL;
}

/* The signature as JSON web signatures want it: both numbers, 32 bytes each. */
static bool sign(struct jwt *j, const char *text, size_t len, unsigned char out[64])
{
	unsigned char der[128];
	const unsigned char *at = der;
	size_t der_len = sizeof(der);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	ECDSA_SIG *parts = NULL;
	bool ok = context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, j->key) == 1 &&
	          EVP_DigestSign(context, der, &der_len, (const unsigned char *)text, len) == 1;

	if (ok)
		parts = d2i_ECDSA_SIG(NULL, &at, (long)der_len);
	ok = parts && BN_bn2binpad(ECDSA_SIG_get0_r(parts), out, 32) == 32 && BN_bn2binpad(ECDSA_SIG_get0_s(parts), out + 32, 32) == 32;
	ECDSA_SIG_free(parts);
	EVP_MD_CTX_free(context);
	return ok;
}

bool jwt_add(struct jwt *j, const char *service, const char *repository, struct ic_buf *out)
{
	struct ic_buf claims IC_AUTO(buf);
	unsigned char signature[64];
	size_t from = out->len;
	long now = (long)time(NULL);

	ic_buf_init(&claims, MOST_BYTES);
	return ic_buf_printf(&claims, NULL, "{\"iss\":\"imgcheck tests\",\"aud\":\"%s\",\"sub\":\"\",\"iat\":%ld,\"nbf\":%ld,"
	                     "\"exp\":%ld,\"jti\":\"%u\",\"access\":[{\"type\":\"repository\",\"name\":\"%s\","
	                     "\"actions\":[\"pull\"]}]}", service, now, now - 10, now + 300, ++j->serial, repository) == 0 &&
	       ic_buf_printf(out, NULL, "%s.", j->header.data) == 0 && add_base64(out, claims.data, claims.len, true) &&
	       sign(j, out->data + from, out->len - from, signature) && ic_buf_add_char(out, '.', NULL) == 0 &&
	       add_base64(out, signature, sizeof(signature), true);
}

bool jwt_is_for(const char *token, size_t len, const char *repository)
{
	const char *claims = memchr(token, '.', len), *end;
	struct ic_buf text IC_AUTO(buf);
	char wanted[512];

	ic_buf_init(&text, MOST_BYTES);
	(void)snprintf(wanted, sizeof(wanted), "\"name\":\"%s\"", repository);
	if (!claims++)
		return false;
	end = memchr(claims, '.', len - (size_t)(claims - token));
	return end && decode(claims, (size_t)(end - claims), &text) && strstr(text.data, wanted);
}
