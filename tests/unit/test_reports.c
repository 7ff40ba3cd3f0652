/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

/*
 * Pulls that really failed, or did not though a checker said so: data/reports/reports.tsv names for each report the
 * file below tests/ and the mark in it of the test that covers it.
 */

TEST(reports, each_has_its_test)
{
	struct test_table *t = test_table_open(test_data("reports/reports.tsv"));

	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *number = test_table_get(t, row, "number"), *file = test_table_get(t, row, "file");
		char path[512], *text;

		(void)snprintf(path, sizeof(path), "../%s", file);
		text = test_read_file(test_data(path), NULL);
		cr_expect(strstr(text, test_table_get(t, row, "mark")), "%s: %s lacks %s", number, file, test_table_get(t, row, "mark"));
		free(text);
	}
	test_table_close(t);
}

static bool is_listed(const struct test_table *t, const char *number, size_t len)
{
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *other = test_table_get(t, row, "number");

		if (strlen(other) == len && strncmp(other, number, len) == 0)
			return true;
	}
	return false;
}

/* The reports of the facts are numbered "1. **FM** https://..." and so on. */
TEST(reports, none_of_the_facts_is_left_out)
{
	const char *path = test_shared("facts/registry.md");
	struct test_table *t;
	char *text;
	size_t count = 0;

	if (!path)
		cr_skip("no ../shared/facts");
	text = test_read_file(path, NULL);
	t = test_table_open(test_data("reports/reports.tsv"));
	for (const char *line = strstr(text, "\n# C. "); line; line = strchr(line, '\n')) {
		size_t len = strspn(++line, "0123456789");

		if (len == 0 || strncmp(line + len, ". **", 4) != 0)
			continue;
		if (strncmp(line + len + 4, "FM**", 4) != 0 && strncmp(line + len + 4, "FO**", 4) != 0 &&
		    strncmp(line + len + 4, "WR**", 4) != 0 && strncmp(line + len + 4, "DIV**", 5) != 0)
			continue;
		cr_expect(is_listed(t, line, len), "report %.*s is not listed", (int)len, line);
		count++;
	}
	cr_assert_geq(count, 40);
	test_table_close(t);
	free(text);
}
