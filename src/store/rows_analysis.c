/* What the analysis and the estimate of an experiment read of tasks: see rows.h. */
#include "store/configuration.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* The time that was measured, else the time between its start and its end; an imported task has neither. */
static const char sql_results[] =
	"SELECT id, number, parameters, best, coalesce(wall_ms, finished_ms - started_ms) / 1000.0, beyond IS NOT NULL, 0, reason IS 'imported' FROM task "
	"WHERE experiment = ?1 AND state = " NUMBER(FINISHED) " AND number < ?2 ORDER BY number DESC LIMIT ?3";
/* Where configurations are repeated: one whose tasks have not all ended well is no candidate, as in configuration.h. */
static const char sql_repeated_results[] =
	"WITH c AS MATERIALIZED (" SQL_MEANS
	") SELECT id, number, parameters, best, coalesce(wall_ms, finished_ms - started_ms) / 1000.0, beyond IS NOT NULL, c.o > 0 OR c.b > 0, "
	"reason IS 'imported' FROM task "
	"JOIN c ON c.p = parameters WHERE experiment = ?1 AND state = " NUMBER(
		FINISHED) " AND number < ?2 ORDER BY number DESC LIMIT ?3";
static const char sql_running[] =
	"SELECT * FROM (SELECT id, number, CASE WHEN steps > 0 THEN steps - from_zero END FROM task WHERE experiment = ?1 "
	"AND state = " NUMBER(RUNNING) " ORDER BY number DESC LIMIT ?2) ORDER BY 2";
static const char sql_find_metric[] = "SELECT id FROM metric_name WHERE experiment = ?1 AND name = ?2";
static const char sql_curve[] = "SELECT step, value FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step LIMIT ?3";

static const char sql_names[] = "SELECT name FROM metric_name WHERE experiment = ?1 AND (?2 = 0 OR EXISTS "
				"(SELECT 1 FROM metric m WHERE m.task = ?2 AND m.name = metric_name.id)) ORDER BY id";
#define RANK(order)                                                                                                    \
	"SELECT value, step FROM metric WHERE task = ?1 AND name = ?2 AND abs(value) < 9e999 ORDER BY " order " LIMIT 1"
static const char sql_least[] = RANK("value, step"), sql_most[] = RANK("value DESC, step");
static const char sql_last[] =
	"SELECT value, step FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step DESC LIMIT 1";
static const char sql_untold[] = "SELECT number FROM task WHERE experiment = ?1 AND state IN (" NUMBER(FINISHED) ", " NUMBER(
	PRUNED) ") AND asked NOT IN (SELECT asked FROM search_event WHERE experiment = ?1 AND kind = " NUMBER(EVENT_TELL) ")";
static const char sql_set_event[] = "UPDATE search_event SET value = ?3 WHERE experiment = ?1 AND seq = ?2";

/* Of the newest experiments of the program, those that have finished tasks with a time. */
#define TIMED                                                                                                          \
	"WITH same (id, backend, parameters) AS (SELECT e.id, e.backend, e.parameters FROM experiment e "              \
	"WHERE e.script = ?1 AND e.removing = 0 AND json_extract(e.spec, '$.command') IS json(?2) AND "                \
	"EXISTS (SELECT 1 FROM tally y WHERE y.experiment = e.id AND y.state = " NUMBER(                               \
		FINISHED) " AND y.with_wall > 0) ORDER BY e.id DESC LIMIT 100) "
static const char sql_pace[] = TIMED
	", pace AS (SELECT * FROM same ORDER BY id DESC LIMIT 1), "
	"took (ms) AS (SELECT wall_ms FROM task WHERE experiment = (SELECT id FROM pace) AND state = " NUMBER(
		FINISHED) " ORDER BY number DESC LIMIT 1000) "
			  "SELECT pace.id, pace.backend, took.ms, pace.parameters FROM pace, took WHERE took.ms IS NOT NULL "
			  "ORDER BY took.ms LIMIT 1 OFFSET (SELECT (count(ms) - 1) / 2 FROM took)";
static const char sql_same[] = TIMED "SELECT id FROM same ORDER BY id DESC LIMIT ?3";
static const char sql_runs[] = TIMED
	"SELECT t.experiment, t.parameters, t.wall_ms, t.energy_j FROM same CROSS JOIN task t ON t.experiment = same.id "
	"WHERE t.state = " NUMBER(FINISHED) " AND t.wall_ms > 0 ORDER BY t.experiment DESC, t.number DESC LIMIT ?3";

int store_read_pace(struct store *store, const char *script, const char *command, struct store_pace *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_pace, "ss", script, command);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret = (struct store_pace){.experiment = row_int(row, 0), .median_ms = row_int(row, 2)};
	snprintf(ret->backend, sizeof(ret->backend), "%s", row_text(row, 1));
	ret->parameters = mem_strdup(row_text(row, 3));
	store_end(row);
	return 0;
}

