/* Experiments and their searches as structs: see rows.h. Tasks, attempts and metrics are in rows_task.c. */
#include "store/rows_row.h"

#include "store/configuration.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>

/* Idempotency keys are kept for a day. */
#define KEY_LIFE_MS 86400000

#define EXPERIMENT_SELECT                                                                                              \
	"SELECT e.id" STORE_EXPERIMENT(FIELD_COLUMN, FIELD_COLUMN, FIELD_COLUMN, FIELD_COLUMN) " FROM experiment e "
static const char sql_repeats[] = "SELECT json_extract(spec, '$.repeats') FROM experiment WHERE id = ?1";
static const char sql_active[] = EXPERIMENT_SELECT "WHERE id > 0 AND (state < " NUMBER(
	FINISHED) " OR removing OR sweep <> " NUMBER(SWEEP_NONE) " OR remove_from > 0) ORDER BY id";
static const char sql_one[] = EXPERIMENT_SELECT "WHERE id = ?1";
static const char sql_last_seed[] = "SELECT id, max(seed) FROM experiment WHERE script IS ?1 AND strategy = ?2 AND "
				    "parameters = ?3 AND removing = 0";
static const char sql_next_id[] = "SELECT seq + 1 FROM sqlite_sequence WHERE name = 'experiment'";
static const char sql_find[] = "SELECT id FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_add[] =
	"INSERT INTO experiment (name, description, spec, source_name, source, parameters, varying, objective, "
	"strategy, strategy_reason, backend, script, warnings, batch_script, limits, created_ms, seed, planned, "
	"parallel) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_set_state[] =
	"UPDATE experiment SET state = ?2, started_ms = coalesce(?3, started_ms), "
	"finished_ms = CASE WHEN ?2 >= " NUMBER(
		FINISHED) " THEN coalesce((SELECT max(finished_ms) FROM task WHERE experiment = ?1), ?4, "
			  "finished_ms) END WHERE id = ?1";
static const char sql_set_asked_all[] = "UPDATE experiment SET asked_all = ?2 WHERE id = ?1";
static const char sql_set_stopping[] = "UPDATE experiment SET stopping = ?2, met_task = ?3 WHERE id = ?1";
static const char sql_set_removing[] = "UPDATE experiment SET removing = ?2 WHERE id = ?1";
static const char sql_set_sweep[] = "UPDATE experiment SET sweep = ?2, sweep_from = ?3, sweep_ms = ?4 WHERE id = ?1";
static const char sql_set_remove_from[] = "UPDATE experiment SET remove_from = ?2 WHERE id = ?1";
static const char sql_set_parallel[] = "UPDATE experiment SET parallel = ?2 WHERE id = ?1";
static const char sql_set_planned[] = "UPDATE experiment SET planned = ?2 WHERE id = ?1";
static const char sql_set_note[] = "UPDATE experiment SET note = ?2 WHERE id = ?1";
static const char sql_set_paused[] = "UPDATE experiment SET paused = ?2 WHERE id = ?1";
static const char sql_set_warning[] =
	"UPDATE experiment SET warnings = (SELECT json_group_array(json(value)) FROM "
	"(SELECT value FROM json_each(warnings) WHERE json_extract(value, '$.kind') <> ?2 "
	"UNION ALL SELECT json_object('kind', ?2, 'text', ?3) WHERE ?3 IS NOT NULL)) WHERE id = ?1";
/* Both ends of the index by value: cheap for any number of tasks. */
#define SAME_OF "FROM task WHERE experiment = ?1 AND best IS NOT NULL AND +state = " NUMBER(FINISHED)
static const char sql_same[] = "SELECT (SELECT best " SAME_OF " ORDER BY best LIMIT 1) = (SELECT best " SAME_OF
			       " ORDER BY best DESC LIMIT 1)";
static const char sql_count_same[] = "SELECT (SELECT count(*) " SAME_OF
				     "), count(*) FROM (SELECT DISTINCT parameters " SAME_OF " LIMIT ?2)";
