/* Columns of a row as members of a JSON map, listed once: for the json_*.c files of this room only. A list is a macro
 * whose rows give the kind, the member's key and the SQL of its columns, as JSON() and BOTH() of rows.h or in a list of
 * its own:
 *
 *	#define BEST_JSON(X) X(int, "task", "e.best_task") X(json, "parameters", "b.parameters")
 *
 * "SELECT e.id" BEST_JSON(ROW_COLUMN) is the query, {BEST_JSON(ROW_MEMBER)} the table for row_put_members(). A kind is
 * a function row_put_KIND() and a number of columns ROW_KIND. A NULL column is always null, never 0. */
#ifndef STORE_JSON_ROW_H
#define STORE_JSON_ROW_H

#include "base/cost.h"
#include "store/json.h"
#include "store/sql.h"

#define ROW_COLUMN(kind, key, sql) ", " sql
#define ROW_MEMBER(kind, key, sql) {row_put_##kind, key, ROW_##kind},
/* The same of BOTH() in rows.h. */
#define ROW_BOTH_COLUMN(type, member, sql, kind, key) ROW_COLUMN(kind, key, sql)
#define ROW_BOTH_MEMBER(type, member, sql, kind, key) ROW_MEMBER(kind, key, sql)

/* Writes one member out of the columns that begin at `first`. */
typedef void row_put_f(sqlite3_stmt *row, int first, const char *key, struct json *out);
struct row_member {
	row_put_f *put;
	const char *key;
	int columns;
};
/* Writes the members out of the columns that begin at `first`. Returns the column after them. */
int row_put_members(sqlite3_stmt *row, int first, const struct row_member *members, size_t count, struct json *out);

#define ROW_ONE(...) 1 +
#define ROW_NONE(...)
enum row_columns {
	ROW_text = 1,
	ROW_json = 1,
	ROW_int = 1,
	ROW_bool = 1,
	ROW_real = 1,
	ROW_time = 1,
	ROW_state = 1,
	ROW_point = 2,
	ROW_cost = COST_FIGURES(ROW_ONE, ROW_NONE) 2,
};
row_put_f row_put_text, row_put_json, row_put_int, row_put_bool, row_put_real;
/* Milliseconds since 1970 as a date. */
row_put_f row_put_time;
row_put_f row_put_state;
/* Value and step: {"value":…,"epoch":…}, or null where the step is NULL; a NULL value with a step is NaN. */
row_put_f row_put_point;
/* ROW_COST_COLUMNS: what a task or an attempt cost. The column `figures` is copied as it is, never parsed. */
row_put_f row_put_cost;
#define ROW_NAME(name, key, column, ...) column ", "
#define ROW_COST_COLUMNS COST_FIGURES(ROW_NAME, ROW_NONE) "energy_source, figures"

/* A counted figure as it is stored, under its key in REST; null for NAN. */
void row_put_figure(double value, const struct cost_figure *figure, struct json *out);

/* A list of maps under the key, one for each row of the query. Its members begin at the second column. */
int row_put_list(struct store *store, sqlite3_stmt *row, const char *key, const struct row_member *members,
		 size_t count, struct json *out) MUST_USE;

/* Opens a map with the experiment's members, its task counts under counts_key; the caller ends it. */
int json_open_experiment(struct store *store, int64_t experiment, bool detail, const char *counts_key,
			 struct json *out) MUST_USE;
/* "metrics":{NAME:{"step":[…],"value":[…]}} of a task; points 0: all of them. */
int json_put_curves(struct store *store, int64_t experiment, int64_t task_id, int64_t points, enum store_axis axis,
		    struct json *out) MUST_USE;
/* "ran":{DIGEST:{…}}: what the attempts of an experiment ran. */
int json_put_ran(struct store *store, int64_t experiment, struct json *out) MUST_USE;
/* "metrics":[names] of a task (task_id 0: of the experiment). */
int json_put_metric_names(struct store *store, int64_t experiment, int64_t task_id, struct json *out) MUST_USE;
/* "spark":[…]: the task's curve of one metric as at most `points` bare values; [] when name_id is 0. */
int json_put_spark(struct store *store, int64_t task_id, int64_t name_id, int64_t points, struct json *out) MUST_USE;

#endif
