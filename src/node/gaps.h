/* Steps that are missing in what was seen of a file with one row, which its script writes over each time. */
#ifndef NODE_GAPS_H
#define NODE_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first gap: nothing was seen between *ret_from (0: the beginning) and *ret_to. Epochs count by one; other steps are
 * as far apart as the nearest two. False: there is no gap. `resumes`: the first step may be any. */
bool gaps_find(const int64_t *steps, size_t count, bool epochs, bool resumes, int64_t *ret_from, int64_t *ret_to);

#endif
