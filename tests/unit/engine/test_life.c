/* The life of tasks, from a request to their ends, with the real store, the real local backend and the real
 * runner (the program named by SLUICE_BIN). */
#include "fixture.h"

#include "engine/load.h"
#include "engine/row.h"
#include "engine/spec.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/state.h"
#include "engine/turn.h"

#include <dirent.h>

static const char training[] = "#!/bin/bash\n"
			       "echo 'epoch,loss,val_loss' > log.csv\n"
			       "for e in 0 1 2; do echo \"$e,1.$e,0.$SLUICE_PARAM_X$e\" >> log.csv; done\n";

static void test_a_grid_runs_and_the_best_is_named(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [5, 3, 4]}\n", training);
	struct node *e = wait_for(f, id, "finished");
	assert_int_equal(node_get(e, "warnings")->count, 0); /* of an objective that was not set, and was found */
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
	assert_int_equal(engine_restart(f->engine, id, &none, 1, false, ENGINE_MODE_DEFAULT, &count, NULL), -ENOENT);
	assert_int_equal(engine_restart(f->engine, id, &two, 1, false, ENGINE_MODE_DEFAULT, &count, NULL), 0);
	assert_int_equal(count, 1);
	struct node *e = read_experiment(f, id);
	assert_string_equal(node_get_string(e, "state"), "running"); /* at once, for whoever waits for its end */
	node_free(e);
	e = wait_for(f, id, "finished");
	assert_int_equal(node_get(task_at(e, 0), "attempts")->count, 1);
	assert_int_equal(node_get(task_at(e, 1), "attempts")->count, 2);
	node_free(e);
}

/* Who waits for its end must not read the last one, and a daemon that is killed before its next turn must not leave it as
 * it is. */
static struct node *begin_again_after_a_kill(struct fixture *f, int64_t id)
{
	struct node *e = read_experiment(f, id);
	assert_string_not_equal(node_get_string(e, "state"), "finished");
	node_free(e);
	close_engine(f);
	open_engine(f);
	return wait_for(f, id, "finished");
}

static void test_what_was_over_goes_on_although_the_daemon_is_killed_at_once(void **state)
{
	struct fixture *f = *state;
	struct problems problems = {0};
	int64_t count = 0, two = 2, number = 0;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [1, 2]}\nsearch: {strategy: grid}\n", training);
	struct node *mine = json("{\"parameters\":{\"x\":2}}"), *wider = json("{\"parameters\":{\"x\":[1,2,3]}}");
	node_free(wait_for(f, id, "finished"));
	assert_int_equal(engine_restart(f->engine, id, &two, 1, false, ENGINE_MODE_DEFAULT, &count, NULL), 0);
	struct node *e = begin_again_after_a_kill(f, id);
	assert_int_equal(node_get(task_at(e, 1), "attempts")->count, 2);
	node_free(e);
	assert_int_equal(engine_restart(f->engine, id, NULL, 0, false, ENGINE_MODE_DEFAULT, &count, NULL), 0);
	e = begin_again_after_a_kill(f, id);
	assert_int_equal(node_get(task_at(e, 0), "attempts")->count, 2);
	assert_int_equal(node_get(task_at(e, 1), "attempts")->count, 3);
	node_free(e);
	assert_int_equal(engine_suggest(f->engine, id, mine, &number, &problems, NULL), 0);
	e = begin_again_after_a_kill(f, id);
	assert_string_equal(node_get_string(task_at(e, 2), "state"), "finished");
	node_free(e);
	assert_int_equal(engine_change(f->engine, id, wider, &problems, NULL), 0);
	e = begin_again_after_a_kill(f, id);
	assert_true(node_get(e, "tasks")->count > 3);
	node_free(e);
	node_free(mine);
	node_free(wider);
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
		assert_int_equal(node_get(node_get(node_get(task_at(e, i), "metrics"), "loss"), "step")->count, 1);
	}
	node_free(e);
}

