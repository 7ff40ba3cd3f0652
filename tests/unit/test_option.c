/* SPDX-License-Identifier: Apache-2.0 */
#include "source/option.h"

#include <string.h>

#include "base/limits.h"
#include "test.h"

struct row {
	enum imgcheck_option option;
	const char *value;
	const char *complaint; /* a part of the message, NULL where the value is taken */
};

static const struct row rows[] = {
	{IMGCHECK_OPTION_REGISTRY, "registry.internal", NULL},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal:5000/cdk/mirror", NULL},
	{IMGCHECK_OPTION_REGISTRY, "localhost", NULL},
	{IMGCHECK_OPTION_REGISTRY, "host:5000", NULL},
	{IMGCHECK_OPTION_REGISTRY, "[2001:db8::1]:5000/a__b", NULL},
	{IMGCHECK_OPTION_REGISTRY, "", "empty"},
	{IMGCHECK_OPTION_REGISTRY, "https://registry.internal", "scheme"},
	{IMGCHECK_OPTION_REGISTRY, "registry", "Docker Hub"},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal/", "is not host"},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal/Upper", "is not host"},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal/a//b", "is not host"},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal:0", "is not host"},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal:65536/a", "is not host"},
	{IMGCHECK_OPTION_REGISTRY, "registry.internal:5000/a:tag", "is not host"},
	{IMGCHECK_OPTION_REGISTRY, "user@registry.internal", "holds a login"},
	{IMGCHECK_OPTION_REGISTRY, "registry internal", "is not host"},
	{IMGCHECK_OPTION_REWRITE, "true", NULL},
	{IMGCHECK_OPTION_REWRITE, "false", NULL},
	{IMGCHECK_OPTION_REWRITE, "yes", "only: false, true"},
	{IMGCHECK_OPTION_REQUIRE_MIRROR, "true", NULL},
	{IMGCHECK_OPTION_REQUIRE_MIRROR, "1", "only: false, true"},
	{IMGCHECK_OPTION_REWRITE_MAP, "quay.io/org=registry.internal/quay", NULL},
	{IMGCHECK_OPTION_REWRITE_MAP, "docker.io=registry.internal:5000", NULL},
	{IMGCHECK_OPTION_REWRITE_MAP, "quay.io", "FROM=TO"},
	{IMGCHECK_OPTION_REWRITE_MAP, "quay.io=", "is not host"},
	{IMGCHECK_OPTION_REWRITE_MAP, "=registry.internal", "is not host"},
	{IMGCHECK_OPTION_REWRITE_MAP, "quay.io=https://registry.internal", "scheme"},
	{IMGCHECK_OPTION_REWRITE_MAP, "quay=registry.internal", "Docker Hub"},
	{IMGCHECK_OPTION_RUNTIME, "containerd", NULL},
	{IMGCHECK_OPTION_RUNTIME, "crio", NULL},
	{IMGCHECK_OPTION_RUNTIME, "docker", "only: containerd, crio"},
	{IMGCHECK_OPTION_PLATFORM, "linux/arm64", NULL},
	{IMGCHECK_OPTION_PLATFORM, "linux/", "cannot set platform"},
	{IMGCHECK_OPTION_DEPTH, "bytes", NULL},
	{IMGCHECK_OPTION_DEPTH, "deep", "only: tag, platform, blobs, bytes"},
	{IMGCHECK_OPTION_RESERVE, "0", NULL},
	{IMGCHECK_OPTION_RESERVE, "1000000", NULL},
	{IMGCHECK_OPTION_RESERVE, "1000001", "up to 1000000"},
	{IMGCHECK_OPTION_RESERVE, "few", "up to 1000000"},
	{IMGCHECK_OPTION_DEADLINE, "1", NULL},
	{IMGCHECK_OPTION_DEADLINE, "3600", NULL},
	{IMGCHECK_OPTION_DEADLINE, "0", "1 to 3600"},
	{IMGCHECK_OPTION_DEADLINE, "3601", "1 to 3600"},
	{IMGCHECK_OPTION_DEADLINE, "-5", "1 to 3600"},
	{IMGCHECK_OPTION_DEADLINE, "4m", "1 to 3600"},
	{IMGCHECK_OPTION_PLAIN_HTTP, "registry.internal", NULL},
	{IMGCHECK_OPTION_PLAIN_HTTP, "10.0.0.1:5000", NULL},
	{IMGCHECK_OPTION_PLAIN_HTTP, "http://registry.internal", "host[:port]"},
	{IMGCHECK_OPTION_SKIP_VERIFY, "registry.internal:5000/prefix", "host[:port]"},
	{IMGCHECK_OPTION_SKIP_VERIFY, "*", "host[:port]"},
	{IMGCHECK_OPTION_HTTP_PROXY, "", NULL},
	{IMGCHECK_OPTION_HTTP_PROXY, "http://proxy.internal:3128", NULL},
	{IMGCHECK_OPTION_HTTPS_PROXY, "proxy.internal:3128/path", "path"},
	{IMGCHECK_OPTION_NO_PROXY, "10.0.0.0/33", "10.0.0.0/33"},
	{IMGCHECK_OPTION_IGNORE, "*/internal/*", NULL},
	{IMGCHECK_OPTION_IGNORE, "a b", "match no reference"},
	{IMGCHECK_OPTION_IGNORE, "", "empty"},
	{IMGCHECK_OPTION_ON_MISSING, "veto", NULL},
	{IMGCHECK_OPTION_ON_ACCESS, "warn", NULL},
	{IMGCHECK_OPTION_ON_UNDECIDED, "allow", "only: veto, warn"},
	{IMGCHECK_OPTION_SUBJECT, "cdk-addons revision 1250 (1.28.3)", NULL},
	{IMGCHECK_OPTION_CONSEQUENCE, "two\nlines", "one line"},
	{IMGCHECK_OPTION_REMEDY, "\xff", "UTF-8"},
	{IMGCHECK_OPTION_REMEDY, "d\xc3\xa9j\xc3\xa0", NULL},
};

