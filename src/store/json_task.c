/* Tasks as JSON: see json.h. Pages are cut by key, not by offset, so that a task that changes between
 * two pages is neither lost nor shown twice where the order does not depend on it. */
#include "store/json_row.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char sql_find[] = "SELECT json_extract(objective, '$[0].goal') FROM experiment "
			       "WHERE id = ?1 AND removing = 0";
static const char sql_one[] = "SELECT " READ_TASK_COLUMNS " FROM task t "
			      "JOIN experiment e ON e.id = t.experiment AND e.removing = 0 "
			      "WHERE t.experiment = ?1 AND t.number = ?2";
static const char sql_total[] = "SELECT count(*) FROM task WHERE experiment = ?1 AND (?2 < 0 OR state = ?2)";
static const char sql_timeline[] = "SELECT time_ms, state, reason FROM history WHERE task = ?1 ORDER BY id";
static const char sql_attempts[] =
	"SELECT number, state, cause, submitted_ms, started_ms, finished_ms, node, job, exit_code, "
	"signal, gpus, wall_ms, cpu_ms, gpu_ms, max_rss, energy_j, energy_source "
	"FROM attempt WHERE task = ?1 ORDER BY number";

static const char sql_find_attempt[] =
	"SELECT coalesce((SELECT max(a.number) FROM attempt a WHERE a.task = t.id "
	"AND (?3 = 0 OR a.number = ?3)), 0) FROM task t JOIN experiment e ON e.id = t.experiment "
	"AND e.removing = 0 WHERE t.experiment = ?1 AND t.number = ?2";

/* ?1 experiment, ?2 state or -1, ?3 and ?4 the key and number of the last task shown, ?5 limit, ?6 the
 * sign that turns the order round, ?7 now. What has no key comes last either way. */
#define TASKS_BY(KEY)                                                                                                  \
	"SELECT " READ_TASK_COLUMNS ", coalesce(?6 * (" KEY "), 9e999) AS k FROM task t "                              \
	"WHERE t.experiment = ?1 AND (?2 < 0 OR t.state = ?2) AND (k, t.number) > (?3, ?4) "                           \
	"ORDER BY k, t.number LIMIT ?5"

static const struct task_sort {
	const char *name;
	double sign; /* 0: as the goal says, best first */
	const char *sql;
} task_sorts[] = {
	/* By number needs no sorting: the index has the order. ?3, ?6 and ?7 are not asked for. */
	{"number", 1,
	 "SELECT " READ_TASK_COLUMNS ", t.number FROM task t WHERE t.experiment = ?1 "
	 "AND (?2 < 0 OR t.state = ?2) AND t.number > ?4 "
	 "ORDER BY t.number LIMIT ?5"},
	{"-number", -1, TASKS_BY("t.number")},
	{"best", 0, TASKS_BY("t.best")},
	{"-best", 0, TASKS_BY("-t.best")},
	{"started", 1, TASKS_BY("t.started_ms")},
	{"-started", -1, TASKS_BY("t.started_ms")},
	{"elapsed", 1, TASKS_BY("coalesce(t.finished_ms, ?7) - t.started_ms")},
	{"-elapsed", -1, TASKS_BY("coalesce(t.finished_ms, ?7) - t.started_ms")},
};

static void put_progress(sqlite3_stmt *row, struct json *out)
{
	row_put_int(row, TASK_STEP, "epoch", out);
	row_put_int(row, TASK_STEPS, "epochs", out);
	double steps = sqlite3_column_double(row, TASK_STEPS);
	if (sqlite3_column_int(row, TASK_STATE) == STORE_FINISHED)
		json_key_real(out, "progress", 1);
	else if (row_is_null(row, TASK_STEP) || !(steps > 0))
		json_key_null(out, "progress");
	else
		json_key_real(out, "progress", fmax(0, fmin(1, sqlite3_column_double(row, TASK_STEP) / steps)));
}

