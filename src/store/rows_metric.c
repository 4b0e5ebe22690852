/* Metrics as rows: their names, values and the files they come from. See rows.h. */
#include "base/mem.h"
#include "base/node.h"
#include "store/rows.h"
#include "store/rows_row.h"

#include <math.h>
#include <string.h>

static const char sql_find_metric[] = "SELECT id FROM metric_name WHERE experiment = ?1 AND name = ?2";
static const char sql_add_metric_name[] = "INSERT INTO metric_name (experiment, name) VALUES (?1, ?2)";
static const char sql_add_metric[] =
	"INSERT OR REPLACE INTO metric (task, name, step, value, time_ms, epoch) VALUES (?, ?, ?, ?, ?, ?)";
static const char sql_clear_metrics[] = "DELETE FROM metric WHERE (task, name, step) IN "
					"(SELECT task, name, step FROM metric WHERE task = ?1 LIMIT " METRIC_PART ")";
static const char sql_renumbered[] = "UPDATE task SET renumbered = coalesce(renumbered, ?2) WHERE id = ?1";
static const char sql_as_written[] = "UPDATE task SET renumbered = NULL WHERE id = ?1";
static const char sql_clear_sources[] = "DELETE FROM metric_source WHERE task = ?1";
static const char sql_rename[] = "UPDATE OR REPLACE metric SET name = ?3 WHERE task = ?1 AND name = ?2";
static const char sql_drop[] = "DELETE FROM metric WHERE task = ?1 AND name = ?2";
static const char sql_sources[] = "SELECT source, attempt, step_name, names FROM metric_source WHERE task = ?1";
static const char sql_set_source[] =
	"INSERT OR REPLACE INTO metric_source (task, source, attempt, step_name, names) VALUES (?1, ?2, ?3, ?4, ?5)";
#define OF_METRIC                                                                                                      \
	" FROM metric m JOIN metric_name n ON n.id = m.name WHERE m.task = ?1 AND n.experiment = ?2 AND n.name = ?3"
/* A value that overflowed is no best one, whichever direction is better. 9e999 is infinite. */
static const char sql_least[] = "SELECT min(m.value)" OF_METRIC " AND abs(m.value) < 9e999";
static const char sql_most[] = "SELECT max(m.value)" OF_METRIC " AND abs(m.value) < 9e999";
static const char sql_mean[] = "SELECT avg(value) FROM (SELECT m.value" OF_METRIC " ORDER BY m.step DESC LIMIT ?4)";
#define EXTREME(order)                                                                                                 \
	"SELECT m.step, m.value" OF_METRIC " AND abs(m.value) < 9e999 ORDER BY m.value " order ", m.step LIMIT 1"
static const char sql_lowest[] = EXTREME("ASC"), sql_highest[] = EXTREME("DESC");
static const char sql_newest[] = "SELECT m.step, m.value" OF_METRIC " ORDER BY m.step DESC LIMIT 1";
static const char sql_time[] = "SELECT wall_ms / 1000.0 FROM task WHERE id = ?1";
static const char sql_energy[] = "SELECT energy_j FROM task WHERE id = ?1";
/* The first metric whose newest row has an epoch. */
#define IN_EPOCHS                                                                                                      \
	"SELECT n.id FROM task t JOIN metric_name n ON n.experiment = t.experiment WHERE t.id = ?1 AND "               \
	"(SELECT m.epoch FROM metric m WHERE m.task = ?1 AND m.name = n.id ORDER BY m.step DESC LIMIT 1) IS NOT NULL " \
	"ORDER BY n.id LIMIT 1"
static const char sql_in_epochs[] = IN_EPOCHS;
static const char sql_steps[] =
	"SELECT coalesce(CAST(epoch AS INTEGER), step), time_ms FROM metric WHERE task = ?1 AND name = coalesce((" IN_EPOCHS
	"), (SELECT min(name) FROM metric WHERE task = ?1)) ORDER BY step DESC LIMIT ?2";
