/* Bounded number parsers and printers in the C locale. No strtol, no sscanf: the whole text must be
 * the number, and what does not fit is refused. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/mem.h"

#include <stdint.h>

#define NUM_REAL_CHARS 32
#define NUM_INT_CHARS 24

/* 0 and *ret set, or -EINVAL (not a number) or -ERANGE (outside min..max); *ret untouched then. */
int num_parse_int(const char *text, size_t len, int64_t min, int64_t max, int64_t *ret) MUST_USE;
/* Decimal digits only, no sign: for lengths, offsets, pids. */
int num_parse_unsigned(const char *text, size_t len, uint64_t max, uint64_t *ret) MUST_USE;
/* Decimal or exponent form; also nan, inf, infinity with a sign, in any case. -EINVAL otherwise. */
int num_parse_real(const char *text, size_t len, double *ret) MUST_USE;
/* Returns the number of characters. */
size_t num_format_int(int64_t value, char text[static NUM_INT_CHARS]);
/* The shortest text that reads back as the same double ("0.1", "1e-05", "3"). */
void num_format_real(double value, char text[static NUM_REAL_CHARS]);
/* Rounded to so many significant decimal digits: 0.1 + 0.2 to 12 of them is 0.3. */
double num_round(double value, int digits);
/* For qsort over doubles, ascending. There must be no NaN among them. */
int num_compare_reals(const void *a, const void *b);

#endif
