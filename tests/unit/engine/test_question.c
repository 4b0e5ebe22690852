/* A search that thinks on libuv's pool: the loop goes on meanwhile, what comes meanwhile is neither lost nor heard too
 * soon, and whoever takes the search away in the middle of it harms nobody. */
#include "fixture.h"

#include "base/pace.h"
#include "base/rng.h"
#include "engine/experiment.h"
#include "engine/turn.h"
#include "store/rows.h"
#include "store/sql.h"

#include <math.h>

#define DIMS 20
#define RESULTS 220 /* a fraction of a second to think about */

static int64_t create_wide(struct fixture *f, int parallel, const char *more, const char *script)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	buf_addf(&text, "objective: loss\nsearch: {strategy: gp, tasks: 300, parallel: %d, seed: 3}\nparameters:\n",
		 parallel);
	for (int i = 0; i < DIMS; i++)
		buf_addf(&text, "  x%d: {min: 0.0, max: 1.0}\n", i);
	buf_add_text(&text, more);
	int64_t id = create(f, buf_text(&text), script);
	buf_free(&text);
	return id;
}

/* Results of others: the model has something to think about from the first ask on. */
static void import_results(struct fixture *f, int64_t id)
{
	struct problems problems = {0};
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct rng rng;
	int64_t count = 0;
	rng_seed(&rng, 7);
	json_map(&w);
	json_key(&w, "rows");
	json_list(&w);
	for (int i = 0; i < RESULTS; i++) {
		double sum = 0;
		json_map(&w);
		json_key(&w, "parameters");
		json_map(&w);
		for (int d = 0; d < DIMS; d++) {
			char name[8];
			double x = rng_unit(&rng);
			snprintf(name, sizeof(name), "x%d", d);
			json_key_real(&w, name, x);
			sum += (x - 0.3) * (x - 0.3);
		}
		json_end(&w);
		json_key(&w, "values");
		json_map(&w);
		json_key_real(&w, "loss", sum);
		json_end(&w);
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	struct node *rows = json(buf_text(&text));
	assert_int_equal(engine_import(f->engine, id, rows, &count, NULL, &problems, NULL), 0);
	assert_int_equal(count, RESULTS);
	node_free(rows);
	buf_free(&text);
}

static int64_t create_thinker(struct fixture *f)
{
	int64_t id = create_wide(f, 1, "resources: {backend: external}\n", "");
	import_results(f, id);
	return id;
}

static int64_t last_number(struct fixture *f, int64_t id)
{
	int64_t number = -1;
	assert_int_equal(store_last_number(engine_store(f->engine), id, &number), 0);
	return number;
}

static void run_until_proposed(struct fixture *f, int64_t id, int64_t count)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (last_number(f, id) < count && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(last_number(f, id), count);
}

static void pulse_cb(uv_timer_t *timer)
{
	++*(int *)timer->data;
}

static void test_the_loop_goes_on_while_a_search_thinks(void **state)
{
	struct fixture *f = *state;
	int64_t id = create_wide(f, 1, "script: run.sh\n", "#!/bin/bash\nsleep 1\n");
	import_results(f, id);
	int pulses = 0;
	uv_timer_t timer;
	uv_timer_init(&f->loop, &timer);
	timer.data = &pulses;
	uv_timer_start(&timer, pulse_cb, 2, 2);
	run_until_proposed(f, id, RESULTS + 1);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&f->loop, UV_RUN_NOWAIT);
	if (pulses < 10) /* of about a hundred; one or two where the loop thinks itself */
		fail_msg("the loop came to its timer %d times", pulses);
}

/* A small one that is past its startup. */
static const char small[] = "parameters: {x: {min: 0.0, max: 1.0}, y: {min: 0.0, max: 1.0}}\nobjective: loss\n"
			    "resources: {backend: external}\nsearch: {strategy: gp, tasks: 40, seed: 11, startup: 3}\n";

