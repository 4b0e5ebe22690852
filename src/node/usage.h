/* What the script and everything it started use, from /proc and from the kernel's account of ended
 * children. */
#ifndef NODE_USAGE_H
#define NODE_USAGE_H

#include "base/cost.h"

#include <stdint.h>
#include <sys/types.h>

/* Looks at every descendant of this process that lives. Sets FIGURE_CPU and raises FIGURE_MEMORY, which is the largest
 * of: the peak of any single ended process, and the sum over all living processes whenever it was looked at (shared
 * pages count in each). */
void usage_sample(struct cost *cost);
/* The memory that all living descendants use together. Only where the sum of what each has resident is above `limit_bytes`
 * are shared pages shared out among them, which costs more. */
double usage_memory_bytes(double limit_bytes);
/* The ended ones only: exact once all children have ended and were waited for. */
void usage_final(struct cost *cost);

#endif
