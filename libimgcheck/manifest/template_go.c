/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_go.h"

#include <string.h>

#include "base/text.h"
#include "manifest/template_text.h"

#define SHOWN 60 /* bytes of the tag that the message quotes */

/* First words of an action that Jinja2 does not print. */
static const char *const actions[] = {"if",       "else",  "end",     "range", "with",    "define",
                                      "template", "block", "include", "break", "continue"};

/* The content of the tag "{{ ... }}" at the front of text; a comment may hold braces, which does not matter here. */
static bool find_content(const char *text, size_t len, const char **content, size_t *content_len)
{
	const char *end;
	size_t blanks;

	if (!ic_text_starts(text, len, "{{"))
		return false;
	text += 2;
	len -= 2;
	end = memmem(text, len, "}}", 2);
	if (end)
		len = (size_t)(end - text);
	if (len && text[0] == '-') {
		text++;
		len--;
	}
	blanks = ic_template_spaces_front(text, len);
	*content = text + blanks;
	*content_len = len - blanks;
	return true;
}

static bool begins_with_action(const char *text, size_t len)
{
	size_t word = 0;

	while (word < len && ic_is_alpha(text[word]))
		word++;
	for (size_t i = 0; i < IC_COUNT(actions); i++) {
		if (ic_text_equal(text, word, actions[i]) && (word == len || ic_template_space_front(text + word, len - word)))
			return true;
	}
	return false;
}

/* A field (".Values"), the dot itself or a variable ("$x") where Jinja2 has none of them: not behind an operand. */
static bool is_go_mark(const char *text, size_t len, size_t i)
{
	bool starts = !i || strchr(" \t\n(|", text[i - 1]);

	if (text[i] == '.')
		return starts && (i + 1 == len || !ic_is_digit(text[i + 1]));
	return text[i] == '$' || text[i] == '`' || (text[i] == ':' && i + 1 < len && text[i + 1] == '=');
}

/* Such a mark outside of strings. */
static bool has_field_or_variable(const char *text, size_t len)
{
	char quote = '\0';

	for (size_t i = 0; i < len; i++) {
		if (quote)
			quote = text[i] == quote ? '\0' : quote;
		else if (text[i] == '"' || text[i] == '\'')
			quote = text[i];
		else if (is_go_mark(text, len, i))
			return true;
	}
	return false;
}

bool ic_template_looks_go(const char *text, size_t len)
{
	const char *content;
	size_t content_len;

	return find_content(text, len, &content, &content_len) &&
	       (ic_text_starts(content, content_len, "/*") || begins_with_action(content, content_len) ||
	        has_field_or_variable(content, content_len));
}

int ic_template_refuse_go(const struct ic_source *source, const char *tag, struct imgcheck_error **err)
{
	size_t left = source->len - (size_t)(tag - source->text), shown = 0;
	unsigned line = source->line;

	for (const char *at = source->text; at < tag; at++)
		line += *at == '\n';
	while (shown < left && shown < SHOWN && tag[shown] != '\n' && !(shown > 1 && memcmp(tag + shown - 2, "}}", 2) == 0))
		shown++;
	return ic_error_set_at(
		err, IMGCHECK_ERR_UNSUPPORTED, source->name, line, 0,
		"cannot evaluate '%.*s': this is a Go template; render it first (helm template ... | imgcheck check -)", (int)shown,
		tag);
}