int store_each_run(struct store *store, const char *script, const char *command, int64_t limit, store_run_f each,
		   void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_runs, "ssi", script, command, limit);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_run run = {.experiment = row_int(row, 0),
					.parameters = row_text(row, 1),
					.wall_ms = row_real(row, 2),
					.energy_j = row_real(row, 3)};
		if ((rc = each(ctx, &run)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_each_same(struct store *store, const char *script, const char *command, int64_t limit, store_id_f each,
		    void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_same, "ssi", script, command, limit);
	int rc;
	while ((rc = store_step(store, row)) > 0)
		if ((rc = each(ctx, row_int(row, 0))) < 0)
			break;
	store_end(row);
	return rc;
}

int store_each_metric_name(struct store *store, int64_t experiment, int64_t task, store_name_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_names, "ii", experiment, task);
	int rc;
	while ((rc = store_step(store, row)) > 0)
		if ((rc = each(ctx, row_text(row, 0))) < 0)
			break;
	store_end(row);
	return rc;
}

static int rows_read_point(struct store *store, sqlite3_stmt *row, double *ret_value, int64_t *ret_step)
{
	int rc = store_step(store, row);
	if (rc < 0)
		return rc;
	*ret_value = rc > 0 ? row_real(row, 0) : NAN;
	*ret_step = rc > 0 ? row_int(row, 1) : -1;
	store_end(row);
	return 0;
}

int store_read_rank(struct store *store, int64_t experiment, const char *metric, bool maximise, struct store_task *row)
{
	sqlite3_stmt *found = store_bind(store, sql_find_metric, "is", experiment, metric);
	int rc = store_step(store, found);
	int64_t name = rc > 0 ? row_int(found, 0) : 0;
	store_end(found);
	if (rc < 0)
		return rc;
	rc = rows_read_point(store, store_bind(store, maximise ? sql_most : sql_least, "ii", row->id, name), &row->best,
			     &row->best_step);
	if (rc == 0)
		rc = rows_read_point(store, store_bind(store, sql_last, "ii", row->id, name), &row->last,
				     &row->last_step);
	return rc;
}

int store_each_untold(struct store *store, int64_t experiment, store_id_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_untold, "i", experiment);
	int rc;
	while ((rc = store_step(store, row)) > 0)
		if ((rc = each(ctx, row_int(row, 0))) < 0)
			break;
	store_end(row);
	return rc;
}

int store_set_event_value(struct store *store, int64_t experiment, int64_t seq, const char *value)
{
	return store_run(store, sql_set_event, "iis", experiment, seq, value);
}

int store_each_result(struct store *store, int64_t experiment, int64_t below, int64_t limit, store_result_f each,
		      void *ctx)
{
	int repeated = store_is_repeated(store, experiment);
	if (repeated < 0)
		return repeated;
	sqlite3_stmt *row = store_bind(store, repeated ? sql_repeated_results : sql_results, "iii", experiment, below,
				       limit);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_result result = {
			.id = row_int(row, 0),
			.number = row_int(row, 1),
			.parameters = row_text(row, 2),
			.best = row_real(row, 3),
			.time_s = row_real(row, 4),
			.beyond = row_int(row, 5) != 0,
			.unsettled = row_int(row, 6) != 0,
			.imported = row_int(row, 7) != 0,
		};
		if ((rc = each(ctx, &result)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_each_running(struct store *store, int64_t experiment, int64_t limit, store_running_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_running, "ii", experiment, limit);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_running running = {
			.id = row_int(row, 0),
			.number = row_int(row, 1),
			.last_step = row_int_or(row, 2, -1),
		};
		if ((rc = each(ctx, &running)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_read_curve(struct store *store, int64_t experiment, int64_t task, const char *metric, size_t limit,
		     double *steps, double *values, size_t *ret_count)
{
	size_t count = 0;
	sqlite3_stmt *row = store_bind(store, sql_find_metric, "is", experiment, metric);
	int rc = store_step(store, row);
	if (rc < 0)
		return rc;
	int64_t name = rc > 0 ? row_int(row, 0) : 0;
	store_end(row);
	row = store_bind(store, sql_curve, "iii", task, name, (int64_t)limit + 1);
	for (; (rc = store_step(store, row)) > 0 && count < limit; count++) {
		steps[count] = (double)row_int(row, 0);
		values[count] = row_real(row, 1);
	}
	if (rc < 0)
		return rc;
	*ret_count = rc > 0 ? 0 : count;
	store_end(row);
	return 0;
}
