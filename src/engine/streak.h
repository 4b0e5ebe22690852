/* Failures of a kind, one after another: when they are enough to stop wasting time. */
#ifndef ENGINE_STREAK_H
#define ENGINE_STREAK_H

#include <stdbool.h>
#include <stdint.h>

/* So many of a kind pause an experiment of which nothing has succeeded yet, unless its file says another number. */
#define STREAK_FIRST 3
/* So many once something has: then it may be the configurations, and not the script. */
#define STREAK_LATER 12

struct streak {
	char *kind; /* of the last failure: its words without the numbers in them */
	int64_t count;
};

/* Another failure: how many of this kind there were without anything else in between. */
int64_t streak_add_failure(struct streak *streak, const char *words);
void streak_forget(struct streak *streak);
/* Is it time to pause? asked: `stop: {failures: N}`; 0: never; -1: not said. */
bool streak_is_enough(const struct streak *streak, int64_t asked, bool any_success);

#endif
