/* SPDX-License-Identifier: Apache-2.0 */
/* Files, folders, lists and templates on their way into a set; the rules themselves are in test_rules.c. */
#include "manifest/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "imgcheck.h"
#include "test.h"

#define PATH_BYTES 256
#define POD(image) "kind: Pod\napiVersion: v1\nspec:\n  containers:\n  - image: " image "\n"

/* All images and problems: "ref@line<source " and "CODE@line:column ". */
static void tell(const struct imgcheck_images *s, char out[1024])
{
	out[0] = '\0';
	for (size_t i = 0; i < imgcheck_images_count(s); i++) {
		const struct imgcheck_image *m = imgcheck_images_get(s, i);
		const char *line = imgcheck_image_origin(m, 0, IMGCHECK_FIELD_LINE), *source = imgcheck_image_source(m);

		(void)snprintf(out + strlen(out), 1024 - strlen(out), "%s@%s%s%s ", imgcheck_image_ref(m), line, source ? "<" : "",
		               source ? source : "");
	}
	for (size_t i = 0; imgcheck_images_problem(s, i); i++) {
		const struct imgcheck_error *e = imgcheck_images_problem(s, i);
		unsigned line, column;

		cr_expect_not_null(imgcheck_error_place(e, &line, &column), "a problem without a file: %s", imgcheck_error_message(e));
		(void)snprintf(out + strlen(out), 1024 - strlen(out), "%d@%u:%u ", (int)imgcheck_error_code(e), line, column);
	}
}

TEST(reader, data)
{
	static const struct {
		const char *name, *values, *text, *told;
	} rows[] = {
		{"-", NULL, POD("a/b:1"), "a/b:1@5 "},
		{"-", NULL, "a.io/b:1\nc.io/d:2\n", "a.io/b:1@1 c.io/d:2@2 "},
		{"x.yaml", NULL, "a.io/b:1\n", "a.io/b:1@1 "},
		{"x.yaml", NULL, "a.io/b:1\nnginx\n", "-5@1:0 "},
		{"x.yaml", NULL, POD("a/b:1") "---\nNot Found\n", "a/b:1@5 -5@7:0 "},
		{"x.txt", NULL, "a.io/b:{{ arch }}\n", "-8@1:1 "},
		{"x.txt", "{\"arch\": \"arm64\"}", "k: a.io/b-{{ arch }}:1\n", "a.io/b-arm64:1@1 "},
		{"x.yaml", NULL, POD("a/b:1") "---\nx: [\n", "a/b:1@5 -5@8:1 "},
		{"x.yaml", NULL, POD("a/b:1") "---\nx: 1\nx: 2\n", "a/b:1@5 -9@8:1 "},
		{"x.yaml", NULL, POD("\"${X}\""), "-8@5:12 "},
		{"x.yaml", NULL, POD("|\n      a/b:1"), "a/b:1@5 -9@5:12 "},
		/* templates: lines are those of the template, sources come from a rendering without the registry */
		{"x.yaml", "{\"registry\": \"r:5\", \"x\": true}", "{% if x %}\n{% endif %}" POD("{{ registry|default('q.io') }}/a/b:1"),
		 "r:5/a/b:1@6<q.io/a/b:1 "},
		{"x.yaml", "{\"registry\": \"r:5\"}", POD("{{ registry|default('q.io') }}/{{ 'a' if registry else 'b' }}:1"), "r:5/a:1@5 "},
		{"x.yaml", "{\"registry\": \"r:5\"}", POD("{{ registry }}/a:1"), "r:5/a:1@5 "},
		{"x.yaml", "{}", POD("{{ registry|default('q.io') }}/a/b:1"), "q.io/a/b:1@5 "},
		{"x.yaml", "{}", POD("{{ registry }}/a/b:1"), "-8@5:0 "},
		{"x.yaml", "{}", "a: {{ 'x' }}\nb: [{{ 'x' }}\n", "-5@2:0 "},
		{"x.yaml", "{}", "a: {% macro x() %}\n", "-6@1:0 "},
		{"x.yaml", NULL, POD("{{ registry }}/a/b:1"), "-6@5:26 "},
		/* Go templates: refused, unless what is left of them is YAML */
		{"x.yaml", "{}", POD("{{ .Values.image }}:1"), "-6@5:0 "},
		{"x.yaml", NULL, POD("{{ .Values.image }}:1"), "-6@5:0 "},
		{"x.yaml", "{}", "alert: 'on {{ $labels.host }}'\n---\n" POD("a/b:1"), "a/b:1@7 "},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		char told[1024];

		cr_assert_eq(imgcheck_images_new(&s), 0);
		if (rows[i].values)
			cr_assert_eq(imgcheck_images_set_values(s, rows[i].values, strlen(rows[i].values), NULL), 0);
		cr_assert_eq(imgcheck_images_add_data(s, rows[i].name, rows[i].text, strlen(rows[i].text), NULL), 0);
		tell(s, told);
		cr_expect_str_eq(told, rows[i].told, "row %zu: %s", i, told);
		if (strcmp(told, rows[i].told) != 0)
			for (size_t p = 0; imgcheck_images_problem(s, p); p++)
				fprintf(stderr, "  %s\n", imgcheck_error_message(imgcheck_images_problem(s, p)));
		imgcheck_images_free(s);
	}
}

