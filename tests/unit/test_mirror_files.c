/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From files of runtimes to the endpoints of an image.  Each row of a table in tests/data/mirrors has an id, the files (as in
 * tree.h), an image, the endpoints in order, and parts of the findings.
 *
 * endpoints: "URL[ FLAG]..." joined by " ; "; flags are no-resolve, no-pull, insecure, fallback, ca, client, user=NAME,
 *            token=TOKEN, why=TEXT (with underscores for blanks), and header fields as "Name:value"; or "VERDICT: part of the
 *            reason"; or "error: part of the message"
 */

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/config.h"
#include "source/endpoint.h"
#include "test.h"
#include "tree.h"

#define FOLDER "/tmp/imgcheck-mirrors-XXXXXX"

struct kind {
	const char *table;
	enum imgcheck_file kind;
	const char *file; /* in the folder; "" for the folder itself */
};

static const struct kind hosts_toml = {"mirrors/hosts_toml.tsv", IMGCHECK_FILE_HOSTS_DIR, ""};
static const struct kind containerd = {"mirrors/containerd.tsv", IMGCHECK_FILE_CONTAINERD, "/config.toml"};
static const struct kind registries_yaml = {"mirrors/registries_yaml.tsv", IMGCHECK_FILE_REGISTRIES_YAML, "/registries.yaml"};
static const struct kind custom_registries = {"mirrors/custom_registries.tsv", IMGCHECK_FILE_CUSTOM_REGISTRIES, "/custom.json"};
static const struct kind certs_dir = {"mirrors/certs_dir.tsv", IMGCHECK_FILE_CERTS_DIR, ""};

/* ------------------------------------------------------------------ what was found */

static void flag(struct ic_buf *out, bool set, const char *text)
{
	if (set)
		cr_assert_eq(ic_buf_printf(out, NULL, " %s", text), 0);
}

static void tell_login(struct ic_buf *out, const struct ic_login *login)
{
	if (login->user)
		cr_assert_eq(ic_buf_printf(out, NULL, " user=%s", login->user), 0);
	if (login->identity_token)
		cr_assert_eq(ic_buf_printf(out, NULL, " token=%s", login->identity_token), 0);
}

static void tell(struct ic_buf *out, const struct ic_endpoint *e, const struct ic_ref *asked)
{
	cr_assert_eq(ic_buf_printf(out, NULL, "%s%s://%s%s/%s/manifests/%s%s%s", out->len ? " ; " : "", e->scheme,
	                           e->host, e->base_path,
	                           e->repository, asked->digest ? asked->digest : asked->tag, e->ns ? "?ns=" : "", e->ns ? e->ns : ""),
	             0);
	flag(out, !e->resolve, "no-resolve");
	flag(out, !e->pull, "no-pull");
	flag(out, e->skip_verify, "insecure");
	flag(out, e->http_fallback, "fallback");
	flag(out, e->tls && e->tls->ca.len, "ca");
	flag(out, e->tls && e->tls->client.len, "client");
	if (e->broken)
		cr_assert_eq(ic_buf_printf(out, NULL, " broken"), 0);
	tell_login(out, &e->login);
	for (size_t i = 0; i < e->header.count; i++)
		cr_assert_eq(ic_buf_printf(out, NULL, " %s", ic_texts_get(&e->header, i)), 0);
}

static void check_endpoints(const char *id, const struct imgcheck_config *c, const char *image, const char *expected)
{
	struct imgcheck_error *err = NULL;
	struct ic_endpoints found;
	struct ic_ref ref;
	struct ic_buf told;

	ic_buf_init(&told, (size_t)1 << 20);
	cr_assert_eq(ic_ref_parse(image, strlen(image), &ref, NULL), 0, "%s: %s", id, image);
	cr_assert_eq(ic_endpoints_find(c, &ref, &found, &err), 0, "%s: %s", id, imgcheck_error_message(err));
	for (size_t i = 0; i < found.list.count; i++)
		tell(&told, ic_vec_at(&found.list, i), &found.asked);
	if (found.list.count == 0) {
		const char *rest = strstr(expected, ": ");

		cr_assert(found.reason && rest, "%s", id);
		cr_assert(ic_text_equal(expected, (size_t)(rest - expected), imgcheck_verdict_name(found.verdict)), "%s: %s", id, expected);
		cr_assert(strstr(found.reason, rest + 2), "%s: %s", id, found.reason);
	} else {
		cr_assert_null(found.reason);
		cr_assert_str_eq(ic_buf_text(&told), expected, "%s:\n  found:    %s\n  expected: %s", id, ic_buf_text(&told), expected);
	}
	ic_buf_clear(&told);
	ic_endpoints_clear(&found);
	ic_ref_clear(&ref);
}

