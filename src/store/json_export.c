/* Everything about an experiment for other programs: see json.h. */
#include "store/json_pieces.h"
#include "store/json_task.h"

#include "base/node.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

static const char sql_tasks[] = TASK_SELECT " FROM task t WHERE t.experiment = ?1 AND t.number > ?2 ORDER BY t.number";
static const char sql_head[] = "SELECT parameters, objective FROM experiment WHERE id = ?1 AND removing = 0";
enum csv_column {
	CSV_ID,
	CSV_NUMBER,
	CSV_STATE,
	CSV_RAN,
	CSV_PARAMETERS,
	CSV_BEST,
	CSV_STEP,
	CSV_ATTEMPT,
	CSV_CAUSE,
	CSV_COST,
};
static const char sql_csv[] = "SELECT id, number, state, " TASK_RAN ", parameters, best, best_step, attempt, "
			      "json_extract(cause, '$.text'), " ROW_COST_COLUMNS " FROM task t "
			      "WHERE experiment = ?1 AND number > ?2 ORDER BY number";

static const char sql_csv_names[] = "SELECT name, id FROM metric_name WHERE experiment = ?1 AND " JSON_METRIC_HAS_ROWS
				    " ORDER BY name";
/* The epoch of a row; its step where the rows have no epoch beside it. */
static const char sql_csv_epoch[] =
	"SELECT coalesce(epoch, step) FROM metric WHERE task = ?1 AND name = ?2 AND step = ?3";
static const char sql_csv_last[] = "SELECT value FROM metric WHERE task = ?1 AND name = ?2 ORDER BY step DESC LIMIT 1";
static const char sql_csv_at_best[] = SQL_METRIC_AT_BEST;

static int export_put_task(struct task_pieces *pieces, sqlite3_stmt *row)
{
	int64_t task_id = row_int(row, TASK_ID);
	json_open_task(row, pieces->experiment, &pieces->json);
	int rc = json_put_curves(pieces->store, pieces->experiment, task_id, 0, STORE_AXIS_STEP, &pieces->json);
	if (rc == 0)
		rc = json_put_attempts(pieces->store, task_id, &pieces->json);
	json_end(&pieces->json);
	return rc;
}

static int export_json(struct store *store, int64_t experiment, const char *folder, struct pieces *ret)
{
	struct task_pieces *pieces = task_pieces_new(store, experiment, sql_tasks, export_put_task, ret);
	/* "tasks" is the list here, so the counts go by another name. */
	int rc = json_open_experiment(store, experiment, true, "counts", &pieces->json);
	if (rc < 0) {
		pieces_free(ret);
		return rc;
	}
	json_key_string(&pieces->json, "folder", folder);
	rc = json_put_ran(store, experiment, &pieces->json);
	if (rc < 0) {
		pieces_free(ret);
		return rc;
	}
	json_key(&pieces->json, "tasks");
	json_list(&pieces->json);
	pieces->ends = 2;
	return 0;
}

/* RFC 4180: quoted where it must be. */
static void export_csv_put_n(struct buf *out, bool first, const char *text, size_t len)
{
	if (!first)
		buf_add_char(out, ',');
	if (!memchr(text, '"', len) && !memchr(text, ',', len) && !memchr(text, '\n', len) &&
	    !memchr(text, '\r', len)) {
		buf_add(out, text, len);
		return;
	}
	buf_add_char(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			buf_add_char(out, '"');
		buf_add_char(out, text[i]);
	}
	buf_add_char(out, '"');
}

static void export_csv_put(struct buf *out, bool first, const char *text)
{
	export_csv_put_n(out, first, text ? text : "", text ? strlen(text) : 0);
}

static void export_csv_put_real(struct buf *out, double value)
{
	char text[NUM_REAL_CHARS];
	num_format_real(value, text);
	export_csv_put(out, false, isnan(value) ? "NaN" : text);
}

/* Nothing where there is none. */
static void export_csv_put_known(struct buf *out, double value)
{
	if (isnan(value))
		export_csv_put(out, false, "");
	else
		export_csv_put_real(out, value);
}

