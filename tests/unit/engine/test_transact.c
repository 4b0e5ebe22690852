/* Transactions have one owner: what backends say waits in the inbox for the next turn, and after a failed write memory
 * is what the store says. */
#include "fixture.h"

#include "engine/internal.h"

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

/* UV_RUN_NOWAIT runs due timers once. UV_RUN_ONCE may run them twice, and the second turn empties the inbox. */
static void run_until_handed_over(struct fixture *f)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (!f->engine->live.len && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(f->engine->live.len, 1);
}

static int keep_batch_cb(void *ctx, const struct store_attempt *row)
{
	*(enum store_batch_state *)ctx = row->batch_state;
	return 0;
}

static enum store_batch_state stored_batch(struct fixture *f)
{
	enum store_batch_state found = 0;
	assert_int_equal(store_each_live(engine_store(f->engine), keep_batch_cb, &found), 0);
	return found;
}

static void test_the_next_turn_applies_what_a_backend_said(void **state)
{
	struct fixture *f = *state;
	create(f, one_task, sleeper);
	run_until_handed_over(f);
	assert_true(f->engine->inbox.news.len > 0); /* the local backend answered at once */
	assert_int_equal(f->engine->inbox.news.at[0].kind, ENGINE_NEWS_ANSWER);
	assert_int_equal(stored_batch(f), STORE_BATCH_SUBMITTING);
	assert_nothing_is_open(f);
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (f->engine->inbox.news.len && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(f->engine->inbox.news.len, 0);
	assert_int_equal(stored_batch(f), STORE_BATCH_SUBMITTED);
	assert_nothing_is_open(f);
}

static void test_an_engine_that_closes_writes_what_a_backend_said_last(void **state)
{
	struct fixture *f = *state;
	create(f, one_task, sleeper);
	run_until_handed_over(f);
	assert_true(f->engine->inbox.news.len > 0);
	close_engine(f);
	open_engine(f);
	assert_int_equal(stored_batch(f), STORE_BATCH_SUBMITTED);
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
