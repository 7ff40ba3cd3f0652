/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "oom.h"

#define NODE "tests/oom/data/node/"

/* The config is good for more after a failure, and can be freed. */
static void end(struct attempt *a, struct imgcheck_config *c)
{
	if (a->result == 0)
		tell_config(a, c, "busybox");
	must(imgcheck_config_set(c, IMGCHECK_OPTION_DEADLINE, "10", NULL) == 0, "set an option afterwards");
	imgcheck_config_free(c);
}

static void make(struct attempt *a)
{
	struct imgcheck_config *c = UNSET;

	CALL_WITHOUT_ERROR(a, imgcheck_config_new(&c));
	attempt_check(a, a->result == 0 || !c, "*out is not cleared");
	imgcheck_config_free(c);
}

/* ------------------------------------------------------------------ options */

static const struct {
	enum imgcheck_option option;
	const char *value;
} options[] = {
	{IMGCHECK_OPTION_REGISTRY, "registry.example:5000/prefix"},
	{IMGCHECK_OPTION_REWRITE, "true"},
	{IMGCHECK_OPTION_REWRITE_MAP, "docker.io/library=registry.example/hub"},
	{IMGCHECK_OPTION_REWRITE_MAP, "quay.io=registry.example/quay"},
	{IMGCHECK_OPTION_RUNTIME, "crio"},
	{IMGCHECK_OPTION_PLATFORM, "linux/arm64/v8"},
	{IMGCHECK_OPTION_PLATFORM, "linux/s390x"},
	{IMGCHECK_OPTION_DEPTH, "bytes"},
	{IMGCHECK_OPTION_DEADLINE, "60"},
	{IMGCHECK_OPTION_PLAIN_HTTP, "registry.example:5000"},
	{IMGCHECK_OPTION_SKIP_VERIFY, "registry.example"},
	{IMGCHECK_OPTION_HTTP_PROXY, "http://user:secret@proxy.example:3128"},
	{IMGCHECK_OPTION_HTTPS_PROXY, "proxy.example:3128"},
	{IMGCHECK_OPTION_NO_PROXY, "10.0.0.0/8,.internal,registry.example"},
	{IMGCHECK_OPTION_REQUIRE_MIRROR, "false"},
	{IMGCHECK_OPTION_IGNORE, "*/debug:*"},
	{IMGCHECK_OPTION_ON_MISSING, "warn"},
	{IMGCHECK_OPTION_ON_ALREADY_MISSING, "veto"},
	{IMGCHECK_OPTION_ON_ACCESS, "warn"},
	{IMGCHECK_OPTION_ON_UNDECIDED, "warn"},
	{IMGCHECK_OPTION_ON_HINT, "veto"},
	{IMGCHECK_OPTION_ON_UNRESOLVED, "veto"},
	{IMGCHECK_OPTION_ON_UNREADABLE, "warn"},
	{IMGCHECK_OPTION_ON_INTERNAL_ERROR, "veto"},
	{IMGCHECK_OPTION_ON_UNPROVEN, "veto"},
	{IMGCHECK_OPTION_PROVEN, "registry.example:5000"},
	{IMGCHECK_OPTION_SUBJECT, "the example"},
	{IMGCHECK_OPTION_CONSEQUENCE, "nothing was changed"},
	{IMGCHECK_OPTION_REMEDY, "do this"},
};

static int set_all(struct imgcheck_config *c, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < sizeof(options) / sizeof(options[0]); i++)
		result = imgcheck_config_set(c, options[i].option, options[i].value, err);
	return result;
}

static void set(struct attempt *a)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	CALL(a, set_all(c, &err), err);
	end(a, c);
}

static void set_again(struct attempt *a)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	must(set_all(c, NULL) == 0, "set options");
	CALL(a, set_all(c, &err), err);
	end(a, c);
}

static void set_bad(struct attempt *a)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_config_set(c, IMGCHECK_OPTION_PLATFORM, "an unknown one", &err), err);
	end(a, c);
}

/* ------------------------------------------------------------------ files */

static int helper(void *arg, const char *name, const char *server, struct imgcheck_login *out)
{
	(void)arg;
	(void)name;
	(void)server;
	/* a helper's own memory is not what fails here: "none" is an answer too */
	*out = (struct imgcheck_login){NULL, NULL, NULL};
	return 0;
}

/* The argument is the path. */
static void read_file(struct attempt *a, enum imgcheck_file kind)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	imgcheck_config_set_login_fn(c, helper, NULL);
	CALL(a, imgcheck_config_read(c, kind, a->argument, &err), err);
	end(a, c);
}

#define READ(name, kind)                       \
	static void read_##name(struct attempt *a) \
	{                                          \
		read_file(a, kind);                    \
	}

