/* SPDX-License-Identifier: Apache-2.0 */
#include "source/certs_dir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "source/finding.h"

struct reader {
	struct ic_mirrors *out; /* of the folder at hand */
	struct ic_mirror *host;
	const struct ic_vec *names; /* in it */
	struct ic_vec *problems;
};

static int join(const char *folder, const char *name, size_t len, const char *ending, struct ic_buf *out,
                struct imgcheck_error **err)
{
	ic_buf_init(out, IC_MAX_PATH_BYTES);
	return ic_buf_printf(out, err, "%s/%.*s%s", folder, (int)len, name, ending);
}

static bool has_name(const struct reader *r, const char *name, size_t len, const char *ending)
{
	for (size_t i = 0; i < r->names->count; i++) {
		const char *other = ic_texts_get(r->names, i);

		if (strncmp(other, name, len) == 0 && strcmp(other + len, ending) == 0)
			return true;
	}
	return false;
}

/* Go's pool takes the certificates that it can read, and a link to nothing is passed over. */
static int add_ca(const struct reader *r, const char *path, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct stat status;
	unsigned line;
	int result = ic_mirror_add_ca(r->host, path, r->problems, &why);

	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	if (result == 0)
		return 0;
	(void)imgcheck_error_place(why, &line, NULL);
	if (result == IMGCHECK_ERR_SYNTAX || (stat(path, &status) < 0 && errno == ENOENT))
		return ic_finding_add(r->problems, path, line, err, "no authority is taken from this file: %s",
		                      imgcheck_error_message(why));
	return ic_mirrors_break(r->out, why, err);
}

static int lack(const struct reader *r, const char *path, const char *name, size_t len, const char *ending,
                struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;

	(void)ic_error_set_at(&why, IMGCHECK_ERR_CONFIG, path, 0, 0, "cannot use this file: there is no %.*s%s beside it", (int)len,
	                      name, ending);
	return ic_mirrors_break(r->out, why, err);
}

static int add_client(const struct reader *r, const char *path, const char *name, size_t len, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	bool more = r->host->tls && r->host->tls->client.len;
	struct ic_mirror further IC_AUTO(mirror);
	struct ic_buf key IC_AUTO(buf);
	int result = join(r->out->place, name, len, ".key", &key, err);

	ic_mirror_init(&further);
	if (result < 0)
		return result;
	if (!has_name(r, name, len, ".key"))
		return lack(r, path, name, len, ".key", err);
	if (ic_mirror_add_client(more ? &further : r->host, path, ic_buf_text(&key), &why) < 0)
		return ic_mirrors_break(r->out, why, err);
	return !more ? 0 : ic_finding_add(r->problems, path, 0, err,
	                                  "only the first client certificate is used; the runtime picks what the server accepts");
}

static int read_file(const struct reader *r, const char *name, struct imgcheck_error **err)
{
	struct ic_buf path IC_AUTO(buf);
	size_t len = strlen(name);
	int result = join(r->out->place, name, len, "", &path, err);

	if (result < 0)
		return result;
	if (ic_text_ends(name, len, ".crt"))
		return add_ca(r, ic_buf_text(&path), err);
	if (ic_text_ends(name, len, ".cert"))
		return add_client(r, ic_buf_text(&path), name, len - strlen(".cert"), err);
	if (ic_text_ends(name, len, ".key") && !has_name(r, name, len - strlen(".key"), ".cert"))
		return lack(r, ic_buf_text(&path), name, len - strlen(".key"), ".cert", err);
	return 0;
}

/* A folder that cannot be read is one that the runtime reads, as another user. */
static int read_files(struct reader *r, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_vec names IC_AUTO(texts);
	struct ic_mirror host IC_AUTO(mirror);
	int result = ic_file_list(r->out->place, &names, &why);

	ic_mirror_init(&host);
	if (result < 0)
		return ic_mirrors_break(r->out, why, err);
	r->host = &host;
	r->names = &names;
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = read_file(r, ic_texts_get(&names, i), err);
	return result < 0 ? result : ic_mirrors_add(r->out, &host, err);
}

static int read_folder(const char *root, const char *name, struct ic_mirror_set *out, struct ic_vec *problems,
                       struct imgcheck_error **err)
{
	struct ic_mirrors mirrors IC_AUTO(mirrors);
	struct reader r = {.out = &mirrors, .problems = problems};
	struct ic_buf folder IC_AUTO(buf);
	int result = join(root, name, strlen(name), "", &folder, err);

	ic_mirrors_init(&mirrors);
	if (result < 0)
		return result;
	mirrors.name = ic_text_copy(name, strlen(name));
	mirrors.place = ic_buf_take(&folder);
	if (!mirrors.name || !mirrors.place)
		return ic_error_nomem(err);
	result = read_files(&r, err);
	return result < 0 ? result : ic_mirror_set_add(out, &mirrors, err);
}

int ic_certs_dir_read(const char *root, struct ic_mirror_set *out, struct ic_vec *problems, struct imgcheck_error **err)
{
	struct ic_mirror_set set IC_AUTO(mirror_set);
	struct ic_vec names IC_AUTO(texts);
	int result = ic_file_list(root, &names, err);

	ic_mirror_set_init(out, IC_MIRROR_HOSTS);
	ic_mirror_set_init(&set, IC_MIRROR_HOSTS);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = read_folder(root, ic_texts_get(&names, i), &set, problems, err);
	if (result < 0)
		return result;
	*out = set;
	ic_mirror_set_init(&set, IC_MIRROR_HOSTS);
	return 0;
}
