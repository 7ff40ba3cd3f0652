/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define OWN_BYTES 512 /* more than any piece of our own text */

void ic_page_init(struct ic_page *p, size_t max_bytes, size_t max_lines)
{
	*p = (struct ic_page){.max_lines = max_lines};
	ic_buf_init(&p->text, max_bytes);
}

void ic_page_clear(struct ic_page *p)
{
	ic_buf_clear(&p->text);
}

void ic_page_add(struct ic_page *p, const char *format, ...)
{
	char text[OWN_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (p->result == 0)
		p->result = ic_buf_add_text(&p->text, text, NULL);
}

void ic_page_add_foreign(struct ic_page *p, const char *text, size_t most)
{
	if (p->result == 0 && text)
		p->result = ic_text_escape(&p->text, text, strlen(text), most, NULL);
}

void ic_page_add_escaped(struct ic_page *p, const char *text, size_t most)
{
	for (size_t i = 0; p->result == 0 && text[i]; i++) {
		if (i == most) {
			ic_page_add(p, "...");
			return;
		}
		p->result = ic_buf_add_char(&p->text, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?', NULL);
	}
}

void ic_page_end_line(struct ic_page *p)
{
	if (p->result == 0 && p->lines >= p->max_lines)
		p->result = IMGCHECK_ERR_LIMIT;
	if (p->result < 0)
		return;
	p->result = ic_buf_add_char(&p->text, '\n', NULL);
	p->lines++;
}

void ic_page_cut(struct ic_page *p, size_t len, size_t lines)
{
	if (p->result == IMGCHECK_ERR_LIMIT)
		p->result = 0;
	p->lines = lines;
	p->text.len = len;
	if (p->text.data)
		p->text.data[len] = '\0';
}
