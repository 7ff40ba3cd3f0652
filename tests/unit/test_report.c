/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reports from results that stand in files: each folder in tests/data/report holds an input.json (images with
 * what a registry said, problems, options) and what is rendered from it.  The run, with its network, is
 * replaced by the one below.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/images.h"
#include "registry/run.h"
#include "report/verdict.h"
#include "source/config.h"
#include "test.h"

/* ------------------------------------------------------------------ a run without a network */

struct imgcheck_run {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct ic_result *results; /* one for each image */
	int steps;                 /* still to do; negative: the next one fails with it */
};

static struct imgcheck_run *next_run; /* that imgcheck_run_new() hands out */

const struct imgcheck_config *ic_run_config(const struct imgcheck_run *r)
{
	return r->config;
}

const struct imgcheck_images *ic_run_images(const struct imgcheck_run *r)
{
	return r->images;
}

const struct ic_result *ic_run_result(const struct imgcheck_run *r, size_t i)
{
	return &r->results[i];
}

int imgcheck_run_new(struct imgcheck_config *c, struct imgcheck_images *s, struct imgcheck_run **out, struct imgcheck_error **err)
{
	if (!c || !s)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot run");
	*out = next_run;
	return 0;
}

int imgcheck_run_step(struct imgcheck_run *r, int timeout_ms, struct imgcheck_error **err)
{
	cr_assert_eq(timeout_ms, -1);
	if (r->steps < 0)
		return ic_error_set(err, IMGCHECK_ERR_INTERNAL, "cannot go on");
	return r->steps-- > 0;
}

void imgcheck_run_free(struct imgcheck_run *r)
{
	if (r)
		r->steps = -100;
}

/* ------------------------------------------------------------------ reading a case */

static enum imgcheck_verdict verdict_named(const char *name)
{
	for (int v = IMGCHECK_VERDICT_OK; v <= IMGCHECK_VERDICT_SKIPPED; v++)
		if (strcmp(imgcheck_verdict_name((enum imgcheck_verdict)v), name) == 0)
			return (enum imgcheck_verdict)v;
	cr_assert_fail("no verdict %s", name);
	return IMGCHECK_VERDICT_OK;
}

static enum imgcheck_class class_named(const char *name)
{
	if (!name || strcmp(name, "required") == 0)
		return IMGCHECK_CLASS_REQUIRED;
	return strcmp(name, "hint") == 0 ? IMGCHECK_CLASS_HINT : IMGCHECK_CLASS_MENTIONED;
}

static enum imgcheck_err code_named(const char *name)
{
	static const struct {
		const char *name;
		enum imgcheck_err code;
	} codes[] = {
		{"syntax", IMGCHECK_ERR_SYNTAX},         {"unsupported", IMGCHECK_ERR_UNSUPPORTED},
		{"unresolved", IMGCHECK_ERR_UNRESOLVED}, {"finding", IMGCHECK_ERR_FINDING},
		{"internal", IMGCHECK_ERR_INTERNAL},     {"io", IMGCHECK_ERR_IO},
	};

	for (size_t i = 0; i < IC_COUNT(codes); i++)
		if (strcmp(codes[i].name, name) == 0)
			return codes[i].code;
	cr_assert_fail("no code %s", name);
	return IMGCHECK_ERR_INTERNAL;
}

static unsigned number(const json_t *object, const char *key)
{
	return (unsigned)json_integer_value(json_object_get(object, key));
}

static void set_options(struct imgcheck_config *c, json_t *options)
{
	const char *wanted, *name;
	json_t *values, *value;
	size_t i;

	json_object_foreach(options, wanted, values) {
		unsigned o = 0;

		while (imgcheck_option_info(o, &name, NULL, NULL) && strcmp(name, wanted) != 0)
			o++;
		cr_assert(imgcheck_option_info(o, NULL, NULL, NULL), "no option %s", wanted);
		if (json_is_string(values))
			cr_assert(imgcheck_config_set(c, o, json_string_value(values), NULL) == 0, "%s", wanted);
		json_array_foreach(values, i, value)
			cr_assert(imgcheck_config_set(c, o, json_string_value(value), NULL) == 0, "%s", wanted);
	}
}

