/* What the engine writes: kept, counted, rolled back, and refused to a second process. */
#include "store/json.h"
#include "store/outbox.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	char dir[64], path[96];
	struct store *store;
	int64_t experiment;
};

static const struct store_experiment plain = {
	.name = "x",
	.description = "",
	.spec = "{}",
	.parameters = "[]",
	.varying = "[]",
	.objective = "[]",
	.strategy = "grid",
	.backend = "local",
	.warnings = "[]",
	.created_ms = 1,
	.seed = 7,
	.planned = 3,
};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-store-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_add_experiment(f->store, &plain, &f->experiment), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const suffixes[] = {"", "-wal", "-journal"};
	struct fixture *f = *state;
	store_close(f->store);
	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		unlink(path);
	}
	rmdir(f->dir);
	free(f);
	return 0;
}

static int64_t last_number(struct fixture *f)
{
	int64_t number = -1;
	assert_int_equal(store_last_number(f->store, f->experiment, &number), 0);
	return number;
}

static double objective(struct fixture *f, int64_t task, const char *name, enum store_take take)
{
	double value = 0;
	assert_int_equal(store_read_objective(f->store, f->experiment, task, name, take, 1, &value), 0);
	return value;
}

static int64_t add_task(struct fixture *f, int64_t number)
{
	struct store_task row = {
		.experiment = f->experiment, .number = number, .parameters = "{}", .repeat = 1, .fidelity = NAN};
	int64_t id;
	assert_int_equal(store_add_task(f->store, &row, 100, &id), 0);
	return id;
}

static int keep_task_cb(void *ctx, const struct store_task *row)
{
	*(struct store_task *)ctx = *row;
	return 0;
}

static void test_a_change_of_state_says_what_was_before_and_is_counted(void **state)
{
	struct fixture *f = *state;
	int64_t counts[STORE_STATE_COUNT];
	enum store_state before;
	assert_int_equal(store_begin(f->store, NULL), 0);
	int64_t a = add_task(f, 1);
	add_task(f, 2);
	assert_int_equal(store_set_task_state(f->store, a, STORE_RUNNING, "r", NULL, 200, &before), 0);
	assert_int_equal(before, STORE_WAITING);
	assert_int_equal(store_set_task_state(f->store, a, STORE_FINISHED, NULL, NULL, 300, &before), 0);
	assert_int_equal(before, STORE_RUNNING);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_int_equal(store_count_tasks(f->store, f->experiment, counts), 0);
	assert_int_equal(counts[STORE_WAITING], 1);
	assert_int_equal(counts[STORE_FINISHED], 1);
	assert_int_equal(last_number(f), 2);
	assert_int_equal(store_set_task_state(f->store, 999, STORE_ERROR, NULL, NULL, 1, &before), -ENOENT);
}

static int keep_ended_cb(void *ctx, const struct store_attempt *row)
{
	snprintf(ctx, 40, "%s", row->ended ? row->ended : "");
	return 0;
}

static void test_an_end_that_was_read_is_there_after_a_restart(void **state)
{
	struct fixture *f = *state;
	int64_t task, attempt;
	char ended[40] = "";
	assert_int_equal(store_begin(f->store, NULL), 0);
	task = add_task(f, 1);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "slurm", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	assert_int_equal(store_add_attempt(f->store, task, 1, "t", 0, 1, &attempt), 0);
	struct cost cost = {0};
	cost_set(&cost, FIGURE_WALL, 500);
	assert_int_equal(store_set_ended(f->store, attempt, task, "{\"cause\":\"signal\"}", &cost), 0);
	assert_int_equal(store_each_live(f->store, keep_ended_cb, ended), 0);
	assert_string_equal(ended, "{\"cause\":\"signal\"}");
	cost_set(&cost, FIGURE_WALL, 700); /* accounting's figure, later: the end stays */
	assert_int_equal(store_set_cost(f->store, attempt, task, &cost), 0);
	assert_int_equal(store_each_live(f->store, keep_ended_cb, ended), 0);
	assert_string_equal(ended, "{\"cause\":\"signal\"}");
	assert_int_equal(store_commit(f->store, NULL), 0);
}

