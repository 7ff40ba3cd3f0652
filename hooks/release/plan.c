/* SPDX-License-Identifier: Apache-2.0 */
#include "release/plan.h"

#include <ctype.h>
#include <string.h>

#include "program/memory.h"
#include "render/render.h"
#include "program/say.h"

struct copy {
	char *from, *to; /* references; from NULL where it is not known */
};

static void copy_clear(struct copy *c)
{
	free(c->from);
	free(c->to);
}

/* ------------------------------------------------------------------ what to copy */

static bool is_missing(const json_t *image)
{
	const char *class = render_text(image, "class");

	return !strcmp(class, imgcheck_outcome_name(IMGCHECK_OUTCOME_MISSING)) ||
	       !strcmp(class, imgcheck_outcome_name(IMGCHECK_OUTCOME_ALREADY_MISSING));
}

/* What stands behind the configured registry in a reference, or behind its host. */
static const char *below(const struct plan *p, const char *ref)
{
	size_t len = p->registry ? strlen(p->registry) : 0;
	const char *slash;

	if (len && !strncmp(ref, p->registry, len) && ref[len] == '/')
		return ref + len + 1;
	slash = strchr(ref, '/');
	return slash ? slash + 1 : ref;
}

/*
 * A tag that is written beside a digest is copied too, so that nothing takes the manifest for garbage; the source is
 * named by the digest, by which a node pulls.
 */
static void find_copy(const struct plan *p, const json_t *image, struct copy *c)
{
	const char *asked = render_text(image, "reference"), *written = render_text(image, "written");
	const char *source = render_text(image, "source"), *at = strchr(asked, '@'), *mark = strchr(written, '@');
	const char *colon = mark;

	c->from = p->from ? memory_printf("%s/%s", p->from, below(p, asked)) : *source ? memory_text(source) : NULL;
	while (colon && colon > written && *colon != ':' && *colon != '/')
		colon--;
	if (at && mark && *colon == ':')
		c->to = memory_printf("%.*s%.*s", (int)(at - asked), asked, (int)(mark - colon), colon);
	else
		c->to = memory_text(asked);
}

/* Calls tell() for each missing image that can be copied, or that cannot; each target once. */
static size_t each(const struct plan *p, bool known, void (*tell)(const struct plan *p, const struct copy *c, FILE *out), FILE *out)
{
	AUTO(lines) struct lines told = { 0 };
	size_t i, count = 0;
	json_t *image;

	json_array_foreach(json_object_get(p->report, "images"), i, image) {
		struct copy c = { 0 };

		if (!is_missing(image))
			continue;
		find_copy(p, image, &c);
		if (!strcmp(render_text(image, "verdict"), imgcheck_verdict_name(IMGCHECK_VERDICT_INVALID))) {
			free(c.from);
			c.from = NULL;
		}
		if (known == (c.from != NULL) && !lines_has(&told, c.to)) {
			tell(p, &c, out);
			lines_add(&told, c.to);
			count++;
		}
		copy_clear(&c);
	}
	return count;
}

static void say_unknown(const struct plan *p, const struct copy *c, FILE *out)
{
	(void)p;
	(void)out;
	say("%s: cannot tell where to copy it from: give --from PREFIX", c->to);
}

size_t plan_say_unknown(const struct plan *p)
{
	return each(p, false, say_unknown, stderr);
}

static bool is_insecure(const struct plan *p, const char *ref)
{
	size_t len = strcspn(ref, "/");

	for (size_t i = 0; i < p->insecure->count; i++)
		if (strlen(p->insecure->line[i]) == len && !memcmp(p->insecure->line[i], ref, len))
			return true;
	return false;
}

/* What has a certain digest is the image as a whole. */
static bool is_one_platform(const struct plan *p, const struct copy *c)
{
	return p->platform && !strchr(c->from, '@');
}

/* "linux", "arm", "v7" of linux/arm/v7: new, NULL where there is none. */
static char *platform_part(const char *platform, int part)
{
	for (; part > 0 && platform; part--) {
		platform = strchr(platform, '/');
		platform = platform ? platform + 1 : NULL;
	}
	return platform ? memory_text_cut(platform, strcspn(platform, "/")) : NULL;
}

/* ------------------------------------------------------------------ skopeo */

/* A word of a shell command. */
static void print_word(const char *text, FILE *out)
{
	if (!text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@+-")]) {
		fputs(text, out);
		return;
	}
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
	fputc('\'', out);
}

static void print_platform(const char *platform, FILE *out)
{
	static const char *const flags[] = { "--override-os", "--override-arch", "--override-variant" };

	for (int i = 0; i < (int)COUNT(flags); i++) {
		AUTO(free) char *part = platform_part(platform, i);

		if (!part)
			return;
		fprintf(out, " %s ", flags[i]);
		print_word(part, out);
	}
}

static void skopeo_line(const struct plan *p, const struct copy *c, FILE *out)
{
	AUTO(free) char *from = memory_printf("docker://%s", c->from), *to = memory_printf("docker://%s", c->to);

	fputs("skopeo", out);
	if (is_one_platform(p, c))
		print_platform(p->platform, out);
	fputs(is_one_platform(p, c) ? " copy" : " copy --all", out);
	if (strchr(c->from, '@'))
		fputs(" --preserve-digests", out);
	if (is_insecure(p, c->from))
		fputs(" --src-tls-verify=false", out);
	if (is_insecure(p, c->to))
		fputs(" --dest-tls-verify=false", out);
	fputc(' ', out);
	print_word(from, out);
	fputc(' ', out);
	print_word(to, out);
	fputc('\n', out);
}

void plan_print_skopeo(const struct plan *p, FILE *out)
{
	each(p, true, skopeo_line, out);
}

/* ------------------------------------------------------------------ regsync */

/* A YAML scalar in double quotes. */
static void print_scalar(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			fprintf(out, "\\x%02x", (unsigned)(unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void regsync_entry(const struct plan *p, const struct copy *c, FILE *out)
{
	fputs("  - source: ", out);
	print_scalar(c->from, out);
	fputs("\n    target: ", out);
	print_scalar(c->to, out);
	fputs("\n    type: image\n", out);
	if (is_one_platform(p, c)) {
		fputs("    platform: ", out);
		print_scalar(p->platform, out);
		fputc('\n', out);
	}
}

static void nothing(const struct plan *p, const struct copy *c, FILE *out)
{
	(void)p;
	(void)c;
	(void)out;
}

void plan_print_regsync(const struct plan *p, FILE *out)
{
	fputs("version: 1\n", out);
	for (size_t i = 0; i < p->insecure->count; i++) {
		fputs(i ? "  - registry: " : "creds:\n  - registry: ", out);
		print_scalar(p->insecure->line[i], out);
		fputs("\n    tls: disabled\n", out);
	}
	fputs(each(p, true, nothing, out) ? "sync:\n" : "sync: []\n", out);
	each(p, true, regsync_entry, out);
}