static void add_image(struct imgcheck_images *s, const json_t *image)
{
	const char *text = ic_json_text(image, "text"), *source = ic_json_text(image, "source");
	json_t *origins = json_object_get(image, "origins"), *origin;
	size_t i;

	if (json_array_size(origins) == 0)
		cr_assert(imgcheck_images_add_ref(s, text, NULL) == 0);
	json_array_foreach(origins, i, origin) {
		struct ic_place place = {
			.file = ic_json_text(origin, "file"), .object = ic_json_text(origin, "object"),
			.path = ic_json_text(origin, "path"), .pull_policy = ic_json_text(origin, "pullPolicy"),
			.pull_secrets = ic_json_text(origin, "pullSecrets"), .node_arch = ic_json_text(origin, "nodeArch"),
			.namespace_ = ic_json_text(origin, "namespace"), .line = number(origin, "line"),
			.class = class_named(ic_json_text(origin, "class")),
		};

		cr_assert(ic_images_add(s, text, strlen(text), &place, source, NULL) == 0);
	}
}

static char *copied(const json_t *object, const char *key)
{
	const char *text = ic_json_text(object, key);

	return text ? strdup(text) : NULL;
}

static const json_t *image_named(json_t *images, const char *text)
{
	json_t *image;
	size_t i;

	json_array_foreach(images, i, image)
		if (strcmp(ic_json_text(image, "text"), text) == 0)
			return image;
	cr_assert_fail("no image %s", text);
	return NULL;
}

/* The result of each image, in the order of the set, which is sorted. */
static void fill_results(struct imgcheck_run *r, json_t *images)
{
	for (size_t k = 0; k < imgcheck_images_count(r->images); k++) {
		const json_t *image = image_named(images, imgcheck_image_ref(imgcheck_images_get(r->images, k)));

		r->results[k] = (struct ic_result){
			.verdict = verdict_named(ic_json_text(image, "verdict")), .reason = copied(image, "reason"),
			.reference = copied(image, "reference"), .host = copied(image, "host"), .digest = copied(image, "digest"),
			.platform = copied(image, "platform"), .credentials = copied(image, "credentials"),
			.proxy = copied(image, "proxy"),
		};
	}
}

static void mark_known(struct imgcheck_images *s, json_t *images)
{
	struct imgcheck_images *before;
	json_t *image;
	size_t i;

	cr_assert(imgcheck_images_new(&before) == 0);
	json_array_foreach(images, i, image)
		if (json_is_true(json_object_get(image, "known")))
			cr_assert(imgcheck_images_add_ref(before, ic_json_text(image, "text"), NULL) == 0);
	cr_assert(imgcheck_images_mark_known(s, before, NULL) == 0);
	imgcheck_images_free(before);
}

static void add_problem(struct imgcheck_images *s, const json_t *problem)
{
	struct imgcheck_error *e = NULL;

	(void)ic_error_set_at(&e, code_named(ic_json_text(problem, "code")), ic_json_text(problem, "place"),
	                      number(problem, "line"), number(problem, "column"), "%s", ic_json_text(problem, "message"));
	cr_assert(ic_images_add_problem(s, &e, NULL) == 0);
}

/* The run that the input describes, ready for its report. */
static void open_run(const json_t *input, struct imgcheck_run *r)
{
	json_t *images = json_object_get(input, "images"), *item;
	size_t i;

	*r = (struct imgcheck_run){.steps = 2};
	cr_assert(imgcheck_config_new(&r->config) == 0);
	cr_assert(imgcheck_config_set(r->config, IMGCHECK_OPTION_PLATFORM, "linux/amd64", NULL) == 0);
	set_options(r->config, json_object_get(input, "options"));
	cr_assert(imgcheck_images_new(&r->images) == 0);
	json_array_foreach(images, i, item)
		add_image(r->images, item);
	json_array_foreach(json_object_get(input, "problems"), i, item)
		add_problem(r->images, item);
	mark_known(r->images, images);
	r->results = calloc(imgcheck_images_count(r->images) + 1, sizeof(*r->results));
	cr_assert(r->results);
	fill_results(r, images);
}