/* The descriptor of the one item of the one batch of e1. */
static void check_same_row(const struct spec *a, const struct spec *b)
{
	struct store_experiment one, other;
	engine_fill_row(a, &one);
	engine_fill_row(b, &other);
	assert_string_equal(one.spec, other.spec);
	assert_string_equal(one.parameters, other.parameters);
	assert_string_equal(one.varying, other.varying);
	assert_string_equal(one.objective, other.objective);
	assert_string_equal(one.strategy, other.strategy);
	assert_int_equal(one.seed, other.seed);
	assert_int_equal(one.planned, other.planned);
	assert_int_equal(one.parallel, other.parallel);
	engine_free_row(&one);
	engine_free_row(&other);
}

/* The experiment in memory has the specification of the request. A daemon that starts again reads it from the store: the
 * two must not differ. The second experiment of the same gets another seed, which its file does not name. */
static void test_what_was_asked_for_and_what_is_stored_are_the_same(void **state)
{
	static const char yaml[] =
		"script: run.sh\n"
		"parameters: {lr: {min: 1e-4, max: 1, scale: log}, n: {min: 1, max: 9}, k: [a, 2, true]}\n"
		"constraints: [n < 9]\n"
		"search: {strategy: random, tasks: 3, parallel: 1}\n"
		"objective: {metric: loss, goal: max}\n"
		"resources: {cpus: 1, memory: 1GB, time: 10m}\n"
		"retry: {error: 2}\n"
		"environment: {vars: {A: b}}\n";
	struct fixture *f = *state;
	for (int i = 0; i < 2; i++) {
		int64_t id = create(f, yaml, "#!/bin/bash\necho loss > l.csv\necho 1 >> l.csv\n");
		struct engine_experiment *e = NULL;
		struct spec *stored = NULL;
		assert_int_equal(engine_load_experiment(f->engine, id, &e, NULL), 0);
		assert_int_equal(engine_read_spec(f->engine, id, &stored), 0);
		assert_ptr_not_equal(e->spec, stored);
		check_same_row(e->spec, stored);
		assert_int_equal(e->spec->retry[RETRY_ERROR], 2);
		assert_int_equal(stored->retry[RETRY_ERROR], 2);
		assert_int_equal(e->spec->resources.memory_bytes, stored->resources.memory_bytes);
		assert_int_equal(e->spec->resources.time_ms, stored->resources.time_ms);
		assert_int_equal(e->spec->pass, stored->pass);
		assert_int_equal(e->spec->style, stored->style);
		spec_free(stored);
		node_free(wait_for(f, id, "finished"));
	}
}

static char *only_descriptor(const struct fixture *f)
{
	char *batches = mem_printf("%s/experiments/e1/batches", f->dir), *found = NULL;
	DIR *dir = opendir(batches);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			found = mem_printf("%s/%s/0.json", batches, entry->d_name);
	if (dir)
		closedir(dir);
	free(batches);
	return found;
}

/* Writes what the version before had written: the first attempt in attempts/1. */
static void use_old_folder(const char *descriptor)
{
	static const char key[] = "/tasks/1\",\"script\"";
	struct buf text = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	assert_int_equal(fs_read(descriptor, BUF_UNLIMITED, &text, NULL), 0);
	const char *at = strstr(buf_text(&text), key);
	assert_non_null(at);
	buf_add(&out, text.data, (size_t)(at - text.data));
	buf_add_text(&out, "/tasks/1/attempts/1");
	buf_add_text(&out, at + strlen("/tasks/1"));
	assert_int_equal(fs_write(descriptor, buf_text(&out), out.len, 0600, false, NULL), 0);
	buf_free(&text);
	buf_free(&out);
}

/* An experiment with one task that the version before has submitted and that has not begun: only its descriptor, which
 * the caller frees, says where it will write. The engine is closed. */
