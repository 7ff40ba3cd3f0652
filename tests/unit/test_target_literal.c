/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "manifest/target_literal.h"

TEST(target_literal, is_what_every_yaml_takes_it_for)
{
	static const struct {
		const char *yaml, *json; /* NULL: refused */
	} rows[] = {
		{"text", "\"text\""},
		{"'3'", "\"3\""},
		{"\"true\"", "\"true\""},
		{"'yes'", "\"yes\""},
		{"''", "\"\""},
		{"null", "null"},
		{"~", "null"},
		{"Null", "null"},
		{"true", "true"},
		{"True", "true"},
		{"FALSE", "false"},
		{"3", "3"},
		{"-3", "-3"},
		{"0", "0"},
		{"1.5", "1.5"},
		{"-0.25", "-0.25"},
		{"1.28.3", "\"1.28.3\""},
		{"0.14.2", "\"0.14.2\""},
		{"40Mi", "\"40Mi\""},
		{"v1", "\"v1\""},
		{"10.0.0.1:5000", "\"10.0.0.1:5000\""},
		{"2024-01-02", "\"2024-01-02\""},
		{"1-2", "\"1-2\""},
		{"3d", "\"3d\""},
		{"-", NULL},
		{"yes", NULL},
		{"No", NULL},
		{"on", NULL},
		{"y", NULL},
		{"0644", NULL},
		{"0x1F", NULL},
		{"0o17", NULL},
		{"1_000", NULL},
		{"12:30", NULL},
		{"1.", NULL},
		{".5", NULL},
		{"+3", NULL},
		{"1e3", NULL},
		{"1.5E-3", NULL},
		{".inf", NULL},
		{".NaN", NULL},
		{"99999999999999999999", NULL},
		{"!!str 3", "\"3\""},
		{"!!int '3'", NULL},
		{"!x 3", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ic_doc *doc = NULL;
		json_t *value = NULL;
		char *text;
		int result = ic_yaml_parse("t", rows[i].yaml, strlen(rows[i].yaml), &doc, NULL);

		if (result == 0 && doc->root && doc->root->kind == IC_NODE_SCALAR)
			result = ic_literal_read(doc->root, &value, NULL);
		else
			result = -1;
		if (rows[i].json) {
			cr_assert_eq(result, 0, "%s", rows[i].yaml);
			text = json_dumps(value, JSON_ENCODE_ANY);
			cr_assert_str_eq(text, rows[i].json, "%s", rows[i].yaml);
			free(text);
		} else {
			cr_assert_lt(result, 0, "%s", rows[i].yaml);
			cr_assert_null(value);
		}
		json_decref(value);
		ic_doc_free(doc);
	}
}