static void close_run(struct imgcheck_run *r)
{
	for (size_t i = 0; i < imgcheck_images_count(r->images); i++)
		ic_result_clear(&r->results[i]);
	free(r->results);
	imgcheck_images_free(r->images);
	imgcheck_config_free(r->config);
}

/* The report, which outlives its run. */
static struct imgcheck_report *report_of(const json_t *input)
{
	struct imgcheck_report *p;
	struct imgcheck_run r;

	open_run(input, &r);
	cr_assert(imgcheck_run_take_report(&r, &p, NULL) == 0);
	close_run(&r);
	return p;
}

static char *rendered(const struct imgcheck_report *p, enum imgcheck_format f)
{
	size_t len;
	char *text;

	cr_assert(imgcheck_report_render(p, f, &text, &len, NULL) == 0);
	cr_assert_eq(strlen(text), len);
	return text;
}

/* What holds for every report as text. */
static void check_page(const char *text, const char *name)
{
	size_t lines = 0;

	for (const char *c = text; *c; c++) {
		cr_assert((*c >= ' ' && *c <= '~') || *c == '\n', "%s: byte %d", name, *c);
		lines += *c == '\n';
	}
	cr_assert_leq(lines, 60, "%s: %zu lines", name, lines);
	cr_assert_leq(strlen(text), 8192, "%s: %zu bytes", name, strlen(text));
	cr_assert(lines > 0 && text[strlen(text) - 1] == '\n', "%s", name);
}

/* ------------------------------------------------------------------ the cases of tests/data/report */

/* With WRITE=1 in the environment the file is written instead, to be looked at before it is committed. */
static void check_file(const char *name, const char *file, const char *text)
{
	char path[512], *expected;

	(void)snprintf(path, sizeof(path), "tests/data/report/%s/%s", name, file);
	if (getenv("WRITE")) {
		FILE *f = fopen(path, "w");

		cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
		return;
	}
	expected = test_read_file(path, NULL);
	cr_assert(strcmp(text, expected) == 0, "%s is not what is rendered:\n%s", path, text);
	free(expected);
}

static json_t *read_json(const char *text)
{
	struct imgcheck_error *err = NULL;
	json_t *value;

	cr_assert(ic_json_parse(NULL, text, strlen(text), &value, &err) == 0, "%s", imgcheck_error_message(err));
	return value;
}

/* JSON with ' in place of ". */
static json_t *read_inline(const char *text)
{
	char *copy = strdup(text);
	json_t *value;

	cr_assert(copy);
	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = read_json(copy);
	free(copy);
	return value;
}

static void check_case(const char *name)
{
	char path[512], *text, *json;
	struct imgcheck_report *p;
	json_t *input, *again;

	(void)snprintf(path, sizeof(path), "tests/data/report/%s/input.json", name);
	text = test_read_file(path, NULL);
	input = read_json(text);
	free(text);
	p = report_of(input);
	text = rendered(p, IMGCHECK_FORMAT_TEXT);
	json = rendered(p, IMGCHECK_FORMAT_JSON);
	check_page(text, name);
	check_file(name, "report.txt", text);
	check_file(name, "report.json", json);
	again = read_json(json);
	cr_assert_str_eq(ic_json_text(again, "decision"), imgcheck_decision_name(imgcheck_report_decision(p)));
	cr_assert_eq(json_array_size(json_object_get(again, "images")), imgcheck_report_count(p));
	json_decref(again);
	json_decref(input);
	free(text);
	free(json);
	imgcheck_report_free(p);
}

TEST(report, cases)
{
	DIR *dir = opendir("tests/data/report");
	const struct dirent *entry;
	size_t cases = 0;

	cr_assert(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		check_case(entry->d_name);
		cases++;
	}
	closedir(dir);
	cr_assert_geq(cases, 8);
}

