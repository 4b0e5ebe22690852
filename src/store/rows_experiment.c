/* The engine's writes about experiments and searches, and the reads it needs to go on: see rows.h. Tasks,
 * attempts and metrics are in rows_task.c. */
#include "store/rows.h"

#include "store/sql.h"

#include <errno.h>

#define EXPERIMENT_COLUMNS                                                                                             \
	"id,name,description,spec,source_name,source,parameters,varying,objective,strategy,"                           \
	"strategy_reason,backend,script,warnings,batch_script,created_ms,started_ms,seed,planned,"                     \
	"parallel,state,asked_all,stopping,removing,sweep,sweep_from,sweep_ms,note"

static int read_experiments(struct store *store, sqlite3_stmt *q, store_experiment_f each, void *ctx)
{
	int rc, rows = 0;
	while ((rc = store_step(store, q)) > 0) {
		struct store_experiment row = {
			.id = sqlite3_column_int64(q, 0),
			.name = store_text(q, 1),
			.description = store_text(q, 2),
			.spec = store_text(q, 3),
			.source_name = store_text(q, 4),
			.source = store_text(q, 5),
			.parameters = store_text(q, 6),
			.varying = store_text(q, 7),
			.objective = store_text(q, 8),
			.strategy = store_text(q, 9),
			.strategy_reason = store_text(q, 10),
			.backend = store_text(q, 11),
			.script = store_text(q, 12),
			.warnings = store_text(q, 13),
			.batch_script = store_text(q, 14),
			.created_ms = sqlite3_column_int64(q, 15),
			.started_ms = sqlite3_column_int64(q, 16),
			.seed = sqlite3_column_int64(q, 17),
			.planned = sqlite3_column_int64(q, 18),
			.parallel = sqlite3_column_int64(q, 19),
			.state = (enum store_state)sqlite3_column_int(q, 20),
			.asked_all = sqlite3_column_int(q, 21),
			.stopping = sqlite3_column_int(q, 22),
			.removing = sqlite3_column_int(q, 23),
			.sweep = (enum store_sweep)sqlite3_column_int(q, 24),
			.sweep_from = sqlite3_column_int64(q, 25),
			.sweep_ms = sqlite3_column_int64(q, 26),
			.note = store_text(q, 27),
		};
		rows++;
		if ((rc = each(ctx, &row)) < 0) {
			sqlite3_reset(q);
			return rc;
		}
	}
	return rc < 0 ? rc : rows;
}

int store_add_experiment(struct store *store, const struct store_experiment *row, int64_t *ret_id)
{
	int rc = store_run(store,
			   "INSERT INTO experiment (name,description,spec,source_name,source,parameters,"
			   "varying,objective,strategy,strategy_reason,backend,script,warnings,batch_script,"
			   "created_ms,seed,planned,parallel) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
			   "ssssssssssssssiiii", row->name, row->description, row->spec, row->source_name, row->source,
			   row->parameters, row->varying, row->objective, row->strategy, row->strategy_reason,
			   row->backend, row->script, row->warnings, row->batch_script, row->created_ms, row->seed,
			   row->planned, row->parallel);
	if (rc == 0)
		*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return rc;
}

int store_each_active(struct store *store, store_experiment_f each, void *ctx)
{
	sqlite3_stmt *q = store_bind(
		store, "SELECT " EXPERIMENT_COLUMNS " FROM experiment WHERE state < 3 OR removing OR sweep ORDER BY id",
		"");
	int rc = read_experiments(store, q, each, ctx);
	return rc < 0 ? rc : 0;
}

