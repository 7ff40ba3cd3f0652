/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imgcheck.h"
#include "manifest/images.h"
#include "tree.h"

#define PATH_BYTES 512

static char top[] = "/tmp/imgcheck-target-XXXXXX";

static const char *in_top(const char *name)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_top(name), "w");

	cr_assert(f, "%s", in_top(name));
	cr_assert(fputs(text, f) >= 0);
	(void)fclose(f);
}

/* A snap with three manifests, a folder within a folder, and whatever description a test writes. */
static void make_snap(void)
{
	static const char pod[] = "kind: Pod\nspec:\n  containers:\n  - {image: '{{ registry|default(\"docker.io\") }}/%s:1'}\n";
	static const char *const files[][2] = {
		{"templates/a.yaml", "lib/a"}, {"templates/b.yaml", "lib/b"}, {"templates/deep/c.yaml", "lib/c"}};

	test_folder(top);
	cr_assert_eq(mkdir(in_top("meta"), 0700), 0);
	cr_assert_eq(mkdir(in_top("templates"), 0700), 0);
	cr_assert_eq(mkdir(in_top("templates/deep"), 0700), 0);
	cr_assert_eq(mkdir(in_top("empty"), 0700), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char text[PATH_BYTES], *at;

		(void)snprintf(text, sizeof(text), "%s", pod);
		at = strstr(text, "%s");
		cr_assert(at);
		(void)snprintf(at, sizeof(text) - (size_t)(at - text), "%s%s", files[i][1], strstr(pod, "%s") + 2);
		write_file(files[i][0], text);
	}
}

static void remove_snap(void)
{
	tree_remove(top);
}

TestSuite(target, .init = make_snap, .fini = remove_snap);

/* Opens the snap with this description and configuration; the test fails where that cannot be done. */
static struct imgcheck_target *open_target(const char *description, const char *config)
{
	struct imgcheck_target *t = NULL;
	struct imgcheck_error *err = NULL;

	write_file("meta/imgcheck.yaml", description);
	cr_assert_eq(imgcheck_target_open(top, NULL, &t, &err), 0, "%s", imgcheck_error_message(err));
	if (config)
		cr_assert_eq(imgcheck_target_set_config(t, config, strlen(config), &err), 0, "%s", imgcheck_error_message(err));
	return t;
}

/* The references separated by blanks, and then the first problem in brackets. */
static void images_of(const struct imgcheck_target *t, char *out, size_t size)
{
	struct imgcheck_images *s = NULL;
	const struct imgcheck_error *problem;
	size_t len = 0;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_target(s, t, NULL), 0);
	out[0] = '\0';
	for (size_t i = 0; i < imgcheck_images_count(s) && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", i ? " " : "", imgcheck_image_ref(imgcheck_images_get(s, i)));
	problem = imgcheck_images_problem(s, 0);
	if (problem && len < size) {
		unsigned line;
		const char *place = imgcheck_error_place(problem, &line, NULL);

		cr_assert(place);
		(void)snprintf(out + len, size - len, "[%s:%u %s]", strrchr(place, '/') + 1, line, imgcheck_error_message(problem));
	}
	imgcheck_images_free(s);
}