static char *task_json(struct fixture *f)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	assert_int_equal(store_json_open_task(f->store, f->experiment, 1, &out), 0);
	json_end(&out);
	return buf_take(&text);
}

static int64_t add_attempt(struct fixture *f, int64_t task, int64_t number)
{
	int64_t attempt;
	assert_int_equal(store_add_attempt(f->store, task, number, "t", (uint32_t)number, 1, &attempt), 0);
	return attempt;
}

static void set_cost(struct fixture *f, int64_t attempt, int64_t task, double wall_ms, double memory)
{
	struct cost cost = {0};
	cost_set(&cost, FIGURE_WALL, wall_ms);
	cost_set(&cost, FIGURE_MEMORY, memory);
	assert_int_equal(store_set_cost(f->store, attempt, task, &cost), 0);
}

/* Every figure is there from the beginning, as null. The time of two attempts adds up, of their memory the larger
 * counts. A figure that is not known leaves what is there. */
static void test_a_task_has_the_figures_of_all_its_attempts(void **state)
{
	struct fixture *f = *state;
	int64_t task, first, second;
	assert_int_equal(store_begin(f->store, NULL), 0);
	task = add_task(f, 1);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "local", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	first = add_attempt(f, task, 1);
	char *text = task_json(f);
	for (enum figure figure = 0; figure < FIGURE_COUNT; figure++) {
		char *null = mem_printf("\"%s\":null", cost_figures[figure].key);
		const char *of_task = strstr(text, null);
		if (!of_task || !strstr(of_task + 1, null))
			fail_msg("%s is missing: %s", null, text);
		free(null);
	}
	free(text);
	set_cost(f, first, task, 1500, 7e9);
	set_cost(f, first, task, 2000, NAN);
	second = add_attempt(f, task, 2);
	set_cost(f, second, task, -1, 5e9);
	set_cost(f, second, task, 250, -1);
	text = task_json(f);
	const char *attempts = strstr(text, "\"attempts\"");
	const char *of_task = strstr(text,
				     "\"cost\":{\"wall_s\":2.25,\"cpu_s\":null,\"gpu_s\":null,\"energy_j\":null,"
				     "\"energy_source\":\"not measured\",\"max_rss_bytes\":7000000000");
	assert_true(of_task && of_task < attempts);
	assert_non_null(strstr(attempts, "\"max_rss_bytes\":7000000000"));
	assert_non_null(strstr(attempts, "\"max_rss_bytes\":5000000000"));
	free(text);
	/* Another attempt that a user asks for takes nothing away: the cost of a task is that of all its attempts. */
	assert_int_equal(store_reset_task(f->store, task, true), 0);
	text = task_json(f);
	assert_true(strstr(text, "\"max_rss_bytes\":7000000000") < strstr(text, "\"attempts\""));
	free(text);
	assert_int_equal(store_commit(f->store, NULL), 0);
}

/* A figure that the version after this one has measured stays where it is. */
static void test_a_figure_that_is_not_in_the_table_is_kept(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_begin(f->store, NULL), 0);
	int64_t task = add_task(f, 1);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "local", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	int64_t attempt = add_attempt(f, task, 1);
	assert_int_equal(store_run(f->store, "UPDATE attempt SET figures = '{\"hologram_w\":3.5}'", ""), 0);
	set_cost(f, attempt, task, 10, 42);
	char *text = task_json(f);
	assert_non_null(strstr(strstr(text, "\"attempts\""), "\"hologram_w\":3.5,\"max_rss_bytes\":42"));
	free(text);
	assert_int_equal(store_commit(f->store, NULL), 0);
}

static int count_task_cb(void *ctx, const struct store_task *row)
{
	int64_t *next = ctx;
	assert_int_equal(row->number, ++*next);
	return 0;
}

