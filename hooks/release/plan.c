/* SPDX-License-Identifier: Apache-2.0 */
#include "release/plan.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "program/memory.h"
#include "render/render.h"
#include "program/say.h"

struct copy {
	char *from, *to; /* references; from NULL where it is not known */
	char *tagged;    /* what else it could be copied to: the tag that is written beside its digest; or NULL */
};

static void copy_clear(struct copy *c)
{
	free(c->from);
	free(c->to);
	free(c->tagged);
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

/* By a digest it is copied from that digest, by which a node pulls. */
static void find_copy(const struct plan *p, const json_t *image, struct copy *c)
{
	const char *asked = render_text(image, "reference"), *written = render_text(image, "written");
	const char *source = render_text(image, "source"), *at = strchr(asked, '@'), *mark = strchr(written, '@');
	const char *colon = mark;

	c->from = p->from ? memory_printf("%s/%s", p->from, below(p, asked)) : *source ? memory_text(source) : NULL;
	while (colon && colon > written && *colon != ':' && *colon != '/')
		colon--;
	c->to = memory_text(asked);
	if (at && mark && *colon == ':')
		c->tagged = memory_printf("%.*s%.*s", (int)(at - asked), asked, (int)(mark - colon), colon);
}

/* Copies that were told, each target once. */
struct told {
	struct lines from, to; /* the source of to.line[i] is from.line[i] */
};

static const char *told_source(const struct told *t, const char *to)
{
	for (size_t i = 0; i < t->to.count; i++)
		if (!strcmp(t->to.line[i], to))
			return t->from.line[i];
	return NULL;
}

static bool is_asked(const struct plan *p, const char *ref)
{
	size_t i;
	json_t *image;

	json_array_foreach(json_object_get(p->report, "images"), i, image)
		if (!strcmp(render_text(image, "reference"), ref))
			return true;
	return false;
}

/*
 * The tag beside a digest is copied too, so that nothing takes the manifest for garbage; but not where the tag is
 * asked for by itself or stands beside another digest too, for it can be only one of them.
 */
static void choose_target(const struct plan *p, const struct told *t, struct copy *c)
{
	const char *source;

	if (!c->tagged || is_asked(p, c->tagged))
		return;
	source = told_source(t, c->tagged);
	if (source && c->from && strcmp(source, c->from) != 0)
		return;
	free(c->to);
	c->to = TAKE(c->tagged);
}

/* Calls tell() for each missing image that can be copied, or that cannot; each target once. */
static size_t each(const struct plan *p, bool known, void (*tell)(const struct plan *p, const struct copy *c, FILE *out), FILE *out)
{
	struct told told = { 0 };
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
		choose_target(p, &told, &c);
		if (known == (c.from != NULL) && !told_source(&told, c.to)) {
			tell(p, &c, out);
			lines_add(&told.from, c.from ? c.from : "");
			lines_add(&told.to, c.to);
			count++;
		}
		copy_clear(&c);
	}
	lines_clear(&told.from);
	lines_clear(&told.to);
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

/* ------------------------------------------------------------------ trust */

/* Bytes of the host without the port that it would have anyway. */
static size_t host_bytes(const char *host, size_t len, const char *usual_port)
{
	size_t port = strlen(usual_port);

	return len > port && !memcmp(host + len - port, usual_port, port) ? len - port : len;
}

/* Whether the host of the reference is in the list, whose hosts have that port where none is given. */
static bool is_listed(const struct lines *hosts, const char *usual_port, const char *ref)
{
	size_t len = host_bytes(ref, strcspn(ref, "/"), usual_port);

	for (size_t i = 0; i < hosts->count; i++) {
		const char *host = hosts->line[i];

		if (host_bytes(host, strlen(host), usual_port) == len && !strncasecmp(host, ref, len))
			return true;
	}
	return false;
}

/* A node asks its own host for images without verifying it, if need be without TLS. */
static bool is_loopback(const char *ref)
{
	size_t len = strcspn(ref, "/");
	AUTO(free) char *host = memory_text_cut(ref, *ref == '[' ? len : strcspn(ref, ":/"));
	struct in_addr address;

	if (*host == '[')
		return !strncmp(host, "[::1]", strlen("[::1]"));
	return !strcasecmp(host, "localhost") || (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

static bool is_insecure(const struct plan *p, const char *ref)
{
	return is_listed(p->plain, ":80", ref) || is_listed(p->unverified, ":443", ref) || is_loopback(ref);
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

/* How hosts are reached, each once; without TLS goes before without verifying it. */
static void regsync_hosts(const struct lines *hosts, const char *tls, struct lines *told, FILE *out)
{
	for (size_t i = 0; i < hosts->count; i++) {
		if (lines_has(told, hosts->line[i]))
			continue;
		fputs(told->count ? "  - registry: " : "creds:\n  - registry: ", out);
		print_scalar(hosts->line[i], out);
		fprintf(out, "\n    tls: %s\n", tls);
		lines_add(told, hosts->line[i]);
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
	AUTO(lines) struct lines told = { 0 };

	fputs("version: 1\n", out);
	regsync_hosts(p->plain, "disabled", &told, out);
	regsync_hosts(p->unverified, "insecure", &told, out);
	fputs(each(p, true, nothing, out) ? "sync:\n" : "sync: []\n", out);
	each(p, true, regsync_entry, out);
}
