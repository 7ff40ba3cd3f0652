/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <errno.h>
#include <fnmatch.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
	char *name;
	struct text value;
};

static struct {
	const char *path;
	int line;
	struct name *names;
	size_t name_count;
	struct rule *rules;
	size_t rule_count;
} script;

__attribute__((noreturn)) static void wrong(const char *what, const char *which)
{
	fail("%s:%d: %s: %s", script.path, script.line, what, which);
}

/* ------------------------------------------------------------------ texts */

static void text_add(struct text *t, const char *data, size_t len)
{
	t->data = grow(t->data, t->len + len + 1);
	if (len)
		memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
}

static char *copy(const char *data, size_t len)
{
	struct text t = {NULL, 0};

	text_add(&t, data, len);
	return t.data;
}

static const struct text *find_name(const char *name)
{
	for (size_t i = script.name_count; i-- > 0;)
		if (strcmp(script.names[i].name, name) == 0)
			return &script.names[i].value;
	wrong("no such name", name);
}

static void add_name(const char *name, struct text value)
{
	script.names = grow(script.names, (script.name_count + 1) * sizeof(*script.names));
	script.names[script.name_count++] = (struct name){copy(name, strlen(name)), value};
}

static void add_sha256(struct text *t, const struct text *of)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	char hex[3];

	if (!EVP_Digest(of->data, of->len, sum, &len, EVP_sha256(), NULL))
		fail("cannot compute a digest");
	text_add(t, "sha256:", 7);
	for (unsigned i = 0; i < len; i++) {
		(void)snprintf(hex, sizeof(hex), "%02x", sum[i]);
		text_add(t, hex, 2);
	}
}

/* What stands between ${ and }. */
static void add_named(struct text *t, const char *name)
{
	char number[32];

	if (strncmp(name, "sha256:", 7) == 0) {
		add_sha256(t, find_name(name + 7));
	} else if (strncmp(name, "size:", 5) == 0) {
		(void)snprintf(number, sizeof(number), "%zu", find_name(name + 5)->len);
		text_add(t, number, strlen(number));
	} else {
		const struct text *value = find_name(name);

		text_add(t, value->data, value->len);
	}
}

/* The escape behind a backslash; gives how many characters it took. */
static size_t add_escape(struct text *t, const char *in)
{
	static const char letters[] = "nrt\\", bytes[] = "\n\r\t\\";
	const char *letter = *in ? strchr(letters, *in) : NULL;
	char hex[3] = {0, 0, 0}, *end, byte;

	if (letter) {
		text_add(t, &bytes[letter - letters], 1);
		return 1;
	}
	if (*in != 'x' || !in[1] || !in[2])
		wrong("no such escape", in);
	hex[0] = in[1];
	hex[1] = in[2];
	byte = (char)strtoul(hex, &end, 16);
	if (*end)
		wrong("not a byte in hex", hex);
	text_add(t, &byte, 1);
	return 3;
}

static struct text expand(const char *in)
{
	struct text t = {NULL, 0};

	text_add(&t, "", 0);
	while (*in) {
		const char *end = strncmp(in, "${", 2) == 0 ? strchr(in, '}') : NULL;

		if (end) {
			char *name = copy(in + 2, (size_t)(end - in) - 2);

			add_named(&t, name);
			free(name);
			in = end + 1;
		} else if (*in == '\\') {
			in += 1 + add_escape(&t, in + 1);
		} else {
			text_add(&t, in++, 1);
		}
	}
	return t;
}

/* A file beside the script. */
static struct text read_beside(const char *name)
{
	const char *slash = strrchr(script.path, '/');
	char *folder = copy(script.path, slash ? (size_t)(slash + 1 - script.path) : 0), part[65536];
	struct text path = {NULL, 0}, t = {NULL, 0};
	size_t n;
	FILE *f;

	text_add(&path, name[0] == '/' ? "" : folder, name[0] == '/' ? 0 : strlen(folder));
	text_add(&path, name, strlen(name));
	f = fopen(path.data, "rb");
	if (!f)
		wrong("cannot open", path.data);
	text_add(&t, "", 0);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		text_add(&t, part, n);
	(void)fclose(f);
	free(path.data);
	free(folder);
	return t;
}

