/* See number.h. */
#include "metrics/number.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_CHARS 64

/* The largest up to which all whole numbers are exact. */
#define NUMBER_EXACT 9007199254740992.0

bool number_is_rounded(const char *text, size_t len, double value)
{
	char digits[NUMBER_CHARS];
	if (!(fabs(value) >= NUMBER_EXACT) || fabs(value) > 1e30)
		return false;
	while (len && (*text == '-' || *text == '+' || (*text == '0' && len > 1)))
		text++, len--;
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	snprintf(digits, sizeof(digits), "%.0f", fabs(value));
	return strlen(digits) != len || memcmp(digits, text, len) != 0;
}

int number_parse(const char *text, size_t len, double *ret)
{
	char plain[NUMBER_CHARS];
	int rc = num_parse_real(text, len, ret);
	if (rc == 0 || len < 3 || len > sizeof(plain))
		return rc;
	memcpy(plain, text, len);
	for (size_t i = 1; i + 1 < len; i++) {
		bool number = isdigit((unsigned char)plain[i - 1]) || plain[i - 1] == '.';
		bool julia = plain[i] == 'f' && memchr(plain, '.', i); /* 0.5f0 */
		if (number && (plain[i] == 'D' || plain[i] == 'd' || julia)) {
			plain[i] = 'e';
			return num_parse_real(plain, len, ret);
		}
	}
	return rc;
}
