/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_value.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "manifest/template_number.h"
#include "manifest/template_text.h"

#define ITEM_BYTES  256 /* what an item made by iterating counts in the budget: it costs about 80 bytes of memory */
#define VISIT_BYTES 16  /* what a value looked at counts */

/* What a mapping of Python has besides its keys; "x.items" finds these first. */
static const char *const map_methods[] = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                          "pop",   "popitem", "setdefault", "update", "values"};

void ic_work_init(struct ic_work *w)
{
	*w = (struct ic_work){.steps = IC_MAX_TEMPLATE_STEPS, .bytes = IC_MAX_TEMPLATE_WORK};
}

int ic_work_step(struct ic_work *w, struct imgcheck_error **err)
{
	if (!w->steps)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot evaluate more than %zu elements", IC_MAX_TEMPLATE_STEPS);
	w->steps--;
	return 0;
}

int ic_work_spend(struct ic_work *w, size_t bytes, struct imgcheck_error **err)
{
	if (bytes > w->bytes)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "it handles more than %zu bytes", IC_MAX_TEMPLATE_WORK);
	w->bytes -= bytes;
	return 0;
}

const char *ic_value_kind(const json_t *value)
{
	if (!value)
		return "undefined";
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "a mapping";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a Boolean";
	case JSON_NULL:
		return "none";
	}
	return "unknown";
}

static int unsupported(const char *what, const json_t *value, struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "%s %s is not supported", what, ic_value_kind(value));
}

int ic_value_new_text(const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	*out = json_stringn(text, len);
	return *out ? 0 : ic_error_nomem(err);
}

bool ic_value_truth(const json_t *value)
{
	if (!value)
		return false;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return json_object_size(value) > 0;
	case JSON_ARRAY:
		return json_array_size(value) > 0;
	case JSON_STRING:
		return json_string_length(value) > 0;
	case JSON_INTEGER:
		return json_integer_value(value) != 0;
	case JSON_REAL:
		return json_real_value(value) != 0;
	case JSON_TRUE:
		return true;
	case JSON_FALSE:
	case JSON_NULL:
		return false;
	}
	return false;
}

/* ---- text */

static int add_repr(struct ic_work *w, const json_t *value, struct ic_buf *out, struct imgcheck_error **err);

static int add_list(struct ic_work *w, const json_t *list, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = ic_buf_add_char(out, '[', err);

	for (size_t i = 0; result == 0 && i < json_array_size(list); i++) {
		if (i)
			result = ic_buf_add_text(out, ", ", err);
		if (result == 0)
			result = add_repr(w, json_array_get(list, i), out, err);
	}
	return result < 0 ? result : ic_buf_add_char(out, ']', err);
}

/* An iterator is a pointer into the object, which jansson asks for without const. */
static json_t *iterable(const json_t *object)
{
	union {
		const json_t *in;
		json_t *out;
	} same = {.in = object};

	return same.out;
}

static int add_map(struct ic_work *w, const json_t *map, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = ic_buf_add_char(out, '{', err);
	json_t *object = iterable(map);
	bool first = true;

	for (void *at = json_object_iter(object); result == 0 && at; at = json_object_iter_next(object, at)) {
		const char *key = json_object_iter_key(at);

		if (!first)
			result = ic_buf_add_text(out, ", ", err);
		first = false;
		if (result == 0)
			result = ic_template_add_repr(out, key, strlen(key), err);
		if (result == 0)
			result = ic_buf_add_text(out, ": ", err);
		if (result == 0)
			result = add_repr(w, json_object_iter_value(at), out, err);
	}
	return result < 0 ? result : ic_buf_add_char(out, '}', err);
}

/* repr(value), which is str(value) for all but texts. */
static int add_repr(struct ic_work *w, const json_t *value, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = ic_work_spend(w, VISIT_BYTES, err);

	if (result < 0)
		return result;
	if (json_is_string(value))
		return ic_template_add_repr(out, json_string_value(value), json_string_length(value), err);
	if (json_is_array(value))
		return add_list(w, value, out, err);
	if (json_is_object(value))
		return add_map(w, value, out, err);
	return json_is_null(value) ? ic_buf_add_text(out, "None", err) : ic_number_add_text(value, out, err);
}