static void put_elapsed(sqlite3_stmt *row, struct json *out)
{
	int64_t started = sqlite3_column_int64(row, TASK_STARTED);
	int64_t finished = sqlite3_column_int64(row, TASK_FINISHED);
	bool running = sqlite3_column_int(row, TASK_STATE) == STORE_RUNNING;
	if (!started || (!finished && !running)) {
		json_key_null(out, "elapsed_s");
		return;
	}
	/* The two times may come from two machines: never less than nothing. */
	int64_t ms = (finished ? finished : clock_now_ms()) - started;
	json_key_real(out, "elapsed_s", ms > 0 ? (double)ms / 1000 : 0);
}

void read_put_task(sqlite3_stmt *row, int64_t experiment, struct json *out)
{
	char id[48];
	snprintf(id, sizeof(id), "e%" PRId64 "/%" PRId64, experiment, (int64_t)sqlite3_column_int64(row, TASK_NUMBER));
	json_map(out);
	json_key_string(out, "id", id);
	*strchr(id, '/') = 0;
	json_key_string(out, "experiment", id);
	row_put_int(row, TASK_NUMBER, "number", out);
	row_put_state(row, TASK_STATE, "state", out);
	row_put_text(row, TASK_REASON, "reason", out);
	row_put_json(row, TASK_CAUSE, "cause", out);
	row_put_json(row, TASK_PARAMETERS, "parameters", out);
	row_put_int(row, TASK_REPEAT, "repeat", out);
	row_put_int(row, TASK_SEED, "seed", out);
	row_put_point(row, TASK_BEST, TASK_BEST_STEP, "best", out);
	row_put_point(row, TASK_LAST, TASK_LAST_STEP, "last", out);
	put_progress(row, out);
	row_put_time(row, TASK_SUBMITTED, "submitted", out);
	row_put_time(row, TASK_STARTED, "started", out);
	row_put_time(row, TASK_FINISHED, "finished", out);
	put_elapsed(row, out);
	row_put_int(row, TASK_ATTEMPT, "attempt", out);
	row_put_text(row, TASK_NODE, "node", out);
	row_put_text(row, TASK_GPUS, "gpus", out);
	row_put_text(row, TASK_JOB, "job", out);
	row_put_time(row, TASK_EXPECTED_START, "expected_start", out);
	row_put_cost(row, TASK_COST, out);
}

static void put_timeline(struct store *store, int64_t task_id, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_timeline);
	sqlite3_bind_int64(row, 1, task_id);
	json_key(out, "timeline");
	json_list(out);
	while (row_next(row)) {
		json_map(out);
		row_put_time(row, 0, "time", out);
		row_put_state(row, 1, "state", out);
		row_put_text(row, 2, "reason", out);
		json_end(out);
	}
	json_end(out);
}

void read_put_attempts(struct store *store, int64_t task_id, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_attempts);
	sqlite3_bind_int64(row, 1, task_id);
	json_key(out, "attempts");
	json_list(out);
	while (row_next(row)) {
		json_map(out);
		row_put_int(row, 0, "number", out);
		row_put_state(row, 1, "state", out);
		row_put_json(row, 2, "cause", out);
		row_put_time(row, 3, "submitted", out);
		row_put_time(row, 4, "started", out);
		row_put_time(row, 5, "finished", out);
		row_put_text(row, 6, "node", out);
		row_put_text(row, 7, "job", out);
		row_put_int(row, 8, "exit_code", out);
		row_put_int(row, 9, "signal", out);
		row_put_text(row, 10, "gpus", out);
		row_put_cost(row, 11, out);
		json_end(out);
	}
	json_end(out);
}

static int open_task(struct store *store, int64_t experiment, int64_t number, int64_t *ret_id, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_one);
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int64(row, 2, number);
	if (!row_next(row))
		return -ENOENT;
	*ret_id = sqlite3_column_int64(row, TASK_ID);
	read_put_task(row, experiment, out);
	sqlite3_reset(row);
	return 0;
}

int store_json_task(struct store *store, int64_t experiment, int64_t number, struct json *out)
{
	int64_t id;
	int rc = open_task(store, experiment, number, &id, out);
	if (rc == 0)
		json_end(out);
	return rc;
}

