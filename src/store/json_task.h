/* Tasks as JSON: for the json_*.c files of this room only. The members are listed in STORE_TASK. */
#ifndef STORE_JSON_TASK_H
#define STORE_JSON_TASK_H

#include "store/json_row.h"
#include "store/number.h"

/* What waiting tasks wait for is written once, in their experiment's row (?1). */
#define TASK_WAITING_FOR "CASE t.state WHEN " NUMBER(WAITING) " THEN (SELECT note FROM experiment WHERE id = ?1) END"

/* From `task t`; ?1 is the experiment. */
enum task_column { TASK_ID, TASK_NUMBER, TASK_MEMBERS };
#define TASK_SELECT "SELECT t.id, t.number" STORE_TASK(ROW_BOTH_COLUMN, STORE_NONE, ROW_COLUMN)

/* Opens a map with the summary of the task in a row of TASK_SELECT; the caller ends it. Returns the column after it. */
int json_open_task(sqlite3_stmt *row, int64_t experiment, struct json *out);
/* "attempts":[…] of a task. */
int json_put_attempts(struct store *store, int64_t task_id, struct json *out) MUST_USE;
/* State, start and end: how long it took, or takes so far. NAN: it has not started, or ended without a time. */
double json_elapsed_s(sqlite3_stmt *row, int first);

#endif
