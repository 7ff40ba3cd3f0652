/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "oom.h"

void must(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fflush(stdout);
	(void)fprintf(stderr, "oom: cannot %s\n", what);
	exit(2);
}

char *load(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	long size = 0;

	must(f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0, path);
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	must(text && fread(text, 1, (size_t)size, f) == (size_t)size, path);
	(void)fclose(f);
	*len = (size_t)size;
	return text;
}

struct imgcheck_images *new_images(const char *values)
{
	struct imgcheck_images *s;

	must(imgcheck_images_new(&s) == 0, "make a set of images");
	must(!values || imgcheck_images_set_values(s, values, strlen(values), NULL) == 0, "set values");
	return s;
}

struct imgcheck_config *new_config(void)
{
	struct imgcheck_config *c;

	must(imgcheck_config_new(&c) == 0, "make a config");
	return c;
}

static const char *shown(const char *text)
{
	return text ? text : "-";
}

void tell_images(struct attempt *a, const struct imgcheck_images *s)
{
	const struct imgcheck_image *m;
	const struct imgcheck_error *problem;

	for (size_t i = 0; (m = imgcheck_images_get(s, i)); i++) {
		(void)fprintf(a->told, "%s %d %s\n", imgcheck_image_ref(m), (int)imgcheck_image_class(m), shown(imgcheck_image_source(m)));
		for (size_t o = 0; imgcheck_image_origin(m, o, IMGCHECK_FIELD_CLASS); o++) {
			for (int f = IMGCHECK_FIELD_FILE; f <= IMGCHECK_FIELD_NAMESPACE; f++)
				(void)fprintf(a->told, "\t%s", shown(imgcheck_image_origin(m, o, (enum imgcheck_field)f)));
			(void)fputc('\n', a->told);
		}
	}
	for (size_t i = 0; (problem = imgcheck_images_problem(s, i)); i++) {
		unsigned line, column;
		const char *place = imgcheck_error_place(problem, &line, &column);

		(void)fprintf(a->told, "%s:%u:%u: %d %s\n", shown(place), line, column, (int)imgcheck_error_code(problem),
		              imgcheck_error_message(problem));
	}
}

void tell_config(struct attempt *a, const struct imgcheck_config *c, const char *ref)
{
	struct imgcheck_error *err = NULL;
	char *text;
	size_t len;
	int result = imgcheck_config_explain(c, ref, IMGCHECK_FORMAT_JSON, &text, &len, &err);

	(void)fprintf(a->told, "%s\n", result == 0 ? text : imgcheck_error_message(err));
	imgcheck_error_free(err);
	free(text);
}

void tell_report(struct attempt *a, const struct imgcheck_report *p)
{
	char *text;
	size_t len;

	must(imgcheck_report_render(p, IMGCHECK_FORMAT_JSON, &text, &len, NULL) == 0, "render a report");
	(void)fwrite(text, 1, len, a->told);
	free(text);
}

void tell_output(struct attempt *a, char *out, size_t len)
{
	attempt_check(a, a->result == 0 || (!out && len == 0), "the outputs are not cleared");
	if (a->result == 0)
		(void)fwrite(out, 1, len, a->told);
	free(out);
}