static char *submit_as_before(struct fixture *f, int64_t *ret_id)
{
	struct stat st;
	char *program = mem_strdup(getenv("SLUICE_BIN")), *idle = mem_printf("%s/idle", f->dir), *descriptor = NULL;
	assert_int_equal(fs_write(idle, "#!/bin/sh\nexec sleep 1\n", 23, 0700, false, NULL), 0);
	close_engine(f);
	setenv("SLUICE_BIN", idle, 1); /* a runner that takes no claim */
	open_engine(f);
	*ret_id = create(f, "script: run.sh\n", training);
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	while (!(descriptor = only_descriptor(f)) || stat(descriptor, &st) < 0) {
		assert_true(clock_mono_ms() < end);
		free(descriptor);
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	close_engine(f);
	use_old_folder(descriptor);
	setenv("SLUICE_BIN", program, 1);
	free(program);
	free(idle);
	return descriptor;
}

static void check_ran_once_in_old_folder(struct fixture *f, int64_t id)
{
	struct stat st;
	char *journal = mem_printf("%s/experiments/e1/tasks/1/attempts/1/journal", f->dir);
	struct node *e = wait_for(f, id, "finished");
	assert_int_equal(node_get(task_at(e, 0), "attempts")->count, 1);
	assert_int_equal(stat(journal, &st), 0);
	node_free(e);
	free(journal);
}

static void test_an_attempt_that_waits_keeps_the_folder_that_its_descriptor_names(void **state)
{
	struct fixture *f = *state;
	int64_t id;
	char *descriptor = submit_as_before(f, &id);
	open_engine(f);
	check_ran_once_in_old_folder(f, id);
	free(descriptor);
}

/* The engine opens, says why it does not know what became of the task, and neither loses it nor runs it twice. */
static void test_a_descriptor_that_cannot_be_read_keeps_its_task_waiting(void **state)
{
	struct fixture *f = *state;
	int64_t id, end = clock_mono_ms() + PATIENCE_MS;
	char *descriptor = submit_as_before(f, &id), *aside = mem_printf("%s.aside", descriptor);
	struct node *e = NULL;
	assert_int_equal(rename(descriptor, aside), 0);
	assert_int_equal(mkdir(descriptor, 0700), 0); /* reading it is EISDIR */
	open_engine(f);
	const char *reason = NULL;
	while (!reason || !strstr(reason, "is not known until this file can be read")) {
		assert_true(clock_mono_ms() < end);
		node_free(e);
		uv_run(&f->loop, UV_RUN_ONCE);
		e = read_experiment(f, id);
		reason = node_get_string(task_at(e, 0), "reason");
	}
	assert_non_null(strstr(reason, descriptor));
	assert_string_equal(node_get_string(task_at(e, 0), "state"), "submitted");
	node_free(e);
	assert_int_equal(rmdir(descriptor), 0);
	assert_int_equal(rename(aside, descriptor), 0);
	check_ran_once_in_old_folder(f, id);
	free(descriptor);
	free(aside);
}

static bool exists(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	bool found = access(path, F_OK) == 0;
	free(path);
	return found;
}

static void put_file(const char *dir, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	free(path);
}

/* As a daemon leaves them that is killed after the commit of an end. */
static void test_batch_files_of_a_killed_daemon_go_at_the_next_start(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\n", training), end = clock_mono_ms() + PATIENCE_MS;
	node_free(wait_for(f, id, "finished"));
	close_engine(f);
	char *batches = mem_printf("%s/experiments/e1/batches", f->dir);
	char *over = mem_printf("%s/00000000000000000000000000000001", batches);
	char *kept = mem_printf("%s/00000000000000000000000000000002", batches);
	char *empty = mem_printf("%s/00000000000000000000000000000003", batches);
	assert_int_equal(fs_make_dirs(over, 0700, NULL), 0);
	assert_int_equal(fs_make_dirs(kept, 0700, NULL), 0);
	assert_int_equal(fs_make_dirs(empty, 0700, NULL), 0);
	put_file(over, "0.json", "{}");
	put_file(over, "0.claim", "{}");
	put_file(over, "0.out", "");
	put_file(over, "7.slot", "{}");
	put_file(over, "7.slot.12.tmp", "{");
	put_file(kept, "0.claim", "{}");
	put_file(kept, "0.out", "the runner's words\n");
	open_engine(f);
	while (exists(batches, "00000000000000000000000000000001") || exists(kept, "0.claim") ||
	       exists(batches, "00000000000000000000000000000003")) {
		assert_true(clock_mono_ms() < end);
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	assert_true(exists(kept, "0.out"));
	free(batches);
	free(over);
	free(kept);
	free(empty);
}

static void test_a_stopping_condition_stops_the_experiment(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f,
			    "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8]}\n"
			    "stop: {when: \"loss < 0.5\"}\n",
			    "#!/bin/bash\necho epoch,loss > l.csv\n"
			    "[ $SLUICE_PARAM_X = 1 ] || sleep 600\necho 0,0.1 >> l.csv\nsleep 1\n");
	struct node *e = wait_for(f, id, "finished");
	/* The one that met it runs on to its end, the others do not. */
	assert_string_equal(node_get_string(task_at(e, 0), "state"), "finished");
	for (size_t i = 1; i < 8; i++)
		assert_string_equal(node_get_string(task_at(e, i), "state"), "stopped");
	node_free(e);
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
	/* Still drawing: what it proposes does not depend on which result came first. */
	struct node *wider = json(
		"{\"search\":{\"tasks\":20,\"startup\":30},\"parameters\":{\"x\":{\"min\":0.0,\"max\":3.0}}}");
	struct node *other = json("{\"script\":\"b.py\"}");
	assert_int_equal(engine_suggest(f->engine, id, wrong, &number, &problems, NULL), -EINVAL);
	problems_free(&problems);
	assert_int_equal(engine_suggest(f->engine, id, mine, &number, &problems, NULL), 0);
	assert_int_equal(engine_import(f->engine, id, rows, &count, NULL, &problems, NULL), 0);
	assert_int_equal(count, 1);
	node_free(wait_for(f, id, "finished"));
	assert_int_equal(engine_change(f->engine, id, other, &problems, NULL), -EINVAL);
	problems_free(&problems);
	assert_int_equal(engine_change(f->engine, id, wider, &problems, NULL), 0);
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
	int64_t id = create(
		f,
		"script: run.sh\nparameters: {x: [1, 2, 3, 4, 9]}\nobjective: loss\n"
		"search: {strategy: grid, parallel: 1}\nprune: {rule: median, warmup: 1, min_tasks: 3}\n",
		"#!/bin/bash\necho epoch,loss > l.csv\nfor e in 0 1 2; do echo $e,$SLUICE_PARAM_X >> l.csv; done\n"
		"[ $SLUICE_PARAM_X = 9 ] && sleep 600\nexit 0\n");
	struct node *e = wait_for(f, id, "finished");
	assert_string_equal(node_get_string(task_at(e, 4), "state"), "pruned");
	assert_string_equal(node_get_string(task_at(e, 0), "state"), "finished");
	node_free(e);
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
	struct node *good = json("{\"values\":{\"loss\":0.5}}"),
		    *row = json("{\"values\":{\"loss\":0.7},\"more\":true}");
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

/* What the strategy set the fidelity to is no value of the space (epochs is a constant there): it is read again all
 * the same, after a restart and as the history of a changed search. */
static void test_a_search_with_fidelities_is_taken_up_again(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct problems problems = {0};
	int64_t id = create(
		f,
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
		T(test_what_was_over_goes_on_although_the_daemon_is_killed_at_once),
		T(test_removing_leaves_no_row_and_no_folder),
		T(test_a_closed_engine_takes_its_tasks_up_again),
		T(test_what_was_asked_for_and_what_is_stored_are_the_same),
		T(test_an_attempt_that_waits_keeps_the_folder_that_its_descriptor_names),
		T(test_a_descriptor_that_cannot_be_read_keeps_its_task_waiting),
		T(test_batch_files_of_a_killed_daemon_go_at_the_next_start),
		T(test_a_stopping_condition_stops_the_experiment),
		T(test_a_search_lives_on_through_changes_and_restarts),
		T(test_a_poor_task_is_pruned_and_the_next_goes_on),
		T(test_workers_of_ones_own_ask_and_tell),
		T(test_a_search_with_fidelities_is_taken_up_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
