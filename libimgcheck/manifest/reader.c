/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "documents.h"
#include "folder.h"
#include "list.h"
#include "upstream.h"
#include "prepare.h"
#include "pull_secrets.h"
#include "template.h"

#define PEEK_BYTES 64
#define SHOWN_BYTES 200 /* of a value, in a problem */

/* One file on its way into the set. */
struct reader {
	struct imgcheck_images *s;
	const char *name;
	const char *key;      /* of a list: only its lines */
	const json_t *values; /* or NULL */
	const struct ic_prepared *prepared; /* or NULL: read as a stream */
	const struct ic_sources *sources;   /* what its images are with no registry value, or NULL */
	size_t document;
	size_t aliased; /* as ic_sink has it */
	bool held; /* it has an image or a document */
};

/* Turns an error into a problem of the set; that there is no memory stays an error. */
static int keep_problem(struct reader *r, struct imgcheck_error **problem, struct imgcheck_error **err)
{
	if (imgcheck_error_code(*problem) == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	ic_error_place(problem, r->name, 0, 0);
	if (!imgcheck_error_place(*problem, NULL, NULL))
		return ic_error_nomem(err);
	return ic_images_add_problem(r->s, problem, err);
}

/* The line of the file for a line of the text that was parsed; what is missing at the end belongs to the last one. */
static unsigned file_line(const struct reader *r, unsigned line)
{
	const struct ic_vec *lines = r->prepared ? &r->prepared->lines : NULL;

	if (!lines || lines->count == 0 || line == 0)
		return line;
	return *(unsigned *)ic_vec_at(lines, (line > lines->count ? lines->count : line) - 1);
}

static int add_note(struct reader *r, enum imgcheck_err code, const struct ic_found *f, const char *format_note,
                    struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	const struct ic_place *p = &f->place;
	struct ic_buf hidden IC_AUTO(buf);
	const char *text = f->text;
	size_t len = f->len;
	unsigned column = r->prepared && r->prepared->lines.count ? 0 : f->column;

	if (ic_ref_hide_login(&text, &len, &hidden, err) < 0)
		return IMGCHECK_ERR_NOMEM;
	(void)ic_error_set_at(&problem, code, r->name, p->line, column, "%s '%.*s' (%s%s%s)", format_note,
	                      (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES), text, p->object ? p->object : "",
	                      p->object && p->path ? ": " : "", p->path ? p->path : "");
	return keep_problem(r, &problem, err);
}

static int keep_found(void *arg, const struct ic_found *found, struct imgcheck_error **err)
{
	struct reader *r = arg;
	struct ic_found f = *found;
	const char *source;
	int result;

	r->held = true;
	f.place.file = r->name;
	f.place.line = file_line(r, found->place.line);
	if (f.form == IC_FORM_UNRESOLVED)
		return add_note(r, IMGCHECK_ERR_UNRESOLVED, &f, "cannot resolve the image", err);
	source = ic_sources_find(r->sources, r->document, f.place.path, f.text, f.len);
	result = ic_images_add(r->s, f.text, f.len, &f.place, source, err);
	if (result == 0 && f.note)
		result = add_note(r, IMGCHECK_ERR_FINDING, &f, f.note, err);
	return result;
}

/* Findings of the document's reader, such as duplicate keys. */
static int keep_notes(struct reader *r, const struct ic_doc *doc, struct imgcheck_error **err)
{
	for (size_t i = 0; i < doc->notes.count; i++) {
		struct imgcheck_error **note = ic_vec_at(&doc->notes, i);
		unsigned line, column;
		int result;

		(void)imgcheck_error_place(*note, &line, &column);
		ic_error_place(note, r->name, file_line(r, line), r->prepared && r->prepared->lines.count ? 0 : column);
		result = imgcheck_error_place(*note, NULL, NULL) ? keep_problem(r, note, err) : ic_error_nomem(err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Why a text could not be parsed: what was said when it was not rendered comes first. */
static int keep_failure(struct reader *r, struct imgcheck_error **why, struct imgcheck_error **err)
{
	struct imgcheck_error *explained IC_AUTO(error) = NULL, *placed IC_AUTO(error) = NULL;
	unsigned line, column;

	if (imgcheck_error_code(*why) != IMGCHECK_ERR_NOMEM && r->prepared && r->prepared->marked) {
		(void)ic_prepare_explain(r->prepared, r->name, why, &explained);
		return keep_problem(r, &explained, err);
	}
	if (!r->prepared || r->prepared->lines.count == 0)
		return keep_problem(r, why, err);
	(void)imgcheck_error_place(*why, &line, &column);
	(void)ic_error_set_at(&placed, imgcheck_error_code(*why), r->name, file_line(r, line), 0, "%s (after rendering)",
	                      imgcheck_error_message(*why));
	return keep_problem(r, &placed, err);
}

/* A text alone is no document: what came instead of a manifest, or a list of images under a manifest's name. */
static int read_document(struct reader *r, const struct ic_doc *doc, struct imgcheck_error **err)
{
	const struct ic_sink sink = {keep_found, r, &r->aliased};
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	bool before = r->held, found;
	int result;

	r->held = false;
	result = ic_rules_apply(doc, &sink, err);
	found = r->held;
	r->held = before || !ic_node_is_null(doc->root);
	if (result == IMGCHECK_ERR_LIMIT)
		ic_error_place(err, r->name, 0, 0);
	if (result < 0 || found || ic_node_is_null(doc->root) || doc->root->kind != IC_NODE_SCALAR)
		return result;
	(void)ic_error_set_at(&problem, IMGCHECK_ERR_SYNTAX, r->name, file_line(r, doc->root->line), 0,
	                      "cannot use a document that is only a text, neither a manifest nor a list of images");
	return keep_problem(r, &problem, err);
}

static int read_documents(struct reader *r, struct ic_docs *docs, struct imgcheck_error **err)
{
	int result = 0;

	for (r->document = 0; result == 0; r->document++) {
		struct imgcheck_error *why IC_AUTO(error) = NULL;
		struct ic_doc *doc IC_AUTO(doc) = NULL;

		if (r->document == IC_MAX_DOCUMENTS)
			(void)ic_error_set(&why, IMGCHECK_ERR_LIMIT, "cannot read more than %zu documents in a file", IC_MAX_DOCUMENTS);
		if (why || ic_docs_next(docs, &doc, &why) < 0)
			return keep_failure(r, &why, err);
		if (!doc)
			return 0;
		result = keep_notes(r, doc, err);
		if (result == 0)
			result = read_document(r, doc, err);
		if (result == 0)
			result = ic_pull_secrets_collect(doc->root, r->name, &r->s->pull_secrets, err);
	}
	return result;
}

static int read_list(struct reader *r, struct imgcheck_error **err)
{
	const struct ic_sink sink = {.found = keep_found, .arg = r};
	struct imgcheck_error *problem IC_AUTO(error) = NULL;
	size_t lines;
	int result = ic_list_read(r->prepared->text, r->prepared->len, r->key, &sink, &lines, err);

	if (result < 0 || lines > 0)
		return result;
	(void)ic_error_set_at(&problem, IMGCHECK_ERR_SYNTAX, r->name, 0, 0, "cannot find a line '%s: ...' in the list", r->key);
	return keep_problem(r, &problem, err);
}

/* The text of a file whose name does not say what it is may be a list. */
static bool is_list(const struct reader *r)
{
	return r->key || (!ic_folder_is_manifest(r->name) && ic_list_is(r->prepared->text, r->prepared->len));
}

static int read_prepared(struct reader *r, struct imgcheck_error **err)
{
	struct ic_docs *docs IC_AUTO(docs) = NULL;
	int result;

	if (is_list(r))
		return read_list(r, err);
	result = ic_docs_new(r->name, r->prepared->text, r->prepared->len, &docs, err);
	return result < 0 ? result : read_documents(r, docs, err);
}

static int read_text(struct reader *r, const char *text, size_t len, struct imgcheck_error **err)
{
	struct ic_prepared prepared IC_AUTO(prepared) = {.text = NULL};
	struct ic_sources sources IC_AUTO(sources);
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	int result;

	ic_sources_init(&sources);
	result = ic_prepare(r->name, text, len, r->values, &prepared, &why);
	if (result < 0)
		return keep_problem(r, &why, err);
	r->held |= prepared.rendered;
	if (prepared.lines.count > 0) {
		result = ic_sources_read(&sources, r->name, text, len, r->values, err);
		if (result < 0)
			return result;
	}
	r->prepared = &prepared;
	r->sources = &sources;
	result = read_prepared(r, err);
	r->prepared = NULL;
	r->sources = NULL;
	return result;
}

/* ------------------------------------------------------------------ files */

static int read_descriptor(void *arg, char *out, size_t size, size_t *got, struct imgcheck_error **err)
{
	const int *fd = arg;
	ssize_t n;

	do
		n = read(*fd, out, size);
	while (n < 0 && errno == EINTR);
	*got = n > 0 ? (size_t)n : 0;
	return n < 0 ? ic_error_errno(err, NULL, "cannot read") : 0;
}

/* Looks through a long file, which cannot be rendered, for template marks; *marked may be true for nothing. */
static int find_marks(int fd, bool *marked, struct imgcheck_error **err)
{
	char chunk[65536];
	size_t got, kept = 0;
	int result = 0;

	*marked = false;
	while (!*marked) {
		result = read_descriptor(&fd, chunk + kept, sizeof(chunk) - kept, &got, err);
		if (result < 0 || got == 0)
			break;
		*marked = ic_template_has_marks(chunk, kept + got);
		chunk[0] = chunk[kept + got - 1];
		kept = 1;
	}
	if (lseek(fd, 0, SEEK_SET) < 0 && result == 0)
		return ic_error_errno(err, NULL, "cannot read");
	return result;
}

/* A long file: YAML, one document in memory at a time. */
static int read_stream(struct reader *r, int fd, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_docs *docs IC_AUTO(docs) = NULL;
	bool marked = false;
	int result = r->values ? find_marks(fd, &marked, &why) : 0;

	if (result == 0 && marked)
		result = ic_error_set(&why, IMGCHECK_ERR_LIMIT, "cannot evaluate a template of more than %zu bytes", IC_MAX_TEMPLATE_BYTES);
	if (result < 0)
		return keep_problem(r, &why, err);
	result = ic_docs_new_stream(r->name, read_descriptor, &fd, &docs, err);
	return result < 0 ? result : read_documents(r, docs, err);
}

/* Whether a long file must be held whole: lists, and what begins like JSON or UTF-16. */
static bool must_be_whole(const struct reader *r, int fd)
{
	char start[PEEK_BYTES];
	ssize_t n = pread(fd, start, sizeof(start), 0);
	size_t len = n > 0 ? (size_t)n : 0, i = 0;

	while (i < len && ic_is_space(start[i]))
		i++;
	return r->key || (i < len && strchr("{[\xfe\xff", start[i]));
}

static int read_whole(struct reader *r, int fd, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_buf data IC_AUTO(buf);

	ic_buf_init_secret(&data, IC_MAX_FILE_BYTES); /* manifests hold Secrets */
	if (ic_file_read_fd(fd, r->name, &data, &why) < 0)
		return keep_problem(r, &why, err);
	return read_text(r, ic_buf_text(&data), data.len, err);
}

static int read_file(struct reader *r, const char *path, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	size_t size;
	int fd, result = ic_file_open(path, &fd, &size, &why);

	if (result < 0)
		return keep_problem(r, &why, err);
	if (size > IC_MAX_FILE_BYTES) {
		(void)ic_error_set(&why, IMGCHECK_ERR_LIMIT, "cannot read a file of more than %zu bytes", IC_MAX_FILE_BYTES);
		result = keep_problem(r, &why, err);
	} else if (size > IC_MAX_TEMPLATE_BYTES && !must_be_whole(r, fd)) {
		result = read_stream(r, fd, err);
	} else {
		result = read_whole(r, fd, err);
	}
	(void)close(fd);
	return result;
}

int ic_reader_add_file(struct imgcheck_images *s, const char *path, const char *name, const json_t *values,
                       struct imgcheck_error **err)
{
	struct reader r = {.s = s, .name = name, .values = values};

	return read_file(&r, path, err);
}

/* ------------------------------------------------------------------ the public calls */

/*
 * What a caller names is more than nothing: an empty file stands for a step before that has failed.  Templates may
 * render to nothing, and single files below a folder may hold nothing.
 */
static int expect_something(struct reader *r, size_t problems_before, struct imgcheck_error **err)
{
	struct imgcheck_error *problem IC_AUTO(error) = NULL;

	if (r->held || r->s->problems.count > problems_before)
		return 0;
	(void)ic_error_set_at(&problem, IMGCHECK_ERR_SYNTAX, r->name, 0, 0, "cannot find a manifest or a list of images in it");
	return keep_problem(r, &problem, err);
}

static int add_folder(struct imgcheck_images *s, const char *path, struct imgcheck_error **err)
{
	struct ic_vec files IC_AUTO(texts);
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct reader r = {.s = s, .name = path};
	int result = 0;

	ic_texts_init(&files, IC_MAX_FILES);
	if (ic_folder_list(path, &files, &why) == 0 && files.count == 0)
		(void)ic_error_set(&why, IMGCHECK_ERR_IO, "cannot find a manifest in the folder (*.yaml, *.yml, *.json)");
	if (why)
		result = keep_problem(&r, &why, err);
	for (size_t i = 0; i < files.count && result == 0; i++)
		result = ic_reader_add_file(s, ic_texts_get(&files, i), ic_texts_get(&files, i), s->values, err);
	return result;
}

static int read_named(struct reader *r, const char *path, struct imgcheck_error **err)
{
	size_t problems = r->s->problems.count;
	int result = read_file(r, path, err);

	return result < 0 ? result : expect_something(r, problems, err);
}

/* "LIST#KEY", where there is no file of the whole name. */
static int add_list_line(struct imgcheck_images *s, const char *path, const char *hash, struct imgcheck_error **err)
{
	char *list IC_AUTO(free) = ic_text_copy(path, (size_t)(hash - path));
	struct reader r = {.s = s, .name = list, .key = hash + 1, .values = s->values};

	return list ? read_named(&r, list, err) : ic_error_nomem(err);
}

static int add_path(struct imgcheck_images *s, const char *path, struct imgcheck_error **err)
{
	const char *hash = strrchr(path, '#');
	struct stat st;
	bool exists = stat(path, &st) == 0;
	struct reader r = {.s = s, .name = path, .values = s->values};

	if (exists && S_ISDIR(st.st_mode))
		return add_folder(s, path, err);
	if (!exists && hash && hash > path && hash[1])
		return add_list_line(s, path, hash, err);
	return read_named(&r, path, err);
}

int imgcheck_images_add_path(struct imgcheck_images *s, const char *path, struct imgcheck_error **err)
{
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!path)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot add a path: no path");
	result = add_path(s, path, err);
	ic_images_settle(s);
	return result;
}

int imgcheck_images_add_data(struct imgcheck_images *s, const char *name, const void *data, size_t len,
                             struct imgcheck_error **err)
{
	struct reader r = {.s = s, .name = name};
	size_t problems;
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!name || (!data && len))
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot add data: no name or no data");
	if (len > IC_MAX_FILE_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot read more than %zu bytes", IC_MAX_FILE_BYTES);
	r.values = s->values;
	problems = s->problems.count;
	result = read_text(&r, data ? data : "", len, err);
	if (result == 0)
		result = expect_something(&r, problems, err);
	ic_images_settle(s);
	return result;
}

int imgcheck_images_render(struct imgcheck_images *s, const char *path, char **out, size_t *len, struct imgcheck_error **err)
{
	struct ic_buf template IC_AUTO(buf), rendered IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&template, IC_MAX_TEMPLATE_BYTES);
	ic_buf_init_secret(&rendered, IC_MAX_TEMPLATE_BYTES);
	if (out)
		*out = NULL;
	if (len)
		*len = 0;
	if (!s || !path || !out)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot render: an argument is missing");
	result = ic_file_read(path, &template, err);
	if (result == 0)
		result = ic_template_render(path, ic_buf_text(&template), template.len, s->values, &rendered, NULL, err);
	if (result < 0)
		return result;
	if (len)
		*len = rendered.len;
	*out = ic_buf_take(&rendered);
	return *out ? 0 : ic_error_nomem(err);
}
