/* Transactions have one owner: what backends say waits in the inbox for the next turn, and after a failed write memory
 * is what the store says, which is what it was before. */
#include "stepped.h"

#include "engine/action.h"
#include "engine/settle.h"
#include "engine/transact.h"
#include "store/sql.h"

#include <dirent.h>

/* A transaction that was left open would make this fail. */
static void assert_nothing_is_open(struct fixture *f)
{
	struct error err = {0};
	struct store *store = engine_store(f->engine);
	if (store_begin(store, &err) < 0)
		fail_msg("%s", err.text);
	store_rollback(store);
}

static int keep_job_cb(void *ctx, const struct store_attempt *row)
{
	char *job = ctx;
	snprintf(job, 64, "%s", row->job ? row->job : "");
	return 0;
}

static void assert_stored_job(struct fixture *f, bool same, const char *job)
{
	char found[64] = "";
	assert_int_equal(store_each_live(engine_store(f->engine), keep_job_cb, found), 0);
	assert_int_equal(strcmp(found, job) == 0, same);
}

/* An attempt that runs, with nothing in the inbox. */
static int64_t run_one(struct fixture *f)
{
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_row(f, 0, 0.5);
	settle(f);
	assert_int_equal(only_live(f)->facts.phase, ATTEMPT_RUNNING);
	assert_int_equal(f->engine->inbox.news.len, 0);
	return id;
}

static void answer(struct fixture *f, const char *job)
{
	struct backend_submit_result result = {.outcome = BACKEND_SUBMITTED, .job = job};
	engine_inbox_add_answer(&f->engine->inbox, f->engine->live.at[0]->token, &result);
	engine_soon(f->engine);
}

static void test_the_next_turn_applies_what_a_backend_said(void **state)
{
	struct fixture *f = *state;
	run_one(f);
	answer(f, "job-77");
	assert_stored_job(f, false, "job-77");
	assert_nothing_is_open(f);
	settle(f);
	assert_stored_job(f, true, "job-77");
	assert_nothing_is_open(f);
}

static void test_an_engine_that_closes_writes_what_a_backend_said_last(void **state)
{
	struct fixture *f = *state;
	run_one(f);
	answer(f, "job-78");
	close_engine(f);
	open_engine(f);
	assert_stored_job(f, true, "job-78");
}

/* Everything that a user can see of the experiment. */
static char *export(struct fixture *f, int64_t id)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct pieces pieces = {0};
	assert_int_equal(store_export(engine_store(f->engine), id, NULL, false, &pieces), 0);
	assert_int_equal(pieces_finish(&pieces, &text), 0);
	return buf_take(&text);
}

/* Changes of memory and store that then fail. */

static int change_parallel(struct engine *engine, void *ctx, struct error *err)
{
	struct engine_experiment *e = engine->experiments.at[0];
	(void)ctx;
	e->parallel = 7;
	e->changed = true;
	if (store_set_parallel(engine->store, e->id, 7) < 0)
		return errorf(err, -EIO, "not even this");
	return errorf(err, -EIO, "it is meant to fail");
}

static int change_nothing(struct engine *engine, void *ctx, struct error *err)
{
	(void)engine;
	(void)ctx;
	(void)err;
	return -ENOSPC; /* without words */
}

static int change_end(struct engine *engine, void *ctx, struct error *err)
{
	(void)ctx;
	(void)err;
	return engine_end(engine, engine->live.at[0], STORE_FINISHED, CAUSE_OK, NULL, NULL) < 0 ? -EBADF : -EIO;
}

static int change_stop(struct engine *engine, void *ctx, struct error *err)
{
	(void)ctx;
	(void)err;
	return engine_stop_within(engine, engine->experiments.at[0], STORE_STOP_USER) < 0 ? -EBADF : -EIO;
}

static int change_job(struct engine *engine, void *ctx, struct error *err)
{
	struct engine_live *live = engine->live.at[0];
	(void)ctx;
	(void)err;
	free(live->job);
	live->job = mem_strdup("another");
	live->offset += 100;
	engine_note(live, ATTEMPT_EVENT_SETTLED);
	return store_set_job(engine->store, live->id, live->task.id, "another") < 0 ? -EBADF : -EIO;
}

static void test_a_failed_change_leaves_memory_and_store_as_they_were(void **state)
{
	static const struct {
		engine_transact_f change;
		int rc;
		const char *words;
	} rows[] = {
		{change_parallel, -EIO, "it is meant to fail"}, {change_nothing, -ENOSPC, "No space left on device"},
		{change_end, -EIO, "Input/output error"},       {change_stop, -EIO, "Input/output error"},
		{change_job, -EIO, "Input/output error"},
	};
	struct fixture *f = *state;
	int64_t id = run_one(f);
	char *before = export(f, id);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct error err = {0};
		assert_int_equal(engine_transact(f->engine, rows[i].change, NULL, &err), rows[i].rc);
		assert_non_null(strstr(err.text, "the change could not be written: "));
		assert_non_null(strstr(err.text, rows[i].words));
		assert_memory_is_store(f);
		assert_nothing_is_open(f);
		char *after = export(f, id);
		assert_string_equal(after, before);
		free(after);
		assert_int_equal(only_live(f)->facts.phase, ATTEMPT_RUNNING);
		assert_string_equal(only_live(f)->job, "job-1");
	}
	free(before);
	/* And it goes on: what the runner wrote is read after the pause, once. */
	runner_row(f, 1, 0.25);
	runner_end(f, CAUSE_OK, 0, 0);
	pass(f, 4 * SECOND);
	assert_task(f, id, "finished", 1, NULL);
	assert_rows(f, id, 2);
	assert_int_equal(cancels(), 0);
}

