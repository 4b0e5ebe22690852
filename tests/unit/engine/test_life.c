/* The life of tasks, from a request to their ends, with the real store, the real local backend and the real
 * runner (the program named by SLUICE_BIN). */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/token.h"
#include "store/read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define PATIENCE_MS 60000

/* An engine that is closed while runners are alive leaves their exit callbacks behind, as a daemon that ends
 * does; here the process lives on. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:local_add\n";
}

struct fixture {
	char dir[64];
	uv_loop_t loop;
	struct engine *engine;
	int events, resets;
};

static void event_cb(void *ctx, const char *name, const char *data, size_t len)
{
	struct fixture *f = ctx;
	struct node *node = NULL;
	f->events++;
	f->resets += strcmp(name, "reset") == 0;
	assert_int_equal(node_parse_json(data, len, &node, NULL), 0); /* every event is JSON */
	node_free(node);
}

static void open_engine(struct fixture *f)
{
	struct error err = {0};
	struct engine_config config = {
		.loop = &f->loop, .state_dir = f->dir, .program = getenv("SLUICE_BIN")};
	uv_loop_init(&f->loop);
	if (engine_open(&config, &f->engine, &err) < 0)
		fail_msg("%s", err.text);
	engine_listen(f->engine, event_cb, f);
}

static void free_handle_cb(uv_handle_t *handle)
{
	free(handle->data);
}

static void close_handle_cb(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(handle))
		uv_close(handle, handle->type == UV_PROCESS ? free_handle_cb : NULL);
}

static void close_engine(struct fixture *f)
{
	engine_close(f->engine);
	uv_walk(&f->loop, close_handle_cb, NULL); /* runners that are still alive have handles of their own */
	uv_run(&f->loop, UV_RUN_DEFAULT);
	uv_loop_close(&f->loop);
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	assert_int_equal(token_init(), 0);
	assert_non_null(getenv("SLUICE_BIN"));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-life-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	open_engine(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	close_engine(f);
	assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
	free(f);
	return 0;
}

static int64_t create(struct fixture *f, const char *yaml, const char *script)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *request = node_new(NODE_MAP), *source = node_new(NODE_MAP);
	struct node *files = node_new(NODE_LIST), *file = node_new(NODE_MAP);
	int64_t id = 0;
	node_add(source, "text", node_new_string(yaml));
	node_add(source, "name", node_new_string("exp.yaml"));
	node_add(request, "source", source);
	node_add(file, "path", node_new_string("run.sh"));
	node_add(file, "text", node_new_string(script));
	node_add(files, NULL, file);
	node_add(request, "files", files);
	int rc = engine_create(f->engine, request, NULL, NULL, &id, &problems, &err);
	if (rc < 0) {
		if (problems.list.len)
			problems_summary(&problems, &err);
		fail_msg("create: %d:%d %s", err.line, err.column, err.text);
	}
	node_free(request);
	problems_free(&problems);
	return id;
}

static struct node *read_experiment(struct fixture *f, int64_t id)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct pieces pieces = {0};
	struct node *node = NULL;
	if (store_read_export(engine_store(f->engine), id, false, &pieces) == 0) {
		pieces_finish(&pieces, &text);
		assert_int_equal(node_parse_json(buf_text(&text), text.len, &node, NULL), 0);
	}
	buf_free(&text);
	return node;
}

static struct node *wait_for(struct fixture *f, int64_t id, const char *state)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	struct node *node = NULL;
	while (clock_mono_ms() < end) {
		node_free(node);
		node = read_experiment(f, id);
		const char *now = node_get_string(node, "state");
		if (now && strcmp(now, state) == 0)
			return node;
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	const char *now = node_get_string(node, "state");
	fail_msg("e%lld is %s, not %s", (long long)id, now ? now : "gone", state);
	return NULL;
}

static const struct node *task_at(const struct node *experiment, size_t i)
{
	const struct node *tasks = node_get(experiment, "tasks");
	assert_true(tasks && tasks->type == NODE_LIST && i < tasks->count);
	return tasks->items[i];
}

static const char training[] = "#!/bin/bash\n"
			       "echo 'epoch,loss,val_loss' > log.csv\n"
			       "for e in 0 1 2; do echo \"$e,1.$e,0.$SLUICE_PARAM_X$e\" >> log.csv; done\n";

