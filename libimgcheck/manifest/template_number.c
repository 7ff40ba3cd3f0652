/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/template_number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "manifest/template_text.h"

#define DIGITS_BYTES 40                    /* "%.16e" of a double */
#define EXACT        ((json_int_t)1 << 53) /* integers up to here are exact as a double */
#define TWO_TO_63    9223372036854775808.0

static int out_of_range(struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "a number beyond 64 bits is not supported");
}

static int new_integer(json_int_t n, json_t **out, struct imgcheck_error **err)
{
	*out = json_integer(n);
	return *out ? 0 : ic_error_nomem(err);
}

static int new_float(double n, json_t **out, struct imgcheck_error **err)
{
	if (!isfinite(n))
		return out_of_range(err);
	*out = json_real(n);
	return *out ? 0 : ic_error_nomem(err);
}

bool ic_number_is(const json_t *value)
{
	return json_is_number(value) || json_is_boolean(value);
}

json_int_t ic_number_integer(const json_t *number)
{
	return json_is_boolean(number) ? json_is_true(number) : json_integer_value(number);
}

static double as_float(const json_t *number)
{
	return json_is_real(number) ? json_real_value(number) : (double)ic_number_integer(number);
}

/* ---- reading */

/* A run of digits, without a sign, that may hold single '_' between digits; "0x" and the like say the base. */
static int read_integer(const char *text, size_t len, unsigned base, json_int_t *out, struct imgcheck_error **err)
{
	*out = 0;
	for (size_t i = 0; i < len; i++) {
		char c = ic_to_lower(text[i]);
		int digit = ic_is_digit(c) ? c - '0' : c - 'a' + 10;

		if (c == '_')
			continue;
		if (__builtin_mul_overflow(*out, (json_int_t)base, out) || __builtin_add_overflow(*out, (json_int_t)digit, out))
			return out_of_range(err);
	}
	return 0;
}

int ic_number_integer_literal(const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	char kind = len > 2 && text[0] == '0' ? ic_to_lower(text[1]) : '\0';
	unsigned base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
	size_t prefix = base == 10 ? 0 : 2;
	json_int_t n;
	int result = read_integer(text + prefix, len - prefix, base, &n, err);

	*out = NULL;
	return result < 0 ? result : new_integer(n, out, err);
}

/* Appends the digits at *at, "0" where there are none, and moves behind them; '_' is left out. */
static int add_digits(struct ic_buf *to, const char *text, size_t len, size_t *at, struct imgcheck_error **err)
{
	bool any = false;
	int result = 0;

	for (; result == 0 && *at < len && (text[*at] == '_' || ic_is_digit(text[*at])); ++*at) {
		if (text[*at] != '_')
			result = ic_buf_add_char(to, text[*at], err);
		any = true;
	}
	return result < 0 || any ? result : ic_buf_add_char(to, '0', err);
}

/* A float in Python's notation, already known to be one, in that of JSON, which is read the same in every locale. */
static int add_json_float(struct ic_buf *to, const char *text, size_t len, struct imgcheck_error **err)
{
	size_t at = 0;
	int result;

	while (at + 1 < len && (text[at] == '0' || text[at] == '_') && (text[at + 1] == '_' || ic_is_digit(text[at + 1])))
		at++;
	result = add_digits(to, text, len, &at, err);
	if (result == 0)
		result = ic_buf_add_char(to, '.', err);
	at += at < len && text[at] == '.';
	if (result == 0)
		result = add_digits(to, text, len, &at, err);
	if (result < 0 || at == len)
		return result;
	result = ic_buf_add_char(to, 'e', err);
	if (result == 0 && text[++at] == '-')
		result = ic_buf_add_char(to, '-', err);
	at += !ic_is_digit(text[at]);
	return result < 0 ? result : add_digits(to, text, len, &at, err);
}

int ic_number_float_literal(const char *text, size_t len, json_t **out, struct imgcheck_error **err)
{
	struct ic_buf number IC_AUTO(buf);
	int result;

	*out = NULL;
	ic_buf_init(&number, IC_MAX_TEMPLATE_BYTES);
	result = add_json_float(&number, text, len, err);
	if (result < 0)
		return result;
	result = ic_json_parse(NULL, ic_buf_text(&number), number.len, out, NULL);
	if (result == IMGCHECK_ERR_NOMEM)
		return ic_error_nomem(err);
	return result < 0 ? out_of_range(err) : 0;
}

