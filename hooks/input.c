/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "files.h"
#include "memory.h"
#include "process.h"
#include "say.h"
#include "settings.h"
#include "snapctl.h"
#include "status.h"

enum { TAKE_VALUES, TAKE_SET, TAKE_TARGET, TAKE_SNAP_CONFIG, TAKE_IMAGE };

const struct flag input_value_flags[] = {
	{ "values", "FILE", "template values: a JSON object", TAKE_VALUES },
	{ "set", "NAME=VALUE", "one template value", TAKE_SET },
	{ 0 },
};

const struct flag input_target_flags[] = {
	{ "target", "DIR", "an unpacked snap, by its meta/imgcheck.yaml", TAKE_TARGET },
	{ "snap-config", "FILE", "its configuration, as `snap get -d NAME` prints it", TAKE_SNAP_CONFIG },
	{ 0 },
};

const struct flag input_image_flags[] = {
	{ "image", "REF", "one more image", TAKE_IMAGE },
	{ 0 },
};

int input_take(void *arg, int id, const char *value)
{
	struct input *in = arg;

	switch (id) {
	case TAKE_VALUES:
		in->values = value;
		break;
	case TAKE_SET:
		if (!strchr(value, '=') || *value == '=')
			return say_usage(in->command, "--set %s: give NAME=VALUE", value);
		lines_add(&in->set, value);
		break;
	case TAKE_TARGET:
		in->target = value;
		break;
	case TAKE_SNAP_CONFIG:
		in->snap_config = value;
		break;
	case TAKE_IMAGE:
		lines_add(&in->refs, value);
		break;
	}
	return 0;
}

/* Says an error of the library about text that came from `path`, which the library did not know. */
static int bad_input(const char *path, const struct imgcheck_error *e)
{
	unsigned line = 0;

	imgcheck_error_place(e, &line, NULL);
	if (line)
		say("%s:%u: %s", path, line, imgcheck_error_message(e));
	else
		say("%s: %s", path, imgcheck_error_message(e));
	return say_status(imgcheck_error_code(e)) == STATUS_INTERNAL ? STATUS_INTERNAL : STATUS_USAGE;
}

static int set_values(struct input *in)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *json = NULL;
	size_t len;
	int fault;

	if (in->values) {
		fault = files_read(in->values, FILES_MAX_JSON, &json, &len);
		if (fault)
			return say_usage(in->command, "cannot read %s: %s", in->values, strerror(fault));
		if (imgcheck_images_set_values(in->images, json, len, &e))
			return bad_input(in->values, e);
	}
	for (size_t i = 0; i < in->set.count; i++) {
		const char *value = strchr(in->set.line[i], '=') + 1;
		AUTO(free) char *name = memory_text_cut(in->set.line[i], (size_t)(value - 1 - in->set.line[i]));

		if (imgcheck_images_set_value(in->images, name, value, &e))
			return bad_input("--set", e);
	}
	return 0;
}

/* The configuration keys that the target asks for, and the settings. */
static void config_keys(const struct input *in, struct lines *keys)
{
	const char *key;

	lines_add(keys, SETTINGS_TREE);
	for (size_t i = 0; (key = imgcheck_target_config_key(in->description, i)); i++)
		if (!lines_has(keys, key))
			lines_add(keys, key);
}

static int read_config_file(struct input *in)
{
	AUTO(free) char *text = NULL;
	json_error_t where;
	size_t len;
	int fault = files_read(in->snap_config, FILES_MAX_JSON, &text, &len);

	if (fault)
		return say_usage(in->command, "cannot read %s: %s", in->snap_config, strerror(fault));
	in->config = json_loadb(text, len, 0, &where);
	if (json_is_object(in->config))
		return 0;
	say("%s:%d: cannot use it as a snap's configuration: it is not a JSON object", in->snap_config,
	    in->config ? 1 : where.line);
	return STATUS_USAGE;
}

static int ask_snapctl(struct input *in, const struct lines *keys)
{
	AUTO(free) char *why = NULL;

	if (snapctl_get(keys, INT64_MAX, &in->config, &why))
		return 0;
	say("cannot read the snap's configuration: %s", why);
	return STATUS_INTERNAL;
}