TEST(target, refuses_descriptions)
{
	static const struct {
		const char *text, *message;
		unsigned line;
		enum imgcheck_err code;
	} rows[] = {
		{"", "no mapping", 1, IMGCHECK_ERR_CONFIG},
		{"[]", "no mapping", 1, IMGCHECK_ERR_CONFIG},
		{"paths: [templates]\n", "without 'version: 1'", 1, IMGCHECK_ERR_CONFIG},
		{"version: 2\npaths: [templates]\n", "version '2'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"version: '1'\npaths: [templates]\n", "version '1'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1.0\npaths: [templates]\n", "version '1.0'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"version: [1]\npaths: [templates]\n", "version '?'", 1, IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1\n", "without 'paths'", 1, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: []\n", "without 'paths'", 2, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: templates\n", "no list", 2, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhens: []\n", "'whens'", 3, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\npaths: [a]\n", "paths", 3, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [/etc]\n", "'/etc'", 2, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths:\n- templates\n- a/../../b\n", "'a/../../b'", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [..]\n", "'..'", 2, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [{a: b}]\n", "no text", 2, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: ['']\n", "no text", 2, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen: {files: a, if: b}\n", "no list of rules", 3, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a.yaml}\n", "both 'files' and 'if'", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {if: 'true'}\n", "both 'files' and 'if'", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- a.yaml\n", "both 'files' and 'if'", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: 'true', unless: x}\n", "'unless'", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: {a: b}, if: 'true'}\n", "no pattern", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: [x]}\n", "no expression", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: ''}\n", "no expression", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: 'config['}\n", "ends where", 4, IMGCHECK_ERR_SYNTAX},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: \"confg['a'] == 'true'\"}\n", "'confg'", 4,
	     IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: enable-gpu}\n", "'gpu'", 4, IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a, if: \"config[x]\"}\n", "'x'", 4, IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1\npaths: [templates]\nconfigured: config\n", "only config['KEY']", 3, IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1\npaths: [templates]\nconfigured: config['a']|bool\n", "filter 'bool'", 3, IMGCHECK_ERR_UNSUPPORTED},
		{"version: 1\npaths: [templates]\nvalues: [a]\n", "no mapping", 3, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: {config: b, fallback: c}\n", "'fallback'", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: {config: b, env: c}\n", "exactly one", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: {default: c}\n", "exactly one", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: {config: [b]}\n", "configuration key", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: {env: ''}\n", "variable", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: {config: b, default: {confg: c, env: d}}\n", "'confg'", 4,
	     IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: [{config: b}]\n", "within a list", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: yes\n", "put it in quotes", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nvalues:\n  a: !!binary aGk=\n", "tag", 4, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nignore: a\n", "no list", 3, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates]\nignore: [3, [4]]\n", "no text", 3, IMGCHECK_ERR_CONFIG},
		{"version: 1\npaths: [templates\n", "", 0, IMGCHECK_ERR_SYNTAX},
		{"version: 1\npaths: [templates]\n---\nversion: 1\n", "", 0, IMGCHECK_ERR_SYNTAX},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct imgcheck_target *t = NULL;
		struct imgcheck_error *err = NULL;
		unsigned line;

		write_file("meta/imgcheck.yaml", rows[i].text);
		cr_assert_eq(imgcheck_target_open(top, NULL, &t, &err), (int)rows[i].code, "%s: %s", rows[i].text,
		             imgcheck_error_message(err));
		cr_assert_null(t);
		cr_assert(strstr(imgcheck_error_message(err), rows[i].message), "%s: %s", rows[i].text, imgcheck_error_message(err));
		cr_assert_str_eq(imgcheck_error_place(err, &line, NULL), "meta/imgcheck.yaml");
		cr_assert(rows[i].line == 0 || rows[i].line == line, "%s: line %u", rows[i].text, line);
		imgcheck_error_free(err);
	}
}

TEST(target, needs_a_description)
{
	struct imgcheck_target *t = NULL;
	struct imgcheck_error *err = NULL;

	cr_assert_eq(imgcheck_target_open(top, NULL, &t, &err), IMGCHECK_ERR_IO);
	cr_assert_str_eq(imgcheck_error_place(err, NULL, NULL), in_top("meta/imgcheck.yaml"));
	imgcheck_error_free(err);
}

TEST(target, takes_no_description_from_outside)
{
	struct imgcheck_target *t = NULL;
	struct imgcheck_error *err = NULL;
	char outside[PATH_BYTES];

	write_file("meta/other.yaml", "version: 1\npaths: [templates]\n");
	cr_assert_eq(symlink("other.yaml", in_top("meta/imgcheck.yaml")), 0);
	cr_assert_eq(imgcheck_target_open(top, NULL, &t, NULL), 0);
	imgcheck_target_free(t);

	(void)snprintf(outside, sizeof(outside), "%s", in_top("meta/other.yaml"));
	cr_assert_eq(mkdir(in_top("snap"), 0700) | mkdir(in_top("snap/meta"), 0700), 0);
	cr_assert_eq(symlink(outside, in_top("snap/meta/imgcheck.yaml")), 0);
	cr_assert_eq(imgcheck_target_open(in_top("snap"), NULL, &t, &err), IMGCHECK_ERR_CONFIG);
	cr_assert(strstr(imgcheck_error_message(err), "leads out of the snap"), "%s", imgcheck_error_message(err));
	imgcheck_error_free(err);
	/* The caller's own choice is free. */
	cr_assert_eq(imgcheck_target_open(in_top("snap"), outside, &t, NULL), 0);
	imgcheck_target_free(t);
}