/* Bytes of digits with single '_' between them. */
static size_t digit_run(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t digit = at + (at && text[at] == '_');

		if (digit >= len || !ic_is_digit(text[digit]))
			break;
		at = digit + 1;
	}
	return at;
}

/* Whether text has the form that Python's float() reads; *integer: that int() reads too. */
static bool has_number_form(const char *text, size_t len, bool *integer)
{
	size_t whole = digit_run(text, len), at = whole, part = 0;

	*integer = whole && whole == len;
	if (at < len && text[at] == '.') {
		part = digit_run(text + at + 1, len - at - 1);
		at += 1 + part;
	}
	if (!whole && !part)
		return false;
	if (at < len && ic_to_lower(text[at]) == 'e') {
		size_t sign = at + 1 < len && (text[at + 1] == '+' || text[at + 1] == '-');
		size_t power = digit_run(text + at + 1 + sign, len - at - 1 - sign);

		if (!power)
			return false;
		at += 1 + sign + power;
	}
	return at == len;
}

static bool is_not_finite(const char *text, size_t len)
{
	return ic_text_equal_nocase(text, len, "inf") || ic_text_equal_nocase(text, len, "infinity") ||
	       ic_text_equal_nocase(text, len, "nan");
}

/* Text as int() or float() reads it: *out is NULL where it is no number. */
static int read_number(const json_t *string, json_t **out, struct imgcheck_error **err)
{
	const char *text = json_string_value(string);
	size_t len = json_string_length(string), front = ic_template_spaces_front(text, len);
	bool minus, integer;
	json_t *number IC_AUTO(json) = NULL;
	json_int_t n;
	int result;

	if (!ic_template_is_ascii(text, len))
		return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "a text beyond ASCII as a number is not supported");
	text += front;
	len -= front;
	len -= ic_template_spaces_back(text, len);
	minus = len && text[0] == '-';
	if (len && (minus || text[0] == '+')) {
		text++;
		len--;
	}
	if (is_not_finite(text, len))
		return out_of_range(err);
	if (!has_number_form(text, len, &integer))
		return 0;
	if (integer) {
		result = read_integer(text, len, 10, &n, err);
		return result < 0 ? result : new_integer(minus ? -n : n, out, err);
	}
	result = ic_number_float_literal(text, len, &number, err);
	return result < 0 ? result : new_float(minus ? -json_real_value(number) : json_real_value(number), out, err);
}

static int truncated(double n, json_t **out, struct imgcheck_error **err)
{
	if (!(n > -TWO_TO_63 && n < TWO_TO_63))
		return out_of_range(err);
	return new_integer((json_int_t)n, out, err);
}

int ic_number_to_integer(const json_t *value, json_t **out, struct imgcheck_error **err)
{
	json_t *read IC_AUTO(json) = NULL;
	int result;

	*out = NULL;
	if (json_is_string(value)) {
		result = read_number(value, &read, err);
		if (result < 0 || !read)
			return result;
		value = read;
	}
	if (json_is_real(value))
		return truncated(json_real_value(value), out, err);
	return ic_number_is(value) ? new_integer(ic_number_integer(value), out, err) : 0;
}

int ic_number_to_float(const json_t *value, json_t **out, struct imgcheck_error **err)
{
	json_t *read IC_AUTO(json) = NULL;
	int result;

	*out = NULL;
	if (json_is_string(value)) {
		result = read_number(value, &read, err);
		if (result < 0 || !read)
			return result;
		value = read;
	}
	return ic_number_is(value) ? new_float(as_float(value), out, err) : 0;
}

/* ---- printing */

