/* SPDX-License-Identifier: Apache-2.0 */
#include "source/authfile.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/base64.h"
#include "source/secret.h"

static int broken(const struct ic_authfile *f, enum imgcheck_err code, const char *key, const char *what,
                  struct imgcheck_error **err)
{
	return ic_error_set_at(err, code, f->name, 0, 0, "cannot use the entry \"%s\": %s", key, what);
}

static void entry_clear(struct ic_auth_entry *e)
{
	free(e->key);
	ic_secret_free(e->auth_user);
	ic_secret_free(e->auth_secret);
	ic_secret_free(e->user);
	ic_secret_free(e->secret);
	ic_secret_free(e->identity_token);
}

void ic_authfile_clear(struct ic_authfile *f)
{
	for (size_t i = 0; i < f->entries.count; i++)
		entry_clear(ic_vec_at(&f->entries, i));
	for (size_t i = 0; i < f->helpers.count; i++) {
		struct ic_auth_helper *helper = ic_vec_at(&f->helpers, i);

		free(helper->key);
		free(helper->name);
	}
	ic_vec_clear(&f->entries);
	ic_vec_clear(&f->helpers);
	free(f->name);
	f->name = NULL;
}

/* The kubelet takes base64 without padding too. */
static int decode(const char *auth, size_t len, struct ic_buf *plain, bool *unpadded)
{
	int result = ic_base64_decode(auth, len, IC_BASE64_PADDED, plain, NULL);

	*unpadded = result == IMGCHECK_ERR_SYNTAX;
	if (!*unpadded)
		return result;
	plain->len = 0;
	return ic_base64_decode(auth, len, IC_BASE64_UNPADDED, plain, NULL);
}

/* "user:secret" in base64: the first colon parts them, a secret may hold more. */
static int decode_auth(const struct ic_authfile *f, struct ic_auth_entry *e, const char *auth, size_t len,
                       struct imgcheck_error **err)
{
	struct ic_buf plain IC_AUTO(buf);
	const char *colon;
	int result;

	ic_buf_init_secret(&plain, IC_MAX_CONFIG_BYTES);
	result = decode(auth, len, &plain, &e->unpadded);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result < 0)
		return broken(f, IMGCHECK_ERR_CONFIG, e->key, "its auth is not base64", err);
	colon = plain.len ? memchr(plain.data, ':', plain.len) : NULL;
	if (!colon)
		return broken(f, IMGCHECK_ERR_CONFIG, e->key, "its auth is not user:password in base64", err);
	if (memchr(plain.data, '\0', plain.len))
		return broken(f, IMGCHECK_ERR_CONFIG, e->key, "its auth holds a NUL byte", err);
	e->auth_user = ic_text_copy(plain.data, (size_t)(colon - plain.data));
	e->auth_secret = ic_text_copy(colon + 1, plain.len - (size_t)(colon - plain.data) - 1);
	return e->auth_user && e->auth_secret ? 0 : ic_error_nomem(err);
}

/* A copy of a member that may be absent, null or empty, which leaves *out NULL. */
static int take_text(const struct ic_authfile *f, const struct ic_auth_entry *e, const json_t *object,
                     const char *member, char **out, struct imgcheck_error **err)
{
	const json_t *value = ic_json_member(object, member);
	size_t len = json_string_length(value);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value) || strlen(json_string_value(value)) != len)
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, f->name, 0, 0,
		                       "cannot use the entry \"%s\": its %s is not a text", e->key, member);
	if (len == 0)
		return 0;
	*out = ic_text_copy(json_string_value(value), len);
	return *out ? 0 : ic_error_nomem(err);
}

static int fill_entry(const struct ic_authfile *f, struct ic_auth_entry *e, const char *key, const json_t *object,
                      struct imgcheck_error **err)
{
	char *auth IC_AUTO(secret) = NULL;
	int result;

