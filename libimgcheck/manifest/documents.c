/* SPDX-License-Identifier: Apache-2.0 */
#include "documents.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct ic_docs {
	const char *name;
	struct ic_yaml *yaml; /* NULL while the text is read as JSON */
	const char *text;
	size_t len, at;       /* JSON: what was read already */
	unsigned line;        /* JSON: of text[at] */
	size_t done;          /* JSON: documents that were handed over */
};

static void skip_blanks(struct ic_docs *d)
{
	if (d->at == 0 && ic_text_starts(d->text, d->len, BYTE_ORDER_MARK))
		d->at = strlen(BYTE_ORDER_MARK);
	for (; d->at < d->len && ic_is_space(d->text[d->at]); d->at++)
		d->line += d->text[d->at] == '\n';
}

static void advance(struct ic_docs *d, size_t bytes)
{
	for (; bytes; bytes--)
		d->line += d->text[d->at++] == '\n';
}

int ic_docs_new(const char *name, const char *text, size_t len, struct ic_docs **out, struct imgcheck_error **err)
{
	struct ic_docs *d IC_AUTO(docs) = calloc(1, sizeof(*d));
	int result = 0;

	*out = NULL;
	if (!d)
		return ic_error_nomem(err);
	*d = (struct ic_docs){.name = name, .text = text, .len = len, .line = 1};
	skip_blanks(d);
	if (d->at == len || (text[d->at] != '{' && text[d->at] != '['))
		result = ic_yaml_new_text(name, text, len, &d->yaml, err);
	if (result == 0)
		*out = IC_TAKE(d);
	return result;
}

int ic_docs_new_stream(const char *name, ic_yaml_read_fn read, void *arg, struct ic_docs **out, struct imgcheck_error **err)
{
	struct ic_docs *d IC_AUTO(docs) = calloc(1, sizeof(*d));
	int result;

	*out = NULL;
	if (!d)
		return ic_error_nomem(err);
	d->name = name;
	result = ic_yaml_new(name, read, arg, &d->yaml, err);
	if (result == 0)
		*out = IC_TAKE(d);
	return result;
}

void ic_docs_free(struct ic_docs *d)
{
	if (!d)
		return;
	ic_yaml_free(d->yaml);
	free(d);
}

static int next_json(struct ic_docs *d, struct ic_doc **out, struct imgcheck_error **err)
{
	json_t *value IC_AUTO(json) = NULL;
	size_t used;
	int result;

	skip_blanks(d);
	if (d->at == d->len)
		return 0;
	result = ic_json_parse_next(NULL, d->text + d->at, d->len - d->at, &value, &used, err);
	if (result == 0)
		result = ic_doc_from_json(value, d->line, out, err);
	if (result < 0)
		return result;
	advance(d, used);
	return 0;
}

/* Gives an error of a JSON text, which counts from its own first line, its place in the file. */
static void place_json(const struct ic_docs *d, struct imgcheck_error **err)
{
	unsigned line = 0, column = 0;

	if (!err || !*err)
		return;
	(void)imgcheck_error_place(*err, &line, &column);
	ic_error_place(err, d->name, d->line + (line ? line - 1 : 0), column);
}

/* Hands an error over to the caller. */
static int give(struct imgcheck_error **from, struct imgcheck_error **err)
{
	int result = (int)imgcheck_error_code(*from);

	if (err && !*err)
		*err = IC_TAKE(*from);
	return result;
}

/*
 * A text that is no JSON, or not only, is read as YAML from its start: a flow mapping, JSON documents
 * between markers (---), or JSON beyond what is read as a whole.  What was handed over already is skipped.
 */
static int go_on_as_yaml(struct ic_docs *d, struct ic_doc **out, struct imgcheck_error **json_error, struct imgcheck_error **err)
{
	struct imgcheck_error *yaml_error IC_AUTO(error) = NULL;
	int result = ic_yaml_new_text(d->name, d->text, d->len, &d->yaml, &yaml_error);

	for (size_t i = 0; result == 0 && i <= d->done; i++) {
		ic_doc_free(*out);
		result = ic_yaml_next(d->yaml, out, &yaml_error);
	}
	if (result == 0)
		return 0;
	if (result == IMGCHECK_ERR_NOMEM || (d->done == 0 && !ic_text_ends(d->name, strlen(d->name), ".json")))
		return give(&yaml_error, err);
	place_json(d, json_error);
	return give(json_error, err);
}

int ic_docs_next(struct ic_docs *d, struct ic_doc **out, struct imgcheck_error **err)
{
	struct imgcheck_error *json_error IC_AUTO(error) = NULL;
	int result;

	*out = NULL;
	if (d->yaml)
		return ic_yaml_next(d->yaml, out, err);
	result = next_json(d, out, &json_error);
	if (result == IMGCHECK_ERR_NOMEM)
		return give(&json_error, err);
	if (result < 0)
		return go_on_as_yaml(d, out, &json_error, err);
	d->done++;
	return 0;
}