/* ------------------------------------------------------------------ lines */

/* Cuts the first word off *rest. */
static char *word(char **rest)
{
	char *start = *rest + strspn(*rest, " \t");
	size_t len = strcspn(start, " \t");

	*rest = start + len;
	if (**rest) {
		**rest = '\0';
		*rest += 1;
		*rest += strspn(*rest, " \t");
	}
	return start;
}

static long number(const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end || errno || n < 0)
		wrong("not a number", text);
	return n;
}

static struct rule *new_rule(void)
{
	struct rule *r;

	script.rules = grow(script.rules, (script.rule_count + 1) * sizeof(*script.rules));
	r = &script.rules[script.rule_count++];
	*r = (struct rule){.line = script.line, .times = -1};
	return r;
}

static struct rule *current_rule(void)
{
	if (script.rule_count == 0)
		wrong("no rule", "begin one with `on` or `accept`");
	return &script.rules[script.rule_count - 1];
}

/* Lines that stand for themselves. */
static bool read_top(const char *verb, char *rest)
{
	if (strcmp(verb, "let") == 0 || strcmp(verb, "let-file") == 0) {
		char *name = word(&rest);

		add_name(name, verb[3] ? read_beside(rest) : expand(rest));
	} else if (strcmp(verb, "accept") == 0) {
		new_rule()->on_accept = true;
	} else if (strcmp(verb, "on") == 0) {
		struct rule *r = new_rule();
		char *methods = word(&rest);

		r->methods = copy(methods, strlen(methods));
		r->path = expand(rest).data;
		if (!*r->path)
			wrong("no path", "on METHODS PATH");
	} else {
		return false;
	}
	return true;
}

static bool read_condition(const char *verb, char *rest)
{
	struct condition c = {CONDITION_BODY, NULL, NULL};
	struct rule *r;

	if (strcmp(verb, "times") == 0) {
		current_rule()->times = number(rest);
		return true;
	}
	if (strcmp(verb, "if") == 0) {
		char *colon = strchr(rest, ':');

		if (!colon)
			wrong("no colon", rest);
		c.kind = CONDITION_FIELD;
		c.name = copy(rest, (size_t)(colon - rest));
		rest = colon + 1 + strspn(colon + 1, " \t");
	} else if (strcmp(verb, "unless") == 0) {
		c.kind = CONDITION_NO_FIELD;
		c.name = copy(rest, strlen(rest));
	} else if (strcmp(verb, "if-body") != 0) {
		return false;
	}
	c.glob = expand(rest).data;
	r = current_rule();
	r->conditions = grow(r->conditions, (r->condition_count + 1) * sizeof(c));
	r->conditions[r->condition_count++] = c;
	return true;
}

static const struct {
	const char *verb;
	enum step_kind kind;
	int numbers; /* -1: a text; -2: a file */
} verbs[] = {
	{"status", STEP_STATUS, -1}, {"header", STEP_HEADER, -1}, {"body", STEP_BODY, -1},
	{"body-file", STEP_BODY, -2}, {"body-size", STEP_BODY_SIZE, 1}, {"end", STEP_END, 0},
	{"send", STEP_SEND, -1}, {"repeat", STEP_REPEAT, -1}, {"drip", STEP_DRIP, 2},
	{"delay", STEP_DELAY, 1}, {"stall", STEP_STALL, 0}, {"close", STEP_CLOSE, 0}, {"reset", STEP_RESET, 0},
};