/* A string as it is; anything else as JSON writes it. */
static void export_csv_put_node(struct buf *out, const struct node *node)
{
	if (!node || node->type == NODE_NULL) {
		export_csv_put(out, false, "");
	} else if (node->type == NODE_STRING) {
		export_csv_put(out, false, node->string);
	} else {
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json json = json_to(&text);
		node_write_json(node, &json);
		export_csv_put_n(out, false, buf_text(&text), text.len);
		buf_free(&text);
	}
}

static int export_csv_put_value(struct task_pieces *pieces, sqlite3_stmt *row)
{
	int rc = store_step(pieces->store, row);
	if (rc > 0)
		export_csv_put_real(pieces->json.out, row_is_null(row, 0) ? NAN : row_real(row, 0));
	else
		export_csv_put(pieces->json.out, false, "");
	store_end(row);
	return rc < 0 ? rc : 0;
}

/* Every metric where the objective was best, and its last value. */
static int export_csv_put_metrics(struct task_pieces *pieces, sqlite3_stmt *row)
{
	struct store *store = pieces->store;
	const struct node *first = pieces->objectives && pieces->objectives->count ? pieces->objectives->items[0]
										   : NULL;
	const char *objective = first ? node_get_string(first, "metric") : NULL;
	int64_t of = objective ? node_get_int(pieces->metrics, objective, -1) : -1, task = row_int(row, CSV_ID);
	int64_t step = row_is_null(row, CSV_STEP) ? -1 : row_int(row, CSV_STEP);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < pieces->metrics->count; i++) {
		int64_t name = pieces->metrics->items[i]->integer;
		rc = export_csv_put_value(pieces, store_bind(store, sql_csv_at_best, "iiii", task, name, step, of));
		if (rc == 0)
			rc = export_csv_put_value(pieces, store_bind(store, sql_csv_last, "ii", task, name));
	}
	return rc;
}

/* The figures that are columns; others are in the JSON. */
static void export_csv_put_cost(sqlite3_stmt *row, struct buf *out)
{
	int column = CSV_COST;
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		if (!cost_figures[f].counted)
			continue;
		if (row_is_null(row, column))
			export_csv_put(out, false, "");
		else
			export_csv_put_real(out, row_real(row, column) / cost_figures[f].per);
		column++;
	}
}

/* The epoch at which a metric was best, which was at this step; of values that are no row of their own the step. */
static int export_csv_put_epoch(struct task_pieces *pieces, int64_t task, const char *metric, int64_t step)
{
	int64_t name = metric ? node_get_int(pieces->metrics, metric, -1) : -1;
	double epoch = step < 0 ? NAN : (double)step;
	sqlite3_stmt *row = store_bind(pieces->store, sql_csv_epoch, "iii", task, name, step);
	int rc = store_step(pieces->store, row);
	if (rc > 0)
		epoch = row_real(row, 0);
	store_end(row);
	export_csv_put_known(pieces->json.out, epoch);
	return rc < 0 ? rc : 0;
}

/* The best values of the objectives after the first, each with its own step. */
static int export_csv_put_objectives(struct task_pieces *pieces, int64_t task)
{
	int rc = 0;
	for (size_t i = 1; rc == 0 && pieces->objectives && i < pieces->objectives->count; i++) {
		const char *metric = node_get_string(pieces->objectives->items[i], "metric");
		int64_t of, step = -1;
		enum store_take take = store_objective_take(pieces->objectives->items[i], &of);
		double value = NAN;
		metric = metric ? metric : "";
		rc = store_read_objective(pieces->store, pieces->experiment, task, metric, take, of, &value);
		if (rc == 0)
			rc = store_read_objective_step(pieces->store, pieces->experiment, task, metric, take, &step);
		export_csv_put_known(pieces->json.out, value);
		if (rc == 0)
			rc = export_csv_put_epoch(pieces, task, metric, isnan(value) ? -1 : step);
	}
	return rc;
}

