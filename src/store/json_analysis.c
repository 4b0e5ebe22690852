/* What the analysis of an experiment needs of its tasks: see json.h. */
#include "store/json_row.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define BEST_COUNT 10

static const char sql_objective[] =
	"SELECT json_extract(objective, '$[0].goal'), objective FROM experiment WHERE id = ?1 AND removing = 0";
#define SQL_BEST(order)                                                                                                \
	"SELECT number, best, best_step, state, parameters FROM task WHERE experiment = ?1 AND best IS NOT NULL "      \
	"ORDER BY best" order ", number LIMIT ?2"
static const char sql_least[] = SQL_BEST(""), sql_most[] = SQL_BEST(" DESC");
static const char sql_ended[] =
	"SELECT number, finished_ms, best FROM task WHERE experiment = ?1 AND (finished_ms, number) > (?2, ?3) "
	"AND +state IN (3, 6) AND best IS NOT NULL ORDER BY finished_ms, number LIMIT ?4";
/* The time that was measured, else the time between its start and its end; an imported task has neither. */
static const char sql_results[] =
	"SELECT id, number, parameters, best, coalesce(wall_ms, finished_ms - started_ms) / 1000.0 "
	"FROM task WHERE experiment = ?1 AND state = 3 AND number < ?2 ORDER BY number DESC LIMIT ?3";
static const char sql_running[] =
	"SELECT * FROM (SELECT id, number, CASE WHEN steps > 0 THEN steps - from_zero END FROM task WHERE experiment = ?1 "
	"AND state = 2 ORDER BY number DESC LIMIT ?2) ORDER BY 2";
static const char sql_curve[] = "SELECT step, value FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step";
static const char sql_fidelities[] =
	"SELECT fidelity, count(*), sum(state = 3) FROM task WHERE experiment = ?1 AND fidelity IS NOT NULL "
	"GROUP BY fidelity ORDER BY fidelity";

/* The tally knows which experiments have finished tasks with a time. A row of an experiment has its source in front of the
 * script's name, so not too many of them are looked at. */
static const char sql_pace[] =
	"WITH timed (id) AS (SELECT DISTINCT experiment FROM tally WHERE state = 3 AND with_wall > 0 "
	"ORDER BY experiment DESC LIMIT 100), "
	"pace (experiment, backend) AS (SELECT e.id, e.backend FROM timed CROSS JOIN experiment e ON e.id = timed.id "
	"WHERE e.script = ?1 AND e.removing = 0 AND json_extract(e.spec, '$.command') IS json(?2) ORDER BY e.id DESC LIMIT 1), "
	"took (ms) AS (SELECT wall_ms FROM task WHERE experiment = (SELECT experiment FROM pace) AND state = 3 "
	"ORDER BY number DESC LIMIT 1000) "
	"SELECT pace.experiment, pace.backend, took.ms FROM pace, took WHERE took.ms IS NOT NULL "
	"ORDER BY took.ms LIMIT 1 OFFSET (SELECT (count(ms) - 1) / 2 FROM took)";

static void put_best_tasks(struct store *store, int64_t experiment, bool maximise, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, maximise ? sql_most : sql_least);
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int64(row, 2, BEST_COUNT);
	json_key(out, "best");
	json_list(out);
	while (row_next(row)) {
		json_map(out);
		row_put_int(row, 0, "task", out);
		json_key_real(out, "value", sqlite3_column_double(row, 1));
		row_put_int(row, 2, "epoch", out);
		row_put_state(row, 3, "state", out);
		row_put_json(row, 4, "parameters", out);
		json_end(out);
	}
	json_end(out);
}

