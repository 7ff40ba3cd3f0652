/* SPDX-License-Identifier: Apache-2.0 */
#include "http_trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
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

struct own_ca {
	const struct ic_tls *tls;
	struct ic_http_ca ca;
};

void ic_http_cas_init(struct ic_http_cas *cas)
{
	ic_vec_init(&cas->list, sizeof(struct own_ca), IC_MAX_LIST_ITEMS);
}

void ic_http_cas_clear(struct ic_http_cas *cas)
{
	for (size_t i = 0; i < cas->list.count; i++)
		ic_http_ca_clear(&((struct own_ca *)ic_vec_at(&cas->list, i))->ca);
	ic_vec_clear(&cas->list);
}

static struct own_ca *find(const struct ic_http_cas *cas, const struct ic_tls *tls, size_t *number)
{
	for (size_t i = 0; i < cas->list.count; i++) {
		struct own_ca *own = ic_vec_at(&cas->list, i);

		*number = i + 1;
		if (own->tls == tls)
			return own;
	}
	return NULL;
}

static int add(struct ic_http_cas *cas, const struct ic_tls *tls, size_t *number, struct imgcheck_error **err)
{
	struct own_ca own = {.tls = tls};
	int result = 0;

	if (find(cas, tls, number))
		return 0;
	ic_http_ca_init(&own.ca);
	if (tls->ca.len)
		result = ic_http_ca_set(&own.ca, tls->ca.data, tls->ca.len, err);
	if (result == 0)
		result = ic_vec_push(&cas->list, &own, err);
	if (result < 0)
		ic_http_ca_clear(&own.ca);
	*number = cas->list.count;
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
	const struct own_ca *own = tls && tls->ca.len ? find(cas, tls, &number) : NULL;

	return own ? &own->ca : NULL;
}