/* ------------------------------------------------------------------ much, and hostile */

static json_t *image_input(const char *text, const char *verdict, const char *host)
{
	json_t *image = json_pack("{s:s, s:s, s:s, s:s}", "text", text, "verdict", verdict, "host", host, "reason", "said so");

	cr_assert(image);
	return image;
}

static json_t *input_with(const char *remedy)
{
	json_t *input = json_pack("{s:{s:s, s:s, s:[s]}, s:[], s:[]}", "options", "subject", "an-addon revision 7 (1.2)", "consequence",
	                          "the refresh is stopped, nothing was changed", "remedy", remedy, "images", "problems");

	cr_assert(input);
	return input;
}

static json_t *images_in(json_t *input)
{
	return json_object_get(input, "images");
}

/* Renders the input both ways, checks what holds for all, and gives the text. */
static char *page_of(json_t *input, const char *name)
{
	struct imgcheck_report *p = report_of(input);
	char *text = rendered(p, IMGCHECK_FORMAT_TEXT), *json = rendered(p, IMGCHECK_FORMAT_JSON);

	check_page(text, name);
	json_decref(read_json(json));
	free(json);
	imgcheck_report_free(p);
	json_decref(input);
	return text;
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

TEST(report, five_hundred_missing_images_end_with_the_remedy)
{
	json_t *input = input_with("full report:  /a/b.json");
	char name[64], *text;

	for (int i = 0; i < 500; i++) {
		json_t *image;

		(void)snprintf(name, sizeof(name), "registry.internal:5000/team/image-%03d:1.0", i);
		image = image_input(name, "not-found", "registry.internal:5000");
		json_object_set_new(image, "source", json_sprintf("quay.io/team/image-%03d:1.0", i));
		json_object_set_new(image, "origins", json_pack("[{s:s, s:i, s:s}]", "file", "templates/all.yaml", "line", i + 1, "object",
		                                                "Deployment kube-system/all"));
		cr_assert(json_array_append_new(images_in(input), image) == 0);
	}
	text = page_of(input, "500 missing");
	cr_assert(strstr(text, "cannot pull 500 of 500 images that an-addon revision 7 (1.2) needs; the refresh is stopped, "
	                       "nothing was changed\n"));
	cr_assert(strstr(text, "copy it:  skopeo copy --all docker://quay.io/team/image-000:1.0 "
	                       "docker://registry.internal:5000/team/image-000:1.0\n"));
	cr_assert(strstr(text, "  ... and 480 more\n"), "%s", text);
	cr_assert(strstr(text, "          ... and 497 more to copy\n"));
	cr_assert(ends_with(text, "full report:  /a/b.json\n"));
	free(text);
}

/* A host that is asked without TLS, or without verifying it, is copied from and to in the same way. */
TEST(report, a_copy_knows_which_hosts_are_insecure)
{
	static const struct {
		const char *option, *host, *expected;
	} cases[] = {
		{"plain-http", "registry.internal:5000", "--all --dest-tls-verify=false docker://quay.io:8443/a:1 docker://"},
		{"skip-verify", "Registry.Internal:5000", "--all --dest-tls-verify=false docker://quay.io:8443/a:1 docker://"},
		{"skip-verify", "quay.io:8443", "--all --src-tls-verify=false docker://quay.io:8443/a:1 docker://"},
		{"plain-http", "registry.internal", "--all docker://quay.io:8443/a:1 docker://"}, /* its port 80 alone */
	};

	for (size_t i = 0; i < IC_COUNT(cases); i++) {
		json_t *input = input_with("the remedy");
		json_t *image = image_input("registry.internal:5000/a:1", "not-found", "registry.internal:5000");
		char *text;

		json_object_set_new(json_object_get(input, "options"), cases[i].option, json_string(cases[i].host));
		json_object_set_new(image, "source", json_string("quay.io:8443/a:1"));
		json_object_set_new(image, "origins", json_pack("[{s:s}]", "file", "a.yaml"));
		cr_assert(json_array_append_new(images_in(input), image) == 0);
		text = page_of(input, cases[i].host);
		cr_assert(strstr(text, cases[i].expected), "%s", text);
		free(text);
	}
}

/* Reasons name what was asked, so that each image has its own: with many images that of the first is enough. */
TEST(report, reasons_give_way_to_images)
{
	json_t *input = input_with("the remedy");
	char name[64], *text;

	for (int i = 100; i < 200; i++) {
		json_t *image;

		(void)snprintf(name, sizeof(name), "a.internal/image-%d:1", i);
		image = image_input(name, "unreachable", "a.internal");
		json_object_set_new(image, "reason", json_sprintf("HEAD https://a.internal/v2/image-%d/manifests/1: refused", i));
		cr_assert(json_array_append_new(images_in(input), image) == 0);
	}
	text = page_of(input, "100 reasons");
	cr_assert(strstr(text, "  a.internal/image-100:1\n    reason: HEAD https://a.internal/v2/image-100/manifests/1: refused\n"));
	cr_assert(strstr(text, "  a.internal/image-101:1\n  a.internal/image-102:1\n"), "%s", text);
	cr_assert(strstr(text, "  ... and 70 more\n"), "%s", text);
	free(text);
}

TEST(report, more_causes_than_lines)
{
	json_t *input = input_with("the remedy");
	char name[64], host[32], *text;

	for (int i = 0; i < 300; i++) {
		(void)snprintf(host, sizeof(host), "registry-%03d.internal", i);
		(void)snprintf(name, sizeof(name), "%s/image:1.0", host);
		cr_assert(json_array_append_new(images_in(input), image_input(name, i % 2 ? "tls" : "unauthorized", host)) == 0);
	}
	text = page_of(input, "300 causes");
	cr_assert(strstr(text, "cannot access 150, cannot decide 150 of 300 images"));
	cr_assert(strstr(text, " more, for other causes\n"));
	cr_assert(ends_with(text, "the remedy\n"));
	free(text);
}

TEST(report, no_cause_hides_another)
{
	json_t *input = input_with("the remedy");
	char name[64], *text;

	for (int i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "a.internal/image-%d:1.0", i);
		cr_assert(json_array_append_new(images_in(input), image_input(name, "not-found", "a.internal")) == 0);
	}
	cr_assert(json_array_append_new(images_in(input), image_input("b.internal/last:1", "tls", "b.internal")) == 0);
	text = page_of(input, "200 and 1");
	cr_assert(strstr(text, "not found in a.internal"));
	cr_assert(strstr(text, "no trusted connection to b.internal"));
	cr_assert(strstr(text, "  b.internal/last:1\n"));
	free(text);
}

