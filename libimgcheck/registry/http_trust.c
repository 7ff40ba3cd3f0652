/* SPDX-License-Identifier: Apache-2.0 */
#include "http_trust.h"

#include <errno.h>
#include <fcntl.h>
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