static void test_a_grid_runs_and_the_best_is_named(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [5, 3, 4]}\n", training);
	struct node *e = wait_for(f, id, "finished");
	assert_int_equal(node_get(e, "tasks")->count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct node *task = task_at(e, i);
		assert_string_equal(node_get_string(task, "state"), "finished");
		const struct node *curve = node_get(node_get(task, "metrics"), "val_loss");
		assert_int_equal(node_get(curve, "step")->count, 3);
		assert_int_equal(node_get(task, "attempts")->count, 1);
	}
	assert_string_equal(node_get_string(node_get(e, "objective")->items[0], "metric"), "val_loss");
	const struct node *best = node_get(e, "best");
	assert_true(node_get_real(best, "value", -1) == 0.30);
	assert_int_equal(node_get_int(node_get(best, "parameters"), "x", -1), 3);
	assert_true(f->events > 0);
	node_free(e);
}

static void test_a_failing_script_shows_code_and_tail(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\n", "#!/bin/bash\necho 'no such layer' >&2\nexit 3\n");
	struct node *e = wait_for(f, id, "error");
	const struct node *cause = node_get(task_at(e, 0), "cause");
	assert_string_equal(node_get_string(cause, "kind"), "exit");
	assert_int_equal(node_get_int(cause, "code", -1), 3);
	assert_non_null(strstr(node_get_string(cause, "tail"), "no such layer"));
	node_free(e);
}

static void test_errors_are_retried_by_policy(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\nretry: {error: 2}\n",
			    "#!/bin/bash\n[ \"$SLUICE_ATTEMPT\" = 3 ] || exit 1\n");
	struct node *e = wait_for(f, id, "finished");
	assert_int_equal(node_get(task_at(e, 0), "attempts")->count, 3);
	node_free(e);
}

static void test_stopping_ends_what_runs_and_what_waits(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8]}\n",
			    "#!/bin/bash\nsleep 600\n");
	node_free(wait_for(f, id, "running"));
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	assert_int_equal(count, 8);
	struct node *e = wait_for(f, id, "stopped");
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(node_get_string(task_at(e, i), "state"), "stopped");
	node_free(e);
}

static void test_a_restart_runs_again_from_scratch(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0, two = 2, none = 99;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [1, 2]}\n", training);
	node_free(wait_for(f, id, "finished"));
	assert_int_equal(engine_restart(f->engine, id, &none, 1, false, &count, NULL), -ENOENT);
	assert_int_equal(engine_restart(f->engine, id, &two, 1, false, &count, NULL), 0);
	assert_int_equal(count, 1);
	uv_run(&f->loop, UV_RUN_NOWAIT); /* a turn: it is not finished any more */
	struct node *e = wait_for(f, id, "finished");
	assert_int_equal(node_get(task_at(e, 0), "attempts")->count, 1);
	assert_int_equal(node_get(task_at(e, 1), "attempts")->count, 2);
	node_free(e);
}

static void test_removing_leaves_no_row_and_no_folder(void **state)
{
	struct fixture *f = *state;
	struct error err;
	int64_t id = create(f, "script: run.sh\n", "#!/bin/bash\nsleep 600\n");
	node_free(wait_for(f, id, "running"));
	assert_int_equal(engine_remove(f->engine, id, false, &err), -EBUSY);
	assert_int_equal(engine_remove(f->engine, id, true, &err), 0);
	assert_null(read_experiment(f, id)); /* hidden at once */
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	char *folder = engine_folder(f->engine, id, 0, 0);
	struct stat st;
	while (stat(folder, &st) == 0 && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(stat(folder, &st), -1);
	free(folder);
}

static void test_a_closed_engine_takes_its_tasks_up_again(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6]}\n",
			    "#!/bin/bash\nsleep 0.4\necho epoch,loss > l.csv\necho 0,$SLUICE_PARAM_X >> l.csv\n");
	node_free(wait_for(f, id, "running"));
	for (int i = 0; i < 4; i++) {
		close_engine(f);
		open_engine(f);
		for (int k = 0; k < 5; k++)
			uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	struct node *e = wait_for(f, id, "finished");
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(node_get(task_at(e, i), "attempts")->count, 1);
		assert_int_equal(
			node_get(node_get(node_get(task_at(e, i), "metrics"), "loss"), "step")->count, 1);
	}
	node_free(e);
}

static void test_a_stopping_condition_stops_the_experiment(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f,
			    "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8]}\n"
			    "stop: {when: \"loss < 0.5\"}\n",
			    "#!/bin/bash\necho epoch,loss > l.csv\necho 0,0.1 >> l.csv\nsleep 600\n");
	struct node *e = wait_for(f, id, "stopped");
	node_free(e);
}

