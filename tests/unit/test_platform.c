/* SPDX-License-Identifier: Apache-2.0 */
#include "base/platform.h"

#include <string.h>

#include "base/json.h"
#include "test.h"

static struct ic_platform parsed(const char *text)
{
	struct imgcheck_error *err = NULL;
	struct ic_platform p;

	cr_assert(ic_platform_parse(text, &p, &err) == 0, "%s: %s", text, imgcheck_error_message(err));
	return p;
}

TEST(platform, names_are_normalised)
{
	static const struct {
		const char *text, *normal;
	} rows[] = {
		{"linux/amd64", "linux/amd64"},
		{"amd64", "linux/amd64"},
		{"x86_64", "linux/amd64"},
		{"Linux/X86-64/V1", "linux/amd64"},
		{"linux/amd64/v3", "linux/amd64/v3"},
		{"i386", "linux/386"},
		{"i686", "linux/386"},
		{"arm64", "linux/arm64"},
		{"aarch64", "linux/arm64"},
		{"linux/arm64/v8", "linux/arm64"},
		{"linux/arm64/8", "linux/arm64"},
		{"linux/arm64/v9", "linux/arm64/v9"},
		{"armhf", "linux/arm/v7"},
		{"armel", "linux/arm/v6"},
		{"arm", "linux/arm/v7"},
		{"arm/6", "linux/arm/v6"},
		{"arm/v8", "linux/arm/v8"},
		{"ppc64el", "linux/ppc64le"},
		{"linux/ppc64el", "linux/ppc64le"},
		{"s390x", "linux/s390x"},
		{"riscv64", "linux/riscv64"},
		{"windows/amd64", "windows/amd64"},
		{"macos/arm64", "darwin/arm64"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_platform p = parsed(rows[i].text);
		char text[IC_PLATFORM_TEXT_BYTES];

		ic_platform_text(&p, text);
		cr_assert_str_eq(text, rows[i].normal, "%s", rows[i].text);
	}
}

TEST(platform, what_is_no_platform_is_refused)
{
	static const char *const rows[] = {
		"", "/", "linux", "linux/", "linux/amd46", "/amd64", "linux/amd64/", "linux//v7", "linux/amd64/v2/x",
		"solaris/linux/amd64", "linux/arm/v7 ", "linux/arm/averyveryverylongvariant", "linux/\xc3\xa9",
		"averyverylongoperatingsystemwithnoend/amd64", "powerpc64le", "linux(10.0)/amd64",
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_platform p;

		cr_assert(ic_platform_parse(rows[i], &p, &err) == IMGCHECK_ERR_CONFIG, "%s", rows[i]);
		cr_assert(strstr(imgcheck_error_message(err), "as a platform"), "%s", imgcheck_error_message(err));
		imgcheck_error_free(err);
	}
}

TEST(platform, fields_of_an_index_may_be_anything)
{
	static const struct {
		const char *os, *architecture, *variant, *normal;
	} rows[] = {
		{NULL, "amd64", NULL, "linux/amd64"},
		{"Linux", "AMD64", "", "linux/amd64"},
		{"linux", NULL, NULL, "linux/"},
		{"linux", "powerpc64le", NULL, "linux/powerpc64le"},
		{"linux", "ppc64el", NULL, "linux/ppc64el"},
		{"unknown", "unknown", NULL, "unknown/unknown"},
		{"linux", "an-architecture-name-of-more-than-thirty-one-bytes", NULL, "unknown/unknown"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		char text[IC_PLATFORM_TEXT_BYTES];
		struct ic_platform p;

		ic_platform_from_fields(rows[i].os, rows[i].architecture, rows[i].variant, &p);
		ic_platform_text(&p, text);
		cr_assert_str_eq(text, rows[i].normal, "row %zu", i);
	}
}

TEST(platform, the_host_serves_itself)
{
	struct ic_platform host;

	ic_platform_host(&host);
	cr_assert_str_eq(host.os, "linux");
	cr_assert_eq(ic_platform_rank(&host, &host), 0);
}

/* For each node, what it takes, best first; whatever else is in `all` it refuses. */
TEST(platform, order_of_what_a_node_takes)
{
	static const char *const all[] = {
		"amd64", "amd64/v2", "amd64/v3", "amd64/v4", "386", "arm64", "arm64/v8.1", "arm64/v8.2", "arm64/v8.5",
		"arm64/v8.6", "arm64/v9", "arm64/v9.1", "arm/v8", "arm/v7", "arm/v6", "arm/v5", "ppc64le", "windows/amd64",
	};
	static const struct {
		const char *want, *takes[16];
	} rows[] = {
		{"amd64", {"amd64", "386"}},
		{"amd64/v2", {"amd64/v2", "amd64", "386"}},
		{"amd64/v4", {"amd64/v4", "amd64/v3", "amd64/v2", "amd64", "386"}},
		{"386", {"386"}},
		{"arm64", {"arm64", "arm/v8", "arm/v7", "arm/v6", "arm/v5"}},
		{"arm64/v8.2", {"arm64/v8.2", "arm64/v8.1", "arm64", "arm/v8", "arm/v7", "arm/v6", "arm/v5"}},
		{"arm64/v9", {"arm64/v9", "arm64/v8.5", "arm64/v8.2", "arm64/v8.1", "arm64", "arm/v8", "arm/v7", "arm/v6", "arm/v5"}},
		{"arm64/v9.1", {"arm64/v9.1", "arm64/v9", "arm64/v8.6", "arm64/v8.5", "arm64/v8.2", "arm64/v8.1", "arm64", "arm/v8",
		                "arm/v7", "arm/v6", "arm/v5"}},
		{"arm/v8", {"arm/v8", "arm/v7", "arm/v6", "arm/v5"}},
		{"arm/v7", {"arm/v7", "arm/v6", "arm/v5"}},
		{"arm/v6", {"arm/v6", "arm/v5"}},
		{"arm/v5", {"arm/v5"}},
		{"ppc64le", {"ppc64le"}},
		{"windows/amd64", {"windows/amd64"}},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_platform want = parsed(rows[i].want);
		size_t taken = 0, expected = 0;
		int before = -1;

		for (; rows[i].takes[expected]; expected++) {
			struct ic_platform have = parsed(rows[i].takes[expected]);
			int rank = ic_platform_rank(&want, &have);

			cr_assert(rank > before, "%s takes %s at %d", rows[i].want, rows[i].takes[expected], rank);
			before = rank;
		}
		for (size_t k = 0; k < IC_COUNT(all); k++) {
			struct ic_platform have = parsed(all[k]);

			taken += ic_platform_rank(&want, &have) >= 0;
		}
		cr_assert_eq(taken, expected, "%s takes %zu of all", rows[i].want, taken);
	}
}

TEST(platform, odd_variants_match_only_themselves)
{
	static const char *const odd[] = {"amd64/v2.1", "amd64/x", "arm64/v", "arm64/8.2", "arm64/v8.", "arm64/v8.22", "arm/v7.1",
	                                  "arm/v77"};
	struct ic_platform wide[] = {parsed("amd64/v4"), parsed("arm64/v9.9"), parsed("arm/v8")};

	for (size_t i = 0; i < IC_COUNT(odd); i++) {
		struct ic_platform p = parsed(odd[i]);

		cr_assert_eq(ic_platform_rank(&p, &p), 0, "%s", odd[i]);
		for (size_t k = 0; k < IC_COUNT(wide); k++)
			cr_assert_eq(ic_platform_rank(&wide[k], &p), -1, "%s", odd[i]);
	}
}

/* The entry that a node takes by rank alone: entries without a platform, and features, are not for this module. */
static bool best_entry(const char *host, const json_t *entries, const char **best)
{
	struct ic_platform want = parsed(host);
	int best_rank = -1;
	json_t *entry;
	size_t i;

	*best = "none";
	json_array_foreach(entries, i, entry) {
		const json_t *fields = json_object_get(entry, "platform");
		struct ic_platform have;
		int rank;

		if (!json_is_object(fields) || json_object_get(fields, "os.features"))
			return false;
		ic_platform_from_fields(ic_json_text(fields, "os"), ic_json_text(fields, "architecture"),
		                        ic_json_text(fields, "variant"), &have);
		rank = ic_platform_rank(&want, &have);
		if (rank >= 0 && (best_rank < 0 || rank < best_rank)) {
			best_rank = rank;
			*best = ic_json_text(entry, "id");
		}
	}
	return true;
}

TEST(platform, rows_of_the_facts)
{
	const char *path = test_shared("facts/platform_match.tsv");
	struct test_table *t;
	size_t tested = 0;

	if (!path)
		cr_skip("no shared facts here");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *text = test_table_get(t, row, "entries_json"), *best;
		json_t *entries;

		cr_assert(ic_json_parse(NULL, text, strlen(text), &entries, NULL) == 0);
		if (best_entry(test_table_get(t, row, "host"), entries, &best)) {
			cr_assert_str_eq(best, test_table_get(t, row, "ctd_local"), "%s", test_table_get(t, row, "id"));
			tested++;
		}
		json_decref(entries);
	}
	cr_assert_geq(tested, 30);
	test_table_close(t);
}