TEST(target, chooses_files_and_reports_what_matches_nothing)
{
	static const struct {
		const char *text, *config, *images; /* references, then what the first problem begins with */
	} rows[] = {
		{"version: 1\npaths: [templates]\n", "{}", "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1"},
		{"version: 1\npaths: [templates/deep, templates/a.yaml, templates/a.yaml]\n", "{}",
	     "docker.io/lib/a:1 docker.io/lib/c:1"},
		{"version: 1\npaths: [templates]\nvalues: {registry: {config: registry}}\n", "{\"registry\": \"r.example:5000/x\"}",
	     "r.example:5000/x/lib/a:1 r.example:5000/x/lib/b:1 r.example:5000/x/lib/c:1"},
		/* a rule that does not hold, by name and by path */
		{"version: 1\npaths: [templates]\nwhen: [{files: 'b.*', if: \"config['b'] == 'true'\"}]\n", "{\"b\": \"no\"}",
	     "docker.io/lib/a:1 docker.io/lib/c:1"},
		{"version: 1\npaths: [templates]\nwhen: [{files: 'b.*', if: \"config['b'] == 'true'\"}]\n", "{\"b\": true}",
	     "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1"},
		{"version: 1\npaths: [templates]\nwhen: [{files: 'templates/deep/*', if: 'false'}]\n", "{}",
	     "docker.io/lib/a:1 docker.io/lib/b:1"},
		{"version: 1\npaths: [templates]\nwhen: [{files: [a.yaml, 'c*'], if: 'false'}]\n", "{}", "docker.io/lib/b:1"},
		/* two rules for a file: both have to hold */
		{"version: 1\npaths: [templates]\nwhen: [{files: '*.yaml', if: 'true'}, {files: 'a.yaml', if: 'false'}]\n", "{}",
	     "docker.io/lib/b:1 docker.io/lib/c:1"},
		/* what matches nothing, also in a rule that does not hold */
		{"version: 1\npaths: [templates, nothing]\n", "{}",
	     "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1[imgcheck.yaml:2 cannot find the path 'nothing'"},
		{"version: 1\npaths: [templates, empty]\n", "{}",
	     "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1[imgcheck.yaml:2 cannot find a manifest in 'empty'"},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: 'deep/*', if: 'false'}\n", "{}",
	     "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1[imgcheck.yaml:4 cannot find a file that 'deep/*' matches"},
		{"version: 1\npaths: [templates]\nwhen:\n- {files: [a.yaml,\n  x.yaml], if: 'true'}\n", "{}",
	     "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1[imgcheck.yaml:5 cannot find a file that 'x.yaml' matches"},
		/* a condition that fails under this configuration */
		{"version: 1\npaths: [templates]\nwhen:\n- {files: a.yaml, if: \"config['n'] < 3\"}\n", "{\"n\": 2}",
	     "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1[imgcheck.yaml:4 cannot evaluate 'config['n'] < 3'"},
		{"version: 1\npaths: [templates]\nconfigured: config['a'].b\n", "{}",
	     "[imgcheck.yaml:3 cannot evaluate 'config['a'].b'"},
		/* no image */
		{"version: 1\npaths: [templates]\nwhen: [{files: '*', if: 'false'}]\n", "{}",
	     "[imgcheck.yaml:1 cannot find any image"},
		{"version: 1\nconfigured: config['on']\npaths: [templates]\n", "{\"on\": \"\"}", ""},
		{"version: 1\nconfigured: config['on']\npaths: [templates/a.yaml]\n", "{\"on\": \"x\"}", "docker.io/lib/a:1"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct imgcheck_target *t = open_target(rows[i].text, rows[i].config);
		char found[2048];

		images_of(t, found, sizeof(found));
		if (strchr(rows[i].images, '['))
			cr_assert_eq(strncmp(found, rows[i].images, strlen(rows[i].images)), 0, "%s: %s", rows[i].text, found);
		else
			cr_assert_str_eq(found, rows[i].images, "%s", rows[i].text);
		imgcheck_target_free(t);
	}
}

