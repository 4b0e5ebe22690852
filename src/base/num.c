/* Bounded number parsers: see num.h. */
#include "base/num.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

int num_parse_unsigned(const char *text, size_t len, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	if (!len)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		uint64_t digit = (uint64_t)(text[i] - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int num_parse_int(const char *text, size_t len, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = len && text[0] == '-';
	size_t skip = len && (text[0] == '-' || text[0] == '+');
	uint64_t value;
	int rc = num_parse_unsigned(text + skip, len - skip, (uint64_t)INT64_MAX + negative, &value);
	if (rc < 0)
		return rc;
	int64_t signed_value = negative ? (int64_t)(0 - value) : (int64_t)value;
	if (signed_value < min || signed_value > max)
		return -ERANGE;
	*ret = signed_value;
	return 0;
}

/* digits [. digits] [e [sign] digits], with a digit before or after the point. */
static bool num_is_decimal(const char *s, size_t len)
{
	size_t i = 0, digits = 0;
	while (i < len && isdigit((unsigned char)s[i]))
		i++, digits++;
	if (i < len && s[i] == '.') {
		i++;
		while (i < len && isdigit((unsigned char)s[i]))
			i++, digits++;
	}
	if (!digits)
		return false;
	if (i < len && (s[i] == 'e' || s[i] == 'E')) {
		size_t exponent = 0;
		i++;
		if (i < len && (s[i] == '+' || s[i] == '-'))
			i++;
		while (i < len && isdigit((unsigned char)s[i]))
			i++, exponent++;
		if (!exponent)
			return false;
	}
	return i == len;
}

int num_parse_real(const char *text, size_t len, double *ret)
{
	char copy[512];
	if (!len || len >= sizeof(copy))
		return -EINVAL;
	bool negative = text[0] == '-';
	size_t skip = text[0] == '-' || text[0] == '+';
	const char *body = text + skip;
	size_t left = len - skip;

	if (left == 3 && !strncasecmp(body, "nan", 3)) {
		*ret = NAN;
		return 0;
	}
	if ((left == 3 && !strncasecmp(body, "inf", 3)) || (left == 8 && !strncasecmp(body, "infinity", 8))) {
		*ret = negative ? -INFINITY : INFINITY;
		return 0;
	}
	if (!num_is_decimal(body, left))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = 0;
	*ret = strtod(copy, NULL);
	return 0;
}

size_t num_format_int(int64_t value, char text[static NUM_INT_CHARS])
{
	char digits[NUM_INT_CHARS];
	size_t count = 0, at = 0;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	do
		digits[count++] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		text[at++] = '-';
	while (count)
		text[at++] = digits[--count];
	text[at] = 0;
	return at;
}

/* Most numbers are counts, times and results with few decimals: these need no search for the digits that read back. The
 * text has at most 15 digits, so it is the one that the search would find. `parts` is 10 to the number of decimals. */
static bool num_format_parts(double value, int64_t parts, char text[static NUM_REAL_CHARS])
{
	if (!(fabs(value) < 1e15 / (double)parts))
		return false;
	int64_t count = llrint(value * (double)parts), whole = count / parts, rest = count % parts;
	if ((double)count / (double)parts != value)
		return false;
	if (rest < 0)
		rest = -rest;
	size_t at = 0;
	if (value < 0 && !whole)
		text[at++] = '-';
	at += num_format_int(whole, text + at);
	if (rest)
		text[at++] = '.';
	for (int64_t digit = parts / 10; rest; digit /= 10) {
		text[at++] = (char)('0' + rest / digit);
		rest %= digit;
	}
	text[at] = 0;
	return true;
}

void num_format_real(double value, char text[static NUM_REAL_CHARS])
{
	if (value == 0) { /* "-0" would read back as the whole number 0 */
		snprintf(text, NUM_REAL_CHARS, "%s", signbit(value) ? "-0.0" : "0");
		return;
	}
	if (num_format_parts(value, 1000, text))
		return;
	/* What is smaller is written with an exponent. */
	if (fabs(value) >= 1e-4 &&
	    (num_format_parts(value, 1000000, text) || num_format_parts(value, 1000000000, text)))
		return;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, NUM_REAL_CHARS, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			return;
	}
}

double num_round(double value, int digits)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*g", digits, value);
	return strtod(text, NULL);
}

int num_compare_reals(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}
