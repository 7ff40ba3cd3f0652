/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests on their way into a set, as YAML, JSON, list or template: all that is found in a file is a
 * reference with a class and a place, and every problem names the file.
 */
#include <string.h>

#include "base/ref.h"
#include "fuzz.h"
#include "imgcheck.h"

static void check_set(const struct imgcheck_images *s)
{
	for (size_t i = 0; i < imgcheck_images_count(s); i++) {
		const struct imgcheck_image *m = imgcheck_images_get(s, i);
		const char *ref = imgcheck_image_ref(m);

		FUZZ_REQUIRE(ic_ref_is_valid(ref, strlen(ref)));
		FUZZ_REQUIRE(i == 0 || strcmp(imgcheck_image_ref(imgcheck_images_get(s, i - 1)), ref) < 0);
		FUZZ_REQUIRE(imgcheck_image_origin(m, 0, IMGCHECK_FIELD_CLASS) && imgcheck_image_origin(m, 0, IMGCHECK_FIELD_LINE));
	}
	for (size_t i = 0; imgcheck_images_problem(s, i); i++)
		FUZZ_REQUIRE(imgcheck_error_place(imgcheck_images_problem(s, i), NULL, NULL) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char values[] = "{\"registry\": \"r.example:5000\", \"arch\": \"arm64\", \"pillar\": {\"dns_domain\": \"x\"}}";

	for (int way = 0; way < 3; way++) {
		struct imgcheck_images *s = NULL;
		struct imgcheck_error *err = NULL;

		FUZZ_REQUIRE(imgcheck_images_new(&s) == 0);
		if (way == 1)
			FUZZ_REQUIRE(imgcheck_images_set_values(s, values, strlen(values), NULL) == 0);
		if (imgcheck_images_add_data(s, way == 2 ? "list" : "file.yaml", data, size, &err) == 0)
			check_set(s);
		imgcheck_error_free(err);
		imgcheck_images_free(s);
	}
	return 0;
}