static void tell(struct fixture *f, int64_t id, int64_t number)
{
	char text[64];
	snprintf(text, sizeof(text), "{\"values\":{\"loss\":0.%02d}}", (int)(number * 37 % 100));
	struct node *body = json(text);
	struct error err = {0};
	if (engine_tell_task(f->engine, id, number, body, &err) < 0)
		fail_msg("%s", err.text);
	node_free(body);
}

static void test_who_asked_first_is_answered_first(void **state)
{
	struct fixture *f = *state;
	static struct waiting waiting[4];
	int64_t id = create(f, small, ""), number;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(begin_ask(f, id, &waiting[i]), -EINPROGRESS);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(end_ask(f, &waiting[i], &number), 0);
		assert_int_equal(number, i + 1);
		for (size_t k = i + 1; k < 4; k++)
			assert_true(waiting[k].rc == -EINPROGRESS || waiting[k].number > number);
	}
}

/* Another budget alone: all of the sequence is replayed, and what was asked last must come out as it was. */
static void assert_replays_exactly(struct fixture *f, int64_t id)
{
	struct problems problems = {0};
	struct node *budget = json("{\"search\":{\"tasks\":299}}");
	assert_int_equal(engine_change(f->engine, id, budget, &problems, NULL), 0);
	int64_t change = -1;
	assert_int_equal(store_last_change(engine_store(f->engine), id, &change), 0);
	assert_int_equal(change, 0);
	node_free(budget);
}

/* Tells, a suggestion and an import while it thinks, with and without restarts in between. */
static void live_through(struct fixture *f, int64_t id, bool restarts)
{
	struct problems problems = {0};
	static struct waiting waiting;
	struct node *mine = json("{\"parameters\":{\"x\":0.125,\"y\":0.5}}");
	struct node *rows = json("{\"rows\":[{\"parameters\":{\"x\":0.25,\"y\":0.75},\"values\":{\"loss\":0.2}}]}");
	int64_t taken[16], count = 0, told = 0, number;
	while (count < 3)
		assert_int_equal(ask(f, id, &taken[count++]), 0);
	for (int round = 0; round < 6; round++) {
		int64_t asked = asked_by_search(f, id);
		assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
		tell(f, id, taken[told++]);
		if (round == 2)
			assert_int_equal(engine_suggest(f->engine, id, mine, &number, &problems, NULL), 0);
		if (round == 4)
			assert_int_equal(engine_import(f->engine, id, rows, &number, NULL, &problems, NULL), 0);
		assert_int_equal(asked_by_search(f, id), asked); /* as it was when it began to think */
		assert_int_equal(end_ask(f, &waiting, &taken[count++]), 0);
		if (round == 2) /* the suggestion was given first */
			assert_int_equal(ask(f, id, &taken[count++]), 0);
		if (restarts) {
			close_engine(f);
			open_engine(f);
		}
	}
	node_free(mine);
	node_free(rows);
}

static void test_what_is_told_to_a_thinking_search_is_replayed_in_the_same_order(void **state)
{
	struct fixture *f = *state;
	int64_t steady = create(f, small, ""), restarted = create(f, small, "");
	live_through(f, steady, false);
	assert_replays_exactly(f, steady);
	live_through(f, restarted, true);
	struct node *a = read_experiment(f, steady), *b = read_experiment(f, restarted);
	size_t count = node_get(a, "tasks")->count;
	assert_int_equal(count, 11);
	assert_int_equal(node_get(b, "tasks")->count, count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < 2; k++) {
			const char *name = k ? "y" : "x";
			double first = node_get_real(node_get(task_at(a, i), "parameters"), name, NAN);
			assert_true(first == node_get_real(node_get(task_at(b, i), "parameters"), name, NAN));
		}
	node_free(a);
	node_free(b);
}

/* Its place in the sequence stays empty. */
static void test_a_question_without_an_answer_leaves_no_trace(void **state)
{
	struct fixture *f = *state;
	static struct waiting waiting;
	int64_t id = create(f, small, ""), number, last;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(ask(f, id, &last), 0);
		if (i < 4)
			tell(f, id, last);
	}
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	tell(f, id, last);
	close_engine(f);
	open_engine(f);
	assert_int_equal(last_number(f, id), last);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(number, last + 2);
	assert_replays_exactly(f, id);
}

