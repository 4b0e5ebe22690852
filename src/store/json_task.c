/* Tasks as JSON: see json.h. Pages are cut by key, not by offset, so that a task that changes between
 * two pages is neither lost nor shown twice where the order does not depend on it. */
#include "store/json_task.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/num.h"
#include "store/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char sql_goal[] = "SELECT json_extract(objective, '$[0].goal') "
			       "FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_one[] = TASK_SELECT " FROM task t "
					  "JOIN experiment e ON e.id = t.experiment AND e.removing = 0 "
					  "WHERE t.experiment = ?1 AND t.number = ?2";
static const char sql_notes[] = "SELECT notes FROM task WHERE id = ?1";
static const char sql_total[] = "SELECT count(*) FROM task WHERE experiment = ?1 AND (?2 < 0 OR state = ?2)";

#define TIMELINE_JSON(X)                                                                                               \
	X(time, "time", "time_ms")                                                                                     \
	X(state, "state", "state")                                                                                     \
	X(text, "reason", "reason")
static const struct row_member task_timeline_members[] = {TIMELINE_JSON(ROW_MEMBER)};
static const char sql_timeline[] = "SELECT id" TIMELINE_JSON(ROW_COLUMN) " FROM history WHERE task = ?1 ORDER BY id";

static const struct row_member task_attempt_members[] = {STORE_ATTEMPT(ROW_BOTH_MEMBER, STORE_NONE, ROW_MEMBER)};
static const char sql_attempts[] = "SELECT a.id" STORE_ATTEMPT(
	ROW_BOTH_COLUMN, STORE_NONE, ROW_COLUMN) " FROM attempt a WHERE a.task = ?1 ORDER BY a.number";

/* ?1 experiment, ?2 state or -1, ?3 and ?4 the key and number of the last task shown, ?5 limit, ?6 the
 * sign that turns the order round, ?7 now. What has no key comes last either way. */
#define TASKS_BY(KEY)                                                                                                  \
	TASK_SELECT ", coalesce(?6 * (" KEY "), 9e999) AS k FROM task t "                                              \
		    "WHERE t.experiment = ?1 AND (?2 < 0 OR t.state = ?2) AND (k, t.number) > (?3, ?4) "               \
		    "ORDER BY k, t.number LIMIT ?5"

/* As json_elapsed_s. */
#define TASK_ELAPSED                                                                                                   \
	"CASE WHEN t.state = " NUMBER(RUNNING) " THEN ?7 + " TASK_RAN                                                  \
					       " WHEN t.state >= " NUMBER(FINISHED) " THEN " TASK_RAN " END"

static const struct task_sort {
	const char *name;
	double sign; /* 0: as the goal says, best first */
	const char *sql;
} task_sorts[] = {
	/* By number needs no sorting: the index has the order. ?3, ?6 and ?7 are not asked for. */
	{"number", 1,
	 TASK_SELECT ", t.number FROM task t WHERE t.experiment = ?1 "
		     "AND (?2 < 0 OR t.state = ?2) AND t.number > ?4 "
		     "ORDER BY t.number LIMIT ?5"},
	{"-number", -1, TASKS_BY("t.number")},
	{"best", 0, TASKS_BY("CASE WHEN t.beyond IS NULL THEN t.best END")},
	{"-best", 0, TASKS_BY("-t.best")},
	{"started", 1, TASKS_BY("t.started_ms")},
	{"-started", -1, TASKS_BY("t.started_ms")},
	{"elapsed", 1, TASKS_BY(TASK_ELAPSED)},
	{"-elapsed", -1, TASKS_BY(TASK_ELAPSED)},
};

enum { ROW_progress = 3, ROW_elapsed = 2 };

/* State, step and steps. */
static void row_put_progress(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	double steps = sqlite3_column_double(row, first + 2);
	if (row_int(row, first) == STORE_FINISHED)
		json_key_real(out, key, 1);
	else if (row_is_null(row, first + 1) || !(steps > 0))
		json_key_null(out, key);
	else
		json_key_real(out, key, fmax(0, fmin(1, sqlite3_column_double(row, first + 1) / steps)));
}

double json_elapsed_s(enum store_state state, sqlite3_stmt *row, int ran)
{
	bool runs = state == STORE_RUNNING;
	if (row_is_null(row, ran) || (!runs && !store_state_is_over(state)))
		return NAN;
	/* The times may come from several machines: never less than nothing. */
	int64_t ms = row_int(row, ran) + (runs ? clock_now_ms() : 0);
	return ms > 0 ? (double)ms / 1000 : 0;
}

static void row_put_elapsed(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	double elapsed_s = json_elapsed_s((enum store_state)row_int(row, first), row, first + 1);
	if (isnan(elapsed_s))
		json_key_null(out, key);
	else
		json_key_real(out, key, elapsed_s);
}

