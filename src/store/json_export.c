/* Everything about an experiment for other programs: see json.h. */
#include "store/json_pieces.h"
#include "store/json_task.h"

#include "base/node.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

static const char sql_tasks[] = TASK_SELECT " FROM task t WHERE t.experiment = ?1 AND t.number > ?2 ORDER BY t.number";
static const char sql_head[] =
	"SELECT parameters, json_extract(objective, '$[0].metric') FROM experiment WHERE id = ?1 AND removing = 0";
enum csv_column {
	CSV_ID,
	CSV_NUMBER,
	CSV_STATE,
	CSV_STARTED,
	CSV_FINISHED,
	CSV_PARAMETERS,
	CSV_BEST,
	CSV_STEP,
	CSV_ATTEMPT
};
static const char sql_csv[] =
	"SELECT id, number, state, started_ms, finished_ms, parameters, best, best_step, attempt FROM task "
	"WHERE experiment = ?1 AND number > ?2 ORDER BY number";

static int put_task(struct task_pieces *pieces, sqlite3_stmt *row)
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
	struct task_pieces *pieces = task_pieces_new(store, experiment, sql_tasks, put_task, ret);
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
static void csv_put_n(struct buf *out, bool first, const char *text, size_t len)
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

static void csv_put(struct buf *out, bool first, const char *text)
{
	csv_put_n(out, first, text ? text : "", text ? strlen(text) : 0);
}

static void csv_put_real(struct buf *out, double value)
{
	char text[NUM_REAL_CHARS];
	num_format_real(value, text);
	csv_put(out, false, isnan(value) ? "NaN" : text);
}

/* A string as it is; anything else as JSON writes it. */
static void csv_put_node(struct buf *out, const struct node *node)
{
	if (!node || node->type == NODE_NULL) {
		csv_put(out, false, "");
	} else if (node->type == NODE_STRING) {
		csv_put(out, false, node->string);
	} else {
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json json = json_to(&text);
		node_write_json(node, &json);
		csv_put_n(out, false, buf_text(&text), text.len);
		buf_free(&text);
	}
}

static int csv_put_task(struct task_pieces *pieces, sqlite3_stmt *row)
{
	const struct node *parameters = pieces->parameters;
	struct buf *out = pieces->json.out;
	struct node *values = NULL;
	const char *text = row_text(row, CSV_PARAMETERS);
	double elapsed_s = json_elapsed_s(row, CSV_STATE);
	if (text && node_parse_json(text, strlen(text), &values, NULL) < 0)
		values = NULL;
	csv_put(out, true, row_text(row, CSV_NUMBER));
	csv_put(out, false, store_state_name((enum store_state)row_int(row, CSV_STATE)));
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		const char *name = node_get_string(parameters->items[i], "name");
		csv_put_node(out, name ? node_get(values, name) : NULL);
	}
	if (row_is_null(row, CSV_STEP))
		csv_put(out, false, "");
	else
		csv_put_real(out, row_real(row, CSV_BEST));
	csv_put(out, false, row_text(row, CSV_STEP));
	if (isnan(elapsed_s))
		csv_put(out, false, "");
	else
		csv_put_real(out, elapsed_s);
	csv_put(out, false, row_text(row, CSV_ATTEMPT));
	buf_add_text(out, "\r\n");
	node_free(values);
	return 0;
}

static int export_csv(struct store *store, int64_t experiment, struct pieces *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_head, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	struct task_pieces *pieces = task_pieces_new(store, experiment, sql_csv, csv_put_task, ret);
	struct buf *out = &pieces->begun;
	const char *text = row_text(row, 0);
	if (node_parse_json(text, strlen(text), &pieces->parameters, NULL) < 0)
		pieces->parameters = NULL;
	csv_put(out, true, "task");
	csv_put(out, false, "state");
	for (size_t i = 0; pieces->parameters && i < pieces->parameters->count; i++)
		csv_put(out, false, node_get_string(pieces->parameters->items[i], "name"));
	const char *metric = row_text(row, 1);
	char *best = mem_printf("best_%s", metric ? metric : "value");
	csv_put(out, false, best);
	free(best);
	csv_put(out, false, "best_epoch");
	csv_put(out, false, "elapsed_s");
	csv_put(out, false, "attempts");
	buf_add_text(out, "\r\n");
	store_end(row);
	return 0;
}

int store_export(struct store *store, int64_t experiment, const char *folder, bool csv, struct pieces *ret)
{
	return csv ? export_csv(store, experiment, ret) : export_json(store, experiment, folder, ret);
}