/* Each turn asks for the next few: with 10,000 tasks that wait, no more rows are read, and none are sorted. */
static void test_the_next_tasks_are_found_without_reading_all_that_wait(void **state)
{
	struct fixture *f = *state;
	int64_t last = 0;
	assert_int_equal(store_begin(f->store, NULL), 0);
	for (int64_t number = 1; number <= 500; number++)
		add_task(f, number);
	assert_int_equal(store_each_ready(f->store, f->experiment, 1000, 3, count_task_cb, &last), 0);
	assert_int_equal(last, 3);
	int found = 0;
	for (sqlite3_stmt *s = sqlite3_next_stmt(store_db(f->store), NULL); s;
	     s = sqlite3_next_stmt(store_db(f->store), s)) {
		if (!strstr(sqlite3_sql(s), "not_before_ms <="))
			continue;
		found++;
		assert_int_equal(sqlite3_stmt_status(s, SQLITE_STMTSTATUS_SORT, 0), 0);
		assert_in_range(sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 0), 1, 1000);
	}
	assert_int_equal(found, 1);
	assert_int_equal(store_commit(f->store, NULL), 0);
}

/* The sums that the triggers keep, against the rows themselves. */
static void check_tally(struct store *store)
{
	static const char differ[] =
		"SELECT count(*) FROM (SELECT experiment,state,ifnull(energy_source,'') AS source,count(*) AS n,"
		"ifnull(sum(wall_ms),0) AS w,count(wall_ms) AS nw,total(energy_j) AS j,count(energy_j) AS nj FROM task "
		"GROUP BY 1,2,3) r LEFT JOIN tally t USING (experiment,state,source) WHERE n IS NOT tasks OR "
		"w IS NOT t.wall_ms OR nw IS NOT with_wall OR abs(j-t.energy_j)>1e-9 OR nj IS NOT with_energy";
	static const char sums[] = "SELECT (SELECT count(*) FROM task)-(SELECT total(tasks) FROM tally)";
	sqlite3_stmt *q = store_bind(store, differ, "");
	assert_int_equal(store_step(store, q), 1);
	assert_int_equal(sqlite3_column_int(q, 0), 0);
	sqlite3_reset(q);
	q = store_bind(store, sums, "");
	assert_int_equal(store_step(store, q), 1);
	assert_int_equal(sqlite3_column_int(q, 0), 0);
	sqlite3_reset(q);
}

static void test_the_tally_follows_every_change_of_the_tasks(void **state)
{
	struct fixture *f = *state;
	enum store_state before;
	int64_t a, b, attempt;
	assert_int_equal(store_begin(f->store, NULL), 0);
	a = add_task(f, 1);
	b = add_task(f, 2);
	check_tally(f->store);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "local", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	assert_int_equal(store_add_attempt(f->store, a, 1, "t", 0, 1, &attempt), 0);
	assert_int_equal(store_set_task_state(f->store, a, STORE_RUNNING, NULL, NULL, 2, &before), 0);
	struct cost cost = {.source = "NVML"};
	cost_set(&cost, FIGURE_WALL, 500);
	cost_set(&cost, FIGURE_CPU, 400);
	cost_set(&cost, FIGURE_ENERGY, 2.5);
	assert_int_equal(store_set_cost(f->store, attempt, a, &cost), 0);
	check_tally(f->store);
	assert_int_equal(store_set_task_state(f->store, a, STORE_FINISHED, NULL, NULL, 3, &before), 0);
	assert_int_equal(store_set_task_state(f->store, b, STORE_STOPPED, NULL, NULL, 3, &before), 0);
	check_tally(f->store);
	assert_int_equal(store_reset_task(f->store, a, true), 0);
	check_tally(f->store);
	assert_int_equal(store_delete_some(f->store, f->experiment), 1);
	check_tally(f->store);
	assert_int_equal(store_commit(f->store, NULL), 0);
}

static void test_a_database_of_version_1_is_taken_along(void **state)
{
	extern const char *const store_migrations[];
	struct fixture *f = *state;
	int64_t counts[STORE_STATE_COUNT];
	sqlite3 *db;
	store_close(f->store);
	unlink(f->path);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, store_migrations[0], NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db,
			     "INSERT INTO experiment (id,name,created_ms,spec,parameters,varying,objective,strategy,"
			     "seed,planned,backend) VALUES (7,'x',1,'{}','[]','[]','[]','grid',1,2,'local');"
			     "INSERT INTO task (experiment,number,state,parameters,created_ms,wall_ms,energy_j,"
			     "energy_source) VALUES (7,1,3,'{}',1,500,1.5,'NVML'),(7,2,0,'{}',1,NULL,NULL,NULL);"
			     "PRAGMA user_version=1",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	assert_int_equal(store_count_tasks(f->store, 7, counts), 0);
	assert_int_equal(counts[STORE_FINISHED], 1);
	assert_int_equal(counts[STORE_WAITING], 1);
	check_tally(f->store);
}