int store_read_experiment(struct store *store, int64_t id, store_experiment_f each, void *ctx)
{
	sqlite3_stmt *q = store_bind(store, "SELECT " EXPERIMENT_COLUMNS " FROM experiment WHERE id=?", "i", id);
	int rc = read_experiments(store, q, each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_set_experiment_state(struct store *store, int64_t id, enum store_state state, int64_t started_ms,
			       int64_t finished_ms)
{
	return store_run(store,
			 "UPDATE experiment SET state=?2, started_ms=coalesce(?3,started_ms),"
			 "finished_ms=CASE WHEN ?2>=3 THEN coalesce(?4,finished_ms) END WHERE id=?1",
			 "iiII", id, (int64_t)state, started_ms, finished_ms);
}

int store_set_flag(struct store *store, int64_t id, enum store_flag flag, bool value)
{
	switch (flag) {
	case STORE_FLAG_ASKED_ALL:
		return store_run(store, "UPDATE experiment SET asked_all=?2 WHERE id=?1", "ii", id, (int64_t)value);
	case STORE_FLAG_STOPPING:
		return store_run(store, "UPDATE experiment SET stopping=?2 WHERE id=?1", "ii", id, (int64_t)value);
	case STORE_FLAG_REMOVING:
		return store_run(store, "UPDATE experiment SET removing=?2 WHERE id=?1", "ii", id, (int64_t)value);
	}
	return -EINVAL;
}

int store_set_sweep(struct store *store, int64_t id, enum store_sweep sweep, int64_t from, int64_t since_ms)
{
	return store_run(store, "UPDATE experiment SET sweep=?2, sweep_from=?3, sweep_ms=?4 WHERE id=?1", "iiii", id,
			 (int64_t)sweep, from, since_ms);
}

int store_set_parallel(struct store *store, int64_t id, int64_t parallel)
{
	return store_run(store, "UPDATE experiment SET parallel=?2 WHERE id=?1", "ii", id, parallel);
}

int store_set_note(struct store *store, int64_t id, const char *note)
{
	return store_run(store, "UPDATE experiment SET note=?2 WHERE id=?1", "is", id, note);
}

int store_set_objective(struct store *store, int64_t id, const char *json)
{
	return store_run(store, "UPDATE experiment SET objective=?2 WHERE id=?1", "is", id, json);
}

int store_set_step_name(struct store *store, int64_t id, const char *name)
{
	return store_run(store, "UPDATE experiment SET step_name=?2 WHERE id=?1", "is", id, name);
}

int store_set_batch_script(struct store *store, int64_t id, const char *script)
{
	return store_run(store, "UPDATE experiment SET batch_script=?2 WHERE id=?1", "is", id, script);
}

int store_update_best(struct store *store, int64_t id, bool maximise)
{
	static const char least[] =
		"UPDATE experiment SET best_task=(SELECT number FROM task WHERE experiment=?1 AND best IS "
		"NOT NULL ORDER BY best, number LIMIT 1) WHERE id=?1";
	static const char most[] =
		"UPDATE experiment SET best_task=(SELECT number FROM task WHERE experiment=?1 AND best IS "
		"NOT NULL ORDER BY best DESC, number LIMIT 1) WHERE id=?1";
	return store_run(store, maximise ? most : least, "i", id);
}

int store_delete_some(struct store *store, int64_t id)
{
	/* In the order of their dependence: what the last one takes along is gone by then. One task may have
	 * thousands of metrics. */
	static const char task[] = "DELETE FROM task WHERE id=(SELECT id FROM task WHERE experiment=? LIMIT 1)";
	static const char events[] = "DELETE FROM search_event WHERE experiment=?1 AND seq<"
				     "(SELECT min(seq) FROM search_event WHERE experiment=?1)+100";
	static const char *const parts[] = {task, events, "DELETE FROM experiment WHERE id=?"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		int rc = store_run(store, parts[i], "i", id);
		if (rc < 0)
			return rc;
		if (i + 1 < COUNT_OF(parts) && sqlite3_changes(store_db(store)))
			return 1;
	}
	return 0;
}

int store_count_tasks(struct store *store, int64_t id, int64_t counts[static STORE_STATE_COUNT])
{
	sqlite3_stmt *q = store_bind(store, "SELECT state,sum(tasks) FROM tally WHERE experiment=? GROUP BY state", "i",
				     id);
	int rc;
	memset(counts, 0, STORE_STATE_COUNT * sizeof(*counts));
	while ((rc = store_step(store, q)) > 0) {
		int state = sqlite3_column_int(q, 0);
		if (state >= 0 && state < STORE_STATE_COUNT)
			counts[state] = sqlite3_column_int64(q, 1);
	}
	return rc;
}

int store_sum_cost(struct store *store, int64_t id, double *ret_gpu_s, double *ret_energy_j)
{
	sqlite3_stmt *q = store_bind(store,
				     "SELECT total(a.gpu_ms)/1000, total(a.energy_j) FROM attempt a JOIN task t "
				     "ON a.task=t.id WHERE t.experiment=?",
				     "i", id);
	int rc = store_step(store, q);
	if (rc > 0) {
		*ret_gpu_s = sqlite3_column_double(q, 0);
		*ret_energy_j = sqlite3_column_double(q, 1);
		sqlite3_reset(q);
		rc = 0;
	}
	return rc;
}

int store_add_event(struct store *store, int64_t experiment, const struct store_event *event)
{
	return store_run(store,
			 "INSERT INTO search_event (experiment,seq,kind,asked,outcome,value) VALUES "
			 "(?,?,?,?,?,?)",
			 "iiiiis", experiment, event->seq, (int64_t)event->kind, event->asked, event->outcome,
			 event->value);
}

int store_each_event(struct store *store, int64_t experiment, store_event_f each, void *ctx)
{
	sqlite3_stmt *q = store_bind(
		store, "SELECT seq,kind,asked,outcome,value FROM search_event WHERE experiment=? ORDER BY seq", "i",
		experiment);
	int rc;
	while ((rc = store_step(store, q)) > 0) {
		struct store_event event = {
			.seq = sqlite3_column_int64(q, 0),
			.kind = (enum store_event_kind)sqlite3_column_int(q, 1),
			.asked = sqlite3_column_int64(q, 2),
			.outcome = sqlite3_column_int64(q, 3),
			.value = store_text(q, 4),
		};
		if ((rc = each(ctx, &event)) < 0) {
			sqlite3_reset(q);
			return rc;
		}
	}
	return rc;
}

static int64_t read_last_event(struct store *store, const char *sql, int64_t experiment)
{
	sqlite3_stmt *q = store_bind(store, sql, "i", experiment);
	int64_t seq = store_step(store, q) > 0 ? sqlite3_column_int64(q, 0) : 0;
	if (q)
		sqlite3_reset(q);
	return seq;
}

int64_t store_last_change(struct store *store, int64_t experiment)
{
	return read_last_event(store, "SELECT max(seq) FROM search_event WHERE experiment=? AND kind=3", experiment);
}

int64_t store_last_asked(struct store *store, int64_t experiment)
{
	return read_last_event(
		store, "SELECT asked FROM search_event WHERE experiment=? AND kind IN (0, 2) ORDER BY seq DESC LIMIT 1",
		experiment);
}

int64_t store_last_event(struct store *store, int64_t experiment)
{
	return read_last_event(store, "SELECT max(seq) FROM search_event WHERE experiment=?", experiment);
}

int store_change_experiment(struct store *store, int64_t id, const struct store_experiment *row)
{
	return store_run(store,
			 "UPDATE experiment SET spec=?2, parameters=?3, varying=?4, strategy=?5, strategy_reason=?6,"
			 "seed=?7, planned=?8, parallel=?9, asked_all=0 WHERE id=?1",
			 "isssssiii", id, row->spec, row->parameters, row->varying, row->strategy, row->strategy_reason,
			 row->seed, row->planned, row->parallel);
}

int store_set_planned(struct store *store, int64_t id, int64_t planned)
{
	return store_run(store, "UPDATE experiment SET planned=?2 WHERE id=?1", "ii", id, planned);
}

/* Keys are kept for a day. */
#define KEY_LIFE_MS 86400000

int store_find_key(struct store *store, const char *key, const char *body_hash, int64_t *ret_experiment)
{
	sqlite3_stmt *q = store_bind(store, "SELECT body_hash,experiment FROM idempotency WHERE key=?", "s", key);
	int rc = store_step(store, q);
	if (rc > 0) {
		rc = strcmp(store_text(q, 0), body_hash) == 0 ? 1 : -EEXIST;
		*ret_experiment = sqlite3_column_int64(q, 1);
		sqlite3_reset(q);
	}
	return rc;
}

int store_add_key(struct store *store, const char *key, const char *body_hash, int64_t experiment, int64_t now_ms)
{
	int rc = store_run(store, "DELETE FROM idempotency WHERE created_ms<?", "i", now_ms - KEY_LIFE_MS);
	return rc < 0 ? rc
		      : store_run(store,
				  "INSERT INTO idempotency (key,body_hash,experiment,created_ms) VALUES "
				  "(?,?,?,?)",
				  "ssii", key, body_hash, experiment, now_ms);
}
