/* SPDX-License-Identifier: Apache-2.0 */
#include "render/markdown.h"

#include <string.h>

#include "render/render.h"

/* In code nothing can be escaped: what would end it, or the cell, is replaced. */
void markdown_code(FILE *out, const char *text)
{
	fputc('`', out);
	for (size_t control; *text; text += control ? control : 1) {
		control = render_control(text);
		fputc(control || strchr("`|", *text) ? '?' : *text, out);
	}
	fputc('`', out);
}

void markdown_text(FILE *out, const char *text)
{
	for (size_t control; *text; text += control ? control : 1) {
		control = render_control(text);
		if (strchr("\\`*_{}[]<>#|~&", *text))
			fputc('\\', out);
		fputc(control ? ' ' : *text, out);
	}
}
