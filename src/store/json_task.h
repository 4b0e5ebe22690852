/* A task's members, listed once: for the json_*.c files of this room only. A new member is one row here. */
#ifndef STORE_JSON_TASK_H
#define STORE_JSON_TASK_H

#include "store/json_row.h"
#include "store/number.h"

/* What waiting tasks wait for is written once, in their experiment's row (?1). */
#define TASK_WAITING_FOR "CASE t.state WHEN " NUMBER(WAITING) " THEN (SELECT note FROM experiment WHERE id = ?1) END"

#define TASK_JSON(X)                                                                                                   \
	X(int, "number", "t.number")                                                                                   \
	X(state, "state", "t.state")                                                                                   \
	X(text, "reason", "t.reason")                                                                                  \
	X(text, "waiting_for", TASK_WAITING_FOR)                                                                       \
	X(json, "cause", "t.cause")                                                                                    \
	X(json, "parameters", "t.parameters")                                                                          \
	X(int, "repeat", "t.repeat")                                                                                   \
	X(int, "seed", "t.seed")                                                                                       \
	X(point, "best", "t.best, t.best_step")                                                                        \
	X(point, "last", "t.last, t.last_step")                                                                        \
	X(int, "epoch", "t.step + t.from_zero")                                                                        \
	X(int, "epochs", "t.steps")                                                                                    \
	X(progress, "progress", "t.state, t.step + t.from_zero, t.steps")                                              \
	X(time, "submitted", "t.submitted_ms")                                                                         \
	X(time, "started", "t.started_ms")                                                                             \
	X(time, "finished", "t.finished_ms")                                                                           \
	X(elapsed, "elapsed_s", "t.state, t.started_ms, t.finished_ms")                                                \
	X(int, "attempt", "t.attempt")                                                                                 \
	X(text, "node", "t.node")                                                                                      \
	X(text, "gpus", "t.gpus")                                                                                      \
	X(text, "job", "t.job")                                                                                        \
	X(time, "expected_start", "t.expected_start_ms")                                                               \
	X(cost, "cost", ROW_COST_COLUMNS)

/* From `task t`; ?1 is the experiment. */
enum task_column { TASK_ID, TASK_NUMBER, TASK_MEMBERS };
#define TASK_SELECT "SELECT t.id, t.number" TASK_JSON(ROW_COLUMN)

/* Opens a map with the summary of the task in a row of TASK_SELECT; the caller ends it. Returns the column after it. */
int json_open_task(sqlite3_stmt *row, int64_t experiment, struct json *out);
/* "attempts":[…] of a task. */
int json_put_attempts(struct store *store, int64_t task_id, struct json *out) MUST_USE;
/* State, start and end: how long it took, or takes so far. NAN: it has not started, or ended without a time. */
double json_elapsed_s(sqlite3_stmt *row, int first);

#endif
