/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "documents.h"
#include "parts.h"
#include "walk.h"

#define DOCKER_URL "docker://"
#define MAX_NESTING 4 /* documents inside of values inside of documents ... */

typedef int (*visit_fn)(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                        const struct ic_node *value, struct imgcheck_error **err);

static int visit_any(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                     struct imgcheck_error **err);
static int visit_members(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, const char *const *except,
                         struct imgcheck_error **err);

static int visit_inside(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err);

static const char *const no_keys[] = {NULL};

/* ------------------------------------------------------------------ what stands in one text */

/* Reports text at node where `form` says that it is one. */
static int report(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, enum ic_form form,
                  enum imgcheck_class class, struct imgcheck_error **err)
{
	const char *text = node->text;
	size_t len = node->len;

	ic_form_trim(&text, &len);
	return ic_walk_find(w, at, node, text, len, (struct ic_find){.form = form, .class = class}, err);
}

/* A text, and whether its name says that it is an image. */
struct phrase {
	const char *text;
	size_t len;
	bool named;
};

static enum ic_form form_of(const char *text, size_t len, bool named)
{
	return named ? ic_form_named_image(text, len) : ic_form_elsewhere(text, len);
}

/* References parted by commas, blanks or quotes, also behind "key=": all of the text, or none of it, as *found tells. */
static int mention_list(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct phrase p, bool *found,
                        struct imgcheck_error **err)
{
	for (int pass = 0; pass < 2; pass++) {
		const char *rest = p.text, *piece;
		size_t left = p.len, len;

		while ((piece = ic_form_next_piece(&rest, &left, " \t\r\n,;\"'", &len))) {
			struct ic_find find = {.class = IMGCHECK_CLASS_MENTIONED};
			int result;

			ic_form_strip_key(&piece, &len);
			find.form = form_of(piece, len, p.named);
			if (find.form == IC_FORM_OTHER)
				return 0;
			result = pass == 0 ? 0 : ic_walk_find(w, at, node, piece, len, find, err);
			if (result < 0)
				return result;
			*found |= pass == 1;
		}
	}
	return 0;
}

/* A text that may be a reference or a list of them; class mentioned. */
static int mention(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct phrase p, bool *found,
                   struct imgcheck_error **err)
{
	struct ic_find find = {.class = IMGCHECK_CLASS_MENTIONED};

	ic_form_trim(&p.text, &p.len);
	find.form = form_of(p.text, p.len, p.named);
	*found = find.form != IC_FORM_OTHER;
	if (!*found)
		return mention_list(w, at, node, p, found, err);
	return ic_walk_find(w, at, node, p.text, p.len, find, err);
}