static void read_step(const char *verb, char *rest)
{
	struct rule *r = current_rule();
	struct step s = {STEP_END, {NULL, 0}, 0, 0};
	size_t i = 0, count = sizeof(verbs) / sizeof(verbs[0]);

	while (i < count && strcmp(verbs[i].verb, verb) != 0)
		i++;
	if (i == count)
		wrong("no such step", verb);
	s.kind = verbs[i].kind;
	if (verbs[i].numbers == -1)
		s.text = expand(rest);
	else if (verbs[i].numbers == -2)
		s.text = read_beside(rest);
	if (verbs[i].numbers > 0)
		s.first = number(word(&rest));
	if (verbs[i].numbers > 1)
		s.second = number(word(&rest));
	if (s.kind == STEP_DRIP && s.first == 0)
		wrong("no bytes", "drip N MS");
	if (s.kind == STEP_REPEAT && s.text.len == 0)
		wrong("no bytes", "repeat TEXT");
	r->steps = grow(r->steps, (r->step_count + 1) * sizeof(s));
	r->steps[r->step_count++] = s;
}

static void read_line(char *line)
{
	char *verb = word(&line);

	if (*verb && *verb != '#' && !read_top(verb, line) && !read_condition(verb, line))
		read_step(verb, line);
}

static void define_server(const char *scheme, int port)
{
	char value[64];

	(void)snprintf(value, sizeof(value), "%d", port);
	add_name("port", (struct text){copy(value, strlen(value)), strlen(value)});
	(void)snprintf(value, sizeof(value), "127.0.0.1:%d", port);
	add_name("host", (struct text){copy(value, strlen(value)), strlen(value)});
	(void)snprintf(value, sizeof(value), "%s://127.0.0.1:%d", scheme, port);
	add_name("base", (struct text){copy(value, strlen(value)), strlen(value)});
}

void script_read(const char *path, const char *scheme, int port)
{
	FILE *f = fopen(path, "r");
	struct text joined = {NULL, 0};
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (!f)
		fail("%s: %s", path, strerror(errno));
	script.path = path;
	define_server(scheme, port);
	while ((len = getline(&line, &size, f)) >= 0) {
		size_t keep = strcspn(line, "\r\n"), skip = joined.len ? strspn(line, " \t") : 0;
		bool more = keep > 0 && line[keep - 1] == '\\' && (keep < 2 || line[keep - 2] != '\\');

		script.line++;
		text_add(&joined, line + skip, keep - skip - more);
		if (more)
			continue;
		read_line(joined.data);
		joined.len = 0;
	}
	free(line);
	free(joined.data);
	(void)fclose(f);
}

/* ------------------------------------------------------------------ matching */

static const char *field_value(const struct request *q, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < q->field_count; i++)
		if (strncasecmp(q->fields[i], name, len) == 0 && q->fields[i][len] == ':')
			return q->fields[i] + len + 1 + strspn(q->fields[i] + len + 1, " \t");
	return NULL;
}

static bool holds(const struct condition *c, const struct request *q)
{
	const char *value = c->name ? field_value(q, c->name) : NULL;

	switch (c->kind) {
	case CONDITION_FIELD:
		return value && fnmatch(c->glob, value, 0) == 0;
	case CONDITION_NO_FIELD:
		return !value;
	case CONDITION_BODY:
		break;
	}
	return fnmatch(c->glob, q->body, 0) == 0;
}

/* The method is * or one of the names between commas. */
static bool method_matches(const char *methods, const char *method)
{
	size_t len = strlen(method);

	for (const char *at = methods; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcmp(methods, "*") == 0 || (strncmp(at, method, len) == 0 && (at[len] == ',' || at[len] == '\0')))
			return true;
	return false;
}

static bool matches(const struct rule *r, const struct request *q)
{
	if (r->times == 0 || r->on_accept != !q)
		return false;
	if (!q)
		return true;
	if (!method_matches(r->methods, q->method) || fnmatch(r->path, q->target, 0) != 0)
		return false;
	for (size_t i = 0; i < r->condition_count; i++)
		if (!holds(&r->conditions[i], q))
			return false;
	return true;
}

const struct rule *script_match(const struct request *request)
{
	for (size_t i = 0; i < script.rule_count; i++) {
		struct rule *r = &script.rules[i];

		if (matches(r, request)) {
			r->times -= r->times > 0;
			return r;
		}
	}
	return NULL;
}
