/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_eval.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template_filter.h"
#include "manifest/template_number.h"

#define SHOWN 80 /* bytes of source that a message quotes */

/* Names that Jinja2 defines itself. */
static const char *const globals[] = {"range", "dict", "lipsum", "cycler", "joiner", "namespace"};

int ic_evaluation_init(struct ic_evaluation *e, const char *name, const json_t *values, struct imgcheck_error **err)
{
	*e = (struct ic_evaluation){.name = name, .values = values, .undefined = json_object()};
	ic_work_init(&e->work);
	return e->undefined ? 0 : ic_error_nomem(err);
}

void ic_evaluation_clear(struct ic_evaluation *e)
{
	json_decref(e->undefined);
	e->undefined = NULL;
}

int ic_scope_init(struct ic_scope *s, const struct ic_part *body, const struct ic_loop *loop, const struct ic_scope *outer,
                  struct imgcheck_error **err)
{
	*s = (struct ic_scope){.names = json_object(), .sets = body->value, .loop = loop, .outer = outer};
	return s->names ? 0 : ic_error_nomem(err);
}

void ic_scope_clear(struct ic_scope *s)
{
	json_decref(s->names);
	s->names = NULL;
}

int ic_scope_set(struct ic_evaluation *e, struct ic_scope *s, const char *name, json_t *value, struct imgcheck_error **err)
{
	return json_object_set(s->names, name, value ? value : e->undefined) < 0 ? ic_error_nomem(err) : 0;
}

int ic_evaluation_blame(const struct ic_evaluation *e, const struct ic_part *part, int result, struct imgcheck_error **err)
{
	if (result < 0) {
		ic_error_prefix(err, "cannot evaluate '%.*s': ", part->len < SHOWN ? (int)part->len : SHOWN, part->text);
		ic_error_place(err, e->name, part->line, 0);
	}
	return result;
}

static int unsupported(const struct ic_evaluation *e, const struct ic_part *part, const char *why,
                       struct imgcheck_error **err)
{
	int result = ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "%s", why);

	return ic_evaluation_blame(e, part, result, err);
}

/* "'x' is undefined" */
static int undefined_error(const struct ic_evaluation *e, const struct ic_part *part, const struct ic_part *culprit,
                           struct imgcheck_error **err)
{
	int result = ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "'%.*s' is undefined",
	                          culprit->len < SHOWN ? (int)culprit->len : SHOWN, culprit->text);

	return ic_evaluation_blame(e, part, result, err);
}

static const struct ic_loop *innermost_loop(const struct ic_scope *s)
{
	while (s && !s->loop)
		s = s->outer;
	return s ? s->loop : NULL;
}

static bool is_loop(const struct ic_scope *s, const struct ic_part *part)
{
	return part->kind == IC_PART_NAME && strcmp(ic_part_word(part), "loop") == 0 && innermost_loop(s);
}

static int eval_name(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	const char *name = ic_part_word(part);
	json_t *value = NULL;

	if (is_loop(s, part))
		return unsupported(e, part, "the loop as a value is not supported", err);
	for (const struct ic_scope *at = s; at && !value; at = at->outer) {
		value = json_object_get(at->names, name);
		if (!value && at != s && json_object_get(at->sets, name))
			return unsupported(e, part, "a name used in a loop before it is set outside of it is not supported", err);
	}
	if (!value)
		value = json_object_get(e->values, name);
	for (size_t i = 0; !value && i < IC_COUNT(globals); i++) {
		if (strcmp(name, globals[i]) == 0)
			return unsupported(e, part, "this name of Jinja2 is not supported", err);
	}
	*out = value == e->undefined ? NULL : json_incref(value);
	return 0;
}

/* loop.index and its like. */
static int eval_loop(struct ic_evaluation *e, const struct ic_loop *loop, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	const struct {
		const char *name;
		size_t number;
	} numbers[] = {{"index", loop->index0 + 1},
	               {"index0", loop->index0},
	               {"revindex", loop->length - loop->index0},
	               {"revindex0", loop->length - loop->index0 - 1},
	               {"length", loop->length},
	               {"depth", loop->depth + 1},
	               {"depth0", loop->depth}};
	const char *name = ic_part_word(part);

	for (size_t i = 0; i < IC_COUNT(numbers); i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			*out = json_integer((json_int_t)numbers[i].number);
			return *out ? 0 : ic_error_nomem(err);
		}
	}
	if (strcmp(name, "first") == 0)
		*out = json_boolean(loop->index0 == 0);
	else if (strcmp(name, "last") == 0)
		*out = json_boolean(loop->index0 + 1 == loop->length);
	else
		return unsupported(e, part, "this name of the loop is not supported", err);
	return 0;
}

