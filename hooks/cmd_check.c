/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "commands.h"
#include "program/output.h"
#include "render/nagios.h"
#include "program/status.h"

/* Also where the command line is wrong: a monitoring system understands no other status. */
static bool wants_nagios(char *const *argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "--format=nagios") || (!strcmp(*argv, "--format") && argv[1] && !strcmp(argv[1], "nagios")))
			return true;
	return false;
}

static int print_nagios(const struct check *c, const struct imgcheck_report *report)
{
	AUTO(json) json_t *document = check_document(report);
	AUTO(output) struct output out = { 0 };

	output_open(&out);
	if (document)
		render_nagios(&(struct view){ &document, 1, -1, c->seconds }, out.stream);
	if (!document || output_finish(&out, stdout, c->output))
		return NAGIOS_UNKNOWN;
	return (int)nagios_state(document);
}

/* status is STATUS_GO, or that of the command line. */
static int check_nagios(struct check *c, int status)
{
	AUTO(report) struct imgcheck_report *report = NULL;

	if (status == STATUS_GO)
		status = check_ask(c, stdout, &report);
	if (report)
		return print_nagios(c, report);
	if (status == STATUS_OK) {
		puts("IMGCHECK OK - nothing is needed");
		return NAGIOS_OK;
	}
	printf("IMGCHECK UNKNOWN - no check could be made (exit status %d): standard error says why\n", status);
	return NAGIOS_UNKNOWN;
}

int cmd_check(char *const *argv)
{
	AUTO(check) struct check c = { .input.command = "check" };
	AUTO(free) struct flag *library = options_library_flags();
	const struct flag_group groups[] = {
		CHECK_FLAG_GROUPS(&c, library),
	};
	const struct command_line line = {
		.command = "check",
		.usage = "[OPTION]... [PATH]...",
		.about = "Asks the registry for every image that the files and folders need, and reports.",
		.notes = "Exit status: 0 all can be pulled (or only warnings), 1 something is missing, 2 usage, 3 access refused, "
			 "4 could not be decided, 5 a manifest cannot be read, 70 internal error.\n"
			 "Logins come from --authfile and --creds, or from the file named by REGISTRY_AUTH_FILE.  Those that docker "
			 "or podman keep in a home directory are not used unless named so: the nodes of a cluster do not have them.\n"
			 "Proxies come from --proxy, or from http_proxy, https_proxy and no_proxy as curl reads them.",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &c.paths, NULL);

	if (status == STATUS_OK)
		return status; /* the help */
	if (wants_nagios(argv))
		return check_nagios(&c, status);
	return status == STATUS_GO ? check_run(&c, stdout) : status;
}
