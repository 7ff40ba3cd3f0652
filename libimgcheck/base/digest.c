/* SPDX-License-Identifier: Apache-2.0 */
#include "digest.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "text.h"

static const struct {
	const char *prefix;
	size_t hex_digits;
	const EVP_MD *(*md)(void);
} algorithms[] = {
	[IC_DIGEST_SHA256] = {"sha256:", 64, EVP_sha256},
	[IC_DIGEST_SHA384] = {"sha384:", 96, EVP_sha384},
	[IC_DIGEST_SHA512] = {"sha512:", 128, EVP_sha512},
};

bool ic_digest_is_valid(const char *text, size_t len, enum ic_digest_algorithm *algorithm)
{
	for (size_t a = 0; a < IC_COUNT(algorithms); a++) {
		size_t skip = strlen(algorithms[a].prefix);

		if (!ic_text_starts(text, len, algorithms[a].prefix))
			continue;
		if (len - skip != algorithms[a].hex_digits)
			return false;
		for (size_t i = skip; i < len; i++)
			if (!ic_is_digit(text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
				return false;
		if (algorithm)
			*algorithm = (enum ic_digest_algorithm)a;
		return true;
	}
	return false;
}

int ic_digest_compute(enum ic_digest_algorithm algorithm, const void *data, size_t len, char out[IC_DIGEST_TEXT_BYTES],
                      struct imgcheck_error **err)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned bytes = 0;
	size_t at = strlen(algorithms[algorithm].prefix);

	if (EVP_Digest(len ? data : "", len, hash, &bytes, algorithms[algorithm].md(), NULL) != 1)
		return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot compute a digest");
	memcpy(out, algorithms[algorithm].prefix, at);
	for (unsigned i = 0; i < bytes; i++) {
		out[at++] = "0123456789abcdef"[hash[i] >> 4];
		out[at++] = "0123456789abcdef"[hash[i] & 15];
	}
	out[at] = '\0';
	return 0;
}

bool ic_digest_matches(const char *digest, const void *data, size_t len)
{
	enum ic_digest_algorithm algorithm;
	char actual[IC_DIGEST_TEXT_BYTES];

	return ic_digest_is_valid(digest, strlen(digest), &algorithm) &&
	       ic_digest_compute(algorithm, data, len, actual, NULL) == 0 && strcmp(actual, digest) == 0;
}

int ic_certificate_check(const void *der, size_t len, struct imgcheck_error **err)
{
	const unsigned char *at = der;
	bool no_memory, whole;
	X509 *certificate;

	/* Errors of libcrypto queue up in the thread, where the transport would take them for its own. */
	(void)ERR_set_mark();
	certificate = len && len <= INT_MAX ? d2i_X509(NULL, &at, (long)len) : NULL;
	/* The first one is the cause, those behind it are its consequences. */
	no_memory = !certificate && ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
	whole = certificate && at == (const unsigned char *)der + len;
	X509_free(certificate);
	(void)ERR_pop_to_mark();
	if (no_memory)
		return ic_error_nomem(err);
	return whole ? 0 : ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot read a certificate");
}

static int refuse_passphrase(char *text, int size, int writing, void *arg)
{
	(void)text;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

/* Each is looked for from the start, whichever of them stands first. */
static bool is_pair(BIO *certificate_text, BIO *key_text)
{
	X509 *certificate = certificate_text ? PEM_read_bio_X509(certificate_text, NULL, refuse_passphrase, NULL) : NULL;
	EVP_PKEY *key = certificate && key_text ? PEM_read_bio_PrivateKey(key_text, NULL, refuse_passphrase, NULL) : NULL;
	bool pair = key && X509_check_private_key(certificate, key) == 1;

	EVP_PKEY_free(key);
	X509_free(certificate);
	return pair;
}

int ic_client_check(const char *pem, size_t len, struct imgcheck_error **err)
{
	bool no_memory, pair;
	BIO *certificate, *key;

	if (len > INT_MAX)
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot use a client certificate of that size");
	(void)ERR_set_mark();
	certificate = BIO_new_mem_buf(pem, (int)len);
	key = BIO_new_mem_buf(pem, (int)len);
	pair = is_pair(certificate, key);
	no_memory = !pair && (!certificate || !key || ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE);
	BIO_free(key);
	BIO_free(certificate);
	(void)ERR_pop_to_mark();
	if (no_memory)
		return ic_error_nomem(err);
	return pair ? 0 : ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot use the client certificate: its private key is encrypted, "
	                                                        "cannot be read or belongs to another one");
}
