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

/* The value of a metric (?2) of a task (?1) that belongs to the row of its objective (?4) at a step (?3). In order:
 * - Of the same row: the same step of the same epoch. A row an epoch and a row an iteration both have a step 1 in epoch 1:
 *   where the objective has one row in that epoch, whose step is the epoch, and the metric has more, that is no such row.
 * - With epochs, the last of the same epoch; where the objective has several in it, the last that was there by then.
 * - Without, of the row that was written at the same time; or the newest up to the step where the sources of both count
 *   the same. Rows that are only counted are numbered by file or by metric, so that their numbers say nothing. */
#define METRIC_NEXT(OF, SIGN, WAY)                                                                                     \
	"(SELECT n.epoch FROM metric n WHERE n.task = " OF ".task AND n.name = " OF ".name AND n.step " SIGN " " OF    \
	".step ORDER BY n.step " WAY " LIMIT 1)"
#define METRIC_OBJECTIVE_SEVERAL                                                                                       \
	"(" METRIC_NEXT("o", "<", "DESC") " IS o.epoch OR " METRIC_NEXT("o", ">", "ASC") " IS o.epoch)"
#define METRIC_COUNTED(NAME)                                                                                           \
	"(SELECT s.step_name FROM metric_name n, metric_source s, json_each(s.names) j WHERE n.id = " NAME             \
	" AND s.task = ?1 AND j.value = n.name AND s.step_name <> 'row' LIMIT 1)"
#define SQL_METRIC_AT_BEST                                                                                                           \
	"SELECT m.value FROM metric o JOIN metric m ON m.task = ?1 AND m.name = ?2 AND m.step = ?3 "                                 \
	"WHERE o.task = ?1 AND o.name = ?4 AND o.step = ?3 AND iif(o.epoch IS NULL, "                                                \
	"m.epoch IS NULL AND m.time_ms = o.time_ms, m.epoch = o.epoch AND (o.step <> o.epoch OR " METRIC_NEXT(                       \
		"m", ">",                                                                                                            \
		"ASC") " IS NOT o.epoch OR " METRIC_OBJECTIVE_SEVERAL ")) UNION ALL "                                                \
		       "SELECT * FROM (SELECT m.value FROM metric o JOIN metric m ON m.task = ?1 AND m.name = ?2 "                   \
		       "AND m.epoch = o.epoch WHERE o.task = ?1 AND o.name = ?4 AND o.step = ?3 "                                    \
		       "ORDER BY m.time_ms <= o.time_ms OR NOT " METRIC_OBJECTIVE_SEVERAL                                            \
		       " DESC, m.step DESC LIMIT 1) UNION ALL "                                                                      \
		       "SELECT * FROM (SELECT m.value FROM metric o JOIN metric m ON m.task = ?1 AND m.name = ?2 "                   \
		       "AND m.step <= ?3 AND m.epoch IS NULL WHERE o.task = ?1 AND o.name = ?4 AND o.step = ?3 AND o.epoch IS NULL " \
		       "AND " METRIC_COUNTED("?2") " = " METRIC_COUNTED("?4") " ORDER BY m.step DESC LIMIT 1) LIMIT 1"

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
