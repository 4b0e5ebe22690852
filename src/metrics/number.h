/* Numbers as programs write them. */
#ifndef METRICS_NUMBER_H
#define METRICS_NUMBER_H

#include "base/mem.h"

#include <stdbool.h>

/* As num_parse_real, also with the exponents of Fortran (1.0D-03) and of Julia's short numbers (0.5f0). */
int number_parse(const char *text, size_t len, double *ret) MUST_USE;
/* Is the text a whole number in digits that is not exactly the value? That begins beyond 2^53. */
bool number_is_rounded(const char *text, size_t len, double value);

#endif
