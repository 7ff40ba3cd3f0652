/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgcheck.h"

/* cdk-addons, as its apply step would choose and render its templates under real configurations. */

#define PATH_BYTES 1024
#define CONTEXTS   8

/* The configuration as it is, or with each "true" as the Boolean that snapd makes of `snap set x=true`. */
static char *read_config(const char *path, bool booleans)
{
	char *text = test_read_file(path, NULL), *changed;
	json_t *config = json_loads(text, 0, NULL);
	const char *key;
	json_t *value;

	cr_assert(config, "%s", path);
	json_object_foreach(config, key, value)
	{
		if (booleans && json_is_string(value) && strcmp(json_string_value(value), "true") == 0)
			cr_assert_eq(json_object_set_new(config, key, json_true()), 0);
	}
	changed = json_dumps(config, 0);
	json_decref(config);
	free(text);
	return changed;
}

/* The references of the set, one a line, as the expected list has them. */
static char *list(const struct imgcheck_images *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; i < imgcheck_images_count(s); i++)
		fprintf(f, "%s\n", imgcheck_image_ref(imgcheck_images_get(s, i)));
	(void)fclose(f);
	return text;
}

static void check(const char *dir, const char *config_path, const char *expected_path, bool booleans)
{
	char *config = read_config(config_path, booleans), *expected = test_read_file(expected_path, NULL), *found;
	struct imgcheck_error *err = NULL;
	struct imgcheck_target *t = NULL;
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_target_open(dir, test_data("target/cdk-addons/imgcheck.yaml"), &t, &err), 0, "%s",
	             imgcheck_error_message(err));
	cr_assert_eq(imgcheck_target_set_config(t, config, strlen(config), &err), 0, "%s", imgcheck_error_message(err));
	cr_assert_eq(imgcheck_images_add_target(s, t, &err), 0, "%s", imgcheck_error_message(err));
	cr_assert_null(imgcheck_images_problem(s, 0), "%s: %s", config_path,
	               imgcheck_error_message(imgcheck_images_problem(s, 0)));
	found = list(s);
	cr_assert_str_eq(found, expected, "%s, Booleans %d", config_path, booleans);
	free(found);
	imgcheck_images_free(s);
	imgcheck_target_free(t);
	free(expected);
	free(config);
}

static void check_release(const char *dir)
{
	char pattern[2 * PATH_BYTES];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/expected/snapconfig.*.json", dir);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
	cr_assert_eq(found.gl_pathc, CONTEXTS);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *context = strstr(found.gl_pathv[i], "snapconfig.") + strlen("snapconfig.");
		char expected[2 * PATH_BYTES];

		(void)snprintf(expected, sizeof(expected), "%s/expected/images.%.*s.txt", dir,
		               (int)(strlen(context) - strlen(".json")), context);
		check(dir, found.gl_pathv[i], expected, false);
		check(dir, found.gl_pathv[i], expected, true);
	}
	globfree(&found);
}

TEST(target_corpus, cdk_addons_images_by_configuration)
{
	static const char *const releases[] = {"corpus/cdk-addons-v1.28.2", "corpus/cdk-addons-v1.28.3"};

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		char dir[PATH_BYTES / 2];

		if (!test_shared(releases[i]))
			cr_skip("../shared/corpus is not there");
		(void)snprintf(dir, sizeof(dir), "%s", test_shared(releases[i]));
		check_release(dir);
	}
}
