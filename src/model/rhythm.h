/* How much longer a run takes, from the times at which its steps ended so far. The first step is never counted: it
 * has the start of the program in it. Pure: no store, no clock. */
#ifndef MODEL_RHYTHM_H
#define MODEL_RHYTHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps that count: a run that has become slower is judged by its newest ones. */
#define RHYTHM_STEPS_MOST 50

/* Times in milliseconds; low and high enclose the true value 9 times out of 10, if the steps go on as they did. */
struct rhythm_left {
	double median_ms, low_ms, high_ms;
	double step_ms; /* one step */
};

/* `ended_ms` are the ends of `count` steps in a row, ascending (the newest RHYTHM_STEPS_MOST + 1 are used); `to_go`
 * steps are left after the last. False where it is not known: fewer than three steps after the first. */
bool rhythm_left(const int64_t *ended_ms, size_t count, double to_go, int64_t now_ms, struct rhythm_left *ret);

#endif
