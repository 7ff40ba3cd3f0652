/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_RENDER_RENDER_H
#define HOOKS_RENDER_RENDER_H

/*
 * Reports in the formats of other worlds.  All are made from the JSON of a report, so that one that was kept in a
 * file can be shown as one that was just made.  Texts in it came from outside: each format escapes its own marks.
 */

#include <stdio.h>

#include "program/auto.h"

struct view {
	json_t *const *reports; /* one; the page takes several, say one for each platform */
	size_t count;
	long long time;         /* when the check ended, seconds since 1970; -1 where not known */
	double seconds;         /* how long it took; below 0 where not known */
};

struct rendering {
	const char *name;
	void (*print)(const struct view *v, FILE *out); /* NULL: the library renders it, in this format */
	enum imgcheck_format format;
};

/* text, json, markdown, nagios, prometheus, html: NULL for any other name. */
const struct rendering *render_find(const char *name);

/* The names, for help: "text|json|...". */
#define RENDER_NAMES "text|json|markdown|nagios|prometheus|html"

void render_markdown(const struct view *v, FILE *out);
void render_nagios(const struct view *v, FILE *out);
void render_prometheus(const struct view *v, FILE *out);
void render_html(const struct view *v, FILE *out);

/* ------------------------------------------------------------------ what the renderings have in common */

/* A text member, or "" where there is none: borrowed. */
const char *render_text(const json_t *object, const char *name);

/*
 * Bytes of the control character that the text starts with, 0 where it is another.  Those above ASCII, of two bytes
 * in UTF-8, count too: terminals obey them.
 */
size_t render_control(const char *text);

/* A text from outside, with ? for its control characters: it stays in its line. */
void render_line(const char *text, FILE *out);

/* The number of images and problems with this class: "ok", "missing". */
long long render_count(const json_t *report, const char *class);

/* "24 ok, 1 missing": what the report counts, ok first. */
void render_counts(const json_t *report, FILE *out);

/* Whether the image or problem has the class ok, or is a mere finding. */
bool render_is_ok(const json_t *item);

#endif