READ(auth, IMGCHECK_FILE_AUTH)
READ(ca, IMGCHECK_FILE_CA)
READ(hosts, IMGCHECK_FILE_HOSTS_DIR)
READ(containerd, IMGCHECK_FILE_CONTAINERD)
READ(registries_yaml, IMGCHECK_FILE_REGISTRIES_YAML)
READ(custom, IMGCHECK_FILE_CUSTOM_REGISTRIES)
READ(registries_conf, IMGCHECK_FILE_REGISTRIES_CONF)

static void read_data(struct attempt *a)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;
	size_t len;
	char *text = load(NODE "auth.json", &len);

	CALL(a, imgcheck_config_read_data(c, IMGCHECK_FILE_AUTH, "the login", text, len, &err), err);
	free(text);
	end(a, c);
}

/* ------------------------------------------------------------------ logins */

static void set_login(struct attempt *a)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	CALL(a, imgcheck_config_set_login(c, "registry-1.docker.io", "carol", "secret", &err), err);
	end(a, c);
}

static void replace_login(struct attempt *a)
{
	struct imgcheck_config *c = new_config();
	struct imgcheck_error *err = NULL;

	must(imgcheck_config_set(c, IMGCHECK_OPTION_REGISTRY, "registry.example/x", NULL) == 0, "set an option");
	must(imgcheck_config_set_login(c, NULL, "dave", "other", NULL) == 0, "set a login");
	CALL(a, imgcheck_config_set_login(c, NULL, "carol", "secret", &err), err);
	end(a, c);
}

/* ------------------------------------------------------------------ explain */

static struct imgcheck_config *node_config(enum imgcheck_file kind, const char *path)
{
	struct imgcheck_config *c = new_config();

	imgcheck_config_set_login_fn(c, helper, NULL);
	must(imgcheck_config_set(c, IMGCHECK_OPTION_HTTPS_PROXY, "http://user:secret@proxy:3128", NULL) == 0, "set an option");
	must(imgcheck_config_read(c, IMGCHECK_FILE_AUTH, NODE "auth.json", NULL) == 0, "read an auth file");
	must(imgcheck_config_read(c, kind, path, NULL) == 0, "read a file");
	return c;
}

static void explain(struct attempt *a, struct imgcheck_config *c, const char *ref, enum imgcheck_format f)
{
	struct imgcheck_error *err = NULL;
	char *out = UNSET;
	size_t len = 1;

	CALL(a, imgcheck_config_explain(c, ref, f, &out, &len, &err), err);
	tell_output(a, out, len);
	end(a, c);
}

static void explain_hosts(struct attempt *a)
{
	explain(a, node_config(IMGCHECK_FILE_HOSTS_DIR, NODE "certs.d"), "busybox", IMGCHECK_FORMAT_TEXT);
}

static void explain_registries_yaml(struct attempt *a)
{
	explain(a, node_config(IMGCHECK_FILE_REGISTRIES_YAML, NODE "registries.yaml"), "busybox", IMGCHECK_FORMAT_JSON);
}

static void explain_crio(struct attempt *a)
{
	struct imgcheck_config *c = node_config(IMGCHECK_FILE_REGISTRIES_CONF, NODE "registries.conf");

	must(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, "crio", NULL) == 0, "set an option");
	explain(a, c, "docker.io/library/busybox:1", IMGCHECK_FORMAT_TEXT);
}

static void explain_bad(struct attempt *a)
{
	explain(a, new_config(), "Not A Reference", IMGCHECK_FORMAT_TEXT);
}

const struct oom_case config_cases[] = {
	{"imgcheck_config_new", make, NULL},
	{"imgcheck_config_set: each option", set, NULL},
	{"imgcheck_config_set: each option again", set_again, NULL},
	{"imgcheck_config_set: a bad value", set_bad, NULL},
	{"imgcheck_config_read: logins", read_auth, NODE "auth.json"},
	{"imgcheck_config_read: certificates", read_ca, NODE "ca.pem"},
	{"imgcheck_config_read: hosts.toml", read_hosts, NODE "certs.d"},
	{"imgcheck_config_read: config.toml", read_containerd, NODE "config.toml"},
	{"imgcheck_config_read: registries.yaml", read_registries_yaml, NODE "registries.yaml"},
	{"imgcheck_config_read: custom_registries", read_custom, NODE "custom.json"},
	{"imgcheck_config_read: registries.conf", read_registries_conf, NODE "registries.conf"},
	{"imgcheck_config_read: nothing there", read_containerd, NODE "there-is-none"},
	{"imgcheck_config_read: another format", read_containerd, NODE "auth.json"},
	{"imgcheck_config_read_data", read_data, NULL},
	{"imgcheck_config_set_login", set_login, NULL},
	{"imgcheck_config_set_login: another one", replace_login, NULL},
	{"imgcheck_config_explain: hosts.toml", explain_hosts, NULL},
	{"imgcheck_config_explain: registries.yaml", explain_registries_yaml, NULL},
	{"imgcheck_config_explain: registries.conf", explain_crio, NULL},
	{"imgcheck_config_explain: no reference", explain_bad, NULL},
	{NULL, NULL, NULL},
};
