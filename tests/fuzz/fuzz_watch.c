/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a watch: what is taken has gates whose tags can be told apart, and images that can be made. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "watch/config.h"

/* Of the program alone, and not of sanitizers: what is said of each input would be all that is seen. */
static void be_silent(void)
{
	static FILE *null;

	if (!null)
		null = fopen("/dev/null", "w");
	FUZZ_REQUIRE(null);
	stderr = null;
}

static void check_gates(const struct watch_config *c)
{
	for (size_t i = 0; i < c->gate_count; i++) {
		const struct watch_gate *g = &c->gates[i];

		FUZZ_REQUIRE(g->name && *g->name && g->validate.count && g->seconds);
		FUZZ_REQUIRE(strcmp(g->candidate, g->served) && strcmp(g->served, g->backup) && strcmp(g->candidate, g->backup));
		FUZZ_REQUIRE(watch_config_gate(c, g->name) == g);
		for (size_t k = 0; k < i; k++)
			FUZZ_REQUIRE(strcmp(g->served, c->gates[k].served) && strcmp(g->served, c->gates[k].backup));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/imgcheck-fuzz-XXXXXX";
	int fd = mkstemp(path);
	struct watch_config c;

	FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	be_silent();
	if (!watch_config_read(path, &c)) {
		FUZZ_REQUIRE(c.gate_count || c.refs.count || c.paths.count);
		check_gates(&c);
	}
	watch_config_clear(&c);
	unlink(path);
	return 0;
}
