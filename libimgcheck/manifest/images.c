/* SPDX-License-Identifier: Apache-2.0 */
#include "images.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

#define LINE_BYTES 16

int imgcheck_images_new(struct imgcheck_images **out)
{
	struct imgcheck_images *s;

	if (!out)
		return IMGCHECK_ERR_ARGUMENT;
	s = calloc(1, sizeof(*s));
	*out = s;
	if (!s)
		return IMGCHECK_ERR_NOMEM;
	ic_vec_init(&s->images, sizeof(struct imgcheck_image *), IC_MAX_IMAGES);
	ic_vec_init(&s->problems, sizeof(struct imgcheck_error *), IC_MAX_PROBLEMS);
	ic_pull_secrets_init(&s->pull_secrets);
	return 0;
}

static void free_image(struct imgcheck_image *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->origins.count; i++)
		free(((struct ic_origin *)ic_vec_at(&m->origins, i))->memory);
	ic_vec_clear(&m->origins);
	ic_ref_clear(&m->ref);
	free(m->text);
	free(m->source);
	free(m->found_host);
	free(m->found_digest);
	free(m);
}

static inline void ic_auto_image(struct imgcheck_image **m)
{
	free_image(*m);
}

static struct imgcheck_image *image_at(const struct imgcheck_images *s, size_t i)
{
	return *(struct imgcheck_image **)ic_vec_at(&s->images, i);
}

void imgcheck_images_free(struct imgcheck_images *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->images.count; i++)
		free_image(image_at(s, i));
	ic_vec_clear(&s->images);
	for (size_t i = 0; i < s->problems.count; i++)
		imgcheck_error_free(*(struct imgcheck_error **)ic_vec_at(&s->problems, i));
	ic_vec_clear(&s->problems);
	ic_pull_secrets_clear(&s->pull_secrets);
	json_decref(s->values);
	free(s);
}

void ic_images_hold(struct imgcheck_images *s)
{
	s->held++;
}

void ic_images_let_go(struct imgcheck_images *s)
{
	s->held--;
}

int ic_images_check_open(const struct imgcheck_images *s, struct imgcheck_error **err)
{
	if (!s)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot change a set of images that is not there");
	if (s->held == 0)
		return 0;
	return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot change a set of images that a run holds");
}

/* Bytes as strcmp() orders them, shorter first. */
static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t least = a_len < b_len ? a_len : b_len;
	int order = least ? memcmp(a, b, least) : 0;

	return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