/* How far a row is: in epochs where they are known, else in steps. */
#define REACHED "coalesce(m.epoch, m.step)"
static const char sql_reached[] = "SELECT " REACHED OF_METRIC " ORDER BY m.step DESC LIMIT 1";
#define RIVALS(function)                                                                                               \
	"SELECT " function "(m.value) FILTER (WHERE " REACHED " <= ?4) FROM task t "                                   \
	"JOIN metric_name n ON n.experiment = t.experiment AND n.name = ?3 "                                           \
	"JOIN metric m ON m.task = t.id AND m.name = n.id WHERE t.experiment = ?1 AND t.id <> ?2 AND t.state <> ?5 "   \
	"GROUP BY t.id HAVING t.state = " NUMBER(FINISHED) " OR max(" REACHED ") >= ?4"
static const char sql_least_rivals[] = RIVALS("min"), sql_most_rivals[] = RIVALS("max");
static const char sql_counts_rows[] =
	"SELECT EXISTS (SELECT 1 FROM task t JOIN metric_name n ON n.experiment = ?1 AND n.name = ?2 "
	"WHERE t.experiment = ?1 AND t.step_name = 'row' AND EXISTS (SELECT 1 FROM metric WHERE task = t.id AND name = n.id))";

int store_set_renumbered(struct store *store, int64_t id, const char *why)
{
	return store_run(store, sql_renumbered, "is", id, why);
}

int store_clear_metrics(struct store *store, int64_t task)
{
	int rc = store_run(store, sql_clear_metrics, "i", task);
	if (rc == 0 && sqlite3_changes(store_db(store)))
		return 1;
	if (rc == 0)
		rc = store_run(store, sql_as_written, "i", task);
	return rc < 0 ? rc : store_run(store, sql_clear_sources, "i", task);
}

int store_metric_name(struct store *store, int64_t experiment, const char *name, int64_t *ret_id)
{
	int64_t id;
	int rc = row_read_int(store, store_bind(store, sql_find_metric, "is", experiment, name), &id);
	if (rc == 0 && !id) {
		rc = store_run(store, sql_add_metric_name, "is", experiment, name);
		id = sqlite3_last_insert_rowid(store_db(store));
	}
	if (rc == 0)
		*ret_id = id;
	return rc;
}

int store_add_metric(struct store *store, int64_t task, const struct store_point *point)
{
	return store_run(store, sql_add_metric, "iiidid", task, point->name, point->step, point->value, point->time_ms,
			 point->epoch);
}

int store_rename_metric(struct store *store, int64_t task, int64_t from, int64_t to)
{
	return store_run(store, sql_rename, "iii", task, from, to);
}

int store_drop_metric(struct store *store, int64_t task, int64_t name)
{
	return store_run(store, sql_drop, "ii", task, name);
}

int store_each_source(struct store *store, int64_t task, store_source_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_sources, "i", task);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_source source = {
			.source = row_text(row, 0),
			.attempt = row_int(row, 1),
			.step_name = row_text(row, 2),
			.names = row_text(row, 3),
		};
		if ((rc = each(ctx, &source)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_set_source(struct store *store, int64_t task, const struct store_source *source)
{
	return store_run(store, sql_set_source, "isiss", task, source->source, source->attempt, source->step_name,
			 source->names);
}

int store_each_step(struct store *store, int64_t task, int64_t limit, store_step_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_steps, "ii", task, limit);
	int rc;
	while ((rc = store_step(store, row)) > 0 && (rc = each(ctx, row_int(row, 0), row_int(row, 1))) >= 0)
		;
	store_end(row);
	return rc;
}

int store_has_epochs(struct store *store, int64_t task, bool *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_in_epochs, "i", task);
	int rc = store_step(store, row);
	*ret = rc > 0;
	store_end(row);
	return rc < 0 ? rc : 0;
}

/* One number out of the first row of a query; NAN for NULL or no row. */
static int rows_read_real(struct store *store, sqlite3_stmt *row, double *ret)
{
	int rc = store_step(store, row);
	if (rc < 0)
		return rc;
	*ret = rc > 0 ? row_real(row, 0) : NAN;
	store_end(row);
	return 0;
}