/* The shortest digits that read back as the same number, and the power of ten of the first one. */
static size_t shortest_digits(double n, char digits[DIGITS_BYTES], int *power)
{
	char text[DIGITS_BYTES];
	size_t count = 0;

	for (int precision = 0; precision <= 16; precision++) {
		(void)snprintf(text, sizeof(text), "%.*e", precision, n);
		if (strtod(text, NULL) >= n && strtod(text, NULL) <= n)
			break;
	}
	*power = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	for (const char *c = text; *c != 'e'; c++) {
		if (ic_is_digit(*c))
			digits[count++] = *c;
	}
	return count;
}

static int add_zeros(struct ic_buf *out, int count, struct imgcheck_error **err)
{
	int result = 0;

	while (result == 0 && count-- > 0)
		result = ic_buf_add_char(out, '0', err);
	return result;
}

/* Digits with the decimal point behind the first `point` ones; zeros fill what is missing on either side. */
static int add_fixed(struct ic_buf *out, const char *digits, size_t count, int point, struct imgcheck_error **err)
{
	size_t whole = point < 0 ? 0 : (size_t)point < count ? (size_t)point : count;
	int result = whole ? ic_buf_add(out, digits, whole, err) : ic_buf_add_char(out, '0', err);

	if (result == 0)
		result = add_zeros(out, point - (int)count, err);
	if (result == 0)
		result = ic_buf_add_char(out, '.', err);
	if (result == 0)
		result = add_zeros(out, -point, err);
	if (result == 0)
		result = whole < count ? ic_buf_add(out, digits + whole, count - whole, err) : ic_buf_add_char(out, '0', err);
	return result;
}

/* repr() of a float. */
static int add_float(struct ic_buf *out, double n, struct imgcheck_error **err)
{
	char digits[DIGITS_BYTES];
	int power, result = signbit(n) ? ic_buf_add_char(out, '-', err) : 0;
	size_t count = shortest_digits(fabs(n), digits, &power);

	if (result < 0)
		return result;
	if (power >= -4 && power < 16)
		return add_fixed(out, digits, count, power + 1, err);
	return ic_buf_printf(out, err, "%c%s%.*se%c%02d", digits[0], count > 1 ? "." : "", (int)count - 1, digits + 1,
	                     power < 0 ? '-' : '+', power < 0 ? -power : power);
}

int ic_number_add_text(const json_t *number, struct ic_buf *out, struct imgcheck_error **err)
{
	if (json_is_boolean(number))
		return ic_buf_add_text(out, json_is_true(number) ? "True" : "False", err);
	if (json_is_real(number))
		return add_float(out, json_real_value(number), err);
	return ic_buf_printf(out, err, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
}

/* ---- comparing */

static int compare_integers(json_int_t a, json_int_t b)
{
	return (a > b) - (a < b);
}

static int compare_floats(double a, double b)
{
	return (a > b) - (a < b);
}

/* Without rounding the integer. */
static int compare_mixed(json_int_t a, double b)
{
	double whole = floor(b);

	if (b >= TWO_TO_63)
		return -1;
	if (b < -TWO_TO_63)
		return 1;
	if (a != (json_int_t)whole)
		return compare_integers(a, (json_int_t)whole);
	return whole < b ? -1 : 0;
}

int ic_number_compare(const json_t *a, const json_t *b)
{
	if (json_is_real(a) && json_is_real(b))
		return compare_floats(json_real_value(a), json_real_value(b));
	if (json_is_real(a))
		return -compare_mixed(ic_number_integer(b), json_real_value(a));
	if (json_is_real(b))
		return compare_mixed(ic_number_integer(a), json_real_value(b));
	return compare_integers(ic_number_integer(a), ic_number_integer(b));
}

/* ---- computing */

static int by_zero(struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "it divides by zero");
}

/* Jinja2 gives (-2) ** x as -(2 ** x) where the base is a constant and x is not. */
static int negative_base(struct imgcheck_error **err)
{
	return ic_error_set(err, IMGCHECK_ERR_UNSUPPORTED, "a power of a negative number is not supported");
}

/* The power operator of Python for floats. */
static int float_power(double a, double b, json_t **out, struct imgcheck_error **err)
{
	if (a == 0 && b < 0)
		return by_zero(err);
	if (a < 0)
		return negative_base(err);
	return new_float(pow(a, b), out, err);
}