/* The index of the image `text`, or where it would stand; *found says which. */
static size_t search(const struct imgcheck_images *s, const char *text, size_t len, bool *found)
{
	size_t low = 0, high = s->images.count;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *other = image_at(s, middle)->text;
		int order = compare(text, len, other, strlen(other));

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int new_image(const char *text, size_t len, struct imgcheck_image **out, struct imgcheck_error **err)
{
	struct imgcheck_image *m IC_AUTO(image) = calloc(1, sizeof(*m));
	int result;

	if (!m)
		return ic_error_nomem(err);
	ic_vec_init(&m->origins, sizeof(struct ic_origin), IC_MAX_ORIGINS);
	m->text = ic_text_copy(text, len);
	if (!m->text)
		return ic_error_nomem(err);
	m->valid = ic_ref_is_valid(text, len);
	if (m->valid) {
		result = ic_ref_parse(text, len, &m->ref, err);
		if (result < 0)
			return result;
	}
	*out = IC_TAKE(m);
	return 0;
}

/* The image `text`, made where it is new. */
static int find_or_add(struct imgcheck_images *s, const char *text, size_t len, struct imgcheck_image **out,
                       struct imgcheck_error **err)
{
	struct imgcheck_image *m IC_AUTO(image) = NULL, **slot;
	bool found;
	size_t i = search(s, text, len, &found);
	int result;

	if (found) {
		*out = image_at(s, i);
		return 0;
	}
	result = new_image(text, len, &m, err);
	if (result == 0)
		result = ic_vec_push(&s->images, &m, err);
	if (result < 0)
		return result;
	slot = ic_vec_at(&s->images, i);
	memmove(slot + 1, slot, (s->images.count - 1 - i) * sizeof(struct imgcheck_image *));
	*slot = *out = IC_TAKE(m);
	return 0;
}

/* A copy of text at *at, which moves behind it; NULL stays NULL. */
static char *pack(char **at, const char *text)
{
	char *copy = *at;
	size_t size;

	if (!text)
		return NULL;
	size = strlen(text) + 1;
	memcpy(copy, text, size);
	*at += size;
	return copy;
}

static size_t packed_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static int keep_place(const struct ic_place *p, struct ic_origin *o, struct imgcheck_error **err)
{
	char line[LINE_BYTES], *at;

	*o = (struct ic_origin){.line = p->line, .class = p->class, .certainty = p->certainty};
	(void)snprintf(line, sizeof(line), "%u", p->line);
	o->memory = malloc(packed_size(p->file) + packed_size(p->object) + packed_size(p->path) + packed_size(p->pull_policy) +
	                   packed_size(p->pull_secrets) + packed_size(p->node_arch) + packed_size(p->namespace_) +
	                   packed_size(p->account) + sizeof(line));
	if (!o->memory)
		return ic_error_nomem(err);
	at = o->memory;
	o->file = pack(&at, p->file);
	o->object = pack(&at, p->object);
	o->path = pack(&at, p->path);
	o->pull_policy = pack(&at, p->pull_policy);
	o->pull_secrets = pack(&at, p->pull_secrets);
	o->node_arch = pack(&at, p->node_arch);
	o->namespace_ = pack(&at, p->namespace_);
	o->account = pack(&at, p->account);
	o->line_text = pack(&at, p->line ? line : NULL);
	return 0;
}

int ic_images_add(struct imgcheck_images *s, const char *text, size_t len, const struct ic_place *place,
                  const char *source, struct imgcheck_error **err)
{
	struct ic_buf shown IC_AUTO(buf);
	struct imgcheck_image *m = NULL;
	struct ic_origin o;
	int result = ic_ref_hide_login(&text, &len, &shown, err);

	if (result == 0 && s->origins >= IC_MAX_ORIGINS)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot hold more than %zu places of images", IC_MAX_ORIGINS);
	if (result == 0)
		result = find_or_add(s, text, len, &m, err);
	if (result == 0)
		result = keep_place(place, &o, err);
	if (result < 0)
		return result;
	result = ic_vec_push(&m->origins, &o, err);
	if (result < 0) {
		free(o.memory);
		return result;
	}
	s->origins++;
	if (source && !m->source) {
		m->source = ic_text_copy(source, strlen(source));
		if (!m->source)
			return ic_error_nomem(err);
	}
	return 0;
}

int ic_images_add_problem(struct imgcheck_images *s, struct imgcheck_error **problem, struct imgcheck_error **err)
{
	int result = ic_vec_push(&s->problems, problem, err);

	if (result < 0)
		imgcheck_error_free(*problem);
	*problem = NULL;
	return result;
}

/* Whether all places of the image leave the same open. */
static bool is_all(const struct imgcheck_image *m, enum ic_certainty certainty)
{
	for (size_t i = 0; i < m->origins.count; i++)
		if (((struct ic_origin *)ic_vec_at(&m->origins, i))->certainty != certainty)
			return false;
	return m->origins.count > 0;
}

/* Marks the partial images that end the text of m. */
static void mark_ends(const struct imgcheck_images *s, const struct imgcheck_image *m)
{
	for (const char *slash = strchr(m->text, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool found;
		size_t i = search(s, slash + 1, strlen(slash + 1), &found);

		if (found && is_all(image_at(s, i), IC_PARTIAL))
			image_at(s, i)->surplus = true;
	}
}

/* Whether the image only rewrites another one of the set, the same without tag and digest. */
static bool is_rewrite(const struct imgcheck_images *s, const struct imgcheck_image *m)
{
	const char *slash = strrchr(m->text, '/');
	size_t name = strcspn(m->text, "@");
	const char *colon = memchr(slash ? slash : m->text, ':', name - (slash ? (size_t)(slash - m->text) : 0));
	bool found = false;

	if (!is_all(m, IC_REWRITE))
		return false;
	if (colon)
		name = (size_t)(colon - m->text);
	(void)search(s, m->text, name, &found);
	return found && m->text[name];
}

static void drop_surplus(struct imgcheck_images *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->images.count; i++) {
		struct imgcheck_image *m = image_at(s, i);

		if (m->surplus) {
			s->origins -= m->origins.count;
			free_image(m);
		} else {
			*(struct imgcheck_image **)ic_vec_at(&s->images, kept++) = m;
		}
	}
	s->images.count = kept;
}

void ic_images_settle(struct imgcheck_images *s)
{
	for (size_t i = 0; i < s->images.count; i++) {
		mark_ends(s, image_at(s, i));
		image_at(s, i)->surplus |= is_rewrite(s, image_at(s, i));
	}
	drop_surplus(s);
}

void ic_images_ignore(struct imgcheck_images *s, const struct ic_vec *globs)
{
	for (size_t i = 0; i < s->images.count; i++)
		for (size_t g = 0; g < globs->count; g++)
			if (ic_text_glob(ic_texts_get(globs, g), image_at(s, i)->text))
				image_at(s, i)->ignored = true;
}

int imgcheck_images_set_values(struct imgcheck_images *s, const char *json, size_t len, struct imgcheck_error **err)
{
	json_t *values IC_AUTO(json) = NULL;
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!json && len)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot set values: no text");
	if (len > IC_MAX_VALUES_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot read more than %zu bytes of template values", IC_MAX_VALUES_BYTES);
	result = ic_json_parse("template values", json, len, &values, err);
	if (result < 0)
		return result;
	if (!json_is_object(values))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot use template values that are no JSON object");
	json_decref(s->values);
	s->values = IC_TAKE(values);
	return 0;
}

int imgcheck_images_set_value(struct imgcheck_images *s, const char *name, const char *value, struct imgcheck_error **err)
{
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!name || !*name)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot set a value: no name");
	if (!s->values)
		s->values = json_object();
	if (!s->values)
		return ic_error_nomem(err);
	if (!value) {
		(void)json_object_del(s->values, name);
		return 0;
	}
	if (ic_text_utf8_check(name, strlen(name)) < strlen(name) || ic_text_utf8_check(value, strlen(value)) < strlen(value))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot set the value %s: not UTF-8", name);
	return json_object_set_new(s->values, name, json_string(value)) < 0 ? ic_error_nomem(err) : 0;
}

