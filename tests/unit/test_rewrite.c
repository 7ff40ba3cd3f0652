/* SPDX-License-Identifier: Apache-2.0 */
#include "source/rewrite.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "test.h"

#define DIGEST "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const struct {
	const char *registry; /* NULL: none */
	const char *rewrite;
	const char *map[3];
	const char *asked;
	const char *result; /* NULL where the new name is no reference */
} rows[] = {
	/* without the switch everything stays */
	{"r.internal:5000", "false", {0}, "busybox", "docker.io/library/busybox:latest"},
	{NULL, "false", {0}, "quay.io/a/b:1", "quay.io/a/b:1"},
	/* the rule: the host goes, and library/ for Docker Hub */
	{"r.internal:5000/cdk", "true", {0}, "busybox", "r.internal:5000/cdk/busybox:latest"},
	{"r.internal:5000/cdk", "true", {0}, "index.docker.io/library/busybox:1", "r.internal:5000/cdk/busybox:1"},
	{"r.internal:5000/cdk", "true", {0}, "calico/node:v3", "r.internal:5000/cdk/calico/node:v3"},
	{"r.internal:5000/cdk", "true", {0}, "nvcr.io/nvidia/k8s-device-plugin:v0.14.2",
	 "r.internal:5000/cdk/nvidia/k8s-device-plugin:v0.14.2"},
	{"r.internal:5000", "true", {0}, "quay.io/library/x:1", "r.internal:5000/library/x:1"},
	{"r.internal", "true", {0}, "quay.io/a/b" DIGEST, "r.internal/a/b" DIGEST},
	{"docker.io", "true", {0}, "quay.io/b:1", "docker.io/library/b:1"},
	/* what is there already stays */
	{"r.internal:5000/cdk", "true", {0}, "r.internal:5000/cdk/a:1", "r.internal:5000/cdk/a:1"},
	{"R.internal:5000/cdk", "true", {0}, "r.internal:5000/cdk/a:1", "r.internal:5000/cdk/a:1"},
	{"r.internal:5000", "true", {0}, "r.internal:5000/a:1", "r.internal:5000/a:1"},
	{"r.internal:5000/cdk", "true", {0}, "r.internal:5000/cdkx/a:1", "r.internal:5000/cdk/cdkx/a:1"},
	{"r.internal:5000/cdk", "true", {0}, "r.internal/cdk/a:1", "r.internal:5000/cdk/cdk/a:1"},
	/* the map: first match, whole components, before the rule and without the switch */
	{NULL, "false", {"quay.io=r.internal/quay"}, "quay.io/a/b:1", "r.internal/quay/a/b:1"},
	{"r.internal", "true", {"quay.io/a=m.internal/x", "quay.io=m.internal/y"}, "quay.io/a/b:1", "m.internal/x/b:1"},
	{"r.internal", "true", {"quay.io=m.internal/y", "quay.io/a=m.internal/x"}, "quay.io/a/b:1", "m.internal/y/a/b:1"},
	{"r.internal", "true", {"quay.io/a=m.internal"}, "quay.io/ab/c:1", "r.internal/ab/c:1"},
	{NULL, "false", {"docker.io/library=m.internal/hub"}, "busybox:1", "m.internal/hub/busybox:1"},
	{NULL, "false", {"index.docker.io=m.internal"}, "calico/node:1", "m.internal/calico/node:1"},
	{NULL, "false", {"quay.io/a/b=m.internal/c"}, "quay.io/a/b" DIGEST, "m.internal/c" DIGEST},
	{NULL, "false", {"quay.io/a/b=m.internal:5000"}, "quay.io/a/b:1", NULL},
};

static struct imgcheck_config *config_of(size_t row)
{
	struct imgcheck_config *c;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	if (rows[row].registry)
		cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REGISTRY, rows[row].registry, NULL), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REWRITE, rows[row].rewrite, NULL), 0);
	for (size_t i = 0; rows[row].map[i]; i++)
		cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REWRITE_MAP, rows[row].map[i], NULL), 0);
	return c;
}

