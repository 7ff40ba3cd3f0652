/* SPDX-License-Identifier: Apache-2.0 */
#include "source/keyring.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "test.h"

/* "label:label" in base64, for labels of up to 40 bytes. */
static void encode(const char *label, char out[128])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char plain[100] = "";
	size_t len = (size_t)snprintf(plain, sizeof(plain), "%.40s:%.40s", label, label), at = 0;

	for (size_t i = 0; i < len; i += 3) {
		unsigned bits = (unsigned)(unsigned char)plain[i] << 16 | (unsigned)(unsigned char)plain[i + 1] << 8 |
		                (unsigned char)plain[i + 2];

		out[at++] = digits[bits >> 18];
		out[at++] = digits[bits >> 12 & 63];
		if (i + 1 < len)
			out[at++] = digits[bits >> 6 & 63];
		if (i + 2 < len)
			out[at++] = digits[bits & 63];
	}
	out[at] = '\0';
}

/* Tables write a label in place of an entry; the label becomes user and password. */
static void spell_out(json_t *auths)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(auths, next, key, value) {
		char text[128];

		if (!json_is_string(value))
			continue;
		encode(json_string_value(value), text);
		cr_assert_eq(json_object_set_new(auths, key, json_pack("{s:s}", "auth", text)), 0);
	}
}

static void add_file(struct ic_vec *files, json_t *root)
{
	struct imgcheck_error *err = NULL;
	struct ic_authfile f;
	char *text = json_dumps(root, 0);

	cr_assert(text);
	cr_assert_eq(ic_authfile_parse("given", text, strlen(text), &f, &err), 0, "%s: %s", text, imgcheck_error_message(err));
	cr_assert_eq(ic_vec_push(files, &f, NULL), 0);
	free(text);
}

/* One object a file (kubelet: each a Secret's auths), or one whole file. */
static void add_files(struct ic_vec *files, json_t *config)
{
	json_t *item;
	size_t i;

	if (json_is_object(config)) {
		spell_out(json_object_get(config, "auths"));
		add_file(files, config);
	}
	json_array_foreach(config, i, item) {
		json_t *root;

		spell_out(item);
		root = json_pack("{s:O}", "auths", item);
		add_file(files, root);
		json_decref(root);
	}
}

static void clear_files(struct ic_vec *files)
{
	for (size_t i = 0; i < files->count; i++)
		ic_authfile_clear(ic_vec_at(files, i));
	ic_vec_clear(files);
}

/* What was found, in the words of the table. */
static json_t *tell(enum ic_auth_rules rules, const struct ic_vec *matches)
{
	json_t *told = json_array();

	for (size_t i = 0; i < matches->count; i++) {
		const struct ic_auth_match *match = ic_vec_at(matches, i);
		struct ic_auth_use use = ic_keyring_use(rules, match->entry);

		cr_assert_eq(json_array_append_new(told, use.user ? json_string(use.user) : json_object()), 0);
	}
	if (rules == IC_AUTH_CONTAINERS) {
		json_t *one = matches->count ? json_incref(json_array_get(told, 0)) : json_string("(none)");

		cr_assert(matches->count <= 1);
		json_decref(told);
		return one;
	}
	if (matches->count == 0)
		cr_assert_eq(json_array_append_new(told, json_string("(anonymous)")), 0);
	return told;
}

/* containers/image takes the first that has a login; none of these files names a helper. */
static void find(enum ic_auth_rules rules, const struct ic_vec *files, const char *repository, struct ic_vec *out)
{
	struct ic_auth_match match, empty = {0};
	size_t at = 0;

	if (rules == IC_AUTH_KUBELET) {
		cr_assert_eq(ic_keyring_find(files, repository, out, NULL), 0);
		return;
	}
	while (ic_keyring_next(files, repository, &at, &match)) {
		cr_assert_not_null(match.entry);
		if (match.entry->auth_user || match.entry->identity_token) {
			cr_assert_eq(ic_vec_push(out, &match, NULL), 0);
			return;
		}
		empty = match;
	}
	if (empty.entry)
		cr_assert_eq(ic_vec_push(out, &empty, NULL), 0);
}