TEST(option, takes_and_refuses)
{
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		int result = ic_option_check(rows[i].option, rows[i].value, &err);
		const char *name;

		cr_assert_eq(result, rows[i].complaint ? IMGCHECK_ERR_CONFIG : 0, "%s: %s", rows[i].value, imgcheck_error_message(err));
		cr_assert_eq(imgcheck_error_code(err), (enum imgcheck_err)result);
		if (rows[i].complaint) {
			cr_assert(imgcheck_option_info(rows[i].option, &name, NULL, NULL));
			cr_assert(strstr(imgcheck_error_message(err), rows[i].complaint), "%s: %s", rows[i].value, imgcheck_error_message(err));
			cr_assert(strstr(imgcheck_error_message(err), name), "%s", imgcheck_error_message(err));
		}
		imgcheck_error_free(err);
	}
}

TEST(option, refuses_what_it_does_not_know)
{
	struct imgcheck_error *err = NULL;
	const char *name = "x", *argument = "x", *help = "x";

	cr_assert_eq(ic_option_check((enum imgcheck_option)IC_OPTION_COUNT, "x", &err), IMGCHECK_ERR_ARGUMENT);
	imgcheck_error_free(err);
	err = NULL;
	cr_assert_eq(ic_option_check(IMGCHECK_OPTION_DEPTH, NULL, &err), IMGCHECK_ERR_ARGUMENT);
	imgcheck_error_free(err);
	cr_assert_not(imgcheck_option_info((enum imgcheck_option)IC_OPTION_COUNT, &name, &argument, &help));
	cr_assert(!name && !argument && !help);
	cr_assert_null(ic_option_get((enum imgcheck_option)-1));
}

TEST(option, bounds_values)
{
	char *text = calloc(1, IC_MAX_OPTION_BYTES + 2);
	struct imgcheck_error *err = NULL;

	memset(text, 'a', IC_MAX_OPTION_BYTES + 1);
	cr_assert_eq(ic_option_check(IMGCHECK_OPTION_SUBJECT, text, &err), IMGCHECK_ERR_CONFIG);
	cr_assert(strstr(imgcheck_error_message(err), "longer than"));
	imgcheck_error_free(err);
	text[IC_MAX_OPTION_BYTES] = '\0';
	cr_assert_eq(ic_option_check(IMGCHECK_OPTION_SUBJECT, text, NULL), 0);
	cr_assert_eq(ic_option_check(IMGCHECK_OPTION_REGISTRY, text, NULL), IMGCHECK_ERR_CONFIG);
	free(text);
}

TEST(option, describes_every_row)
{
	const char *name, *argument, *help;
	size_t count = 0;

	for (; imgcheck_option_info((enum imgcheck_option)count, &name, &argument, &help); count++) {
		const struct ic_option *option = ic_option_get((enum imgcheck_option)count);

		cr_assert(name && name[0] && help && help[0], "row %zu", count);
		cr_assert(!argument || argument[0]);
		cr_assert(option->words || option->check, "%s", name);
		cr_assert(!(option->list && option->initial), "%s: a list has no default", name);
		if (option->initial)
			cr_assert_eq(ic_option_check((enum imgcheck_option)count, option->initial, NULL), 0, "%s", name);
		for (size_t before = 0; before < count; before++)
			cr_assert_str_neq(ic_option_get((enum imgcheck_option)before)->name, name);
	}
	cr_assert_eq(count, (size_t)IC_OPTION_COUNT);
}
