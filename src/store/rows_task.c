/* Tasks, attempts and metrics as structs: see rows.h. */
#include "store/rows_row.h"

#include "base/json.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>

/* Pieces of SQL, made of one piece for each figure: see COST_FIGURES. */
#define COST_NONE(...)
#define COST_COLUMN(name, key, column, ...) column ", "
#define COST_COLUMNS COST_FIGURES(COST_COLUMN, COST_NONE)
#define COST_SET(name, key, column, ...) column " = coalesce(?, " column "), "
#define COST_SETS COST_FIGURES(COST_SET, COST_NONE)
#define COST_SUM(name, key, column, ...) "sum(" column "), "
#define COST_SUMS COST_FIGURES(COST_SUM, COST_NONE)
#define COST_OVER(name, key, over, ...) ", '$." key "', " #over "(json_extract(figures, '$." key "'))"
#define COST_OVERS COST_FIGURES(COST_NONE, COST_OVER)
/* The types and the values for COST_SETS. */
#define COST_TYPE(...) "d"
#define COST_TYPES COST_FIGURES(COST_TYPE, COST_NONE)
#define COST_VALUE(name, ...) cost_get(cost, FIGURE_##name),
#define COST_VALUES COST_FIGURES(COST_VALUE, COST_NONE)

#define TASK_SELECT "SELECT t.id" STORE_TASK(FIELD_COLUMN, FIELD_COLUMN, STORE_NONE) " FROM task t "
static const char sql_used[] =
	"SELECT id, wall_ms, json_extract(figures, '$.max_rss_bytes'), json_extract(figures, '$.gpu_util_pct'), "
	"json_extract(figures, '$.gpu_max_memory_bytes'), json_extract(figures, '$.gpu_slowed_s') FROM task "
	"WHERE experiment = ?1 AND finished_ms IS NOT NULL AND state IN (" NUMBER(FINISHED) ", " NUMBER(
		PRUNED) ") ORDER BY finished_ms DESC LIMIT ?2";
static const char sql_count_cause[] =
	"SELECT count(*) FROM attempt a JOIN task t ON t.id = a.task WHERE t.experiment = ?1 "
	"AND a.cause IS NOT NULL AND json_extract(a.cause, '$.kind') = ?2";
static const char sql_took[] =
	"SELECT wall_ms, energy_j FROM task WHERE experiment = ?1 AND finished_ms IS NOT NULL AND wall_ms IS NOT NULL "
	"AND state IN (" NUMBER(FINISHED) ", " NUMBER(PRUNED) ") ORDER BY finished_ms DESC LIMIT ?2";
static const char sql_one[] = TASK_SELECT "WHERE experiment = ?1 AND number = ?2";
static const char sql_tasks[] = TASK_SELECT "WHERE experiment = ?1 AND number >= ?2 ORDER BY number LIMIT ?3";
/* No pause is longer than minutes: a time that is hours ahead was written before the clock was set back. */
#define RESTED "(not_before_ms <= ?2 OR not_before_ms > ?2 + 3600000)"
/* By number: the index by state has that order, so that only as many rows are read as are wanted. */
static const char sql_ready[] = TASK_SELECT
	"WHERE experiment = ?1 AND state = " NUMBER(WAITING) " AND " RESTED " ORDER BY number LIMIT ?3";
static const char sql_rested[] = TASK_SELECT
	"WHERE experiment = ?1 AND state = " NUMBER(WAITING) " AND " RESTED " ORDER BY not_before_ms, id LIMIT ?3";
static const char sql_find_asked[] = TASK_SELECT
	"WHERE experiment = ?1 AND asked = ?2 AND wanted <> " NUMBER(WANT_REMOVE);
static const char sql_last_number[] = "SELECT max(coalesce((SELECT max(number) FROM task WHERE experiment = ?1), 0), "
				      "removed_last) FROM experiment WHERE id = ?1";
static const char sql_imported[] = "SELECT imported FROM experiment WHERE id = ?1";
static const char sql_add_imported[] = "UPDATE experiment SET imported = imported + ?2 WHERE id = ?1";
static const char sql_find_marked[] = TASK_SELECT
	"WHERE experiment = ?1 AND number >= ?2 AND wanted = " NUMBER(WANT_REMOVE) " ORDER BY number LIMIT 1";
