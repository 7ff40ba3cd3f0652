/* SPDX-License-Identifier: Apache-2.0 */
#include "source/pod_secrets.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "manifest/images.h"
#include "manifest/pull_secrets.h"
#include "source/authfile.h"
#include "source/keyring.h"

void ic_pod_secrets_clear(struct ic_pod_secrets *p)
{
	for (size_t i = 0; i < p->files.count; i++)
		ic_authfile_clear(ic_vec_at(&p->files, i));
	ic_vec_clear(&p->files);
	free(p->lacking);
	free(p->broken);
	p->lacking = p->broken = NULL;
}

/* The first of its kind is told. */
static int tell(char **out, const char *name, size_t len, const char *why, struct imgcheck_error **err)
{
	struct ic_buf text IC_AUTO(buf);
	int result;

	ic_buf_init(&text, IC_MAX_CONFIG_BYTES);
	if (*out)
		return 0;
	result = ic_buf_printf(&text, err, "imagePullSecrets: %.*s %s", (int)len, name, why);
	if (result < 0)
		return result;
	*out = ic_buf_take(&text);
	return *out ? 0 : ic_error_nomem(err);
}

static bool has_file(const struct ic_pod_secrets *out, const char *name)
{
	for (size_t i = 0; i < out->files.count; i++)
		if (strcmp(((const struct ic_authfile *)ic_vec_at(&out->files, i))->name, name) == 0)
			return true;
	return false;
}

static bool has_login(const struct ic_authfile *f)
{
	for (size_t i = 0; i < f->entries.count; i++)
		if (ic_keyring_use(IC_AUTH_KUBELET, ic_vec_at(&f->entries, i)).user)
			return true;
	return false;
}

static int add_secret(struct ic_pod_secrets *out, const struct ic_pull_secret *secret, struct imgcheck_error **err)
{
	struct ic_authfile f IC_AUTO(authfile) = {0};
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_buf name IC_AUTO(buf);
	int result;

	ic_buf_init(&name, IC_MAX_CONFIG_BYTES);
	result = ic_buf_printf(&name, err, "Secret %s%s%s in %s", secret->namespace_ ? secret->namespace_ : "",
	                       secret->namespace_ ? "/" : "", secret->name, secret->file);
	if (result < 0 || has_file(out, ic_buf_text(&name)))
		return result;
	if (!secret->text[0])
		return tell(&out->lacking, secret->name, strlen(secret->name), "is empty", err);
	result = ic_authfile_parse_member(ic_buf_text(&name), secret, &f, &why);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result < 0)
		return tell(&out->broken, ic_buf_text(&name), name.len, imgcheck_error_message(why), err);
	if (!has_login(&f))
		result = tell(&out->lacking, secret->name, strlen(secret->name), "has no login in the form of its type", err);
	if (result == 0)
		result = ic_vec_push(&out->files, &f, err);
	if (result == 0)
		f = (struct ic_authfile){0};
	return result;
}

/* Names are separated by blanks. */
static int add_names(const struct ic_pull_secrets *s, const char *names, const char *namespace_, struct ic_pod_secrets *out,
                     struct imgcheck_error **err)
{
	const char *at = names;
	int result = 0;

	for (at += strspn(at, " "); *at && result == 0; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		const struct ic_pull_secret *secret = ic_pull_secrets_find(s, at, len, namespace_);

		result = secret ? add_secret(out, secret, err) : tell(&out->lacking, at, len, "is not among the manifests", err);
		at += len;
	}
	return result;
}

/* The secrets of the pod or, where it has none, those of its ServiceAccount. */
static int add_origin(const struct ic_pull_secrets *s, const struct ic_origin *origin, struct ic_pod_secrets *out,
                      struct imgcheck_error **err)
{
	const struct ic_pull_account *account;

	if (origin->pull_secrets)
		return add_names(s, origin->pull_secrets, origin->namespace_, out, err);
	account = origin->account ? ic_pull_secrets_find_account(s, origin->account, origin->namespace_) : NULL;
	if (!account)
		return 0;
	return add_names(s, account->secrets, origin->namespace_ ? origin->namespace_ : account->namespace_, out, err);
}

int ic_pod_secrets_read(const struct imgcheck_images *s, const struct imgcheck_image *m, struct ic_pod_secrets *out,
                        struct imgcheck_error **err)
{
	int result = 0;

	*out = (struct ic_pod_secrets){0};
	ic_vec_init(&out->files, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
	for (size_t i = 0; i < m->origins.count && result == 0; i++)
		result = add_origin(&s->pull_secrets, ic_vec_at(&m->origins, i), out, err);
	if (result < 0)
		ic_pod_secrets_clear(out);
	return result;
}
