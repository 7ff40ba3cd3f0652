/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of targets, with a configuration behind a NUL: what is accepted gives values or an error. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "imgcheck.h"

static void ask(struct imgcheck_target *t, const char *config, size_t len)
{
	static const char *const names[] = {"registry", "arch", "a"};
	bool configured;

	for (size_t i = 0; imgcheck_target_env_name(t, i); i++)
		FUZZ_REQUIRE(imgcheck_target_set_env(t, imgcheck_target_env_name(t, i), "value", NULL) == 0);
	if (imgcheck_target_set_config(t, config, len, NULL) < 0)
		return;
	(void)!imgcheck_target_configured(t, &configured, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *value = NULL;

		FUZZ_REQUIRE(imgcheck_target_value(t, names[i], &value, NULL) == 0);
		free(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t len = end ? (size_t)(end - data) : size;
	struct imgcheck_target *t = NULL;
	struct imgcheck_error *err = NULL;
	int fd = memfd_create("description", 0);
	char path[64];

	FUZZ_REQUIRE(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (imgcheck_target_open("/nonexistent", path, &t, &err) == 0)
		ask(t, end ? (const char *)end + 1 : "{}", end ? size - len - 1 : 2);
	else
		FUZZ_REQUIRE(err && !t);
	imgcheck_error_free(err);
	imgcheck_target_free(t);
	(void)close(fd);
	return 0;
}
