/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "say.h"
#include "status.h"

#define HELP_COLUMN 28
#define HELP_WIDTH 80

/* Goes on at the column, which is the left margin too, and breaks lines so that they fit a terminal. */
static void print_text(const char *text, size_t margin)
{
	size_t column = margin;

	while (*text) {
		size_t blanks = strspn(text, " "), len = blanks + strcspn(text + blanks, " \n");

		if (*text == '\n' || (column > margin && column + len > HELP_WIDTH)) {
			printf("\n%*s", (int)margin, "");
			text += *text == '\n' ? 1 : blanks;
			column = margin;
		} else {
			printf("%.*s", (int)len, text);
			text += len;
			column += len;
		}
	}
	putchar('\n');
}

static void print_flag(const struct flag *f)
{
	int width = printf("  --%s%s%s", f->name, f->argument ? " " : "", f->argument ? f->argument : "");

	if (width >= HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	else
		printf("%*s", HELP_COLUMN - width, "");
	print_text(f->help, HELP_COLUMN);
}

static int print_help(const struct command_line *c)
{
	printf("usage: imgcheck %s%s%s\n\n", c->command, *c->command ? " " : "", c->usage);
	print_text(c->about, 0);
	for (size_t g = 0; g < c->group_count; g++) {
		putchar('\n');
		for (const struct flag *f = c->groups[g].flags; f->name; f++)
			print_flag(f);
	}
	if (c->notes) {
		putchar('\n');
		print_text(c->notes, 0);
	}
	return fflush(stdout) ? STATUS_INTERNAL : STATUS_OK;
}

static int print_version(void)
{
	printf("imgcheck %s\n", imgcheck_version());
	return fflush(stdout) ? STATUS_INTERNAL : STATUS_OK;
}

/* The flag whose name is name[0..len), and its group. */
static const struct flag *find_flag(const struct command_line *c, const char *name, size_t len, const struct flag_group **group)
{
	for (size_t g = 0; g < c->group_count; g++)
		for (const struct flag *f = c->groups[g].flags; f->name; f++)
			if (strlen(f->name) == len && !memcmp(f->name, name, len)) {
				*group = &c->groups[g];
				return f;
			}
	return NULL;
}

/* Takes the flag at **argv; *argv then points to the last argument used. */
static int take_flag(const struct command_line *c, char *const **argv)
{
	const char *text = **argv + 2, *value = strchr(text, '=');
	size_t len = value ? (size_t)(value - text) : strlen(text);
	const struct flag_group *group = NULL;
	const struct flag *f = find_flag(c, text, len, &group);

	if (!f)
		return say_usage(c->command, "unknown option --%.*s", (int)len, text);
	if (!f->argument && value)
		return say_usage(c->command, "option --%s takes no value", f->name);
	if (f->argument && value)
		value++;
	else if (f->argument && !(value = *++*argv))
		return say_usage(c->command, "option --%s needs a value: %s", f->name, f->argument);
	return group->take(group->arg, f->id, value);
}

/* One argument that is no operand. */
static int take_argument(const struct command_line *c, char *const **argv)
{
	const char *text = **argv;
	int status;

	if (!strcmp(text, "--help") || !strcmp(text, "-h"))
		return print_help(c);
	if (!strcmp(text, "--version"))
		return print_version();
	if (text[1] != '-')
		return say_usage(c->command, "unknown option %s", text);
	status = take_flag(c, argv);
	return status ? status : STATUS_GO;
}

int options_read(const struct command_line *c, char *const *argv, struct lines *operands, char *const **rest)
{
	bool flags = true;

	if (rest)
		*rest = NULL;
	for (; *argv; argv++) {
		if (flags && !strcmp(*argv, "--")) {
			flags = false;
			if (rest) {
				*rest = argv + 1;
				return STATUS_GO;
			}
		} else if (flags && (*argv)[0] == '-' && (*argv)[1]) {
			int status = take_argument(c, &argv);

			if (status != STATUS_GO)
				return status;
		} else {
			lines_add(operands, *argv);
			flags = flags && !c->stop_at_operand;
		}
	}
	return STATUS_GO;
}

struct flag *options_library_flags(void)
{
	const char *name, *argument, *help;
	struct flag *flags = NULL;
	size_t count = 0;

	while (imgcheck_option_info((enum imgcheck_option)count, &name, &argument, &help)) {
		flags = memory_grow(flags, count + 2, sizeof(*flags));
		flags[count] = (struct flag){ name, argument, help, (int)count };
		count++;
	}
	flags = memory_grow(flags, count + 1, sizeof(*flags));
	flags[count] = (struct flag){ 0 };
	return flags;
}

int options_library_take(void *arg, int id, const char *value)
{
	struct library_options *l = arg;

	l->given = memory_grow(l->given, l->count + 1, sizeof(*l->given));
	l->given[l->count].option = (enum imgcheck_option)id;
	l->given[l->count].value = memory_text(value ? value : "true");
	l->count++;
	return 0;
}

const char *options_library_get(const struct library_options *l, enum imgcheck_option o)
{
	for (size_t i = l->count; i > 0; i--)
		if (l->given[i - 1].option == o)
			return l->given[i - 1].value;
	return NULL;
}

int options_library_set(const struct library_options *l, const char *command, struct imgcheck_config *c)
{
	for (size_t i = 0; i < l->count; i++) {
		AUTO(error) struct imgcheck_error *e = NULL;

		if (!imgcheck_config_set(c, l->given[i].option, l->given[i].value, &e))
			continue;
		if (say_status(imgcheck_error_code(e)) == STATUS_INTERNAL)
			return say_error(e);
		return say_usage(command, "%s", imgcheck_error_message(e));
	}
	return 0;
}

void options_library_clear(struct library_options *l)
{
	for (size_t i = 0; i < l->count; i++)
		memory_forget(l->given[i].value); /* the URL of a proxy can hold a login */
	free(l->given);
	*l = (struct library_options){ 0 };
}
