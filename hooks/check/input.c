/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "program/document.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/process.h"
#include "program/say.h"
#include "snap/settings.h"
#include "snap/snapctl.h"
#include "program/status.h"

#define STANDARD_INPUT "standard input"
#define MOST_STANDARD_INPUT ((size_t)256 << 20) /* as much as the library takes of one file */

enum { TAKE_VALUES, TAKE_SET, TAKE_TARGET, TAKE_SNAP_CONFIG, TAKE_NEW_SINCE, TAKE_IMAGE, TAKE_ARCH };

const struct flag input_value_flags[] = {
	{ "values", "FILE", "template values: a JSON object", TAKE_VALUES },
	{ "set", "NAME=VALUE", "one template value", TAKE_SET },
	{ 0 },
};

const struct flag input_target_flags[] = {
	{ "target", "DIR|FILE.snap", "a snap, by its meta/imgcheck.yaml", TAKE_TARGET },
	{ "snap-config", "FILE", "its configuration, as `snap get -d NAME` prints it", TAKE_SNAP_CONFIG },
	{ "new-since", "OLD", "leave out what OLD needs: an unpacked snap, a folder or a list", TAKE_NEW_SINCE },
	{ 0 },
};

const struct flag input_config_flags[] = {
	{ "snap-config", "FILE", "the configuration of the snaps, as `snap get -d NAME` prints it", TAKE_SNAP_CONFIG },
	{ 0 },
};

const struct flag input_image_flags[] = {
	{ "image", "REF", "one more image", TAKE_IMAGE },
	{ 0 },
};

const struct flag input_arch_flags[] = {
	{ "arch", "A,...", "architectures: templates are read once for each, as their value arch", TAKE_ARCH },
	{ 0 },
};

bool input_class(const char *name, enum imgcheck_class *class)
{
	/* In the order of the enumerators. */
	static const char *const names[] = { "required", "mentioned", "all" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(name, names[i])) {
			*class = (enum imgcheck_class)i;
			return true;
		}
	return false;
}

static bool is_word(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];
}

static int take_archs(struct input *in, const char *value)
{
	AUTO(free) char *copy = memory_text(value);
	char *rest = copy, *name;

	while ((name = strsep(&rest, ","))) {
		if (!is_word(name))
			return say_usage(in->command, "--arch %s: give names of architectures, separated by commas", value);
		if (!lines_has(&in->archs, name))
			lines_add(&in->archs, name);
	}
	if (in->archs.count > INPUT_MOST_ARCHS)
		return say_usage(in->command, "--arch: there can be %d architectures", INPUT_MOST_ARCHS);
	return 0;
}

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
		in->target.dir = value;
		break;
	case TAKE_SNAP_CONFIG:
		in->snap_config = value;
		break;
	case TAKE_NEW_SINCE:
		in->old.dir = value;
		break;
	case TAKE_IMAGE:
		lines_add(&in->refs, value);
		break;
	case TAKE_ARCH:
		return take_archs(in, value);
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

static int set_values(const struct input *in, struct imgcheck_images *images)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *json = NULL;
	size_t len;
	int fault;

	if (in->values) {
		fault = files_read(in->values, FILES_MAX_JSON, &json, &len);
		if (fault)
			return say_usage(in->command, "cannot read %s: %s", in->values, strerror(fault));
		if (imgcheck_images_set_values(images, json, len, &e))
			return bad_input(in->values, e);
	}
	for (size_t i = 0; i < in->set.count; i++) {
		const char *value = strchr(in->set.line[i], '=') + 1;
		AUTO(free) char *name = memory_text_cut(in->set.line[i], (size_t)(value - 1 - in->set.line[i]));

		if (imgcheck_images_set_value(images, name, value, &e))
			return bad_input("--set", e);
	}
	if (in->registry && imgcheck_images_set_value(images, "registry", in->registry, &e))
		return bad_input("--registry", e);
	if (in->arch && imgcheck_images_set_value(images, "arch", in->arch, &e))
		return bad_input("--arch", e);
	return 0;
}