static void test_who_goes_while_it_thinks_leaves_a_task_for_the_next(void **state)
{
	struct fixture *f = *state;
	static struct waiting gone, waiting;
	int64_t id = create(f, small, ""), number;
	assert_int_equal(begin_ask(f, id, &gone), -EINPROGRESS);
	engine_unask(f->engine, &gone.asker);
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	assert_int_equal(begin_ask(f, id, &gone), -EINPROGRESS);
	engine_unask(f->engine, &gone.asker);
	assert_int_equal(end_ask(f, &waiting, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(last_number(f, id), 1);
	assert_int_equal(gone.rc, -EINPROGRESS); /* nobody told it anything */
}

static void test_a_change_of_settings_while_it_thinks_counts(void **state)
{
	struct fixture *f = *state;
	struct problems problems = {0};
	static struct waiting waiting;
	int64_t id = create_thinker(f), number;
	struct node *narrow = json("{\"parameters\":{\"x0\":{\"min\":5.0,\"max\":6.0}}}");
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	assert_int_equal(engine_change(f->engine, id, narrow, &problems, NULL), 0);
	assert_int_equal(end_ask(f, &waiting, &number), 0);
	struct node *e = read_experiment(f, id);
	assert_int_equal(node_get(e, "tasks")->count, RESULTS + 1);
	assert_true(node_get_real(node_get(task_at(e, (size_t)number - 1), "parameters"), "x0", 0) >= 5);
	node_free(e);
	node_free(narrow);
}

static void test_stop_and_removal_while_it_thinks(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	static struct waiting waiting;
	int64_t id = create_thinker(f), number, count;
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, &err), 0);
	assert_int_equal(end_ask(f, &waiting, &number), -ENOENT);
	int64_t other = create_thinker(f);
	assert_int_equal(begin_ask(f, other, &waiting), -EINPROGRESS);
	assert_int_equal(engine_remove(f->engine, other, true, &err), 0);
	assert_int_equal(end_ask(f, &waiting, &number), -ENOENT);
	struct node *e = read_experiment(f, id);
	assert_int_equal(node_get(e, "tasks")->count, RESULTS);
	node_free(e);
}

/* What was stopped while it was thinking and still has something alive keeps its search. */
static void test_a_stopped_search_that_was_thinking_goes_on_after_a_restart(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	static struct waiting waiting;
	int64_t id = create(f, small, ""), number, count;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(ask(f, id, &number), 0);
		if (i < 4)
			tell(f, id, number);
	}
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, &err), 0);
	assert_int_equal(engine_restart(f->engine, id, NULL, 0, false, ENGINE_MODE_DEFAULT, &count, &err), 0);
	assert_int_equal(end_ask(f, &waiting, &number), 0);
	assert_int_equal(ask(f, id, &number), 0);
	assert_replays_exactly(f, id);
}

static int keep_state_cb(void *ctx, const struct store_task *row)
{
	*(enum store_state *)ctx = row->state;
	return 0;
}

static bool is_running(struct fixture *f, int64_t id, int64_t number)
{
	enum store_state found = STORE_WAITING;
	assert_int_equal(store_read_task(engine_store(f->engine), id, number, keep_state_cb, &found), 0);
	return found == STORE_RUNNING;
}

/* Tasks that are not impressed by a stop and go on until they are let go. */
static const char stubborn[] = "#!/bin/bash\ntrap '' TERM\ntouch \"$SLUICE_TASK_DIR/ready\"\n"
			       "until [ -e \"$SLUICE_TASK_DIR/../../go\" ]; do sleep 0.1; done\n";

static char *task_file(struct fixture *f, int64_t id, int64_t number, const char *name)
{
	char *folder = engine_folder(f->engine, id, number, 0), *path = mem_printf("%s/%s", folder, name);
	free(folder);
	return path;
}

