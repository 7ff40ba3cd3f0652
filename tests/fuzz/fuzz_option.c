/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: lines "name=value".  What is set can be used: endpoints are found, or refused for a reason that the
 * contract names.
 */
#include <string.h>

#include "base/text.h"
#include "fuzz.h"
#include "source/config.h"
#include "source/endpoint.h"
#include "source/option.h"

static void set_line(struct imgcheck_config *c, const char *line)
{
	for (unsigned o = 0; o < IC_OPTION_COUNT; o++) {
		const char *name = ic_option_get((enum imgcheck_option)o)->name;
		size_t len = strlen(name);
		struct imgcheck_error *err IC_AUTO(error) = NULL;
		int result;

		if (strncmp(line, name, len) != 0 || line[len] != '=')
			continue;
		result = imgcheck_config_set(c, (enum imgcheck_option)o, line + len + 1, &err);
		FUZZ_REQUIRE(result == 0 || (result == IMGCHECK_ERR_CONFIG && strstr(imgcheck_error_message(err), name)));
	}
}

static void find(const struct imgcheck_config *c, const char *text)
{
	struct ic_ref ref IC_AUTO(ref) = {0};
	struct ic_endpoints found IC_AUTO(endpoints) = {0};
	int result;

	FUZZ_REQUIRE(ic_ref_parse(text, strlen(text), &ref, NULL) == 0);
	result = ic_endpoints_find(c, &ref, &found, NULL);
	FUZZ_REQUIRE(result == IMGCHECK_ERR_CONFIG || result == IMGCHECK_ERR_SYNTAX || (result == 0 && found.list.count == 1));
	(void)ic_config_ignores(c, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const references[] = {"busybox", "quay.io/org/x:1", "r.internal:5000/cdk/y", "10.1.2.3/z",
	                                         "[fd00::1]:5000/z"};
	char *text IC_AUTO(free) = ic_text_copy((const char *)data, size);
	struct imgcheck_config *c;

	FUZZ_REQUIRE(text && imgcheck_config_new(&c) == 0);
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		set_line(c, line);
	}
	for (size_t i = 0; i < IC_COUNT(references); i++)
		find(c, references[i]);
	FUZZ_REQUIRE(ic_config_deadline_seconds(c) >= 1 && ic_config_deadline_seconds(c) <= 3600);
	imgcheck_config_free(c);
	return 0;
}