TEST(target, false_rule_keeps_a_file_unread)
{
	struct imgcheck_target *t = open_target(
		"version: 1\npaths: [templates]\nwhen: [{files: broken.yaml, if: \"config['x']\"}]\n", "{}");
	char found[2048];

	write_file("templates/broken.yaml", "image: {{ what(\n");
	images_of(t, found, sizeof(found));
	cr_assert_str_eq(found, "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1");
	cr_assert_eq(imgcheck_target_set_config(t, "{\"x\": 1}", strlen("{\"x\": 1}"), NULL), 0);
	images_of(t, found, sizeof(found));
	cr_assert(strstr(found, "docker.io/lib/c:1["), "%s", found);
	imgcheck_target_free(t);
}

TEST(target, origins_name_files_from_the_top_of_the_snap)
{
	struct imgcheck_target *t = open_target("version: 1\npaths: [templates/deep]\n", "{}");
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_target(s, t, NULL), 0);
	cr_assert_str_eq(imgcheck_image_origin(imgcheck_images_get(s, 0), 0, IMGCHECK_FIELD_FILE), "templates/deep/c.yaml");
	cr_assert_str_eq(imgcheck_image_origin(imgcheck_images_get(s, 0), 0, IMGCHECK_FIELD_LINE), "4");
	imgcheck_images_free(s);
	imgcheck_target_free(t);
}

TEST(target, links_stay_inside)
{
	struct imgcheck_target *t = open_target("version: 1\npaths: [templates]\n", "{}");
	char found[2048];

	cr_assert_eq(symlink("deep/c.yaml", in_top("templates/out.yaml")), 0);
	images_of(t, found, sizeof(found));
	cr_assert_str_eq(found, "docker.io/lib/a:1 docker.io/lib/b:1 docker.io/lib/c:1");
	cr_assert_eq(unlink(in_top("templates/out.yaml")), 0);
	cr_assert_eq(symlink("/etc/hostname", in_top("templates/out.yaml")), 0);
	images_of(t, found, sizeof(found));
	cr_assert(strstr(found, "[imgcheck.yaml:2 cannot use 'templates/out.yaml': it is a link that leads out of the snap]"),
	          "%s", found);
	imgcheck_target_free(t);

	t = open_target("version: 1\npaths: [templates/out.yaml]\n", "{}");
	images_of(t, found, sizeof(found));
	cr_assert(strstr(found, "it is a link that leads out"), "%s", found);
	imgcheck_target_free(t);
}