/* The first task takes its time to end; meanwhile the next proposal is there, and nobody wants it. */
static void test_an_answer_for_a_stopped_experiment_waits_until_it_goes_on(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	int64_t count, id = create_wide(f, 16, "script: run.sh\n", stubborn);
	import_results(f, id);
	run_until_proposed(f, id, RESULTS + 1);
	char *ready = task_file(f, id, RESULTS + 1, "ready"), *go = task_file(f, id, RESULTS + 1, "../../go");
	while (!is_running(f, id, RESULTS + 1) || access(ready, F_OK) < 0)
		uv_run(&f->loop, UV_RUN_ONCE);
	int64_t proposed = last_number(f, id);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, &err), 0);
	for (int64_t end = clock_mono_ms() + 1000; clock_mono_ms() < end;)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_true(is_running(f, id, RESULTS + 1));
	assert_int_equal(last_number(f, id), proposed);
	assert_int_equal(engine_restart(f->engine, id, NULL, 0, false, ENGINE_MODE_DEFAULT, &count, &err), 0);
	run_until_proposed(f, id,
			   proposed + 1); /* what waits now is more than is wanted: no other would be asked for */
	assert_replays_exactly(f, id);
	assert_int_equal(fs_write(go, "", 0, 0600, false, NULL), 0);
	free(ready);
	free(go);
}

static void test_an_engine_that_is_closed_while_it_thinks_asks_again(void **state)
{
	struct fixture *f = *state;
	static struct waiting waiting;
	int64_t id = create_thinker(f), number;
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	close_engine(f);
	assert_int_equal(waiting.rc, -ECANCELED);
	open_engine(f);
	assert_int_equal(last_number(f, id), RESULTS);
	assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(number, RESULTS + 1);
}

static void forbid_writing(struct fixture *f, bool forbid)
{
	const char *sql = forbid ? "PRAGMA query_only=1" : "PRAGMA query_only=0";
	assert_int_equal(sqlite3_exec(store_db(engine_store(f->engine)), sql, NULL, NULL, NULL), SQLITE_OK);
}

static void test_a_failed_write_while_it_thinks_is_said_and_the_answer_is_not_lost(void **state)
{
	struct fixture *f = *state;
	static struct waiting waiting;
	int64_t id = create(f, small, ""), number;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ask(f, id, &number), 0);
		tell(f, id, number);
	}
	assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
	forbid_writing(f, true);
	assert_int_equal(end_ask(f, &waiting, &number), -EIO);
	forbid_writing(f, false);
	while (f->resets == 0) /* everything was read again */
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(number, 5);
	assert_int_equal(last_number(f, id), 5);
}

static int64_t count_of(struct fixture *f, int64_t id, enum store_state state)
{
	int64_t counts[STORE_STATE_COUNT];
	assert_int_equal(store_count_tasks(engine_store(f->engine), id, counts), 0);
	return counts[state];
}

/* An open search of workers that has a model. */
static int64_t create_open(struct fixture *f, int64_t tasks)
{
	int64_t id = create(f,
			    "parameters: {x: {min: 0.0, max: 1.0}, y: {min: 0.0, max: 1.0}}\nobjective: loss\n"
			    "resources: {backend: external}\n"
			    "search: {strategy: gp, tasks: 40, seed: 11, startup: 3, open: true}\n",
			    ""),
		number;
	struct error err = {0};
	assert_int_equal(engine_claim(f->engine, id, tasks, false, NULL, &err), 0);
	for (int64_t i = 0; i < tasks; i++) {
		assert_int_equal(ask(f, id, &number), 0);
		tell(f, id, number);
	}
	return id;
}

