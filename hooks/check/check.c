/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "login_helper.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/output.h"
#include "policy.h"
#include "program/process.h"
#include "progress.h"
#include "program/proxies.h"
#include "program/say.h"
#include "snap/plug.h"
#include "snap/proven.h"
#include "snap/settings.h"
#include "snap/snapctl.h"
#include "program/status.h"

enum { TAKE_CREDS, TAKE_PROXY, TAKE_WARN, TAKE_VERBOSE, TAKE_FORMAT, TAKE_OUTPUT, TAKE_QUIET };

const struct flag check_flags[] = {
	{ "creds", "USER:PASS", "login for the registry of --registry", TAKE_CREDS },
	{ "proxy", "URL", "proxy for http and https", TAKE_PROXY },
	{ "warn", "CLASS,...", "classes that only warn: missing, access, undecided, ...", TAKE_WARN },
	{ "verbose", NULL, "print each request to standard error", TAKE_VERBOSE },
	{ 0 },
};

const struct flag check_report_flags[] = {
	{ "format", RENDER_NAMES, "how to print the report (text)", TAKE_FORMAT },
	{ "output", "FILE", "write the report to this file, by way of a rename", TAKE_OUTPUT },
	{ "quiet", NULL, "print only the decision and the counts", TAKE_QUIET },
	{ 0 },
};

static int take_format(struct check *c, const char *value)
{
	c->rendering = render_find(value);
	if (c->rendering)
		return 0;
	return say_usage(c->input.command, "--format %s: it is one of " RENDER_NAMES, value);
}

static int take_warn(struct check *c, const char *value)
{
	AUTO(free) char *copy = memory_text(value);
	char *rest = copy, *name;
	enum imgcheck_outcome class;

	while ((name = strsep(&rest, ","))) {
		if (!policy_class(name, &class))
			return say_usage(c->input.command, "--warn %s: there is no class of that name", name);
		lines_add(&c->warn, name);
	}
	return 0;
}

int check_take(void *arg, int id, const char *value)
{
	struct check *c = arg;

	switch (id) {
	case TAKE_CREDS:
		if (!strchr(value, ':'))
			return say_usage(c->input.command, "--creds: give USER:PASS");
		c->creds = value;
		return 0;
	case TAKE_PROXY:
		c->proxy = value;
		return 0;
	case TAKE_WARN:
		return take_warn(c, value);
	case TAKE_VERBOSE:
		c->verbose = true;
		return 0;
	case TAKE_OUTPUT:
		c->output = value;
		return 0;
	case TAKE_QUIET:
		c->quiet = true;
		return 0;
	default:
		return take_format(c, value);
	}
}

/* Of the registries that gave this unit an image its hooks keep a list: for those on-unproven does not hold. */
static void set_proven(const char *common, struct imgcheck_config *config, struct lines *notices)
{
	AUTO(lines) struct lines hosts = { 0 };
	AUTO(free) char *state = files_join(common, "imgcheck");

	proven_read(state, &hosts);
	proven_apply(&hosts, config, notices);
}

/* The settings of the snap whose target is checked, and the proxies of the surroundings: what flags then override. */
static void set_surroundings(struct check *c, const struct settings *settings, struct imgcheck_config *config)
{
	AUTO(lines) struct lines notices = { 0 };
	AUTO(proxies) struct proxies proxies = { 0 };
	const char *common = getenv("SNAP_COMMON");

	proxies_read(&proxies, snapctl_here() ? "/etc/environment" : NULL);
	settings_proxies(settings, &proxies);
	proxies_apply(&proxies, config, &notices);
	c->surroundings = proxies_text(&proxies);
	if (c->input.config)
		settings_apply(settings, common, config, &notices);
	if (c->input.config && common)
		set_proven(common, config, &notices);
	for (size_t i = 0; i < notices.count; i++)
		say("%s", notices.line[i]);
}

static int set_login(const struct check *c, struct imgcheck_config *config)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	const char *secret;

	if (!c->creds)
		return 0;
	if (!c->registry)
		return say_usage(c->input.command, "--creds needs --registry, since a login belongs to one host");
	secret = strchr(c->creds, ':') + 1;
	{
		AUTO(free) char *user = memory_text_cut(c->creds, (size_t)(secret - 1 - c->creds));

		return imgcheck_config_set_login(config, NULL, user, secret, &e) ? say_refused(e) : 0;
	}
}

