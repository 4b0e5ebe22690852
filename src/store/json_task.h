/* Tasks as JSON: for the json_*.c files of this room only. The members are listed in STORE_TASK. */
#ifndef STORE_JSON_TASK_H
#define STORE_JSON_TASK_H

#include "store/json_row.h"
#include "store/number.h"

/* What waiting tasks wait for is written once, in their experiment's row (?1). */
#define TASK_WAITING_FOR "CASE t.state WHEN " NUMBER(WAITING) " THEN (SELECT note FROM experiment WHERE id = ?1) END"
/* How many epochs it is to have; NULL too where it is beyond them: what its script counts are no epochs then. */
#define TASK_EPOCHS "CASE WHEN t.step + t.from_zero > t.steps THEN NULL ELSE t.steps END"
#define TASK_STALLED                                                                                                   \
	"t.state = " NUMBER(RUNNING) " AND EXISTS (SELECT 1 FROM attempt a WHERE a.task = t.id "                       \
				     "AND a.number = t.attempt AND a.stall IS NOT NULL)"

/* How long a task ran, in milliseconds: the sum of its attempts since it last began from the beginning, without the time
 * between them. While one of them runs, the time of the look is missing in the sum (and it is negative). A first attempt
 * that has not failed needs no look at the attempts. SQLite makes a table for IN with three values, each time. */
#define TASK_RAN                                                                                                             \
	"CASE WHEN t.attempt = 1 AND (t.state = " NUMBER(RUNNING) " OR t.state = " NUMBER(FINISHED) " OR t.state = " NUMBER( \
		PRUNED) ") THEN ifnull(t.finished_ms, 0) - t.started_ms ELSE (SELECT sum(ifnull(a.finished_ms, 0) - "        \
			"a.started_ms) FROM attempt a WHERE a.task = t.id AND a.started_ms >= t.started_ms) END"

/* From `task t`; ?1 is the experiment. */
enum task_column { TASK_ID, TASK_NUMBER, TASK_MEMBERS };
#define TASK_SELECT "SELECT t.id, t.number" STORE_TASK(ROW_BOTH_COLUMN, STORE_NONE, ROW_COLUMN)

/* Opens a map with the summary of the task in a row of TASK_SELECT; the caller ends it. Returns the column after it. */
int json_open_task(sqlite3_stmt *row, int64_t experiment, struct json *out);
/* "attempts":[…] of a task. */
int json_put_attempts(struct store *store, int64_t task_id, struct json *out) MUST_USE;
/* How long it ran, or has run so far, from its state and TASK_RAN (in this column). NAN: it has not started, or is between
 * two attempts. */
double json_elapsed_s(enum store_state state, sqlite3_stmt *row, int ran);

#endif
