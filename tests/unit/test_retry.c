/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/retry.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "test.h"

#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"

TEST(retry, times_are_seconds_or_dates)
{
	static const struct {
		const char *value, *date;
		bool ok;
		ic_msec delay;
	} rows[] = {
		{"30", NULL, true, 30000},
		{"0", NULL, true, 0},
		{"99999999999999", NULL, true, 86400000},
		{"Sun, 06 Nov 1994 08:50:07 GMT", DATE, true, 30000},
		{DATE, DATE, true, 0},
		{"Tue, 28 Feb 2023 23:59:50 GMT", "Tue, 28 Feb 2023 23:59:40 GMT", true, 10000},
		{"Wed, 01 Mar 2023 00:00:10 GMT", "Tue, 28 Feb 2023 23:59:50 GMT", true, 20000},
		{"Fri, 01 Mar 2024 00:00:10 GMT", "Thu, 29 Feb 2024 23:59:50 GMT", true, 20000},
		{"Mon, 01 Jan 2024 00:00:05 GMT", "Sun, 31 Dec 2023 23:59:55 GMT", true, 10000},
		{"Sun, 06 Nov 2044 08:49:37 GMT", DATE, true, 86400000},
		{"Sun, 06 Nov 1994 08:49:07 GMT", DATE, false, 0},
		{DATE, NULL, false, 0},
		{DATE, "yesterday", false, 0},
		{"", NULL, false, 0},
		{"-1", NULL, false, 0},
		{"1.5", NULL, false, 0},
		{" 30", NULL, false, 0},
		{"880.092\xc2\xb5s, allowed: 44000/minute", DATE, false, 0},
		{"Sun, 06 Foo 1994 08:49:37 GMT", DATE, false, 0},
		{"Sun, 32 Nov 1994 08:49:37 GMT", DATE, false, 0},
		{"Sun, 06 Nov 1994 25:49:37 GMT", DATE, false, 0},
		{"Sun, 06 Nov 1994 08:49:37 UTC", DATE, false, 0},
		{"Sunday, 06-Nov-94 08:49:37 GMT", DATE, false, 0},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		ic_msec delay = -7;

		cr_expect_eq(ic_retry_after(rows[i].value, rows[i].date, &delay), rows[i].ok, "%s", rows[i].value);
		if (rows[i].ok)
			cr_expect_eq(delay, rows[i].delay, "%s: %lld", rows[i].value, (long long)delay);
	}
}

