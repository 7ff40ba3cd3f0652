/* SPDX-License-Identifier: Apache-2.0 */
#include "token.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "registry/url.h"
#include "source/base64.h"

#define MAX_SCOPES 64

bool ic_token_realm_is_usable(const char *realm)
{
	struct ic_url url;

	return ic_url_parse(realm, &url);
}

static int compare(const char *a, size_t len, const char *b)
{
	size_t b_len = strlen(b);
	int order = memcmp(a, b, len < b_len ? len : b_len);

	return order ? order : (len > b_len) - (len < b_len);
}

static int add_scope(struct ic_vec *scopes, const char *text, size_t len, bool *grown, struct imgcheck_error **err)
{
	size_t at = 0;
	char *added;
	int result;

	while (at < scopes->count && compare(text, len, ic_texts_get(scopes, at)) > 0)
		at++;
	if (at < scopes->count && compare(text, len, ic_texts_get(scopes, at)) == 0)
		return 0;
	result = ic_texts_push(scopes, text, len, err);
	if (result < 0)
		return result;
	added = *(char **)ic_vec_at(scopes, scopes->count - 1);
	memmove((char **)scopes->items + at + 1, (char **)scopes->items + at, (scopes->count - 1 - at) * sizeof(char *));
	((char **)scopes->items)[at] = added;
	*grown = true;
	return 0;
}

int ic_token_add_scopes(struct ic_vec *scopes, const char *wanted, const char *challenged, bool *grown,
                        struct imgcheck_error **err)
{
	int result;

	*grown = false;
	result = add_scope(scopes, wanted, strlen(wanted), grown, err);
	while (result == 0 && challenged && scopes->count < MAX_SCOPES) {
		size_t len = strcspn(challenged, " ");

		result = add_scope(scopes, challenged, len, grown, err);
		challenged = challenged[len] ? challenged + len + 1 : NULL;
	}
	return result;
}

static bool has_text(const char *text)
{
	return text && text[0];
}

enum ic_token_way ic_token_first_way(const struct ic_profile *profile, const struct ic_login *login)
{
	return (has_text(login->secret) && profile->password_by_post) || has_text(login->identity_token) ? IC_TOKEN_POST : IC_TOKEN_GET;
}

bool ic_token_falls_back(const struct ic_profile *profile, const struct ic_login *login, long status)
{
	if (!profile->post_falls_back)
		return false;
	if (status == 405)
		return !has_text(login->identity_token) && has_text(login->user);
	return status == 404 || status == 401 || status == 400;
}

static int add_pair(struct ic_buf *out, char separator, const char *name, const char *value, struct imgcheck_error **err)
{
	int result = separator ? ic_buf_add_char(out, separator, err) : 0;

	if (result == 0)
		result = ic_buf_printf(out, err, "%s=", name);
	return result == 0 ? ic_url_add_component(out, value, err) : result;
}

static int join_scopes(const struct ic_vec *scopes, struct ic_buf *out, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < scopes->count; i++) {
		result = i ? ic_buf_add_char(out, ' ', err) : 0;
		if (result == 0)
			result = ic_buf_add_text(out, ic_texts_get(scopes, i), err);
	}
	return result;
}

/* In the order of the names, as Go encodes a form. */
static int build_form(const struct ic_token_request *r, struct ic_buf *form, struct imgcheck_error **err)
{
	bool refresh = has_text(r->login->identity_token);
	struct ic_buf joined IC_AUTO(buf);
	int result;

	ic_buf_init(&joined, MAX_SCOPES * IC_MAX_URL_BYTES);
	result = join_scopes(r->scopes, &joined, err);
	if (result == 0) {
		const struct {
			const char *name, *value; /* NULL: not sent */
		} pairs[] = {
			{"client_id", r->profile->client},
			{"grant_type", refresh ? "refresh_token" : "password"},
			{"password", refresh ? NULL : r->login->secret},
			{"refresh_token", refresh ? r->login->identity_token : NULL},
			{"scope", ic_buf_text(&joined)},
			{"service", r->service || !r->profile->empty_service ? r->service : ""},
			{"username", refresh ? NULL : r->login->user},
		};

		for (size_t i = 0; result == 0 && i < IC_COUNT(pairs); i++)
			if (pairs[i].value)
				result = add_pair(form, form->len ? '&' : '\0', pairs[i].name, pairs[i].value, err);
	}
	return result;
}

/* The realm may have a query of its own: the parameters join it. */
static int build_query(const struct ic_token_request *r, struct ic_buf *url, struct imgcheck_error **err)
{
	char separator = strchr(r->realm, '?') ? '&' : '?';
	int result = 0;

	if (!r->profile->password_by_post && has_text(r->login->user)) {
		result = add_pair(url, separator, "account", r->login->user, err);
		separator = '&';
	}
	if (result == 0 && has_text(r->service)) {
		result = add_pair(url, separator, "service", r->service, err);
		separator = '&';
	}
	for (size_t i = 0; result == 0 && i < r->scopes->count; i++) {
		result = add_pair(url, separator, "scope", ic_texts_get(r->scopes, i), err);
		separator = '&';
	}
	return result;
}

