/* SPDX-License-Identifier: Apache-2.0 */
#include "list.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"

struct line {
	const char *text; /* what is still to be read of it; comments are cut off */
	size_t len;
	const char *start;
	const char *key; /* NULL where it has none */
	size_t key_len;
	bool unclosed; /* no "}}" follows: it is not looked for again */
};

/* Cuts the next line off *text. */
static void next_line(const char **text, size_t *len, struct line *out)
{
	const char *end = memchr(*text, '\n', *len);
	size_t whole = end ? (size_t)(end - *text) : *len, used = 0;

	while (used < whole && !((*text)[used] == '#' && (used == 0 || ic_is_space((*text)[used - 1]))))
		used++;
	*out = (struct line){.text = *text, .len = used, .start = *text};
	*text += whole + (end != NULL);
	*len -= whole + (end != NULL);
}

/* The next word, in which `{{ name }}` counts as one, or NULL. */
static const char *next_word(struct line *line, size_t *len)
{
	const char *word;

	while (line->len && ic_is_space(*line->text)) {
		line->text++;
		line->len--;
	}
	word = line->text;
	while (line->len && !ic_is_space(*line->text)) {
		bool name = *line->text == '{' && !line->unclosed && ic_text_starts(line->text, line->len, "{{");
		const char *mark = name ? memmem(line->text, line->len, "}}", 2) : NULL;
		size_t step = mark ? (size_t)(mark - line->text) + 2 : 1;

		line->unclosed |= name && !mark;
		line->text += step;
		line->len -= step;
	}
	*len = (size_t)(line->text - word);
	return *len ? word : NULL;
}

/* Takes "KEY:" off the front of a line. */
static void split_key(struct line *line)
{
	struct line rest = *line;
	size_t len;
	const char *word = next_word(&rest, &len);

	if (!word || len < 2 || word[len - 1] != ':')
		return;
	for (size_t i = 0; i + 1 < len; i++)
		if (!ic_is_alnum(word[i]) && !strchr("._-", word[i]))
			return;
	rest.key = word;
	rest.key_len = len - 1;
	*line = rest;
}

/* What somebody wrote as a reference, though it may be a wrong one; nothing that YAML would mean otherwise. */
static bool is_word_of_list(const char *word, size_t len)
{
	if (word[0] == '\0' || strchr("-{[\"'&*!|>%@`,?", word[0]))
		return ic_text_starts(word, len, "{{") || ic_ref_is_valid(word, len); /* "[::1]:5000/name" */
	if (word[len - 1] == ':' || memmem(word, len, "://", 3))
		return false;
	return ic_ref_is_valid(word, len) || memchr(word, '/', len) || ic_form_named_image(word, len) != IC_FORM_OTHER;
}

/* Whether the line could stand in a list; *words of it.  "kind: Pod" does not, nor does "at: 12:30". */
static bool is_line_of_list(struct line *line, size_t *words)
{
	const char *word;
	size_t len, paths = 0;

	*words = 0;
	while ((word = next_word(line, &len))) {
		bool is_path = memchr(word, '/', len);

		if (!is_word_of_list(word, len) || (++*words > 1 && !line->key))
			return false;
		if (line->key && !is_path && ic_form_named_image(word, len) == IC_FORM_OTHER)
			return false;
		paths += is_path;
	}
	return !line->key || !*words || paths > 0;
}

bool ic_list_is(const char *text, size_t len)
{
	size_t lines = 0;
	bool indented = false, bare = false;

	while (len) {
		struct line line;
		size_t words;

		next_line(&text, &len, &line);
		indented |= line.len && ic_is_space(*line.text);
		split_key(&line);
		if (!is_line_of_list(&line, &words))
			return false;
		lines += words > 0;
		bare |= line.key && !words;
	}
	/* A key with nothing behind it is an empty line of a list, unless what follows stands below it. */
	return lines > 0 && !(bare && indented);
}

/* *lines counts it where it holds anything. */
static int read_line(struct line *line, unsigned number, const struct ic_sink *sink, size_t *lines,
                     struct imgcheck_error **err)
{
	size_t words = 0;
	char *path IC_AUTO(free) = line->key ? ic_text_copy(line->key, line->key_len) : NULL;
	const char *word;
	size_t len;

	if (line->key && !path)
		return ic_error_nomem(err);
	while ((word = next_word(line, &len))) {
		struct ic_found found = {.text = word, .len = len, .form = ic_form_in_container(word, len)};
		int result;

		found.column = (unsigned)(word - line->start) + 1;
		found.place = (struct ic_place){.path = path, .line = number, .class = IMGCHECK_CLASS_REQUIRED};
		result = sink->found(sink->arg, &found, err);
		if (result < 0)
			return result;
		words++;
	}
	*lines += words > 0;
	return 0;
}

int ic_list_read(const char *text, size_t len, const char *key, const struct ic_sink *sink, size_t *lines,
                 struct imgcheck_error **err)
{
	*lines = 0;
	for (unsigned number = 1; len; number++) {
		struct line line;
		int result;

		next_line(&text, &len, &line);
		split_key(&line);
		if (key && (!line.key || !ic_text_equal(line.key, line.key_len, key)))
			continue;
		result = read_line(&line, number, sink, lines, err);
		if (result < 0)
			return result;
	}
	return 0;
}
