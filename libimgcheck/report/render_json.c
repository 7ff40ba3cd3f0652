/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A report as JSON.  Each image is built and written by itself, so that a report with a million places
 * needs the memory of its text alone.  The output is ASCII.
 */

#include "report.h"

#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "verdict.h"

#define FORMAT_VERSION 1

/* ------------------------------------------------------------------ values */

/* new; null for NULL, NULL without memory.  JSON has no place for other bytes than UTF-8: these are escaped. */
static json_t *text_value(const char *text)
{
	struct ic_buf escaped IC_AUTO(buf);
	size_t len = text ? strlen(text) : 0;

	ic_buf_init(&escaped, 4 * len);
	if (!text)
		return json_null();
	if (ic_text_utf8_check(text, len) == len)
		return json_stringn(text, len);
	if (ic_text_escape(&escaped, text, len, 4 * len, NULL) < 0)
		return NULL;
	return json_string(ic_buf_text(&escaped));
}

static json_t *number_value(unsigned number)
{
	return number ? json_integer(number) : json_null();
}

static json_t *texts_value(const struct ic_vec *texts)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < texts->count; i++) {
		if (json_array_append_new(list, text_value(ic_texts_get(texts, i))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Adds a member; value is taken, and *ok becomes false where it or the memory for it is missing. */
static void put(json_t *object, const char *key, json_t *value, bool *ok)
{
	if (json_object_set_new(object, key, value) < 0)
		*ok = false;
}

static void put_known(json_t *object, const char *key, const char *text, bool *ok)
{
	if (text)
		put(object, key, text_value(text), ok);
}

/* The object, or NULL where something in it could not be made. */
static json_t *whole(json_t *object, bool ok)
{
	if (ok)
		return object;
	json_decref(object);
	return NULL;
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

static json_t *origin_value(const struct ic_report_origin *o)
{
	json_t *value = json_object();
	bool ok = value != NULL;

	put(value, "file", text_value(o->file), &ok);
	put(value, "line", number_value(o->line), &ok);
	put(value, "object", text_value(o->object), &ok);
	put(value, "path", text_value(o->path), &ok);
	put(value, "class", text_value(class_name(o->class)), &ok);
	put(value, "pullPolicy", text_value(o->pull_policy), &ok);
	put_known(value, "pullSecrets", o->pull_secrets, &ok);
	put_known(value, "nodeArch", o->node_arch, &ok);
	put_known(value, "namespace", o->namespace_, &ok);
	return whole(value, ok);
}

static json_t *origins_value(const struct ic_vec *origins)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < origins->count; i++) {
		if (json_array_append_new(list, origin_value(ic_vec_at(origins, i))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *image_value(const struct ic_report_image *m)
{
	const struct ic_result *r = &m->result;
	json_t *value = json_object();
	bool ok = value != NULL;

	put(value, "reference", text_value(ic_report_image_reference(m)), &ok);
	put(value, "verdict", text_value(imgcheck_verdict_name(r->verdict)), &ok);
	put(value, "class", text_value(imgcheck_outcome_name(m->outcome)), &ok);
	put(value, "effect", text_value(imgcheck_decision_name(m->effect)), &ok);
	put(value, "reason", text_value(r->reason), &ok);
	put(value, "host", text_value(r->host), &ok);
	put(value, "digest", text_value(r->digest), &ok);
	put(value, "platform", text_value(r->platform), &ok);
	put(value, "credentials", text_value(r->credentials), &ok);
	put(value, "origins", origins_value(&m->origins), &ok);
	put(value, "written", text_value(m->text), &ok);
	put(value, "source", text_value(m->source), &ok);
	put(value, "proxy", text_value(r->proxy), &ok);
	return whole(value, ok);
}

static json_t *problem_value(const struct ic_report_problem *x)
{
	bool finding = x->outcome == IMGCHECK_OUTCOME_OK;
	json_t *value = json_object();
	bool ok = value != NULL;

	put(value, "class", text_value(finding ? "finding" : imgcheck_outcome_name(x->outcome)), &ok);
	put(value, "file", text_value(x->place), &ok);
	put(value, "line", number_value(x->line), &ok);
	put(value, "message", text_value(x->message), &ok);
	put(value, "column", number_value(x->column), &ok);
	put(value, "effect", text_value(imgcheck_decision_name(x->effect)), &ok);
	return whole(value, ok);
}

/* What stands behind every verdict: from where, for what and how far it was asked. */
static json_t *viewpoint_value(const struct imgcheck_report *p)
{
	json_t *value = json_object();
	bool ok = value != NULL;

	put(value, "askedFrom", text_value("this host"), &ok);
	put(value, "platforms", texts_value(&p->platforms), &ok);
	put(value, "depth", text_value(p->depth), &ok);
	return whole(value, ok);
}

/* ------------------------------------------------------------------ output */

/* Writes and takes the value; NULL is lack of memory. */
static int dump(struct ic_buf *out, json_t *value, struct imgcheck_error **err)
{
	int result = value ? ic_json_dump(out, value, JSON_ENSURE_ASCII, err) : ic_error_nomem(err);

	json_decref(value);
	return result;
}

static int dump_member(struct ic_buf *out, const char *key, json_t *value, struct imgcheck_error **err)
{
	int result = ic_buf_printf(out, err, ",\n \"%s\": ", key);

	if (result < 0) {
		json_decref(value);
		return result;
	}
	return dump(out, value, err);
}

/* How many results and problems have the outcome; a finding among the problems is none. */
static size_t count_outcome(const struct imgcheck_report *p, enum imgcheck_outcome o)
{
	const struct ic_report_problem *x;
	const struct ic_report_image *m;
	size_t count = 0;

	for (size_t i = 0; (m = ic_report_image(p, i)) != NULL; i++)
		count += m->outcome == o;
	for (size_t i = 0; (x = ic_report_problem(p, i)) != NULL; i++)
		count += x->outcome == o && o != IMGCHECK_OUTCOME_OK;
	return count;
}

static json_t *counts_value(const struct imgcheck_report *p)
{
	json_t *value = json_object();
	bool ok = value != NULL;

	for (int o = IMGCHECK_OUTCOME_OK; o <= IMGCHECK_OUTCOME_INTERNAL; o++) {
		size_t count = count_outcome(p, (enum imgcheck_outcome)o);

		if (count || o == IMGCHECK_OUTCOME_OK)
			put(value, imgcheck_outcome_name((enum imgcheck_outcome)o), json_integer((json_int_t)count), &ok);
	}
	return whole(value, ok);
}

static int dump_head(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = ic_buf_printf(out, err, "{\"version\": %d, \"decision\": \"%s\", \"counts\": ", FORMAT_VERSION,
	                           imgcheck_decision_name(p->decision));

	return result < 0 ? result : dump(out, counts_value(p), err);
}

static int dump_images(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err)
{
	const struct ic_report_image *m;
	int result = ic_buf_add_text(out, ",\n \"images\": [", err);

	for (size_t i = 0; result == 0 && (m = ic_report_image(p, i)) != NULL; i++) {
		result = ic_buf_add_text(out, i ? ",\n  " : "\n  ", err);
		if (result == 0)
			result = dump(out, image_value(m), err);
	}
	return result < 0 ? result : ic_buf_add_text(out, "]", err);
}

static int dump_problems(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err)
{
	const struct ic_report_problem *x;
	int result = ic_buf_add_text(out, ",\n \"problems\": [", err);

	for (size_t i = 0; result == 0 && (x = ic_report_problem(p, i)) != NULL; i++) {
		result = ic_buf_add_text(out, i ? ",\n  " : "\n  ", err);
		if (result == 0)
			result = dump(out, problem_value(x), err);
	}
	return result < 0 ? result : ic_buf_add_text(out, "]", err);
}

int ic_report_render_json(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = dump_head(p, out, err);

	if (result == 0)
		result = dump_images(p, out, err);
	if (result == 0)
		result = dump_problems(p, out, err);
	if (result == 0)
		result = dump_member(out, "viewpoint", viewpoint_value(p), err);
	if (result == 0)
		result = dump_member(out, "subject", text_value(p->subject), err);
	if (result == 0)
		result = dump_member(out, "consequence", text_value(p->consequence), err);
	return result < 0 ? result : ic_buf_add_text(out, "}\n", err);
}
