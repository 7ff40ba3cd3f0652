/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_run.h"

#include "base/json.h"
#include "base/limits.h"

/* What runs in one scope. */
struct run {
	struct ic_evaluation *e;
	struct ic_output *out;
	unsigned loops; /* around the current statement */
};

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] != ' ' && text[i] != '\t')
			return false;
	}
	return true;
}

/*
 * Keeps the line that a piece of one output line came from: that of its first byte which is no blank, since the
 * blanks in front may stand before a tag of an earlier line.
 */
static int keep_line(struct ic_output *out, const char *text, size_t len, unsigned line, struct imgcheck_error **err)
{
	int result = 0;

	if (!out->begun)
		result = ic_vec_push(out->lines, &line, err);
	else if (out->blank)
		*(unsigned *)ic_vec_at(out->lines, out->lines->count - 1) = line;
	out->blank = (!out->begun || out->blank) && is_blank(text, len);
	out->begun = true;
	return result;
}

/* Appends text that came from `line` on; `moves`: its own line ends are line ends of the template. */
static int print(struct ic_output *out, const char *text, size_t len, unsigned line, bool moves, struct imgcheck_error **err)
{
	int result = ic_buf_add(out->text, text, len, err);

	for (size_t at = 0; result == 0 && out->lines && at < len;) {
		size_t end = at;

		while (end < len && text[end] != '\n')
			end++;
		result = keep_line(out, text + at, end - at, line, err);
		if (end < len) {
			out->begun = false;
			line += moves;
		}
		at = end + 1;
	}
	return result;
}

static int run_body(struct run *r, struct ic_scope *s, const struct ic_part *body, struct imgcheck_error **err);

static int run_print(struct run *r, struct ic_scope *s, const struct ic_part *part, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	json_t *value IC_AUTO(json) = NULL;
	int result = ic_evaluate(r->e, s, part->a, &value, err);

	ic_buf_init(&text, IC_MAX_TEMPLATE_BYTES);
	if (result == 0)
		result = ic_evaluation_blame(r->e, part->a, ic_value_add_text(&r->e->work, value, &text, err), err);
	return result < 0 ? result : print(r->out, ic_buf_text(&text), text.len, part->line, false, err);
}

static int run_if(struct run *r, struct ic_scope *s, const struct ic_part *part, struct imgcheck_error **err)
{
	for (const struct ic_part *branch = part->list; branch; branch = branch->next) {
		json_t *value IC_AUTO(json) = NULL;
		int result = branch->a ? ic_evaluate(r->e, s, branch->a, &value, err) : 0;

		if (result < 0)
			return result;
		if (!branch->a || ic_value_truth(value))
			return run_body(r, s, branch, err);
	}
	return 0;
}

static int run_set(struct run *r, struct ic_scope *s, const struct ic_part *part, struct imgcheck_error **err)
{
	json_t *value IC_AUTO(json) = NULL;
	int result = ic_evaluate(r->e, s, part->a, &value, err);

	return result < 0 ? result : ic_scope_set(r->e, s, ic_part_word(part), value, err);
}

/* Gives the loop's names their values for one item. */
static int set_targets(struct run *r, struct ic_scope *s, const struct ic_part *part, json_t *item,
                       struct imgcheck_error **err)
{
	const struct ic_part *target = part->list;
	size_t i = 0;
	int result = 0;

	if (!target->next)
		return ic_scope_set(r->e, s, ic_part_word(target), item, err);
	if (!json_is_array(item)) {
		result = ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "%s is not supported for more than one name",
		                      ic_value_kind(item));
		return ic_evaluation_blame(r->e, part->a, result, err);
	}
	for (; result == 0 && target && i < json_array_size(item); target = target->next, i++)
		result = ic_scope_set(r->e, s, ic_part_word(target), json_array_get(item, i), err);
	if (result == 0 && (target || i < json_array_size(item))) {
		result = ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "an item does not fit the number of names");
		return ic_evaluation_blame(r->e, part->a, result, err);
	}
	return result;
}

static int run_items(struct run *r, const struct ic_scope *outer, const struct ic_part *part, const json_t *items,
                     struct imgcheck_error **err)
{
	struct ic_loop loop = {.length = json_array_size(items), .depth = r->loops};
	int result = 0;

	r->loops++;
	for (; result == 0 && loop.index0 < loop.length; loop.index0++) {
		struct ic_scope inner IC_AUTO(scope);

		result = ic_scope_init(&inner, part->c, &loop, outer, err);
		if (result == 0)
			result = set_targets(r, &inner, part, json_array_get(items, loop.index0), err);
		if (result == 0)
			result = run_body(r, &inner, part->c, err);
	}
	r->loops--;
	return result;
}

static int run_for(struct run *r, struct ic_scope *s, const struct ic_part *part, struct imgcheck_error **err)
{
	struct ic_scope inner IC_AUTO(scope) = {0};
	json_t *items IC_AUTO(json) = NULL;
	int result = ic_evaluate_items(r->e, s, part->a, part->list->next && !part->list->next->next, &items, err);

	if (result < 0)
		return result;
	if (json_array_size(items))
		return run_items(r, s, part, items, err);
	if (!part->d)
		return 0;
	result = ic_scope_init(&inner, part->d, NULL, s, err);
	return result < 0 ? result : run_body(r, &inner, part->d, err);
}

static int run_statement(struct run *r, struct ic_scope *s, const struct ic_part *part, struct imgcheck_error **err)
{
	if (part->kind == IC_PART_DATA)
		return print(r->out, part->text, part->len, part->line, true, err);
	r->e->tag = part->text;
	if (part->kind == IC_PART_PRINT)
		return run_print(r, s, part, err);
	if (part->kind == IC_PART_IF)
		return run_if(r, s, part, err);
	if (part->kind == IC_PART_FOR)
		return run_for(r, s, part, err);
	return run_set(r, s, part, err);
}

static int run_body(struct run *r, struct ic_scope *s, const struct ic_part *body, struct imgcheck_error **err)
{
	int result = 0;

	for (const struct ic_part *part = body->list; result == 0 && part; part = part->next) {
		result = ic_work_step(&r->e->work, err);
		if (result == 0)
			result = run_statement(r, s, part, err);
		ic_error_place(err, r->e->name, part->line, 0);
	}
	return result;
}

int ic_run_template(struct ic_evaluation *e, const struct ic_part *root, struct ic_output *out, struct imgcheck_error **err)
{
	struct run run = {.e = e, .out = out};
	struct ic_scope scope IC_AUTO(scope);
	int result = ic_scope_init(&scope, root, NULL, NULL, err);

	return result < 0 ? result : run_body(&run, &scope, root, err);
}
