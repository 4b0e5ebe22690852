/* See remaining.h. */
#include "model/remaining.h"

#include <math.h>

/* The normal distribution at 95 %, one-sided. */
#define REMAINING_Z 1.6448536

static double remaining_most(double a, double b)
{
	return a > b ? a : b;
}

bool remaining_work(const struct remaining_range *running, size_t running_count, const double *ended,
		    size_t ended_count, double waiting, struct remaining_range *ret)
{
	double sum = 0, variance = 0, mean = 0, squares = 0, n = (double)ended_count;
	if (waiting > 0 && ended_count < REMAINING_TASKS_LEAST)
		return false;
	for (size_t i = 0; i < running_count; i++) {
		double spread = (running[i].high - running[i].low) / (2 * REMAINING_Z);
		sum += running[i].median;
		variance += spread * spread;
	}
	for (size_t i = 0; i < ended_count; i++)
		mean += ended[i] / n;
	for (size_t i = 0; i < ended_count; i++)
		squares += (ended[i] - mean) * (ended[i] - mean);
	if (waiting > 0) { /* how they differ, and how well their mean is known */
		double each = squares / (n - 1);
		sum += waiting * mean;
		variance += each * (waiting + waiting * waiting / n);
	}
	double off = REMAINING_Z * sqrt(variance);
	*ret = (struct remaining_range){.median = sum, .low = remaining_most(sum - off, 0), .high = sum + off};
	return true;
}

void remaining_time(const struct remaining_range *work, const struct remaining_range *running, size_t running_count,
		    double at_once, struct remaining_range *ret)
{
	double slots = at_once > 1 ? at_once : 1;
	*ret = (struct remaining_range){work->median / slots, work->low / slots, work->high / slots};
	for (size_t i = 0; i < running_count; i++) {
		ret->median = remaining_most(ret->median, running[i].median);
		ret->low = remaining_most(ret->low, running[i].low);
		ret->high = remaining_most(ret->high, running[i].high);
	}
}