/* The configuration keys that a target asks for. */
static void add_keys(const struct imgcheck_target *t, struct lines *keys)
{
	const char *key;

	for (size_t i = 0; (key = imgcheck_target_config_key(t, i)); i++)
		if (!lines_has(keys, key))
			lines_add(keys, key);
}

static int read_config_file(struct input *in)
{
	AUTO(secret) char *text = NULL;
	json_error_t where;
	size_t len;
	int fault = files_read(in->snap_config, FILES_MAX_JSON, &text, &len);

	if (fault)
		return say_usage(in->command, "cannot read %s: %s", in->snap_config, strerror(fault));
	in->config = document_read_config(text, len, &where);
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

	lines_add(&keys, SETTINGS_TREE);
	add_keys(in->target.object, &keys);
	add_keys(in->old.object, &keys);
	if (in->snap_config)
		return read_config_file(in);
	if (snapctl_here())
		return ask_snapctl(in, &keys);
	if (keys.count > 1) /* more than the settings */
		return say_usage(in->command, "an unpacked snap needs a configuration: give --snap-config FILE");
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
static const char *variable(const struct input *in, const struct input_target *t, const char *name)
{
	const char *value = getenv(name);

	if (in->arch && !strcmp(name, "SNAP_ARCH"))
		return in->arch;
	if (value)
		return value;
	if (!strcmp(name, "SNAP"))
		return t->dir;
	return strcmp(name, "SNAP_ARCH") ? NULL : snap_arch();
}

static int open_target(struct input_target *t)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *text = NULL;
	size_t hidden = t->unpacked.dir ? strlen(t->unpacked.dir) + 1 : 0; /* a folder that nobody knows */

	if (!imgcheck_target_open(t->dir, NULL, &t->object, &e))
		return 0;
	text = say_text(e);
	say("%s", hidden && !strncmp(text, t->unpacked.dir, hidden - 1) ? text + hidden : text);
	return say_status(imgcheck_error_code(e)) == STATUS_INTERNAL ? STATUS_INTERNAL : STATUS_UNREADABLE;
}

/* An addon takes its architecture from the key or from the variable; --arch stands for both. */
static void set_arch(const struct input *in, const struct imgcheck_target *t)
{
	const char *key;

	for (size_t i = 0; in->config && (key = imgcheck_target_config_key(t, i)); i++)
		if (!strcmp(key, "arch"))
			document_set_text(in->config, key, in->arch);
}

static int check_arch(const struct input *in, const struct input_target *t)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *value = NULL;

	if (imgcheck_target_value(t->object, "arch", &value, &e))
		return say_error(e);
	if (!value || !strcmp(value, in->arch))
		return 0;
	return say_usage(in->command, "--arch: in %s the value arch is neither the key arch nor SNAP_ARCH", t->dir);
}

static int configure_target(const struct input *in, struct input_target *t)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(secret) char *text = NULL;
	const char *name, *value;

	if (in->arch)
		set_arch(in, t->object);
	text = in->config ? memory_must(json_dumps(in->config, JSON_COMPACT)) : NULL;
	if (text && imgcheck_target_set_config(t->object, text, strlen(text), &e))
		return bad_input(in->snap_config ? in->snap_config : "snapctl", e);
	for (size_t i = 0; (name = imgcheck_target_env_name(t->object, i)); i++)
		if ((value = variable(in, t, name)) && imgcheck_target_set_env(t->object, name, value, &e))
			return say_error(e);
	if (imgcheck_target_configured(t->object, &t->configured, &e))
		return say_error(e);
	return in->arch ? check_arch(in, t) : 0;
}

bool input_is_snap(const char *dir)
{
	AUTO(free) char *path = files_join(dir, "meta/imgcheck.yaml");

	return !access(path, F_OK);
}

/* A .snap file counts as the folder with what is in it. */
static int unpack_target(struct input_target *t)
{
	int status = t->dir && unsquash_is_snap(t->dir) ? unsquash(t->dir, &t->unpacked) : 0;

	if (!status && t->unpacked.dir)
		t->dir = t->unpacked.dir;
	return status;
}