static int eval_attribute(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                          struct imgcheck_error **err)
{
	json_t *base IC_AUTO(json) = NULL;
	int result;

	if (is_loop(s, part->a))
		return eval_loop(e, innermost_loop(s), part, out, err);
	result = ic_evaluate(e, s, part->a, &base, err);
	if (result < 0)
		return result;
	if (!base)
		return undefined_error(e, part, part->a, err);
	return ic_evaluation_blame(e, part, ic_value_attribute(base, ic_part_word(part), out, err), err);
}

static int eval_subscript(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                          struct imgcheck_error **err)
{
	json_t *base IC_AUTO(json) = NULL, *key IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &base, err);

	if (result == 0)
		result = ic_evaluate(e, s, part->b, &key, err);
	if (result < 0)
		return result;
	if (!base)
		return undefined_error(e, part, part->a, err);
	if (json_is_string(base))
		result = ic_work_spend(&e->work, json_string_length(base), err);
	if (result == 0)
		result = ic_value_item(base, key, out, err);
	return ic_evaluation_blame(e, part, result, err);
}

/* One or two arguments without names. */
static bool has_get_arguments(const struct ic_part *call)
{
	const struct ic_part *first = call->list, *second = first ? first->next : NULL;

	return first && !first->value && (!second || (!second->value && !second->next));
}

/* x.get(key) and x.get(key, default) of a mapping: the only method with a value. */
static int eval_call(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	json_t *base IC_AUTO(json) = NULL, *key IC_AUTO(json) = NULL, *otherwise IC_AUTO(json) = json_null();
	json_t *found;
	int result;

	if (strcmp(ic_part_word(part), "get") != 0 || !has_get_arguments(part))
		return unsupported(e, part, "this call is not supported", err);
	result = ic_evaluate(e, s, part->a, &base, err);
	if (result == 0)
		result = ic_evaluate(e, s, part->list->a, &key, err);
	if (result == 0 && part->list->next)
		result = ic_evaluate(e, s, part->list->next->a, &otherwise, err);
	if (result < 0)
		return result;
	if (!base)
		return undefined_error(e, part, part->a, err);
	if (!json_is_object(base) || json_is_array(key) || json_is_object(key))
		return unsupported(e, part, "get() is only supported of a mapping, by a text", err);
	found = json_is_string(key) ? json_object_get(base, json_string_value(key)) : NULL;
	*out = json_incref(found ? found : otherwise);
	return 0;
}

struct arguments {
	struct ic_argument list[IC_FILTER_ARGUMENTS];
};

static void ic_auto_arguments(struct arguments *a)
{
	for (size_t i = 0; i < IC_FILTER_ARGUMENTS; i++)
		json_decref(a->list[i].value);
}

static int eval_arguments(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part,
                          struct arguments *arguments, struct imgcheck_error **err)
{
	const char *filter = ic_part_word(part);
	size_t position = 0;
	int result = 0;

	for (const struct ic_part *argument = part->list; result == 0 && argument; argument = argument->next) {
		int at = argument->value ? ic_filter_argument(filter, ic_part_word(argument)) : (int)position++;

		if (at < 0 || (size_t)at >= ic_filter_most(filter) || arguments->list[at].given)
			return unsupported(e, part, "this argument of the filter is not supported", err);
		arguments->list[at].given = true;
		result = ic_evaluate(e, s, argument->a, &arguments->list[at].value, err);
	}
	for (size_t i = 0; result == 0 && i < ic_filter_least(filter); i++) {
		if (!arguments->list[i].given)
			return unsupported(e, part, "the filter needs one more argument", err);
	}
	return result;
}

static int eval_filter(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                       struct imgcheck_error **err)
{
	struct arguments arguments IC_AUTO(arguments) = {0};
	json_t *value IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &value, err);

	if (result == 0)
		result = eval_arguments(e, s, part, &arguments, err);
	if (result < 0)
		return result;
	result = ic_filter_apply(&e->work, ic_part_word(part), value, arguments.list, out, err);
	return ic_evaluation_blame(e, part, result, err);
}

static int eval_truth(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, bool *out,
                      struct imgcheck_error **err)
{
	json_t *value IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part, &value, err);

	*out = ic_value_truth(value);
	return result;
}