static const char sql_count_removed[] =
	"UPDATE experiment SET removed = removed + 1, removed_last = max(removed_last, ?2), "
	"removed_gpu_ms = removed_gpu_ms + (SELECT total(gpu_ms) FROM attempt WHERE task = ?3), "
	"removed_energy_j = removed_energy_j + (SELECT total(energy_j) FROM attempt WHERE task = ?3) WHERE id = ?1";
static const char sql_remove[] = "UPDATE task SET experiment = ?2, number = id WHERE id = ?1";
static const char sql_finished[] = "SELECT id FROM task WHERE experiment = ?1 AND state = " NUMBER(FINISHED);
/* An id that no row of the table has or had. */
#define NEXT_ID(table)                                                                                                 \
	"1 + max(coalesce((SELECT max(id) FROM " table "), 0), (SELECT last FROM removed_id WHERE name = '" table "'))"
static const char sql_add[] =
	"INSERT INTO task (id, experiment, number, parameters, repeat, seed, fidelity, steps, asked, created_ms) "
	"VALUES (" NEXT_ID("task") ", ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char sql_find_history[] =
	"SELECT reason FROM history WHERE task = ?1 AND instr(reason, ?2) ORDER BY id LIMIT 1";
static const char sql_add_history[] = "INSERT INTO history (task, time_ms, state, reason) VALUES (?, ?, ?, ?)";
static const char sql_state[] = "SELECT state FROM task WHERE id = ?1";
static const char sql_set_state[] = "UPDATE task SET state = ?2, reason = ?3, cause = ?4, expected_start_ms = NULL, "
				    "finished_ms = CASE WHEN ?2 >= " NUMBER(
					    FINISHED) " THEN ?5 END, "
						      "submitted_ms = CASE WHEN ?2 = " NUMBER(
							      SUBMITTED) " THEN ?5 ELSE submitted_ms END WHERE id = ?1";
static const char sql_set_reason[] = "UPDATE task SET reason = ?2, expected_start_ms = ?3 WHERE id = ?1";
static const char sql_set_wanted[] = "UPDATE task SET wanted = ?2 WHERE id = ?1";
/* A task that never started has nothing to resume from: its next attempt is as the first. */
static const char sql_set_retry[] =
	"UPDATE task SET retries = ?2, not_before_ms = ?3, fresh = fresh OR started_ms IS NULL WHERE id = ?1";
static const char sql_forget_retries[] = "UPDATE task SET retries = json_remove(retries, '$.' || ?2) "
					 "WHERE experiment = ?1 AND state < " NUMBER(FINISHED);
/* Of several restarts of which none began, the first knows how it had ended. */
static const char sql_reset[] = "UPDATE task SET wanted = " NUMBER(
	WANT_RUN) ", fresh = ?2 OR started_ms IS NULL, retries = '{}', not_before_ms = 0, "
		  "kept = coalesce(kept, CASE WHEN state >= " NUMBER(
			  FINISHED) " THEN json_object('state', state, 'reason', reason, 'cause', cause, 'finished_ms', "
				    "finished_ms) END) WHERE id = ?1";
static const char sql_kept[] =
	"SELECT state, json_extract(kept, '$.state') FROM task WHERE id = ?1 AND kept IS NOT NULL";
static const char sql_restore[] =
	"UPDATE task SET state = json_extract(kept, '$.state'), reason = json_extract(kept, '$.reason'), "
	"cause = json_extract(kept, '$.cause'), finished_ms = json_extract(kept, '$.finished_ms'), "
	"expected_start_ms = NULL, wanted = " NUMBER(
		WANT_RUN) ", fresh = 0, kept = NULL, "
			  "(node, gpus, job) = (SELECT node, gpus, job FROM attempt WHERE task = ?1 AND started_ms IS NOT NULL "
			  "ORDER BY number DESC LIMIT 1) WHERE id = ?1";
static const char sql_promote[] =
	"UPDATE task SET parameters = ?2, fidelity = ?3, steps = ?4, asked = ?5, retries = '{}', not_before_ms = 0, "
	"wanted = " NUMBER(WANT_RUN) " WHERE id = ?1";
static const char sql_set_parameters[] =
	"UPDATE task SET parameters = ?2, steps = coalesce(nullif(?3, 0), steps) WHERE id = ?1";