TEST(retry, what_remains_is_read)
{
	static const struct {
		const char *field;
		bool told;
		size_t remaining;
	} cases[] = {
		{"ratelimit-remaining: 76;w=21600", true, 76}, {"ratelimit-remaining: 0;w=21600", true, 0},
		{"x-ratelimit-remaining: 12", true, 12},       {"ratelimit-remaining: -1", false, 0},
		{"ratelimit-remaining: many", false, 0},       {"ratelimit-limit: 100;w=21600", false, 0},
		{"ratelimit-remaining: 99999999999999999999999", false, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ic_http_answer answer = {.status = 200};
		size_t remaining = 0;

		ic_texts_init(&answer.header, 4);
		cr_assert_eq(ic_texts_push(&answer.header, cases[i].field, strlen(cases[i].field), NULL), 0);
		cr_expect_eq(ic_remaining(&answer, &remaining), cases[i].told, "%s", cases[i].field);
		cr_expect(!cases[i].told || remaining == cases[i].remaining, "%s: %zu", cases[i].field, remaining);
		ic_texts_clear(&answer.header);
	}
}

TEST(retry, what_is_repeated_and_when)
{
	const struct ic_profile *crio = ic_profile_get(IC_RUNTIME_CRIO);
	const struct {
		enum ic_http_end end;
		long status;
		const char *after;
		struct ic_retry state;
		ic_msec delay;
	} rows[] = {
		{IC_HTTP_ANSWERED, 200, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 404, "1", {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 403, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 429, NULL, {NULL, 1, 0, false, 60000, false, 0}, 1000},
		{IC_HTTP_ANSWERED, 429, NULL, {NULL, 2, 429, false, 60000, false, 0}, 2000},
		{IC_HTTP_ANSWERED, 429, NULL, {NULL, 4, 429, true, 60000, false, 0}, 8000},
		{IC_HTTP_ANSWERED, 429, NULL, {NULL, IC_MAX_ATTEMPTS, 429, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 429, "3", {NULL, 1, 0, true, 60000, false, 0}, 3000},
		{IC_HTTP_ANSWERED, 429, "soon", {NULL, 1, 0, true, 60000, false, 0}, 1000},
		{IC_HTTP_ANSWERED, 429, "3600", {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 429, "60", {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 408, NULL, {NULL, 1, 0, false, 60000, false, 0}, 1000},
		{IC_HTTP_ANSWERED, 503, NULL, {NULL, 1, 0, true, 60000, false, 0}, 500},
		{IC_HTTP_ANSWERED, 503, "2", {NULL, 1, 0, true, 60000, false, 0}, 2000},
		{IC_HTTP_ANSWERED, 503, NULL, {NULL, 1, 0, false, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 503, NULL, {NULL, 2, 503, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 503, NULL, {NULL, 2, 500, true, 60000, false, 0}, 500},
		{IC_HTTP_ANSWERED, 500, NULL, {NULL, 1, 0, true, 60000, false, 0}, 500},
		{IC_HTTP_ANSWERED, 504, NULL, {NULL, 1, 0, true, 60000, false, 0}, 500},
		{IC_HTTP_ANSWERED, 502, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_BROKEN, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, 100},
		{IC_HTTP_BROKEN, 0, NULL, {NULL, 2, 0, true, 60000, false, 0}, 100},
		{IC_HTTP_BROKEN, 0, NULL, {NULL, 3, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_BROKEN, 0, NULL, {NULL, 1, 0, false, 60000, false, 0}, -1},
		{IC_HTTP_BROKEN, 0, NULL, {NULL, 1, 0, true, 50, false, 0}, -1},
		{IC_HTTP_REFUSED, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, 500},
		{IC_HTTP_REFUSED, 0, NULL, {NULL, 2, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_UNRESOLVED, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, 500},
		{IC_HTTP_STALLED, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, 500},
		{IC_HTTP_TLS, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_TOO_LARGE, 503, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_DEADLINE, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_FAILED, 0, NULL, {NULL, 1, 0, true, 60000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 429, "1", {NULL, 1, 0, true, 60000, true, 0}, -1},
		{IC_HTTP_ANSWERED, 503, NULL, {NULL, 1, 0, true, 60000, true, 0}, -1},
		{IC_HTTP_BROKEN, 0, NULL, {NULL, 1, 0, true, 60000, true, 0}, -1},
		{IC_HTTP_ANSWERED, 429, NULL, {crio, 1, 0, false, 600000, false, 0}, 2000},
		{IC_HTTP_ANSWERED, 429, NULL, {crio, 4, 429, false, 600000, false, 0}, 16000},
		{IC_HTTP_ANSWERED, 429, "5", {crio, 1, 0, false, 600000, false, 0}, 5000},
		{IC_HTTP_ANSWERED, 429, "soon", {crio, 1, 0, false, 600000, false, 0}, 2000},
		{IC_HTTP_ANSWERED, 429, "3600", {crio, 1, 0, false, 600000, false, 0}, 60000},
		{IC_HTTP_ANSWERED, 429, NULL, {crio, IC_MAX_ATTEMPTS, 429, true, 600000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 408, NULL, {crio, 1, 0, true, 600000, false, 0}, -1},
		{IC_HTTP_ANSWERED, 503, "1", {crio, 1, 0, true, 600000, false, 0}, -1},
		{IC_HTTP_BROKEN, 0, NULL, {crio, 1, 0, true, 600000, false, 0}, -1},
		{IC_HTTP_REFUSED, 0, NULL, {crio, 1, 0, true, 600000, false, 0}, -1},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		struct ic_http_answer answer = {.end = rows[i].end, .status = rows[i].status};
		struct ic_retry state = rows[i].state;
		char field[64];

		if (!state.profile)
			state.profile = ic_profile_get(IC_RUNTIME_CONTAINERD);
		ic_texts_init(&answer.header, 4);
		(void)snprintf(field, sizeof(field), "retry-after: %s", rows[i].after ? rows[i].after : "");
		if (rows[i].after)
			cr_assert_eq(ic_texts_push(&answer.header, field, strlen(field), NULL), 0);
		cr_expect_eq(ic_retry_delay(&state, &answer), rows[i].delay, "row %zu", i);
		ic_texts_clear(&answer.header);
	}
}

TEST(retry, what_is_turned_away_among_others_is_repeated_whoever_asks)
{
	const struct ic_profile *profiles[] = {ic_profile_get(IC_RUNTIME_CONTAINERD), ic_profile_get(IC_RUNTIME_CRIO)};
	static const struct {
		enum ic_http_end end;
		long status;
		bool crowded_out;
	} rows[] = {
		{IC_HTTP_ANSWERED, 429, true}, {IC_HTTP_ANSWERED, 503, true},  {IC_HTTP_REFUSED, 0, true},
		{IC_HTTP_BROKEN, 0, true},     {IC_HTTP_TLS, 0, true},         {IC_HTTP_UNRESOLVED, 0, true},
		{IC_HTTP_BROKEN, 200, false},  {IC_HTTP_ANSWERED, 404, false}, {IC_HTTP_ANSWERED, 502, false},
		{IC_HTTP_STALLED, 0, false},   {IC_HTTP_DEADLINE, 0, false},   {IC_HTTP_UNSENT, 0, false},
		{IC_HTTP_FAILED, 0, false},    {IC_HTTP_TOO_LARGE, 503, false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		for (size_t p = 0; p < IC_COUNT(profiles); p++) {
			struct ic_http_answer answer = {.end = rows[i].end, .status = rows[i].status, .crowded = true};
			struct ic_retry state = {.profile = profiles[p], .sent = 1, .left = 60000};
			struct ic_retry late = {.profile = profiles[p], .sent = 1, .left = 50};
			struct ic_retry write = {.profile = profiles[p], .sent = 1, .left = 60000, .writes = true};
			unsigned repeated = 0;

			cr_expect_eq(ic_retry_is_crowded_out(&answer), rows[i].crowded_out, "row %zu", i);
			cr_expect_lt(ic_retry_delay(&late, &answer), 0, "row %zu", i);
			cr_expect_lt(ic_retry_delay(&write, &answer), 0, "row %zu", i);
			for (; rows[i].crowded_out && ic_retry_delay(&state, &answer) > 0; repeated++)
				ic_retry_count(&state, &answer);
			cr_expect_eq(repeated, rows[i].crowded_out ? IC_MAX_CROWDED : 0, "row %zu: %u", i, repeated);
			cr_expect_eq(state.sent, 1, "row %zu: the others are counted apart", i);
			answer.crowded = false;
			cr_expect_not(ic_retry_is_crowded_out(&answer), "row %zu", i);
		}
}

TEST(retry, the_same_status_twice_means_twice_alone)
{
	struct ic_retry state = {.profile = ic_profile_get(IC_RUNTIME_CONTAINERD), .sent = 1, .last_host = true, .left = 60000};
	struct ic_http_answer answer = {.end = IC_HTTP_ANSWERED, .status = 503, .crowded = true};

	ic_retry_count(&state, &answer);
	answer.crowded = false;
	cr_expect_eq(ic_retry_delay(&state, &answer), 500);
	ic_retry_count(&state, &answer);
	cr_expect_eq(ic_retry_delay(&state, &answer), -1);
}
