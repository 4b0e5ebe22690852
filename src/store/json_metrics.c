/* Curves as JSON: see json.h. Thinning cuts the steps into equal runs and keeps the lowest and highest
 * value of each (and the first NaN, where there are any): the picture on a screen stays the same. */
#include "store/json_pieces.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char sql_find_name[] = "SELECT id FROM metric_name WHERE experiment = ?1 AND name = ?2";
static const char sql_names[] = "SELECT name FROM metric_name WHERE experiment = ?1 AND " JSON_METRIC_HAS_ROWS
				" ORDER BY id";
static const char sql_task_names[] = "SELECT n.name, n.id FROM metric_name n WHERE n.experiment = ?1 AND EXISTS "
				     "(SELECT 1 FROM metric WHERE task = ?2 AND name = n.id) ORDER BY n.id";
/* The fourth column is the place on the axis. */
static const char *const sql_curves[] = {
	[STORE_AXIS_STEP] = "SELECT step, value, epoch, NULL FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step",
	[STORE_AXIS_EPOCH] = "SELECT step, value, epoch, epoch FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step",
	[STORE_AXIS_TIME] =
		("SELECT m.step, m.value, m.epoch, max(0, m.time_ms - t.started_ms) / 1000.0 FROM metric m JOIN task t "
		 "ON t.id = m.task WHERE m.task = ?1 AND m.name = ?2 ORDER BY m.step"),
};
/* What the steps of the task count, which are those of the objective, and what those of the metric's source do. */
static const char sql_counts[] =
	"SELECT coalesce(t.step_name, e.step_name), "
	"(SELECT s.step_name FROM metric_source s, json_each(s.names) j, metric_name n "
	"WHERE s.task = t.id AND n.id = ?2 AND j.value = n.name AND s.step_name <> 'epoch' LIMIT 1) "
	"FROM task t JOIN experiment e ON e.id = t.experiment WHERE t.id = ?1";
static const char sql_tasks[] = "SELECT id, number FROM task WHERE experiment = ?1 AND number > ?2 ORDER BY number";
static const char sql_find_experiment[] = "SELECT step_name, json_extract(objective, '$[0].metric') FROM experiment "
					  "WHERE id = ?1 AND removing = 0";
static const char sql_find_task[] =
	"SELECT t.id, coalesce(t.step_name, e.step_name) FROM task t "
	"JOIN experiment e ON e.id = t.experiment AND e.removing = 0 WHERE t.experiment = ?1 AND t.number = ?2";

struct point {
	int64_t step;
	double value, epoch, x; /* NAN: not known */
};

struct curve {
	enum store_axis axis;
	int64_t from, to; /* steps */
	bool epochs, epochs_only; /* an epoch is known; every step is one */
	VEC(struct point) points;
};

static int curve_read(struct store *store, int64_t task_id, int64_t name_id, struct curve *curve)
{
	sqlite3_stmt *row = store_bind(store, sql_curves[curve->axis], "ii", task_id, name_id);
	int rc;
	curve->points.len = 0;
	curve->epochs = false;
	curve->epochs_only = true;
	while ((rc = store_step(store, row)) > 0) {
		struct point point = {row_int(row, 0), row_real(row, 1), row_real(row, 2), row_real(row, 3)};
		curve->epochs |= !isnan(point.epoch);
		curve->epochs_only &= point.epoch == (double)point.step;
		if (point.step >= curve->from && point.step <= curve->to)
			vec_push(&curve->points, point);
	}
	return rc;
}

static bool curve_has_nan(const struct curve *curve)
{
	for (size_t i = 0; i < curve->points.len; i++)
		if (isnan(curve->points.at[i].value))
			return true;
	return false;
}

/* The indices to keep of one run, in order; at most three. */
static size_t metrics_pick_extremes(const struct point *at, size_t from, size_t to, size_t pick[3])
{
	size_t low = to, high = to, nan = to, count = 0;
	for (size_t i = from; i < to; i++) {
		if (isnan(at[i].value)) {
			if (nan == to)
				nan = i;
			continue;
		}
		if (low == to || at[i].value < at[low].value)
			low = i;
		if (high == to || at[i].value > at[high].value)
			high = i;
	}
	for (size_t i = from; i < to; i++)
		if (i == low || i == high || i == nan)
			pick[count++] = i;
	return count;
}