/* Python's remainder has the sign of the divisor; the quotient fits to it. */
static int float_divide(enum ic_operator op, double a, double b, json_t **out, struct imgcheck_error **err)
{
	double rest, quotient;

	if (b == 0)
		return by_zero(err);
	if (op == IC_OP_DIVIDE)
		return new_float(a / b, out, err);
	rest = fmod(a, b);
	quotient = (a - rest) / b;
	if (rest != 0) {
		if ((b < 0) != (rest < 0)) {
			rest += b;
			quotient -= 1;
		}
	} else {
		rest = copysign(0, b);
	}
	if (op == IC_OP_MODULO)
		return new_float(rest, out, err);
	if (quotient == 0)
		return new_float(copysign(0, a / b), out, err);
	return new_float(quotient - floor(quotient) > 0.5 ? floor(quotient) + 1 : floor(quotient), out, err);
}

static int compute_floats(enum ic_operator op, double a, double b, json_t **out, struct imgcheck_error **err)
{
	if (op == IC_OP_ADD)
		return new_float(a + b, out, err);
	if (op == IC_OP_SUBTRACT)
		return new_float(a - b, out, err);
	if (op == IC_OP_MULTIPLY)
		return new_float(a * b, out, err);
	return op == IC_OP_POWER ? float_power(a, b, out, err) : float_divide(op, a, b, out, err);
}

static int integer_power(json_int_t base, json_int_t power, json_t **out, struct imgcheck_error **err)
{
	json_int_t product = 1;

	if (base < 0)
		return negative_base(err);
	if (power < 0)
		return float_power((double)base, (double)power, out, err);
	while (power > 0) {
		if ((power & 1) && __builtin_mul_overflow(product, base, &product))
			return out_of_range(err);
		power >>= 1;
		if (power && __builtin_mul_overflow(base, base, &base))
			return out_of_range(err);
	}
	return new_integer(product, out, err);
}

/* Rounds down, as Python does; the remainder has the sign of the divisor. */
static int integer_divide(enum ic_operator op, json_int_t a, json_int_t b, json_t **out, struct imgcheck_error **err)
{
	json_int_t quotient, rest;

	if (b == 0)
		return by_zero(err);
	if (op == IC_OP_DIVIDE) {
		if (a > EXACT || a < -EXACT || b > EXACT || b < -EXACT)
			return out_of_range(err);
		return new_float((double)a / (double)b, out, err);
	}
	if (b == -1 && a == INT64_MIN)
		return out_of_range(err);
	quotient = a / b;
	rest = a % b;
	if (rest != 0 && (rest < 0) != (b < 0)) {
		rest += b;
		quotient -= 1;
	}
	return new_integer(op == IC_OP_MODULO ? rest : quotient, out, err);
}

static int compute_integers(enum ic_operator op, json_int_t a, json_int_t b, json_t **out, struct imgcheck_error **err)
{
	json_int_t n = 0;
	bool over;

	if (op == IC_OP_ADD)
		over = __builtin_add_overflow(a, b, &n);
	else if (op == IC_OP_SUBTRACT)
		over = __builtin_sub_overflow(a, b, &n);
	else if (op == IC_OP_MULTIPLY)
		over = __builtin_mul_overflow(a, b, &n);
	else
		return op == IC_OP_POWER ? integer_power(a, b, out, err) : integer_divide(op, a, b, out, err);
	return over ? out_of_range(err) : new_integer(n, out, err);
}

int ic_number_compute(enum ic_operator op, const json_t *a, const json_t *b, json_t **out, struct imgcheck_error **err)
{
	*out = NULL;
	if (json_is_real(a) || json_is_real(b))
		return compute_floats(op, as_float(a), as_float(b), out, err);
	return compute_integers(op, ic_number_integer(a), ic_number_integer(b), out, err);
}

int ic_number_negate(const json_t *number, json_t **out, struct imgcheck_error **err)
{
	*out = NULL;
	if (json_is_real(number))
		return new_float(-json_real_value(number), out, err);
	if (ic_number_integer(number) == INT64_MIN)
		return out_of_range(err);
	return new_integer(-ic_number_integer(number), out, err);
}
