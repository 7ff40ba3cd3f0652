/* SPDX-License-Identifier: Apache-2.0 */
#include "source/imports.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/toml.h"

static void import_clear(struct ic_import *f)
{
	free(f->place);
	free(f->real);
	ic_doc_free(f->doc);
}

void ic_imports_clear(struct ic_vec *files)
{
	for (size_t i = 0; i < files->count; i++)
		import_clear(ic_vec_at(files, i));
	ic_vec_clear(files);
}

static int refuse(const char *place, const struct ic_node *node, struct imgcheck_error **err, const char *what)
{
	return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, place, node->line, node->column, "cannot use imports: %s", what);
}

int ic_imports_parse(const char *place, const char *text, size_t len, struct ic_vec *files, struct imgcheck_error **err)
{
	struct ic_import f = {.place = ic_text_copy(place, strlen(place))};
	const struct ic_node *imports;
	int result = f.place ? ic_toml_parse(place, text, len, &f.doc, err) : ic_error_nomem(err);

	ic_vec_init(files, sizeof(struct ic_import), IC_MAX_IMPORTS);
	if (result == 0)
		result = ic_vec_push(files, &f, err);
	if (result < 0) {
		import_clear(&f);
		return result;
	}
	imports = ic_node_get(f.doc->root, "imports");
	if (!ic_node_items(imports))
		return 0;
	return refuse(place, imports, err, "a text has no files beside it; give the path of the file");
}

/* ------------------------------------------------------------------ files */

static bool is_loaded(const struct ic_vec *files, const char *real)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct ic_import *f = ic_vec_at(files, i);

		if (real && f->real && strcmp(f->real, real) == 0)
			return true;
	}
	return false;
}

/* Reads the file, unless it is there already, under whatever name: files may import one another. */
static int load(struct ic_vec *files, const char *path, struct imgcheck_error **err)
{
	struct ic_import f = {.real = realpath(path, NULL)};
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&text, IC_MAX_CONFIG_BYTES);
	if (is_loaded(files, f.real)) {
		import_clear(&f);
		return 0;
	}
	result = ic_file_read(path, &text, err);
	if (result == 0) {
		f.place = ic_text_copy(path, strlen(path));
		result = f.place ? ic_toml_parse(path, ic_buf_text(&text), text.len, &f.doc, err) : ic_error_nomem(err);
	}
	if (result == 0)
		result = ic_vec_push(files, &f, err);
	if (result < 0)
		import_clear(&f);
	return result;
}

static bool is_dots(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (strcmp(name, "/.") == 0 || strcmp(name, "/..") == 0);
}

/* In the order of their names, hidden ones too; that nothing matches is no error. */
static int load_matches(struct ic_vec *files, const char *pattern, struct imgcheck_error **err)
{
	glob_t found = {0};
	int status = glob(pattern, GLOB_PERIOD, NULL, &found), result = 0;

	if (status == GLOB_NOSPACE)
		result = ic_error_nomem(err);
	for (size_t i = 0; status == 0 && i < found.gl_pathc && result == 0; i++)
		if (!is_dots(found.gl_pathv[i]))
			result = load(files, found.gl_pathv[i], err);
	globfree(&found);
	return result;
}

static int load_import(struct ic_vec *files, const char *parent, const struct ic_node *item, struct imgcheck_error **err)
{
	const char *path = ic_node_text(item), *slash = strrchr(parent, '/');
	struct ic_buf full IC_AUTO(buf);
	int result;

	ic_buf_init(&full, IC_MAX_PATH_BYTES);
	if (!path || item->style != IC_STYLE_QUOTED)
		return refuse(parent, item, err, "a file's name is not a text");
	if (strchr(path, '*') && path[0] != '/')
		return refuse(parent, item, err, "containerd 1 looks for this pattern where it was started, 2 beside this file; "
		                                 "write it from / on");
	if (strchr(path, '*'))
		return load_matches(files, path, err);
	if (path[0] == '/' || !slash)
		return load(files, path, err);
	result = ic_buf_printf(&full, err, "%.*s/%s", (int)(slash - parent), parent, path);
	return result < 0 ? result : load(files, ic_buf_text(&full), err);
}

int ic_imports_read(const char *path, struct ic_vec *files, struct imgcheck_error **err)
{
	int result;

	ic_vec_init(files, sizeof(struct ic_import), IC_MAX_IMPORTS);
	result = load(files, path, err);
	for (size_t i = 0; i < files->count && result == 0; i++) {
		/* the array may move, what it holds does not */
		struct ic_import f = *(struct ic_import *)ic_vec_at(files, i);
		const struct ic_node *imports = ic_node_get(f.doc->root, "imports");

		if (imports && imports->kind != IC_NODE_SEQUENCE)
			return refuse(f.place, imports, err, "it is not a list");
		for (const struct ic_item *k = ic_node_items(imports); k && result == 0; k = k->next)
			result = load_import(files, f.place, k->value, err);
	}
	return result;
}
