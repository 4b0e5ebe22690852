/* Measures what the script and all its processes use, from /proc and from the kernel's figures for ended children. */
#ifndef NODE_USAGE_H
#define NODE_USAGE_H

#include "base/cost.h"

#include <stdint.h>
#include <sys/types.h>

/* Looks at every living descendant of this process. Sets FIGURE_CPU and raises FIGURE_MEMORY, which is the largest of:
 * the peak of any single ended process, and the sum over all living processes whenever it was looked at (shared pages
 * count in each). */
void usage_sample(struct cost *cost);
/* The memory that all living descendants use together. Only if the sum of their resident memory is above `limit_bytes`,
 * shared pages are divided among them, which is slower. */
double usage_memory_bytes(double limit_bytes);
/* Counts only ended children: exact once all have ended and were waited for. */
void usage_final(struct cost *cost);

#endif