static void test_a_rollback_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t version = store_version(f->store);
	assert_int_equal(store_begin(f->store, NULL), 0);
	add_task(f, 1);
	store_rollback(f->store);
	assert_int_equal(last_number(f), 0);
	assert_true(store_version(f->store) > version); /* nobody may trust what was rendered in between */
}

static void test_the_version_moves_only_with_a_change(void **state)
{
	struct fixture *f = *state;
	uint64_t version = store_version(f->store);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_true(store_version(f->store) == version);
	assert_int_equal(store_begin(f->store, NULL), 0);
	add_task(f, 1);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_true(store_version(f->store) > version);
}

static int add_value(struct fixture *f, int64_t task, int64_t name, int64_t step, double value, int64_t time_ms)
{
	struct store_point point = {.name = name, .step = step, .value = value, .time_ms = time_ms, .epoch = NAN};
	return store_add_metric(f->store, task, &point);
}

static void test_the_same_metric_row_twice_is_one_row(void **state)
{
	struct fixture *f = *state;
	int64_t task, name, again;
	assert_int_equal(store_begin(f->store, NULL), 0);
	task = add_task(f, 1);
	assert_int_equal(store_metric_name(f->store, f->experiment, "val_loss", &name), 0);
	assert_int_equal(store_metric_name(f->store, f->experiment, "val_loss", &again), 0);
	assert_int_equal(name, again);
	assert_int_equal(add_value(f, task, name, 0, 0.5, 1), 0);
	assert_int_equal(add_value(f, task, name, 0, 0.5, 1), 0);
	assert_int_equal(add_value(f, task, name, 1, 0.25, 2), 0);
	assert_int_equal(add_value(f, task, name, 2, NAN, 3), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	sqlite3_stmt *q = store_bind(f->store, "SELECT count(*) FROM metric WHERE task=?", "i", task);
	assert_int_equal(store_step(f->store, q), 1);
	assert_int_equal(sqlite3_column_int(q, 0), 3);
	sqlite3_reset(q);
	assert_true(objective(f, task, "val_loss", STORE_TAKE_LEAST) == 0.25);
	assert_true(objective(f, task, "val_loss", STORE_TAKE_MOST) == 0.5);
	assert_true(isnan(objective(f, task, "other", STORE_TAKE_LAST)));
}

static void test_a_reset_task_has_no_results_and_a_fresh_next_attempt(void **state)
{
	struct fixture *f = *state;
	struct store_task row = {0};
	int64_t task, name, attempt;
	assert_int_equal(store_begin(f->store, NULL), 0);
	task = add_task(f, 1);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "local", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	assert_int_equal(store_add_attempt(f->store, task, 1, "t", 0, 1, &attempt), 0);
	assert_int_equal(store_metric_name(f->store, f->experiment, "loss", &name), 0);
	assert_int_equal(add_value(f, task, name, 0, 0.5, 1), 0);
	struct store_task progress = {.id = task, .best = 0.5, .best_step = 0, .last = 0.5, .step = 0};
	assert_int_equal(store_set_progress(f->store, &progress), 0);
	/* Fresh or not, what was measured stays until the new attempt has started. */
	assert_int_equal(store_start_attempt(f->store, attempt, task, "host", NULL, NULL, 1), 0);
	for (int fresh = 0; fresh < 2; fresh++) {
		assert_int_equal(store_reset_task(f->store, task, fresh), 0);
		assert_int_equal(store_read_task(f->store, f->experiment, 1, keep_task_cb, &row), 0);
		assert_int_equal(row.fresh, fresh);
		assert_true(row.best == 0.5);
		assert_int_equal(row.step, 0);
		assert_int_equal(row.attempt, 1); /* numbers go on */
		assert_true(objective(f, task, "loss", STORE_TAKE_LAST) == 0.5);
	}
	assert_int_equal(store_commit(f->store, NULL), 0);
}

static void test_removing_an_experiment_takes_everything_along(void **state)
{
	static const char *const tables[] = {"SELECT count(*) FROM task",   "SELECT count(*) FROM attempt",
					     "SELECT count(*) FROM metric", "SELECT count(*) FROM history",
					     "SELECT count(*) FROM batch",  "SELECT count(*) FROM metric_name"};
	struct fixture *f = *state;
	int64_t attempt, name;
	assert_int_equal(store_begin(f->store, NULL), 0);
	int64_t task = add_task(f, 1);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "local", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	assert_int_equal(store_add_attempt(f->store, task, 1, "t", 0, 1, &attempt), 0);
	assert_int_equal(store_metric_name(f->store, f->experiment, "loss", &name), 0);
	assert_int_equal(add_value(f, task, name, 0, 0.5, 1), 0);
	int more;
	while ((more = store_delete_some(f->store, f->experiment)) > 0)
		;
	assert_int_equal(more, 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		sqlite3_stmt *q = store_bind(f->store, tables[i], "");
		assert_int_equal(store_step(f->store, q), 1);
		assert_int_equal(sqlite3_column_int(q, 0), 0);
		sqlite3_reset(q);
	}
}

static int64_t count_of(struct fixture *f, const char *sql)
{
	sqlite3_stmt *q = store_bind(f->store, sql, "");
	assert_int_equal(store_step(f->store, q), 1);
	int64_t count = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return count;
}

/* A task may have millions of values: deleting them at once would hold the loop for seconds. */
static void test_removed_task_leaves_at_once_and_its_metrics_go_in_parts(void **state)
{
	struct fixture *f = *state;
	int64_t name;
	assert_int_equal(store_begin(f->store, NULL), 0);
	struct store_task row = {.experiment = f->experiment, .number = 1, .id = add_task(f, 1)};
	int64_t stays = add_task(f, 2);
	assert_int_equal(store_metric_name(f->store, f->experiment, "loss", &name), 0);
	for (int64_t step = 0; step < 2500; step++)
		assert_int_equal(add_value(f, row.id, name, step, 0.5, 1), 0);
	assert_int_equal(add_value(f, stays, name, 0, 0.5, 1), 0);
	assert_int_equal(store_remove_task(f->store, &row), 0);
	int64_t counts[STORE_STATE_COUNT];
	assert_int_equal(store_count_tasks(f->store, f->experiment, counts), 0);
	assert_int_equal(counts[STORE_WAITING], 1);
	assert_int_equal(store_read_task(f->store, f->experiment, 1, store_keep_task, &row), -ENOENT);
	assert_int_equal(count_of(f, "SELECT count(*) FROM metric"), 2501);
	int more;
	for (int64_t left = 2501; (more = store_delete_some(f->store, STORE_REMOVED)) > 0;) {
		int64_t now = count_of(f, "SELECT count(*) FROM metric");
		assert_true(left - now <= 1000);
		left = now;
	}
	assert_int_equal(more, 0);
	assert_int_equal(count_of(f, "SELECT count(*) FROM metric"), 1);
	assert_int_equal(count_of(f, "SELECT count(*) FROM task"), 1);
	assert_int_equal(count_of(f, "SELECT count(*) FROM experiment WHERE id = 0"), 1);
	check_tally(f->store);
	assert_int_equal(store_commit(f->store, NULL), 0);
}

static void test_ids_of_removed_tasks_and_attempts_are_not_given_again(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_add_batch(f->store, "t", f->experiment, "slurm", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	struct store_task row = {.experiment = f->experiment, .number = 1, .id = add_task(f, 1)};
	int64_t attempt = add_attempt(f, row.id, 1);
	assert_int_equal(store_remove_task(f->store, &row), 0);
	int64_t next = add_task(f, 2), next_attempt = add_attempt(f, next, 2);
	assert_true(next > row.id);
	assert_true(next_attempt > attempt);
	int more;
	while ((more = store_delete_some(f->store, f->experiment)) > 0)
		;
	assert_int_equal(more, 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	store_close(f->store);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_add_experiment(f->store, &plain, &f->experiment), 0);
	assert_int_equal(store_add_batch(f->store, "u", f->experiment, "slurm", STORE_BATCH_SUBMITTING, 0, NULL, 1), 0);
	int64_t last = add_task(f, 1), last_attempt;
	assert_int_equal(store_add_attempt(f->store, last, 1, "u", 0, 1, &last_attempt), 0);
	assert_true(last > next);
	assert_true(last_attempt > next_attempt);
	assert_int_equal(store_commit(f->store, NULL), 0);
}

static void test_an_idempotency_key_finds_its_first_answer(void **state)
{
	struct fixture *f = *state;
	int64_t found = 0;
	assert_int_equal(store_find_key(f->store, "k", "h", &found), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_add_key(f->store, "k", "h", 42, 1000), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_int_equal(store_find_key(f->store, "k", "h", &found), 1);
	assert_int_equal(found, 42);
	assert_int_equal(store_find_key(f->store, "k", "other", &found), -EEXIST);
}

static void test_a_second_process_is_refused(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();
	if (pid == 0) {
		struct store *second = NULL;
		int rc = store_open(f->path, &second, NULL);
		_exit(rc == -EBUSY ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_a_newer_database_is_refused_and_left_alone(void **state)
{
	struct fixture *f = *state;
	struct store *again = NULL;
	struct error err;
	char today[40];
	sqlite3_stmt *q = store_bind(f->store, "PRAGMA user_version", "");
	assert_int_equal(store_step(f->store, q), 1);
	snprintf(today, sizeof(today), "PRAGMA user_version=%d", sqlite3_column_int(q, 0));
	sqlite3_reset(q);
	assert_int_equal(sqlite3_exec(store_db(f->store), "PRAGMA user_version=99", NULL, NULL, NULL), 0);
	store_close(f->store);
	assert_int_equal(store_open(f->path, &again, &err), -EINVAL);
	assert_non_null(strstr(err.text, "newer sluice"));
	sqlite3 *db;
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, today, NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_int_equal(store_open(f->path, &f->store, &err), 0);
}

/* A daemon that was killed may have sent the message: with the token that the receiver knows, the second would be
 * dropped there. */
static void test_a_message_that_counts_one_more_has_a_new_token(void **state)
{
	struct fixture *f = *state;
	struct store_message message = {.token = (char *)"first",
					.kind = (char *)"stall",
					.experiment = f->experiment,
					.task = 1,
					.summary = (char *)"{}",
					.text = (char *)"a",
					.created_ms = 1};
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_add_message(f->store, "webhook", &message, 1), 0);
	message.token = (char *)"second";
	message.text = (char *)"b";
	assert_int_equal(store_add_to_message(f->store, "webhook", &message, 0), 1);
	assert_int_equal(store_add_to_message(f->store, "mail", &message, 0), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_int_equal(store_next_message(f->store, "webhook", 2, &message), 0);
	assert_string_equal(message.token, "second");
	assert_string_equal(message.text, "b");
	assert_int_equal(message.many, 2);
	store_message_free(&message);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_change_of_state_says_what_was_before_and_is_counted),
		T(test_an_end_that_was_read_is_there_after_a_restart),
		T(test_a_task_has_the_figures_of_all_its_attempts),
		T(test_a_figure_that_is_not_in_the_table_is_kept),
		T(test_the_next_tasks_are_found_without_reading_all_that_wait),
		T(test_the_tally_follows_every_change_of_the_tasks),
		T(test_a_database_of_version_1_is_taken_along),
		T(test_a_rollback_leaves_nothing),
		T(test_the_version_moves_only_with_a_change),
		T(test_the_same_metric_row_twice_is_one_row),
		T(test_a_reset_task_has_no_results_and_a_fresh_next_attempt),
		T(test_removing_an_experiment_takes_everything_along),
		T(test_removed_task_leaves_at_once_and_its_metrics_go_in_parts),
		T(test_ids_of_removed_tasks_and_attempts_are_not_given_again),
		T(test_an_idempotency_key_finds_its_first_answer),
		T(test_a_message_that_counts_one_more_has_a_new_token),
		T(test_a_second_process_is_refused),
		T(test_a_newer_database_is_refused_and_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
