/* SPDX-License-Identifier: Apache-2.0 */
#include "form.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/ref.h"
#include "base/text.h"

void ic_form_trim(const char **text, size_t *len)
{
	while (*len && ic_is_space((*text)[0])) {
		(*text)++;
		(*len)--;
	}
	while (*len && ic_is_space((*text)[*len - 1]))
		(*len)--;
}

const char *ic_form_next_piece(const char **rest, size_t *left, const char *set, size_t *len)
{
	const char *start;

	while (*left && strchr(set, **rest)) { /* also a NUL parts */
		(*rest)++;
		(*left)--;
	}
	start = *rest;
	while (*left && !strchr(set, **rest)) {
		(*rest)++;
		(*left)--;
	}
	*len = (size_t)(*rest - start);
	return *len ? start : NULL;
}

void ic_form_strip_key(const char **text, size_t *len)
{
	const char *equals = memchr(*text, '=', *len);

	if (equals) {
		*len -= (size_t)(equals + 1 - *text);
		*text = equals + 1;
	}
}

/* What opens a placeholder, what closes it, and whether only a name may stand between. */
static const struct placeholder {
	const char *open, *close;
	bool is_name;
} placeholders[] = {
	{"{{", "}}", false}, /* Jinja, Go */
	{"${", "}", false},  /* shell, OpenShift templates, CloudFormation */
	{"$(", ")", false},  /* Kubernetes variables, kustomize, Tekton */
	{"$", "", true},     /* shell */
	{"+", "+", true},    /* filled in by scripts of releases */
	{"<", ">", true},
	{"@", "@", true},
	{"%", "%", true},
	{"__", "__", true},
};

static size_t name_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (ic_is_alnum(text[n]) || text[n] == '_'))
		n++;
	return n;
}

/* The length of a placeholder of this kind at text, or 0. */
static size_t match(const struct placeholder *p, const char *text, size_t len)
{
	size_t open = strlen(p->open), close = strlen(p->close), name;
	const char *end;

	if (!ic_text_starts(text, len, p->open))
		return 0;
	if (!p->is_name) {
		end = memmem(text + open, len - open, p->close, close);
		return end ? (size_t)(end - text) + close : 0;
	}
	name = name_length(text + open, len - open);
	/* The name takes what closes "__NAME__" in. */
	if (ic_text_starts(p->close, close, "_"))
		return name > close && ic_text_ends(text, open + name, p->close) ? open + name : 0;
	return name > 0 && ic_text_starts(text + open + name, len - open - name, p->close) ? open + name + close : 0;
}

static size_t placeholder_length(const char *text, size_t len)
{
	for (size_t i = 0; i < IC_COUNT(placeholders); i++) {
		size_t n = match(&placeholders[i], text, len);

		if (n > 0)
			return n;
	}
	return 0;
}

/* Whether the text would be a reference with words in the place of its placeholders, of which it has some. */
static bool is_unfilled(const char *text, size_t len)
{
	char filled[IC_MAX_REF_BYTES];
	size_t used = 0, found = 0;

	for (size_t i = 0; i < len;) {
		size_t n = placeholder_length(text + i, len - i);

		if (used == sizeof(filled))
			return false;
		filled[used++] = n ? 'x' : text[i];
		found += n > 0;
		i += n ? n : 1;
	}
	return found > 0 && ic_ref_is_valid(filled, used);
}

enum ic_form ic_form_in_container(const char *text, size_t len)
{
	return ic_ref_is_valid(text, len) ? IC_FORM_REFERENCE : IC_FORM_UNRESOLVED;
}

/* Pictures, disks and archives, of which many fields named image speak. */
static bool is_file_name(const char *text, size_t len)
{
	static const char *const endings[] = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".bmp", ".qcow2", ".img",
	                                      ".iso", ".raw", ".vmdk", ".vhd", ".ova", ".tar", ".gz", ".tgz", ".xz", ".zip"};

	for (size_t i = 0; i < IC_COUNT(endings); i++)
		if (ic_text_ends(text, len, endings[i]))
			return true;
	return false;
}

static bool has_any(const char *text, size_t len, const char *set)
{
	for (; *set; set++)
		if (memchr(text, *set, len))
			return true;
	return false;
}

enum ic_form ic_form_named_image(const char *text, size_t len)
{
	if (len == 0 || len > IC_MAX_REF_BYTES)
		return IC_FORM_OTHER;
	if (ic_ref_is_valid(text, len))
		return has_any(text, len, "/:@") && !is_file_name(text, len) ? IC_FORM_REFERENCE : IC_FORM_OTHER;
	return is_unfilled(text, len) ? IC_FORM_UNRESOLVED : IC_FORM_OTHER;
}

bool ic_form_has_host(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	size_t first = slash ? (size_t)(slash - text) : 0;

	return first > 0 && (has_any(text, first, ".:") || ic_text_equal(text, first, "localhost"));
}

/* "namespace/service:8080" has the form of a reference, but its tag is a port and it names no host. */
static bool is_service_port(const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	size_t port;

	if (!colon || memchr(text, '@', len) || ic_form_has_host(text, len))
		return false;
	return ic_text_to_size(colon + 1, len - (size_t)(colon + 1 - text), 65535, &port) && port >= 10;
}

enum ic_form ic_form_elsewhere(const char *text, size_t len)
{
	if (len > IC_MAX_REF_BYTES || !memchr(text, '/', len) || !has_any(text, len, ":@"))
		return IC_FORM_OTHER;
	if (!ic_ref_is_strict(text, len) || is_service_port(text, len) || is_file_name(text, len))
		return IC_FORM_OTHER;
	return IC_FORM_REFERENCE;
}

bool ic_name_says_image(const char *name, size_t len)
{
	static const char *const words[] = {"image", "images"};

	for (size_t i = 0; i < IC_COUNT(words); i++) {
		size_t n = strlen(words[i]);

		if (len >= n && ic_text_equal_nocase(name + len - n, n, words[i]))
			return true;
	}
	/* By convention of operators the rest of these names tells which image it is. */
	return ic_text_starts(name, len, "RELATED_IMAGE_");
}