static void check_lookup_as(const struct test_table *t, size_t row, enum ic_auth_rules rules, json_t *expected)
{
	const char *id = test_table_get(t, row, "id");
	json_t *config = json_loads(test_table_get(t, row, "config"), 0, NULL), *told;
	struct ic_vec files, matches;

	cr_assert(config && expected, "%s", id);
	ic_vec_init(&files, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
	ic_vec_init(&matches, sizeof(struct ic_auth_match), IC_MAX_LIST_ITEMS);
	add_files(&files, config);
	find(rules, &files, test_table_get(t, row, "image_or_host"), &matches);
	told = tell(rules, &matches);
	cr_assert(json_equal(told, expected), "%s: %s", id, test_table_get(t, row, "expected"));
	json_decref(told);
	json_decref(config);
	ic_vec_clear(&matches);
	clear_files(&files);
}

static void check_lookup(const struct test_table *t, size_t row, enum ic_auth_rules rules)
{
	json_t *expected = json_loads(test_table_get(t, row, "expected"), JSON_DECODE_ANY, NULL);

	check_lookup_as(t, row, rules, expected);
	json_decref(expected);
}

/*
 * `docker pull`, which no node does for a cluster: there are no such rules.  The kubelet's find what it finds, and
 * Docker Hub's login under two more names; a store goes before entries in both.
 */
static void check_docker(const struct test_table *t, size_t row)
{
	const char *id = test_table_get(t, row, "id"), *image = test_table_get(t, row, "image_or_host");
	json_t *config = json_loads(test_table_get(t, row, "config"), 0, NULL), *entry;
	json_t *expected = json_loads(test_table_get(t, row, "expected"), JSON_DECODE_ANY, NULL), *ours;
	const char *wanted = json_string_value(expected), *key;
	struct ic_vec files;
	char host[64];

	cr_assert(config && wanted, "%s", id);
	if (strncmp(wanted, "store:", 6) == 0) {
		ic_vec_init(&files, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
		add_files(&files, config);
		(void)snprintf(host, sizeof(host), "%.*s", (int)strcspn(image, "/"), image);
		cr_assert_str_eq(ic_keyring_helper(IC_AUTH_KUBELET, ic_vec_at(&files, 0), host), wanted + 6, "%s", id);
		clear_files(&files);
	} else {
		ours = json_pack("[s]", wanted);
		if (strcmp(wanted, "(none)") == 0)
			json_object_foreach(json_object_get(config, "auths"), key, entry) {
				cr_assert(strcmp(key, "docker.io") == 0 || strcmp(key, "index.docker.io") == 0, "%s", id);
				cr_assert_eq(json_array_set(ours, 0, entry), 0);
			}
		check_lookup_as(t, row, IC_AUTH_KUBELET, ours);
		json_decref(ours);
	}
	json_decref(expected);
	json_decref(config);
}

/* The members of one entry, read by the rules. */
static void check_decoding(const struct test_table *t, size_t row, enum ic_auth_rules rules)
{
	const char *id = test_table_get(t, row, "id"), *members = test_table_get(t, row, "config");
	const char *expected = test_table_get(t, row, "expected");
	size_t len = strstr(members, " without") ? (size_t)(strstr(members, " without") - members) : strlen(members);
	char text[512], told[256] = "";
	struct ic_authfile f;
	struct ic_auth_use use;

	if (members[0] == '{' && members[len - 1] == '}') {
		members++;
		len -= 2;
	}
	(void)snprintf(text, sizeof(text), "{\"auths\":{\"r.example.com\":{%.*s}}}", (int)len, members);
	if (strncmp(expected, "error", 5) == 0) {
		cr_assert_eq(ic_authfile_parse("given", text, strlen(text), &f, NULL), IMGCHECK_ERR_CONFIG, "%s", id);
		return;
	}
	cr_assert_eq(ic_authfile_parse("given", text, strlen(text), &f, NULL), 0, "%s", id);
	use = ic_keyring_use(rules, ic_vec_at(&f.entries, 0));
	if (use.user)
		(void)snprintf(told, sizeof(told), "user %s, password %s", use.user, use.secret[0] ? use.secret : "\"\"");
	if (use.identity_token)
		(void)snprintf(told + strlen(told), sizeof(told) - strlen(told), "%sidentity token %s", told[0] ? ", " : "",
		               use.identity_token);
	cr_assert_str_eq(told[0] ? told : "none", expected, "%s", id);
	ic_authfile_clear(&f);
}

/*
 * Rows whose outcome is another with us: an auth without a colon, for which containers/image leaves the entry out, is a
 * mistake in the file; and a password with colons, over which another program stumbles, is none.
 */
static const struct {
	const char *algorithm, *expected; /* the start of what the table says */
	const char *members, *user, *secret; /* NULL: the file is refused */
} differing[] = {
	{"auth field decode (c/image)", "none (warning)", "\"auth\":\"bm9jb2xvbg==\"", NULL, NULL},
	{"troubleshoot collector", "error expected 2 parts (WRONG)",
	 "\"auth\":\"dXNlcjpwYXNzOndvcmQ6d2l0aDpjb2xvbg==\"", "user", "pass:word:with:colon"},
};

static bool check_differing(const struct test_table *t, size_t row)
{
	const char *algorithm = test_table_get(t, row, "algorithm"), *expected = test_table_get(t, row, "expected");
	const char *id = test_table_get(t, row, "id"), *members = test_table_get(t, row, "config");
	struct ic_authfile f;
	char text[512];
	size_t i = 0;

	while (i < IC_COUNT(differing) && (strcmp(algorithm, differing[i].algorithm) != 0 ||
	                                   strncmp(expected, differing[i].expected, strlen(differing[i].expected)) != 0))
		i++;
	if (i == IC_COUNT(differing))
		return false;
	cr_assert_str_eq(members, differing[i].members, "%s", id);
	(void)snprintf(text, sizeof(text), "{\"auths\":{\"r.example.com\":{%s}}}", members);
	cr_assert_eq(ic_authfile_parse("given", text, strlen(text), &f, NULL), differing[i].user ? 0 : IMGCHECK_ERR_CONFIG, "%s", id);
	if (differing[i].user) {
		struct ic_auth_use use = ic_keyring_use(IC_AUTH_KUBELET, ic_vec_at(&f.entries, 0));

		cr_assert_str_eq(use.user, differing[i].user, "%s", id);
		cr_assert_str_eq(use.secret, differing[i].secret, "%s", id);
		ic_authfile_clear(&f);
	}
	return true;
}

/* False where the row is about the reader of another file, which has its own test. */
static bool check_row(const struct test_table *t, size_t row)
{
	const char *algorithm = test_table_get(t, row, "algorithm");

	if (check_differing(t, row))
		return true;
	if (strcmp(algorithm, "kubelet") == 0)
		check_lookup(t, row, IC_AUTH_KUBELET);
	else if (strcmp(algorithm, "c/image auth file") == 0)
		check_lookup(t, row, IC_AUTH_CONTAINERS);
	else if (strcmp(algorithm, "docker/cli config.json") == 0)
		check_docker(t, row);
	/* what the kubelet hands to CRI-O is what it read itself */
	else if (strcmp(algorithm, "auth field decode (kubelet)") == 0 || strcmp(algorithm, "CRI-O") == 0)
		check_decoding(t, row, IC_AUTH_KUBELET);
	else if (strcmp(algorithm, "auth field decode (c/image)") == 0)
		check_decoding(t, row, IC_AUTH_CONTAINERS);
	else
		return false;
	return true;
}

/* Other readers, and where they are tested. */
static const struct {
	const char *algorithm, *where;
} elsewhere[] = {
	{"containerd CRI ParseAuth", "test_host_login.c"},
	{"credential helper protocol", "test_hook_login_helper.c"},
};

static bool is_elsewhere(const char *algorithm)
{
	for (size_t i = 0; i < IC_COUNT(elsewhere); i++)
		if (strcmp(algorithm, elsewhere[i].algorithm) == 0)
			return true;
	return false;
}

/* The number of rows that were checked; each of the others has its test elsewhere. */
static size_t check_table(const char *path)
{
	struct test_table *t = test_table_open(path);
	size_t rows = test_table_rows(t), checked = 0;

	for (size_t row = 0; row < rows; row++) {
		if (check_row(t, row))
			checked++;
		else
			cr_assert(is_elsewhere(test_table_get(t, row, "algorithm")), "not covered: %s %s", test_table_get(t, row, "id"),
			          test_table_get(t, row, "algorithm"));
	}
	cr_log_info("%zu of %zu rows are covered here, %zu elsewhere", checked, rows, rows - checked);
	test_table_close(t);
	return checked;
}

TEST(keyring, own_rows)
{
	cr_assert_eq(check_table(test_data("keyring/own.tsv")), 38);
}

TEST(keyring, rows_of_the_facts)
{
	const char *path = test_shared("facts/credential_lookup.tsv");

	if (!path)
		cr_skip_test("../shared is not there");
	cr_assert(check_table(path) >= 55);
}

TEST(keyring, passes_to_the_next_file_behind_an_empty_entry)
{
	json_t *config = json_loads("[{\"r.example.com\": {}}, {\"r.example.com\": \"B\"}]", 0, NULL);
	const struct ic_auth_match *match;
	struct ic_vec files, matches;

	ic_vec_init(&files, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
	ic_vec_init(&matches, sizeof(struct ic_auth_match), IC_MAX_LIST_ITEMS);
	add_files(&files, config);
	find(IC_AUTH_CONTAINERS, &files, "r.example.com/x", &matches);
	cr_assert_eq(matches.count, 1);
	match = ic_vec_at(&matches, 0);
	cr_assert_str_eq(match->entry->auth_user, "B");
	ic_vec_clear(&matches);
	clear_files(&files);
	json_decref(config);
}

TEST(keyring, tells_helpers_and_near_misses)
{
	json_t *config = json_loads("{\"auths\": {\"https://r.example.com:5000/v1/\": \"A\", \"s.example.com\": \"B\"},"
	                            " \"credHelpers\": {\"gcr.io\": \"gcloud\", \"https://index.docker.io/v1/\": \"hub\"}}",
	                            0, NULL);
	const struct ic_authfile *file;
	struct ic_vec files;

	ic_vec_init(&files, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
	add_files(&files, config);
	file = ic_vec_at(&files, 0);
	cr_assert_str_eq(ic_keyring_helper(IC_AUTH_KUBELET, file, "gcr.io"), "gcloud");
	cr_assert_str_eq(ic_keyring_helper(IC_AUTH_KUBELET, file, "docker.io"), "hub");
	cr_assert_null(ic_keyring_helper(IC_AUTH_KUBELET, file, "r.example.com"));
	cr_assert_str_eq(ic_keyring_near_miss(file, "r.example.com"), "https://r.example.com:5000/v1/");
	cr_assert_str_eq(ic_keyring_near_miss(file, "r.example.com:5001"), "https://r.example.com:5000/v1/");
	cr_assert_str_eq(ic_keyring_near_miss(file, "s.example.com:443"), "s.example.com");
	cr_assert_null(ic_keyring_near_miss(file, "r.example.com:5000"));
	cr_assert_null(ic_keyring_near_miss(file, "r.example.org"));
	clear_files(&files);
	json_decref(config);
}

/* A helper goes before the entries of its file, by the exact name of the host; there is none for all hosts. */
TEST(keyring, passes_helpers_as_crio_does)
{
	json_t *config = json_loads("{\"auths\": {\"gcr.io\": \"A\", \"docker.io\": \"B\"}, \"credsStore\": \"store\","
	                            " \"credHelpers\": {\"gcr.io\": \"gcloud\", \"https://index.docker.io/v1/\": \"hub\"}}",
	                            0, NULL);
	struct ic_auth_match match;
	struct ic_vec files;
	size_t at = 0;

	ic_vec_init(&files, sizeof(struct ic_authfile), IC_MAX_LIST_ITEMS);
	add_files(&files, config);
	cr_assert(ic_keyring_next(&files, "gcr.io/a", &at, &match));
	cr_assert(match.helper && !match.entry);
	cr_assert_str_eq(match.helper, "gcloud");
	cr_assert_not(ic_keyring_next(&files, "gcr.io/a", &at, &match), "there is one file");
	at = 0;
	cr_assert(ic_keyring_next(&files, "docker.io/library/a", &at, &match));
	cr_assert(match.entry && !match.helper);
	cr_assert_str_eq(match.entry->auth_user, "B");
	at = 0;
	cr_assert_not(ic_keyring_next(&files, "quay.io/a", &at, &match));
	cr_assert_null(ic_keyring_helper(IC_AUTH_CONTAINERS, ic_vec_at(&files, 0), "quay.io"));
	clear_files(&files);
	json_decref(config);
}
