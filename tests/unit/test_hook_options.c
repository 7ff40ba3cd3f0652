/* SPDX-License-Identifier: Apache-2.0 */
#include "program/options.h"

#include <stdlib.h>
#include <string.h>

#include "program/memory.h"
#include "program/status.h"
#include "test.h"

struct seen {
	char text[256];
};

static int take(void *arg, int id, const char *value)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);

	if (value && !strcmp(value, "bad"))
		return STATUS_USAGE;
	(void)snprintf(s->text + len, sizeof(s->text) - len, "%d=%s;", id, value ? value : "(none)");
	return 0;
}

static const struct flag flags[] = {{"name", "TEXT", "", 1}, {"switch", NULL, "", 2}, {0}};

#define ARGS(...) (const char *const[]){__VA_ARGS__, NULL}

static const struct {
	const char *const *args;
	int status;
	const char *taken, *operands;
	bool rest;
} lines[] = {
	{ARGS("a", "b"), STATUS_GO, "", "a b ", false},
	{ARGS("--name", "x", "a", "--name=y", "--switch", "b"), STATUS_GO, "1=x;1=y;2=(none);", "a b ", false},
	{ARGS("--name=", "--name", "--switch"), STATUS_GO, "1=;1=--switch;", "", false},
	{ARGS("--", "--name"), STATUS_GO, "", "--name ", false},
	{ARGS("-", "a"), STATUS_GO, "", "- a ", false},
	{ARGS("a", "--", "cmd", "--name"), STATUS_GO, "", "a ", true},
	{ARGS("--nam", "x"), STATUS_USAGE, "", "", false},
	{ARGS("--name"), STATUS_USAGE, "", "", false},
	{ARGS("--switch=x"), STATUS_USAGE, "", "", false},
	{ARGS("-n"), STATUS_USAGE, "", "", false},
	{ARGS("--name", "bad", "--switch"), STATUS_USAGE, "", "", false},
	{ARGS("--names", "x"), STATUS_USAGE, "", "", false},
	{ARGS("--="), STATUS_USAGE, "", "", false},
};

static char **copy_args(const char *const *args)
{
	char **copy = NULL;
	size_t n = 0;

	do {
		copy = memory_grow(copy, n + 1, sizeof(*copy));
		copy[n] = memory_text(args[n]);
	} while (args[n++]);
	return copy;
}

static void free_args(char **args)
{
	for (size_t i = 0; args[i]; i++)
		free(args[i]);
	free(args);
}

TEST(hook_options, reads_command_lines)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct seen seen = {""};
		const struct flag_group group = {flags, take, &seen};
		const struct command_line line = {.command = "x", .usage = "", .about = "", .groups = &group, .group_count = 1};
		AUTO(lines) struct lines operands = {0};
		char **args = copy_args(lines[i].args);
		char *const *rest = NULL;
		char joined[64] = "";

		cr_assert_eq(options_read(&line, args, &operands, lines[i].rest ? &rest : NULL), lines[i].status, "row %zu", i);
		cr_assert_str_eq(seen.text, lines[i].taken, "row %zu", i);
		for (size_t k = 0; lines[i].status == STATUS_GO && k < operands.count; k++)
			(void)snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s ", operands.line[k]);
		cr_assert_str_eq(joined, lines[i].operands, "row %zu", i);
		cr_assert_eq(rest != NULL, lines[i].rest, "row %zu", i);
		if (rest)
			cr_assert_str_eq(rest[0], "cmd");
		free_args(args);
	}
}

TEST(hook_options, the_library_has_flags)
{
	AUTO(free) struct flag *table = options_library_flags();
	AUTO(library_options) struct library_options given = {0};
	AUTO(config) struct imgcheck_config *config = NULL;
	size_t count = 0;

	for (; table[count].name; count++) {
		cr_assert_eq(table[count].id, (int)count);
		cr_assert(*table[count].help, "%s", table[count].name);
	}
	cr_assert_eq(count, IMGCHECK_OPTION_REMEDY + 1);
	cr_assert_str_eq(table[IMGCHECK_OPTION_REGISTRY].name, "registry");
	cr_assert_null(table[IMGCHECK_OPTION_REWRITE].argument);
	cr_assert_eq(imgcheck_config_new(&config), 0);
	cr_assert_eq(options_library_take(&given, IMGCHECK_OPTION_REWRITE, NULL), 0);
	cr_assert_eq(options_library_take(&given, IMGCHECK_OPTION_REGISTRY, "a:1"), 0);
	cr_assert_eq(options_library_take(&given, IMGCHECK_OPTION_REGISTRY, "b:1"), 0);
	cr_assert_str_eq(options_library_get(&given, IMGCHECK_OPTION_REGISTRY), "b:1");
	cr_assert_null(options_library_get(&given, IMGCHECK_OPTION_DEPTH));
	cr_assert_eq(options_library_set(&given, "x", config), 0);
	cr_assert_eq(options_library_take(&given, IMGCHECK_OPTION_DEPTH, "deep"), 0);
	cr_assert_eq(options_library_set(&given, "x", config), STATUS_USAGE);
}