int store_json_open_task(struct store *store, int64_t experiment, int64_t number, struct json *out)
{
	int64_t id;
	int rc = open_task(store, experiment, number, &id, out);
	if (rc < 0)
		return rc;
	put_timeline(store, id, out);
	read_put_attempts(store, id, out);
	read_put_metric_names(store, experiment, id, out);
	return 0;
}

/* "KEY:NUMBER", as task_cursor_format made it. */
static int task_cursor_parse(const char *cursor, double *ret_key, int64_t *ret_number)
{
	const char *colon = strrchr(cursor, ':');
	double key;
	if (!colon || num_parse_real(cursor, (size_t)(colon - cursor), &key) < 0 || isnan(key) ||
	    num_parse_int(colon + 1, strlen(colon + 1), 0, INT64_MAX, ret_number) < 0)
		return -EINVAL;
	*ret_key = key;
	return 0;
}

static void task_cursor_format(sqlite3_stmt *row, char *text, size_t size)
{
	char key[NUM_REAL_CHARS];
	num_format_real(sqlite3_column_double(row, TASK_COLUMN_COUNT), key);
	snprintf(text, size, "%s:%" PRId64, key, (int64_t)sqlite3_column_int64(row, TASK_NUMBER));
}

static const struct task_sort *find_sort(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(task_sorts); i++)
		if (!strcmp(task_sorts[i].name, name))
			return &task_sorts[i];
	return NULL;
}

/* 1 or -1: what a value is multiplied by so that smaller is better. */
static int find_goal_sign(struct store *store, int64_t experiment, double *ret_sign)
{
	sqlite3_stmt *row = store_prepare(store, sql_find);
	sqlite3_bind_int64(row, 1, experiment);
	if (!row_next(row))
		return -ENOENT;
	const char *goal = row_text(row, 0);
	*ret_sign = goal && !strcmp(goal, "max") ? -1 : 1;
	sqlite3_reset(row);
	return 0;
}

int store_json_tasks(struct store *store, int64_t experiment, const struct store_page *page, struct json *out)
{
	double goal_sign, key = -INFINITY;
	int64_t number = 0, written = 0;
	bool more = false;
	char next[64] = "";
	if (find_goal_sign(store, experiment, &goal_sign) < 0)
		return -ENOENT;
	const struct task_sort *sort = find_sort(page->sort ? page->sort : "number");
	int state = page->state ? store_state_find(page->state) : -1;
	if (!sort || (page->state && state < 0) || (page->cursor && task_cursor_parse(page->cursor, &key, &number) < 0))
		return -EINVAL;

	sqlite3_stmt *row = store_prepare(store, sort->sql);
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int(row, 2, state);
	sqlite3_bind_double(row, 3, key);
	sqlite3_bind_int64(row, 4, number);
	sqlite3_bind_int64(row, 5, page->limit + 1);
	sqlite3_bind_double(row, 6, sort->sign != 0 ? sort->sign : goal_sign);
	sqlite3_bind_int64(row, 7, clock_now_ms());
	json_map(out);
	json_key(out, "items");
	json_list(out);
	while (!more && row_next(row)) {
		more = written == page->limit;
		if (more)
			break;
		task_cursor_format(row, next, sizeof(next));
		read_put_task(row, experiment, out);
		json_end(out);
		written++;
	}
	sqlite3_reset(row);
	json_end(out);
	json_key_string(out, "next", more ? next : NULL);

	row = store_prepare(store, sql_total);
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int(row, 2, state);
	json_key_int(out, "total", row_next(row) ? sqlite3_column_int64(row, 0) : 0);
	sqlite3_reset(row);
	json_end(out);
	return 0;
}

int store_find_attempt(struct store *store, int64_t experiment, int64_t number, int64_t attempt, int64_t *ret)
{
	sqlite3_stmt *row = store_prepare(store, sql_find_attempt);
	sqlite3_bind_int64(row, 1, experiment);
	sqlite3_bind_int64(row, 2, number);
	sqlite3_bind_int64(row, 3, attempt);
	if (!row_next(row))
		return -ENOENT;
	int64_t found = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (attempt && !found)
		return -ENOENT;
	*ret = found;
	return 0;
}