TEST(target, values_come_from_where_the_description_says)
{
	static const char description[] = "version: 1\n"
									  "paths: [templates]\n"
									  "configured: config['a.b'] and config.get('late')\n"
									  "when: [{files: a.yaml, if: \"config.gpu == 'true' or config['a.b']\"}]\n"
									  "values:\n"
									  "  registry: {config: registry, default: {env: REGISTRY, default: {config: other}}}\n"
									  "  default: false\n"
									  "  count: 3\n"
									  "  ratio: 1.5\n"
									  "  nothing: null\n"
									  "  text: '3'\n"
									  "  dotted: {config: a.b}\n"
									  "  pillar: {n: 3, domain: {config: domain}, list: [1, two]}\n"
									  "  whole: {config: map}\n";
	static const struct {
		const char *config, *env, *name, *value;
	} rows[] = {
		{"{}", NULL, "registry", NULL},
		{"{\"registry\": \"r\"}", "e", "registry", "r"},
		{"{\"registry\": \"\"}", "e", "registry", "e"},
		{"{\"registry\": null, \"other\": \"o\"}", "", "registry", "o"},
		{"{\"registry\": 1.10}", NULL, "registry", "1.10"},
		{"{\"registry\": 12345678901234567}", NULL, "registry", "12345678901234567"},
		{"{\"registry\": -2e3}", NULL, "registry", "-2e3"},
		{"{\"registry\": true}", NULL, "registry", "true"},
		{"{\"registry\": false}", NULL, "registry", "false"},
		{"{}", NULL, "default", "false"},
		{"{}", NULL, "count", "3"},
		{"{}", NULL, "ratio", "1.5"},
		{"{}", NULL, "nothing", NULL},
		{"{}", NULL, "text", "3"},
		{"{}", NULL, "unknown", NULL},
		{"{\"a.b\": \"x\"}", NULL, "dotted", "x"},
		{"{\"a\": {\"b\": \"y\"}}", NULL, "dotted", "y"},
		{"{\"a\": {\"b\": 7}}", NULL, "dotted", "7"},
		{"{\"a\": \"b\"}", NULL, "dotted", NULL},
		{"{\"domain\": \"d\"}", NULL, "pillar", "{\"domain\": \"d\", \"list\": [1, \"two\"], \"n\": 3}"},
		{"{}", NULL, "pillar", "{\"list\": [1, \"two\"], \"n\": 3}"},
		{"{\"map\": {\"k\": [1, \"a-1\"]}}", NULL, "whole", "{\"k\": [1, \"a-1\"]}"},
	};
	static const char *const keys[] = {"a.b", "late", "gpu", "registry", "other", "domain", "map", NULL};
	struct imgcheck_target *t = open_target(description, NULL);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *key = imgcheck_target_config_key(t, i);

		cr_assert(keys[i] ? key && strcmp(key, keys[i]) == 0 : !key, "%zu: %s", i, key ? key : "no key");
	}
	cr_assert_str_eq(imgcheck_target_env_name(t, 0), "REGISTRY");
	cr_assert_null(imgcheck_target_env_name(t, 1));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *value = NULL;

		cr_assert_eq(imgcheck_target_set_config(t, rows[i].config, strlen(rows[i].config), NULL), 0);
		cr_assert_eq(imgcheck_target_set_env(t, "REGISTRY", rows[i].env, NULL), 0);
		cr_assert_eq(imgcheck_target_value(t, rows[i].name, &value, NULL), 0);
		cr_assert(rows[i].value ? value && strcmp(value, rows[i].value) == 0 : !value, "%s of %s: %s", rows[i].name,
		          rows[i].config, value ? value : "undefined");
		free(value);
	}
	imgcheck_target_free(t);
}

TEST(target, refuses_configurations)
{
	static const char *const rows[] = {"", "[]", "3", "{\"a\": }", "{} {}", "{\"a\": 1"};
	struct imgcheck_target *t = open_target("version: 1\npaths: [templates]\nconfigured: config['a']\n", "{\"a\": 1}");
	bool configured = false;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct imgcheck_error *err = NULL;

		cr_assert_eq(imgcheck_target_set_config(t, rows[i], strlen(rows[i]), &err), IMGCHECK_ERR_SYNTAX, "%s", rows[i]);
		cr_assert_not_null(err);
		imgcheck_error_free(err);
	}
	cr_assert_eq(imgcheck_target_configured(t, &configured, NULL), 0);
	cr_assert(configured, "a refused configuration leaves the one before");
	imgcheck_target_free(t);
}

TEST(target, ignores_by_reference)
{
	struct imgcheck_target *t = open_target("version: 1\npaths: [templates]\nignore: ['docker.io/lib/b:?']\n", "{}");
	struct imgcheck_images *s = NULL;

	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_target(s, t, NULL), 0);
	cr_assert_eq(imgcheck_images_count(s), 3);
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(imgcheck_images_get(s, i)->ignored, i == 1, "%s", imgcheck_image_ref(imgcheck_images_get(s, i)));
	cr_assert_null(imgcheck_images_problem(s, 0));
	imgcheck_images_free(s);
	imgcheck_target_free(t);
}