static int eval_test(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	json_t *value IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &value, err);

	if (result == 0)
		*out = json_boolean(ic_test_apply(ic_part_word(part), value));
	return result;
}

static int eval_not(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                    struct imgcheck_error **err)
{
	bool truth;
	int result = eval_truth(e, s, part->a, &truth, err);

	if (result == 0)
		*out = json_boolean(!truth);
	return result;
}

/* `and` and `or` give the operand that decides. */
static int eval_logic(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                      struct imgcheck_error **err)
{
	json_t *first IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &first, err);

	if (result < 0)
		return result;
	if (ic_value_truth(first) == (part->kind == IC_PART_AND))
		return ic_evaluate(e, s, part->b, out, err);
	*out = IC_TAKE(first);
	return 0;
}

static int eval_condition(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                          struct imgcheck_error **err)
{
	bool truth;
	int result = eval_truth(e, s, part->b, &truth, err);

	if (result < 0)
		return result;
	if (truth)
		return ic_evaluate(e, s, part->a, out, err);
	return part->c ? ic_evaluate(e, s, part->c, out, err) : 0;
}

static int eval_sign(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	json_t *value IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &value, err);

	if (result < 0)
		return result;
	if (!value)
		return undefined_error(e, part, part->a, err);
	if (!ic_number_is(value))
		return unsupported(e, part, "only numbers have a sign", err);
	if (part->op == IC_OP_SUBTRACT)
		return ic_evaluation_blame(e, part, ic_number_negate(value, out, err), err);
	*out = json_is_boolean(value) ? json_integer(ic_number_integer(value)) : json_incref(value);
	return *out ? 0 : ic_error_nomem(err);
}

static int eval_binary(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                       struct imgcheck_error **err)
{
	json_t *a IC_AUTO(json) = NULL, *b IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &a, err);

	if (result == 0)
		result = ic_evaluate(e, s, part->b, &b, err);
	if (result < 0)
		return result;
	if (part->op != IC_OP_JOIN && (!a || !b))
		return undefined_error(e, part, a ? part->b : part->a, err);
	return ic_evaluation_blame(e, part, ic_value_compute(&e->work, part->op, a, b, out, err), err);
}

static int eval_comparison(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                           struct imgcheck_error **err)
{
	json_t *left IC_AUTO(json) = NULL;
	int result = ic_evaluate(e, s, part->a, &left, err);
	bool holds = true;

	for (const struct ic_part *operand = part->list; result == 0 && holds && operand; operand = operand->next) {
		json_t *right = NULL;

		result = ic_evaluate(e, s, operand->a, &right, err);
		if (result == 0)
			result = ic_evaluation_blame(e, part, ic_value_compare(&e->work, operand->op, left, right, &holds, err), err);
		json_decref(left);
		left = right;
	}
	if (result == 0)
		*out = json_boolean(holds);
	return result;
}

/* Checks what a list or mapping of the template would hold: undefined cannot be held. */
static int eval_part(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	int result = ic_evaluate(e, s, part, out, err);

	return result < 0 || *out ? result : undefined_error(e, part, part, err);
}

static int eval_list(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                     struct imgcheck_error **err)
{
	json_t *list IC_AUTO(json) = json_array();
	int result = list ? 0 : ic_error_nomem(err);

	for (const struct ic_part *item = part->list; result == 0 && item; item = item->next) {
		json_t *value = NULL;

		result = eval_part(e, s, item, &value, err);
		if (result == 0 && json_array_append_new(list, value) < 0)
			result = ic_error_nomem(err);
	}
	if (result == 0)
		result = ic_evaluation_blame(e, part, ic_value_check_depth(&e->work, list, err), err);
	if (result == 0)
		*out = IC_TAKE(list);
	return result;
}

static int eval_pair(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *pair, json_t *map,
                     struct imgcheck_error **err)
{
	json_t *key IC_AUTO(json) = NULL, *value IC_AUTO(json) = NULL;
	int result = eval_part(e, s, pair->a, &key, err);

	if (result == 0)
		result = eval_part(e, s, pair->b, &value, err);
	if (result < 0)
		return result;
	if (!json_is_string(key) || strlen(json_string_value(key)) != json_string_length(key))
		return unsupported(e, pair, "a key that is not a text is not supported", err);
	return json_object_set(map, json_string_value(key), value) < 0 ? ic_error_nomem(err) : 0;
}

