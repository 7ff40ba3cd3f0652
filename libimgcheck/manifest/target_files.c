/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/target_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/text.h"
#include "manifest/folder.h"
#include "manifest/target_values.h"

struct search {
	const struct imgcheck_target *t;
	char *top;           /* the folder of the target, without links */
	struct ic_vec found; /* texts: paths from the top */
	struct ic_vec *problems;
};

/* Keeps *problem, which is taken.  That there is no memory stays an error. */
static int keep(struct search *s, struct imgcheck_error **problem, struct imgcheck_error **err)
{
	int result;

	if (imgcheck_error_code(*problem) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	result = ic_vec_push(s->problems, problem, err);
	if (result == 0)
		*problem = NULL;
	return result;
}

static int join(struct ic_buf *path, const char *dir, const char *name, struct imgcheck_error **err)
{
	ic_buf_init(path, 2 * IC_MAX_PATH_BYTES);
	return ic_buf_printf(path, err, "%s/%s", dir, name);
}

/* Whether a path without links is below such a folder. */
static bool is_below(const char *top, const char *real)
{
	size_t len = strlen(top);

	return strncmp(real, top, len) == 0 && (real[len] == '/' || real[len] == '\0' || strcmp(top, "/") == 0);
}

/* 1: what stands behind all links is below the top; 0: it is not.  Errors: NOMEM. */
static int stays_inside(const struct search *s, const char *path, struct imgcheck_error **err)
{
	char *real IC_AUTO(free) = realpath(path, NULL);

	if (!real && errno == ENOMEM)
		return ic_error_nomem(err);
	return real && is_below(s->top, real);
}

int ic_target_leads_out(const char *dir, const char *path, struct imgcheck_error **err)
{
	char *top IC_AUTO(free) = realpath(dir, NULL);
	bool no_memory = !top && errno == ENOMEM;
	char *real IC_AUTO(free) = no_memory ? NULL : realpath(path, NULL);

	if (no_memory || (!real && errno == ENOMEM))
		return ic_error_nomem(err);
	return top && real && !is_below(top, real);
}

/* One file, by its path with the folder of the target before it. */
static int add_found(struct search *s, const struct ic_node *at, const char *path, struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	const char *name = path + strlen(s->t->dir) + 1;
	int inside = stays_inside(s, path, err);

	if (inside < 0)
		return inside;
	if (inside)
		return ic_texts_push(&s->found, name, strlen(name), err);
	(void)ic_target_fault(s->t, at, IMGCHECK_ERR_CONFIG, &problem,
	                      "cannot use '%s': it is a link that leads out of the snap", name);
	return keep(s, &problem, err);
}

static int add_folder(struct search *s, const struct ic_node *at, const char *path, struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	struct ic_vec files IC_AUTO(texts);
	int result = 0;

	ic_texts_init(&files, IC_MAX_FILES);
	if (ic_folder_list(path, &files, &problem) == 0 && files.count == 0)
		(void)ic_target_fault(s->t, at, IMGCHECK_ERR_CONFIG, &problem, "cannot find a manifest in '%s'", at->text);
	if (problem)
		result = keep(s, &problem, err);
	for (size_t i = 0; result == 0 && i < files.count; i++)
		result = add_found(s, at, ic_texts_get(&files, i), err);
	return result;
}

static int add_path(struct search *s, const struct ic_node *at, struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	struct ic_buf path IC_AUTO(buf);
	struct stat st;
	int result = join(&path, s->t->dir, at->text, err);

	if (result < 0)
		return result;
	while (path.len > 1 && path.data[path.len - 1] == '/')
		path.data[--path.len] = '\0';
	if (stat(path.data, &st) < 0) {
		(void)ic_target_fault(s->t, at, IMGCHECK_ERR_CONFIG, &problem, "cannot find the path '%s': %s", at->text,
		                      strerror(errno));
		return keep(s, &problem, err);
	}
	result = S_ISDIR(st.st_mode) ? stays_inside(s, path.data, err) : 0;
	if (result < 0)
		return result;
	if (!result)
		return add_found(s, at, path.data, err);
	return add_folder(s, at, path.data, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the paths, and leaves one of those that were named twice. */
static void sort(struct ic_vec *paths)
{
	size_t kept = 0;

	if (paths->count == 0)
		return;
	qsort(paths->items, paths->count, paths->item_size, by_name);
	for (size_t i = 1; i < paths->count; i++) {
		char **last = ic_vec_at(paths, kept), **path = ic_vec_at(paths, i);

		if (strcmp(*last, *path) == 0)
			free(*path);
		else
			*(char **)ic_vec_at(paths, ++kept) = *path;
	}
	paths->count = kept + 1;
}

static bool matches(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return ic_text_glob(pattern, strchr(pattern, '/') || !slash ? path : slash + 1);
}

/* Leaves out the files that the pattern names, where its rule is false. */
static int apply_pattern(struct search *s, const struct ic_node *pattern, bool holds, bool *left_out,
                         struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	bool any = false;

	for (size_t i = 0; i < s->found.count; i++) {
		if (!matches(pattern->text, ic_texts_get(&s->found, i)))
			continue;
		any = true;
		left_out[i] = left_out[i] || !holds;
	}
	if (any)
		return 0;
	(void)ic_target_fault(s->t, pattern, IMGCHECK_ERR_CONFIG, &problem, "cannot find a file that '%s' matches",
	                      pattern->text);
	return keep(s, &problem, err);
}

static int apply_rule(struct search *s, const struct ic_node *rule, bool *left_out, struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	const struct ic_node *files = ic_node_get(rule, "files");
	bool holds = true;
	int result = 0;

	if (ic_target_holds(s->t, ic_node_get(rule, "if"), &holds, &problem) < 0) {
		holds = true;
		result = keep(s, &problem, err);
	}
	if (result == 0 && files->kind == IC_NODE_SCALAR)
		return apply_pattern(s, files, holds, left_out, err);
	for (const struct ic_item *i = ic_node_items(files); result == 0 && i; i = i->next)
		result = apply_pattern(s, i->value, holds, left_out, err);
	return result;
}

static int choose(struct search *s, struct ic_vec *files, struct imgcheck_error **err)
{
	bool *left_out IC_AUTO(free) = calloc(s->found.count + 1, sizeof(*left_out));
	int result = left_out ? 0 : ic_error_nomem(err);

	for (const struct ic_item *i = ic_node_items(s->t->when); result == 0 && i; i = i->next)
		result = apply_rule(s, i->value, left_out, err);
	for (size_t i = 0; result == 0 && i < s->found.count; i++) {
		const char *path = ic_texts_get(&s->found, i);

		if (!left_out[i])
			result = ic_texts_push(files, path, strlen(path), err);
	}
	return result;
}

int ic_target_files(const struct imgcheck_target *t, struct ic_vec *files, struct ic_vec *problems,
                    struct imgcheck_error **err)
{
	struct search s = {.t = t, .top = realpath(t->dir, NULL), .problems = problems};
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	int result = 0;

	ic_texts_init(&s.found, IC_MAX_FILES);
	if (!s.top) {
		(void)ic_error_errno(&problem, t->dir, "cannot read the folder");
		return keep(&s, &problem, err);
	}
	for (const struct ic_item *i = ic_node_items(t->paths); result == 0 && i; i = i->next)
		result = add_path(&s, i->value, err);
	sort(&s.found);
	if (result == 0)
		result = choose(&s, files, err);
	ic_texts_clear(&s.found);
	free(s.top);
	return result;
}