static const char sql_set_step_name[] = "UPDATE task SET step_name = ?2 WHERE id = ?1";
static const char sql_set_progress[] =
	"UPDATE task SET best = ?2, best_step = nullif(?3, -1), last = ?4, last_step = nullif(?5, -1), "
	"step = nullif(?6, -1), from_zero = ?7, steps = coalesce(nullif(max(?8, 0), 0), steps) "
	"WHERE id = ?1";
static const char sql_set_beyond[] = "UPDATE task SET beyond = ?2 WHERE id = ?1";
static const char sql_task_attempt[] =
	"UPDATE task SET attempt = ?2, node = NULL, gpus = NULL, job = NULL WHERE id = ?1";
static const char sql_task_start[] =
	"UPDATE task SET node = ?2, gpus = ?3, job = coalesce(?4, job), "
	"started_ms = CASE WHEN attempt > 1 AND NOT fresh THEN coalesce(started_ms, ?5) ELSE ?5 END, "
	"fresh = 0, kept = NULL WHERE id = ?1";
static const char sql_task_place[] = "UPDATE task SET node = coalesce(?2, node), job = coalesce(?3, job) WHERE id = ?1";
static const char sql_task_job[] = "UPDATE task SET job = ?2 WHERE id = ?1";
/* A task costs what all its attempts cost. Most have only one. */
static const char sql_only_cost[] = "UPDATE task SET (" COST_COLUMNS "energy_source, figures) = (SELECT " COST_COLUMNS
				    "energy_source, figures FROM attempt WHERE id = ?2) WHERE id = ?1 AND attempt = 1";
static const char sql_task_cost[] = "UPDATE task SET (" COST_COLUMNS "energy_source, figures) = "
				    "(SELECT " COST_SUMS "max(energy_source), json_set('{}'" COST_OVERS
				    ") FROM attempt WHERE task = ?1) WHERE id = ?1";

static const char sql_add_batch[] =
	"INSERT INTO batch (token, experiment, backend, state, parallel, asked, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?)";
static const char sql_set_batch[] = "UPDATE batch SET state = ?2, job = coalesce(?3, job) WHERE token = ?1";
static const char sql_set_absent[] = "UPDATE batch SET absent_ms = ?2 WHERE token = ?1";

#define ATTEMPT_SELECT                                                                                                 \
	"SELECT a.id" STORE_ATTEMPT(FIELD_COLUMN, FIELD_COLUMN,                                                        \
				    STORE_NONE) " FROM attempt a JOIN task t ON t.id = a.task "                        \
						"JOIN batch b ON b.token = a.token "
static const char sql_live[] = ATTEMPT_SELECT
	"WHERE a.state IN (" NUMBER(SUBMITTED) ", " NUMBER(RUNNING) ") ORDER BY a.id";
static const char sql_is_live[] = "SELECT count(*) FROM attempt WHERE token = ?1 AND idx = ?2 AND state IN (" NUMBER(
	SUBMITTED) ", " NUMBER(RUNNING) ")";
static const char sql_ended[] = ATTEMPT_SELECT "WHERE a.finished_ms > ?1 AND a.started_ms IS NOT NULL ORDER BY a.id";
static const char sql_beginnings[] =
	"SELECT 0, a.node, json_extract(a.cause, '$.text'), a.exit_code, a.finished_ms AS at "
	"FROM task t JOIN attempt a ON a.task = t.id WHERE t.experiment = ?1 AND a.started_ms IS NULL "
	"AND a.cause IS NOT NULL AND json_extract(a.cause, '$.kind') = 'unstarted' "
	"UNION ALL SELECT 1, a.node, NULL, NULL, max(a.started_ms) AS at "
	"FROM task t JOIN attempt a ON a.task = t.id WHERE t.experiment = ?1 AND a.started_ms IS NOT NULL "
	"GROUP BY a.node ORDER BY at";
/* The newest. Of a task that has ended an attempt that was taken back before it began is not meant. */
#define FIND_ATTEMPT "(SELECT max(a.number) FROM attempt a WHERE a.task = t.id AND (?3 = 0 OR a.number = ?3)"
static const char sql_find_attempt[] = "SELECT coalesce(" FIND_ATTEMPT " AND (t.state < " NUMBER(
	FINISHED) " OR a.started_ms IS NOT NULL OR a.cause IS NOT NULL)), " FIND_ATTEMPT
		  "), 0) FROM task t JOIN experiment e ON e.id = t.experiment "
		  "AND e.removing = 0 WHERE t.experiment = ?1 AND t.number = ?2";