	e->key = ic_text_copy(key, strlen(key));
	if (!e->key)
		return ic_error_nomem(err);
	if (!json_is_object(object))
		return broken(f, IMGCHECK_ERR_SYNTAX, key, "it is not an object", err);
	result = take_text(f, e, object, "auth", &auth, err);
	if (result == 0)
		result = take_text(f, e, object, "username", &e->user, err);
	if (result == 0)
		result = take_text(f, e, object, "password", &e->secret, err);
	if (result == 0)
		result = take_text(f, e, object, "identitytoken", &e->identity_token, err);
	if (result == 0 && auth)
		result = decode_auth(f, e, auth, strlen(auth), err);
	return result;
}

static int add_entries(struct ic_authfile *f, json_t *auths, struct imgcheck_error **err)
{
	const char *key;
	json_t *object;

	json_object_foreach(auths, key, object) {
		struct ic_auth_entry e = {0};
		int result = fill_entry(f, &e, key, object, err);

		if (result == 0)
			result = ic_vec_push(&f->entries, &e, err);
		if (result < 0) {
			entry_clear(&e);
			return result;
		}
	}
	return 0;
}

static int add_helper(struct ic_authfile *f, const char *key, const json_t *name, struct imgcheck_error **err)
{
	struct ic_auth_helper helper = {0};
	int result;

	if (!json_is_string(name))
		return broken(f, IMGCHECK_ERR_SYNTAX, key ? key : "credsStore", "the name of a credential helper is not a text",
		              err);
	if (json_string_length(name) == 0)
		return 0;
	helper.key = key ? ic_text_copy(key, strlen(key)) : NULL;
	helper.name = ic_text_copy(json_string_value(name), json_string_length(name));
	if (!helper.name || (key && !helper.key))
		result = ic_error_nomem(err);
	else
		result = ic_vec_push(&f->helpers, &helper, err);
	if (result < 0) {
		free(helper.key);
		free(helper.name);
	}
	return result;
}

static int add_helpers(struct ic_authfile *f, json_t *root, struct imgcheck_error **err)
{
	json_t *helpers = ic_json_member(root, "credHelpers"), *store = ic_json_member(root, "credsStore"), *name;
	const char *key;
	int result = 0;

	if (helpers && !json_is_object(helpers) && !json_is_null(helpers))
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, f->name, 0, 0, "cannot use credHelpers: it is not an object");
	json_object_foreach(helpers, key, name) {
		result = add_helper(f, key, name, err);
		if (result < 0)
			return result;
	}
	return store && !json_is_null(store) ? add_helper(f, NULL, store, err) : result;
}

/* The older .dockercfg: the entries stand at the top. */
static bool is_dockercfg(json_t *root)
{
	const char *key;
	json_t *value;

	json_object_foreach(root, key, value)
		if (json_is_string(ic_json_member(value, "auth")) || json_is_string(ic_json_member(value, "username")))
			return true;
	return false;
}

/* What the text may be; SHAPE_ANY is a file, in which a Secret may stand. */
enum shape { SHAPE_ANY, SHAPE_AUTHS, SHAPE_ENTRIES };

static int parse_text(struct ic_authfile *f, const char *text, size_t len, enum shape shape, struct imgcheck_error **err);