static int open_targets(struct input *in)
{
	int status = unpack_target(&in->target);

	status = status ? status : unpack_target(&in->old);
	if (!status && in->target.dir)
		status = open_target(&in->target);
	if (!status && in->old.dir && input_is_snap(in->old.dir))
		status = open_target(&in->old);
	if (status || (!in->target.object && !in->old.object))
		return status;
	status = read_config(in);
	if (!status && in->target.object)
		status = configure_target(in, &in->target);
	return status || !in->old.object ? status : configure_target(in, &in->old);
}

void input_copy(const struct input *in, const char *arch, struct input *out)
{
	*out = (struct input){ .command = in->command, .values = in->values, .snap_config = in->snap_config, .arch = arch,
			       .registry = in->registry, .target.dir = in->target.dir, .old.dir = in->old.dir };
	for (size_t i = 0; i < in->set.count; i++)
		lines_add(&out->set, in->set.line[i]);
	for (size_t i = 0; i < in->refs.count; i++)
		lines_add(&out->refs, in->refs.line[i]);
	for (size_t i = 0; i < in->archs.count; i++)
		lines_add(&out->archs, in->archs.line[i]);
}

int input_open(struct input *in)
{
	int status;

	if (in->snap_config && !in->target.dir)
		return say_usage(in->command, "--snap-config needs --target");
	if (imgcheck_images_new(&in->images))
		return say_error(NULL);
	status = set_values(in, in->images);
	return status ? status : open_targets(in);
}

bool input_is_unconfigured(const struct input *in)
{
	return in->target.object && !in->target.configured;
}

static void say_problems(const struct imgcheck_images *images)
{
	const struct imgcheck_error *e;

	for (size_t i = 0; (e = imgcheck_images_problem(images, i)); i++)
		say_error(e);
}

/* What OLD cannot tell is not left out: its problems are told, but decide nothing. */
static int subtract_old(struct input *in)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(images) struct imgcheck_images *before = NULL;
	int status, fault;

	if (imgcheck_images_new(&before))
		return say_error(NULL);
	status = set_values(in, before);
	if (status)
		return status;
	if (in->old.object)
		fault = imgcheck_images_add_target(before, in->old.object, &e);
	else
		fault = imgcheck_images_add_path(before, in->old.dir, &e);
	say_problems(before);
	if (!fault)
		fault = imgcheck_images_subtract(in->images, before, &e);
	return fault ? say_error(e) : 0;
}

/* Standard input, which the library does not read.  It is read once: each architecture gets the same of it. */
static int add_standard_input(struct input *in, struct imgcheck_error **e)
{
	static char *data;
	static size_t len;
	int fault = data ? 0 : files_read("-", MOST_STANDARD_INPUT, &data, &len);

	if (!fault)
		return imgcheck_images_add_data(in->images, STANDARD_INPUT, data, len, e);
	say("cannot read " STANDARD_INPUT ": %s", strerror(fault));
	return IMGCHECK_ERR_IO;
}

static int add_path(struct input *in, const char *path, struct imgcheck_error **e)
{
	return strcmp(path, "-") ? imgcheck_images_add_path(in->images, path, e) : add_standard_input(in, e);
}

int input_collect(struct input *in, const struct lines *paths)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	int fault = 0;

	if (in->target.configured)
		fault = imgcheck_images_add_target(in->images, in->target.object, &e);
	for (size_t i = 0; !fault && i < paths->count; i++)
		fault = add_path(in, paths->line[i], &e);
	for (size_t i = 0; !fault && i < in->refs.count; i++)
		fault = imgcheck_images_add_ref(in->images, in->refs.line[i], &e);
	if (fault)
		return e ? say_error(e) : say_status((enum imgcheck_err)fault);
	if (input_is_unconfigured(in))
		say("%s: this unit is not set up (configured: in imgcheck.yaml): nothing is needed", in->target.dir);
	return in->old.dir ? subtract_old(in) : 0;
}

void input_clear(struct input *in)
{
	lines_clear(&in->set);
	lines_clear(&in->refs);
	lines_clear(&in->archs);
	imgcheck_images_free(in->images);
	imgcheck_target_free(in->target.object);
	imgcheck_target_free(in->old.object);
	json_decref(in->config);
	unsquash_remove(&in->target.unpacked);
	unsquash_remove(&in->old.unpacked);
	*in = (struct input){ 0 };
}
