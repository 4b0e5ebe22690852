/* Columns of a row as members of a JSON map, and the pieces that several answers share: for the json_*.c
 * files of this room only. A NULL column is always null, never 0. */
#ifndef STORE_JSON_ROW_H
#define STORE_JSON_ROW_H

#include "store/json.h"
#include "store/rows.h"
#include "store/sql.h"

static inline const char *row_text(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

static inline bool row_is_null(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL;
}

/* Steps; true while there is a row. A failure is logged and looks like the end. */
bool row_next(sqlite3_stmt *row);
void row_put_text(sqlite3_stmt *row, int column, const char *key, struct json *out);
void row_put_json(sqlite3_stmt *row, int column, const char *key, struct json *out);
void row_put_int(sqlite3_stmt *row, int column, const char *key, struct json *out);
void row_put_time(sqlite3_stmt *row, int column, const char *key, struct json *out);
/* Milliseconds as seconds. */
void row_put_seconds(sqlite3_stmt *row, int column, const char *key, struct json *out);
void row_put_state(sqlite3_stmt *row, int column, const char *key, struct json *out);
/* {"value":…,"epoch":…}, or null where the step is NULL; a NULL value with a step is NaN. */
void row_put_point(sqlite3_stmt *row, int value, int step, const char *key, struct json *out);
/* The "cost" map of a task or an attempt, from six columns that begin at `first`: wall_ms, cpu_ms,
 * gpu_ms, max_rss, energy_j, energy_source. */
void row_put_cost(sqlite3_stmt *row, int first, struct json *out);

/* The id of a metric's name in an experiment; 0 when it has none of that name. */
int64_t read_find_metric(struct store *store, int64_t experiment, const char *name);

/* Opens a map with the experiment's members, its task counts under counts_key; the caller ends it. */
int read_open_experiment(struct store *store, int64_t experiment, bool detail, const char *counts_key,
			 struct json *out) MUST_USE;

/* Opens a map with the summary of the task in the current row of a statement that selected
 * READ_TASK_COLUMNS from `task t`; the caller ends it. */
void read_put_task(sqlite3_stmt *row, int64_t experiment, struct json *out);
enum read_task_column {
	TASK_ID,
	TASK_NUMBER,
	TASK_STATE,
	TASK_REASON,
	TASK_CAUSE,
	TASK_PARAMETERS,
	TASK_REPEAT,
	TASK_SEED,
	TASK_BEST,
	TASK_BEST_STEP,
	TASK_LAST,
	TASK_LAST_STEP,
	TASK_STEP,
	TASK_ATTEMPT,
	TASK_STEPS,
	TASK_SUBMITTED,
	TASK_STARTED,
	TASK_FINISHED,
	TASK_NODE,
	TASK_GPUS,
	TASK_JOB,
	TASK_EXPECTED_START,
	TASK_COST, /* six columns */
	TASK_COLUMN_COUNT = TASK_COST + 6,
};
/* Why a waiting task waits is written once, in its experiment's row (?1). */
#define READ_TASK_NOTE "(SELECT note FROM experiment WHERE id = ?1)"
#define READ_TASK_REASON                                                                                               \
	"CASE t.state WHEN 0 THEN coalesce(t.reason || coalesce('; ' || " READ_TASK_NOTE ", ''), " READ_TASK_NOTE ") " \
	"ELSE t.reason END"
#define READ_TASK_COLUMNS                                                                                              \
	"t.id, t.number, t.state, " READ_TASK_REASON ", t.cause, t.parameters, t.repeat, t.seed, t.best, "             \
	"t.best_step, t.last, t.last_step, t.step + t.from_zero, t.attempt, t.steps, t.submitted_ms, "                 \
	"t.started_ms, t.finished_ms, t.node, t.gpus, t.job, t.expected_start_ms, t.wall_ms, "                         \
	"t.cpu_ms, t.gpu_ms, t.max_rss, t.energy_j, t.energy_source"

/* "attempts":[…] of a task. */
void read_put_attempts(struct store *store, int64_t task_id, struct json *out);
/* "metrics":{NAME:{"step":[…],"value":[…]}} of a task; points 0: all of them. */
void read_put_curves(struct store *store, int64_t experiment, int64_t task_id, int64_t points, struct json *out);
/* "metrics":[names] of a task (task_id 0: of the experiment). */
void read_put_metric_names(struct store *store, int64_t experiment, int64_t task_id, struct json *out);
/* "spark":[…]: the task's curve of one metric as at most `points` bare values; [] when name_id is 0. */
void read_put_spark(struct store *store, int64_t task_id, int64_t name_id, int64_t points, struct json *out);

#endif