static void check_text(const struct ic_ref *ref, const char *expected)
{
	struct ic_buf text;

	ic_buf_init(&text, 2 * IC_MAX_REF_BYTES);
	cr_assert_eq(ic_buf_printf(&text, NULL, "%s/%s%s%s%s%s", ref->registry, ref->repository, ref->tag ? ":" : "",
	                           ref->tag ? ref->tag : "", ref->digest ? "@" : "", ref->digest ? ref->digest : ""),
	             0);
	cr_assert_str_eq(ic_buf_text(&text), expected);
	ic_buf_clear(&text);
}

TEST(rewrite, follows_map_and_rule)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_config *c = config_of(i);
		struct imgcheck_error *err = NULL;
		struct ic_ref ref, out;

		cr_assert_eq(ic_ref_parse(rows[i].asked, strlen(rows[i].asked), &ref, NULL), 0);
		cr_assert_eq(ic_rewrite(c, &ref, &out, &err), rows[i].result ? 0 : IMGCHECK_ERR_SYNTAX, "%s: %s", rows[i].asked,
		             imgcheck_error_message(err));
		if (rows[i].result)
			check_text(&out, rows[i].result);
		else
			cr_assert(strstr(imgcheck_error_message(err), "names no repository"), "%s", imgcheck_error_message(err));
		imgcheck_error_free(err);
		ic_ref_clear(&out);
		ic_ref_clear(&ref);
		imgcheck_config_free(c);
	}
}

TEST(rewrite, keeps_what_was_written)
{
	static const char text[] = "quay.io/a/b:tag" DIGEST;
	struct imgcheck_config *c;
	struct ic_ref ref, out;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_eq(ic_ref_parse(text, strlen(text), &ref, NULL), 0);
	cr_assert_eq(ic_rewrite(c, &ref, &out, NULL), 0);
	cr_assert(out.has_domain && out.tag_ignored && !out.tag && out.registry != ref.registry);
	ic_ref_clear(&out);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REWRITE_MAP, "quay.io=r.internal", NULL), 0);
	cr_assert_eq(ic_rewrite(c, &ref, &out, NULL), 0);
	cr_assert(out.tag_ignored && !out.tag);
	ic_ref_clear(&out);
	ic_ref_clear(&ref);
	imgcheck_config_free(c);
}

TEST(rewrite, needs_a_registry)
{
	struct imgcheck_error *err = NULL;
	struct imgcheck_config *c;
	struct ic_ref ref, out;

	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REWRITE, "true", NULL), 0);
	cr_assert_eq(ic_ref_parse("busybox", 7, &ref, NULL), 0);
	cr_assert_eq(ic_rewrite(c, &ref, &out, &err), IMGCHECK_ERR_CONFIG);
	cr_assert(strstr(imgcheck_error_message(err), "no registry"));
	cr_assert_null(out.registry);
	imgcheck_error_free(err);
	ic_ref_clear(&ref);
	imgcheck_config_free(c);
}

/* A name that only the rewriting makes too long is the image's fault, not the run's. */
TEST(rewrite, refuses_names_that_grow_too_long)
{
	struct imgcheck_error *err = NULL;
	struct imgcheck_config *c;
	struct ic_ref ref, out;
	char text[260] = "quay.io/";

	memset(text + strlen(text), 'a', 240);
	cr_assert_eq(imgcheck_config_new(&c), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REGISTRY, "r.internal/some-longer-prefix", NULL), 0);
	cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_REWRITE, "true", NULL), 0);
	cr_assert_eq(ic_ref_parse(text, strlen(text), &ref, NULL), 0);
	cr_assert_eq(ic_rewrite(c, &ref, &out, &err), IMGCHECK_ERR_SYNTAX);
	cr_assert(strstr(imgcheck_error_message(err), "cannot rewrite quay.io/aaa"), "%s", imgcheck_error_message(err));
	imgcheck_error_free(err);
	ic_ref_clear(&ref);
	imgcheck_config_free(c);
}