TEST(reader, utf8_with_a_mark)
{
	static const char *const rows[] = {"\xef\xbb\xbf" "a/b:1\nc\n", "\xef\xbb\xbf" "k: a/b:1 c/d:1\n", "\xef\xbb\xbf" POD("a/b:1")};
	static const char *const told[] = {"a/b:1@1 c@2 ", "a/b:1@1 c/d:1@1 ", "a/b:1@5 "};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		char found[1024];

		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_add_data(s, "x", rows[i], strlen(rows[i]), NULL), 0);
		tell(s, found);
		cr_expect_str_eq(found, told[i], "row %zu: %s", i, found);
		imgcheck_images_free(s);
	}
}

/* The text so many times: new. */
static char *repeated(const char *text, size_t times)
{
	struct ic_buf out;

	ic_buf_init(&out, (size_t)64 << 20);
	for (size_t i = 0; i < times; i++)
		cr_assert_eq(ic_buf_add_text(&out, text, NULL), 0);
	return ic_buf_take(&out);
}

/* What a reader that looks for the end at each start takes minutes for, and many bombs that are each within the limits. */
TEST(reader, work_grows_with_the_input)
{
#define BOMB "    a: &a [x,x,x,x,x,x,x,x,x,x]\n    b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n" \
	"    c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n    d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n    e: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
	static const struct {
		const char *text;
		size_t times;
		const char *values;
		int result;
	} rows[] = {
		{"{{", 1 << 20, NULL, 0},
		{"{{", 1 << 20, "{}", 0},
		{"{{ a b ", 1 << 18, "{}", 0},
		{"---\nkind: ConfigMap\nx:\n" BOMB, 60, NULL, IMGCHECK_ERR_LIMIT},
		{"---\nkind: ConfigMap\ndata:\n  k: |\n    image: x\n" BOMB, 60, NULL, IMGCHECK_ERR_LIMIT},
	};
#undef BOMB

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		struct imgcheck_error *err = NULL;
		char *text = repeated(rows[i].text, rows[i].times);

		cr_assert_eq(imgcheck_images_new(&s), 0);
		if (rows[i].values)
			cr_assert_eq(imgcheck_images_set_values(s, rows[i].values, strlen(rows[i].values), NULL), 0);
		cr_expect_eq(imgcheck_images_add_data(s, "x", text, strlen(text), &err), rows[i].result, "row %zu: %s", i,
		             imgcheck_error_message(err));
		cr_expect(!err || strcmp(imgcheck_error_place(err, NULL, NULL), "x") == 0);
		imgcheck_error_free(err);
		imgcheck_images_free(s);
		free(text);
	}
}

TEST(reader, utf16)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *told;
	} rows[] = {
		{"\xff\xfe" "a\0:\0 \0x\0/\0y\0:\0" "1\0\n\0", 20, "x/y:1@1 "},
		{"\xfe\xff" "\0a\0:\0 \0x\0/\0y\0:\0" "1\0#\0\n", 22, ""},
		{"\xfe\xff" "\0a\0:\0 \0x\0/\0y\0:\0" "1\0 \0#\xd8\x3d\xde\x00", 26, "x/y:1@1 "},
		{"\xfe\xff" "\0a\0:\0 \xd8\x3d\0x", 12, "-5@0:0 "},
		{"\xfe\xff" "\0a\0", 5, "-5@0:0 "},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		char told[1024];

		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_add_data(s, "x.yaml", rows[i].bytes, rows[i].len, NULL), 0);
		tell(s, told);
		cr_expect_str_eq(told, rows[i].told, "row %zu: %s", i, told);
		imgcheck_images_free(s);
	}
}

/* A folder that lasts for one test. */
static char root[PATH_BYTES];

static void make_root(void)
{
	(void)snprintf(root, sizeof(root), "/tmp/imgcheck-test-XXXXXX");
	test_folder(root);
}

