/* SPDX-License-Identifier: Apache-2.0 */
#include "source/custom_registries.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/base64.h"
#include "source/secret.h"

struct reader {
	const char *place;
	struct ic_cri_registry *out;
	struct ic_mirrors *mirrors; /* of the entry that is read */
	struct ic_vec *problems;
};

static int refuse(const struct reader *r, size_t entry, const char *what, struct imgcheck_error **err)
{
	return ic_error_set_at(err, IMGCHECK_ERR_CONFIG, r->place, 0, 0, "cannot use entry %zu: %s", entry + 1, what);
}

/* A file in base64, appended; one that is not is left out by the charm.  *there: something was added. */
static int add_file(const json_t *object, const char *member, struct ic_buf *out, bool *there, struct imgcheck_error **err)
{
	const char *text = ic_json_text(object, member);
	size_t before = out->len;
	int result;

	*there = false;
	if (!text || !text[0])
		return 0;
	result = ic_base64_decode(text, strlen(text), IC_BASE64_PADDED, out, err);
	if (result == 0)
		result = ic_buf_add_text(out, "\n", err);
	*there = result == 0 && out->len > before + 1;
	return result;
}

static int add_certificates(const struct reader *r, const json_t *object, size_t entry, struct ic_mirror *m,
                            struct imgcheck_error **err)
{
	struct ic_buf ca IC_AUTO(buf), client IC_AUTO(buf);
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	bool has_ca, has_certificate, has_key;

	ic_buf_init(&ca, IC_MAX_CONFIG_BYTES);
	ic_buf_init_secret(&client, 2 * IC_MAX_CONFIG_BYTES);
	if (add_file(object, "ca_file", &ca, &has_ca, &why) < 0 || add_file(object, "cert_file", &client, &has_certificate, &why) < 0 ||
	    add_file(object, "key_file", &client, &has_key, &why) < 0)
		return imgcheck_error_code(why) == IMGCHECK_ERR_NOMEM ? ic_error_nomem(err)
		                                                     : refuse(r, entry,
		                                                              "ca_file, cert_file or key_file is not base64", err);
	if (has_certificate != has_key)
		return refuse(r, entry, "cert_file and key_file belong together", err);
	if (has_ca && ic_mirror_add_ca_text(m, r->place, ca.data, ca.len, r->problems, &why) < 0)
		return ic_mirrors_break(r->mirrors, why, err);
	if (has_key && ic_mirror_add_client_text(m, r->place, client.data, client.len, &why) < 0)
		return ic_mirrors_break(r->mirrors, why, err);
	return 0;
}

static int add_login(const struct reader *r, const json_t *object, const char *host, struct imgcheck_error **err)
{
	const char *user = ic_json_text(object, "username"), *secret = ic_json_text(object, "password");
	struct ic_host_login login = {0};
	int result = 0;

	if (!user || !user[0] || !secret || !secret[0])
		return 0;
	login.host = ic_text_copy(host, strlen(host));
	login.place = ic_text_copy(r->place, strlen(r->place));
	login.user = ic_text_copy(user, strlen(user));
	login.secret = ic_text_copy(secret, strlen(secret));
	if (!login.host || !login.place || !login.user || !login.secret)
		result = ic_error_nomem(err);
	else
		result = ic_vec_push(&r->out->logins, &login, err);
	if (result < 0)
		ic_host_login_clear(&login);
	return result;
}

/* The name that images have: the host of the URL, where none is given. */
static int find_name(const json_t *object, const struct ic_mirror *m, char **out, struct imgcheck_error **err)
{
	const char *host = ic_json_text(object, "host"), *name = host && host[0] ? host : m->host;

	return ic_mirror_folder(name, out, err);
}

/* The charm names the registry itself as the server, which is asked last; to ask the same host twice changes nothing. */
static int add_server(const struct reader *r, const json_t *object, struct imgcheck_error **err)
{
	const struct ic_mirror *first = ic_vec_at(&r->mirrors->hosts, 0);
	const char *host = ic_json_text(object, "host");
	struct ic_mirror server IC_AUTO(mirror);
	bool ok;
	int result;

	ic_mirror_init(&server);
	result = ic_mirror_set_url(&server, host && host[0] ? host : first->host, &ok, err);
	if (result < 0 || !ok || (strcmp(server.host, first->host) == 0 && strcmp(server.scheme, first->scheme) == 0))
		return result;
	result = ic_mirror_finish_path(&server, false, err);
	return result < 0 ? result : ic_mirrors_add(r->mirrors, &server, err);
}

static int read_entry(struct reader *r, const json_t *object, size_t entry, struct imgcheck_error **err)
{
	struct ic_mirrors mirrors IC_AUTO(mirrors);
	struct ic_mirror m IC_AUTO(mirror);
	const char *url = ic_json_text(object, "url");
	bool ok = false;
	int result = 0;

	ic_mirrors_init(&mirrors);
	ic_mirror_init(&m);
	r->mirrors = &mirrors;
	if (url)
		result = ic_mirror_set_url(&m, url, &ok, err);
	if (result == 0 && !ok)
		return refuse(r, entry, "its url is not [http[s]://]host[:port][/path]", err);
	if (result == 0)
		result = find_name(object, &m, &mirrors.name, err);
	if (json_is_true(json_object_get(object, "insecure_skip_verify")))
		m.skip_verify = IC_CHOICE_YES;
	mirrors.place = ic_text_copy(r->place, strlen(r->place));
	if (result == 0 && !mirrors.place)
		result = ic_error_nomem(err);
	if (result == 0)
		result = ic_mirror_finish_path(&m, false, err);
	if (result == 0)
		result = add_certificates(r, object, entry, &m, err);
	if (result == 0)
		result = ic_mirror_prefer_tls(&m, err);
	if (result == 0)
		result = add_login(r, object, m.host, err);
	if (result == 0)
		result = ic_mirrors_add(&mirrors, &m, err);
	if (result == 0)
		result = add_server(r, object, err);
	return result < 0 ? result : ic_mirror_set_add(&r->out->mirrors, &mirrors, err);
}

static int read_array(struct reader *r, const json_t *array, struct imgcheck_error **err)
{
	int result = 0;

	if (!json_is_array(array))
		return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, r->place, 0, 0, "cannot use this: an array of objects is expected");
	for (size_t i = 0; i < json_array_size(array) && result == 0; i++)
		result = read_entry(r, json_array_get(array, i), i, err);
	return result;
}

int ic_custom_registries_parse(const char *place, const char *text, size_t len, struct ic_cri_registry *out,
                               struct ic_vec *problems, struct imgcheck_error **err)
{
	struct reader r = {.place = place, .out = out, .problems = problems};
	json_t *root IC_AUTO(secret_json) = NULL;
	int result;

	ic_mirror_set_init(&out->mirrors, IC_MIRROR_FOLDERS);
	ic_texts_init(&out->roots, IC_MAX_LIST_ITEMS);
	ic_host_logins_init(&out->logins);
	result = ic_json_parse_secret(place, text, len, &root, err);
	if (result == 0)
		result = read_array(&r, root, err);
	if (result < 0)
		ic_cri_registry_clear(out);
	return result;
}
