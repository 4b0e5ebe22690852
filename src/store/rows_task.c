/* The engine's writes about tasks, attempts and metrics, and the reads it needs to go on: see rows.h. */
#include "store/rows.h"

#include "store/sql.h"

#include <errno.h>
#include <math.h>

#define TASK_COLUMNS                                                                                                   \
	"id,experiment,number,state,wanted,parameters,retries,repeat,seed,steps,attempt,"                              \
	"started_ms,submitted_ms,fidelity,fresh,best,last,best_step,last_step,step,asked,from_zero,"                   \
	"created_ms,finished_ms"

static double read_real(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN : sqlite3_column_double(q, column);
}

static int64_t read_int(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, column);
}

static int read_tasks(struct store *store, sqlite3_stmt *q, store_task_f each, void *ctx)
{
	int rc, rows = 0;
	while ((rc = store_step(store, q)) > 0) {
		struct store_task row = {
			.id = sqlite3_column_int64(q, 0),
			.experiment = sqlite3_column_int64(q, 1),
			.number = sqlite3_column_int64(q, 2),
			.state = (enum store_state)sqlite3_column_int(q, 3),
			.wanted = (enum store_wish)sqlite3_column_int(q, 4),
			.parameters = store_text(q, 5),
			.retries = store_text(q, 6),
			.repeat = sqlite3_column_int64(q, 7),
			.seed = sqlite3_column_int64(q, 8),
			.steps = read_int(q, 9),
			.attempt = sqlite3_column_int64(q, 10),
			.started_ms = sqlite3_column_int64(q, 11),
			.submitted_ms = sqlite3_column_int64(q, 12),
			.fidelity = read_real(q, 13),
			.fresh = sqlite3_column_int(q, 14),
			.best = read_real(q, 15),
			.last = read_real(q, 16),
			.best_step = read_int(q, 17),
			.last_step = read_int(q, 18),
			.step = read_int(q, 19),
			.asked = sqlite3_column_int64(q, 20),
			.from_zero = sqlite3_column_int(q, 21),
			.created_ms = sqlite3_column_int64(q, 22),
			.finished_ms = sqlite3_column_int64(q, 23),
		};
		rows++;
		if ((rc = each(ctx, &row)) < 0) {
			sqlite3_reset(q);
			return rc;
		}
	}
	return rc < 0 ? rc : rows;
}

int store_add_history(struct store *store, int64_t task, enum store_state state, const char *text, int64_t time_ms)
{
	return store_run(store, "INSERT INTO history (task,time_ms,state,reason) VALUES (?,?,?,?)", "iiis", task,
			 time_ms, (int64_t)state, text);
}

int store_add_task(struct store *store, const struct store_task *row, int64_t now_ms, int64_t *ret_id)
{
	int rc = store_run(store,
			   "INSERT INTO task (experiment,number,parameters,repeat,seed,fidelity,steps,asked,"
			   "created_ms) VALUES (?,?,?,?,?,?,?,?,?)",
			   "iisiidIii", row->experiment, row->number, row->parameters, row->repeat, row->seed,
			   row->fidelity, row->steps, row->asked, now_ms);
	if (rc < 0)
		return rc;
	*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return store_add_history(store, *ret_id, STORE_WAITING, NULL, now_ms);
}

int store_keep_task(void *ctx, const struct store_task *row)
{
	struct store_task *keep = ctx;
	*keep = *row;
	keep->parameters = keep->retries = NULL;
	return 0;
}

static int64_t read_whole(struct store *store, sqlite3_stmt *q)
{
	int64_t number = store_step(store, q) > 0 ? sqlite3_column_int64(q, 0) : 0;
	if (q)
		sqlite3_reset(q);
	return number;
}

int64_t store_last_number(struct store *store, int64_t experiment)
{
	return read_whole(store, store_bind(store, "SELECT max(number) FROM task WHERE experiment=?", "i", experiment));
}

