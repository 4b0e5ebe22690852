/* The numbers of the enums, by name, for SQL texts: "state = " NUMBER(FINISHED). Only for this folder. A wrong number
 * does not compile. */
#ifndef STORE_NUMBER_H
#define STORE_NUMBER_H

#include "store/rows.h"

#include <assert.h>

#define NUMBER_TEXT(digits) #digits
#define NUMBER_EXPAND(digits) NUMBER_TEXT(digits)
#define NUMBER(name) NUMBER_EXPAND(NUMBER_##name)
#define NUMBER_CHECK(name) static_assert((int)STORE_##name == NUMBER_##name, "not the enum's number")

/* The states of a task, an attempt and an experiment. From FINISHED on it has ended. */
#define NUMBER_WAITING 0
#define NUMBER_SUBMITTED 1
#define NUMBER_RUNNING 2
#define NUMBER_FINISHED 3
#define NUMBER_ERROR 4
#define NUMBER_PRUNED 6
NUMBER_CHECK(WAITING);
NUMBER_CHECK(SUBMITTED);
NUMBER_CHECK(RUNNING);
NUMBER_CHECK(FINISHED);
NUMBER_CHECK(ERROR);
NUMBER_CHECK(PRUNED);

#define NUMBER_EVENT_TELL 1
NUMBER_CHECK(EVENT_TELL);

#define NUMBER_WANT_RUN 0
#define NUMBER_WANT_REMOVE 4
NUMBER_CHECK(WANT_RUN);
NUMBER_CHECK(WANT_REMOVE);

#define NUMBER_SWEEP_NONE 0
NUMBER_CHECK(SWEEP_NONE);

#define NUMBER_BATCH_SUBMITTING 0
NUMBER_CHECK(BATCH_SUBMITTING);

#define NUMBER_EVENT_ASK 0
#define NUMBER_EVENT_ADD 2
#define NUMBER_EVENT_CHANGE 3
NUMBER_CHECK(EVENT_ASK);
NUMBER_CHECK(EVENT_ADD);
NUMBER_CHECK(EVENT_CHANGE);

#endif