int imgcheck_images_add_ref(struct imgcheck_images *s, const char *ref, struct imgcheck_error **err)
{
	static const struct ic_place place = {.class = IMGCHECK_CLASS_REQUIRED};
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!ref)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot add a reference: no text");
	if (strlen(ref) > IC_MAX_REF_BYTES)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot take a reference of more than %zu bytes", IC_MAX_REF_BYTES);
	return ic_images_add(s, ref, strlen(ref), &place, NULL, err);
}

/* Whether the set needs the image as much: one that was only hinted at, ignored or never pulled was not needed. */
static bool needs(const struct imgcheck_images *s, const struct imgcheck_image *m)
{
	bool found;
	size_t i = search(s, m->text, strlen(m->text), &found);
	const struct imgcheck_image *other = found ? image_at(s, i) : NULL;

	return other && !other->ignored && imgcheck_image_class(other) <= imgcheck_image_class(m) &&
	       (!ic_image_is_local(other) || ic_image_is_local(m));
}

int imgcheck_images_mark_known(struct imgcheck_images *s, const struct imgcheck_images *before, struct imgcheck_error **err)
{
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!before)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot compare: no set of images");
	for (size_t i = 0; i < s->images.count; i++)
		image_at(s, i)->known |= needs(before, image_at(s, i));
	return 0;
}

int imgcheck_images_mark_found(struct imgcheck_images *s, const char *ref, const char *host, const char *digest,
                               struct imgcheck_error **err)
{
	struct imgcheck_image *m;
	bool found;
	size_t i;
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!ref || !host || !digest)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot mark an image: no reference, host or digest");
	i = search(s, ref, strlen(ref), &found);
	m = found ? image_at(s, i) : NULL;
	if (!m || m->found_digest || !m->valid)
		return 0;
	m->found_host = ic_text_copy(host, strlen(host));
	m->found_digest = m->found_host ? ic_text_copy(digest, strlen(digest)) : NULL;
	return m->found_digest ? 0 : ic_error_nomem(err);
}

