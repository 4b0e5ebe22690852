/* How much longer an experiment takes: what its running tasks still need, and its tasks that have not begun, each as long
 * as those that have ended. Pure. */
#ifndef MODEL_REMAINING_H
#define MODEL_REMAINING_H

#include <stdbool.h>
#include <stddef.h>

/* A figure that encloses the true value 9 times out of 10 between low and high. */
struct remaining_range {
	double median, low, high;
};

/* Fewer ended tasks say nothing about those to come. */
#define REMAINING_TASKS_LEAST 3

/* `running` has `running_count` ranges of what is left of each running task; `ended` has `ended_count` amounts that whole
 * tasks took; `waiting` tasks have not begun. The result is the sum of all work. False: it is not known. */
bool remaining_work(const struct remaining_range *running, size_t running_count, const double *ended,
		    size_t ended_count, double waiting, struct remaining_range *ret);
/* The time that this work takes with so many tasks at once. It is never less than what the longest running one needs. */
void remaining_time(const struct remaining_range *work, const struct remaining_range *running, size_t running_count,
		    double at_once, struct remaining_range *ret);

#endif
