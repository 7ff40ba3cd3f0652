/* SPDX-License-Identifier: Apache-2.0 */

/* What a node would ask for an image, told without asking (imgcheck_config_explain). */

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/config.h"
#include "source/endpoint.h"
#include "source/mirror.h"
#include "source/secret.h"

#define MAX_TEXT_BYTES 1024

IC_DEFINE_AUTO(plain_json, json_t, json_decref)

static int make_url(const struct ic_endpoint *e, const struct ic_ref *asked, struct ic_buf *out, struct imgcheck_error **err)
{
	return ic_buf_printf(out, err, "%s://%s%s/%s/manifests/%s%s%s", e->scheme, e->host, e->base_path, e->repository,
	                     asked->digest ? asked->digest : asked->tag, e->ns ? "?ns=" : "", e->ns ? e->ns : "");
}

/* What the connection is worth. */
static const char *trust_words(const struct ic_endpoint *e)
{
	if (strcmp(e->scheme, "http") == 0)
		return "none";
	return e->skip_verify ? "insecure" : "verified";
}

/* Names of the header fields alone: their values may be secrets. */
static json_t *header_names(const struct ic_endpoint *e)
{
	json_t *names = json_array();
	const char *line;

	for (size_t i = 0; names && (line = ic_texts_get(&e->header, i)); i++)
		if (json_array_append_new(names, json_stringn(line, strcspn(line, ":"))) < 0) {
			json_decref(names);
			return NULL;
		}
	return names;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static int describe(const struct ic_endpoint *e, const struct ic_ref *asked, json_t **out, struct imgcheck_error **err)
{
	struct ic_buf url IC_AUTO(buf);
	char *proxy IC_AUTO(free) = NULL;
	int result;

	ic_buf_init(&url, IC_MAX_OPTION_BYTES);
	result = make_url(e, asked, &url, err);
	if (result == 0)
		result = ic_mirror_hide_login(e->proxy, &proxy, err);
	if (result < 0)
		return result;
	*out = json_pack("{s:s, s:s, s:b, s:b, s:b, s:s, s:b, s:b, s:b, s:o, s:s, s:o, s:o, s:o}", "url", ic_buf_text(&url), "host",
	                 e->host, "mirror", !e->upstream, "resolves", e->resolve, "serves", e->pull, "tls", trust_words(e),
	                 "ownAuthority", e->tls && e->tls->ca.len, "clientCertificate", e->tls && e->tls->client.len,
	                 "httpFallback", e->http_fallback, "header", header_names(e),
	                 "credentials", e->login.source ? e->login.source : "none", "proxy", text_or_null(proxy[0] ? proxy : NULL),
	                 "proxySource", text_or_null(e->proxy_source), "broken", text_or_null(e->broken));
	return *out ? 0 : ic_error_nomem(err);
}

/* What the configuration does not use, and why. */
static json_t *describe_problems(const struct imgcheck_config *c)
{
	const struct imgcheck_error *problem;
	json_t *list = json_array();

	for (size_t i = 0; list && (problem = ic_config_problem(c, i)); i++) {
		unsigned line;
		const char *place = imgcheck_error_place(problem, &line, NULL);
		json_t *one = json_pack("{s:o, s:o, s:s}", "file", text_or_null(place), "line", line ? json_integer(line) : json_null(),
		                        "message", imgcheck_error_message(problem));

		if (json_array_append_new(list, one) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int describe_all(const struct imgcheck_config *c, const char *ref, const struct ic_endpoints *found,
                        json_t **out, struct imgcheck_error **err)
{
	json_t *list = json_array(), *all IC_AUTO(plain_json) = NULL;
	const struct ic_ref *asked = &found->asked;
	int result = 0;

	for (size_t i = 0; list && i < found->list.count && result == 0; i++) {
		json_t *one = NULL;

		result = describe(ic_vec_at(&found->list, i), asked, &one, err);
		if (result == 0 && json_array_append_new(list, one) < 0)
			result = ic_error_nomem(err);
	}
	all = json_pack("{s:s, s:s, s:s, s:o, s:o}", "reference", ref, "registry", asked->registry, "repository", asked->repository,
	                "endpoints", list, "problems", describe_problems(c));
	if (result == 0 && !all)
		result = ic_error_nomem(err);
	if (result == 0 && found->reason &&
	    (json_object_set_new(all, "verdict", json_string(imgcheck_verdict_name(found->verdict))) < 0 ||
	     json_object_set_new(all, "reason", json_string(found->reason)) < 0))
		result = ic_error_nomem(err);
	if (result == 0)
		*out = IC_TAKE(all);
	return result;
}

/* ------------------------------------------------------------------ text */

static const char *member(const json_t *object, const char *name)
{
	return ic_json_text(object, name);
}

static int add_foreign(struct ic_buf *out, const char *text, struct imgcheck_error **err)
{
	return ic_text_escape(out, text, strlen(text), MAX_TEXT_BYTES, err);
}

static bool is_true(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

static int print_trust(const json_t *e, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *tls = member(e, "tls");

	if (strcmp(tls, "none") == 0)
		return ic_buf_add_text(out, "   connection: plain http\n", err);
	return ic_buf_printf(out, err, "   connection: TLS, %s%s%s%s\n",
	                     strcmp(tls, "insecure") == 0 ? "certificate not verified (insecure)" : "certificate verified",
	                     is_true(e, "ownAuthority") ? ", authorities of its own" : "",
	                     is_true(e, "clientCertificate") ? ", client certificate" : "",
	                     is_true(e, "httpFallback") ? "; plain http where it speaks no TLS" : "");
}

static int print_proxy(const json_t *e, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *source = member(e, "proxySource");
	int result = ic_buf_add_text(out, "   proxy: ", err);

	if (result == 0)
		result = add_foreign(out, member(e, "proxy") ? member(e, "proxy") : "none", err);
	if (result == 0 && source)
		result = ic_buf_printf(out, err, " (%s)", source);
	return result < 0 ? result : ic_buf_add_char(out, '\n', err);
}

static int print_header(const json_t *e, struct ic_buf *out, struct imgcheck_error **err)
{
	const json_t *names = json_object_get(e, "header"), *name;
	int result = 0;
	size_t i;

	json_array_foreach(names, i, name) {
		result = result == 0 ? ic_buf_add_text(out, i ? ", " : "   header fields: ", err) : result;
		result = result == 0 ? add_foreign(out, json_string_value(name), err) : result;
	}
	return result == 0 && json_array_size(names) ? ic_buf_add_char(out, '\n', err) : result;
}

static int print_endpoint(const json_t *e, size_t number, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = ic_buf_printf(out, err, "%zu. ", number);

	if (result == 0)
		result = add_foreign(out, member(e, "url"), err);
	if (result == 0)
		result = ic_buf_printf(out, err, "\n   %s%s%s\n", is_true(e, "mirror") ? "mirror" : "upstream",
		                       is_true(e, "resolves") ? "" : ", not asked for tags",
		                       is_true(e, "serves") ? "" : ", not asked for content");
	if (result == 0 && member(e, "broken"))
		result = ic_buf_printf(out, err, "   not asked: %s\n", member(e, "broken"));
	if (result == 0)
		result = ic_buf_printf(out, err, "   credentials: %s\n", member(e, "credentials"));
	if (result == 0)
		result = print_trust(e, out, err);
	if (result == 0)
		result = print_proxy(e, out, err);
	return result < 0 ? result : print_header(e, out, err);
}

static int print_problem(const json_t *problem, struct ic_buf *out, struct imgcheck_error **err)
{
	const char *file = member(problem, "file");
	json_int_t line = json_integer_value(json_object_get(problem, "line"));
	int result = ic_buf_add_text(out, "note: ", err);

	if (result == 0 && file)
		result = add_foreign(out, file, err);
	if (result == 0 && file && line > 0)
		result = ic_buf_printf(out, err, ":%" JSON_INTEGER_FORMAT, line);
	return result < 0 ? result : ic_buf_printf(out, err, "%s%s\n", file ? ": " : "", member(problem, "message"));
}

static int print_text(const json_t *all, struct ic_buf *out, struct imgcheck_error **err)
{
	const json_t *endpoints = json_object_get(all, "endpoints"), *e;
	const char *reason = member(all, "reason");
	int result = add_foreign(out, member(all, "reference"), err);
	size_t i;

	if (result == 0)
		result = ic_buf_printf(out, err, ", asked for as %s of %s\n", member(all, "repository"), member(all, "registry"));
	json_array_foreach(endpoints, i, e)
		result = result == 0 ? print_endpoint(e, i + 1, out, err) : result;
	json_array_foreach(json_object_get(all, "problems"), i, e)
		result = result == 0 ? print_problem(e, out, err) : result;
	if (result == 0 && reason)
		result = ic_buf_printf(out, err, "nobody is asked: %s\n%s\n", reason, member(all, "verdict"));
	return result;
}

static int print_json(const json_t *all, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = ic_json_dump(out, all, JSON_INDENT(1) | JSON_ENSURE_ASCII, err);

	return result < 0 ? result : ic_buf_add_char(out, '\n', err);
}

static int explain(const struct imgcheck_config *c, const char *text, enum imgcheck_format f, struct ic_buf *out,
                   struct imgcheck_error **err)
{
	struct ic_endpoints found IC_AUTO(endpoints) = {0};
	struct ic_ref ref IC_AUTO(ref) = {0};
	json_t *all IC_AUTO(plain_json) = NULL;
	int result = ic_ref_parse(text, strlen(text), &ref, err);

	if (result < 0)
		return result;
	result = ic_endpoints_find(c, &ref, &found, err);
	if (result == 0)
		result = describe_all(c, text, &found, &all, err);
	if (result < 0)
		return result;
	switch (f) {
	case IMGCHECK_FORMAT_TEXT:
		return print_text(all, out, err);
	case IMGCHECK_FORMAT_JSON:
		return print_json(all, out, err);
	}
	return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot explain in an unknown format");
}

int imgcheck_config_explain(const struct imgcheck_config *c, const char *ref, enum imgcheck_format f, char **out, size_t *len,
                            struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_REPORT_BYTES);
	if (out)
		*out = NULL;
	if (len)
		*len = 0;
	if (!c || !ref || !out)
		return ic_error_set(err, IMGCHECK_ERR_ARGUMENT, "cannot explain without a config, a reference and a place for the text");
	result = explain(c, ref, f, &text, err);
	if (result < 0)
		return result;
	if (len)
		*len = text.len;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}