int json_open_task(sqlite3_stmt *row, int64_t experiment, struct json *out)
{
	static const struct row_member members[] = {STORE_TASK(ROW_BOTH_MEMBER, STORE_NONE, ROW_MEMBER)};
	char id[48];
	snprintf(id, sizeof(id), "e%" PRId64 "/%" PRId64, experiment, row_int(row, TASK_NUMBER));
	json_map(out);
	json_key_string(out, "id", id);
	*strchr(id, '/') = 0;
	json_key_string(out, "experiment", id);
	return row_put_members(row, TASK_MEMBERS, members, COUNT_OF(members), out);
}

static int task_put_notes(struct store *store, int64_t task_id, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_notes, "i", task_id);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	row_put_text(row, 0, "notes", out);
	store_end(row);
	return 0;
}

static int task_put_timeline(struct store *store, int64_t task_id, struct json *out)
{
	return row_put_list(store, store_bind(store, sql_timeline, "i", task_id), "timeline", task_timeline_members,
			    COUNT_OF(task_timeline_members), out);
}

int json_put_attempts(struct store *store, int64_t task_id, struct json *out)
{
	return row_put_list(store, store_bind(store, sql_attempts, "i", task_id), "attempts", task_attempt_members,
			    COUNT_OF(task_attempt_members), out);
}

/* Opens the map of a task; the caller ends it. */
static int task_open(struct store *store, int64_t experiment, int64_t number, int64_t *ret_id, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_one, "ii", experiment, number);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret_id = row_int(row, TASK_ID);
	json_open_task(row, experiment, out);
	store_end(row);
	return 0;
}

int store_json_task(struct store *store, int64_t experiment, int64_t number, struct json *out)
{
	int64_t id;
	int rc = task_open(store, experiment, number, &id, out);
	if (rc == 0)
		json_end(out);
	return rc;
}

int store_json_open_task(struct store *store, int64_t experiment, int64_t number, struct json *out)
{
	int64_t id;
	int rc = task_open(store, experiment, number, &id, out);
	if (rc == 0)
		rc = task_put_notes(store, id, out);
	if (rc == 0)
		rc = task_put_timeline(store, id, out);
	if (rc == 0)
		rc = json_put_attempts(store, id, out);
	if (rc == 0)
		rc = json_put_metric_names(store, experiment, id, out);
	return rc;
}

/* "KEY:NUMBER", as cursor_format made it. */
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

static void task_cursor_format(double key, int64_t number, char *text, size_t size)
{
	char key_text[NUM_REAL_CHARS];
	num_format_real(key, key_text);
	snprintf(text, size, "%s:%" PRId64, key_text, number);
}

static const struct task_sort *task_find_sort(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(task_sorts); i++)
		if (!strcmp(task_sorts[i].name, name))
			return &task_sorts[i];
	return NULL;
}

bool store_page_is_plain(const struct store_page *page)
{
	bool later = page->cursor && *page->cursor == 't';
	return !page->filter && !page->metrics && !later && (!page->sort || task_find_sort(page->sort));
}

/* 1 or -1: what a value is multiplied by so that smaller is better. -ENOENT. */
static int task_find_goal_sign(struct store *store, int64_t experiment, double *ret_sign)
{
	sqlite3_stmt *row = store_bind(store, sql_goal, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	const char *goal = row_text(row, 0);
	*ret_sign = goal && !strcmp(goal, "max") ? -1 : 1;
	store_end(row);
	return 0;
}

/* "items" and "next" of a page. */
static int task_put_page(struct store *store, sqlite3_stmt *row, int64_t experiment, int64_t limit, struct json *out)
{
	char next[64] = "";
	int64_t written = 0;
	int rc;
	json_key(out, "items");
	json_list(out);
	while ((rc = store_step(store, row)) > 0 && written < limit) {
		int key = json_open_task(row, experiment, out);
		task_cursor_format(sqlite3_column_double(row, key), row_int(row, TASK_NUMBER), next, sizeof(next));
		json_end(out);
		written++;
	}
	json_end(out);
	json_key_string(out, "next", rc > 0 ? next : NULL);
	if (rc > 0)
		store_end(row);
	return rc < 0 ? rc : 0;
}

int store_json_tasks(struct store *store, int64_t experiment, const struct store_page *page, struct json *out)
{
	double goal_sign, key = -INFINITY;
	int64_t number = 0;
	int rc = task_find_goal_sign(store, experiment, &goal_sign);
	if (rc < 0)
		return rc;
	const struct task_sort *sort = task_find_sort(page->sort ? page->sort : "number");
	int64_t state = page->state ? store_state_find(page->state) : -1;
	if (!sort || (page->state && state < 0) || (page->cursor && task_cursor_parse(page->cursor, &key, &number) < 0))
		return -EINVAL;

	json_map(out);
	rc = task_put_page(store,
			   store_bind(store, sort->sql, "iidiidi", experiment, state, key, number, page->limit + 1,
				      sort->sign != 0 ? sort->sign : goal_sign, clock_now_ms()),
			   experiment, page->limit, out);
	if (rc < 0)
		return rc;
	sqlite3_stmt *row = store_bind(store, sql_total, "ii", experiment, state);
	if ((rc = store_one(store, row)) < 0)
		return rc;
	row_put_int(row, 0, "total", out);
	store_end(row);
	json_end(out);
	return 0;
}