int store_read_task(struct store *store, int64_t experiment, int64_t number, store_task_f each, void *ctx)
{
	sqlite3_stmt *q = store_bind(store, "SELECT " TASK_COLUMNS " FROM task WHERE experiment=? AND number=?", "ii",
				     experiment, number);
	int rc = read_tasks(store, q, each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_each_task(struct store *store, int64_t experiment, int64_t from, int64_t limit, store_task_f each, void *ctx)
{
	sqlite3_stmt *q = store_bind(
		store, "SELECT " TASK_COLUMNS " FROM task WHERE experiment=? AND number>=? ORDER BY number LIMIT ?",
		"iii", experiment, from, limit);
	int rc = read_tasks(store, q, each, ctx);
	return rc < 0 ? rc : 0;
}

int store_each_ready(struct store *store, int64_t experiment, int64_t now_ms, int64_t limit, store_task_f each,
		     void *ctx)
{
	/* By id, which is by number too: the index by state has that order, and what is over is not read. */
	sqlite3_stmt *q = store_bind(store,
				     "SELECT " TASK_COLUMNS
				     " FROM task WHERE experiment=? AND state=0 AND not_before_ms<=? "
				     "ORDER BY id LIMIT ?",
				     "iii", experiment, now_ms, limit);
	int rc = read_tasks(store, q, each, ctx);
	return rc < 0 ? rc : 0;
}

int store_set_task_state(struct store *store, int64_t id, enum store_state state, const char *reason, const char *cause,
			 int64_t now_ms, enum store_state *ret_before)
{
	sqlite3_stmt *q = store_bind(store, "SELECT state FROM task WHERE id=?", "i", id);
	int rc = store_step(store, q);
	if (rc <= 0)
		return rc < 0 ? rc : -ENOENT;
	*ret_before = (enum store_state)sqlite3_column_int(q, 0);
	sqlite3_reset(q);
	rc = store_run(store,
		       "UPDATE task SET state=?2, reason=?3, cause=?4, expected_start_ms=NULL,"
		       "finished_ms=CASE WHEN ?2>=3 THEN ?5 END,"
		       "submitted_ms=CASE WHEN ?2=1 THEN ?5 ELSE submitted_ms END WHERE id=?1",
		       "iissi", id, (int64_t)state, reason, cause, now_ms);
	return rc < 0 ? rc : store_add_history(store, id, state, reason, now_ms);
}

int store_set_task_reason(struct store *store, int64_t id, const char *reason, int64_t expected_start_ms)
{
	return store_run(store, "UPDATE task SET reason=?2, expected_start_ms=?3 WHERE id=?1", "isI", id, reason,
			 expected_start_ms);
}

int store_set_wish(struct store *store, int64_t id, enum store_wish wish)
{
	return store_run(store, "UPDATE task SET wanted=?2 WHERE id=?1", "ii", id, (int64_t)wish);
}

int store_set_retry(struct store *store, int64_t id, const char *retries, int64_t not_before_ms)
{
	return store_run(store, "UPDATE task SET retries=?2, not_before_ms=?3 WHERE id=?1", "isi", id, retries,
			 not_before_ms);
}

int store_reset_task(struct store *store, int64_t id)
{
	int rc = store_run(store,
			   "UPDATE task SET wanted=0, fresh=1, retries='{}', not_before_ms=0, best=NULL,"
			   "best_step=NULL, last=NULL, last_step=NULL, step=NULL, from_zero=0, submitted_ms=NULL,"
			   "started_ms=NULL, node=NULL, gpus=NULL, job=NULL, wall_ms=NULL, cpu_ms=NULL,"
			   "gpu_ms=NULL, max_rss=NULL, energy_j=NULL, energy_source=NULL WHERE id=?",
			   "i", id);
	return rc < 0 ? rc : store_clear_metrics(store, id);
}

int store_promote_task(struct store *store, int64_t id, const struct store_task *row)
{
	return store_run(store,
			 "UPDATE task SET parameters=?2, fidelity=?3, steps=?4, asked=?5, retries='{}',"
			 "not_before_ms=0, wanted=0 WHERE id=?1",
			 "isdIi", id, row->parameters, row->fidelity, row->steps, row->asked);
}

int store_find_asked(struct store *store, int64_t experiment, int64_t asked, store_task_f each, void *ctx)
{
	sqlite3_stmt *q = store_bind(store, "SELECT " TASK_COLUMNS " FROM task WHERE experiment=? AND asked=?", "ii",
				     experiment, asked);
	int rc = read_tasks(store, q, each, ctx);
	return rc < 0 ? rc : rc == 0 ? -ENOENT : 0;
}

int store_set_progress(struct store *store, const struct store_task *row)
{
	return store_run(store,
			 "UPDATE task SET best=?2, best_step=nullif(?3,-1), last=?4, last_step=nullif(?5,-1),"
			 "step=nullif(?6,-1), from_zero=?7 WHERE id=?1",
			 "ididiii", row->id, row->best, row->best_step, row->last, row->last_step, row->step,
			 (int64_t)row->from_zero);
}

int store_clear_metrics(struct store *store, int64_t task)
{
	return store_run(store, "DELETE FROM metric WHERE task=?", "i", task);
}

int store_add_batch(struct store *store, const char *token, int64_t experiment, const char *backend,
		    enum store_batch_state state, int64_t parallel, int64_t now_ms)
{
	return store_run(store,
			 "INSERT INTO batch (token,experiment,backend,state,parallel,created_ms) VALUES "
			 "(?,?,?,?,?,?)",
			 "sisiii", token, experiment, backend, (int64_t)state, parallel, now_ms);
}

int store_set_batch(struct store *store, const char *token, enum store_batch_state state, const char *job)
{
	return store_run(store, "UPDATE batch SET state=?2, job=coalesce(?3,job) WHERE token=?1", "sis", token,
			 (int64_t)state, job);
}

int store_set_batch_absent(struct store *store, const char *token, int64_t absent_ms)
{
	return store_run(store, "UPDATE batch SET absent_ms=?2, resubmits=resubmits+(?2 IS NULL) WHERE token=?1", "sI",
			 token, absent_ms);
}

int store_add_attempt(struct store *store, int64_t task, int64_t number, const char *token, uint32_t index,
		      int64_t now_ms, int64_t *ret_id)
{
	int rc = store_run(store,
			   "INSERT INTO attempt (task,number,token,idx,created_ms,submitted_ms) VALUES "
			   "(?1,?2,?3,?4,?5,?5)",
			   "iisii", task, number, token, (int64_t)index, now_ms);
	if (rc < 0)
		return rc;
	*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return store_run(store, "UPDATE task SET attempt=?2, node=NULL, gpus=NULL, job=NULL WHERE id=?1", "ii", task,
			 number);
}

#define ATTEMPT_COLUMNS                                                                                                \
	"SELECT a.id,a.task,t.experiment,t.number,a.number,a.journal_offset,a.created_ms,"                             \
	"a.submitted_ms,a.started_ms,a.idx,a.state,t.wanted,a.token,coalesce(a.job,b.job),b.backend,"                  \
	"b.absent_ms,b.state,a.ended FROM attempt a JOIN task t ON t.id=a.task JOIN batch b ON b.token=a.token "

static int each_attempt(struct store *store, sqlite3_stmt *q, store_attempt_f each, void *ctx)
{
	int rc;
	while ((rc = store_step(store, q)) > 0) {
		struct store_attempt row = {
			.id = sqlite3_column_int64(q, 0),
			.task = sqlite3_column_int64(q, 1),
			.experiment = sqlite3_column_int64(q, 2),
			.task_number = sqlite3_column_int64(q, 3),
			.number = sqlite3_column_int64(q, 4),
			.journal_offset = sqlite3_column_int64(q, 5),
			.created_ms = sqlite3_column_int64(q, 6),
			.submitted_ms = sqlite3_column_int64(q, 7),
			.started_ms = sqlite3_column_int64(q, 8),
			.index = (uint32_t)sqlite3_column_int64(q, 9),
			.state = (enum store_state)sqlite3_column_int(q, 10),
			.wanted = (enum store_wish)sqlite3_column_int(q, 11),
			.token = store_text(q, 12),
			.job = store_text(q, 13),
			.backend = store_text(q, 14),
			.absent_ms = sqlite3_column_int64(q, 15),
			.batch_state = (enum store_batch_state)sqlite3_column_int(q, 16),
			.ended = store_text(q, 17),
		};
		if ((rc = each(ctx, &row)) < 0) {
			sqlite3_reset(q);
			return rc;
		}
	}
	return rc;
}

int store_each_live(struct store *store, store_attempt_f each, void *ctx)
{
	return each_attempt(store, store_bind(store, ATTEMPT_COLUMNS "WHERE a.state IN (1,2) ORDER BY a.id", ""), each,
			    ctx);
}

int store_each_unmeasured(struct store *store, int64_t since_ms, store_attempt_f each, void *ctx)
{
	static const char query[] = ATTEMPT_COLUMNS
		"WHERE a.finished_ms>? AND a.started_ms IS NOT NULL AND a.energy_j IS NULL ORDER BY a.id";
	return each_attempt(store, store_bind(store, query, "i", since_ms), each, ctx);
}

int store_set_journal_offset(struct store *store, int64_t attempt, int64_t offset)
{
	return store_run(store, "UPDATE attempt SET journal_offset=?2 WHERE id=?1", "ii", attempt, offset);
}

int store_start_attempt(struct store *store, int64_t attempt, int64_t task, const char *node, const char *gpus,
			const char *job, int64_t started_ms)
{
	int rc = store_run(store,
			   "UPDATE attempt SET state=2, node=?2, gpus=?3, job=coalesce(?4,job), started_ms=?5 "
			   "WHERE id=?1",
			   "isssi", attempt, node, gpus, job, started_ms);
	if (rc < 0)
		return rc;
	return store_run(store,
			 "UPDATE task SET node=?2, gpus=?3, job=coalesce(?4,job), "
			 "started_ms=CASE WHEN attempt>1 AND NOT fresh THEN coalesce(started_ms,?5) ELSE ?5 END,"
			 "fresh=0 WHERE id=?1",
			 "isssi", task, node, gpus, job, started_ms);
}

int store_set_job(struct store *store, int64_t attempt, int64_t task, const char *job)
{
	int rc = store_run(store, "UPDATE attempt SET job=?2 WHERE id=?1", "is", attempt, job);
	return rc < 0 ? rc : store_run(store, "UPDATE task SET job=?2 WHERE id=?1", "is", task, job);
}

int store_set_ended(struct store *store, int64_t attempt, int64_t task, const char *ended,
		    const struct store_cost *cost)
{
	static const char set_attempt[] =
		"UPDATE attempt SET wall_ms=coalesce(nullif(?2,-1),wall_ms),"
		"cpu_ms=coalesce(nullif(?3,-1),cpu_ms), gpu_ms=coalesce(nullif(?4,-1),gpu_ms),"
		"max_rss=coalesce(nullif(?5,-1),max_rss), energy_j=coalesce(?6,energy_j),"
		"energy_source=coalesce(?7,energy_source), ended=coalesce(?8,ended) WHERE id=?1";
	/* A task costs what all its attempts cost. */
	static const char sum_task[] =
		"UPDATE task SET (wall_ms,cpu_ms,gpu_ms,max_rss,energy_j,energy_source)="
		"(SELECT sum(wall_ms),sum(cpu_ms),sum(gpu_ms),max(max_rss),sum(energy_j),max(energy_source) "
		"FROM attempt WHERE task=?1) WHERE id=?1";
	int rc = store_run(store, set_attempt, "iiiiidss", attempt, cost->wall_ms, cost->cpu_ms, cost->gpu_ms,
			   cost->max_rss, cost->energy_j, cost->energy_source, ended);
	return rc < 0 ? rc : store_run(store, sum_task, "i", task);
}

int store_set_cost(struct store *store, int64_t attempt, int64_t task, const struct store_cost *cost)
{
	return store_set_ended(store, attempt, task, NULL, cost);
}

int store_end_attempt(struct store *store, int64_t attempt, enum store_state state, const char *cause, int exit_code,
		      int signal, int64_t now_ms)
{
	return store_run(store,
			 "UPDATE attempt SET state=?2, cause=?3, exit_code=nullif(?4,-1), signal=?5,"
			 "finished_ms=?6 WHERE id=?1",
			 "iisiIi", attempt, (int64_t)state, cause, (int64_t)exit_code, (int64_t)signal, now_ms);
}

int store_metric_name(struct store *store, int64_t experiment, const char *name, int64_t *ret_id)
{
	static const char find[] = "SELECT id FROM metric_name WHERE experiment=? AND name=?";
	sqlite3_stmt *q = store_bind(store, find, "is", experiment, name);
	int rc = store_step(store, q);
	if (rc > 0) {
		*ret_id = sqlite3_column_int64(q, 0);
		sqlite3_reset(q);
		return 0;
	}
	if (rc < 0)
		return rc;
	rc = store_run(store, "INSERT INTO metric_name (experiment,name) VALUES (?,?)", "is", experiment, name);
	if (rc == 0)
		*ret_id = sqlite3_last_insert_rowid(store_db(store));
	return rc;
}

int store_add_metric(struct store *store, int64_t task, int64_t name, int64_t step, double value, int64_t time_ms)
{
	return store_run(store, "INSERT OR REPLACE INTO metric (task,name,step,value,time_ms) VALUES (?,?,?,?,?)",
			 "iiidi", task, name, step, value, time_ms);
}

static double read_number(struct store *store, sqlite3_stmt *q)
{
	double value = NAN;
	if (store_step(store, q) > 0) {
		value = read_real(q, 0);
		sqlite3_reset(q);
	}
	return value;
}

double store_read_objective(struct store *store, int64_t experiment, int64_t task, const char *name,
			    enum store_take take, int64_t of)
{
#define OF_METRIC " FROM metric m JOIN metric_name n ON n.id=m.name WHERE m.task=? AND n.experiment=? AND n.name=?"
	static const char least[] = "SELECT min(m.value)" OF_METRIC;
	static const char most[] = "SELECT max(m.value)" OF_METRIC;
	static const char last[] = "SELECT avg(value) FROM (SELECT m.value" OF_METRIC " ORDER BY m.step DESC LIMIT ?)";
	double value = take == STORE_TAKE_LEAST || take == STORE_TAKE_MOST
		? read_number(store,
			      store_bind(store, take == STORE_TAKE_LEAST ? least : most, "iis", task, experiment, name))
		: read_number(store,
			      store_bind(store, last, "iisi", task, experiment, name,
					 take == STORE_TAKE_LAST ? (int64_t)1 : of));
	if (isnan(value) && strcmp(name, "time") == 0)
		value = read_number(store, store_bind(store, "SELECT wall_ms/1000.0 FROM task WHERE id=?", "i", task));
	else if (isnan(value) && strcmp(name, "energy") == 0)
		value = read_number(store, store_bind(store, "SELECT energy_j FROM task WHERE id=?", "i", task));
	return value;
}

int store_read_rivals(struct store *store, int64_t experiment, int64_t task, const char *name, int64_t step, bool most,
		      double **ret, size_t *ret_count)
{
#define RIVALS(function)                                                                                               \
	"SELECT " function "(m.value) FROM task t JOIN metric_name n ON n.experiment=t.experiment AND "                \
	"n.name=?3 JOIN metric m ON m.task=t.id AND m.name=n.id AND m.step<=?4 WHERE t.experiment=?1 AND "             \
	"t.id<>?2 AND (t.step>=?4 OR t.state=3) GROUP BY t.id"
	static const char least[] = RIVALS("min"), greatest[] = RIVALS("max");
	VEC(double) values = {0};
	sqlite3_stmt *q = store_bind(store, most ? greatest : least, "iisi", experiment, task, name, step);
	int rc;
	while ((rc = store_step(store, q)) > 0)
		vec_push(&values, read_real(q, 0));
	*ret = values.at;
	*ret_count = values.len;
	return rc;
}

int store_read_finished(struct store *store, int64_t experiment, int64_t **ret, size_t *ret_count)
{
	VEC(int64_t) ids = {0};
	sqlite3_stmt *q = store_bind(store, "SELECT id FROM task WHERE experiment=? AND state=3", "i", experiment);
	int rc;
	while ((rc = store_step(store, q)) > 0)
		vec_push(&ids, sqlite3_column_int64(q, 0));
	*ret = ids.at;
	*ret_count = ids.len;
	return rc;
}