static const char sql_set_objective[] = "UPDATE experiment SET objective = ?2, limits = ?3 WHERE id = ?1";
static const char sql_set_step_name[] = "UPDATE experiment SET step_name = ?2 WHERE id = ?1";
/* Names of the parameters that the search varies now, ?4, and of the constants that a task has with another value. In the
 * order of ?3. */
#define SQL_VARYING                                                                                                    \
	"(SELECT json_group_array(p.value ->> 'name') FROM json_each(?3) p WHERE p.value ->> 'name' IN "               \
	"(SELECT value FROM json_each(?4)) OR (p.value ->> 'kind' = 'constant' AND EXISTS (SELECT 1 FROM task t "      \
	"WHERE t.experiment = ?1 AND t.parameters ->> (p.value ->> 'name') <> json_extract(p.value, '$.values[0]'))))"
static const char sql_change[] = "UPDATE experiment SET spec = ?2, parameters = ?3, varying = " SQL_VARYING
				 ", strategy = ?5, strategy_reason = ?6, "
				 "seed = ?7, planned = ?8, parallel = ?9, asked_all = 0 WHERE id = ?1";
#define SQL_UPDATE_BEST(order)                                                                                         \
	"UPDATE experiment SET best_task = (SELECT number FROM task WHERE experiment = ?1 AND best IS NOT NULL "       \
	"AND beyond IS NULL AND (NOT ?2 OR +state = " NUMBER(                                                          \
		FINISHED) ") ORDER BY best" order ", number LIMIT 1), best_more = NULL WHERE id = ?1"
static const char sql_update_least[] = SQL_UPDATE_BEST(""), sql_update_most[] = SQL_UPDATE_BEST(" DESC");
#define SQL_BEST_MEAN(order) SQL_CONFIGURATIONS("t.id, t.number, c.n, c.m, " CONFIGURATION_SPREAD, order, "1")
static const char sql_least_mean[] = SQL_BEST_MEAN(""), sql_most_mean[] = SQL_BEST_MEAN(" DESC");
static const char sql_set_best[] = "UPDATE experiment SET best_task = nullif(?2, 0), best_more = ?3 WHERE id = ?1";
static const char sql_best_task[] = "SELECT t.id, t.number FROM experiment e JOIN task t ON t.experiment = e.id "
				    "AND t.number = e.best_task WHERE e.id = ?1";
static const char sql_delete_metrics[] =
	"DELETE FROM metric WHERE (task, name, step) IN (SELECT task, name, step FROM metric WHERE task = "
	"(SELECT id FROM task WHERE experiment = ?1 LIMIT 1) LIMIT " METRIC_PART ")";
static const char sql_delete_task[] = "DELETE FROM task WHERE id = (SELECT id FROM task WHERE experiment = ?1 LIMIT 1)";
static const char sql_delete_events[] = "DELETE FROM search_event WHERE experiment = ?1 AND seq < "
					"(SELECT min(seq) FROM search_event WHERE experiment = ?1) + 100";
static const char sql_delete[] = "DELETE FROM experiment WHERE id = ?1";
static const char sql_count_tasks[] = "SELECT state, sum(tasks) FROM tally WHERE experiment = ?1 GROUP BY state";
static const char sql_sum_cost[] =
	"SELECT (total(a.gpu_ms) + (SELECT removed_gpu_ms FROM experiment WHERE id = ?1)) / 1000, "
	"total(a.energy_j) + (SELECT removed_energy_j FROM experiment WHERE id = ?1) FROM attempt a "
	"JOIN task t ON a.task = t.id WHERE t.experiment = ?1";
static const char sql_add_event[] =
	"INSERT INTO search_event (experiment, seq, kind, asked, outcome, value) VALUES (?, ?, ?, ?, ?, ?)";
static const char sql_events[] =
	"SELECT seq, kind, asked, outcome, value FROM search_event WHERE experiment = ?1 ORDER BY seq";
static const char sql_last_event[] = "SELECT max(seq) FROM search_event WHERE experiment = ?1";
static const char sql_last_change[] = "SELECT max(seq) FROM search_event WHERE experiment = ?1 AND kind = " NUMBER(
	EVENT_CHANGE);