/* Keeps at most max points (max 0: all), in place. */
static void curve_thin(struct curve *curve, size_t max)
{
	struct point *at = curve->points.at;
	size_t len = curve->points.len;
	if (!max || len <= max)
		return;
	if (max < 4) {
		if (max > 1)
			at[1] = at[len - 1];
		curve->points.len = max > 1 ? 2 : 1;
		return;
	}
	size_t per_run = curve_has_nan(curve) ? 3 : 2;
	size_t inner = len - 2, runs = (max - 2) / per_run, kept = 1;
	if (!runs)
		runs = 1;
	for (size_t run = 0; run < runs; run++) {
		size_t pick[3];
		size_t from = 1 + inner * run / runs, to = 1 + inner * (run + 1) / runs;
		size_t count = metrics_pick_extremes(at, from, to, pick);
		/* kept never passes from, so nothing unread is overwritten */
		for (size_t i = 0; i < count && kept < max - 1; i++)
			at[kept++] = at[pick[i]];
	}
	at[kept++] = at[len - 1];
	curve->points.len = kept;
}

/* Rounds values to so many significant digits (0: none), and where they differ by less than their size, to so many of
 * their difference: neighbours on a chart stay apart. */
static void curve_round(struct curve *curve, int64_t digits)
{
	double low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < curve->points.len; i++) {
		double value = curve->points.at[i].value;
		if (isfinite(value)) {
			low = fmin(low, value);
			high = fmax(high, value);
		}
	}
	if (!digits || !(low < high))
		return;
	double spread = floor(log10(high - low));
	for (size_t i = 0; i < curve->points.len; i++) {
		double *value = &curve->points.at[i].value;
		if (!isfinite(*value) || *value == 0)
			continue;
		double decimals = (double)digits - 1 - fmin(floor(log10(fabs(*value))), spread);
		double scale = pow(10, fabs(decimals));
		/* Beyond these bounds the power of ten or the product is not exact. */
		if (fabs(decimals) > 22 || (decimals > 0 && fabs(*value) * scale > 1e15))
			continue;
		*value = decimals > 0 ? round(*value * scale) / scale : round(*value / scale) * scale;
	}
}

/* The metrics of a task may count different things: a loss twice an epoch is counted by rows, a score by epochs. */
static int curve_put_counts(struct store *store, int64_t task_id, int64_t name_id, const struct curve *curve,
			    struct json *out)
{
	if (curve->epochs_only) {
		json_key_string(out, "step_name", "epoch");
		return 0;
	}
	sqlite3_stmt *row = store_bind(store, sql_counts, "ii", task_id, name_id);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	const char *task = row_text(row, 0), *source = row_text(row, 1);
	bool other = curve->epochs && task && strcmp(task, "epoch") == 0;
	json_key_string(out, "step_name", !other ? task : source ? source : "step");
	store_end(row);
	return 0;
}

static void curve_put_axis(const struct curve *curve, const char *key, bool epochs, struct json *out)
{
	json_key(out, key);
	json_list(out);
	for (size_t i = 0; i < curve->points.len; i++) {
		double at = epochs ? curve->points.at[i].epoch : curve->points.at[i].x;
		if (isnan(at))
			json_put_null(out);
		else
			json_put_real(out, at);
	}
	json_end(out);
}

static void curve_put(const struct curve *curve, struct json *out)
{
	json_key(out, "step");
	json_list(out);
	for (size_t i = 0; i < curve->points.len; i++)
		json_put_int(out, curve->points.at[i].step);
	json_end(out);
	json_key(out, "value");
	json_list(out);
	for (size_t i = 0; i < curve->points.len; i++)
		json_put_real(out, curve->points.at[i].value);
	json_end(out);
	if (curve->axis != STORE_AXIS_STEP)
		curve_put_axis(curve, "x", false, out);
	else if (curve->epochs && !curve->epochs_only)
		curve_put_axis(curve, "epoch", true, out);
}

/* The id of a metric's name in an experiment; 0 when it has none of that name. */
static int json_find_metric(struct store *store, int64_t experiment, const char *name, int64_t *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_find_name, "is", experiment, name);
	int rc = store_step(store, row);
	if (rc < 0)
		return rc;
	*ret = rc > 0 ? row_int(row, 0) : 0;
	store_end(row);
	return 0;
}

int json_put_metric_names(struct store *store, int64_t experiment, int64_t task_id, struct json *out)
{
	sqlite3_stmt *row = task_id ? store_bind(store, sql_task_names, "ii", experiment, task_id)
				    : store_bind(store, sql_names, "i", experiment);
	int rc;
	json_key(out, "metrics");
	json_list(out);
	while ((rc = store_step(store, row)) > 0)
		json_put_string(out, row_text(row, 0));
	json_end(out);
	return rc;
}

int json_put_spark(struct store *store, int64_t task_id, int64_t name_id, int64_t points, struct json *out)
{
	struct curve curve = {.from = INT64_MIN, .to = INT64_MAX};
	int rc = 0;
	json_key(out, "spark");
	json_list(out);
	if (task_id && name_id) {
		rc = curve_read(store, task_id, name_id, &curve);
		curve_thin(&curve, (size_t)points);
		for (size_t i = 0; i < curve.points.len; i++)
			json_put_real(out, curve.points.at[i].value);
	}
	json_end(out);
	free(curve.points.at);
	return rc;
}

