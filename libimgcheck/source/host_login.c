/* SPDX-License-Identifier: Apache-2.0 */
#include "source/host_login.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/base64.h"
#include "source/finding.h"
#include "source/mirror.h"
#include "source/secret.h"

void ic_host_login_clear(struct ic_host_login *login)
{
	free(login->host);
	free(login->place);
	ic_secret_free(login->user);
	ic_secret_free(login->secret);
	ic_secret_free(login->identity_token);
	*login = (struct ic_host_login){0};
}

void ic_host_logins_init(struct ic_vec *v)
{
	ic_vec_init(v, sizeof(struct ic_host_login), IC_MAX_LIST_ITEMS);
}

void ic_host_logins_cut(struct ic_vec *v, size_t count)
{
	while (v->count > count)
		ic_host_login_clear(ic_vec_at(v, --v->count));
}

void ic_host_logins_clear(struct ic_vec *v)
{
	ic_host_logins_cut(v, 0);
	ic_vec_clear(v);
}

static bool is_set(const char *text)
{
	return text && text[0];
}

/* A server address counts by the host of its URL; one without a scheme has none. */
static bool is_for(const char *address, const char *host)
{
	const char *begin = strstr(address, "://");
	size_t len;

	if (!begin)
		return false;
	begin += strlen("://");
	len = strcspn(begin, "/?#");
	return ic_text_equal(begin, len, host);
}

static int copy(char **out, const char *text, size_t len, struct imgcheck_error **err)
{
	*out = ic_text_copy(text, len);
	return *out ? 0 : ic_error_nomem(err);
}

static int read_auth(const char *auth, struct ic_host_login *out, struct imgcheck_error **err)
{
	struct ic_buf plain IC_AUTO(buf);
	const char *colon;
	int result;

	ic_buf_init_secret(&plain, IC_MAX_CONFIG_BYTES);
	result = ic_base64_decode(auth, strlen(auth), IC_BASE64_PADDED, &plain, NULL);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	colon = result == 0 && plain.len ? memchr(plain.data, ':', plain.len) : NULL;
	if (!colon || memchr(plain.data, '\0', plain.len))
		return ic_error_set(err, IMGCHECK_ERR_CONFIG, "cannot use an auth that is not user:password in base64");
	result = copy(&out->user, plain.data, (size_t)(colon - plain.data), err);
	return result < 0 ? result : copy(&out->secret, colon + 1, plain.len - (size_t)(colon - plain.data) - 1, err);
}

int ic_cri_auth_read(const struct ic_cri_auth *auth, const char *host, struct ic_host_login *out, struct imgcheck_error **err)
{
	int result = 0;

	*out = (struct ic_host_login){0};
	if (is_set(auth->server_address) && !is_for(auth->server_address, host))
		return 0;
	if (is_set(auth->user)) {
		const char *secret = auth->password ? auth->password : "";

		result = copy(&out->user, auth->user, strlen(auth->user), err);
		if (result == 0)
			result = copy(&out->secret, secret, strlen(secret), err);
	} else if (is_set(auth->identity_token)) {
		result = copy(&out->identity_token, auth->identity_token, strlen(auth->identity_token), err);
	} else if (is_set(auth->auth)) {
		result = read_auth(auth->auth, out, err);
	}
	if (result < 0)
		ic_host_login_clear(out);
	return result;
}

static int add(struct ic_vec *v, const char *place, const char *host, const struct ic_node *auth, struct imgcheck_error **err)
{
	const char *token = ic_node_get_text(auth, "identitytoken");
	struct ic_cri_auth given = {.user = ic_node_get_text(auth, "username"), .password = ic_node_get_text(auth, "password"),
	                            .auth = ic_node_get_text(auth, "auth"),
	                            .identity_token = token ? token : ic_node_get_text(auth, "identity_token")};
	struct ic_host_login login;
	int result = ic_cri_auth_read(&given, host, &login, err);

	if (result == 0 && !login.user && !login.identity_token)
		return 0;
	if (result == 0)
		result = copy(&login.host, host, strlen(host), err);
	if (result == 0)
		result = copy(&login.place, place, strlen(place), err);
	if (result == 0)
		result = ic_vec_push(v, &login, err);
	if (result < 0)
		ic_host_login_clear(&login);
	ic_error_place(err, place, auth->line, 0);
	return result;
}

int ic_host_logins_add(struct ic_vec *v, const char *place, const struct ic_node *configs, struct ic_vec *problems,
                       struct imgcheck_error **err)
{
	int result = 0;

	for (const struct ic_item *i = ic_node_items(configs); i && result == 0; i = i->next) {
		const struct ic_node *auth = ic_node_get(i->value, "auth");

		if (auth && ic_node_equals(i->key, IC_MIRROR_HUB))
			result = ic_finding_add(problems, place, i->key->line, err, "the login for %s is not used: containerd asks %s",
			                        IC_MIRROR_HUB, IC_MIRROR_HUB_HOST);
		else if (auth)
			result = add(v, place, i->key->text, auth, err);
	}
	return result;
}

const struct ic_host_login *ic_host_logins_find(const struct ic_vec *v, const char *host)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct ic_host_login *login = ic_vec_at(v, i);

		if (strcmp(login->host, host) == 0)
			return login;
	}
	return NULL;
}
