/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template.h"

/* Templates of real addons, against the bytes that Jinja2 rendered (../shared/corpus). */

#define PATH_BYTES 1024

static json_t *read_values(const char *path)
{
	size_t len;
	char *text = test_read_file(path, &len);
	json_t *values = NULL;
	struct imgcheck_error *err = NULL;

	cr_assert_eq(ic_json_parse(path, text, len, &values, &err), 0, "%s: %s", path, imgcheck_error_message(err));
	free(text);
	return values;
}

/* Renders one template with its values and compares; "" as values: none. */
static void check(const char *template, const char *values_path, const char *expected_path)
{
	size_t len, expected_len;
	char *text = test_read_file(template, &len), *expected = test_read_file(expected_path, &expected_len);
	json_t *values = *values_path ? read_values(values_path) : NULL;
	struct imgcheck_error *err = NULL;
	struct ic_buf out;

	ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
	cr_assert_eq(ic_template_render(template, text, len, values, &out, NULL, &err), 0, "%s: %s", template,
	             imgcheck_error_message(err));
	cr_assert(out.len == expected_len && memcmp(ic_buf_text(&out), expected, expected_len) == 0, "%s differs from %s", template,
	          expected_path);
	ic_buf_clear(&out);
	json_decref(values);
	free(text);
	free(expected);
}

/* The template of "<case>/expected/raw/<context>/<name>.out": "<case>/<folder>/<name>". */
static bool find_template(const char *expected, char path[PATH_BYTES])
{
	static const char *const folders[] = {"templates", "manifests"};
	const char *raw = strstr(expected, "/expected/raw/"), *name = raw ? strchr(raw + strlen("/expected/raw/"), '/') : NULL;
	size_t root = raw ? (size_t)(raw - expected) : 0;

	for (size_t i = 0; name && i < sizeof(folders) / sizeof(folders[0]); i++) {
		(void)snprintf(path, PATH_BYTES, "%.*s/%s%.*s", (int)root, expected, folders[i], (int)(strlen(name) - strlen(".out")), name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

TEST(template_corpus, jinja_bytes)
{
	const char *pattern = "../shared/corpus/*/expected/raw/*/*.out";
	glob_t found, deeper;
	size_t done = 0;

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
	if (glob("../shared/corpus/*/expected/raw/*/*/*.out", 0, NULL, &deeper) == 0)
		globfree(&deeper);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char template[PATH_BYTES], values[PATH_BYTES];
		const char *out = found.gl_pathv[i];

		if (!find_template(out, template))
			continue;
		(void)snprintf(values, sizeof(values), "%.*s.ctx.json", (int)(strlen(out) - strlen(".out")), out);
		if (access(values, R_OK) != 0)
			continue;
		check(template, values, out);
		done++;
	}
	globfree(&found);
	fprintf(stderr, "%zu templates\n", done);
	cr_assert_gt(done, 0);
}