static int export_csv_put_task(struct task_pieces *pieces, sqlite3_stmt *row)
{
	const struct node *parameters = pieces->parameters;
	struct buf *out = pieces->json.out;
	struct node *values = NULL;
	const char *text = row_text(row, CSV_PARAMETERS);
	double elapsed_s = json_elapsed_s((enum store_state)row_int(row, CSV_STATE), row, CSV_RAN);
	if (text && node_parse_json(text, strlen(text), &values, NULL) < 0)
		values = NULL;
	export_csv_put(out, true, row_text(row, CSV_NUMBER));
	export_csv_put(out, false, store_state_name((enum store_state)row_int(row, CSV_STATE)));
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		const char *name = node_get_string(parameters->items[i], "name");
		export_csv_put_node(out, name ? node_get(values, name) : NULL);
	}
	if (row_is_null(row, CSV_STEP))
		export_csv_put(out, false, "");
	else
		export_csv_put_real(out, row_real(row, CSV_BEST));
	int rc = export_csv_put_objectives(pieces, row_int(row, CSV_ID));
	const struct node *first = pieces->objectives && pieces->objectives->count ? pieces->objectives->items[0]
										   : NULL;
	if (rc == 0)
		rc = export_csv_put_epoch(pieces, row_int(row, CSV_ID), first ? node_get_string(first, "metric") : NULL,
					  row_is_null(row, CSV_STEP) ? -1 : row_int(row, CSV_STEP));
	if (isnan(elapsed_s))
		export_csv_put(out, false, "");
	else
		export_csv_put_real(out, elapsed_s);
	export_csv_put(out, false, row_text(row, CSV_ATTEMPT));
	export_csv_put(out, false, row_text(row, CSV_CAUSE));
	export_csv_put_cost(row, out);
	if (rc == 0)
		rc = export_csv_put_metrics(pieces, row);
	buf_add_text(out, "\r\n");
	node_free(values);
	return rc;
}

/* The columns behind those of the objective: why a task failed, what it cost, and every metric. */
static int export_csv_head_more(struct task_pieces *pieces, struct buf *out)
{
	sqlite3_stmt *row = store_bind(pieces->store, sql_csv_names, "i", pieces->experiment);
	int rc;
	export_csv_put(out, false, "cause");
	for (enum figure f = 0; f < FIGURE_COUNT; f++)
		if (cost_figures[f].counted)
			export_csv_put(out, false, cost_figures[f].key);
	pieces->metrics = node_new(NODE_MAP);
	while ((rc = store_step(pieces->store, row)) > 0) {
		char *at_best = mem_printf("at_best_%s", row_text(row, 0)),
		     *last = mem_printf("last_%s", row_text(row, 0));
		node_add(pieces->metrics, row_text(row, 0), node_new_int(row_int(row, 1)));
		export_csv_put(out, false, at_best);
		export_csv_put(out, false, last);
		free(at_best);
		free(last);
	}
	store_end(row);
	return rc;
}

static int export_csv(struct store *store, int64_t experiment, struct pieces *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_head, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	struct task_pieces *pieces = task_pieces_new(store, experiment, sql_csv, export_csv_put_task, ret);
	struct buf *out = &pieces->begun;
	const char *text = row_text(row, 0);
	if (node_parse_json(text, strlen(text), &pieces->parameters, NULL) < 0)
		pieces->parameters = NULL;
	export_csv_put(out, true, "task");
	export_csv_put(out, false, "state");
	for (size_t i = 0; pieces->parameters && i < pieces->parameters->count; i++)
		export_csv_put(out, false, node_get_string(pieces->parameters->items[i], "name"));
	if (node_parse_json(row_text(row, 1), strlen(row_text(row, 1)), &pieces->objectives, NULL) < 0)
		pieces->objectives = NULL;
	size_t objectives = pieces->objectives ? pieces->objectives->count : 0;
	for (size_t i = 0; !i || i < objectives; i++) {
		const char *metric = i < objectives ? node_get_string(pieces->objectives->items[i], "metric") : NULL;
		char *best = mem_printf("best_%s", metric ? metric : "value");
		export_csv_put(out, false, best);
		free(best);
		if (i) {
			char *epoch = mem_printf("best_epoch_%s", metric ? metric : "value");
			export_csv_put(out, false, epoch);
			free(epoch);
		}
	}
	export_csv_put(out, false, "best_epoch");
	export_csv_put(out, false, "elapsed_s");
	export_csv_put(out, false, "attempts");
	store_end(row);
	rc = export_csv_head_more(pieces, out);
	buf_add_text(out, "\r\n");
	if (rc < 0)
		pieces_free(ret);
	return rc;
}

int store_export(struct store *store, int64_t experiment, const char *folder, bool csv, struct pieces *ret)
{
	return csv ? export_csv(store, experiment, ret) : export_json(store, experiment, folder, ret);
}
