/* SPDX-License-Identifier: Apache-2.0 */
#include "http_trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"

void ic_http_ca_init(struct ic_http_ca *ca)
{
	*ca = (struct ic_http_ca){.fd = -1};
	ic_buf_init(&ca->text, IC_MAX_TRUST_BYTES);
}

void ic_http_ca_clear(struct ic_http_ca *ca)
{
	if (ca->fd >= 0)
		(void)close(ca->fd);
	ic_buf_clear(&ca->text);
	ic_http_ca_init(ca);
}

static bool write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* True where libcurl will be able to open it too. */
static bool make_file(struct ic_http_ca *ca, const char *pem, size_t len)
{
	int again;

	ca->fd = memfd_create("imgcheck-ca", MFD_CLOEXEC);
	if (ca->fd < 0 || !write_all(ca->fd, pem, len))
		return false;
	(void)snprintf(ca->path, sizeof(ca->path), "/proc/self/fd/%d", ca->fd);
	again = open(ca->path, O_RDONLY | O_CLOEXEC);
	if (again >= 0)
		(void)close(again);
	return again >= 0;
}

int ic_http_ca_set(struct ic_http_ca *ca, const char *pem, size_t len, struct imgcheck_error **err)
{
	if (make_file(ca, pem, len))
		return 0;
	if (ca->fd >= 0)
		(void)close(ca->fd);
	ca->fd = -1;
	ca->path[0] = '\0';
	return ic_buf_add(&ca->text, pem, len, err);
}

/* ------------------------------------------------------------------ certificates of single hosts */

/* What a host adds to the certificates of the run, and both in one file. */
struct own_ca {
	const struct ic_buf *own;
	struct ic_http_ca ca;
};

/* How hosts are trusted: the number of its file + 1, or 0. */
struct way {
	const struct ic_tls *tls;
	size_t file;
};

void ic_http_cas_init(struct ic_http_cas *cas, const char *common, size_t len)
{
	*cas = (struct ic_http_cas){.common = common, .common_len = len};
	ic_vec_init(&cas->ways, sizeof(struct way), IC_MAX_LIST_ITEMS);
	ic_vec_init(&cas->files, sizeof(struct own_ca), IC_MAX_LIST_ITEMS);
}

void ic_http_cas_clear(struct ic_http_cas *cas)
{
	for (size_t i = 0; i < cas->files.count; i++)
		ic_http_ca_clear(&((struct own_ca *)ic_vec_at(&cas->files, i))->ca);
	ic_vec_clear(&cas->files);
	ic_vec_clear(&cas->ways);
}

static const struct way *find(const struct ic_http_cas *cas, const struct ic_tls *tls, size_t *number)
{
	for (size_t i = 0; i < cas->ways.count; i++) {
		const struct way *way = ic_vec_at(&cas->ways, i);

		*number = i + 1;
		if (way->tls == tls)
			return way;
	}
	return NULL;
}

/* Many hosts have one authority: they share a file, and with it what libcurl has read from it. */
static size_t find_file(const struct ic_http_cas *cas, const struct ic_buf *own)
{
	for (size_t i = 0; i < cas->files.count; i++) {
		const struct ic_buf *other = ((const struct own_ca *)ic_vec_at(&cas->files, i))->own;

		if (other->len == own->len && memcmp(other->data, own->data, own->len) == 0)
			return i + 1;
	}
	return 0;
}

static int add_file(struct ic_http_cas *cas, const struct ic_buf *own, struct imgcheck_error **err)
{
	struct own_ca file = {.own = own};
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_OWN_TRUST_BYTES - cas->bytes);
	ic_http_ca_init(&file.ca);
	result = cas->common_len ? ic_buf_add(&text, cas->common, cas->common_len, err) : 0;
	if (result == 0)
		result = ic_buf_add(&text, own->data, own->len, err);
	if (result == 0)
		result = ic_http_ca_set(&file.ca, text.data, text.len, err);
	if (result == 0)
		result = ic_vec_push(&cas->files, &file, err);
	if (result < 0)
		ic_http_ca_clear(&file.ca);
	else
		cas->bytes += text.len;
	return result;
}

static int add(struct ic_http_cas *cas, const struct ic_tls *tls, size_t *number, struct imgcheck_error **err)
{
	struct way way = {.tls = tls};
	int result = 0;

	if (find(cas, tls, number))
		return 0;
	way.file = tls->ca.len ? find_file(cas, &tls->ca) : 0;
	if (tls->ca.len && way.file == 0) {
		result = add_file(cas, &tls->ca, err);
		way.file = cas->files.count;
	}
	if (result == 0)
		result = ic_vec_push(&cas->ways, &way, err);
	*number = cas->ways.count;
	return result;
}

int ic_http_cas_key(struct ic_http_cas *cas, const struct ic_tls *tls, bool skip_verify, char **key,
                    struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	size_t number = 0;
	int result = tls ? add(cas, tls, &number, err) : 0;

	ic_buf_init(&text, SIZE_MAX - 1);
	if (result == 0)
		result = ic_buf_printf(&text, err, "%s %zu%s", *key, number, skip_verify ? "!" : "");
	free(*key);
	*key = result == 0 ? ic_buf_take(&text) : NULL;
	return result;
}

const struct ic_http_ca *ic_http_cas_get(const struct ic_http_cas *cas, const struct ic_tls *tls)
{
	size_t number;
	const struct way *way = tls ? find(cas, tls, &number) : NULL;

	return way && way->file ? &((const struct own_ca *)ic_vec_at(&cas->files, way->file - 1))->ca : NULL;
}