static const char sql_last_asked[] = "SELECT asked FROM search_event WHERE experiment = ?1 AND kind IN (" NUMBER(
	EVENT_ASK) ", " NUMBER(EVENT_ADD) ") ORDER BY seq DESC LIMIT 1";
static const char sql_find_key[] = "SELECT body_hash, experiment FROM idempotency WHERE key = ?1";
static const char sql_old_keys[] = "DELETE FROM idempotency WHERE created_ms < ?1";
static const char sql_add_key[] =
	"INSERT INTO idempotency (key, body_hash, experiment, created_ms) VALUES (?1, ?2, ?3, ?4)";
static const char sql_source[] = "SELECT source FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_spec[] = "SELECT spec FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_source_name[] = "SELECT source_name FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_batch_script[] = "SELECT batch_script FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_last_batch[] = "SELECT token FROM batch WHERE experiment = ?1 AND state > " NUMBER(
	BATCH_SUBMITTING) " ORDER BY created_ms DESC LIMIT 1";

/* Returns how many there were. */
static int rows_each_experiment(struct store *store, sqlite3_stmt *row, store_experiment_f each, void *ctx)
{
	int rc, rows = 0;
	while ((rc = store_step(store, row)) > 0) {
		struct store_experiment experiment = {.id = row_int(row, 0)}, *ret = &experiment;
		int column = 1;
		STORE_EXPERIMENT(FIELD_READ, FIELD_READ, FIELD_READ, FIELD_READ)
		rows++;
		if ((rc = each(ctx, &experiment)) < 0)
			break;
	}
	store_end(row);
	return rc < 0 ? rc : rows;
}

int store_add_experiment(struct store *store, const struct store_experiment *row, int64_t *ret_id)
{
	int rc = store_run(store, sql_add, "sssssssssssssssiiii", row->name, row->description, row->spec,
			   row->source_name, row->source, row->parameters, row->varying, row->objective, row->strategy,
			   row->strategy_reason, row->backend, row->script, row->warnings, row->batch_script,
			   row->limits, row->created_ms, row->seed, row->planned, row->parallel);
	if (rc == 0)
		*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return rc;
}

int store_each_active(struct store *store, store_experiment_f each, void *ctx)
{
	int rc = rows_each_experiment(store, store_bind(store, sql_active, ""), each, ctx);
	return rc < 0 ? rc : 0;
}

