/* SPDX-License-Identifier: Apache-2.0 */
/* An operator's settings as snapd hands them over: whatever they hold, what is wrong is told and the strict default stays. */
#include <string.h>

#include "fuzz.h"
#include "snap/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *configuration = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct imgcheck_config *config;
	struct lines notices = {0}, items = {0};
	struct settings s;

	if (!configuration)
		return 0;
	FUZZ_REQUIRE(imgcheck_config_new(&config) == 0);
	settings_read(&s, configuration, &notices);
	FUZZ_REQUIRE(s.mode == SETTINGS_ENFORCE || s.mode == SETTINGS_WARN || s.mode == SETTINGS_OFF);
	FUZZ_REQUIRE(s.deadline >= 1 && s.deadline <= SETTINGS_MOST_DEADLINE);
	settings_apply(&s, NULL, config, &notices);
	settings_list(&s, "platforms", &items);
	settings_clear(&s);
	imgcheck_config_free(config);
	lines_clear(&items);
	lines_clear(&notices);
	json_decref(configuration);
	return 0;
}
