/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_filter.h"

#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "manifest/template_number.h"
#include "manifest/template_text.h"

/* One application of a filter. */
struct call {
	struct ic_work *work;
	json_t *value; /* NULL: undefined */
	const struct ic_argument *arguments;
	json_t **out;
};

static int give(struct call *c, json_t *value)
{
	*c->out = json_incref(value);
	return 0;
}

static int unsupported(const char *filter, const json_t *value, struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "%s of %s is not supported", filter, ic_value_kind(value));
}

/* str(value) */
static int text_of(struct call *c, const json_t *value, struct ic_buf *text, struct imgcheck_error **err)
{
	ic_buf_init(text, IC_MAX_TEMPLATE_BYTES);
	return ic_value_add_text(c->work, value, text, err);
}

static int give_text(struct call *c, const struct ic_buf *text, struct imgcheck_error **err)
{
	return ic_value_new_text(ic_buf_text(text), text->len, c->out, err);
}

static int filter_default(struct call *c, struct imgcheck_error **err)
{
	bool falsy_too = c->arguments[1].given && ic_value_truth(c->arguments[1].value);

	if (c->value && (!falsy_too || ic_value_truth(c->value)))
		return give(c, c->value);
	return c->arguments[0].given ? give(c, c->arguments[0].value) : ic_value_new_text("", 0, c->out, err);
}

static int filter_string(struct call *c, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = text_of(c, c->value, &text, err);

	return result < 0 ? result : give_text(c, &text, err);
}

/* Undefined is an error in Jinja2 for these two, which the argument does not replace. */
static int filter_int(struct call *c, struct imgcheck_error **err)
{
	int result = c->value ? ic_number_to_integer(c->value, c->out, err) : unsupported("the filter int", c->value, err);

	if (result < 0 || *c->out)
		return result;
	*c->out = c->arguments[0].given ? json_incref(c->arguments[0].value) : json_integer(0);
	return *c->out || c->arguments[0].given ? 0 : ic_error_nomem(err);
}

static int filter_float(struct call *c, struct imgcheck_error **err)
{
	int result = c->value ? ic_number_to_float(c->value, c->out, err) : unsupported("the filter float", c->value, err);

	if (result < 0 || *c->out)
		return result;
	*c->out = c->arguments[0].given ? json_incref(c->arguments[0].value) : json_real(0);
	return *c->out || c->arguments[0].given ? 0 : ic_error_nomem(err);
}

static char to_upper(char c)
{
	return ic_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

static int change_case(struct call *c, char (*change)(char), struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = text_of(c, c->value, &text, err);

	if (result < 0)
		return result;
	if (!ic_template_is_ascii(ic_buf_text(&text), text.len))
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "upper and lower case beyond ASCII are not supported");
	for (size_t i = 0; i < text.len; i++)
		text.data[i] = change(text.data[i]);
	return give_text(c, &text, err);
}

static int filter_lower(struct call *c, struct imgcheck_error **err)
{
	return change_case(c, ic_to_lower, err);
}

static int filter_upper(struct call *c, struct imgcheck_error **err)
{
	return change_case(c, to_upper, err);
}

static int filter_trim(struct call *c, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result = text_of(c, c->value, &text, err);
	size_t front, back;

	if (result < 0)
		return result;
	front = ic_template_spaces_front(ic_buf_text(&text), text.len);
	back = ic_template_spaces_back(ic_buf_text(&text) + front, text.len - front);
	return ic_value_new_text(ic_buf_text(&text) + front, text.len - front - back, c->out, err);
}

/* The third argument of replace: how often at most. */
static int read_count(const struct ic_argument *argument, size_t *count, struct imgcheck_error **err)
{
	*count = SIZE_MAX;
	if (!argument->given || json_is_null(argument->value))
		return 0;
	if (!json_is_integer(argument->value))
		return unsupported("a count", argument->value, err);
	if (json_integer_value(argument->value) >= 0)
		*count = (size_t)json_integer_value(argument->value);
	return 0;
}

static int replace(const struct ic_buf *text, const struct ic_buf *old, const struct ic_buf *new, size_t count,
                   struct ic_buf *to, struct imgcheck_error **err)
{
	const char *at = ic_buf_text(text), *end = at + text->len, *hit;
	int result = 0;

	for (; result == 0 && count && (hit = memmem(at, (size_t)(end - at), old->data, old->len)); count--) {
		result = ic_buf_add(to, at, (size_t)(hit - at), err);
		if (result == 0)
			result = ic_buf_add(to, ic_buf_text(new), new->len, err);
		at = hit + old->len;
	}
	return result < 0 ? result : ic_buf_add(to, at, (size_t)(end - at), err);
}