static const char sql_add_attempt[] = "INSERT INTO attempt (id, task, number, token, idx, created_ms, submitted_ms) "
				      "VALUES (" NEXT_ID("attempt") ", ?1, ?2, ?3, ?4, ?5, ?5)";
static const char sql_leave_attempts[] = "UPDATE removed_id SET last = ?1 WHERE name = 'attempt' AND last < ?1";
static const char sql_set_stall[] = "UPDATE attempt SET stall = ?2 WHERE id = ?1";
static const char sql_set_slow[] = "UPDATE attempt SET slow = ?2 WHERE id = ?1";
static const char sql_set_silent[] = "UPDATE attempt SET silent = ?2 WHERE id = ?1";
static const char sql_set_warm[] = "UPDATE attempt SET warm = ?2 WHERE id = ?1";
static const char sql_set_offset[] = "UPDATE attempt SET journal_offset = ?2 WHERE id = ?1";
static const char sql_start[] = "UPDATE attempt SET state = " NUMBER(
	RUNNING) ", node = ?2, gpus = ?3, job = coalesce(?4, job), started_ms = ?5 WHERE id = ?1";
static const char sql_set_place[] =
	"UPDATE attempt SET node = coalesce(?2, node), job = coalesce(?3, job) WHERE id = ?1";
static const char sql_set_job[] = "UPDATE attempt SET job = ?2 WHERE id = ?1";
static const char sql_set_ended[] = "UPDATE attempt SET " COST_SETS "energy_source = coalesce(?, energy_source), "
				    "figures = CASE WHEN figures IS NULL THEN ? ELSE "
				    "coalesce(json_patch(figures, ?), figures) END, "
				    "ended = coalesce(?, ended) WHERE id = ?";
static const char sql_measures[] =
	"SELECT coalesce(json_extract(figures, '$.energy_gpu_j'), json_extract(figures, '$.energy_package_j'), "
	"json_extract(figures, '$.energy_dram_j')) IS NOT NULL FROM attempt WHERE id = ?1";
static const char sql_end[] = "UPDATE attempt SET state = ?2, cause = ?3, exit_code = nullif(?4, -1), signal = ?5, "
			      "finished_ms = ?6 WHERE id = ?1";

/* Returns how many there were. */
static int rows_each_task(struct store *store, sqlite3_stmt *row, store_task_f each, void *ctx)
{
	int rc, rows = 0;
	while ((rc = store_step(store, row)) > 0) {
		struct store_task task = {.id = row_int(row, 0)}, *ret = &task;
		int column = 1;
		STORE_TASK(FIELD_READ, FIELD_READ, STORE_NONE)
		rows++;
		if ((rc = each(ctx, &task)) < 0)
			break;
	}
	store_end(row);
	return rc < 0 ? rc : rows;
}

int store_add_history(struct store *store, int64_t task, enum store_state state, const char *text, int64_t time_ms)
{
	return store_run(store, sql_add_history, "iiis", task, time_ms, (int64_t)state, text);
}

int store_find_history(struct store *store, int64_t task, const char *text, char **ret)
{
	sqlite3_stmt *row = store_bind(store, sql_find_history, "is", task, text);
	int rc = store_step(store, row);
	*ret = rc > 0 ? mem_strdup(row_text(row, 0)) : NULL;
	store_end(row);
	return rc < 0 ? rc : 0;
}

int store_add_task(struct store *store, const struct store_task *row, int64_t now_ms, int64_t *ret_id)
{
	int rc = store_run(store, sql_add, "iisiidIii", row->experiment, row->number, row->parameters, row->repeat,
			   row->seed, row->fidelity, row->steps, row->asked, now_ms);
	if (rc < 0)
		return rc;
	*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return store_add_history(store, *ret_id, STORE_WAITING, NULL, now_ms);
}

int store_keep_task(void *ctx, const struct store_task *row)
{
	struct store_task *keep = ctx;
	*keep = *row;
	keep->parameters = keep->retries = keep->reason = keep->step_name = NULL;
	return 0;
}

int store_last_number(struct store *store, int64_t experiment, int64_t *ret)
{
	return row_read_int(store, store_bind(store, sql_last_number, "i", experiment), ret);
}

int store_count_imported(struct store *store, int64_t experiment, int64_t *ret)
{
	return row_read_int(store, store_bind(store, sql_imported, "i", experiment), ret);
}

