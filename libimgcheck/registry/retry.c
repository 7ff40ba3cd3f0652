/* SPDX-License-Identifier: Apache-2.0 */
#include "retry.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#define MAX_WAIT_SECONDS ((size_t)24 * 3600) /* longer than any run */
#define FAULT_WAIT 500
#define BROKEN_WAIT 100

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
	int64_t era, of_era, of_year;

	year -= month <= 2;
	era = year / 400;
	of_era = year - era * 400;
	of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool read_number(const char *text, size_t len, size_t max, int64_t *out)
{
	size_t value;

	if (!ic_text_to_size(text, len, max, &value))
		return false;
	*out = (int64_t)value;
	return true;
}

/* The month's number, 1 to 12; 0 where the name is none. */
static int64_t read_month(const char *name)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int64_t month = 1; month <= 12; month++)
		if (strncmp(names + 3 * (month - 1), name, 3) == 0)
			return month;
	return 0;
}

/* Digits are in the places of digits, and all else is as it must be. */
static bool has_date_form(const char *text)
{
	static const char form[] = "???, dd ??? dddd dd:dd:dd GMT";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? !ic_is_digit(text[i]) : form[i] == '?' ? !ic_is_alpha(text[i]) : text[i] != form[i])
			return false;
	return true;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7), the one form that is still sent. */
static bool read_date(const char *text, int64_t *out)
{
	int64_t year, day, hour, minute, second, month;

	if (!has_date_form(text))
		return false;
	month = read_month(text + 8);
	if (month == 0 || !read_number(text + 5, 2, 31, &day) || !read_number(text + 12, 4, 9999, &year) ||
	    !read_number(text + 17, 2, 23, &hour) || !read_number(text + 20, 2, 59, &minute) ||
	    !read_number(text + 23, 2, 60, &second))
		return false;
	*out = ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
	return true;
}

bool ic_retry_after(const char *value, const char *date, ic_msec *out)
{
	int64_t then, now;
	size_t seconds;

	if (ic_text_to_size(value, strlen(value), SIZE_MAX, &seconds)) {
		*out = (ic_msec)(seconds < MAX_WAIT_SECONDS ? seconds : MAX_WAIT_SECONDS) * 1000;
		return true;
	}
	if (!date || !read_date(value, &then) || !read_date(date, &now) || then < now)
		return false;
	then -= now;
	*out = (then < (int64_t)MAX_WAIT_SECONDS ? then : (int64_t)MAX_WAIT_SECONDS) * 1000;
	return true;
}

static ic_msec wait_as_told(const struct ic_http_answer *answer, ic_msec otherwise)
{
	const char *value = ic_http_header(answer, "retry-after", 0);
	ic_msec told;

	return value && ic_retry_after(value, ic_http_header(answer, "date", 0), &told) ? told : otherwise;
}

static ic_msec delay_for_status(const struct ic_retry *state, const struct ic_http_answer *answer)
{
	const struct ic_profile *profile = state->profile;
	long status = answer->status;

	if (status == 429 || (status == 408 && profile->repeats_faults)) {
		ic_msec wait = wait_as_told(answer, profile->first_wait << (state->sent - 1));

		return wait < profile->most_wait ? wait : profile->most_wait;
	}
	if (ic_retry_is_crowded_out(answer))
		return wait_as_told(answer, FAULT_WAIT);
	if (!profile->repeats_faults || !state->last_host || status == state->last_status)
		return -1;
	return status == 500 || status == 503 || status == 504 ? wait_as_told(answer, FAULT_WAIT) : -1;
}

/* An answer that did not come is worth one more try, a broken one two. */
static ic_msec delay_for_end(const struct ic_retry *state, enum ic_http_end end)
{
	switch (end) {
	case IC_HTTP_BROKEN:
		return state->last_host && state->sent < 3 ? BROKEN_WAIT : -1;
	case IC_HTTP_UNRESOLVED:
	case IC_HTTP_REFUSED:
	case IC_HTTP_STALLED:
		return state->last_host && state->sent < 2 ? FAULT_WAIT : -1;
	case IC_HTTP_ANSWERED:
	case IC_HTTP_TLS:
	case IC_HTTP_TOO_LARGE:
	case IC_HTTP_DEADLINE:
	case IC_HTTP_UNSENT:
	case IC_HTTP_FAILED:
		return -1;
	}
	return -1;
}

bool ic_remaining(const struct ic_http_answer *answer, size_t *out)
{
	static const char *const names[] = {"ratelimit-remaining", "x-ratelimit-remaining"};

	for (size_t i = 0; i < IC_COUNT(names); i++) {
		const char *value = ic_http_header(answer, names[i], 0);

		if (value && ic_text_to_size(value, strspn(value, "0123456789"), SIZE_MAX, out))
			return true;
	}
	return false;
}

bool ic_retry_is_crowded_out(const struct ic_http_answer *answer)
{
	if (!answer->crowded)
		return false;
	switch (answer->end) {
	case IC_HTTP_ANSWERED:
		return answer->status == 429 || answer->status == 503;
	case IC_HTTP_UNRESOLVED:
	case IC_HTTP_REFUSED:
	case IC_HTTP_TLS:
		return true;
	case IC_HTTP_BROKEN:
		return answer->status == 0;
	case IC_HTTP_STALLED:
	case IC_HTTP_TOO_LARGE:
	case IC_HTTP_DEADLINE:
	case IC_HTTP_UNSENT:
	case IC_HTTP_FAILED:
		return false;
	}
	return false;
}

void ic_retry_count(struct ic_retry *state, const struct ic_http_answer *answer)
{
	if (ic_retry_is_crowded_out(answer)) {
		state->crowded++;
		return;
	}
	state->sent++;
	state->last_status = answer->status;
}

ic_msec ic_retry_delay(const struct ic_retry *state, const struct ic_http_answer *answer)
{
	bool crowded_out = ic_retry_is_crowded_out(answer);
	ic_msec delay;

	if (state->writes || (crowded_out ? state->crowded >= IC_MAX_CROWDED : state->sent >= IC_MAX_ATTEMPTS))
		return -1;
	if (answer->end != IC_HTTP_ANSWERED && !crowded_out && !state->profile->repeats_faults)
		return -1;
	if (answer->end == IC_HTTP_ANSWERED)
		delay = delay_for_status(state, answer);
	else
		delay = crowded_out ? FAULT_WAIT : delay_for_end(state, answer->end);
	return delay < state->left ? delay : -1;
}
