/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "manifest/template_go.h"
#include "manifest/template_parse.h"
#include "manifest/template_run.h"
#include "manifest/template_text.h"

bool ic_template_has_marks(const char *text, size_t len)
{
	const char *end = text + len;
	bool comment = false;

	for (const char *at = text; at + 1 < end; at++) {
		const char *comment_end;

		if (at[0] == '{' && (at[1] == '{' || at[1] == '%'))
			return true;
		if (at[0] != '{' || at[1] != '#' || comment)
			continue;
		comment = true; /* the first one decides: an end behind a later one is behind this one too */
		comment_end = memmem(at + 2, (size_t)(end - at) - 2, "#}", 2);
		if (comment_end)
			return true;
	}
	return false;
}

/* The bytes that Jinja2 would parse: \n for every line end, and the last one dropped.  *copy is new. */
static int prepare(const char *name, const char *text, size_t len, char **copy, struct ic_source *source,
                   struct imgcheck_error **err)
{
	size_t bad;

	if (len > IC_MAX_TEMPLATE_BYTES)
		return ic_error_set_at(err, IMGCHECK_ERR_LIMIT, name, 0, 0, "cannot evaluate a template of more than %zu bytes",
		                       IC_MAX_TEMPLATE_BYTES);
	*copy = ic_text_copy(text, len);
	if (!*copy)
		return ic_error_nomem(err);
	len = ic_template_unify_newlines(*copy, len);
	bad = ic_text_utf8_check(*copy, len);
	*source = (struct ic_source){.name = name, .line = 1, .text = *copy, .len = len - (len && (*copy)[len - 1] == '\n')};
	if (bad == len)
		return 0;
	for (size_t i = 0; i < bad; i++)
		source->line += (*copy)[i] == '\n';
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, source->line, 0, "cannot evaluate a template that is not UTF-8");
}

static int render(const struct ic_source *source, const json_t *values, struct ic_output *out, const char **tag,
                  struct imgcheck_error **err)
{
	struct ic_tree tree IC_AUTO(tree) = {0};
	struct ic_evaluation e IC_AUTO(evaluation) = {0};
	struct ic_part *root;
	int result = ic_parse_template(source, &tree, &root, tag, err);

	if (result == 0)
		result = ic_evaluation_init(&e, source->name, values, err);
	if (result < 0)
		return result;
	result = ic_run_template(&e, root, out, err);
	*tag = e.tag;
	return result;
}

int ic_template_render(const char *name, const char *text, size_t len, const json_t *values, struct ic_buf *out,
                       struct ic_vec *lines, struct imgcheck_error **err)
{
	char *copy IC_AUTO(free) = NULL;
	struct ic_output output = {.text = out, .lines = lines};
	struct ic_source source;
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	const char *tag = NULL;
	int result;

	ic_buf_clear(out);
	if (lines)
		ic_vec_clear(lines);
	result = prepare(name, text, len, &copy, &source, err);
	if (result < 0)
		return result;
	result = render(&source, values, &output, &tag, &why);
	if (result == 0)
		return 0;
	ic_buf_clear(out);
	if (lines)
		ic_vec_clear(lines);
	if (tag && ic_template_looks_go(tag, source.len - (size_t)(tag - source.text)))
		return ic_template_refuse_go(&source, tag, err);
	if (err && !*err)
		*err = IC_TAKE(why);
	return result;
}

int ic_expression_test(const char *name, unsigned line, const char *text, size_t len, const json_t *values, bool *out,
                       struct imgcheck_error **err)
{
	const struct ic_source source = {name, line, text, len};
	struct ic_tree tree IC_AUTO(tree) = {0};
	struct ic_evaluation e IC_AUTO(evaluation) = {0};
	json_t *value IC_AUTO(json) = NULL;
	struct ic_part *root;
	int result = ic_parse_expression(&source, &tree, &root, err);

	*out = false;
	if (result == 0)
		result = ic_evaluation_init(&e, name, values, err);
	if (result == 0)
		result = ic_evaluate(&e, NULL, root, &value, err);
	*out = result == 0 && ic_value_truth(value);
	return result;
}

static bool is_object(const struct ic_part *part, const char *object)
{
	return part && part->kind == IC_PART_NAME && strcmp(ic_part_word(part), object) == 0;
}

/* The key that a lookup in the object asks for, NULL where that is not constant. */
static const char *constant_key(const struct ic_part *part)
{
	if (part->kind == IC_PART_ATTRIBUTE)
		return ic_part_word(part);
	if (part->kind == IC_PART_SUBSCRIPT)
		return part->b->kind == IC_PART_LITERAL ? json_string_value(part->b->value) : NULL;
	if (part->kind == IC_PART_CALL && part->list && part->list->a->kind == IC_PART_LITERAL)
		return json_string_value(part->list->a->value);
	return NULL;
}

static int add_key(struct ic_vec *keys, const char *key, struct imgcheck_error **err)
{
	for (size_t i = 0; i < keys->count; i++) {
		if (strcmp(ic_texts_get(keys, i), key) == 0)
			return 0;
	}
	return ic_texts_push(keys, key, strlen(key), err);
}

/* All keys below the part; *loose is a name that is not the object with a constant key behind it. */
static int collect_keys(const struct ic_part *part, const char *object, struct ic_vec *keys, const struct ic_part **loose,
                        struct imgcheck_error **err)
{
	const struct ic_part *children[] = {part->a, part->b, part->c};
	const char *key = is_object(part->a, object) ? constant_key(part) : NULL;
	int result = key ? add_key(keys, key, err) : 0;

	if (part->kind == IC_PART_NAME)
		*loose = part;
	for (size_t i = key ? 1 : 0; result == 0 && i < IC_COUNT(children); i++)
		result = children[i] ? collect_keys(children[i], object, keys, loose, err) : 0;
	for (const struct ic_part *item = part->list; result == 0 && item; item = item->next)
		result = collect_keys(item, object, keys, loose, err);
	return result;
}

int ic_expression_keys(const char *name, unsigned line, const char *text, size_t len, const char *object,
                       struct ic_vec *keys, struct imgcheck_error **err)
{
	const struct ic_source source = {name, line, text, len};
	struct ic_tree tree IC_AUTO(tree) = {0};
	const struct ic_part *loose = NULL;
	struct ic_part *root;
	int result = ic_parse_expression(&source, &tree, &root, err);

	if (result == 0)
		result = collect_keys(root, object, keys, &loose, err);
	if (result == 0 && loose)
		return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, name, loose->line, 0,
		                       "cannot evaluate '%s' here: only %s['KEY'] is known", ic_part_word(loose), object);
	return result;
}