/* Each part is in one of the findings, and there are no more of them. */
static void check_findings(const char *id, const struct imgcheck_config *c, const char *parts)
{
	size_t count = 0;

	while (ic_config_problem(c, count))
		count++;
	while (*parts) {
		const char *end = strstr(parts, " ;; ");
		size_t len = end ? (size_t)(end - parts) : strlen(parts);
		bool found = false;

		for (size_t i = 0; ic_config_problem(c, i) && !found; i++) {
			const char *message = imgcheck_error_message(ic_config_problem(c, i));

			found = memmem(message, strlen(message), parts, len) != NULL;
		}
		cr_assert(found, "%s: no finding \"%.*s\"", id, (int)len, parts);
		cr_assert(count-- > 0, "%s", id);
		parts = end ? end + 4 : parts + len;
	}
	cr_assert_eq(count, 0, "%s: %zu findings that are not expected: %s", id, count,
	             imgcheck_error_message(ic_config_problem(c, 0)));
}

static void check_row(const struct test_table *t, size_t row, const struct kind *kind)
{
	const char *id = test_table_get(t, row, "id"), *expected = test_table_get(t, row, "endpoints");
	char folder[] = FOLDER, path[64];
	struct imgcheck_error *err = NULL;
	struct imgcheck_config *c;
	int result;

	tree_make(folder, test_table_get(t, row, "files"));
	cr_assert_eq(imgcheck_config_new(&c), 0);
	if (kind->kind == IMGCHECK_FILE_CERTS_DIR)
		cr_assert_eq(imgcheck_config_set(c, IMGCHECK_OPTION_RUNTIME, "crio", NULL), 0);
	(void)snprintf(path, sizeof(path), "%s%s", folder, kind->file);
	result = imgcheck_config_read(c, kind->kind, path, &err);
	if (strncmp(expected, "error: ", 7) == 0) {
		cr_assert(result < 0, "%s", id);
		cr_assert(strstr(imgcheck_error_message(err), expected + 7), "%s: %s", id, imgcheck_error_message(err));
		cr_assert_not_null(imgcheck_error_place(err, NULL, NULL), "%s", id);
		cr_assert_null(ic_config_problem(c, 0), "%s: nothing stays of a file that fails", id);
	} else {
		cr_assert_eq(result, 0, "%s: %s", id, imgcheck_error_message(err));
		check_endpoints(id, c, test_table_get(t, row, "image"), expected);
		check_findings(id, c, test_table_get(t, row, "findings"));
	}
	imgcheck_error_free(err);
	imgcheck_config_free(c);
	tree_remove(folder);
}

static void check_table(const struct kind *kind)
{
	struct test_table *t = test_table_open(test_data(kind->table));

	for (size_t row = 0; row < test_table_rows(t); row++)
		check_row(t, row, kind);
	test_table_close(t);
}

TEST(mirror_files, hosts_toml_as_containerd_reads_it)
{
	check_table(&hosts_toml);
}

TEST(mirror_files, config_toml_as_its_cri_plugin_reads_it)
{
	check_table(&containerd);
}

TEST(mirror_files, registries_yaml_as_k3s_reads_it)
{
	check_table(&registries_yaml);
}

TEST(mirror_files, custom_registries_as_the_charm_reads_them)
{
	check_table(&custom_registries);
}

TEST(mirror_files, certificates_as_crio_reads_them)
{
	check_table(&certs_dir);
}

static bool has_row(const struct test_table *t, const char *id)
{
	for (size_t row = 0; row < test_table_rows(t); row++)
		if (strcmp(test_table_get(t, row, "id"), id) == 0)
			return true;
	return false;
}

/* The facts are written for people; each has a row of its own here. */
TEST(mirror_files, each_fact_has_a_row)
{
	const char *path = test_shared("facts/hosts_toml.tsv");
	struct test_table *facts, *hosts, *config;

	if (!path)
		cr_skip("no ../shared");
	facts = test_table_open(path);
	hosts = test_table_open(test_data(hosts_toml.table));
	config = test_table_open(test_data(containerd.table));
	for (size_t row = 0; row < test_table_rows(facts); row++) {
		const char *id = test_table_get(facts, row, "id");

		cr_assert(has_row(hosts, id) || has_row(config, id), "%s", id);
	}
	test_table_close(config);
	test_table_close(hosts);
	test_table_close(facts);
}