static int filter_replace(struct call *c, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf) = {0}, old IC_AUTO(buf) = {0}, new IC_AUTO(buf) = {0}, to IC_AUTO(buf) = {0};
	size_t count;
	int result = text_of(c, c->value, &text, err);

	if (result == 0)
		result = text_of(c, c->arguments[0].value, &old, err);
	if (result == 0)
		result = text_of(c, c->arguments[1].value, &new, err);
	if (result == 0)
		result = read_count(&c->arguments[2], &count, err);
	if (result < 0)
		return result;
	if (!old.len)
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "to replace the empty text is not supported");
	ic_buf_init(&to, IC_MAX_TEMPLATE_BYTES);
	result = replace(&text, &old, &new, count, &to, err);
	if (result == 0)
		result = ic_work_spend(c->work, to.len, err);
	return result < 0 ? result : give_text(c, &to, err);
}

static int filter_join(struct call *c, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf) = {0}, between IC_AUTO(buf) = {0};
	json_t *items IC_AUTO(json) = NULL;
	int result = ic_value_items(c->work, c->value, &items, err);

	if (result == 0)
		result = text_of(c, c->arguments[0].value, &between, err);
	ic_buf_init(&text, IC_MAX_TEMPLATE_BYTES);
	for (size_t i = 0; result == 0 && i < json_array_size(items); i++) {
		if (i)
			result = ic_buf_add(&text, ic_buf_text(&between), between.len, err);
		if (result == 0)
			result = ic_value_add_text(c->work, json_array_get(items, i), &text, err);
	}
	if (result == 0)
		result = ic_work_spend(c->work, text.len, err);
	return result < 0 ? result : give_text(c, &text, err);
}

static int filter_length(struct call *c, struct imgcheck_error **err)
{
	size_t length = 0;

	if (json_is_string(c->value))
		length = ic_template_char_count(json_string_value(c->value), json_string_length(c->value));
	else if (json_is_array(c->value))
		length = json_array_size(c->value);
	else if (json_is_object(c->value))
		length = json_object_size(c->value);
	else if (c->value)
		return unsupported("the length", c->value, err);
	*c->out = json_integer((json_int_t)length);
	return *c->out ? 0 : ic_error_nomem(err);
}

static int filter_list(struct call *c, struct imgcheck_error **err)
{
	return ic_value_items(c->work, c->value, c->out, err);
}

static int filter_first(struct call *c, struct imgcheck_error **err)
{
	json_t *items IC_AUTO(json) = NULL;
	int result = ic_value_items(c->work, c->value, &items, err);

	return result < 0 ? result : give(c, json_array_get(items, 0));
}

static int filter_last(struct call *c, struct imgcheck_error **err)
{
	json_t *items IC_AUTO(json) = NULL;
	int result = ic_value_items(c->work, c->value, &items, err);
	size_t count = json_array_size(items);

	return result < 0 ? result : give(c, count ? json_array_get(items, count - 1) : NULL);
}

/* What each line of indent gets in front. */
static int read_indentation(struct call *c, struct ic_buf *to, struct imgcheck_error **err)
{
	const struct ic_argument *width = &c->arguments[0];
	json_int_t count = width->given ? json_integer_value(width->value) : 4;
	int result = 0;

	ic_buf_init(to, IC_MAX_TEMPLATE_BYTES);
	if (width->given && json_is_string(width->value))
		return ic_value_add_text(c->work, width->value, to, err);
	if (width->given && !json_is_integer(width->value))
		return unsupported("an indentation", width->value, err);
	for (; result == 0 && count > 0; count--)
		result = ic_buf_add_char(to, ' ', err);
	return result < 0 ? result : ic_work_spend(c->work, to->len, err);
}

/* Lines are ended as str.splitlines() sees them, and end in \n afterwards; the last one has no end. */
static int indent_lines(struct call *c, const struct ic_buf *indentation, struct ic_buf *to, struct imgcheck_error **err)
{
	bool first_too = c->arguments[1].given && ic_value_truth(c->arguments[1].value);
	bool blank_too = c->arguments[2].given && ic_value_truth(c->arguments[2].value);
	const char *text = json_string_value(c->value);
	size_t left = json_string_length(c->value), end = 1;
	int result = 0;

	if (left && text[left - 1] == '\r')
		left--; /* Jinja2 adds \n before it splits, which makes one line end of these two */
	for (bool first = true; result == 0 && end; first = false) {
		size_t line = ic_template_line_bytes(text, left, &end);

		if (!first)
			result = ic_buf_add_char(to, '\n', err);
		if (result == 0 && (first ? first_too : line || blank_too))
			result = ic_buf_add(to, ic_buf_text(indentation), indentation->len, err);
		if (result == 0)
			result = ic_buf_add(to, text, line, err);
		text += line + end;
		left -= line + end;
	}
	return result;
}