static int begin_twice(struct engine *engine, void *ctx, struct error *err)
{
	struct error why = {0};
	(void)ctx;
	(void)err;
	assert_int_equal(store_begin(engine->store, &why), -EALREADY);
	assert_non_null(strstr(why.text, "a transaction is already open"));
	assert_int_equal(engine_transact(engine, change_nothing, NULL, &why), -EALREADY);
	return store_set_parallel(engine->store, engine->experiments.at[0]->id,
				  engine->experiments.at[0]->parallel = 3);
}

static void test_a_transaction_within_a_transaction_is_refused_and_harms_nothing(void **state)
{
	struct fixture *f = *state;
	run_one(f);
	assert_int_equal(engine_transact(f->engine, begin_twice, NULL, NULL), 0);
	assert_int_equal(f->engine->experiments.at[0]->parallel, 3);
	assert_int_equal(f->engine->pause_ms, 0);
	assert_memory_is_store(f);
	assert_nothing_is_open(f);
}

/* The database may not grow by a page, as on a full disk. 0: it may again. */
static void limit_pages(struct fixture *f, bool full)
{
	sqlite3 *db = store_db(engine_store(f->engine));
	sqlite3_stmt *stmt = NULL;
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA page_count", -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int pages = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	char sql[64];
	snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %d", full ? pages : 1000000);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int try_to_create(struct fixture *f, struct error *err)
{
	struct problems problems = {0};
	struct node *request = node_new(NODE_MAP), *experiment = node_new(NODE_MAP), *command = node_new(NODE_LIST);
	int64_t id = 0;
	char *long_text = mem_alloc(60001);
	memset(long_text, 'x', 60000);
	node_add(command, NULL, node_new_string("true"));
	node_add(experiment, "command", command);
	node_add(experiment, "description", node_new_string(long_text));
	node_add(request, "experiment", experiment);
	int rc = engine_create(f->engine, request, "key", "hash", &id, &problems, err);
	assert_int_equal(problems.list.len, 0);
	problems_free(&problems);
	node_free(request);
	free(long_text);
	return rc;
}

static int count_folders(struct fixture *f)
{
	char *path = spool_experiments_dir(f->dir);
	struct dirent **names = NULL;
	int count = scandir(path, &names, NULL, NULL);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	free(path);
	return count;
}

static void test_a_full_disk_refuses_a_request_and_leaves_nothing_of_it(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	int64_t id = run_one(f);
	char *before = export(f, id);
	int folders = count_folders(f);
	limit_pages(f, true);
	assert_int_equal(try_to_create(f, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "the change could not be written"));
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_memory_is_store(f);
	assert_nothing_is_open(f);
	assert_int_equal(count_folders(f), folders);
	assert_int_equal(f->engine->experiments.len, 1);
	char *after = export(f, id);
	assert_string_equal(after, before);
	free(before);
	free(after);
	limit_pages(f, false);
	assert_int_equal(try_to_create(f, &err), 0); /* the key was not used up */
	assert_int_equal(f->engine->experiments.len, 2);
	pass(f, 4 * SECOND);
}

static void test_rows_that_come_while_the_disk_is_full_are_read_once_later(void **state)
{
	struct fixture *f = *state;
	int64_t id = run_one(f);
	int64_t offset = only_live(f)->offset;
	limit_pages(f, true);
	for (int64_t step = 1; step <= 1000; step++)
		runner_row(f, step, 0.5);
	runner_end(f, CAUSE_OK, 0, 0);
	for (int i = 0; i < 5; i++) {
		pass(f, 4 * SECOND);
		assert_int_equal(only_live(f)->offset, offset);
		assert_task(f, id, "running", 1, NULL);
		assert_rows(f, id, 1);
	}
	limit_pages(f, false);
	pass(f, 4 * SECOND);
	assert_task(f, id, "finished", 1, NULL);
	assert_rows(f, id, 1001);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_the_next_turn_applies_what_a_backend_said),
		T(test_an_engine_that_closes_writes_what_a_backend_said_last),
		T(test_a_failed_change_leaves_memory_and_store_as_they_were),
		T(test_a_transaction_within_a_transaction_is_refused_and_harms_nothing),
		T(test_a_full_disk_refuses_a_request_and_leaves_nothing_of_it),
		T(test_rows_that_come_while_the_disk_is_full_are_read_once_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
