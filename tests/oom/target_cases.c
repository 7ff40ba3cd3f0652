/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "oom.h"

#define FOLDER "tests/oom/data/target"
#define CONFIG "{\"kubeconfig\": \"/k\", \"registry\": \"r.example:5000\", \"dns\": \"core\", \"enable-gpu\": true, " \
	"\"n\": 1.5, \"none\": null}"

static struct imgcheck_target *new_target(void)
{
	struct imgcheck_target *t;

	must(imgcheck_target_open(FOLDER, NULL, &t, NULL) == 0, "open a target");
	must(imgcheck_target_set_config(t, CONFIG, strlen(CONFIG), NULL) == 0, "set its configuration");
	must(imgcheck_target_set_env(t, "SNAP_ARCH", "amd64", NULL) == 0, "set its environment");
	return t;
}

/* The target still works: it can be asked and used. */
static void end(struct imgcheck_target *t)
{
	bool configured;

	must(imgcheck_target_configured(t, &configured, NULL) == 0, "ask a target afterwards");
	must(imgcheck_target_set_env(t, "ZONE", "z", NULL) == 0, "change a target afterwards");
	imgcheck_target_free(t);
}

static void open_target(struct attempt *a)
{
	struct imgcheck_target *t = UNSET;
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_target_open(FOLDER, NULL, &t, &err), err);
	attempt_check(a, a->result == 0 || !t, "*out is not cleared");
	if (t)
		end(t);
}

/* The argument is a file that is no description. */
static void open_bad(struct attempt *a)
{
	struct imgcheck_target *t = UNSET;
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_target_open(FOLDER, a->argument, &t, &err), err);
	attempt_check(a, !t, "*out is not cleared");
}

static void set_config(struct attempt *a)
{
	struct imgcheck_target *t = new_target();
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_target_set_config(t, CONFIG, strlen(CONFIG), &err), err);
	end(t);
}

static void set_env(struct attempt *a)
{
	struct imgcheck_target *t = new_target();
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_target_set_env(t, "ZONE", "here", &err), err);
	end(t);
}

/* The argument is the name. */
static void value(struct attempt *a)
{
	struct imgcheck_target *t = new_target();
	struct imgcheck_error *err = NULL;
	char *out = UNSET;

	CALL(a, imgcheck_target_value(t, a->argument, &out, &err), err);
	attempt_check(a, a->result == 0 || !out, "*out is not cleared");
	if (a->result == 0)
		(void)fprintf(a->told, "%s\n", out ? out : "undefined");
	free(out);
	end(t);
}

static void configured(struct attempt *a)
{
	struct imgcheck_target *t = new_target();
	struct imgcheck_error *err = NULL;
	bool out = true;

	CALL(a, imgcheck_target_configured(t, &out, &err), err);
	attempt_check(a, a->result == 0 || !out, "*out is not cleared");
	if (a->result == 0)
		(void)fprintf(a->told, "%d\n", out);
	end(t);
}

static void add_target(struct attempt *a)
{
	struct imgcheck_images *s = new_images("{\"extra\": 1}");
	struct imgcheck_target *t = new_target();
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_images_add_target(s, t, &err), err);
	if (a->result == 0)
		tell_images(a, s);
	end(t);
	must(imgcheck_images_add_ref(s, "r.example/afterwards:1", NULL) == 0, "add a reference afterwards");
	imgcheck_images_free(s);
}

static void read_yaml(struct attempt *a)
{
	struct imgcheck_error *err = NULL;
	char *json = UNSET;

	CALL(a, imgcheck_yaml_read(a->argument, &json, &err), err);
	attempt_check(a, a->result == 0 || !json, "*json is not cleared");
	if (a->result == 0)
		(void)fprintf(a->told, "%s\n", json);
	free(json);
}

const struct oom_case target_cases[] = {
	{"imgcheck_target_open", open_target, NULL},
	{"imgcheck_target_open: nothing there", open_bad, "there-is-none"},
	{"imgcheck_target_open: another format", open_bad, "tests/oom/data/images.txt"},
	{"imgcheck_target_set_config", set_config, NULL},
	{"imgcheck_target_set_env", set_env, NULL},
	{"imgcheck_target_value: of the configuration", value, "registry"},
	{"imgcheck_target_value: a default", value, "arch"},
	{"imgcheck_target_value: undefined", value, "nothing"},
	{"imgcheck_target_configured", configured, NULL},
	{"imgcheck_images_add_target", add_target, NULL},
	{"imgcheck_yaml_read", read_yaml, FOLDER "/meta/imgcheck.yaml"},
	{"imgcheck_yaml_read: nothing there", read_yaml, FOLDER "/meta/none.yaml"},
	{"imgcheck_yaml_read: broken", read_yaml, "tests/oom/data/broken.yaml"},
	{NULL, NULL, NULL},
};