int store_add_imported(struct store *store, int64_t experiment, int64_t count)
{
	return store_run(store, sql_add_imported, "ii", experiment, count);
}

int store_find_marked(struct store *store, int64_t experiment, int64_t from, store_task_f each, void *ctx)
{
	int rc = rows_each_task(store, store_bind(store, sql_find_marked, "ii", experiment, from), each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_remove_task(struct store *store, const struct store_task *row)
{
	int rc = store_run(store, sql_count_removed, "iii", row->experiment, row->number, row->id);
	return rc < 0 ? rc : store_run(store, sql_remove, "ii", row->id, (int64_t)STORE_REMOVED);
}

int store_last_attempt(struct store *store, int64_t *ret)
{
	return row_read_int(store, store_bind(store, "SELECT coalesce(max(id), 0) FROM attempt", ""), ret);
}

int store_leave_attempts(struct store *store, int64_t until)
{
	return store_run(store, sql_leave_attempts, "i", until);
}

int store_read_task(struct store *store, int64_t experiment, int64_t number, store_task_f each, void *ctx)
{
	int rc = rows_each_task(store, store_bind(store, sql_one, "ii", experiment, number), each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_each_task(struct store *store, int64_t experiment, int64_t from, int64_t limit, store_task_f each, void *ctx)
{
	int rc = rows_each_task(store, store_bind(store, sql_tasks, "iii", experiment, from, limit), each, ctx);
	return rc < 0 ? rc : 0;
}

int store_each_ready(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		     void *ctx)
{
	int rc = rows_each_task(store, store_bind(store, sql_ready, "iii", experiment, now_ms, limit), each, ctx);
	return rc < 0 ? rc : 0;
}

int store_each_rested(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		      void *ctx)
{
	int rc = rows_each_task(store, store_bind(store, sql_rested, "iii", experiment, now_ms, limit), each, ctx);
	return rc < 0 ? rc : 0;
}

int store_set_task_state(struct store *store, int64_t id, enum store_state state, const char *reason, const char *cause,
			 int64_t now_ms, enum store_state *ret_before)
{
	sqlite3_stmt *row = store_bind(store, sql_state, "i", id);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret_before = (enum store_state)row_int(row, 0);
	store_end(row);
	rc = store_run(store, sql_set_state, "iissi", id, (int64_t)state, reason, cause, now_ms);
	return rc < 0 ? rc : store_add_history(store, id, state, reason, now_ms);
}

int store_each_used(struct store *store, int64_t experiment, int64_t limit, store_used_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_used, "ii", experiment, limit);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_used used = {row_int(row, 0),  row_real(row, 1), row_real(row, 2),
					  row_real(row, 3), row_real(row, 4), row_real(row, 5)};
		if ((rc = each(ctx, &used)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_count_cause(struct store *store, int64_t experiment, const char *cause, int64_t *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_count_cause, "is", experiment, cause);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret = row_int(row, 0);
	store_end(row);
	return 0;
}

int store_each_took(struct store *store, int64_t experiment, int64_t limit, store_took_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_took, "ii", experiment, limit);
	int rc;
	while ((rc = store_step(store, row)) > 0 && (rc = each(ctx, row_real(row, 0), row_real(row, 1))) >= 0)
		;
	store_end(row);
	return rc;
}

int store_set_task_reason(struct store *store, int64_t id, const char *reason, int64_t expected_start_ms)
{
	return store_run(store, sql_set_reason, "isI", id, reason, expected_start_ms);
}

int store_set_wanted(struct store *store, int64_t id, enum store_wanted wanted)
{
	return store_run(store, sql_set_wanted, "ii", id, (int64_t)wanted);
}

int store_set_retry(struct store *store, int64_t id, const char *retries, int64_t not_before_ms)
{
	return store_run(store, sql_set_retry, "isi", id, retries, not_before_ms);
}

int store_forget_retries(struct store *store, int64_t experiment, const char *key)
{
	return store_run(store, sql_forget_retries, "is", experiment, key);
}

int store_reset_task(struct store *store, int64_t id, bool fresh)
{
	return store_run(store, sql_reset, "ii", id, (int64_t)fresh);
}

int store_restore_task(struct store *store, int64_t id, const char *why, int64_t now_ms, enum store_state *ret_before,
		       enum store_state *ret_state)
{
	sqlite3_stmt *row = store_bind(store, sql_kept, "i", id);
	int rc = store_step(store, row);
	if (rc > 0) {
		*ret_before = (enum store_state)row_int(row, 0);
		*ret_state = (enum store_state)row_int(row, 1);
	}
	store_end(row);
	if (rc <= 0)
		return rc;
	rc = store_run(store, sql_restore, "i", id);
	if (rc == 0)
		rc = store_add_history(store, id, *ret_state, why, now_ms);
	return rc < 0 ? rc : 1;
}

int store_promote_task(struct store *store, int64_t id, const struct store_task *row)
{
	return store_run(store, sql_promote, "isdIi", id, row->parameters, row->fidelity, row->steps, row->asked);
}

int store_set_parameters(struct store *store, int64_t id, const char *parameters, int64_t steps)
{
	return store_run(store, sql_set_parameters, "isi", id, parameters, steps);
}

int store_find_asked(struct store *store, int64_t experiment, int64_t asked, store_task_f each, void *ctx)
{
	int rc = rows_each_task(store, store_bind(store, sql_find_asked, "ii", experiment, asked), each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_set_task_step_name(struct store *store, int64_t id, const char *name)
{
	return store_run(store, sql_set_step_name, "is", id, name);
}

int store_set_progress(struct store *store, const struct store_task *row)
{
	return store_run(store, sql_set_progress, "ididiiii", row->id, row->best, row->best_step, row->last,
			 row->last_step, row->step, (int64_t)row->from_zero, row->steps);
}

int store_set_beyond(struct store *store, int64_t id, const char *text)
{
	return store_run(store, sql_set_beyond, "is", id, text);
}

int store_add_batch(struct store *store, const char *token, int64_t experiment, const char *backend,
		    enum store_batch_state state, int64_t parallel, const char *asked, int64_t now_ms)
{
	return store_run(store, sql_add_batch, "sisiisi", token, experiment, backend, (int64_t)state, parallel, asked,
			 now_ms);
}

int store_set_batch(struct store *store, const char *token, enum store_batch_state state, const char *job)
{
	return store_run(store, sql_set_batch, "sis", token, (int64_t)state, job);
}

int store_set_batch_absent(struct store *store, const char *token, int64_t absent_ms)
{
	return store_run(store, sql_set_absent, "sI", token, absent_ms);
}

int store_add_attempt(struct store *store, int64_t task, int64_t number, const char *token, uint32_t index,
		      int64_t now_ms, int64_t *ret_id)
{
	int rc = store_run(store, sql_add_attempt, "iisii", task, number, token, (int64_t)index, now_ms);
	if (rc < 0)
		return rc;
	*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return store_run(store, sql_task_attempt, "ii", task, number);
}

static int rows_each_attempt(struct store *store, sqlite3_stmt *row, store_attempt_f each, void *ctx)
{
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_attempt attempt = {.id = row_int(row, 0)}, *ret = &attempt;
		int column = 1;
		STORE_ATTEMPT(FIELD_READ, FIELD_READ, STORE_NONE)
		if ((rc = each(ctx, &attempt)) < 0)
			break;
	}
	store_end(row);
	return rc;
}

int store_is_live(struct store *store, const char *token, uint32_t index)
{
	int64_t count;
	int rc = row_read_int(store, store_bind(store, sql_is_live, "si", token, (int64_t)index), &count);
	return rc < 0 ? rc : count > 0;
}

int store_each_live(struct store *store, store_attempt_f each, void *ctx)
{
	return rows_each_attempt(store, store_bind(store, sql_live, ""), each, ctx);
}

int store_each_ended(struct store *store, int64_t since_ms, store_attempt_f each, void *ctx)
{
	return rows_each_attempt(store, store_bind(store, sql_ended, "i", since_ms), each, ctx);
}

int store_find_attempt(struct store *store, int64_t experiment, int64_t number, int64_t attempt, int64_t *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_find_attempt, "iii", experiment, number, attempt);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	int64_t found = row_int(row, 0);
	store_end(row);
	if (attempt && !found)
		return -ENOENT;
	*ret = found;
	return 0;
}

int store_each_beginning(struct store *store, int64_t experiment, store_beginning_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_beginnings, "i", experiment);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct store_beginning beginning = {
			.started = row_int(row, 0),
			.node = row_text(row, 1),
			.why = row_text(row, 2),
			.exit_code = (int)row_int_or(row, 3, -1),
			.time_ms = row_int(row, 4),
		};
		if ((rc = each(ctx, &beginning)) < 0) {
			store_end(row);
			break;
		}
	}
	return rc;
}

int store_set_stall(struct store *store, int64_t attempt, const char *stall)
{
	return store_run(store, sql_set_stall, "is", attempt, stall);
}

int store_set_warm(struct store *store, int64_t attempt, bool warm)
{
	return store_run(store, sql_set_warm, "ii", attempt, (int64_t)warm);
}

int store_set_slow(struct store *store, int64_t attempt, const char *slow)
{
	return store_run(store, sql_set_slow, "is", attempt, slow);
}

int store_set_silent(struct store *store, int64_t attempt, bool silent)
{
	return store_run(store, sql_set_silent, "ii", attempt, (int64_t)silent);
}

int store_set_journal_offset(struct store *store, int64_t attempt, int64_t offset)
{
	return store_run(store, sql_set_offset, "ii", attempt, offset);
}

int store_start_attempt(struct store *store, int64_t attempt, int64_t task, const char *node, const char *gpus,
			const char *job, int64_t started_ms)
{
	int rc = store_run(store, sql_start, "isssi", attempt, node, gpus, job, started_ms);
	return rc < 0 ? rc : store_run(store, sql_task_start, "isssi", task, node, gpus, job, started_ms);
}

int store_set_place(struct store *store, int64_t attempt, int64_t task, const char *node, const char *job)
{
	int rc = store_run(store, sql_set_place, "iss", attempt, node, job);
	return rc < 0 ? rc : store_run(store, sql_task_place, "iss", task, node, job);
}

int store_set_job(struct store *store, int64_t attempt, int64_t task, const char *job)
{
	int rc = store_run(store, sql_set_job, "is", attempt, job);
	return rc < 0 ? rc : store_run(store, sql_task_job, "is", task, job);
}

/* The figures that have no column of their own as a map: those that are known, or all of them, the others as null. */
static char *rows_write_figures(const struct cost *cost, bool all)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	bool any = false;
	json_map(&out);
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		bool known = cost_has(cost, f);
		if (cost_figures[f].counted || (!known && !all))
			continue;
		json_key(&out, cost_figures[f].key);
		if (known)
			cost_write_value(cost->value[f], &out);
		else
			json_put_null(&out);
		any = any || known;
	}
	json_end(&out);
	char *map = any ? buf_take(&text) : NULL;
	buf_free(&text);
	return map;
}

