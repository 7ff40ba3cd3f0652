/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/json.h"
#include "test.h"

static void append(char *out, size_t size, const char *text)
{
	size_t used = strlen(out);

	(void)snprintf(out + used, size - used, "%s", text);
}

/* A tree in one line: scalars as they are ("~" for null), [a,b], {k:v}. */
static void dump(const struct ic_node *node, char *out, size_t size)
{
	if (!node || node->kind == IC_NODE_SCALAR) {
		append(out, size, ic_node_is_null(node) ? "~" : node->text);
		return;
	}
	append(out, size, node->kind == IC_NODE_MAPPING ? "{" : "[");
	for (const struct ic_item *i = ic_node_items(node); i; i = i->next) {
		if (i->key) {
			dump(i->key, out, size);
			append(out, size, ":");
		}
		dump(i->value, out, size);
		if (i->next)
			append(out, size, ",");
	}
	append(out, size, node->kind == IC_NODE_MAPPING ? "}" : "]");
}

/* All documents of a stream, a space between them; the first error is left in *err. */
static void dump_stream(const char *text, size_t len, char *out, size_t size, struct imgcheck_error **err)
{
	struct ic_yaml *y = NULL;
	struct ic_doc *doc = NULL;

	out[0] = '\0';
	cr_assert_eq(ic_yaml_new_text("file.yaml", text, len, &y, err), 0);
	while (ic_yaml_next(y, &doc, err) == 0 && doc) {
		if (out[0])
			append(out, size, " ");
		dump(doc->root, out, size);
		ic_doc_free(doc);
	}
	cr_expect_null(doc, "an output beside an error");
	cr_expect_eq(ic_yaml_next(y, &doc, NULL), 0, "after its end a stream stays there");
	cr_expect_null(doc);
	ic_yaml_free(y);
}

