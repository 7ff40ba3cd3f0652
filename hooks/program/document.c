/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <string.h>

#include "memory.h"

json_t *document_object(void)
{
	return memory_must(json_object());
}

json_t *document_array(void)
{
	return memory_must(json_array());
}

void document_set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, memory_must(value)))
		memory_must(NULL);
}

void document_add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, memory_must(value)))
		memory_must(NULL);
}

static json_t *text_value(const char *text)
{
	json_t *value;
	AUTO(free) char *ascii = NULL;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	ascii = memory_text(text);
	for (char *p = ascii; *p; p++)
		if (*p & 0x80)
			*p = '?';
	return json_string(ascii);
}

void document_set_text(json_t *object, const char *name, const char *text)
{
	document_set(object, name, text_value(text));
}

void document_add_text(json_t *array, const char *text)
{
	document_add(array, text_value(text));
}

void document_set_number(json_t *object, const char *name, long long number)
{
	document_set(object, name, json_integer(number));
}

char *document_render(const json_t *document)
{
	AUTO(free) char *text = memory_must(json_dumps(document, JSON_INDENT(1)));

	return memory_printf("%s\n", text);
}