int64_t store_json_progress(struct store *store, int64_t experiment, struct store_progress *progress, int64_t limit,
			    struct json *out)
{
	int64_t count = 0;
	sqlite3_stmt *row = store_prepare(store, sql_ended);
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int64(row, 2, progress->after_ms);
	sqlite3_bind_int64(row, 3, progress->after_number);
	sqlite3_bind_int64(row, 4, limit);
	for (; row_next(row); count++) {
		double value = sqlite3_column_double(row, 2);
		if (isnan(progress->best) || (progress->maximise ? value > progress->best : value < progress->best))
			progress->best = value;
		progress->after_number = sqlite3_column_int64(row, 0);
		progress->after_ms = sqlite3_column_int64(row, 1);
		json_map(out);
		row_put_int(row, 0, "task", out);
		row_put_time(row, 1, "time", out);
		json_key_real(out, "value", value);
		json_key_real(out, "best", progress->best);
		json_end(out);
	}
	return count;
}

int store_json_best(struct store *store, int64_t experiment, bool *ret_maximise, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_objective);
	sqlite3_bind_int64(row, 1, experiment);
	if (!row_next(row))
		return -ENOENT;
	const char *goal = row_text(row, 0);
	*ret_maximise = goal && !strcmp(goal, "max");
	row_put_json(row, 1, "objective", out);
	sqlite3_reset(row);
	put_best_tasks(store, experiment, *ret_maximise, out);
	return 0;
}

static double row_real(sqlite3_stmt *row, int column)
{
	return row_is_null(row, column) ? NAN : sqlite3_column_double(row, column);
}

int store_read_pace(struct store *store, const char *script, const char *command, struct store_pace *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_pace, "ss", script, command);
	if (!row_next(row))
		return -ENOENT;
	*ret = (struct store_pace){.experiment = sqlite3_column_int64(row, 0),
				   .median_ms = sqlite3_column_int64(row, 2)};
	snprintf(ret->backend, sizeof(ret->backend), "%s", row_text(row, 1));
	sqlite3_reset(row);
	return 0;
}

int store_each_result(struct store *store, int64_t experiment, int64_t below, int64_t limit, store_result_f each,
		      void *ctx)
{
	sqlite3_stmt *row = store_prepare(store, sql_results);
	int rc = 0;
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int64(row, 2, below);
	sqlite3_bind_int64(row, 3, limit);
	while (rc == 0 && row_next(row)) {
		struct store_result result = {
			.id = sqlite3_column_int64(row, 0),
			.number = sqlite3_column_int64(row, 1),
			.parameters = row_text(row, 2),
			.best = row_real(row, 3),
			.time_s = row_real(row, 4),
		};
		rc = each(ctx, &result);
	}
	sqlite3_reset(row);
	return rc;
}

int store_each_running(struct store *store, int64_t experiment, int64_t limit, store_running_f each, void *ctx)
{
	sqlite3_stmt *row = store_prepare(store, sql_running);
	int rc = 0;
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int64(row, 2, limit);
	while (rc == 0 && row_next(row)) {
		struct store_running running = {
			.id = sqlite3_column_int64(row, 0),
			.number = sqlite3_column_int64(row, 1),
			.last_step = row_is_null(row, 2) ? -1 : sqlite3_column_int64(row, 2),
		};
		rc = each(ctx, &running);
	}
	sqlite3_reset(row);
	return rc;
}

size_t store_read_curve(struct store *store, int64_t experiment, int64_t task, const char *metric, size_t limit,
			double *steps, double *values)
{
	int64_t name = read_find_metric(store, experiment, metric);
	sqlite3_stmt *row = store_prepare(store, sql_curve);
	size_t count = 0;
	bool more;
	sqlite3_bind_int64(row, 1, task);
	sqlite3_bind_int64(row, 2, name);
	while ((more = row_next(row)) && count < limit) {
		steps[count] = (double)sqlite3_column_int64(row, 0);
		values[count++] = row_real(row, 1);
	}
	sqlite3_reset(row);
	return more ? 0 : count;
}

void store_json_fidelities(struct store *store, int64_t experiment, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_fidelities);
	sqlite3_bind_int64(row, 1, experiment);
	json_list(out);
	while (row_next(row)) {
		json_map(out);
		json_key_real(out, "fidelity", sqlite3_column_double(row, 0));
		row_put_int(row, 1, "tasks", out);
		row_put_int(row, 2, "finished", out);
		json_end(out);
	}
	json_end(out);
}
