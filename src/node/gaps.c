/* See gaps.h. */
#include "node/gaps.h"

bool gaps_find(const int64_t *steps, size_t count, bool epochs, bool resumes, int64_t *ret_from, int64_t *ret_to)
{
	int64_t usual = epochs ? 1 : INT64_MAX;
	for (size_t i = 1; i < count; i++)
		if (steps[i] > steps[i - 1] && steps[i] - steps[i - 1] < usual)
			usual = steps[i] - steps[i - 1];
	for (size_t i = resumes ? 1 : 0; i < count; i++) {
		int64_t before = i ? steps[i - 1] : 0;
		if (steps[i] - before <= usual)
			continue;
		*ret_from = before;
		*ret_to = steps[i];
		return true;
	}
	return false;
}
