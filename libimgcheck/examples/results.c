/* SPDX-License-Identifier: Apache-2.0 */

/*
 * results REGISTRY AUTHFILE PATH...: a check as an action of a charm runs it, with results as key=value.
 *
 * REGISTRY is host[:port][/prefix], or "" to ask what the manifests name; AUTHFILE the logins, or "" for none.  A PATH is
 * a folder, a manifest, or a list of references.  Templates get the registry as `registry`, as in a snap of addons.
 *
 * Prints decision= and checked=, a line for each outcome that occurred with its images behind it, and problem= for what
 * could not be read.  Exit status 0 go on, 1 do not, 2 not done, with error=.
 */
#include <imgcheck.h>
#include <stdio.h>

/* All that a check takes and gives. */
struct check {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_report *report;
	struct imgcheck_error *err;
};

static int set_place(struct check *c, const char *registry, const char *authfile)
{
	int result = 0;

	if (registry[0])
		result = imgcheck_config_set(c->config, IMGCHECK_OPTION_REGISTRY, registry, &c->err);
	if (result == 0 && registry[0])
		result = imgcheck_images_set_value(c->images, "registry", registry, &c->err);
	if (result == 0 && authfile[0])
		result = imgcheck_config_read(c->config, IMGCHECK_FILE_AUTH, authfile, &c->err);
	return result;
}

static int run(struct check *c, char **argv)
{
	int result = imgcheck_config_new(&c->config);

	if (result == 0)
		result = imgcheck_images_new(&c->images);
	if (result == 0)
		result = set_place(c, argv[1], argv[2]);
	for (size_t i = 3; result == 0 && argv[i]; i++)
		result = imgcheck_images_add_path(c->images, argv[i], &c->err);
	return result < 0 ? result : imgcheck_check(c->config, c->images, &c->report, &c->err);
}

/* A reference as one word: what is none may hold anything, also a line that looks like a result. */
static void print_word(const char *text)
{
	for (; *text; text++)
		(void)putchar(*text > ' ' && *text < 0x7f ? *text : '?');
}

/* missing=REFERENCE REFERENCE: the images of one outcome, or nothing. */
static void print_outcome(const struct imgcheck_report *report, enum imgcheck_outcome outcome)
{
	const char *before = "=";

	for (size_t i = 0; i < imgcheck_report_count(report); i++) {
		if (imgcheck_report_outcome(report, i) != outcome)
			continue;
		(void)printf("%s%s", before[0] == '=' ? imgcheck_outcome_name(outcome) : "", before);
		print_word(imgcheck_report_text(report, i, IMGCHECK_TEXT_REFERENCE));
		before = " ";
	}
	if (before[0] == ' ')
		(void)putchar('\n');
}

static void print_problems(const struct imgcheck_images *images)
{
	const struct imgcheck_error *problem;

	for (size_t i = 0; (problem = imgcheck_images_problem(images, i)) != NULL; i++) {
		unsigned line;
		const char *place = imgcheck_error_place(problem, &line, NULL);

		(void)printf("problem=%s:%u: %s\n", place ? place : "-", line, imgcheck_error_message(problem));
	}
}

static int print_results(const struct check *c)
{
	enum imgcheck_decision decision = imgcheck_report_decision(c->report);

	(void)printf("decision=%s\nchecked=%zu\n", imgcheck_decision_name(decision), imgcheck_report_count(c->report));
	for (int o = IMGCHECK_OUTCOME_OK; o <= IMGCHECK_OUTCOME_INTERNAL; o++)
		print_outcome(c->report, (enum imgcheck_outcome)o);
	print_problems(c->images);
	return decision == IMGCHECK_DECISION_VETO ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct check c = {NULL, NULL, NULL, NULL};
	int status = 2;

	if (argc < 4)
		(void)puts("error=usage: results REGISTRY AUTHFILE PATH...");
	else if (run(&c, argv) < 0)
		(void)printf("error=%s\n", c.err ? imgcheck_error_message(c.err) : "cannot allocate memory");
	else
		status = print_results(&c);
	imgcheck_error_free(c.err);
	imgcheck_report_free(c.report);
	imgcheck_images_free(c.images);
	imgcheck_config_free(c.config);
	return status;
}
