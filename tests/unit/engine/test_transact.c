/* Transactions have one owner: what backends say waits in the inbox for the next turn, and after a failed write memory
 * is what the store says. */
#include "fixture.h"

#include "engine/state.h"

static const char sleeper[] = "#!/bin/bash\nsleep 2\n";
static const char one_task[] = "script: run.sh\nparameters: {x: 1}\n";

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

/* An attempt that runs, with nothing in the inbox. The answer that the test then puts there is the only one. */
static void run_one(struct fixture *f)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	create(f, one_task, sleeper);
	while (clock_mono_ms() < end &&
	       (!f->engine->live.len || f->engine->live.at[0]->facts.phase < ATTEMPT_RUNNING ||
		f->engine->inbox.news.len))
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(f->engine->live.len, 1);
	assert_int_equal(f->engine->inbox.news.len, 0);
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
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (f->engine->inbox.news.len && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_ONCE);
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

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_next_turn_applies_what_a_backend_said),
		T(test_an_engine_that_closes_writes_what_a_backend_said_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
