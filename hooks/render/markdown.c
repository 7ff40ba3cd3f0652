/* SPDX-License-Identifier: Apache-2.0 */
#include "render/markdown.h"

#include <string.h>

/* In code nothing can be escaped: what would end it, or the cell, is replaced. */
void markdown_code(FILE *out, const char *text)
{
	fputc('`', out);
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || strchr("`|", *text) ? '?' : *text, out);
	fputc('`', out);
}

void markdown_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>#|~&", *text))
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}
