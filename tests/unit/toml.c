/* SPDX-License-Identifier: Apache-2.0 */
#include "toml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "test.h"

static json_t *tagged(char tag, const char *text, size_t len)
{
	struct ic_buf out;
	json_t *value;

	ic_buf_init(&out, len + 3);
	cr_assert_eq(ic_buf_add_char(&out, tag, NULL), 0);
	cr_assert_eq(ic_buf_add_char(&out, ':', NULL), 0);
	cr_assert_eq(ic_buf_add(&out, text, len, NULL), 0);
	value = json_stringn(ic_buf_text(&out), out.len);
	ic_buf_clear(&out);
	cr_assert(value);
	return value;
}

/* T between date and time, six digits of a fraction, an offset in digits. */
static json_t *moment(const char *text)
{
	char out[64], fraction[7] = "000000";
	const char *time = strchr(text, ':') ? strchr(text, ':') - 2 : NULL, *rest = time ? time + 8 : "";
	size_t digits;

	if (!time)
		return tagged('d', text, strlen(text));
	if (*rest == '.') {
		digits = strspn(++rest, "0123456789");
		memcpy(fraction, rest, digits < 6 ? digits : 6);
		rest += digits;
	}
	if (*rest == 'z' || *rest == 'Z')
		rest = "+00:00";
	if (strcmp(rest, "-00:00") == 0)
		rest = "+00:00";
	(void)snprintf(out, sizeof(out), "%.*s%s%.8s.%s%s", time > text ? 10 : 0, text, time > text ? "T" : "", time, fraction, rest);
	return tagged('d', out, strlen(out));
}

static json_t *plain(const char *text)
{
	char out[64];
	double number;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return tagged('b', text, strlen(text));
	if (strchr(text, ':') || (strlen(text) == 10 && text[4] == '-' && text[7] == '-'))
		return moment(text);
	if (text[strspn(text, "-0123456789")] == '\0')
		return tagged('i', text, strlen(text));
	number = strtod(text, NULL);
	(void)snprintf(out, sizeof(out), "%.17g", number);
	return isnan(number) ? tagged('f', "nan", 3) : tagged('f', out, strlen(out));
}

json_t *tell_toml(const struct ic_node *node)
{
	json_t *value;

	if (node->kind == IC_NODE_SCALAR)
		return node->style == IC_STYLE_QUOTED ? tagged('s', node->text, node->len) : plain(node->text);
	value = node->kind == IC_NODE_MAPPING ? json_object() : json_array();
	for (const struct ic_item *i = ic_node_items(node); i; i = i->next) {
		cr_assert(i->value->line > 0 && i->value->column > 0);
		if (i->key)
			cr_assert_eq(json_object_set_new(value, i->key->text, tell_toml(i->value)), 0);
		else
			cr_assert_eq(json_array_append_new(value, tell_toml(i->value)), 0);
	}
	return value;
}