int store_read_objective(struct store *store, int64_t experiment, int64_t task, const char *name, enum store_take take,
			 int64_t of, double *ret)
{
	double value;
	int rc;
	if (take == STORE_TAKE_LEAST || take == STORE_TAKE_MOST)
		rc = rows_read_real(store,
				    store_bind(store, take == STORE_TAKE_LEAST ? sql_least : sql_most, "iis", task,
					       experiment, name),
				    &value);
	else
		rc = rows_read_real(store,
				    store_bind(store, sql_mean, "iisi", task, experiment, name,
					       take == STORE_TAKE_LAST ? (int64_t)1 : of),
				    &value);
	if (rc == 0 && isnan(value) && strcmp(name, "time") == 0)
		rc = rows_read_real(store, store_bind(store, sql_time, "i", task), &value);
	else if (rc == 0 && isnan(value) && strcmp(name, "energy") == 0)
		rc = rows_read_real(store, store_bind(store, sql_energy, "i", task), &value);
	if (rc == 0)
		*ret = isfinite(value) ? value : NAN;
	return rc;
}

int store_read_reached(struct store *store, int64_t experiment, int64_t task, const char *name, double *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_reached, "iis", task, experiment, name);
	int rc = store_step(store, row);
	*ret = rc > 0 ? row_real(row, 0) : -1;
	if (rc > 0)
		store_end(row);
	return rc < 0 ? rc : 0;
}

int store_read_rivals(struct store *store, int64_t experiment, int64_t task, const char *name, double at, bool most,
		      bool pruned, double **ret, size_t *ret_count)
{
	VEC(double) values = {0};
	sqlite3_stmt *row = store_bind(store, most ? sql_most_rivals : sql_least_rivals, "iisdi", experiment, task,
				       name, at, pruned ? (int64_t)-1 : (int64_t)STORE_PRUNED);
	int rc;
	while ((rc = store_step(store, row)) > 0)
		vec_push(&values, row_real(row, 0));
	*ret = values.at;
	*ret_count = values.len;
	return rc;
}

/* A step and its value out of the first row; both stay as they are where there is none. */
static int rows_read_point(struct store *store, sqlite3_stmt *row, int64_t *ret_step, double *ret_value)
{
	int rc = store_step(store, row);
	if (rc > 0) {
		*ret_step = row_int(row, 0);
		*ret_value = row_real(row, 1);
		store_end(row);
	}
	return rc < 0 ? rc : 0;
}

int store_read_objective_step(struct store *store, int64_t experiment, int64_t task, const char *name,
			      enum store_take take, int64_t *ret)
{
	const char *sql = take == STORE_TAKE_LEAST ? sql_lowest : take == STORE_TAKE_MOST ? sql_highest : sql_newest;
	double value;
	*ret = -1;
	return rows_read_point(store, store_bind(store, sql, "iis", task, experiment, name), ret, &value);
}

enum store_take store_objective_take(const struct node *objective, int64_t *ret_of)
{
	const char *take = node_get_string(objective, "take"), *goal = node_get_string(objective, "goal");
	*ret_of = node_get_int(objective, "of", 1);
	if (take && !strcmp(take, "last"))
		return STORE_TAKE_LAST;
	if (take && !strcmp(take, "mean"))
		return STORE_TAKE_MEAN;
	return goal && !strcmp(goal, "max") ? STORE_TAKE_MOST : STORE_TAKE_LEAST;
}

int store_read_progress(struct store *store, const char *name, bool maximise, struct store_task *task)
{
	task->best = task->last = NAN;
	task->best_step = task->last_step = -1;
	int rc = rows_read_point(
		store, store_bind(store, maximise ? sql_highest : sql_lowest, "iis", task->id, task->experiment, name),
		&task->best_step, &task->best);
	if (rc == 0)
		rc = rows_read_point(store, store_bind(store, sql_newest, "iis", task->id, task->experiment, name),
				     &task->last_step, &task->last);
	return rc;
}

int store_counts_rows(struct store *store, int64_t experiment, const char *metric, bool *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_counts_rows, "is", experiment, metric);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret = row_int(row, 0) != 0;
	store_end(row);
	return 0;
}