int ic_value_add_text(struct ic_work *w, const json_t *value, struct ic_buf *out, struct imgcheck_error **err)
{
	size_t before = out->len;
	int result = 0;

	if (json_is_string(value))
		result = ic_buf_add(out, json_string_value(value), json_string_length(value), err);
	else if (value)
		result = add_repr(w, value, out, err);
	return result < 0 ? result : ic_work_spend(w, out->len - before, err);
}

/* ---- comparing */

static int compare_texts(const json_t *a, const json_t *b)
{
	size_t a_len = json_string_length(a), b_len = json_string_length(b);
	int difference = memcmp(json_string_value(a), json_string_value(b), a_len < b_len ? a_len : b_len);

	return difference ? difference : (a_len > b_len) - (a_len < b_len);
}

static int equal(struct ic_work *w, const json_t *a, const json_t *b, bool *out, struct imgcheck_error **err);

static int equal_lists(struct ic_work *w, const json_t *a, const json_t *b, bool *out, struct imgcheck_error **err)
{
	int result = 0;

	*out = json_array_size(a) == json_array_size(b);
	for (size_t i = 0; result == 0 && *out && i < json_array_size(a); i++)
		result = equal(w, json_array_get(a, i), json_array_get(b, i), out, err);
	return result;
}

static int equal_maps(struct ic_work *w, const json_t *a, const json_t *b, bool *out, struct imgcheck_error **err)
{
	json_t *object = iterable(a);
	int result = 0;

	*out = json_object_size(a) == json_object_size(b);
	for (void *at = json_object_iter(object); result == 0 && *out && at; at = json_object_iter_next(object, at)) {
		const json_t *other = json_object_get(b, json_object_iter_key(at));

		*out = other;
		if (other)
			result = equal(w, json_object_iter_value(at), other, out, err);
	}
	return result;
}

static int equal(struct ic_work *w, const json_t *a, const json_t *b, bool *out, struct imgcheck_error **err)
{
	int result = ic_work_spend(w, VISIT_BYTES + (json_is_string(a) ? json_string_length(a) : 0), err);

	*out = false;
	if (result < 0)
		return result;
	if (!a || !b)
		*out = a == b;
	else if (json_is_string(a) && json_is_string(b))
		*out = compare_texts(a, b) == 0;
	else if (ic_number_is(a) && ic_number_is(b))
		*out = ic_number_compare(a, b) == 0;
	else if (json_is_array(a) && json_is_array(b))
		return equal_lists(w, a, b, out, err);
	else if (json_is_object(a) && json_is_object(b))
		return equal_maps(w, a, b, out, err);
	else
		*out = json_is_null(a) && json_is_null(b);
	return 0;
}

static int order(struct ic_work *w, const json_t *a, const json_t *b, int *out, struct imgcheck_error **err)
{
	if (ic_number_is(a) && ic_number_is(b)) {
		*out = ic_number_compare(a, b);
		return 0;
	}
	if (!json_is_string(a) || !json_is_string(b))
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "the order of %s and %s is not supported", ic_value_kind(a),
		                    ic_value_kind(b));
	*out = compare_texts(a, b);
	return ic_work_spend(w, json_string_length(a), err);
}

static int list_contains(struct ic_work *w, const json_t *list, const json_t *item, bool *out, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && !*out && i < json_array_size(list); i++)
		result = equal(w, item, json_array_get(list, i), out, err);
	return result;
}

/* item in container */
static int contains(struct ic_work *w, const json_t *item, const json_t *container, bool *out, struct imgcheck_error **err)
{
	*out = false;
	if (!container)
		return 0;
	if (json_is_array(container))
		return list_contains(w, container, item, out, err);
	if (json_is_string(container) && json_is_string(item)) {
		*out = memmem(json_string_value(container), json_string_length(container), json_string_value(item),
		              json_string_length(item)) != NULL;
		return ic_work_spend(w, json_string_length(container), err);
	}
	if (json_is_object(container) && !json_is_array(item) && !json_is_object(item)) {
		*out = json_is_string(item) && json_object_get(container, json_string_value(item)) &&
		       strlen(json_string_value(item)) == json_string_length(item);
		return 0;
	}
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "to look for %s in %s is not supported", ic_value_kind(item),
	                    ic_value_kind(container));
}