int ic_token_build(const struct ic_token_request *request, enum ic_token_way way, struct ic_buf *url,
                   struct ic_buf *form, struct imgcheck_error **err)
{
	int result = ic_buf_add(url, request->realm, strcspn(request->realm, "#"), err);

	if (result < 0)
		return result;
	return way == IC_TOKEN_POST ? build_form(request, form, err) : build_query(request, url, err);
}

int ic_token_add_basic(const struct ic_login *login, struct ic_buf *out, struct imgcheck_error **err)
{
	bool refresh = has_text(login->identity_token);
	const char *user = !refresh && login->user ? login->user : "";
	const char *secret = refresh ? login->identity_token : login->secret ? login->secret : "";
	struct ic_buf pair IC_AUTO(buf);
	int result;

	ic_buf_init_secret(&pair, IC_MAX_CONFIG_BYTES);
	result = ic_buf_printf(&pair, err, "%s:%s", user, secret);
	if (result == 0)
		result = ic_buf_add_text(out, "Authorization: Basic ", err);
	return result == 0 ? ic_base64_encode(ic_buf_text(&pair), pair.len, out, err) : result;
}

/* ------------------------------------------------------------------ answers */

static int unreadable(struct imgcheck_error **err, const char *why)
{
	return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot use the token answer: %s", why);
}

/* "2006-01-02T15:04:05", then anything: enough to tell a time from a number or nothing (RFC 3339). */
static bool is_time(const char *text)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	size_t len = sizeof(form) - 1;

	if (strlen(text) <= len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (form[i] == 'd' ? !ic_is_digit(text[i]) : text[i] != form[i])
			return false;
	return true;
}

/* Go decodes strictly: a member of another type fails the whole answer; null is as good as absent. */
static int check_types(const json_t *answer, struct imgcheck_error **err)
{
	static const char *const texts[] = {"token", "access_token", "refresh_token"};
	const json_t *expires = json_object_get(answer, "expires_in"), *issued = json_object_get(answer, "issued_at");

	if (!json_is_object(answer))
		return unreadable(err, "it is not a JSON object");
	for (size_t i = 0; i < IC_COUNT(texts); i++) {
		const json_t *value = json_object_get(answer, texts[i]);

		if (value && !json_is_string(value) && !json_is_null(value))
			return unreadable(err, "a token in it is not a string");
	}
	if (expires && !json_is_integer(expires) && !json_is_null(expires))
		return unreadable(err, "expires_in is not a number");
	if (issued && !json_is_null(issued) && (!json_is_string(issued) || !is_time(json_string_value(issued))))
		return unreadable(err, "issued_at is not a time");
	return 0;
}

/* A token goes into a header line: nothing but visible ASCII may stand in it. */
static bool is_sendable(const char *token)
{
	for (; *token; token++)
		if (*token <= ' ' || *token > '~')
			return false;
	return true;
}

/* The token, "" where the runtime goes on without; else NULL, and *why tells what is missing. */
static const char *choose_token(const struct ic_profile *profile, enum ic_token_way way, const json_t *answer, const char **why)
{
	const char *access = ic_json_text(answer, "access_token"), *token = ic_json_text(answer, "token");

	if (profile->token_member_first)
		return has_text(token) ? token : has_text(access) ? access : "";
	if (way == IC_TOKEN_GET && !has_text(access))
		access = token;
	*why = way == IC_TOKEN_POST ? "it has no access_token" : "it has no token";
	return has_text(access) ? access : NULL;
}

int ic_token_read(const struct ic_token_answer *from, char **token, size_t *seconds, struct imgcheck_error **err)
{
	json_t *answer IC_AUTO(secret_json) = NULL;
	const char *text, *missing = NULL;
	json_int_t life;
	int result = ic_json_parse_secret(NULL, from->body, from->len, &answer, NULL);

	*token = NULL;
	*seconds = 0;
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result < 0)
		return unreadable(err, "it is not JSON");
	result = check_types(answer, err);
	if (result < 0)
		return result;
	text = choose_token(from->profile, from->way, answer, &missing);
	if (!text)
		return unreadable(err, missing);
	if (!is_sendable(text))
		return unreadable(err, "the token holds blanks or control bytes");
	life = json_integer_value(json_object_get(answer, "expires_in"));
	*seconds = life > 0 ? (size_t)life : 0;
	*token = ic_text_copy(text, strlen(text));
	return *token ? 0 : ic_error_nomem(err);
}