static void remove_root(void)
{
	char command[PATH_BYTES + 16];
	pid_t child;

	(void)snprintf(command, sizeof(command), "%s", root);
	child = fork();
	if (child == 0) {
		(void)execlp("rm", "rm", "-rf", command, (char *)NULL);
		_exit(127);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

static const char *in_root(const char *name)
{
	static char path[2 * PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_root(name), "w");

	cr_assert_not_null(f);
	cr_assert_eq(fwrite(text, 1, strlen(text), f), strlen(text));
	cr_assert_eq(fclose(f), 0);
}

TEST(reader, folders)
{
	struct imgcheck_images *s = NULL;
	char told[1024];

	make_root();
	cr_assert_eq(mkdir(in_root("sub"), 0700), 0);
	cr_assert_eq(mkdir(in_root(".git"), 0700), 0);
	write_file("b.yaml", POD("r/b:1"));
	write_file("sub/a.yml.j2", POD("r/a:1"));
	write_file("c.json", "{\"image\": \"r/c:1\"}");
	write_file("README.md", "image: r/readme:1");
	write_file(".git/x.yaml", POD("r/hidden:1"));
	cr_assert_eq(symlink("..", in_root("sub/loop")), 0);
	cr_assert_eq(symlink("../b.yaml", in_root("sub/link.yaml")), 0);
	cr_assert_eq(symlink("nowhere", in_root("sub/broken.yaml")), 0);
	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_path(s, root, NULL), 0);
	tell(s, told);
	cr_expect_str_eq(told, "r/a:1@5 r/b:1@5 r/c:1@1 -4@0:0 ");
	cr_expect_str_eq(imgcheck_error_place(imgcheck_images_problem(s, 0), NULL, NULL), in_root("sub/broken.yaml"));
	cr_expect_str_eq(imgcheck_image_origin(imgcheck_images_get(s, 1), 0, IMGCHECK_FIELD_FILE), in_root("b.yaml"));
	cr_expect_str_eq(imgcheck_image_origin(imgcheck_images_get(s, 1), 1, IMGCHECK_FIELD_FILE), in_root("sub/link.yaml"));
	imgcheck_images_free(s);
	remove_root();
}

TEST(reader, links_to_folders)
{
	struct imgcheck_images *s = NULL;
	char told[1024];

	make_root();
	cr_assert_eq(mkdir(in_root("v2"), 0700), 0);
	cr_assert_eq(mkdir(in_root("empty"), 0700), 0);
	cr_assert_eq(mkdir(in_root("templates"), 0700), 0);
	write_file("v2/a.yaml.jinja2", POD("r/a:1"));
	cr_assert_eq(symlink("../v2", in_root("templates/current")), 0);
	cr_assert_eq(symlink("../templates", in_root("v2/back")), 0);
	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_add_path(s, in_root("templates"), NULL), 0);
	tell(s, told);
	cr_expect_str_eq(told, "r/a:1@5 ");
	cr_assert_eq(imgcheck_images_add_path(s, in_root("empty"), NULL), 0);
	tell(s, told);
	cr_expect_str_eq(told, "r/a:1@5 -4@0:0 ");
	imgcheck_images_free(s);
	remove_root();
}

/* A file that somebody names must hold something; a template may render to nothing. */
TEST(reader, nothing)
{
	static const struct {
		const char *text, *values, *told;
	} rows[] = {
		{"", NULL, "-5@0:0 "},
		{" \n\n", NULL, "-5@0:0 "},
		{"# nothing yet\n", NULL, "-5@0:0 "},
		{"---\n---\nnull\n", NULL, "-5@0:0 "},
		{"Not Found", NULL, "-5@1:0 "},
		{"{}", NULL, ""},
		{"kind: List\n", NULL, ""},
		{"{% if gpu %}image: r/gpu:1\n{% endif %}", "{\"gpu\": false}", ""},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		char told[1024];

		cr_assert_eq(imgcheck_images_new(&s), 0);
		if (rows[i].values)
			cr_assert_eq(imgcheck_images_set_values(s, rows[i].values, strlen(rows[i].values), NULL), 0);
		cr_assert_eq(imgcheck_images_add_data(s, "x.yaml", rows[i].text, strlen(rows[i].text), NULL), 0);
		tell(s, told);
		cr_expect_str_eq(told, rows[i].told, "%s: %s", rows[i].text, told);
		imgcheck_images_free(s);
	}
}