/* An internal error is never ok here; the classes of --warn only warn. */
static int set_policy(const struct check *c, struct imgcheck_config *config)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	const char *veto = imgcheck_decision_name(IMGCHECK_DECISION_VETO), *warn = imgcheck_decision_name(IMGCHECK_DECISION_WARN);
	enum imgcheck_outcome class = IMGCHECK_OUTCOME_INTERNAL;
	enum imgcheck_option option;

	if (imgcheck_config_set(config, IMGCHECK_OPTION_ON_INTERNAL_ERROR, veto, &e))
		return say_refused(e);
	for (size_t i = 0; i < c->warn.count; i++)
		if (policy_class(c->warn.line[i], &class) && policy_option(class, &option) &&
		    imgcheck_config_set(config, option, warn, &e))
			return say_refused(e);
	return 0;
}

/* The registry: a flag, which templates see too; or else what the target's templates see. */
static int set_registry(struct check *c, struct imgcheck_config *config)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	c->registry = memory_text(c->input.registry);
	if (c->registry || !c->input.target.object)
		return 0;
	if (imgcheck_target_value(c->input.target.object, "registry", &c->registry, &e))
		return say_error(e);
	return c->registry && imgcheck_config_set(config, IMGCHECK_OPTION_REGISTRY, c->registry, &e) ? say_refused(e) : 0;
}

/* For those who are told what to run afterwards. */
static void note_insecure(struct check *c, const struct settings *settings)
{
	for (size_t i = 0; i < c->options.count; i++) {
		if (c->options.given[i].option == IMGCHECK_OPTION_PLAIN_HTTP)
			lines_add(&c->plain_http, c->options.given[i].value);
		else if (c->options.given[i].option == IMGCHECK_OPTION_SKIP_VERIFY)
			lines_add(&c->skip_verify, c->options.given[i].value);
	}
	settings_list(settings, "plain-http", &c->plain_http);
	settings_list(settings, "skip-verify", &c->skip_verify);
}

/* One that cannot be used is a mistake, not a reason to ask directly. */
static int set_proxy(const struct check *c, struct imgcheck_config *config)
{
	AUTO(error) struct imgcheck_error *e = NULL;

	if (c->proxy && (imgcheck_config_set(config, IMGCHECK_OPTION_HTTP_PROXY, c->proxy, &e) ||
			 imgcheck_config_set(config, IMGCHECK_OPTION_HTTPS_PROXY, c->proxy, &e)))
		return say_refused(e);
	return 0;
}

static int configure(struct check *c, const struct settings *settings, struct imgcheck_config *config)
{
	int status;

	note_insecure(c, settings);
	set_surroundings(c, settings, config);
	status = set_policy(c, config);
	status = status ? status : set_proxy(c, config);
	status = status ? status : set_registry(c, config);
	status = status ? status : options_library_set(&c->options, c->input.command, config);
	imgcheck_config_set_login_fn(config, login_helper_ask, NULL);
	status = status ? status : node_files_read(&c->files, config);
	return status ? status : set_login(c, config);
}

/* Who gives no option for a proxy may not know of one. */
static void tell_proxy(const struct check *c, const struct imgcheck_report *report)
{
	if (c->surroundings && !c->proxy && !options_library_get(&c->options, IMGCHECK_OPTION_HTTP_PROXY) &&
	    !options_library_get(&c->options, IMGCHECK_OPTION_HTTPS_PROXY) &&
	    imgcheck_report_decision(report) != IMGCHECK_DECISION_ALLOW)
		say("registries were asked %s", c->surroundings);
}

static int ask(struct check *c, struct imgcheck_config *config, FILE *out, struct imgcheck_report **report)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	bool person = isatty(STDERR_FILENO) && isatty(fileno(out));
	enum progress_mode mode = c->verbose ? PROGRESS_REQUESTS : person && !c->quiet ? PROGRESS_LINE : PROGRESS_NONE;
	int64_t start = process_clock();

	if (progress_check(config, c->input.images, mode, report, &e))
		return say_error(e);
	c->seconds = (double)(process_clock() - start) / 1000;
	tell_proxy(c, *report);
	return 0;
}

/* What was named, and the settings of the snap that it is of. */
static int open_input(struct check *c, struct settings *settings)
{
	AUTO(lines) struct lines notices = { 0 };
	int status;

	c->input.registry = options_library_get(&c->options, IMGCHECK_OPTION_REGISTRY);
	status = input_open(&c->input);
	if (status)
		return status;
	settings_read(settings, c->input.config, &notices);
	for (size_t i = 0; i < notices.count; i++)
		say("%s", notices.line[i]);
	return 0;
}