int json_put_curves(struct store *store, int64_t experiment, int64_t task_id, int64_t points, enum store_axis axis,
		    struct json *out)
{
	struct curve curve = {.axis = axis, .from = INT64_MIN, .to = INT64_MAX};
	sqlite3_stmt *row = store_bind(store, sql_task_names, "ii", experiment, task_id);
	int rc;
	json_key(out, "metrics");
	json_map(out);
	while ((rc = store_step(store, row)) > 0) {
		json_key(out, row_text(row, 0));
		if ((rc = curve_read(store, task_id, row_int(row, 1), &curve)) < 0)
			break;
		curve_thin(&curve, (size_t)points);
		json_map(out);
		if ((rc = curve_put_counts(store, task_id, row_int(row, 1), &curve, out)) < 0)
			break;
		curve_put(&curve, out);
		json_end(out);
	}
	store_end(row);
	json_end(out);
	free(curve.points.at);
	return rc;
}

static int metrics_compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int metrics_put_task_curve(struct task_pieces *pieces, sqlite3_stmt *row)
{
	int64_t number = row_int(row, 1);
	if (pieces->only &&
	    !bsearch(&number, pieces->only, pieces->only_count, sizeof(number), metrics_compare_numbers))
		return 0;
	struct curve curve = {.axis = pieces->axis, .from = pieces->from, .to = pieces->to};
	int rc = curve_read(pieces->store, row_int(row, 0), pieces->name, &curve);
	if (rc == 0 && curve.points.len) {
		curve_thin(&curve, (size_t)pieces->points);
		curve_round(&curve, pieces->digits);
		json_map(&pieces->json);
		row_put_int(row, 1, "task", &pieces->json);
		rc = curve_put_counts(pieces->store, row_int(row, 0), pieces->name, &curve, &pieces->json);
		curve_put(&curve, &pieces->json);
		json_end(&pieces->json);
	}
	free(curve.points.at);
	return rc;
}

/* "3,1,7": unreadable numbers are no task's. */
static void metrics_read_only(struct task_pieces *pieces, const char *tasks)
{
	VEC(int64_t) numbers = {0};
	if (!tasks)
		return;
	for (; *tasks; tasks += *tasks == ',') {
		size_t len = strcspn(tasks, ",");
		int64_t number = 0;
		if (num_parse_int(tasks, len, 1, INT64_MAX, &number) < 0)
			number = 0;
		vec_push(&numbers, number);
		tasks += len;
	}
	qsort(numbers.at, numbers.len, sizeof(*numbers.at), metrics_compare_numbers);
	pieces->only = numbers.at;
	pieces->only_count = numbers.len;
}

int store_json_metrics(struct store *store, int64_t experiment, const struct store_curves *asked, struct pieces *ret)
{
	char id[24];
	int64_t name_id = 0;
	sqlite3_stmt *row = store_bind(store, sql_find_experiment, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	const char *metric = asked->name ? asked->name : row_text(row, 1);
	if (metric && (rc = json_find_metric(store, experiment, metric, &name_id)) < 0) {
		store_end(row);
		return rc;
	}
	struct task_pieces *pieces = task_pieces_new(store, experiment, sql_tasks, metrics_put_task_curve, ret);
	struct json *out = &pieces->json;
	pieces->name = name_id;
	pieces->points = asked->points;
	pieces->digits = asked->digits;
	pieces->axis = asked->axis;
	pieces->from = asked->from;
	pieces->to = asked->to;
	metrics_read_only(pieces, asked->tasks);
	pieces->ends = 2;
	if (!pieces->name)
		pieces->last = INT64_MAX; /* no task has it */
	snprintf(id, sizeof(id), "e%" PRId64, experiment);
	json_map(out);
	json_key_string(out, "experiment", id);
	json_key_string(out, "name", metric);
	row_put_text(row, 0, "step_name", out);
	store_end(row);
	json_key(out, "tasks");
	json_list(out);
	return 0;
}

int store_json_task_metrics(struct store *store, int64_t experiment, int64_t number, int64_t points,
			    enum store_axis axis, struct json *out)
{
	char id[48];
	sqlite3_stmt *row = store_bind(store, sql_find_task, "ii", experiment, number);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	int64_t task_id = row_int(row, 0);
	snprintf(id, sizeof(id), "e%" PRId64 "/%" PRId64, experiment, number);
	json_map(out);
	json_key_string(out, "task", id);
	row_put_text(row, 1, "step_name", out);
	store_end(row);
	rc = json_put_curves(store, experiment, task_id, points, axis, out);
	json_end(out);
	return rc;
}