static struct node *json(const char *text)
{
	struct node *node = NULL;
	assert_int_equal(node_parse_json(text, strlen(text), &node, NULL), 0);
	return node;
}

static const char searched[] = "script: run.sh\nparameters: {x: {min: 0.0, max: 1.0}}\nobjective: loss\n"
			       "search: {strategy: tpe, tasks: 12, seed: 5}\n";
static const char quick[] = "#!/bin/bash\necho epoch,loss > l.csv\necho 0,$SLUICE_PARAM_X >> l.csv\n";

static void test_a_search_lives_on_through_changes_and_restarts(void **state)
{
	struct fixture *f = *state;
	struct problems problems = {0};
	int64_t number = 0, count = 0;
	int64_t id = create(f, searched, quick);
	struct node *mine = json("{\"parameters\":{\"x\":0.125}}"), *wrong = json("{\"parameters\":{\"x\":7}}");
	struct node *rows = json("{\"rows\":[{\"parameters\":{\"x\":0.25},\"values\":{\"loss\":0.25}}]}");
	struct node *wider = json("{\"search\":{\"tasks\":20},\"parameters\":{\"x\":{\"min\":0.0,\"max\":3.0}}}");
	struct node *other = json("{\"script\":\"b.py\"}");
	assert_int_equal(engine_suggest(f->engine, id, wrong, &number, &problems, NULL), -EINVAL);
	problems_free(&problems);
	assert_int_equal(engine_suggest(f->engine, id, mine, &number, &problems, NULL), 0);
	assert_int_equal(engine_import(f->engine, id, rows, &count, &problems, NULL), 0);
	assert_int_equal(count, 1);
	node_free(wait_for(f, id, "finished"));
	assert_int_equal(engine_change(f->engine, id, other, &problems, NULL), -EINVAL);
	problems_free(&problems);
	assert_int_equal(engine_change(f->engine, id, wider, &problems, NULL), 0);
	uv_run(&f->loop, UV_RUN_NOWAIT);
	close_engine(f);
	open_engine(f); /* the changed search is replayed from the store */
	struct node *e = wait_for(f, id, "finished");
	assert_int_equal(node_get(e, "tasks")->count, 22); /* 20 of the search, one suggested, one imported */
	assert_true(node_get_real(node_get(task_at(e, (size_t)number - 1), "parameters"), "x", -1) == 0.125);
	bool beyond = false;
	for (size_t i = 0; i < 22; i++) {
		assert_string_equal(node_get_string(task_at(e, i), "state"), "finished");
		beyond |= node_get_real(node_get(task_at(e, i), "parameters"), "x", 0) > 1;
	}
	assert_true(beyond);
	node_free(e);
	node_free(mine);
	node_free(wrong);
	node_free(rows);
	node_free(wider);
	node_free(other);
}

static void test_a_poor_task_is_pruned_and_the_next_goes_on(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f,
			    "script: run.sh\nparameters: {x: [1, 2, 3, 4, 9]}\nobjective: loss\n"
			    "search: {strategy: grid, parallel: 1}\nprune: {rule: median, warmup: 1, min_tasks: 3}\n",
			    "#!/bin/bash\necho epoch,loss > l.csv\nfor e in 0 1 2; do echo $e,$SLUICE_PARAM_X >> l.csv; done\n"
			    "[ $SLUICE_PARAM_X = 9 ] && sleep 600\nexit 0\n");
	struct node *e = wait_for(f, id, "finished");
	assert_string_equal(node_get_string(task_at(e, 4), "state"), "pruned");
	assert_string_equal(node_get_string(task_at(e, 0), "state"), "finished");
	node_free(e);
}

struct waiting {
	struct engine_asker asker; /* first: the callback gets it */
	int rc;
	int64_t number;
};

static void asked_cb(struct engine_asker *asker, int rc, int64_t number, const struct error *err)
{
	struct waiting *waiting = (struct waiting *)asker;
	(void)err;
	waiting->rc = rc;
	waiting->number = number;
}

static int begin_ask(struct fixture *f, int64_t id, struct waiting *waiting)
{
	struct error err = {0};
	*waiting = (struct waiting){.asker.done = asked_cb};
	return waiting->rc = engine_ask(f->engine, id, &waiting->asker, &waiting->number, &err);
}

/* As engine_ask, with the answer that may come later. */
static int end_ask(struct fixture *f, struct waiting *waiting, int64_t *ret_number)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (waiting->rc == -EINPROGRESS && clock_mono_ms() < end)
		uv_run(&f->loop, UV_RUN_ONCE);
	*ret_number = waiting->number;
	return waiting->rc;
}