static int filter_indent(struct call *c, struct imgcheck_error **err)
{
	struct ic_buf to IC_AUTO(buf), indentation IC_AUTO(buf);
	int result = read_indentation(c, &indentation, err);

	ic_buf_init(&to, IC_MAX_TEMPLATE_BYTES);
	if (result == 0 && !json_is_string(c->value))
		return unsupported("the indentation", c->value, err);
	if (result == 0)
		result = indent_lines(c, &indentation, &to, err);
	if (result == 0)
		result = ic_work_spend(c->work, to.len, err);
	return result < 0 ? result : give_text(c, &to, err);
}

static const struct filter {
	const char *name;
	int (*apply)(struct call *c, struct imgcheck_error **err);
	size_t least, most;
	const char *arguments[IC_FILTER_ARGUMENTS]; /* names, by position */
} filters[] = {
	{"count", filter_length, 0, 0, {NULL}},
	{"d", filter_default, 0, 2, {"default_value", "boolean"}},
	{"default", filter_default, 0, 2, {"default_value", "boolean"}},
	{"first", filter_first, 0, 0, {NULL}},
	{"float", filter_float, 0, 1, {"default"}},
	{"indent", filter_indent, 0, 3, {"width", "first", "blank"}},
	{"int", filter_int, 0, 1, {"default"}},
	{"join", filter_join, 0, 1, {"d"}},
	{"last", filter_last, 0, 0, {NULL}},
	{"length", filter_length, 0, 0, {NULL}},
	{"list", filter_list, 0, 0, {NULL}},
	{"lower", filter_lower, 0, 0, {NULL}},
	{"replace", filter_replace, 2, 3, {"old", "new", "count"}},
	{"string", filter_string, 0, 0, {NULL}},
	{"trim", filter_trim, 0, 0, {NULL}},
	{"upper", filter_upper, 0, 0, {NULL}},
};

static const struct filter *find_filter(const char *name)
{
	for (size_t i = 0; i < IC_COUNT(filters); i++) {
		if (strcmp(name, filters[i].name) == 0)
			return &filters[i];
	}
	return NULL;
}

bool ic_filter_exists(const char *name)
{
	return find_filter(name);
}

int ic_filter_argument(const char *filter, const char *argument)
{
	const struct filter *f = find_filter(filter);

	for (size_t i = 0; f && i < f->most; i++) {
		if (strcmp(argument, f->arguments[i]) == 0)
			return (int)i;
	}
	return -1;
}

size_t ic_filter_most(const char *filter)
{
	const struct filter *f = find_filter(filter);

	return f ? f->most : 0;
}

size_t ic_filter_least(const char *filter)
{
	const struct filter *f = find_filter(filter);

	return f ? f->least : 0;
}

int ic_filter_apply(struct ic_work *w, const char *name, json_t *value,
                    const struct ic_argument arguments[IC_FILTER_ARGUMENTS], json_t **out, struct imgcheck_error **err)
{
	const struct filter *f = find_filter(name);
	struct call call = {w, value, arguments, out};

	*out = NULL;
	return f ? f->apply(&call, err) : ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "the filter is not supported");
}

/* ---- tests */

static bool test_defined(const json_t *v)
{
	return v;
}

static bool test_undefined(const json_t *v)
{
	return !v;
}

static bool test_none(const json_t *v)
{
	return json_is_null(v);
}

static bool test_boolean(const json_t *v)
{
	return json_is_boolean(v);
}

static bool test_true(const json_t *v)
{
	return json_is_true(v);
}

static bool test_false(const json_t *v)
{
	return json_is_false(v);
}

static bool test_integer(const json_t *v)
{
	return json_is_integer(v);
}

static bool test_float(const json_t *v)
{
	return json_is_real(v);
}

static bool test_string(const json_t *v)
{
	return json_is_string(v);
}

static bool test_mapping(const json_t *v)
{
	return json_is_object(v);
}

/* Undefined is an empty sequence. */
static bool test_sequence(const json_t *v)
{
	return !v || json_is_string(v) || json_is_array(v) || json_is_object(v);
}

static const struct test {
	const char *name;
	bool (*apply)(const json_t *v);
} tests[] = {
	{"boolean", test_boolean},     {"defined", test_defined},   {"false", test_false},     {"float", test_float},
	{"integer", test_integer},     {"iterable", test_sequence}, {"mapping", test_mapping}, {"none", test_none},
	{"number", ic_number_is},      {"sequence", test_sequence}, {"string", test_string},   {"true", test_true},
	{"undefined", test_undefined},
};

static const struct test *find_test(const char *name)
{
	for (size_t i = 0; i < IC_COUNT(tests); i++) {
		if (strcmp(name, tests[i].name) == 0)
			return &tests[i];
	}
	return NULL;
}

bool ic_test_exists(const char *name)
{
	return find_test(name);
}

bool ic_test_apply(const char *name, const json_t *value)
{
	const struct test *t = find_test(name);

	return t && t->apply(value);
}
