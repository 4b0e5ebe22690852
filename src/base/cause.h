/* Why an attempt ended. Inside the program a cause is an enum; it is a word only in JSON. All of it comes
 * from the rows of cause.def. */
#ifndef BASE_CAUSE_H
#define BASE_CAUSE_H

#include "base/mem.h"

#include <stdbool.h>

enum cause {
	CAUSE_NONE, /* not said */
#define CAUSE(name, word, retry, text, remedy) CAUSE_##name,
#include "base/cause.def"
	CAUSE_COUNT
};

/* The keys under `retry:` of the experiment file. Several causes may share one. */
enum retry {
#define RETRY(name, key, times, text) RETRY_##name,
#include "base/cause.def"
	RETRY_COUNT,
	RETRY_NEVER = RETRY_COUNT
};

/* The cause of a word. -EINVAL: there is no such cause; *ret is then CAUSE_UNKNOWN, which is never retried.
 * A NULL word is CAUSE_NONE. */
int cause_parse(const char *word, enum cause *ret) MUST_USE;
/* The word; NULL for CAUSE_NONE. */
const char *cause_name(enum cause cause);
/* What happened, in a few words for people; NULL for CAUSE_NONE. */
const char *cause_text(enum cause cause);
/* What a user can do; NULL where nothing is wrong. */
const char *cause_remedy(enum cause cause);
enum retry cause_retry(enum cause cause);

/* The keys in the order of the enum, NULL at the end (at RETRY_NEVER). */
extern const char *const retry_keys[RETRY_COUNT + 1];
/* How often a task is run again by default. */
extern const int retry_times[RETRY_COUNT];
/* The default of RETRY_TIME for a task that has something in its checkpoint folder. */
#define RETRY_TIME_SAVED 100

#endif