static bool holds(enum ic_operator op, int difference)
{
	if (op == IC_OP_LESS)
		return difference < 0;
	if (op == IC_OP_LESS_EQUAL)
		return difference <= 0;
	return op == IC_OP_GREATER ? difference > 0 : difference >= 0;
}

int ic_value_compare(struct ic_work *w, enum ic_operator op, const json_t *a, const json_t *b, bool *out,
                     struct imgcheck_error **err)
{
	bool found = false;
	int result, difference = 0;

	if (op == IC_OP_EQUAL || op == IC_OP_UNEQUAL) {
		result = equal(w, a, b, &found, err);
		*out = found == (op == IC_OP_EQUAL);
	} else if (op == IC_OP_IN || op == IC_OP_NOT_IN) {
		result = contains(w, a, b, &found, err);
		*out = found == (op == IC_OP_IN);
	} else {
		result = order(w, a, b, &difference, err);
		*out = holds(op, difference);
	}
	return result;
}

/* ---- lookup */

static bool is_method(const char *key)
{
	for (size_t i = 0; i < IC_COUNT(map_methods); i++) {
		if (strcmp(key, map_methods[i]) == 0)
			return true;
	}
	return strncmp(key, "__", 2) == 0;
}

static int method_error(const char *key, struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "'%s' is a method of mappings and not supported as a value", key);
}

int ic_value_attribute(const json_t *base, const char *key, json_t **out, struct imgcheck_error **err)
{
	*out = NULL;
	if (json_is_object(base)) {
		if (is_method(key))
			return method_error(key, err);
		*out = json_incref(json_object_get(base, key));
		return 0;
	}
	if (json_is_null(base) && strncmp(key, "__", 2) != 0)
		return 0;
	return unsupported("a name looked up in", base, err);
}

static int map_item(const json_t *map, const json_t *key, json_t **out, struct imgcheck_error **err)
{
	const char *name = json_string_value(key);

	if (!name || strlen(name) != json_string_length(key))
		return 0;
	*out = json_incref(json_object_get(map, name));
	return !*out && is_method(name) ? method_error(name, err) : 0;
}

/* The character at a position: new. */
static int text_item(const json_t *base, json_int_t at, json_t **out, struct imgcheck_error **err)
{
	const char *text = json_string_value(base);
	size_t len = json_string_length(base);

	for (; len; at--) {
		size_t bytes = ic_template_char_bytes(text, len);

		if (at == 0)
			return ic_value_new_text(text, bytes, out, err);
		text += bytes;
		len -= bytes;
	}
	return 0;
}

int ic_value_item(const json_t *base, const json_t *key, json_t **out, struct imgcheck_error **err)
{
	json_int_t at, count;

	*out = NULL;
	if (!base)
		return unsupported("a key looked up in", base, err);
	if (json_is_object(base))
		return map_item(base, key, out, err);
	if (json_is_string(key) && !json_is_null(base))
		return unsupported("a key looked up in", base, err);
	if ((!json_is_array(base) && !json_is_string(base)) || (!json_is_integer(key) && !json_is_boolean(key)))
		return 0;
	at = ic_number_integer(key);
	count = (json_int_t)(json_is_array(base) ? json_array_size(base)
	                                         : ic_template_char_count(json_string_value(base), json_string_length(base)));
	if (at < 0)
		at += count;
	if (at < 0 || at >= count)
		return 0;
	if (json_is_string(base))
		return text_item(base, at, out, err);
	*out = json_incref(json_array_get(base, (size_t)at));
	return 0;
}

/* ---- iterating */

static int append(struct ic_work *w, json_t *list, json_t *item, struct imgcheck_error **err)
{
	int result = ic_work_spend(w, ITEM_BYTES, err);

	if (result < 0) {
		json_decref(item);
		return result;
	}
	return json_array_append_new(list, item) < 0 ? ic_error_nomem(err) : 0;
}