/* Everything from outside a kilobyte long and full of what a terminal would obey. */
TEST(report, hostile_texts_are_escaped_and_cut)
{
	static const char *const keys[] = {"text", "reason", "reference", "host", "digest", "platform", "credentials", "proxy"};
	json_t *input, *image, *problem;
	char evil[1025], *text;

	for (size_t i = 0; i < sizeof(evil) - 1; i++)
		evil[i] = "\x1b\x9b\r\n\\\x7f\t\xe2\x80\xae"[i % 10];
	evil[sizeof(evil) - 1] = '\0';
	input = input_with("the remedy");
	image = json_pack("{s:s}", "verdict", "invalid");
	for (size_t i = 0; i < IC_COUNT(keys); i++)
		json_object_set_new(image, keys[i], json_string_nocheck(evil));
	json_object_set_new(image, "origins", json_pack("[{s:o, s:o, s:o}]", "file", json_string_nocheck(evil), "object",
	                                                json_string_nocheck(evil), "path", json_string_nocheck(evil)));
	cr_assert(json_array_append_new(images_in(input), image) == 0);
	problem = json_pack("{s:s, s:o, s:o}", "code", "syntax", "place", json_string_nocheck(evil), "message",
	                    json_string_nocheck(evil));
	cr_assert(json_array_append_new(json_object_get(input, "problems"), problem) == 0);
	text = page_of(input, "hostile");
	cr_assert(strstr(text, "  \\x1b\\x9b\\x0d\\x0a\\\\\\x7f\\x09\\xe2\\x80\\xae"), "%s", text);
	cr_assert(ends_with(text, "the remedy\n"));
	free(text);
}

