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

/* Renders one template with its values and compares. */
static void check(const char *template, const char *values_path, const char *expected_path)
{
	size_t len, expected_len;
	char *text = test_read_file(template, &len), *expected = test_read_file(expected_path, &expected_len);
	json_t *values = read_values(values_path);
	struct imgcheck_error *err = NULL;
	struct ic_buf out;

	ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
	cr_assert_eq(ic_template_render(template, text, len, values, &out, NULL, &err), 0, "%s: %s", template,
	             imgcheck_error_message(err));
	cr_assert_eq(out.len, expected_len, "%s: %s", template, expected_path);
	cr_assert_eq(memcmp(ic_buf_text(&out), expected, expected_len), 0, "%s differs from %s", template, expected_path);
	ic_buf_clear(&out);
	json_decref(values);
	free(text);
	free(expected);
}

/* Where the parts of "<case>/expected/raw/<context>/<template>.out" stand. */
struct parts {
	int root;            /* bytes of "<case>" */
	const char *context; /* "<context>/<template>.out" */
	int context_bytes;
	const char *template; /* "<template>.out" */
	int template_bytes;   /* without ".out" or ".2.out" */
};

static struct parts take_apart(const char *out)
{
	const char *raw = strstr(out, "/expected/raw/"), *context = raw + strlen("/expected/raw/"),
			   *template = strchr(context, '/') + 1;
	const char *end = out + strlen(out) - strlen(".out");

	if (end[-2] == '.' && end[-1] >= '2' && end[-1] <= '9')
		end -= 2; /* the same template once more, with other values */
	return (struct parts){(int)(raw - out), context, (int)(template - 1 - context), template, (int)(end - template)};
}

/* The template is in one of two folders; its values are beside the output or those of the context. */
static void check_output(const char *out)
{
	struct parts p = take_apart(out);
	char template[PATH_BYTES], values[PATH_BYTES];

	(void)snprintf(template, sizeof(template), "%.*s/templates/%.*s", p.root, out, p.template_bytes, p.template);
	if (access(template, R_OK) != 0)
		(void)snprintf(template, sizeof(template), "%.*s/manifests/%.*s", p.root, out, p.template_bytes, p.template);
	(void)snprintf(values, sizeof(values), "%.*s.ctx.json", (int)(strlen(out) - strlen(".out")), out);
	if (access(values, R_OK) != 0)
		(void)snprintf(values, sizeof(values), "%.*s/expected/context.%.*s.json", p.root, out, p.context_bytes, p.context);
	check(template, values, out);
}

TEST(template_corpus, addons_and_charms)
{
	glob_t found;

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	cr_assert_eq(glob("../shared/corpus/*/expected/raw/*/*.out", 0, NULL, &found), 0);
	cr_assert_eq(glob("../shared/corpus/*/expected/raw/*/*/*.out", GLOB_APPEND, NULL, &found), 0);
	cr_assert_gt(found.gl_pathc, 500);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check_output(found.gl_pathv[i]);
	globfree(&found);
}

TEST(template_corpus, salt)
{
	const char *root = "../shared/corpus/cdk-addons-salt-heapster-v1.6";
	static const char *const contexts[] = {"nodes3", "nonodes"};

	if (!test_shared("corpus"))
		cr_skip("../shared/corpus is not there");
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		char template[PATH_BYTES], values[PATH_BYTES], out[PATH_BYTES];

		(void)snprintf(template, sizeof(template), "%s/templates/heapster-controller.yaml", root);
		(void)snprintf(values, sizeof(values), "%s/expected/%s.ctx.json", root, contexts[i]);
		(void)snprintf(out, sizeof(out), "%s/expected/%s.out", root, contexts[i]);
		check(template, values, out);
	}
}
