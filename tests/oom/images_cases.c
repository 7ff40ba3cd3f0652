/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "oom.h"

#define VALUES "{\"registry\": \"r.example:5000\", \"arch\": \"amd64\", \"pillar\": {\"n\": [1, 2.5, null, true]}}"
#define DATA "tests/oom/data/"
#define REF "docker.io/library/busybox:1"

/* The set is good for more after a failure, and can be freed. */
static void end(struct attempt *a, struct imgcheck_images *s)
{
	if (a->result == 0)
		tell_images(a, s);
	must(imgcheck_images_add_ref(s, "r.example/afterwards:1", NULL) == 0, "add a reference afterwards");
	must(imgcheck_images_count(s) > 0, "have an image afterwards");
	imgcheck_images_free(s);
}

static void make(struct attempt *a)
{
	struct imgcheck_images *s = UNSET;

	CALL_WITHOUT_ERROR(a, imgcheck_images_new(&s));
	attempt_check(a, a->result == 0 || !s, "*out is not cleared");
	imgcheck_images_free(s);
}

static void set_values(struct attempt *a)
{
	struct imgcheck_images *s = new_images("{\"old\": 1}");
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_set_values(s, VALUES, strlen(VALUES), &err), err);
	end(a, s);
}

static void set_bad_values(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_set_values(s, "{\"a\": }", 7, &err), err);
	end(a, s);
}

/* The argument is the value. */
static void set_value(struct attempt *a)
{
	struct imgcheck_images *s = new_images(VALUES);
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_set_value(s, "arch", a->argument, &err), err);
	end(a, s);
}

static void first_value(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_set_value(s, "arch", "arm64", &err), err);
	end(a, s);
}

static void add_path(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_add_path(s, a->argument, &err), err);
	end(a, s);
}

/* With values, so that templates are rendered. */
static void add_template(struct attempt *a)
{
	struct imgcheck_images *s = new_images(VALUES);
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_add_path(s, a->argument, &err), err);
	end(a, s);
}

static void add_data(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;
	static const char text[] =
		"{\"kind\": \"Pod\", \"spec\": {\"containers\": [{\"image\": \"r.example/json:1\"}, {\"image\": 3}]}}\n"
		"{\"kind\": \"Pod\", \"spec\": {\"volumes\": [{\"image\": {\"reference\": \"r.example/volume:1\"}}]}}";

	CALL(a, imgcheck_images_add_data(s, "stdin", text, strlen(text), &err), err);
	end(a, s);
}

/* UTF-16 is rewritten first. */
static void add_wide_data(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;
	static const char text[] = "kind: Pod\nspec: {containers: [{image: r.example/wide:1}]}\n";
	char wide[2 * sizeof(text)] = "\xff\xfe";

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		wide[2 + 2 * i] = text[i];
	CALL(a, imgcheck_images_add_data(s, "wide", wide, sizeof(wide), &err), err);
	end(a, s);
}

static void add_ref(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_add_ref(s, a->argument, &err), err);
	end(a, s);
}

static void render(struct attempt *a)
{
	struct imgcheck_images *s = new_images(VALUES);
	struct imgcheck_error *err = NULL;
	char *out = UNSET;
	size_t len = 1;

	CALL(a, imgcheck_images_render(s, DATA "template.yaml", &out, &len, &err), err);
	tell_output(a, out, len);
	end(a, s);
}

/* Two sets that have one image in common. */
static void two_sets(struct imgcheck_images **s, struct imgcheck_images **before)
{
	static const char old[] = "kind: Pod\nspec: {containers: [{image: busybox:1}, {image: r.example/old:1}]}\n";
	static const char new[] = "kind: Pod\nspec: {containers: [{image: busybox:1}, {image: r.example/new:1}]}\n";

	*before = new_images(NULL);
	must(imgcheck_images_add_data(*before, "old", old, strlen(old), NULL) == 0, "add data");
	*s = new_images(NULL);
	must(imgcheck_images_add_data(*s, "new", new, strlen(new), NULL) == 0, "add data");
}

static void mark_known(struct attempt *a)
{
	struct imgcheck_images *s, *before;
	struct imgcheck_error *err = NULL;

	two_sets(&s, &before);
	CALL(a, imgcheck_images_mark_known(s, before, &err), err);
	imgcheck_images_free(before);
	end(a, s);
}

static void subtract(struct attempt *a)
{
	struct imgcheck_images *s, *before;
	struct imgcheck_error *err = NULL;

	two_sets(&s, &before);
	CALL(a, imgcheck_images_subtract(s, before, &err), err);
	imgcheck_images_free(before);
	end(a, s);
}

static void mark_found(struct attempt *a)
{
	struct imgcheck_images *s = new_images(NULL);
	struct imgcheck_error *err = NULL;

	must(imgcheck_images_add_ref(s, REF, NULL) == 0, "add a reference");
	CALL(a, imgcheck_images_mark_found(s, REF, "registry-1.docker.io",
	                                   "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &err), err);
	end(a, s);
}

const struct oom_case images_cases[] = {
	{"imgcheck_images_new", make, NULL},
	{"imgcheck_images_set_values", set_values, NULL},
	{"imgcheck_images_set_values: no JSON", set_bad_values, NULL},
	{"imgcheck_images_set_value: another one", set_value, "arm64"},
	{"imgcheck_images_set_value: none", set_value, NULL},
	{"imgcheck_images_set_value: the first", first_value, NULL},
	{"imgcheck_images_add_path: a folder", add_template, DATA "target/templates"},
	{"imgcheck_images_add_path: a template", add_template, DATA "template.yaml"},
	{"imgcheck_images_add_path: a broken file", add_path, DATA "broken.yaml"},
	{"imgcheck_images_add_path: nothing there", add_path, DATA "there-is-none.yaml"},
	{"imgcheck_images_add_path: a line of a list", add_path, DATA "images.txt#v1.28-upstream"},
	{"imgcheck_images_add_path: a list", add_path, DATA "images.txt"},
	{"imgcheck_images_add_path: config maps", add_path, "tests/data/rules/config-maps/input.yaml"},
	{"imgcheck_images_add_path: custom resources", add_path, "tests/data/rules/custom-resources/input.yaml"},
	{"imgcheck_images_add_path: duplicate keys", add_path, "tests/data/rules/duplicates/input.yaml"},
	{"imgcheck_images_add_path: environment", add_path, "tests/data/rules/environment/input.yaml"},
	{"imgcheck_images_add_path: JSON in a stream", add_path, "tests/data/rules/json-in-stream/input.yaml"},
	{"imgcheck_images_add_path: a kustomization", add_path, "tests/data/rules/kustomization/input.yaml"},
	{"imgcheck_images_add_path: lists", add_path, "tests/data/rules/lists/input.yaml"},
	{"imgcheck_images_add_path: OpenShift", add_path, "tests/data/rules/openshift/input.yaml"},
	{"imgcheck_images_add_data: JSON", add_data, NULL},
	{"imgcheck_images_add_data: UTF-16", add_wide_data, NULL},
	{"imgcheck_images_add_ref", add_ref, REF},
	{"imgcheck_images_add_ref: one that does not parse", add_ref, "Not A Reference"},
	{"imgcheck_images_render", render, NULL},
	{"imgcheck_images_mark_known", mark_known, NULL},
	{"imgcheck_images_subtract", subtract, NULL},
	{"imgcheck_images_mark_found", mark_found, NULL},
	{NULL, NULL, NULL},
};