/* The longest of everything that a report holds whole still leaves the page its size. */
TEST(report, the_end_has_its_share_of_the_page)
{
	char longest[1001], *text;
	json_t *input, *remedy = json_array();

	memset(longest, 'r', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (int i = 0; i < 30; i++)
		cr_assert(json_array_append_new(remedy, json_string(longest)) == 0);
	input = json_pack("{s:{s:s, s:s, s:o}, s:[], s:[]}", "options", "subject", longest, "consequence", longest, "remedy", remedy,
	                  "images", "problems");
	cr_assert(input);
	for (int i = 0; i < 5; i++) {
		char name[IC_MAX_REF_BYTES];
		json_t *image;

		(void)snprintf(name, sizeof(name), "a.%.600s.internal/image-%d:1", longest, i);
		image = image_input(name, "not-found", "a.internal");
		json_object_set_new(image, "source", json_sprintf("b.%.600s.internal/image-%d:1", longest, i));
		json_object_set_new(image, "origins", json_pack("[{s:s}]", "file", "f"));
		cr_assert(json_array_append_new(images_in(input), image) == 0);
	}
	text = page_of(input, "longest");
	cr_assert(strstr(text, "cannot pull 5 of 5 images"));
	cr_assert(strstr(text, "... and 4 more to copy\n"), "%s", text);
	cr_assert(ends_with(text, "...\n... and 23 more\n"), "%s", text);
	free(text);
}

/* ------------------------------------------------------------------ the API */

TEST(report, accessors_tell_what_the_run_found)
{
	json_t *input = read_inline("{'options': {'on-access': 'warn'},"
	                          " 'problems': [{'code': 'io', 'place': 'f', 'message': 'm'}],"
	                          " 'images': ["
	                          "  {'text': 'nginx', 'verdict': 'ok', 'host': 'registry-1.docker.io', 'digest': 'sha256:1',"
	                          "   'platform': 'linux/amd64', 'credentials': 'none'},"
	                          "  {'text': 'team/x:1', 'reference': 'r.internal/team/x:1', 'verdict': 'not-found',"
	                          "   'reason': 'gone'},"
	                          "  {'text': 'zzz', 'verdict': 'denied'}]}");
	struct imgcheck_report *p = report_of(input);

	cr_assert_eq(imgcheck_report_count(p), 3);
	cr_assert_eq(imgcheck_report_decision(p), IMGCHECK_DECISION_VETO);
	cr_assert_eq(imgcheck_report_verdict(p, 0), IMGCHECK_VERDICT_OK);
	cr_assert_eq(imgcheck_report_outcome(p, 1), IMGCHECK_OUTCOME_MISSING);
	cr_assert_eq(imgcheck_report_effect(p, 1), IMGCHECK_DECISION_VETO);
	cr_assert_eq(imgcheck_report_effect(p, 2), IMGCHECK_DECISION_WARN);
	cr_assert_str_eq(imgcheck_report_text(p, 0, IMGCHECK_TEXT_REFERENCE), "nginx");
	cr_assert_str_eq(imgcheck_report_text(p, 0, IMGCHECK_TEXT_HOST), "registry-1.docker.io");
	cr_assert_str_eq(imgcheck_report_text(p, 0, IMGCHECK_TEXT_DIGEST), "sha256:1");
	cr_assert_str_eq(imgcheck_report_text(p, 0, IMGCHECK_TEXT_PLATFORM), "linux/amd64");
	cr_assert_str_eq(imgcheck_report_text(p, 0, IMGCHECK_TEXT_CREDENTIALS), "none");
	cr_assert_null(imgcheck_report_text(p, 0, IMGCHECK_TEXT_SOURCE));
	cr_assert_str_eq(imgcheck_report_text(p, 1, IMGCHECK_TEXT_REFERENCE), "r.internal/team/x:1");
	cr_assert_str_eq(imgcheck_report_text(p, 1, IMGCHECK_TEXT_REASON), "gone");
	cr_assert_str_eq(imgcheck_report_text(p, 1, IMGCHECK_TEXT_SOURCE), "docker.io/team/x:1");
	cr_assert_eq(imgcheck_report_vetoes(p, IMGCHECK_OUTCOME_MISSING), 1);
	cr_assert_eq(imgcheck_report_vetoes(p, IMGCHECK_OUTCOME_UNREADABLE), 1);
	cr_assert_eq(imgcheck_report_vetoes(p, IMGCHECK_OUTCOME_ACCESS), 0);
	imgcheck_report_free(p);
	json_decref(input);
}

TEST(report, what_is_not_there_fails_closed)
{
	struct imgcheck_error *err = NULL;
	struct imgcheck_report *p;
	size_t len = 1;
	char *text;

	cr_assert_eq(imgcheck_report_count(NULL), 0);
	cr_assert_eq(imgcheck_report_decision(NULL), IMGCHECK_DECISION_VETO);
	cr_assert_eq(imgcheck_report_effect(NULL, 0), IMGCHECK_DECISION_VETO);
	cr_assert_eq(imgcheck_report_verdict(NULL, 0), IMGCHECK_VERDICT_DEADLINE);
	cr_assert_eq(imgcheck_report_outcome(NULL, 0), IMGCHECK_OUTCOME_UNDECIDED);
	cr_assert_null(imgcheck_report_text(NULL, 0, IMGCHECK_TEXT_HOST));
	imgcheck_report_free(NULL);
	cr_assert_eq(imgcheck_report_render(NULL, IMGCHECK_FORMAT_TEXT, &text, &len, &err), IMGCHECK_ERR_ARGUMENT);
	cr_assert(!text && len == 0 && imgcheck_error_code(err) == IMGCHECK_ERR_ARGUMENT);
	imgcheck_error_free(err);
	err = NULL;
	cr_assert_eq(imgcheck_run_take_report(NULL, &p, &err), IMGCHECK_ERR_ARGUMENT);
	cr_assert_null(p);
	imgcheck_error_free(err);
}

TEST(report, unknown_format)
{
	json_t *input = read_json("{}");
	struct imgcheck_report *p = report_of(input);
	struct imgcheck_error *err = NULL;
	char *text;

	cr_assert_eq(imgcheck_report_render(p, (enum imgcheck_format)7, &text, NULL, &err), IMGCHECK_ERR_ARGUMENT);
	cr_assert_null(text);
	cr_assert(strstr(imgcheck_error_message(err), "unknown format"));
	imgcheck_error_free(err);
	imgcheck_report_free(p);
	json_decref(input);
}

TEST(check, steps_until_all_is_decided)
{
	json_t *input = read_inline("{'images': [{'text': 'nginx', 'verdict': 'ok'}]}");
	struct imgcheck_error *err = NULL;
	struct imgcheck_report *p;
	struct imgcheck_run r;

	open_run(input, &r);
	next_run = &r;
	cr_assert(imgcheck_check(r.config, r.images, &p, &err) == 0);
	cr_assert_eq(imgcheck_report_decision(p), IMGCHECK_DECISION_ALLOW);
	cr_assert_eq(r.steps, -100);
	imgcheck_report_free(p);
	cr_assert_eq(imgcheck_check(r.config, r.images, &p, &err), IMGCHECK_ERR_INTERNAL);
	cr_assert_null(p);
	cr_assert_str_eq(imgcheck_error_message(err), "cannot go on");
	imgcheck_error_free(err);
	err = NULL;
	cr_assert_eq(imgcheck_check(NULL, NULL, &p, &err), IMGCHECK_ERR_ARGUMENT);
	imgcheck_error_free(err);
	close_run(&r);
	json_decref(input);
}