TEST(reader, paths)
{
	static const struct {
		const char *path, *told;
	} rows[] = {
		{"list#one", "r/one:1@1 "},
		{"list#two", "r/two:1@2 r/two:2@2 "},
		{"list#three", "-5@0:0 "},
		{"list#four", "-5@0:0 "},
		{"list", "r/one:1@1 r/two:1@2 r/two:2@2 "},
		{"nothing#one", "-4@0:0 "},
		{"nothing", "-4@0:0 "},
		{"pipe.yaml", "-4@0:0 "},
		{"odd#name.yaml", "r/odd:1@5 "},
	};

	make_root();
	write_file("list", "one: r/one:1\ntwo: r/two:1 r/two:2\nfour:\n");
	write_file("odd#name.yaml", POD("r/odd:1"));
	cr_assert_eq(mkfifo(in_root("pipe.yaml"), 0600), 0);
	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		char told[1024];

		cr_assert_eq(imgcheck_images_new(&s), 0);
		cr_assert_eq(imgcheck_images_add_path(s, in_root(rows[i].path), NULL), 0);
		tell(s, told);
		cr_expect_str_eq(told, rows[i].told, "%s: %s", rows[i].path, told);
		imgcheck_images_free(s);
	}
	remove_root();
}

/* Beyond what is held in memory a file is read as a stream, and not as a template. */
TEST(reader, long_files)
{
	static const struct {
		const char *first, *filler, *filler_end, *last, *values, *told;
	} rows[] = {
		{POD("r/a:1"), "---\nx: ", "\n", "---\n" POD("r/b:1"), NULL, "r/a:1@5 r/b:1@33301 "},
		{POD("r/a:1"), "---\nx: ", "\n", "---\nx: [\n", NULL, "r/a:1@5 -5@33298:1 "},
		{POD("r/a:1"), "---\nx: ", "\n", "---\n" POD("r/b:1"), "{}", "r/a:1@5 r/b:1@33301 "},
		{POD("r/a:1"), "---\nx: ", "\n", "---\n" POD("{{ x }}"), "{}", "-7@0:0 "},
		{"{\"image\": \"r/a:1\"}\n", "{\"x\": \"", "\"}\n", "{\"image\": \"r/b:1\"}\n", NULL, "r/a:1@1 r/b:1@16614 "},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct imgcheck_images *s = NULL;
		struct ic_buf text;
		char told[1024], filler[1024];

		(void)snprintf(filler, sizeof(filler), "%s%01000d%s", rows[i].filler, 0, rows[i].filler_end);
		make_root();
		ic_buf_init(&text, 2 * IC_MAX_TEMPLATE_BYTES);
		cr_assert_eq(ic_buf_add_text(&text, rows[i].first, NULL), 0);
		while (text.len < IC_MAX_TEMPLATE_BYTES)
			cr_assert_eq(ic_buf_add_text(&text, filler, NULL), 0);
		cr_assert_eq(ic_buf_add_text(&text, rows[i].last, NULL), 0);
		write_file("long.yaml", text.data);
		cr_assert_eq(imgcheck_images_new(&s), 0);
		if (rows[i].values)
			cr_assert_eq(imgcheck_images_set_values(s, rows[i].values, strlen(rows[i].values), NULL), 0);
		cr_assert_eq(imgcheck_images_add_path(s, in_root("long.yaml"), NULL), 0);
		tell(s, told);
		cr_expect_str_eq(told, rows[i].told, "row %zu: %s", i, told);
		imgcheck_images_free(s);
		ic_buf_clear(&text);
		remove_root();
	}
}

TEST(reader, render)
{
	struct imgcheck_images *s = NULL;
	struct imgcheck_error *err = NULL;
	char *out = NULL;
	size_t len;

	make_root();
	write_file("a", "x{{ y }}z\n");
	write_file("b", "{{ y \n");
	cr_assert_eq(imgcheck_images_new(&s), 0);
	cr_assert_eq(imgcheck_images_set_value(s, "y", "Y", NULL), 0);
	cr_assert_eq(imgcheck_images_render(s, in_root("a"), &out, &len, NULL), 0);
	cr_expect_str_eq(out, "xYz");
	cr_expect_eq(len, 3);
	free(out);
	cr_expect_eq(imgcheck_images_render(s, in_root("b"), &out, &len, &err), IMGCHECK_ERR_SYNTAX);
	cr_expect_null(out);
	imgcheck_error_free(err);
	cr_expect_eq(imgcheck_images_render(s, in_root("c"), &out, &len, NULL), IMGCHECK_ERR_IO);
	imgcheck_images_free(s);
	remove_root();
}