/* A line for a shell: words that are references on a host, alone or behind '='; comments are left out. */
static int visit_shell_text(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	const char *lines = node->text, *line;
	size_t lines_left = node->len, line_len;

	while ((line = ic_form_next_piece(&lines, &lines_left, "\n", &line_len))) {
		const char *word;
		size_t len;

		while ((word = ic_form_next_piece(&line, &line_len, " \t\r\"'`;|&()<>", &len)) && word[0] != '#') {
			bool found;
			int result;

			ic_form_strip_key(&word, &len);
			result = ic_form_has_host(word, len) ? mention(w, at, node, (struct phrase){word, len, false}, &found, err) : 0;
			if (result < 0)
				return result;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ pods */

static int visit_container_image(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                                 const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_find find = {.class = IMGCHECK_CLASS_REQUIRED};
	size_t len = value->len;

	if (value->kind == IC_NODE_MAPPING && (!w->object || w->nesting > 0))
		return visit_any(w, at, owner, value, err); /* values for a chart */
	if (!ic_node_is_string(value))
		return ic_walk_find_no_text(w, at, value, err);
	while (len && value->text[len - 1] == '\n' && value->style != IC_STYLE_QUOTED)
		len--;
	if (len != value->len)
		find.note = "a line end follows, with which a kubelet refuses it, behind the image";
	find.form = ic_form_in_container(value->text, len);
	return ic_walk_find(w, at, value, value->text, len, find, err);
}

/* The image of a container, of each time that it is written. */
static int visit_images_of(struct ic_walk *w, const struct ic_step *at, const struct ic_node *container,
                           const struct ic_item *i, struct imgcheck_error **err)
{
	for (; i; i = i->next) {
		struct ic_step step = {.up = at, .kind = IC_STEP_KEY, .key = i->key};
		int result;

		if (!ic_node_equals(i->key, "image"))
			continue;
		w->pull_policy = ic_node_get_text(container, "imagePullPolicy");
		result = visit_container_image(w, &step, container, i->value, err);
		w->pull_policy = NULL;
		if (result < 0)
			return result;
	}
	return 0;
}

static int visit_container(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                           const struct ic_node *value, struct imgcheck_error **err)
{
	static const char *const seen[] = {"image", NULL};
	bool outer = w->hidden;
	int result;

	if (!ic_node_is(value, IC_NODE_MAPPING))
		return visit_any(w, at, owner, value, err);
	result = visit_images_of(w, at, value, value->items, err);
	w->hidden = true;
	if (result == 0)
		result = visit_images_of(w, at, value, value->hidden, err);
	w->hidden = outer;
	return result < 0 ? result : visit_members(w, at, value, seen, err);
}

/* Goes through the items of a sequence with one rule for each; anything else is walked as usual. */
static int visit_items(struct ic_walk *w, const struct ic_step *at, const struct ic_node *value, visit_fn visit,
                       struct imgcheck_error **err)
{
	struct ic_step step = {.up = at, .kind = IC_STEP_INDEX};
	const struct ic_item *i = ic_node_items(value);

	if (!ic_node_is(value, IC_NODE_SEQUENCE))
		return visit_any(w, at, NULL, value, err);
	for (; i; i = i->next, step.index++) {
		int result = visit(w, &step, value, i->value, err);

		if (result < 0)
			return result;
	}
	return 0;
}

static int visit_containers(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                            const struct ic_node *value, struct imgcheck_error **err)
{
	const struct ic_node *outer = w->pod;
	int result;

	w->pod = owner;
	result = visit_items(w, at, value, visit_container, err);
	w->pod = outer;
	return result;
}

/* An image volume: `image: {reference: ..., pullPolicy: ...}`. */
static int visit_volume(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                        struct imgcheck_error **err)
{
	const struct ic_node *image = ic_node_get(value, "image"), *reference = ic_node_get(image, "reference");
	struct ic_node image_key = {.kind = IC_NODE_SCALAR, .text = "image", .len = 5};
	struct ic_node reference_key = {.kind = IC_NODE_SCALAR, .text = "reference", .len = 9};
	struct ic_step outer = {.up = at, .kind = IC_STEP_KEY, .key = &image_key};
	struct ic_step step = {.up = &outer, .kind = IC_STEP_KEY, .key = &reference_key};
	int result;

	if (!ic_node_is(reference, IC_NODE_SCALAR))
		return visit_any(w, at, owner, value, err);
	w->pull_policy = ic_node_get_text(image, "pullPolicy");
	result = visit_container_image(w, &step, image, reference, err);
	w->pull_policy = NULL;
	return result;
}

static int visit_volumes(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                         struct imgcheck_error **err)
{
	const struct ic_node *outer = w->pod;
	int result;

	w->pod = owner;
	result = visit_items(w, at, value, visit_volume, err);
	w->pod = outer;
	return result;
}

/* ------------------------------------------------------------------ arguments and environment */

/*
 * "--flag=REF", REF, lists of them, or a line for a shell; `named` says that the argument before it was a flag that says
 * image.  $(NAME) is filled in by Kubernetes: no placeholder that somebody forgot.
 */
static int visit_argument(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, bool named,
                          struct imgcheck_error **err)
{
	struct phrase p = {node->text, node->len, named};
	bool found;

	if (strpbrk(p.text, " \t\n"))
		return visit_shell_text(w, at, node, err);
	ic_form_strip_key(&p.text, &p.len);
	if (p.len < node->len && node->len - p.len > 1)
		p.named = ic_name_says_image(node->text, node->len - p.len - 1);
	p.named = p.named && !memmem(p.text, p.len, "$(", 2);
	return mention(w, at, node, p, &found, err);
}

static int visit_arguments(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                           const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_step step = {.up = at, .kind = IC_STEP_INDEX};
	const struct ic_item *i = ic_node_items(value);
	bool named = false;

	if (value->kind == IC_NODE_SCALAR)
		return visit_argument(w, at, value, false, err);
	if (value->kind != IC_NODE_SEQUENCE)
		return visit_any(w, at, owner, value, err);
	for (; i; i = i->next, step.index++) {
		int result;

		if (i->value->kind != IC_NODE_SCALAR)
			continue;
		result = visit_argument(w, &step, i->value, named, err);
		if (result < 0)
			return result;
		named = i->value->text[0] == '-' && ic_name_says_image(i->value->text, i->value->len);
	}
	return 0;
}

static int visit_variable(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                          const struct ic_node *variable, struct imgcheck_error **err)
{
	const struct ic_node *value = ic_node_get(variable, "value");
	const char *name = ic_node_get_text(variable, "name");
	struct ic_node key = {.kind = IC_NODE_SCALAR, .text = "value", .len = 5};
	struct ic_step step = {.up = at, .kind = IC_STEP_KEY, .key = &key};
	struct phrase p;
	bool found;
	int result;

	if (!name || !ic_node_is(value, IC_NODE_SCALAR))
		return visit_any(w, at, owner, variable, err);
	p = (struct phrase){value->text, value->len, ic_name_says_image(name, strlen(name))};
	result = mention(w, &step, value, p, &found, err);
	return result < 0 || found ? result : visit_inside(w, &step, value, err);
}

static int visit_environment(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                             const struct ic_node *value, struct imgcheck_error **err)
{
	(void)owner;
	return visit_items(w, at, value, visit_variable, err);
}

/* ------------------------------------------------------------------ fields of other objects */

/* `image:` outside of a container; a mapping may be one of Helm's. */
static int visit_image(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                       struct imgcheck_error **err)
{
	const char *text = value->text;
	size_t len = value->len;
	int result;

	if (value->kind != IC_NODE_SCALAR)
		return visit_any(w, at, owner, value, err);
	ic_form_trim(&text, &len);
	w->pull_policy = ic_node_get_text(owner, "imagePullPolicy");
	if (!w->pull_policy)
		w->pull_policy = ic_node_get_text(owner, "pullPolicy");
	result = report(w, at, value, ic_form_named_image(text, len), IMGCHECK_CLASS_REQUIRED, err);
	w->pull_policy = NULL;
	return result;
}

/* Items of kustomize's `images:` say what a name that is written elsewhere becomes. */
static int visit_image_override(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                                const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_find find = {.class = IMGCHECK_CLASS_HINT, .certainty = IC_REWRITE};
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_parts_init(&text);
	result = ic_parts_kustomize(value, &text, err);
	if (result < 0)
		return result;
	if (text.len == 0)
		return visit_any(w, at, owner, value, err);
	find.form = ic_form_named_image(text.data, text.len);
	if (find.form == IC_FORM_UNRESOLVED)
		return 0; /* the name written elsewhere tells that */
	return ic_walk_find(w, at, value, text.data, text.len, find, err);
}

static int visit_image_overrides(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                                 const struct ic_node *value, struct imgcheck_error **err)
{
	(void)owner;
	return visit_items(w, at, value, visit_image_override, err);
}

/* `url: oci://HOST/NAME` with its tag or digest in `ref:` (Flux). */
static int visit_url(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                     struct imgcheck_error **err)
{
	struct ic_find find = {.class = IMGCHECK_CLASS_HINT};
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_parts_init(&text);
	result = ic_parts_flux(owner, &text, err);
	if (result < 0)
		return result;
	if (text.len == 0)
		return visit_any(w, at, owner, value, err);
	find.form = ic_form_elsewhere(text.data, text.len);
	return ic_walk_find(w, at, value, text.data, text.len, find, err);
}

/* Where something is pushed to, as by OpenShift's builds, need not be there. */
static int visit_destination(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                             const struct ic_node *value, struct imgcheck_error **err)
{
	return ic_node_equals(ic_node_get(value, "kind"), "DockerImage") ? 0 : visit_any(w, at, owner, value, err);
}

/* Of metadata only the annotations count; of those the ones that say image, or are a reference and nothing else. */
static int visit_annotations(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                             const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_step step = {.up = at, .kind = IC_STEP_KEY};
	const struct ic_item *i = ic_node_is(value, IC_NODE_MAPPING) ? ic_node_items(value) : NULL;

	(void)owner;
	for (; i; i = i->next) {
		enum ic_form found;
		int result;

		if (!ic_node_is(i->key, IC_NODE_SCALAR) || !ic_node_is(i->value, IC_NODE_SCALAR))
			continue;
		if (ic_name_says_image(i->key->text, i->key->len))
			found = ic_form_named_image(i->value->text, i->value->len);
		else
			found = ic_form_elsewhere(i->value->text, i->value->len);
		step.key = i->key;
		result = report(w, &step, i->value, found, IMGCHECK_CLASS_HINT, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static int visit_metadata(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                          struct imgcheck_error **err)
{
	const struct ic_node *annotations = ic_node_get(value, "annotations");
	struct ic_node key = {.kind = IC_NODE_SCALAR, .text = "annotations", .len = 11};
	struct ic_step step = {.up = at, .kind = IC_STEP_KEY, .key = &key};

	return annotations ? visit_annotations(w, &step, owner, annotations, err) : 0;
}

/* The past of an object, not what it needs. */
static int visit_status(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                        struct imgcheck_error **err)
{
	if (ic_node_get(owner, "kind") || ic_node_get(owner, "metadata") || ic_node_get(owner, "spec"))
		return 0;
	return visit_any(w, at, owner, value, err);
}

static int skip(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                struct imgcheck_error **err)
{
	(void)w;
	(void)at;
	(void)owner;
	(void)value;
	(void)err;
	return 0;
}

/*
 * A field that only by its name says image.  A whole value that is to be filled in says nothing more, and a
 * program's settings are full of them; one with a repository in it is somebody's forgotten image.
 */
static enum ic_form form_by_name(const struct ic_step *at, const char *text, size_t len)
{
	const struct ic_node *name = ic_step_name(at);
	enum ic_form form;

	if (!ic_node_is(name, IC_NODE_SCALAR) || !ic_name_says_image(name->text, name->len))
		return IC_FORM_OTHER;
	form = ic_form_named_image(text, len);
	return form == IC_FORM_UNRESOLVED && !memchr(text, '/', len) ? IC_FORM_OTHER : form;
}

/* Any other text: a hint where it is a reference and nothing else, also behind "docker://". */
static int visit_scalar(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	struct ic_find find = {.class = IMGCHECK_CLASS_HINT, .certainty = IC_PARTIAL};
	const char *text = node->text;
	size_t len = node->len;

	ic_form_trim(&text, &len);
	if (ic_text_starts(text, len, DOCKER_URL)) {
		text += strlen(DOCKER_URL);
		len -= strlen(DOCKER_URL);
	}
	find.form = ic_form_elsewhere(text, len);
	if (find.form == IC_FORM_OTHER && form_by_name(at, text, len) == IC_FORM_UNRESOLVED)
		find.form = IC_FORM_UNRESOLVED;
	return ic_walk_find(w, at, node, text, len, find, err);
}

/* ------------------------------------------------------------------ images in parts (Helm values) */

/* *found tells whether the mapping is such an image, whose parts must not be looked at one by one. */
static int visit_parts(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, bool *found,
                       struct imgcheck_error **err)
{
	struct ic_find find = {.class = IMGCHECK_CLASS_MENTIONED};
	struct ic_buf text IC_AUTO(buf);
	bool untagged = false;
	int result;

	ic_parts_init(&text);
	*found = false;
	result = ic_parts_helm(node, &text, &untagged, err);
	if (result < 0 || text.len == 0)
		return result;
	find.form = ic_form_named_image(text.data, text.len);
	if (find.form == IC_FORM_OTHER)
		return 0;
	*found = true;
	w->pull_policy = ic_part(node, "pullPolicy", "imagePullPolicy");
	result = ic_walk_find(w, at, node, text.data, text.len, find, err);
	if (result == 0 && untagged && find.form == IC_FORM_REFERENCE) {
		find.form = IC_FORM_UNRESOLVED;
		result = ic_buf_add_text(&text, ":<appVersion>", err);
		if (result == 0)
			result = ic_walk_find(w, at, node, text.data, text.len, find, err);
	}
	w->pull_policy = NULL;
	return result;
}

/* ------------------------------------------------------------------ ConfigMaps and documents inside of values */

/* Whether it is worth reading a text as documents: it speaks of images, or a word of it is a reference. */
static bool may_hold_images(const struct ic_node *node)
{
	const char *rest = node->text, *word;
	size_t left = node->len, len;

	if (memmem(node->text, node->len, "image", 5) || memmem(node->text, node->len, "Image", 5))
		return true;
	while ((word = ic_form_next_piece(&rest, &left, " \t\r\n\"'=,[]{}", &len)))
		if (ic_form_elsewhere(word, len) == IC_FORM_REFERENCE)
			return true;
	return false;
}

/* *found: it is documents to its end, of which one is more than a text. */
static int visit_documents(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, bool *found,
                           struct imgcheck_error **err)
{
	struct ic_step step = {.up = at, .kind = IC_STEP_INSIDE};
	struct ic_docs *docs IC_AUTO(docs) = NULL;
	struct ic_walk inner = *w;
	int result = ic_docs_new("value", node->text, node->len, &docs, err);

	inner.nesting++;
	inner.base_line = ic_walk_line(w, node);
	inner.fixed_line |= node->style != IC_STYLE_LITERAL;
	while (result == 0) {
		struct imgcheck_error *ignored IC_AUTO(error) = NULL;
		struct ic_doc *doc IC_AUTO(doc) = NULL;

		/* Most values are no documents: that one cannot be read is no news. */
		if (ic_docs_next(docs, &doc, &ignored) == IMGCHECK_ERR_NOMEM)
			return ic_error_nomem(err);
		*found &= !ignored;
		if (!doc)
			break;
		if (!doc->root || doc->root->kind == IC_NODE_SCALAR)
			continue;
		*found = true;
		result = ic_walk_count_aliases(w, doc, err);
		if (result == 0)
			result = visit_any(&inner, &step, NULL, doc->root, err);
	}
	return result;
}

/* The value of a line "name=value", whose name may say image; false where it is no such line. */
static bool split_property(const char *line, size_t len, struct phrase *out)
{
	const char *end = memchr(line, '=', len);
	size_t name;

	if (!end || strchr("#!;", line[0]))
		return false;
	name = (size_t)(end - line);
	*out = (struct phrase){.text = end + 1, .len = len - name - 1};
	ic_form_trim(&line, &name);
	out->named = ic_name_says_image(line, name);
	return true;
}

/* Such lines among others; those of comments are left out. */
static int visit_properties(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	const char *rest = node->text, *line;
	size_t left = node->len, len;

	while ((line = ic_form_next_piece(&rest, &left, "\r\n", &len))) {
		struct phrase p;
		bool found;
		int result;

		ic_form_trim(&line, &len);
		result = len && split_property(line, len, &p) ? mention(w, at, node, p, &found, err) : 0;
		if (result < 0)
			return result;
	}
	return 0;
}

static bool is_script(const struct ic_step *at, const struct ic_node *node)
{
	const struct ic_node *name = ic_step_name(at);

	return ic_text_starts(node->text, node->len, "#!") ||
	       (ic_node_is(name, IC_NODE_SCALAR) && ic_text_ends(name->text, name->len, ".sh"));
}

/* What a text that is no reference itself holds: a script, documents, or lines of settings. */
static int visit_inside(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	bool found = false;
	int result;

	if (w->nesting >= MAX_NESTING || !may_hold_images(node))
		return 0;
	if (is_script(at, node))
		return visit_shell_text(w, at, node, err);
	result = visit_documents(w, at, node, &found, err);
	return result < 0 || found ? result : visit_properties(w, at, node, err);
}

static int visit_config_value(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	const struct ic_node *name = ic_step_name(at);
	struct ic_find find = {.class = IMGCHECK_CLASS_MENTIONED, .certainty = IC_PARTIAL};
	struct phrase p = {node->text, node->len, ic_node_is(name, IC_NODE_SCALAR) && ic_name_says_image(name->text, name->len)};
	bool found = false;
	int result;

	ic_form_trim(&p.text, &p.len);
	find.form = ic_form_elsewhere(p.text, p.len);
	if (find.form == IC_FORM_OTHER)
		find.form = form_by_name(at, p.text, p.len);
	if (find.form != IC_FORM_OTHER)
		return ic_walk_find(w, at, node, p.text, p.len, find, err);
	if (ic_form_named_image(p.text, p.len) != IC_FORM_UNRESOLVED)
		result = mention_list(w, at, node, p, &found, err);
	else
		result = 0;
	return result < 0 || found ? result : visit_inside(w, at, node, err);
}

/* Values for a chart may be written as one text (Argo CD, k3s). */
static int visit_values(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                        struct imgcheck_error **err)
{
	if (value->kind == IC_NODE_SCALAR && memchr(value->text, '\n', value->len))
		return visit_inside(w, at, value, err);
	return visit_any(w, at, owner, value, err);
}

static int visit_config_data(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner,
                             const struct ic_node *value, struct imgcheck_error **err)
{
	struct ic_step step = {.up = at, .kind = IC_STEP_KEY};

	(void)owner;
	for (const struct ic_item *i = ic_node_items(value); i; i = i->next) {
		int result = 0;

		step.key = i->key;
		if (i->key && i->value->kind == IC_NODE_SCALAR)
			result = visit_config_value(w, &step, i->value, err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* ------------------------------------------------------------------ the table */

/* What a member of a mapping means, by its key.  Whatever is not here is walked through. */
static const struct rule {
	const char *key;
	visit_fn visit;
	const char *kind; /* only in objects of this kind, or NULL */
} rules[] = {
	/* pods, in whatever object they stand */
	{"containers", visit_containers, NULL},
	{"initContainers", visit_containers, NULL},
	{"ephemeralContainers", visit_containers, NULL},
	{"container", visit_container, NULL}, /* Argo workflows, as is script */
	{"script", visit_container, NULL},
	{"steps", visit_containers, NULL},    /* Tekton tasks */
	{"sidecars", visit_containers, NULL},
	{"stepTemplate", visit_container, NULL},
	{"volumes", visit_volumes, NULL},
	{"args", visit_arguments, NULL},
	{"command", visit_arguments, NULL},
	{"env", visit_environment, NULL},
	/* other objects */
	{"image", visit_image, NULL},
	{"images", visit_image_overrides, NULL}, /* kustomize */
	{"parameters", visit_environment, NULL}, /* OpenShift templates, Argo workflows */
	{"params", visit_environment, NULL},     /* Tekton */
	{"url", visit_url, NULL},
	{"to", visit_destination, NULL},
	{"values", visit_values, NULL},
	{"valuesContent", visit_values, NULL},
	{"data", visit_config_data, "ConfigMap"},
	{"metadata", visit_metadata, NULL},
	{"annotations", visit_annotations, NULL},
	/* never */
	{"status", visit_status, NULL},
	{"openAPIV3Schema", skip, NULL},
	{"spec", skip, "CustomResourceDefinition"},
	{"data", skip, "Secret"},
	{"stringData", skip, "Secret"},
};

static const struct rule *find_rule(const struct ic_node *node, const struct ic_node *key)
{
	if (!ic_node_is(key, IC_NODE_SCALAR))
		return NULL;
	for (size_t i = 0; i < IC_COUNT(rules); i++)
		if (key->text[0] == rules[i].key[0] && ic_node_equals(key, rules[i].key) &&
		    (!rules[i].kind || ic_node_equals(ic_node_get(node, "kind"), rules[i].kind)))
			return &rules[i];
	return NULL;
}

static bool is_among(const struct ic_node *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (ic_node_equals(key, *keys))
			return true;
	return false;
}

static int visit_item_list(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, const struct ic_item *i,
                           const char *const *except, struct imgcheck_error **err)
{
	struct ic_step step = {.up = at, .kind = IC_STEP_KEY};

	for (; i; i = i->next) {
		const struct rule *rule = find_rule(node, i->key);
		int result;

		if (is_among(i->key, except))
			continue;
		step.key = i->key;
		result = (rule ? rule->visit : visit_any)(w, &step, node, i->value, err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* All members but those with one of the keys, which the caller has seen; in the end the ones that are written again. */
static int visit_members(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, const char *const *except,
                         struct imgcheck_error **err)
{
	bool outer = w->hidden;
	int result = visit_item_list(w, at, node, node->items, except, err);

	w->hidden = true;
	if (result == 0)
		result = visit_item_list(w, at, node, node->hidden, except, err);
	w->hidden = outer;
	return result;
}

/* An OpenShift object reference: {kind: DockerImage, name: REF}. */
static int visit_docker_image(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	const struct ic_node *name = ic_node_get(node, "name");

	if (!ic_node_is(name, IC_NODE_SCALAR))
		return 0;
	return report(w, at, name, ic_form_in_container(name->text, name->len), IMGCHECK_CLASS_REQUIRED, err);
}

static int visit_mapping(struct ic_walk *w, const struct ic_step *at, const struct ic_node *node, struct imgcheck_error **err)
{
	const struct ic_node *kind = ic_node_get(node, "kind"), *outer = w->object;
	bool in_parts = false;
	int result;

	if (kind && ic_node_equals(kind, "DockerImage"))
		return visit_docker_image(w, at, node, err);
	if (w->nesting == 0 && ic_node_is(kind, IC_NODE_SCALAR) && (!at || ic_node_get(node, "metadata")))
		w->object = node;
	result = visit_parts(w, at, node, &in_parts, err);
	if (result == 0)
		result = visit_members(w, at, node, in_parts ? ic_parts_helm_keys : no_keys, err);
	w->object = outer;
	return result;
}

static int visit_any(struct ic_walk *w, const struct ic_step *at, const struct ic_node *owner, const struct ic_node *value,
                     struct imgcheck_error **err)
{
	(void)owner;
	switch (value->kind) {
	case IC_NODE_SCALAR:
		return visit_scalar(w, at, value, err);
	case IC_NODE_SEQUENCE:
		return visit_items(w, at, value, visit_any, err);
	case IC_NODE_MAPPING:
		return visit_mapping(w, at, value, err);
	}
	return 0;
}

int ic_rules_apply(const struct ic_doc *doc, const struct ic_sink *sink, struct imgcheck_error **err)
{
	struct ic_walk w = {.sink = sink};
	int result = ic_walk_count_aliases(&w, doc, err);

	return result == 0 && doc->root ? visit_any(&w, NULL, NULL, doc->root, err) : result;
}