int imgcheck_images_subtract(struct imgcheck_images *s, const struct imgcheck_images *before, struct imgcheck_error **err)
{
	int result = ic_images_check_open(s, err);

	if (result < 0)
		return result;
	if (!before || s == before)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot subtract: there are not two sets of images");
	for (size_t i = 0; i < s->images.count; i++)
		image_at(s, i)->surplus = needs(before, image_at(s, i));
	drop_surplus(s);
	return 0;
}

size_t imgcheck_images_count(const struct imgcheck_images *s)
{
	return s ? s->images.count : 0;
}

const struct imgcheck_image *imgcheck_images_get(const struct imgcheck_images *s, size_t i)
{
	return s && i < s->images.count ? image_at(s, i) : NULL;
}

const struct imgcheck_error *imgcheck_images_problem(const struct imgcheck_images *s, size_t i)
{
	return s && i < s->problems.count ? *(struct imgcheck_error **)ic_vec_at(&s->problems, i) : NULL;
}

const char *imgcheck_image_ref(const struct imgcheck_image *m)
{
	return m ? m->text : NULL;
}

const char *imgcheck_image_source(const struct imgcheck_image *m)
{
	return m ? m->source : NULL;
}

const char *imgcheck_image_part(const struct imgcheck_image *m, enum imgcheck_part p)
{
	if (!m)
		return NULL;
	switch (p) {
	case IMGCHECK_PART_REGISTRY:
		return m->ref.registry;
	case IMGCHECK_PART_REPOSITORY:
		return m->ref.repository;
	case IMGCHECK_PART_TAG:
		return m->ref.tag;
	case IMGCHECK_PART_DIGEST:
		return m->ref.digest;
	}
	return NULL;
}

/* The enumerators are in the order of strength. */
enum imgcheck_class imgcheck_image_class(const struct imgcheck_image *m)
{
	enum imgcheck_class class = IMGCHECK_CLASS_HINT;

	for (size_t i = 0; m && i < m->origins.count; i++) {
		const struct ic_origin *o = ic_vec_at(&m->origins, i);

		if (o->class < class)
			class = o->class;
	}
	return class;
}

static const char *class_name(enum imgcheck_class class)
{
	switch (class) {
	case IMGCHECK_CLASS_REQUIRED:
		return "required";
	case IMGCHECK_CLASS_MENTIONED:
		return "mentioned";
	case IMGCHECK_CLASS_HINT:
		return "hint";
	}
	return NULL;
}

const char *imgcheck_image_origin(const struct imgcheck_image *m, size_t i, enum imgcheck_field f)
{
	const struct ic_origin *o = m && i < m->origins.count ? ic_vec_at(&m->origins, i) : NULL;

	if (!o)
		return NULL;
	switch (f) {
	case IMGCHECK_FIELD_FILE:
		return o->file;
	case IMGCHECK_FIELD_LINE:
		return o->line_text;
	case IMGCHECK_FIELD_OBJECT:
		return o->object;
	case IMGCHECK_FIELD_PATH:
		return o->path;
	case IMGCHECK_FIELD_CLASS:
		return class_name(o->class);
	case IMGCHECK_FIELD_PULL_POLICY:
		return o->pull_policy;
	case IMGCHECK_FIELD_PULL_SECRETS:
		return o->pull_secrets;
	case IMGCHECK_FIELD_NODE_ARCH:
		return o->node_arch;
	case IMGCHECK_FIELD_NAMESPACE:
		return o->namespace_;
	}
	return NULL;
}

bool ic_image_is_local(const struct imgcheck_image *m)
{
	for (size_t i = 0; i < m->origins.count; i++) {
		const struct ic_origin *o = ic_vec_at(&m->origins, i);

		if (!o->pull_policy || strcmp(o->pull_policy, "Never") != 0)
			return false;
	}
	return m->origins.count > 0;
}