int ic_value_items(struct ic_work *w, const json_t *value, json_t **out, struct imgcheck_error **err)
{
	json_t *list IC_AUTO(json) = json_array(), *object = iterable(value);
	int result = list ? 0 : ic_error_nomem(err);

	*out = NULL;
	if (json_is_array(value)) {
		*out = json_incref(object);
		return result;
	}
	if (json_is_object(value)) {
		for (void *at = json_object_iter(object); result == 0 && at; at = json_object_iter_next(object, at))
			result = append(w, list, json_string(json_object_iter_key(at)), err);
	} else if (json_is_string(value)) {
		const char *text = json_string_value(value), *end = text + json_string_length(value);

		for (size_t bytes; result == 0 && text < end; text += bytes) {
			bytes = ic_template_char_bytes(text, (size_t)(end - text));
			result = append(w, list, json_stringn(text, bytes), err);
		}
	} else if (value) {
		return unsupported("to go through", value, err);
	}
	if (result == 0)
		*out = IC_TAKE(list);
	return result;
}

/* ---- operators that make values */

static int join_texts(struct ic_work *w, const json_t *a, const json_t *b, json_t **out, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_TEMPLATE_BYTES);
	result = ic_value_add_text(w, a, &text, err);
	if (result == 0)
		result = ic_value_add_text(w, b, &text, err);
	return result < 0 ? result : ic_value_new_text(ic_buf_text(&text), text.len, out, err);
}

static int join_lists(struct ic_work *w, json_t *a, json_t *b, json_t **out, struct imgcheck_error **err)
{
	json_t *list IC_AUTO(json) = json_array();
	int result = list ? ic_work_spend(w, 16 * (json_array_size(a) + json_array_size(b)), err) : ic_error_nomem(err);

	if (result < 0)
		return result;
	if (json_array_extend(list, a) < 0 || json_array_extend(list, b) < 0)
		return ic_error_nomem(err);
	*out = IC_TAKE(list);
	return 0;
}

/* 'text' * 3 and 3 * 'text' */
static int repeat_text(struct ic_work *w, const json_t *a, const json_t *b, json_t **out, struct imgcheck_error **err)
{
	const json_t *text = json_is_string(a) ? a : b;
	json_int_t times = ic_number_integer(json_is_string(a) ? b : a);
	struct ic_buf repeated IC_AUTO(buf);
	int result = 0;

	ic_buf_init(&repeated, IC_MAX_TEMPLATE_BYTES);
	for (json_int_t i = 0; result == 0 && i < times && json_string_length(text); i++)
		result = ic_value_add_text(w, text, &repeated, err);
	return result < 0 ? result : ic_value_new_text(ic_buf_text(&repeated), repeated.len, out, err);
}

static bool is_count(const json_t *value)
{
	return json_is_integer(value) || json_is_boolean(value);
}

int ic_value_compute(struct ic_work *w, enum ic_operator op, const json_t *a, const json_t *b, json_t **out,
                     struct imgcheck_error **err)
{
	*out = NULL;
	if (op == IC_OP_JOIN || (op == IC_OP_ADD && json_is_string(a) && json_is_string(b)))
		return join_texts(w, a, b, out, err);
	if (ic_number_is(a) && ic_number_is(b))
		return ic_number_compute(op, a, b, out, err);
	if (op == IC_OP_ADD && json_is_array(a) && json_is_array(b))
		return join_lists(w, iterable(a), iterable(b), out, err);
	if (op == IC_OP_MULTIPLY && ((json_is_string(a) && is_count(b)) || (is_count(a) && json_is_string(b))))
		return repeat_text(w, a, b, out, err);
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "this operator between %s and %s is not supported", ic_value_kind(a),
	                    ic_value_kind(b));
}

static int check_depth(struct ic_work *w, const json_t *value, unsigned left, struct imgcheck_error **err)
{
	json_t *object = iterable(value);
	int result = ic_work_spend(w, VISIT_BYTES, err);

	if (!json_is_array(value) && !json_is_object(value))
		return result;
	if (!left)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "it is nested deeper than %d levels", IC_MAX_EXPR_DEPTH);
	for (size_t i = 0; result == 0 && i < json_array_size(value); i++)
		result = check_depth(w, json_array_get(value, i), left - 1, err);
	for (void *at = json_object_iter(object); result == 0 && at; at = json_object_iter_next(object, at))
		result = check_depth(w, json_object_iter_value(at), left - 1, err);
	return result;
}

int ic_value_check_depth(struct ic_work *w, const json_t *value, struct imgcheck_error **err)
{
	return check_depth(w, value, IC_MAX_EXPR_DEPTH, err);
}
