/* SPDX-License-Identifier: Apache-2.0 */

/* YAML for programs: JSON that tells lines (imgcheck_yaml_read). */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgcheck.h"
#include "test.h"

static int read_text(const char *text, char **json, struct imgcheck_error **err)
{
	char path[] = "/tmp/imgcheck-yaml-XXXXXX";
	int fd = test_file(path), result;

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	result = imgcheck_yaml_read(path, json, err);
	unlink(path);
	return result;
}

TEST(yaml_read, values_and_lines)
{
	static const struct {
		const char *yaml, *json;
	} cases[] = {
		{"", "{\"line\":1,\"text\":null}"},
		{"a", "{\"line\":1,\"text\":\"a\"}"},
		{"\nno", "{\"line\":2,\"text\":\"no\"}"},
		{"'~'", "{\"line\":1,\"text\":\"~\"}"},
		{"[]", "{\"line\":1,\"items\":[]}"},
		{"- a\n-\n", "{\"line\":1,\"items\":[{\"line\":1,\"text\":\"a\"},{\"line\":2,\"text\":null}]}"},
		{"b: 1\na: {c: x}\n",
		 "{\"line\":1,\"members\":[{\"key\":\"b\",\"line\":1,\"value\":{\"line\":1,\"text\":\"1\"}},"
		 "{\"key\":\"a\",\"line\":2,\"value\":{\"line\":2,\"members\":[{\"key\":\"c\",\"line\":2,\"value\":"
		 "{\"line\":2,\"text\":\"x\"}}]}}]}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct imgcheck_error *err = NULL;
		char *json = NULL;

		cr_assert_eq(read_text(cases[i].yaml, &json, &err), 0, "%s: %s", cases[i].yaml, imgcheck_error_message(err));
		cr_expect_str_eq(json, cases[i].json, "%s: %s", cases[i].yaml, json);
		free(json);
	}
}

TEST(yaml_read, refuses)
{
	static const struct {
		const char *yaml;
		enum imgcheck_err code;
		unsigned line;
	} cases[] = {
		{"a: 1\na: 2\n", IMGCHECK_ERR_CONFIG, 2},
		{"a: [\n", IMGCHECK_ERR_SYNTAX, 2},
		{"a\n---\nb\n", IMGCHECK_ERR_SYNTAX, 2},
		{"? [a]\n: b\n", IMGCHECK_ERR_SYNTAX, 1},
		{"\"a\\0b\"", IMGCHECK_ERR_SYNTAX, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct imgcheck_error *err = NULL;
		unsigned line = 0;
		char *json = NULL;

		cr_expect_eq(read_text(cases[i].yaml, &json, &err), (int)cases[i].code, "%s: %s", cases[i].yaml,
		             imgcheck_error_message(err));
		cr_expect_not_null(imgcheck_error_place(err, &line, NULL));
		cr_expect_eq(line, cases[i].line, "%s: line %u", cases[i].yaml, line);
		cr_expect_null(json);
		imgcheck_error_free(err);
	}
}

TEST(yaml_read, is_bounded)
{
	char deep[512], *wide = malloc(200001), *json = NULL;

	cr_assert_not_null(wide);
	memset(deep, '[', 150);
	memset(deep + 150, ']', 150);
	deep[300] = '\0';
	cr_expect_eq(read_text(deep, &json, NULL), IMGCHECK_ERR_LIMIT);
	for (size_t i = 0; i < 200000; i += 2)
		memcpy(wide + i, i ? ",a" : "[a", 2);
	wide[199998] = ']';
	wide[199999] = wide[200000] = '\0';
	cr_expect_eq(read_text(wide, &json, NULL), IMGCHECK_ERR_LIMIT);
	cr_expect_null(json);
	free(wide);
}

TEST(yaml_read, arguments_and_files)
{
	char *json = NULL;

	cr_expect_eq(imgcheck_yaml_read(NULL, &json, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_yaml_read("/", NULL, NULL), IMGCHECK_ERR_ARGUMENT);
	cr_expect_eq(imgcheck_yaml_read("/", &json, NULL), IMGCHECK_ERR_IO);
	cr_expect_eq(imgcheck_yaml_read("/nonexistent", &json, NULL), IMGCHECK_ERR_IO);
}
