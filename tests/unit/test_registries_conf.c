/* SPDX-License-Identifier: Apache-2.0 */
#include "source/registries_conf.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"
#include "tree.h"

/* The places in order, "NAME[ insecure][ blocked]" joined by " ; ". */
static void tell(const struct ic_vec *found, struct ic_buf *out)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct ic_pull_source *s = ic_vec_at(found, i);

		cr_assert_eq(ic_buf_printf(out, NULL, "%s%s%s%s", i ? " ; " : "", s->name, s->insecure ? " insecure" : "",
		                           s->blocked ? " blocked" : ""),
		             0);
		cr_assert(s->primary || i + 1 < found->count, "the registry itself comes last");
	}
}

static int find(const struct ic_registries_conf *c, const char *image, struct ic_buf *out, struct imgcheck_error **err)
{
	struct ic_vec found;
	struct ic_ref ref;
	int result;

	ic_vec_init(&found, sizeof(struct ic_pull_source), IC_MAX_LIST_ITEMS);
	cr_assert_eq(ic_ref_parse(image, strlen(image), &ref, NULL), 0, "%s", image);
	result = ic_registries_conf_find(c, &ref, &found, err);
	if (result == 0)
		tell(&found, out);
	ic_pull_sources_clear(&found);
	ic_ref_clear(&ref);
	return result;
}

static void check_row(const struct test_table *t, size_t row)
{
	const char *id = test_table_get(t, row, "id"), *expected = test_table_get(t, row, "sources");
	char folder[] = "/tmp/imgcheck-registries-XXXXXX", path[64];
	struct imgcheck_error *err = NULL;
	struct ic_registries_conf c;
	struct ic_buf told;
	int result;

	ic_buf_init(&told, (size_t)1 << 16);
	ic_registries_conf_init(&c);
	tree_make(folder, test_table_get(t, row, "files"));
	(void)snprintf(path, sizeof(path), "%s/registries.conf", folder);
	result = ic_registries_conf_read(&c, path, &err);
	if (result == 0)
		result = find(&c, test_table_get(t, row, "image"), &told, &err);
	if (strncmp(expected, "error: ", 7) == 0) {
		cr_assert_eq(result, IMGCHECK_ERR_CONFIG, "%s", id);
		cr_assert(strstr(imgcheck_error_message(err), expected + 7), "%s: %s", id, imgcheck_error_message(err));
	} else {
		cr_assert_eq(result, 0, "%s: %s", id, imgcheck_error_message(err));
		cr_assert_str_eq(ic_buf_text(&told), expected, "%s: %s", id, ic_buf_text(&told));
	}
	imgcheck_error_free(err);
	ic_buf_clear(&told);
	ic_registries_conf_clear(&c);
	tree_remove(folder);
}

TEST(registries_conf, finds_the_places_in_order)
{
	struct test_table *t = test_table_open(test_data("mirrors/registries_conf.tsv"));

	for (size_t row = 0; row < test_table_rows(t); row++)
		check_row(t, row);
	test_table_close(t);
}

/* Facts that are not about the order of places, and where they are shown. */
static const char *const elsewhere[] = {"S24", "S25"};

static bool has_row(const struct test_table *t, const char *id)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(elsewhere[i], id) == 0)
			return true;
	for (size_t row = 0; row < test_table_rows(t); row++)
		if (strcmp(test_table_get(t, row, "id"), id) == 0)
			return true;
	return false;
}

TEST(registries_conf, each_fact_has_a_row)
{
	const char *path = test_shared("facts/registries_conf.tsv");
	struct test_table *facts, *t;

	if (!path)
		cr_skip("no ../shared");
	facts = test_table_open(path);
	t = test_table_open(test_data("mirrors/registries_conf.tsv"));
	for (size_t row = 0; row < test_table_rows(facts); row++)
		cr_assert(has_row(t, test_table_get(facts, row, "id")), "%s", test_table_get(facts, row, "id"));
	test_table_close(t);
	test_table_close(facts);
}

TEST(registries_conf, names_file_and_line)
{
	static const char text[] = "[[registry]]\nlocation = \"https://m\"\n";
	struct imgcheck_error *err = NULL;
	struct ic_registries_conf c;
	unsigned line;

	ic_registries_conf_init(&c);
	cr_assert_eq(ic_registries_conf_add(&c, "given.conf", text, strlen(text), &err), IMGCHECK_ERR_CONFIG);
	cr_assert_str_eq(imgcheck_error_place(err, &line, NULL), "given.conf");
	cr_assert_eq(line, 2);
	imgcheck_error_free(err);
	ic_registries_conf_clear(&c);
}