TEST(yaml, documents)
{
	static const struct {
		const char *text, *tree;
	} rows[] = {
		{"", ""},
		{"# only a comment\n", ""},
		{"---\n", "~"},
		{"a: 1\nb: [x, 'y', \"z\"]\n", "{a:1,b:[x,y,z]}"},
		{"a: 1\n---\nb: 2\n...\n---\n~\n", "{a:1} {b:2} ~"},
		{"? k\n: v\n", "{k:v}"},
		/* what would never end is cut */
		{"a: &a [x, *a]\nb: *a\n", "{a:[x,~],b:[x,~]}"},
		{"a: &a {<<: *a, b: 1}\n", "{a:{b:1}}"},
		{"a: &x 1\nb: *x\n", "{a:1,b:1}"},
		{"a: 1\rb: 2\r", "{a:1,b:2}"},
		{"a: 1\r\nb: 2\r\n", "{a:1,b:2}"},
		{"\xef\xbb\xbf" "a: 1\n---\n\xef\xbb\xbf" "b: 2\n", "{a:1} {b:2}"},
		{"a:\tb\t# c\n", "{a:b}"},
		{"%YAML 1.1\n---\na: b\n", "{a:b}"},
		{"%TAG !e! tag:example.com,2000:\n---\na: !e!x b\n", "{a:b}"},
		{"a: !Sub b\n", "{a:b}"},
		{"x: |\n  ---\n  y: 1\nz: 2\n", "{x:---\ny: 1\n,z:2}"},
		/* merge keys: what stands last wins, of several sources the first */
		{"x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\n", "{x:{a:1,b:2},y:{a:1,b:3}}"},
		{"x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x, a: 4}\n", "{x:{a:1,b:2},y:{b:2,a:4}}"},
		{"{<<: {a: 1, b: 1}, <<: {a: 2}}\n", "{b:1,a:2}"},
		{"{a: 0, <<: [{a: 1}, {}, {a: 2, b: 2}, {b: 3}], c: 4}\n", "{b:2,a:1,c:4}"},
		{"{a: 0, <<: {a: 1, <<: {a: 2}}}\n", "{a:2}"},
		{"{<<: []}\n", "{}"},
		{"x: &x {a: 1}\ny: &y {a: 2, c: 3}\nz: {<<: [*x, *y]}\n", "{x:{a:1},y:{a:2,c:3},z:{c:3,a:1}}"},
		{"{<<: {a: 1}, a: 2}\n", "{a:2}"},
		{"{\"<<\": {a: 1}}\n", "{<<:{a:1}}"},
		{"{<<: ~, a: 2}\n", "{a:2}"},
		/* duplicate keys: the last one */
		{"a: 1\nb: 2\na: 3\n", "{b:2,a:3}"},
		{"{[x]: 1, [x]: 2, {a: b}: c}\n", "{[x]:1,[x]:2,{a:b}:c}"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		char tree[256];

		dump_stream(rows[i].text, strlen(rows[i].text), tree, sizeof(tree), &err);
		cr_expect_null(err, "%s: %s", rows[i].text, imgcheck_error_message(err));
		cr_expect_str_eq(tree, rows[i].tree, "%s", rows[i].text);
		imgcheck_error_free(err);
	}
}

TEST(yaml, a_document_of_version_1_2)
{
	static const char text[] = "%YAML 1.2\n---\na: b\n";
	struct imgcheck_error *err = NULL;
	char tree[32];

	dump_stream(text, sizeof(text) - 1, tree, sizeof(tree), &err);
	if (test_libyaml_reads(text))
		cr_assert_str_eq(tree, "{a:b}", "%s", imgcheck_error_message(err));
	else
		cr_assert_eq(imgcheck_error_code(err), IMGCHECK_ERR_SYNTAX);
	imgcheck_error_free(err);
}

TEST(yaml, errors_name_the_place_and_leave_earlier_documents)
{
	static const struct {
		const char *text;
		size_t len; /* 0: strlen */
		enum imgcheck_err code;
		const char *tree, *words;
		unsigned line, column;
	} rows[] = {
		{"a: 1\n---\nb: [\n", 0, IMGCHECK_ERR_SYNTAX, "{a:1}", "syntax error", 4, 1},
		{"a:\n\tb: 1\n", 0, IMGCHECK_ERR_SYNTAX, "", "syntax error", 2, 1},
		{"a: \"x\n", 0, IMGCHECK_ERR_SYNTAX, "", "unexpected end of stream", 2, 1},
		{"a: 1\n<<<<<<< HEAD\nb: 2\n", 0, IMGCHECK_ERR_SYNTAX, "", "syntax error", 3, 1},
		{"a: *nothing\n", 0, IMGCHECK_ERR_SYNTAX, "", "has no anchor", 1, 4},
		{"a: {<<: text}\n", 0, IMGCHECK_ERR_SYNTAX, "", "cannot merge", 1, 13},
		{"a: 1\n---\nb: caf\xe9\n", 0, IMGCHECK_ERR_SYNTAX, "{a:1}", "invalid UTF-8 (byte 0xe9)", 3, 7},
		{"a: 1\n...\n---\nb: 1 # \xe9\n", 0, IMGCHECK_ERR_SYNTAX, "{a:1}", "invalid UTF-8", 4, 8},
		{"a: 1\n# cut \xe2\x82", 0, IMGCHECK_ERR_SYNTAX, "", "invalid UTF-8 (byte 0xe2)", 2, 7},
		{"a: \xed\xa0\x80\n", 0, IMGCHECK_ERR_SYNTAX, "", "invalid UTF-8", 1, 4},
		{"a: \xc0\xaf\n", 0, IMGCHECK_ERR_SYNTAX, "", "invalid UTF-8", 1, 4},
		{"a: b\xef\xbb\xbf\n", 0, IMGCHECK_ERR_SYNTAX, "", "byte order mark", 1, 5},
		{"a: 1\r\nb: \x01\r\n", 0, IMGCHECK_ERR_SYNTAX, "", "control character", 2, 4},
		{"a: 1\n---\nb: \0\n", 14, IMGCHECK_ERR_SYNTAX, "{a:1}", "control character", 3, 4},
		/* the first of two errors */
		{"a: [}\n# \xe9\n", 0, IMGCHECK_ERR_SYNTAX, "", "syntax error", 1, 5},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		unsigned line, column;
		char tree[256];

		dump_stream(rows[i].text, rows[i].len ? rows[i].len : strlen(rows[i].text), tree, sizeof(tree), &err);
		cr_expect_eq(imgcheck_error_code(err), rows[i].code, "row %zu", i);
		cr_expect(strstr(imgcheck_error_message(err), rows[i].words), "row %zu: %s", i, imgcheck_error_message(err));
		cr_expect_str_eq(imgcheck_error_place(err, &line, &column), "file.yaml");
		cr_expect_eq(line, rows[i].line, "row %zu: line %u", i, line);
		cr_expect_eq(column, rows[i].column, "row %zu: column %u", i, column);
		cr_expect_str_eq(tree, rows[i].tree, "row %zu", i);
		imgcheck_error_free(err);
	}
}

TEST(yaml, nodes_know_place_style_and_tag)
{
	static const char text[] = "a: plain\nb:\n  - 'quoted'\n  - !!str tagged\n  - |\n    literal\n  - >-\n    folded\n";
	struct imgcheck_error *err = NULL;
	struct ic_doc *doc = NULL;
	const struct ic_item *item;

	cr_assert_eq(ic_yaml_parse("f", text, strlen(text), &doc, &err), 0, "%s", imgcheck_error_message(err));
	cr_expect_eq(ic_node_get(doc->root, "a")->style, IC_STYLE_PLAIN);
	cr_expect_eq(ic_node_get(doc->root, "a")->line, 1);
	cr_expect_eq(ic_node_get(doc->root, "a")->column, 4);
	cr_expect_null(ic_node_get(doc->root, "a")->tag);
	cr_expect_null(ic_node_get(doc->root, "c"));
	cr_expect_null(ic_node_get(ic_node_get(doc->root, "a"), "c"));
	item = ic_node_items(ic_node_get(doc->root, "b"));
	cr_expect_eq(item->value->style, IC_STYLE_QUOTED);
	item = item->next;
	cr_expect_str_eq(item->value->tag, "tag:yaml.org,2002:str");
	item = item->next;
	cr_expect_eq(item->value->style, IC_STYLE_LITERAL);
	cr_expect_eq(item->value->line, 5);
	cr_expect_eq(item->next->value->style, IC_STYLE_FOLDED);
	cr_expect_eq(ic_node_get(doc->root, "b")->len, 4);
	ic_doc_free(doc);
}

TEST(yaml, texts)
{
	static const char text[] = "{a: x, b: ~, c: '', d: null, e: 'null', f: [], g: \"x\\0y\"}";
	struct ic_doc *doc = NULL;

	cr_assert_eq(ic_yaml_parse("f", text, strlen(text), &doc, NULL), 0);
	cr_expect_str_eq(ic_node_get_text(doc->root, "a"), "x");
	cr_expect_null(ic_node_get_text(doc->root, "b"));
	cr_expect_str_eq(ic_node_get_text(doc->root, "c"), "");
	cr_expect_null(ic_node_get_text(doc->root, "d"));
	cr_expect_str_eq(ic_node_get_text(doc->root, "e"), "null");
	cr_expect_null(ic_node_get_text(doc->root, "f"));
	cr_expect_null(ic_node_get_text(doc->root, "g"));
	cr_expect_eq(ic_node_get(doc->root, "g")->len, 3);
	cr_expect_null(ic_node_get_text(NULL, "a"));
	cr_expect(ic_node_is_null(NULL));
	ic_doc_free(doc);
}

TEST(yaml, duplicate_keys_are_noted)
{
	static const char text[] = "a: 1\nb: {c: 1, d: 2, c: 3}\na: 2\n";
	struct ic_doc *doc = NULL;
	const struct imgcheck_error *note;
	unsigned line, column;

	cr_assert_eq(ic_yaml_parse("f", text, strlen(text), &doc, NULL), 0);
	cr_assert_eq(doc->notes.count, 2);
	note = *(struct imgcheck_error **)ic_vec_at(&doc->notes, 0);
	cr_expect_eq(imgcheck_error_code(note), IMGCHECK_ERR_FINDING);
	cr_expect(strstr(imgcheck_error_message(note), "\"c\""));
	(void)imgcheck_error_place(note, &line, &column);
	cr_expect_eq(line, 2);
	cr_expect_eq(column, 17);
	cr_assert_not_null(doc->root->hidden);
	cr_expect_eq(doc->root->hidden->value->line, 1);
	cr_expect_null(doc->root->hidden->next);
	ic_doc_free(doc);
}

/* Readers differ in what a merge key behind a written key means; one that stands in front is no finding. */
TEST(yaml, a_merge_behind_a_written_key_is_noted)
{
	static const char text[] = "x: &x {a: 1}\ny: {<<: *x, a: 2}\nz: {a: 3, <<: *x}\n";
	struct ic_doc *doc = NULL;
	const struct ic_node *z;
	unsigned line;

	cr_assert_eq(ic_yaml_parse("f", text, strlen(text), &doc, NULL), 0);
	cr_assert_eq(doc->notes.count, 1);
	(void)imgcheck_error_place(*(struct imgcheck_error **)ic_vec_at(&doc->notes, 0), &line, NULL);
	cr_expect_eq(line, 3);
	z = ic_node_get(doc->root, "z");
	cr_expect_str_eq(ic_node_get_text(z, "a"), "1");
	cr_assert_not_null(z->hidden);
	cr_expect(ic_node_equals(z->hidden->value, "3"));
	ic_doc_free(doc);
}

/* The types of YAML 1.1 as Kubernetes' reader has them. */
TEST(yaml, strings)
{
	static const char *const strings[] = {"nginx", "\"1.25\"", "'no'", "2024-01-01", "12:30:45", "=",   "0o18", "1.2.3",
	                                      "1e",    "0x",     "!!str 5", "v1",       "_x", ".",    "\"\""};
	static const char *const others[] = {"1.25", "no",   "Yes", "on",      "true",  "~",   "null", "0o14",
	                                     "0x1F", "0b11", "1e3", "-1.5E-3", "1_000", "+.5", "[a]",  "{a: b}"};

	for (size_t i = 0; i < IC_COUNT(strings) + IC_COUNT(others); i++) {
		bool is_string = i < IC_COUNT(strings);
		const char *text = is_string ? strings[i] : others[i - IC_COUNT(strings)];
		struct ic_doc *doc = NULL;
		char line[64];

		(void)snprintf(line, sizeof(line), "[%s]", text);
		cr_assert_eq(ic_yaml_parse("f", line, strlen(line), &doc, NULL), 0, "%s", line);
		if (ic_node_items(doc->root))
			cr_expect_eq(ic_node_is_string(ic_node_items(doc->root)->value), is_string, "%s", text);
		ic_doc_free(doc);
	}
}

TEST(yaml, many_keys)
{
	struct ic_buf text;
	struct ic_doc *doc = NULL;

	ic_buf_init(&text, 1 << 20);
	for (int i = 0; i < 2000; i++)
		cr_assert_eq(ic_buf_printf(&text, NULL, "key%d: %d\n", i % 1000, i), 0);
	cr_assert_eq(ic_yaml_parse("f", text.data, text.len, &doc, NULL), 0);
	cr_expect_eq(doc->root->len, 1000);
	cr_expect_eq(doc->notes.count, IC_MAX_NOTES);
	cr_expect_str_eq(ic_node_get_text(doc->root, "key7"), "1007");
	ic_doc_free(doc);
	ic_buf_clear(&text);
}

/* What must fail within the limits instead of taking all memory or time. */
TEST(yaml, bombs)
{
	static const struct {
		const char *first, *repeated;
		int times;
		enum imgcheck_err code;
		const char *words;
	} rows[] = {
		{"a: ", "[", 100000, IMGCHECK_ERR_LIMIT, "nesting too deep"},
		{"", "- ", 2000, IMGCHECK_ERR_LIMIT, "nesting too deep"},
		{"a: ", "12345678", 4 << 20, IMGCHECK_ERR_LIMIT, "single value"},
		{"a: ", "12345678", (1 << 20) + 1, IMGCHECK_ERR_LIMIT, "longer than"},
		{"a0: &a0 [x,x,x,x,x,x,x,x,x]\n", "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", 9, IMGCHECK_ERR_LIMIT,
		 "aliases that expand"},
		{"m0: &m0 {k: v}\n", "m%d: &m%d {<<: *m%d, k%d: v}\n", 2000, IMGCHECK_ERR_LIMIT, "aliases that expand"},
		{"m0: &m0 {k: v}\n", "m%d: &m%d {<<: *m%d, k: v}\n", 2000, IMGCHECK_OK, ""},
		{"", "a%d: &a%d x\n", 70000, IMGCHECK_ERR_LIMIT, "anchors"},
		{"[", "{},", 1000000, IMGCHECK_ERR_LIMIT, "needs more than"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_error *err = NULL;
		struct ic_doc *doc = NULL;
		struct ic_buf text;

		ic_buf_init(&text, (size_t)64 << 20);
		cr_assert_eq(ic_buf_add_text(&text, rows[i].first, NULL), 0);
		for (int n = 1; n <= rows[i].times; n++) {
			int p = n - 1;

			if (!strchr(rows[i].repeated, '%'))
				cr_assert_eq(ic_buf_add_text(&text, rows[i].repeated, NULL), 0);
			else if (strstr(rows[i].repeated, "k%d"))
				cr_assert_eq(ic_buf_printf(&text, NULL, "m%d: &m%d {<<: *m%d, k%d: v}\n", n, n, p, n), 0);
			else if (strstr(rows[i].repeated, "<<"))
				cr_assert_eq(ic_buf_printf(&text, NULL, "m%d: &m%d {<<: *m%d, k: v}\n", n, n, p), 0);
			else if (strchr(rows[i].repeated, '*'))
				cr_assert_eq(ic_buf_printf(&text, NULL, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", n, n, p, p, p, p,
				                           p, p, p, p), 0);
			else
				cr_assert_eq(ic_buf_printf(&text, NULL, "a%d: &a%d x\n", n, n), 0);
		}
		cr_expect_eq(ic_yaml_parse("f", text.data, text.len, &doc, &err), rows[i].code, "row %zu", i);
		cr_expect_eq(imgcheck_error_code(err), rows[i].code, "row %zu: %s", i, imgcheck_error_message(err));
		cr_expect(strstr(imgcheck_error_message(err), rows[i].words), "row %zu: %s", i, imgcheck_error_message(err));
		imgcheck_error_free(err);
		ic_doc_free(doc);
		ic_buf_clear(&text);
	}
}

/* A source that gives one byte at a time and can fail. */
struct drip {
	const char *text;
	size_t len;
	bool fails;
};

static int read_drip(void *arg, char *out, size_t size, size_t *got, struct imgcheck_error **err)
{
	struct drip *d = arg;

	*got = d->len > 0 && size > 0;
	if (!*got)
		return d->fails ? ic_error_set(err, IMGCHECK_ERR_IO, "cannot read: gone") : 0;
	*out = *d->text++;
	d->len--;
	return 0;
}

TEST(yaml, sources)
{
	static const char text[] = "\xef\xbb\xbf" "a: \xe2\x82\xac\xf0\x9f\x98\x80\n---\nb: 2\n";

	for (int fails = 0; fails < 2; fails++) {
		struct drip d = {text, strlen(text), fails};
		struct imgcheck_error *err = NULL;
		struct ic_yaml *y = NULL;
		struct ic_doc *doc = NULL;

		cr_assert_eq(ic_yaml_new("f", read_drip, &d, &y, NULL), 0);
		cr_assert_eq(ic_yaml_next(y, &doc, &err), 0);
		cr_expect_str_eq(ic_node_get_text(doc->root, "a"), "\xe2\x82\xac\xf0\x9f\x98\x80");
		ic_doc_free(doc);
		cr_expect_eq(ic_yaml_next(y, &doc, &err), fails ? IMGCHECK_ERR_IO : 0);
		cr_expect_eq(doc == NULL, fails);
		ic_doc_free(doc);
		imgcheck_error_free(err);
		ic_yaml_free(y);
	}
}

TEST(yaml, one_document)
{
	struct imgcheck_error *err = NULL;
	struct ic_doc *doc = NULL;

	cr_expect_eq(ic_yaml_parse("f", "a: 1\n---\nb: 1\n", 14, &doc, &err), IMGCHECK_ERR_SYNTAX);
	cr_expect_null(doc);
	imgcheck_error_free(err);
	cr_assert_eq(ic_yaml_parse("f", "", 0, &doc, NULL), 0);
	cr_expect_null(doc->root);
	ic_doc_free(doc);
}

TEST(node, from_json)
{
	static const struct {
		const char *text, *tree;
	} rows[] = {
		{"{\"b\": [1, 1.5, true, false, null, \"x\"], \"a\": {}, \"<<\": {\"c\": 1}}", "{b:[1,1.5,true,false,~,x],a:{},<<:{c:1}}"},
		{"\"null\"", "null"},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		json_t *value = NULL;
		struct ic_doc *doc = NULL;
		char tree[128] = "";

		cr_assert_eq(ic_json_parse("f", rows[i].text, strlen(rows[i].text), &value, NULL), 0);
		cr_assert_eq(ic_doc_from_json(value, 7, &doc, NULL), 0);
		dump(doc->root, tree, sizeof(tree));
		cr_expect_str_eq(tree, rows[i].tree);
		cr_expect_eq(doc->root->line, 7);
		ic_doc_free(doc);
		json_decref(value);
	}
}

TEST(node, json_depth)
{
	struct imgcheck_error *err = NULL;
	struct ic_doc *doc = NULL;
	json_t *value = json_array();

	for (int i = 0; i <= IC_MAX_DEPTH; i++)
		value = json_pack("[o]", value);
	cr_expect_eq(ic_doc_from_json(value, 1, &doc, &err), IMGCHECK_ERR_LIMIT);
	cr_expect_null(doc);
	imgcheck_error_free(err);
	json_decref(value);
}
