/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/documents.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

TEST(documents, kinds_of_text)
{
	/* found: the line on which each document starts, and its member "a" */
	static const struct {
		const char *name, *text, *found;
		enum imgcheck_err code;
		unsigned line;
		const char *words;
	} rows[] = {
		{"x", "a: 1\n---\na: 2\n", "1=1 2=2 ", IMGCHECK_OK, 0, NULL},
		{"x", "{\"a\": 1}", "1=1 ", IMGCHECK_OK, 0, NULL},
		{"x", "\xef\xbb\xbf {\"a\": 1}\n{\"a\": 2}\n\n{\n\"a\": 3}\n", "1=1 2=2 4=3 ", IMGCHECK_OK, 0, NULL},
		{"x", "{a: 1, b: [c]}\n---\na: 2\n", "1=1 2=2 ", IMGCHECK_OK, 0, NULL},
		{"x", "{\"a\": 1}\n---\na: 2\n---\n{\"a\": 3}\n", "1=1 2=2 4=3 ", IMGCHECK_OK, 0, NULL},
		{"x", "[{\"a\": 1}]\n", "1=- ", IMGCHECK_OK, 0, NULL},
		{"x", "", "", IMGCHECK_OK, 0, NULL},
		{"x", " \n", "", IMGCHECK_OK, 0, NULL},
		{"x.json", "{\"a\": 1}\n{\"a\": }\n", "1=1 ", IMGCHECK_ERR_SYNTAX, 2, "cannot read JSON"},
		{"x.json", "{\"a\" 1}\n", "", IMGCHECK_ERR_SYNTAX, 1, "cannot read JSON"},
		{"x.yaml", "{a: 1\n", "", IMGCHECK_ERR_SYNTAX, 2, "cannot read YAML"},
		{"x", "{\"a\": 1}\n{\"a\": 2}\nrest: [\n", "1=1 2=2 ", IMGCHECK_ERR_SYNTAX, 3, "cannot read JSON"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_docs *docs = NULL;
		struct ic_doc *doc = NULL;
		char found[128] = "";
		unsigned line;

		cr_assert_eq(ic_docs_new(rows[i].name, rows[i].text, strlen(rows[i].text), &docs, NULL), 0);
		while (ic_docs_next(docs, &doc, &err) == 0 && doc) {
			const char *a = ic_node_get_text(doc->root, "a");

			(void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%u=%s ", doc->line, a ? a : "-");
			ic_doc_free(doc);
		}
		cr_expect_str_eq(found, rows[i].found, "row %zu", i);
		cr_expect_eq(imgcheck_error_code(err), rows[i].code, "row %zu: %s", i, imgcheck_error_message(err));
		(void)imgcheck_error_place(err, &line, NULL);
		cr_expect_eq(line, rows[i].line, "row %zu: line %u", i, line);
		if (rows[i].words)
			cr_expect(strstr(imgcheck_error_message(err), rows[i].words), "row %zu: %s", i, imgcheck_error_message(err));
		cr_expect_eq(ic_docs_next(docs, &doc, NULL), 0, "row %zu: after the end", i);
		cr_expect_null(doc);
		imgcheck_error_free(err);
		ic_docs_free(docs);
	}
}

/* JSON with more structure than is read as a whole is read as YAML. */
TEST(documents, long_json)
{
	struct ic_docs *docs = NULL;
	struct ic_doc *doc = NULL;
	struct ic_buf text;

	ic_buf_init(&text, (size_t)4 << 20);
	cr_assert_eq(ic_buf_add_text(&text, "{\"a\": 1, \"b\": [", NULL), 0);
	for (size_t i = 0; i < IC_MAX_JSON_TOKENS; i++)
		cr_assert_eq(ic_buf_add_text(&text, "1,", NULL), 0);
	cr_assert_eq(ic_buf_add_text(&text, "1]}", NULL), 0);
	cr_assert_eq(ic_docs_new("x.json", text.data, text.len, &docs, NULL), 0);
	cr_assert_eq(ic_docs_next(docs, &doc, NULL), 0);
	cr_expect_str_eq(ic_node_get_text(doc->root, "a"), "1");
	cr_expect_eq(ic_node_get(doc->root, "b")->len, IC_MAX_JSON_TOKENS + 1);
	ic_doc_free(doc);
	ic_docs_free(docs);
	ic_buf_clear(&text);
}