static int eval_map(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                    struct imgcheck_error **err)
{
	json_t *map IC_AUTO(json) = json_object();
	int result = map ? 0 : ic_error_nomem(err);

	for (const struct ic_part *pair = part->list; result == 0 && pair; pair = pair->next)
		result = eval_pair(e, s, pair, map, err);
	if (result == 0)
		result = ic_evaluation_blame(e, part, ic_value_check_depth(&e->work, map, err), err);
	if (result == 0)
		*out = IC_TAKE(map);
	return result;
}

typedef int (*evaluator)(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                         struct imgcheck_error **err);

/* By kind of expression. */
static const evaluator evaluators[] = {
	[IC_PART_NAME] = eval_name,
	[IC_PART_ATTRIBUTE] = eval_attribute,
	[IC_PART_SUBSCRIPT] = eval_subscript,
	[IC_PART_CALL] = eval_call,
	[IC_PART_FILTER] = eval_filter,
	[IC_PART_TEST] = eval_test,
	[IC_PART_NOT] = eval_not,
	[IC_PART_AND] = eval_logic,
	[IC_PART_OR] = eval_logic,
	[IC_PART_SIGN] = eval_sign,
	[IC_PART_BINARY] = eval_binary,
	[IC_PART_COMPARE] = eval_comparison,
	[IC_PART_CONDITION] = eval_condition,
	[IC_PART_LIST] = eval_list,
	[IC_PART_MAP] = eval_map,
};

int ic_evaluate(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, json_t **out,
                struct imgcheck_error **err)
{
	int result = ic_work_step(&e->work, err);

	*out = NULL;
	if (result < 0) {
		ic_error_place(err, e->name, part->line, 0);
		return result;
	}
	if (part->kind == IC_PART_LITERAL) {
		*out = json_incref(part->value);
		return 0;
	}
	if (part->kind < IC_COUNT(evaluators) && evaluators[part->kind])
		return evaluators[part->kind](e, s, part, out, err);
	return unsupported(e, part, "it is no expression", err);
}

static int add_pair(json_t *list, const char *key, json_t *value, struct imgcheck_error **err)
{
	json_t *pair = json_pack("[sO]", key, value);

	return json_array_append_new(list, pair) < 0 ? ic_error_nomem(err) : 0;
}

/* x.items(), x.keys() and x.values() of the loop's head. */
static int map_view(struct ic_evaluation *e, const struct ic_part *part, json_t *map, json_t *list,
                    struct imgcheck_error **err)
{
	char view = ic_part_word(part)[0];
	int result = 0;

	for (void *at = json_object_iter(map); result == 0 && at; at = json_object_iter_next(map, at)) {
		const char *key = json_object_iter_key(at);
		json_t *value = json_object_iter_value(at);

		result = ic_work_spend(&e->work, 1 + strlen(key), err);
		if (result == 0 && view == 'i')
			result = add_pair(list, key, value, err);
		else if (result == 0 && json_array_append_new(list, view == 'k' ? json_string(key) : json_incref(value)) < 0)
			result = ic_error_nomem(err);
	}
	return ic_evaluation_blame(e, part, result, err);
}

static bool is_view(const struct ic_part *part)
{
	const char *word = part->kind == IC_PART_CALL && !part->list ? ic_part_word(part) : "";

	return strcmp(word, "items") == 0 || strcmp(word, "keys") == 0 || strcmp(word, "values") == 0;
}

int ic_evaluate_items(struct ic_evaluation *e, const struct ic_scope *s, const struct ic_part *part, bool pairs,
                      json_t **out, struct imgcheck_error **err)
{
	json_t *value IC_AUTO(json) = NULL, *list IC_AUTO(json) = NULL;
	bool view = is_view(part);
	int result = ic_evaluate(e, s, view ? part->a : part, &value, err);

	*out = NULL;
	if (result < 0)
		return result;
	if (!view)
		return ic_evaluation_blame(e, part, ic_value_items(&e->work, value, out, err), err);
	if (!value)
		return undefined_error(e, part, part->a, err);
	if (!json_is_object(value) || (ic_part_word(part)[0] == 'i' && !pairs))
		return unsupported(e, part, "only a mapping can be gone through so, items() with two names", err);
	list = json_array();
	result = list ? map_view(e, part, value, list, err) : ic_error_nomem(err);
	if (result == 0)
		*out = IC_TAKE(list);
	return result;
}
