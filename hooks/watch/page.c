/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "pull.h"
#include "render/html.h"
#include "show.h"

#define SHOWN_DIGEST 19 /* "sha256:" and twelve digits, as people know them */

/* A digest that is short to look at and whole to copy. */
static void print_digest(const char *digest, FILE *out)
{
	char head[SHOWN_DIGEST + 1] = "";

	if (!digest)
		return;
	memcpy(head, digest, strnlen(digest, SHOWN_DIGEST));
	fputs("<code title=\"", out);
	html_text(digest, out);
	fputs("\">", out);
	html_text(head, out);
	fputs("</code>", out);
}

static void print_cell_time(long long when, FILE *out)
{
	fputs("<td>", out);
	if (when > 0)
		html_time(when, out);
	fputs("</td>", out);
}

static void print_cell_text(const char *text, FILE *out)
{
	fputs("<td>", out);
	html_text(text ? text : "", out);
	fputs("</td>", out);
}

/* ------------------------------------------------------------------ images */

/* The image of the set by its reference, or NULL. */
static const struct imgcheck_image *find_image(const struct imgcheck_images *images, const char *ref)
{
	size_t low = 0, high = imgcheck_images_count(images);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct imgcheck_image *image = imgcheck_images_get(images, middle);
		int order = strcmp(ref, imgcheck_image_ref(image));

		if (!order)
			return image;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static void print_pulls(const struct state_image *m, const struct imgcheck_image *image, FILE *out)
{
	unsigned policies = image ? pull_policies(image) : 0;

	fputs("<td>", out);
	for (unsigned p = PULL_ALWAYS; p <= PULL_NEVER; p *= 2) {
		if (!(policies & p))
			continue;
		fprintf(out, "<div><b title=\"when the tag moves, %s; when the image vanishes, %s\">%s</b>",
			pull_words(PULL_MOVED, (enum pull_policy)p), pull_words(PULL_GONE, (enum pull_policy)p),
			pull_name((enum pull_policy)p));
		if (m->condition == STATE_GONE)
			fprintf(out, ": %s", pull_words(PULL_GONE, (enum pull_policy)p));
		fputs("</div>", out);
	}
	fputs("</td>", out);
}

static const char *image_class(const struct state_image *m)
{
	return m->condition == STATE_GONE ? "veto" : m->misses || m->condition == STATE_NEW ? "warn" : "ok";
}

static void print_image(const struct state_image *m, const struct imgcheck_image *image, FILE *out)
{
	fputs("<tr><th scope=\"row\">", out);
	html_text(m->ref, out);
	fprintf(out, "</th><td class=\"%s\">%s%s</td><td>", image_class(m), state_condition_name(m->condition),
		m->failing ? ", failing" : m->misses ? ", not told now" : "");
	print_digest(m->digest, out);
	fputs("</td>", out);
	print_cell_time(m->since, out);
	print_cell_text(m->reason, out);
	print_pulls(m, image, out);
	fputs("</tr>\n", out);
}

static void print_images(const struct show *v, FILE *out)
{
	fputs("<h2>Images</h2>\n<table class=\"images\">\n<thead><tr><th scope=\"col\">image</th><th scope=\"col\">condition</th>"
	      "<th scope=\"col\">digest</th><th scope=\"col\">since</th><th scope=\"col\">why</th>"
	      "<th scope=\"col\">pulled by nodes</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < v->state->image_count; i++)
		print_image(&v->state->images[i], v->images ? find_image(v->images, v->state->images[i].ref) : NULL, out);
	fputs("</tbody>\n</table>\n", out);
}

/* ------------------------------------------------------------------ gates */

static const char *phase_class(long long phase)
{
	switch ((enum state_phase)phase) {
	case STATE_GATE_SERVED:
		return "ok";
	case STATE_GATE_REJECTED:
		return "veto";
	case STATE_GATE_NEW:
	case STATE_GATE_VALIDATING:
	case STATE_GATE_HELD:
	case STATE_GATE_OUTDATED:
		break;
	}
	return "warn";
}

static void print_gate(const struct state_gate *g, FILE *out)
{
	fputs("<tr><th scope=\"row\">", out);
	html_text(g->name, out);
	fprintf(out, "</th><td class=\"%s\">%s</td>", phase_class(g->phase), state_phase_name(g->phase));
	print_cell_time(g->since, out);
	fputs("<td>", out);
	print_digest(g->served, out);
	fputs("</td><td>", out);
	print_digest(g->candidate, out);
	fputs("</td><td>", out);
	print_digest(g->previous, out);
	fputs("</td>", out);
	print_cell_text(g->reason, out);
	fputs("</tr>\n", out);
}

static void print_gates(const struct state *s, FILE *out)
{
	if (!s->gate_count)
		return;
	fputs("<h2>Gates</h2>\n<table class=\"gates\">\n<thead><tr><th scope=\"col\">gate</th><th scope=\"col\">phase</th>"
	      "<th scope=\"col\">since</th><th scope=\"col\">served</th><th scope=\"col\">candidate</th>"
	      "<th scope=\"col\">previous</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < s->gate_count; i++)
		if (s->gates[i].used)
			print_gate(&s->gates[i], out);
	fputs("</tbody>\n</table>\n", out);
}

/* ------------------------------------------------------------------ the page */

static void print_waiting(const struct state *s, FILE *out)
{
	if (!s->event_count)
		return;
	fprintf(out, "<p class=\"warn\">%zu events are not told yet", s->event_count);
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].failures) {
			fprintf(out, "; %s: ", s->sinks[i].name);
			html_text(s->sinks[i].reason ? s->sinks[i].reason : "", out);
		}
	fputs("</p>\n", out);
}

/* The same for every image, so it is told once. */
static void print_policies(FILE *out)
{
	fputs("<h2>What nodes do</h2>\n<table class=\"policies\">\n<thead><tr><th scope=\"col\">imagePullPolicy</th>"
	      "<th scope=\"col\">when a tag moves</th><th scope=\"col\">when the registry does not have it, or is gone</th></tr>"
	      "</thead>\n<tbody>\n", out);
	for (unsigned p = PULL_ALWAYS; p <= PULL_NEVER; p *= 2)
		fprintf(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>\n", pull_name((enum pull_policy)p),
			pull_words(PULL_MOVED, (enum pull_policy)p), pull_words(PULL_GONE, (enum pull_policy)p));
	fputs("</tbody>\n</table>\n", out);
}

void show_page(const struct show *v, FILE *out)
{
	html_begin("Images under watch", out);
	fputs("<p>", out);
	if (v->state->round) {
		fputs("last round: ", out);
		html_time(v->state->round, out);
	} else {
		fputs("no round has ended yet", out);
	}
	if (v->problems)
		fprintf(out, "; %zu manifests or parts of them could not be read", v->problems);
	fputs("</p>\n", out);
	print_waiting(v->state, out);
	print_gates(v->state, out);
	print_images(v, out);
	print_policies(out);
	html_end(out);
}