int check_ask(struct check *c, FILE *out, struct imgcheck_report **report)
{
	AUTO(config) struct imgcheck_config *config = NULL;
	AUTO(settings) struct settings settings = { 0 };
	int status;

	*report = NULL;
	if (!c->paths.count && !c->input.refs.count && !c->input.target.dir)
		return say_usage(c->input.command, "nothing to check: give a path, --image or --target");
	status = open_input(c, &settings);
	if (status)
		return status;
	if (c->gate && settings.mode == SETTINGS_OFF) {
		say("setting imgcheck.mode=off: not checked");
		return 0;
	}
	if (imgcheck_config_new(&config))
		return say_error(NULL);
	status = configure(c, &settings, config);
	status = status ? status : input_collect(&c->input, &c->paths);
	if (status)
		return status;
	if (input_is_unconfigured(&c->input) && !imgcheck_images_count(c->input.images) && !imgcheck_images_problem(c->input.images, 0))
		return 0;
	return ask(c, config, out, report);
}

/* What the library renders. */
static int print_own(const struct imgcheck_report *report, enum imgcheck_format format, FILE *out)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *text = NULL;
	size_t len;

	if (imgcheck_report_render(report, format, &text, &len, &e))
		return say_error(e);
	fwrite(text, 1, len, out);
	if (len && text[len - 1] != '\n')
		fputc('\n', out);
	return 0;
}

json_t *check_document(const struct imgcheck_report *report)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *text = NULL;
	size_t len;

	if (imgcheck_report_render(report, IMGCHECK_FORMAT_JSON, &text, &len, &e)) {
		say_error(e);
		return NULL;
	}
	return memory_must(json_loadb(text, len, 0, NULL));
}

/* What is made from its JSON. */
static int print_view(const struct check *c, const struct imgcheck_report *report, FILE *out)
{
	AUTO(json) json_t *document = check_document(report);

	if (!document)
		return STATUS_INTERNAL;
	if (c->quiet) {
		fprintf(out, "%s: ", render_text(document, "decision"));
		render_counts(document, out);
		fputc('\n', out);
	} else {
		c->rendering->print(&(struct view){ &document, 1, (long long)time(NULL), c->seconds }, out);
	}
	return 0;
}

int check_print(const struct check *c, const struct imgcheck_report *report, FILE *out)
{
	AUTO(output) struct output page = { 0 };
	int status;

	output_open(&page);
	if (c->quiet || (c->rendering && c->rendering->print))
		status = print_view(c, report, page.stream);
	else
		status = print_own(report, c->rendering ? c->rendering->format : IMGCHECK_FORMAT_TEXT, page.stream);
	status = status ? status : output_finish(&page, out, c->output);
	return status ? status : policy_status(report);
}

/* An app of a snap without its plug meets what looks like a dead network. */
static void explain_network(const struct imgcheck_report *report)
{
	AUTO(free) char *why = NULL;
	bool unreachable = false;

	for (size_t i = 0; i < imgcheck_report_count(report); i++)
		unreachable |= imgcheck_report_verdict(report, i) == IMGCHECK_VERDICT_UNREACHABLE;
	if (unreachable && snapctl_here())
		why = plug_explain(NULL, INT64_MAX);
	if (why)
		say("%s", why);
}

int check_run(struct check *c, FILE *out)
{
	AUTO(report) struct imgcheck_report *report = NULL;
	int status;

	if (c->quiet && c->rendering)
		return say_usage(c->input.command, "--quiet and --format do not go together");
	status = check_ask(c, out, &report);
	if (status || !report)
		return status;
	status = check_print(c, report, out);
	explain_network(report);
	return status;
}

static int explain(const struct imgcheck_config *config, const char *ref, enum imgcheck_format format, FILE *out)
{
	AUTO(error) struct imgcheck_error *e = NULL;
	AUTO(free) char *text = NULL;
	size_t len;

	if (imgcheck_config_explain(config, ref, format, &text, &len, &e))
		return say_refused(e);
	if (fwrite(text, 1, len, out) == len && !fflush(out))
		return 0;
	say("cannot write to standard output");
	return STATUS_INTERNAL;
}

int check_explain(struct check *c, enum imgcheck_format format, FILE *out)
{
	AUTO(config) struct imgcheck_config *config = NULL;
	AUTO(settings) struct settings settings = { 0 };
	int status = open_input(c, &settings);

	if (status)
		return status;
	if (imgcheck_config_new(&config))
		return say_error(NULL);
	status = configure(c, &settings, config);
	for (size_t i = 0; i < c->paths.count && !status; i++)
		status = explain(config, c->paths.line[i], format, out);
	return status;
}

void check_clear(struct check *c)
{
	input_clear(&c->input);
	lines_clear(&c->paths);
	options_library_clear(&c->options);
	node_files_clear(&c->files);
	lines_clear(&c->warn);
	lines_clear(&c->plain_http);
	lines_clear(&c->skip_verify);
	free(c->registry);
	free(c->surroundings);
	*c = (struct check){ 0 }; /* guard clears before its command, and again where that cannot be run */
}