int store_set_ended(struct store *store, int64_t attempt, int64_t task, const char *ended, const struct cost *cost)
{
	char *all = rows_write_figures(cost, true), *known = rows_write_figures(cost, false);
	int rc = store_run(store, sql_set_ended, COST_TYPES "ssssi",
			   COST_VALUES cost_has(cost, FIGURE_ENERGY) ? cost->source : NULL, all, known, ended, attempt);
	free(all);
	free(known);
	if (rc == 0)
		rc = store_run(store, sql_only_cost, "ii", task, attempt);
	return rc < 0 || sqlite3_changes(store_db(store)) > 0 ? rc : store_run(store, sql_task_cost, "i", task);
}

int store_measures_energy(struct store *store, int64_t attempt)
{
	int64_t measured;
	int rc = row_read_int(store, store_bind(store, sql_measures, "i", attempt), &measured);
	return rc < 0 ? rc : measured != 0;
}

int store_set_cost(struct store *store, int64_t attempt, int64_t task, const struct cost *cost)
{
	return store_set_ended(store, attempt, task, NULL, cost);
}

int store_end_attempt(struct store *store, int64_t attempt, enum store_state state, const char *cause, int exit_code,
		      int signal, int64_t now_ms)
{
	return store_run(store, sql_end, "iisiIi", attempt, (int64_t)state, cause, (int64_t)exit_code, (int64_t)signal,
			 now_ms);
}

int store_read_finished(struct store *store, int64_t experiment, int64_t **ret, size_t *ret_count)
{
	VEC(int64_t) ids = {0};
	sqlite3_stmt *row = store_bind(store, sql_finished, "i", experiment);
	int rc;
	while ((rc = store_step(store, row)) > 0)
		vec_push(&ids, row_int(row, 0));
	*ret = ids.at;
	*ret_count = ids.len;
	return rc;
}
