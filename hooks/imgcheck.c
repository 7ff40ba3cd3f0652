/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "commands.h"
#include "program/memory.h"
#include "program/options.h"
#include "program/say.h"
#include "program/status.h"

static const struct {
	const char *name;
	int (*main)(char *const *argv);
	const char *help;
} commands[] = {
	{ "check", cmd_check, "whether every image can be pulled" },
	{ "images", cmd_images, "the images that manifests need" },
	{ "render", cmd_render, "a template as Jinja2 would print it" },
	{ "guard", cmd_guard, "runs a command only if the check passes" },
	{ "explain", cmd_explain, "who would be asked for an image, and how" },
	{ "diff", cmd_diff, "what two releases need differently" },
	{ "audit", cmd_audit, "a list of images against what manifests need" },
	{ "plan", cmd_plan, "how to copy what is missing" },
	{ "watch", cmd_watch, "notices tags that move and images that vanish" },
	{ "gate", cmd_gate, "what is served, and why not something newer" },
	{ "report", cmd_report, "what the last hook run found" },
	{ "hook", cmd_hook, "a hook of a snap" },
};

static int run_command(char *const *argv)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].main(argv + 1);
	return say_usage("", "there is no command %s", argv[0]);
}

static void print_commands(void)
{
	puts("\ncommands:");
	for (size_t i = 0; i < COUNT(commands); i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].help);
}

/* The program itself: --help, --version, or no command at all. */
static int run_program(char *const *argv)
{
	const struct command_line line = { .command = "", .usage = "COMMAND [OPTION]...",
					   .about = "Can every image that these manifests need really be pulled?",
					   .notes = "imgcheck COMMAND --help tells more; so does imgcheck(1).  imgcheck --version tells the version." };
	AUTO(lines) struct lines operands = { 0 };
	int status = options_read(&line, argv, &operands, NULL);

	if (status == STATUS_GO)
		return say_usage("", "which command?");
	if (status == STATUS_OK && strcmp(argv[0], "--version"))
		print_commands();
	return status;
}

/*
 * Makes sure that 0, 1 and 2 are open: else the next file or connection would get such a number, and what is
 * printed would go there.  Reading and writing fail as they would on a closed one.
 */
static bool fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL, *name = slash ? slash + 1 : argc ? argv[0] : "";
	int (*hook)(char *const *argv) = cmd_find_hook(name);

	if (!fill_standard_streams())
		return STATUS_INTERNAL;
	/* Whoever starts us may ignore it; then no child's end could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	/* Passwords and tokens also stand in buffers of the transport below: no core, and no look into the memory by others. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return STATUS_INTERNAL;
	memory_init_json();
	/* libcurl's TLS library would write session keys to the file that this names. */
	unsetenv("SSLKEYLOGFILE");
	if (hook)
		return hook(argv + 1);
	if (argc < 2 || argv[1][0] == '-')
		return run_program(argc ? argv + 1 : argv);
	return run_command(argv + 1);
}
