/* Functions that look like training runs: ranges on logarithmic scales, whole numbers, categories, conditions,
 * noise, plateaus of failure (NAN), many local optima. */
#ifndef SEARCH_COMPARE_FUNCTIONS_H
#define SEARCH_COMPARE_FUNCTIONS_H

#include "space/space.h"

struct function {
	const char *name, *parameters;
	double (*value)(const struct space_value *v); /* the least is 0, or not known */
	double noise; /* deviation of what a search is told */
};

extern const struct function functions[]; /* ends with {0} */

#endif
