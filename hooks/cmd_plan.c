/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check/check.h"
#include "commands.h"
#include "program/output.h"
#include "release/plan.h"
#include "program/say.h"
#include "program/status.h"

enum { TAKE_FORMAT, TAKE_FROM, TAKE_ONLY, TAKE_OUTPUT };

struct request {
	plan_print_fn print;
	const char *from, *only, *output;
};

static const struct flag plan_flags[] = {
	{ "format", "skopeo|regsync", "commands for a shell (skopeo), or a configuration (regsync)", TAKE_FORMAT },
	{ "from", "PREFIX", "copy from there: what stands in place of the registry", TAKE_FROM },
	{ "only", "OS/ARCH[/VARIANT]", "copy this platform alone, not all that the image is for", TAKE_ONLY },
	{ "output", "FILE", "write the plan to this file, by way of a rename", TAKE_OUTPUT },
	{ 0 },
};

static int take_format(struct request *r, const char *value)
{
	if (!strcmp(value, "skopeo"))
		r->print = plan_print_skopeo;
	else if (!strcmp(value, "regsync"))
		r->print = plan_print_regsync;
	else
		return say_usage("plan", "--format %s: it is skopeo or regsync", value);
	return 0;
}

/* Whether the library would take the value for that option. */
static bool is_value(enum imgcheck_option option, const char *value)
{
	AUTO(config) struct imgcheck_config *config = NULL;

	return !imgcheck_config_new(&config) && !imgcheck_config_set(config, option, value, NULL);
}

/* It becomes the front of references, as a registry does. */
static int take_from(struct request *r, const char *value)
{
	if (!is_value(IMGCHECK_OPTION_REGISTRY, value))
		return say_usage("plan", "--from %s: give host[:port][/prefix]", value);
	r->from = value;
	return 0;
}

static int plan_take(void *arg, int id, const char *value)
{
	struct request *r = arg;

	switch (id) {
	case TAKE_FORMAT:
		return take_format(r, value);
	case TAKE_FROM:
		return take_from(r, value);
	case TAKE_ONLY:
		if (!strchr(value, '/') || !is_value(IMGCHECK_OPTION_PLATFORM, value))
			return say_usage("plan", "--only %s: give OS/ARCH or OS/ARCH/VARIANT", value);
		r->only = value;
		return 0;
	default:
		r->output = value;
		return 0;
	}
}

/* What was not found out is not in the plan, so it is not known to be whole: the status for that, or 0. */
static int status_of_rest(const struct imgcheck_report *report)
{
	static const struct {
		enum imgcheck_outcome class;
		int status;
	} rest[] = {
		{ IMGCHECK_OUTCOME_INTERNAL, STATUS_INTERNAL },    { IMGCHECK_OUTCOME_UNREADABLE, STATUS_UNREADABLE },
		{ IMGCHECK_OUTCOME_UNRESOLVED, STATUS_UNREADABLE }, { IMGCHECK_OUTCOME_ACCESS, STATUS_ACCESS },
		{ IMGCHECK_OUTCOME_UNDECIDED, STATUS_UNDECIDED },
	};

	for (size_t i = 0; i < COUNT(rest); i++)
		if (imgcheck_report_vetoes(report, rest[i].class))
			return rest[i].status;
	return STATUS_OK;
}

static int run(struct check *c, const struct request *r)
{
	AUTO(report) struct imgcheck_report *report = NULL;
	AUTO(json) json_t *document = NULL;
	AUTO(output) struct output out = { 0 };
	struct plan plan;
	int status = check_ask(c, stdout, &report);

	if (status || !report)
		return status;
	document = check_document(report);
	if (!document)
		return STATUS_INTERNAL;
	plan = (struct plan){ .report = document, .registry = c->registry, .from = r->from, .platform = r->only,
			      .plain = &c->plain_http, .unverified = &c->skip_verify };
	output_open(&out);
	r->print(&plan, out.stream);
	status = output_finish(&out, stdout, r->output);
	if (status)
		return status;
	status = status_of_rest(report);
	if (status)
		say("the plan may lack images: not everything could be found out, see imgcheck check");
	return plan_say_unknown(&plan) && !status ? STATUS_MISSING : status;
}

int cmd_plan(char *const *argv)
{
	struct request r = { .print = plan_print_skopeo };
	AUTO(check) struct check c = { .input.command = "plan" };
	AUTO(free) struct flag *library = options_library_flags();
	const struct flag_group groups[] = {
		{ plan_flags, plan_take, &r },
		{ input_target_flags, input_take, &c.input },
		{ input_image_flags, input_take, &c.input },
		{ input_value_flags, input_take, &c.input },
		{ node_files_flags, node_files_take, &c.files },
		{ check_flags, check_take, &c },
		{ library, options_library_take, &c.options },
	};
	const struct command_line line = {
		.command = "plan",
		.usage = "[OPTION]... [PATH]...",
		.about = "Checks, and prints how to copy what is missing: from where the manifests take it when no registry is "
			 "configured, or from --from.",
		.notes = "Exit status: 0 the plan has all that is missing, 1 something has no known source; else as check: 2 usage, "
			 "3 access refused, 4 could not be decided, 5 a manifest cannot be read, 70 internal error.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &c.paths, NULL);

	return status == STATUS_GO ? run(&c, &r) : status;
}
