/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/challenge.h"

#include <string.h>

#include "base/json.h"
#include "registry/token.h"
#include "test.h"

static void parse_as(enum ic_runtime runtime, const char *const *fields, size_t count, struct ic_vec *out)
{
	struct ic_vec texts;

	ic_texts_init(&texts, 64);
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(ic_texts_push(&texts, fields[i], strlen(fields[i]), NULL), 0);
	cr_assert_eq(ic_challenges_parse(ic_profile_get(runtime), &texts, out, NULL), 0);
	ic_texts_clear(&texts);
}

static void parse(const char *const *fields, size_t count, struct ic_vec *out)
{
	parse_as(IC_RUNTIME_CONTAINERD, fields, count, out);
}

TEST(challenge, a_field_holds_one_challenge)
{
	static const char *const fields[] = {"Negotiate", "Basic realm=\"r\"",
	                                     "Bearer realm=\"https://t/\", service=s , x=\"a\\\"b\",x=2; y=3"};
	struct ic_vec list;
	const struct ic_challenge *c;

	parse(fields, IC_COUNT(fields), &list);
	cr_assert_eq(list.count, 2);
	c = ic_challenges_choose(&list);
	cr_assert_eq(c->scheme, IC_SCHEME_BEARER);
	cr_expect_str_eq(ic_challenge_get(c, "realm"), "https://t/");
	cr_expect_str_eq(ic_challenge_get(c, "service"), "s");
	cr_expect_str_eq(ic_challenge_get(c, "x"), "2", "the last one counts");
	cr_expect_null(ic_challenge_get(c, "y"), "what follows a malformed parameter is lost");
	ic_challenges_clear(&list);
}

TEST(challenge, nothing_that_can_be_answered)
{
	static const char *const rows[] = {"", " ", "Negotiate", "Digest realm=\"r\"", "=", "Bearerrealm=x", "\xff\xfe"};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_vec list;

		parse(&rows[i], 1, &list);
		cr_expect_null(ic_challenges_choose(&list), "%s", rows[i]);
		ic_challenges_clear(&list);
	}
}

static const char *name_of(enum ic_scheme scheme)
{
	switch (scheme) {
	case IC_SCHEME_BEARER:
		return "bearer";
	case IC_SCHEME_DIGEST:
		return "digest";
	case IC_SCHEME_BASIC:
		return "basic";
	}
	return "";
}

/* The challenges in the form of the table. */
static json_t *as_json(const struct ic_vec *list)
{
	json_t *all = json_array();

	for (size_t i = 0; i < list->count; i++) {
		const struct ic_challenge *c = ic_vec_at(list, i);
		json_t *params = json_object();

		for (size_t k = 0; k + 1 < c->parameters.count; k += 2)
			json_object_set_new(params, ic_texts_get(&c->parameters, k), json_string(ic_texts_get(&c->parameters, k + 1)));
		json_array_append_new(all, json_pack("{s:s, s:o}", "scheme", name_of(c->scheme), "params", params));
	}
	return all;
}

/* What is done about them, in the words of the table. */
static const char *action(const struct ic_vec *list)
{
	const struct ic_challenge *c = ic_challenges_choose(list);
	const char *realm = c ? ic_challenge_get(c, "realm") : NULL;

	if (!c)
		return "error: no supported auth scheme";
	if (c->scheme == IC_SCHEME_BASIC)
		return "basic";
	if (!realm)
		return "error: no realm";
	return ic_token_realm_is_usable(realm) ? "bearer" : "error: token request fails";
}

static json_t *field_json(const struct test_table *t, size_t row, const char *column)
{
	const char *text = test_table_get(t, row, column);
	json_t *value = NULL;

	cr_assert_eq(ic_json_parse(column, text, strlen(text), &value, NULL), 0, "%s", text);
	return value;
}

/* Leaves out the schemes that this library does not keep, since neither runtime answers them. */
static void drop_unknown(json_t *challenges)
{
	for (size_t i = json_array_size(challenges); i-- > 0;) {
		const char *scheme = json_string_value(json_object_get(json_array_get(challenges, i), "scheme"));

		if (strcmp(scheme, "bearer") != 0 && strcmp(scheme, "digest") != 0 && strcmp(scheme, "basic") != 0)
			json_array_remove(challenges, i);
	}
}

TEST(challenge, agrees_with_the_column_of_containers_image)
{
	const char *path = test_shared("facts/www_authenticate.tsv");
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *id = test_table_get(t, row, "id"), *wanted = test_table_get(t, row, "cimage_action");
		json_t *fields = field_json(t, row, "fields_json"), *challenges = field_json(t, row, "cimage_challenges_json"), *got;
		const char *texts[8], *done;
		struct ic_vec list;

		for (size_t i = 0; i < json_array_size(fields); i++)
			texts[i] = json_string_value(json_array_get(fields, i));
		parse_as(IC_RUNTIME_CRIO, texts, json_array_size(fields), &list);
		drop_unknown(challenges);
		got = as_json(&list);
		cr_expect(json_equal(got, challenges), "%s: the challenges differ", id);
		done = action(&list);
		if (strcmp(done, "error: no supported auth scheme") == 0)
			done = "no supported scheme: request goes unauthenticated";
		else if (strcmp(done, "error: no realm") == 0)
			done = "error: missing realm";
		cr_expect_eq(strncmp(wanted, done, strlen(done)), 0, "%s: %s, wanted %s", id, done, wanted);
		json_decref(got);
		json_decref(fields);
		json_decref(challenges);
		ic_challenges_clear(&list);
	}
	cr_log_info("www_authenticate.tsv, containers/image: %zu rows covered, 0 not", test_table_rows(t));
	test_table_close(t);
}

TEST(challenge, agrees_with_the_shared_table)
{
	const char *path = test_shared("facts/www_authenticate.tsv");
	struct test_table *t;

	if (!path)
		cr_skip("no ../shared/facts");
	t = test_table_open(path);
	for (size_t row = 0; row < test_table_rows(t); row++) {
		const char *id = test_table_get(t, row, "id"), *wanted = test_table_get(t, row, "containerd_action");
		json_t *fields = field_json(t, row, "fields_json"), *challenges = field_json(t, row, "containerd_challenges_json");
		const char *texts[8];
		struct ic_vec list;
		json_t *got;

		for (size_t i = 0; i < json_array_size(fields); i++)
			texts[i] = json_string_value(json_array_get(fields, i));
		parse(texts, json_array_size(fields), &list);
		got = as_json(&list);
		cr_expect(json_equal(got, challenges), "%s: the challenges differ", id);
		cr_expect_eq(strncmp(wanted, action(&list), strlen(action(&list))), 0, "%s: %s, wanted %s", id, action(&list), wanted);
		json_decref(got);
		json_decref(fields);
		json_decref(challenges);
		ic_challenges_clear(&list);
	}
	cr_log_info("www_authenticate.tsv: %zu rows covered, 0 not", test_table_rows(t));
	test_table_close(t);
}