static int ask(struct fixture *f, int64_t id, int64_t *ret_number)
{
	struct waiting waiting;
	begin_ask(f, id, &waiting);
	return end_ask(f, &waiting, ret_number);
}

static void test_workers_of_ones_own_ask_and_tell(void **state)
{
	struct fixture *f = *state;
	struct error err;
	int64_t id = create(f,
			    "parameters: {x: {min: 0.0, max: 1.0}}\nobjective: loss\nresources: {backend: external}\n"
			    "search: {strategy: tpe, tasks: 3}\n",
			    "");
	int64_t number = 0;
	struct node *good = json("{\"values\":{\"loss\":0.5}}"), *row = json("{\"values\":{\"loss\":0.7},\"more\":true}");
	struct node *bad = json("{\"failed\":\"it broke\"}"), *nothing = json("{}");
	assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(engine_tell_task(f->engine, id, 2, good, &err), -ENOENT);
	assert_int_equal(engine_tell_task(f->engine, id, 1, nothing, &err), -EINVAL);
	assert_int_equal(engine_tell_task(f->engine, id, 1, row, &err), 0);
	close_engine(f); /* what was taken stays taken */
	open_engine(f);
	assert_int_equal(engine_tell_task(f->engine, id, 1, good, &err), 0);
	assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(engine_tell_task(f->engine, id, number, bad, &err), 0);
	assert_int_equal(ask(f, id, &number), 0);
	assert_int_equal(engine_tell_task(f->engine, id, number, good, &err), 0);
	struct node *e = wait_for(f, id, "finished");
	assert_string_equal(node_get_string(task_at(e, 0), "state"), "finished");
	assert_string_equal(node_get_string(task_at(e, 1), "state"), "error");
	assert_int_equal(ask(f, id, &number), -ENOENT);
	node_free(e);
	node_free(good);
	node_free(row);
	node_free(bad);
	node_free(nothing);
}

static int64_t asked_by_search(struct fixture *f, int64_t id)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *search = NULL;
	assert_int_equal(engine_write_search(f->engine, id, &w), 0);
	assert_int_equal(node_parse_json(buf_text(&text), text.len, &search, NULL), 0);
	int64_t asked = node_get_int(node_get(search, "state"), "asked", -1);
	node_free(search);
	buf_free(&text);
	return asked;
}

/* What the strategy set the fidelity to is no value of the space (epochs is a constant there): it is read again all
 * the same, after a restart and as the history of a changed search. */
static void test_a_search_with_fidelities_is_taken_up_again(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct problems problems = {0};
	int64_t id = create(f,
			    "parameters: {x: {min: 0.0, max: 1.0}, epochs: 9}\nobjective: loss\nresources: {backend: external}\n"
			    "search: {strategy: asha, tasks: 40}\nfidelity: {parameter: epochs, min: 1}\n",
			    "");
	struct node *change = json("{\"search\":{\"seed\":12345}}");
	for (int i = 0; i < 20; i++) {
		char text[64];
		int64_t number;
		assert_int_equal(ask(f, id, &number), 0);
		snprintf(text, sizeof(text), "{\"values\":{\"loss\":0.%d}}", 10 + i * 7 % 13);
		struct node *result = json(text);
		assert_int_equal(engine_tell_task(f->engine, id, number, result, &err), 0);
		node_free(result);
	}
	int64_t asked = asked_by_search(f, id);
	assert_int_equal(asked, 20);
	close_engine(f);
	open_engine(f);
	assert_int_equal(asked_by_search(f, id), asked);
	assert_int_equal(engine_change(f->engine, id, change, &problems, NULL), 0);
	assert_int_equal(asked_by_search(f, id), asked);
	node_free(change);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_grid_runs_and_the_best_is_named),
		T(test_a_failing_script_shows_code_and_tail),
		T(test_errors_are_retried_by_policy),
		T(test_stopping_ends_what_runs_and_what_waits),
		T(test_a_restart_runs_again_from_scratch),
		T(test_removing_leaves_no_row_and_no_folder),
		T(test_a_closed_engine_takes_its_tasks_up_again),
		T(test_a_stopping_condition_stops_the_experiment),
		T(test_a_search_lives_on_through_changes_and_restarts),
		T(test_a_poor_task_is_pruned_and_the_next_goes_on),
		T(test_workers_of_ones_own_ask_and_tell),
		T(test_a_search_with_fidelities_is_taken_up_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
