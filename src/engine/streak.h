/* Counts failures of one kind in a row, to pause an experiment before it wastes more time. */
#ifndef ENGINE_STREAK_H
#define ENGINE_STREAK_H

#include <stdbool.h>
#include <stdint.h>

/* This many failures of one kind pause an experiment in which nothing has succeeded yet. Its file may set another
 * number. */
#define STREAK_FIRST 3
/* The number once a task has succeeded: then the cause may be the configurations, not the script. */
#define STREAK_LATER 12

struct streak {
	char *kind; /* of the last failure: its message without the numbers in it */
	int64_t count;
};

/* Adds a failure. Returns how many of this kind there were in a row. */
int64_t streak_add_failure(struct streak *streak, const char *words);
void streak_forget(struct streak *streak);
/* Is it time to pause? asked: `stop: {failures: N}`; 0: never; -1: not set. */
bool streak_is_enough(const struct streak *streak, int64_t asked, bool any_success);

#endif