static void test_a_suggestion_while_it_thinks_takes_the_claim_of_what_is_thought_of(void **state)
{
	struct fixture *f = *state;
	struct problems problems = {0};
	struct error err = {0};
	static struct waiting waiting;
	struct node *mine = json("{\"parameters\":{\"x\":0.125,\"y\":0.5}}");
	int64_t id = create_open(f, 5), number, suggested;
	for (int round = 0; round < 2; round++) {
		assert_int_equal(engine_claim(f->engine, id, 1, false, NULL, &err), 0);
		assert_int_equal(begin_ask(f, id, &waiting), -EINPROGRESS);
		assert_int_equal(engine_suggest(f->engine, id, mine, &suggested, &problems, NULL), 0);
		assert_int_equal(end_ask(f, &waiting, &number), 0);
		assert_int_equal(number, suggested);
		tell(f, id, number);
		for (int64_t end = clock_mono_ms() + 300; clock_mono_ms() < end;)
			uv_run(&f->loop, UV_RUN_NOWAIT);
		assert_int_equal(count_of(f, id, STORE_WAITING), 0);
		struct node *e = wait_for(f, id, "finished");
		node_free(e);
		/* Who claims more gets what was thought of. */
		assert_int_equal(engine_claim(f->engine, id, 1, false, NULL, &err), 0);
		assert_int_equal(ask(f, id, &number), 0);
		assert_int_equal(number, suggested + 1);
		tell(f, id, number);
		if (round == 0) {
			close_engine(f);
			open_engine(f);
		}
	}
	assert_replays_exactly(f, id);
	node_free(mine);
}

/* The worker of that asker was killed. No other worker has claimed a task, so that none may wait for one. */
static void test_an_answer_for_a_worker_that_has_gone_is_not_a_task_until_one_claims(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	static struct waiting gone;
	int64_t id = create_open(f, 5), number;
	assert_int_equal(engine_claim(f->engine, id, 1, false, NULL, &err), 0);
	assert_int_equal(begin_ask(f, id, &gone), -EINPROGRESS);
	engine_unask(f->engine, &gone.asker);
	for (int64_t end = clock_mono_ms() + 300; clock_mono_ms() < end;)
		uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(count_of(f, id, STORE_WAITING), 0);
	assert_int_equal(engine_claim(f->engine, id, -1, false, NULL, &err), 0);
	struct node *e = wait_for(f, id, "finished");
	node_free(e);
	assert_int_equal(engine_claim(f->engine, id, 1, false, NULL, &err), 0);
	assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(number, 6);
	tell(f, id, number);
	e = wait_for(f, id, "finished");
	node_free(e);
	assert_replays_exactly(f, id);
}

static int64_t later_ms;

static int64_t later(void)
{
	return (int64_t)(uv_hrtime() / 1000000) + later_ms;
}

static void test_the_experiment_of_a_worker_stays_in_memory_between_its_tasks(void **state)
{
	struct fixture *f = *state;
	int64_t id = create_open(f, 2);
	struct node *e = wait_for(f, id, "finished");
	node_free(e);
	const struct engine_experiment *kept = engine_find(f->engine, id);
	assert_non_null(kept);
	for (int64_t end = clock_mono_ms() + 300; clock_mono_ms() < end;)
		uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_ptr_equal(engine_find(f->engine, id), kept);
	later_ms = ENGINE_KEEP_MS;
	clock_replace(later);
	engine_soon(f->engine);
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (engine_find(f->engine, id) && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_null(engine_find(f->engine, id));
	clock_replace(NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_loop_goes_on_while_a_search_thinks),
		T(test_who_asked_first_is_answered_first),
		T(test_what_is_told_to_a_thinking_search_is_replayed_in_the_same_order),
		T(test_a_question_without_an_answer_leaves_no_trace),
		T(test_who_goes_while_it_thinks_leaves_a_task_for_the_next),
		T(test_a_change_of_settings_while_it_thinks_counts),
		T(test_stop_and_removal_while_it_thinks),
		T(test_a_stopped_search_that_was_thinking_goes_on_after_a_restart),
		T(test_an_answer_for_a_stopped_experiment_waits_until_it_goes_on),
		T(test_an_engine_that_is_closed_while_it_thinks_asks_again),
		T(test_a_suggestion_while_it_thinks_takes_the_claim_of_what_is_thought_of),
		T(test_an_answer_for_a_worker_that_has_gone_is_not_a_task_until_one_claims),
		T(test_the_experiment_of_a_worker_stays_in_memory_between_its_tasks),
		T(test_a_failed_write_while_it_thinks_is_said_and_the_answer_is_not_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