static int read_config(struct input *in)
{
	AUTO(lines) struct lines keys = { 0 };

	config_keys(in, &keys);
	if (in->snap_config)
		return read_config_file(in);
	if (snapctl_here())
		return ask_snapctl(in, &keys);
	if (keys.count > 1) /* more than the settings */
		return say_usage(in->command, "--target %s needs a configuration: give --snap-config FILE", in->target);
	return 0;
}

/* This machine's architecture, by the name that snapd gives it: static, or NULL. */
static const char *snap_arch(void)
{
	static const char *const names[][2] = {
		{ "x86_64", "amd64" }, { "aarch64", "arm64" },  { "armv7l", "armhf" },    { "i686", "i386" },
		{ "s390x", "s390x" },  { "riscv64", "riscv64" }, { "ppc64le", "ppc64el" },
	};
	struct utsname machine;

	if (uname(&machine))
		return NULL;
	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(machine.machine, names[i][0]))
			return names[i][1];
	return NULL;
}

/* A variable as it would be in the environment of the target's own hook, as far as that can be known outside of it. */
static const char *variable(const struct input *in, const char *name)
{
	const char *value = getenv(name);

	if (value)
		return value;
	if (!strcmp(name, "SNAP"))
		return in->target;
	return strcmp(name, "SNAP_ARCH") ? NULL : snap_arch();
}

static int configure_target(struct input *in)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *text = in->config ? memory_must(json_dumps(in->config, JSON_COMPACT)) : NULL;
	const char *name, *value;

	if (text && imgcheck_target_set_config(in->description, text, strlen(text), &e))
		return bad_input(in->snap_config ? in->snap_config : "snapctl", e);
	for (size_t i = 0; (name = imgcheck_target_env_name(in->description, i)); i++)
		if ((value = variable(in, name)) && imgcheck_target_set_env(in->description, name, value, &e))
			return say_error(e);
	if (imgcheck_target_configured(in->description, &in->configured, &e))
		return say_error(e);
	return 0;
}

static int open_target(struct input *in)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	int status;

	if (imgcheck_target_open(in->target, NULL, &in->description, &e)) {
		status = say_error(e);
		return status == STATUS_INTERNAL ? status : STATUS_UNREADABLE;
	}
	status = read_config(in);
	return status ? status : configure_target(in);
}

int input_open(struct input *in)
{
	int status;

	in->configured = true;
	if (in->snap_config && !in->target)
		return say_usage(in->command, "--snap-config needs --target");
	if (imgcheck_images_new(&in->images))
		return say_error(NULL);
	status = set_values(in);
	return status || !in->target ? status : open_target(in);
}

int input_collect(struct input *in, const struct lines *paths)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	int fault = 0;

	if (in->description && in->configured)
		fault = imgcheck_images_add_target(in->images, in->description, &e);
	for (size_t i = 0; !fault && i < paths->count; i++)
		fault = imgcheck_images_add_path(in->images, paths->line[i], &e);
	for (size_t i = 0; !fault && i < in->refs.count; i++)
		fault = imgcheck_images_add_ref(in->images, in->refs.line[i], &e);
	if (fault)
		return say_error(e);
	if (!in->configured)
		say("%s: this unit is not set up (configured: in imgcheck.yaml): nothing is needed", in->target);
	return 0;
}

int input_say_problems(const struct input *in)
{
	const struct imgcheck_error *e;
	int status = 0;

	for (size_t i = 0; (e = imgcheck_images_problem(in->images, i)); i++) {
		enum imgcheck_err code = imgcheck_error_code(e);

		say_error(e);
		if (code != IMGCHECK_ERR_UNRESOLVED && code != IMGCHECK_ERR_FINDING)
			status = STATUS_UNREADABLE;
	}
	return status;
}

void input_clear(struct input *in)
{
	lines_clear(&in->set);
	lines_clear(&in->refs);
	imgcheck_images_free(in->images);
	imgcheck_target_free(in->description);
	json_decref(in->config);
	*in = (struct input){ 0 };
}