/* A Secret of type kubernetes.io/dockerconfigjson or dockercfg: the file in base64, or plain in stringData. */
static int parse_secret(struct ic_authfile *f, const json_t *secret, struct imgcheck_error **err)
{
	static const char *const members[] = {".dockerconfigjson", ".dockercfg"};
	static const enum shape shapes[] = {SHAPE_AUTHS, SHAPE_ENTRIES};
	struct ic_buf plain IC_AUTO(buf);

	ic_buf_init_secret(&plain, IC_MAX_CONFIG_BYTES);
	for (size_t i = 0; i < IC_COUNT(members); i++) {
		const json_t *text = json_object_get(json_object_get(secret, "stringData"), members[i]);
		const json_t *data = json_object_get(json_object_get(secret, "data"), members[i]);

		if (json_is_string(text))
			return parse_text(f, json_string_value(text), json_string_length(text), shapes[i], err);
		if (!json_is_string(data))
			continue;
		if (ic_base64_decode(json_string_value(data), json_string_length(data), IC_BASE64_PADDED, &plain, err) < 0) {
			ic_error_prefix(err, "cannot use %s of the Secret: ", members[i]);
			ic_error_place(err, f->name, 0, 0);
			return err ? (int)imgcheck_error_code(*err) : IMGCHECK_ERR_SYNTAX;
		}
		return parse_text(f, ic_buf_text(&plain), plain.len, shapes[i], err);
	}
	return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, f->name, 0, 0,
	                       "cannot use the Secret: it has neither .dockerconfigjson nor .dockercfg");
}

static int parse_object(struct ic_authfile *f, json_t *root, enum shape shape, struct imgcheck_error **err)
{
	json_t *auths = shape == SHAPE_ENTRIES ? root : ic_json_member(root, "auths");
	const char *kind = shape == SHAPE_ANY ? ic_json_text(root, "kind") : NULL;
	int result;

	if (!json_is_object(root) || (auths && !json_is_object(auths) && !json_is_null(auths)))
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, f->name, 0, 0,
		                       "cannot use this file: an object with \"auths\" is expected");
	if (kind && strcmp(kind, "Secret") == 0)
		return parse_secret(f, root, err);
	if (shape == SHAPE_ANY && !auths && is_dockercfg(root))
		auths = root;
	result = add_entries(f, auths, err);
	return result < 0 || shape != SHAPE_ANY ? result : add_helpers(f, root, err);
}

static int parse_text(struct ic_authfile *f, const char *text, size_t len, enum shape shape, struct imgcheck_error **err)
{
	json_t *root IC_AUTO(secret_json) = NULL;
	int result = ic_json_parse_secret(f->name, text, len, &root, err);

	return result < 0 ? result : parse_object(f, root, shape, err);
}

static int parse(const char *name, const char *text, size_t len, enum shape shape, struct ic_authfile *out,
                 struct imgcheck_error **err)
{
	struct ic_authfile f IC_AUTO(authfile) = {.name = ic_text_copy(name, strlen(name))};
	int result;

	*out = (struct ic_authfile){0};
	if (!f.name)
		return ic_error_nomem(err);
	ic_vec_init(&f.entries, sizeof(struct ic_auth_entry), IC_MAX_LIST_ITEMS);
	ic_vec_init(&f.helpers, sizeof(struct ic_auth_helper), IC_MAX_LIST_ITEMS);
	result = parse_text(&f, text, len, shape, err);
	if (result < 0) {
		ic_error_place(err, name, 0, 0);
		return result;
	}
	*out = f;
	f = (struct ic_authfile){0};
	return 0;
}

int ic_authfile_parse(const char *name, const char *text, size_t len, struct ic_authfile *out, struct imgcheck_error **err)
{
	return parse(name, text, len, SHAPE_ANY, out, err);
}

int ic_authfile_parse_member(const char *name, const struct ic_pull_secret *secret, struct ic_authfile *out,
                             struct imgcheck_error **err)
{
	enum shape shape = secret->entries ? SHAPE_ENTRIES : SHAPE_AUTHS;
	struct ic_buf plain IC_AUTO(buf);
	int result;

	*out = (struct ic_authfile){0};
	ic_buf_init_secret(&plain, IC_MAX_CONFIG_BYTES);
	if (!secret->base64)
		return parse(name, secret->text, strlen(secret->text), shape, out, err);
	result = ic_base64_decode(secret->text, strlen(secret->text), IC_BASE64_PADDED, &plain, err);
	if (result < 0) {
		ic_error_place(err, name, 0, 0);
		return result;
	}
	return parse(name, ic_buf_text(&plain), plain.len, shape, out, err);
}
