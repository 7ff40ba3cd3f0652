/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "tree.h"

#define PATH_BYTES 4096
#define LIST_BYTES 64

/* The tests run in the top folder of the checkout. */
const char *test_shared(const char *relative)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "../shared/%s", relative);
	return access(path, R_OK) == 0 ? path : NULL;
}

bool test_libyaml_reads(const char *text)
{
	int major, minor, patch;

	yaml_get_version(&major, &minor, &patch);
	return major > 0 || minor > 2 || (minor == 2 && patch >= 5) || !strstr(text, "%YAML 1.2");
}

const char *test_data(const char *relative)
{
	static char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "tests/data/%s", relative);
	return path;
}

/*
 * Criterion runs each test in a process of its own, which a failure ends at once and a crash anywhere.  So the names of
 * what tests make go into a list, and the process that started them removes what is left.
 */
static void list_name(char path[LIST_BYTES], pid_t runner)
{
	(void)snprintf(path, LIST_BYTES, "/tmp/imgcheck-made-%ld", (long)runner);
}

static void note(const char *name)
{
	char path[LIST_BYTES];
	int fd;

	list_name(path, getppid());
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	cr_assert(fd >= 0, "cannot open %s", path);
	cr_assert(dprintf(fd, "%s\n", name) > 0, "cannot write to %s", path);
	(void)close(fd);
}

void test_folder(char *template)
{
	cr_assert(mkdtemp(template), "cannot make %s", template);
	note(template);
}

int test_file(char *template)
{
	int fd = mkstemp(template);

	cr_assert(fd >= 0, "cannot make %s", template);
	note(template);
	return fd;
}

ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
	char path[LIST_BYTES];
	int fd;

	(void)set;
	list_name(path, getpid());
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		(void)close(fd);
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
	char path[LIST_BYTES], made[PATH_BYTES];
	FILE *list;

	(void)stats;
	list_name(path, getpid());
	list = fopen(path, "re");
	while (list && fgets(made, sizeof(made), list)) {
		made[strcspn(made, "\n")] = '\0';
		(void)tree_try_remove(made);
	}
	if (list)
		(void)fclose(list);
	(void)unlink(path);
}

char *test_read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *data;
	long size;

	cr_assert(f, "cannot open %s", path);
	cr_assert(fseek(f, 0, SEEK_END) == 0);
	size = ftell(f);
	cr_assert(size >= 0);
	rewind(f);
	data = calloc(1, (size_t)size + 1);
	cr_assert(data);
	cr_assert(fread(data, 1, (size_t)size, f) == (size_t)size, "cannot read %s", path);
	(void)fclose(f);
	if (len)
		*len = (size_t)size;
	return data;
}

struct test_table {
	char *text;
	size_t rows, columns;
	const char **fields; /* (rows + 1) * columns, the header first */
};

static size_t count(const char *text, char what)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == what;
	return n;
}

/* Cuts one line into the table's fields; returns the start of the next line. */
static char *cut_line(struct test_table *t, char *line, size_t row)
{
	char *end = strchr(line, '\n');
	char *next = end ? end + 1 : line + strlen(line);
	size_t column = 0;

	if (end)
		*end = '\0';
	for (char *field = line; field && column < t->columns; column++) {
		t->fields[row * t->columns + column] = field;
		field = strchr(field, '\t');
		if (field)
			*field++ = '\0';
	}
	for (; column < t->columns; column++)
		t->fields[row * t->columns + column] = "";
	return next;
}

struct test_table *test_table_open(const char *path)
{
	struct test_table *t = calloc(1, sizeof(*t));
	char *line, *end;
	size_t lines;

	cr_assert(t);
	t->text = test_read_file(path, NULL);
	end = strchr(t->text, '\n');
	cr_assert(end, "%s has no header line", path);
	*end = '\0';
	t->columns = count(t->text, '\t') + 1;
	*end = '\n';
	lines = count(t->text, '\n') + 1;
	t->fields = calloc(lines * t->columns, sizeof(*t->fields));
	cr_assert(t->fields);
	line = cut_line(t, t->text, 0);
	while (*line)
		line = cut_line(t, line, ++t->rows);
	cr_assert(t->rows > 0, "%s has no row", path);
	return t;
}

void test_table_close(struct test_table *t)
{
	free(t->fields);
	free(t->text);
	free(t);
}

size_t test_table_rows(const struct test_table *t)
{
	return t->rows;
}

const char *test_table_get(const struct test_table *t, size_t row, const char *column)
{
	for (size_t c = 0; c < t->columns; c++)
		if (strcmp(t->fields[c], column) == 0)
			return t->fields[(row + 1) * t->columns + c];
	cr_assert_fail("there is no column %s", column);
	return "";
}

static bool has_id(struct test_ids ids, const char *id)
{
	for (size_t i = 0; i < ids.count; i++)
		if (strcmp(*(const char *const *)((const char *)ids.first + i * ids.step), id) == 0)
			return true;
	return false;
}

void test_table_is_covered(const char *relative, struct test_ids here, struct test_ids elsewhere)
{
	const char *path = test_shared(relative);
	struct test_table *t;
	size_t covered = 0;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *id = test_table_get(t, row, "id");
		bool found = has_id(here, id);

		cr_expect(found || has_id(elsewhere, id), "%s is not tested", id);
		covered += found;
	}
	cr_log_info("%s: %zu of %zu rows covered here", relative, covered, test_table_rows(t));
	test_table_close(t);
}