int store_read_experiment(struct store *store, int64_t id, store_experiment_f each, void *ctx)
{
	int rc = rows_each_experiment(store, store_bind(store, sql_one, "i", id), each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_find_experiment(struct store *store, int64_t experiment)
{
	sqlite3_stmt *row = store_bind(store, sql_find, "i", experiment);
	int rc = store_one(store, row);
	store_end(row);
	return rc;
}

int64_t store_next_experiment(struct store *store)
{
	sqlite3_stmt *row = store_bind(store, sql_next_id, "");
	int64_t id = store_one(store, row) == 0 ? row_int(row, 0) : 1;
	store_end(row);
	return id;
}

int store_read_last_seed(struct store *store, const char *script, const char *strategy, const char *parameters,
			 int64_t *ret_experiment, int64_t *ret_seed)
{
	sqlite3_stmt *row = store_bind(store, sql_last_seed, "sss", script, strategy, parameters);
	int rc = store_one(store, row);
	if (rc == 0) {
		*ret_experiment = row_int(row, 0);
		*ret_seed = row_int(row, 1);
		store_end(row);
	}
	return rc;
}

int store_read_text(struct store *store, int64_t experiment, const char *column, struct buf *out)
{
	static const struct {
		const char *column, *sql;
	} texts[] = {
		{"spec", sql_spec},
		{"source", sql_source},
		{"source_name", sql_source_name},
		{"batch_script", sql_batch_script},
		{"last_batch", sql_last_batch},
	};
	size_t i = 0;
	while (i < COUNT_OF(texts) && strcmp(texts[i].column, column) != 0)
		i++;
	if (i == COUNT_OF(texts))
		return -EINVAL;
	sqlite3_stmt *row = store_bind(store, texts[i].sql, "i", experiment);
	int rc = store_one(store, row);
	if (rc == 0 && row_is_null(row, 0))
		rc = -ENOENT;
	else if (rc == 0)
		buf_add(out, row_text(row, 0), (size_t)sqlite3_column_bytes(row, 0));
	store_end(row);
	return rc;
}

int store_set_experiment_state(struct store *store, int64_t id, enum store_state state, int64_t started_ms,
			       int64_t finished_ms)
{
	return store_run(store, sql_set_state, "iiII", id, (int64_t)state, started_ms, finished_ms);
}

int store_set_flag(struct store *store, int64_t id, enum store_flag flag, bool value)
{
	switch (flag) {
	case STORE_FLAG_ASKED_ALL: return store_run(store, sql_set_asked_all, "ii", id, (int64_t)value);
	case STORE_FLAG_REMOVING: return store_run(store, sql_set_removing, "ii", id, (int64_t)value);
	}
	return -EINVAL;
}

int store_set_stopping(struct store *store, int64_t id, enum store_stop why, int64_t met_task)
{
	return store_run(store, sql_set_stopping, "iiI", id, (int64_t)why, met_task);
}

int store_set_sweep(struct store *store, int64_t id, enum store_sweep sweep, int64_t from, int64_t since_ms)
{
	return store_run(store, sql_set_sweep, "iiii", id, (int64_t)sweep, from, since_ms);
}

int store_set_remove_from(struct store *store, int64_t id, int64_t number)
{
	return store_run(store, sql_set_remove_from, "ii", id, number);
}

int store_set_parallel(struct store *store, int64_t id, int64_t parallel)
{
	return store_run(store, sql_set_parallel, "ii", id, parallel);
}

int store_set_planned(struct store *store, int64_t id, int64_t planned)
{
	return store_run(store, sql_set_planned, "ii", id, planned);
}

int store_set_note(struct store *store, int64_t id, const char *note)
{
	return store_run(store, sql_set_note, "is", id, note);
}

int store_set_warning(struct store *store, int64_t id, const char *kind, const char *text)
{
	return store_run(store, sql_set_warning, "iss", id, kind, text);
}

int store_set_paused(struct store *store, int64_t id, const char *why)
{
	return store_run(store, sql_set_paused, "is", id, why);
}

int store_set_objective(struct store *store, int64_t id, const char *json, const char *limits)
{
	return store_run(store, sql_set_objective, "iss", id, json, limits);
}

int store_count_same(struct store *store, int64_t id, int64_t least, int64_t *ret_tasks, int64_t *ret_configurations)
{
	*ret_tasks = *ret_configurations = 0;
	sqlite3_stmt *row = store_bind(store, sql_same, "i", id);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	bool same = row_int(row, 0);
	store_end(row);
	if (!same)
		return 0;
	row = store_bind(store, sql_count_same, "ii", id, least);
	rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret_tasks = row_int(row, 0);
	*ret_configurations = row_int(row, 1);
	store_end(row);
	return 0;
}

int store_set_step_name(struct store *store, int64_t id, const char *name)
{
	return store_run(store, sql_set_step_name, "is", id, name);
}

int store_change_experiment(struct store *store, int64_t id, const struct store_experiment *row)
{
	return store_run(store, sql_change, "isssssiii", id, row->spec, row->parameters, row->varying, row->strategy,
			 row->strategy_reason, row->seed, row->planned, row->parallel);
}

int store_update_best(struct store *store, int64_t id, bool maximise, bool finished)
{
	return store_run(store, maximise ? sql_update_most : sql_update_least, "ii", id, (int64_t)finished);
}

int store_read_best_mean(struct store *store, int64_t id, bool maximise, struct store_repeats *ret)
{
	sqlite3_stmt *row = store_bind(store, maximise ? sql_most_mean : sql_least_mean, "i", id);
	int rc = store_one(store, row);
	*ret = (struct store_repeats){.mean = NAN, .spread = NAN};
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	*ret = (struct store_repeats){row_int(row, 0), row_int(row, 1), row_int(row, 2), row_real(row, 3),
				      row_real(row, 4)};
	store_end(row);
	return 0;
}

int store_is_repeated(struct store *store, int64_t experiment)
{
	sqlite3_stmt *row = store_bind(store, sql_repeats, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	bool repeated = row_int(row, 0) > 1;
	store_end(row);
	return repeated;
}

int store_set_best(struct store *store, int64_t id, int64_t number, const char *more)
{
	return store_run(store, sql_set_best, "iis", id, number, more);
}

int store_read_best_task(struct store *store, int64_t id, int64_t *ret_task, int64_t *ret_number)
{
	sqlite3_stmt *row = store_bind(store, sql_best_task, "i", id);
	int rc = store_one(store, row);
	*ret_task = *ret_number = 0;
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	*ret_task = row_int(row, 0);
	*ret_number = row_int(row, 1);
	store_end(row);
	return 0;
}

int store_delete_some(struct store *store, int64_t id)
{
	/* In the order of their dependence: what the last one takes along is gone by then, and so are the metrics of
	 * the task that is deleted. */
	static const char *const parts[] = {sql_delete_metrics, sql_delete_task, sql_delete_events, sql_delete};
	size_t count = id == STORE_REMOVED ? 2 : COUNT_OF(parts);
	for (size_t i = 0; i < count; i++) {
		int rc = store_run(store, parts[i], "i", id);
		if (rc < 0)
			return rc;
		if (parts[i] != sql_delete && sqlite3_changes(store_db(store)))
			return 1;
	}
	return 0;
}

int store_count_tasks(struct store *store, int64_t id, int64_t counts[static STORE_STATE_COUNT])
{
	sqlite3_stmt *row = store_bind(store, sql_count_tasks, "i", id);
	int rc;
	memset(counts, 0, STORE_STATE_COUNT * sizeof(*counts));
	while ((rc = store_step(store, row)) > 0) {
		int64_t state = row_int(row, 0);
		if (state >= 0 && state < STORE_STATE_COUNT)
			counts[state] = row_int(row, 1);
	}
	return rc;
}

int store_sum_cost(struct store *store, int64_t id, double *ret_gpu_s, double *ret_energy_j)
{
	sqlite3_stmt *row = store_bind(store, sql_sum_cost, "i", id);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret_gpu_s = row_real(row, 0);
	*ret_energy_j = row_real(row, 1);
	store_end(row);
	return 0;
}

int store_add_event(struct store *store, int64_t experiment, const struct store_event *event)
{
	return store_run(store, sql_add_event, "iiiiis", experiment, event->seq, (int64_t)event->kind, event->asked,
			 event->outcome, event->value);
}

int store_each_event(struct store *store, int64_t experiment, store_event_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_events, "i", experiment);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_event event = {
			.seq = row_int(row, 0),
			.kind = (enum store_event_kind)row_int(row, 1),
			.asked = row_int(row, 2),
			.outcome = row_int(row, 3),
			.value = row_text(row, 4),
		};
		if ((rc = each(ctx, &event)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_last_change(struct store *store, int64_t experiment, int64_t *ret)
{
	return row_read_int(store, store_bind(store, sql_last_change, "i", experiment), ret);
}

int store_last_asked(struct store *store, int64_t experiment, int64_t *ret)
{
	return row_read_int(store, store_bind(store, sql_last_asked, "i", experiment), ret);
}

int store_last_event(struct store *store, int64_t experiment, int64_t *ret)
{
	return row_read_int(store, store_bind(store, sql_last_event, "i", experiment), ret);
}

int store_find_key(struct store *store, const char *key, const char *body_hash, int64_t *ret_experiment)
{
	sqlite3_stmt *row = store_bind(store, sql_find_key, "s", key);
	int rc = store_step(store, row);
	if (rc > 0) {
		rc = strcmp(row_text(row, 0), body_hash) == 0 ? 1 : -EEXIST;
		*ret_experiment = row_int(row, 1);
		store_end(row);
	}
	return rc;
}

int store_add_key(struct store *store, const char *key, const char *body_hash, int64_t experiment, int64_t now_ms)
{
	int rc = store_run(store, sql_old_keys, "i", now_ms - KEY_LIFE_MS);
	return rc < 0 ? rc : store_run(store, sql_add_key, "ssii", key, body_hash, experiment, now_ms);
}
