/* What pages and programs read: the shapes of docs/internals/rest.md out of a small database. */
#include "base/clock.h"
#include "base/node.h"
#include "base/tariff.h"
#include "store/json.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	char dir[64];
	struct store *store;
	struct buf text;
	struct node *root;
};

static int64_t fixed_clock(void)
{
	return 1700000010000;
}

static void run_sql(struct fixture *f, const char *sql)
{
	char *message = NULL;
	if (sqlite3_exec(store_db(f->store), sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

static const char sample[] =
	"INSERT INTO experiment (id, name, state, created_ms, started_ms, spec, parameters, varying, objective,"
	" strategy, seed, planned, backend, script, best_task, source, source_name) VALUES"
	" (1, 'first \"quoted\"', 2, 1700000000000, 1700000001000,"
	"  '{\"pass\":\"flags\",\"resources\":{\"gpus\":1}}',"
	"  '[{\"name\":\"lr\"},{\"name\":\"kind\"}]', '[\"lr\"]', '[{\"metric\":\"val_loss\",\"goal\":\"min\"}]',"
	"  'grid', 420, 10, 'local', 'model.py', 2, 'name: x', 'x.yaml'),"
	" (2, 'second', 3, 1700000000000, NULL, '{}', '[]', '[]', '[{\"metric\":\"acc\",\"goal\":\"max\"}]',"
	"  'random', 1, 3, 'local', NULL, NULL, NULL, NULL),"
	" (3, 'going', 0, 1700000000000, NULL, '{}', '[]', '[]', '[]', 'grid', 1, 1, 'local', NULL, NULL, NULL,"
	"  NULL);"
	"UPDATE experiment SET removing = 1 WHERE id = 3;"
	"INSERT INTO task (id, experiment, number, state, parameters, created_ms, started_ms, finished_ms, best,"
	" best_step, last, last_step, step, steps, wall_ms, energy_j, energy_source, attempt) VALUES"
	" (11, 1, 1, 3, '{\"lr\":0.1,\"kind\":\"a,\\\"b\\\"\"}', 1, 1700000001000, 1700000003500, 0.5, 3, 0.6, 4, 4,"
	"  10, 2500, 40.5, 'NVML', 1),"
	" (12, 1, 2, 2, '{\"lr\":0.2}', 1, 1700000002000, NULL, 0.25, 1, NULL, 2, 2, 10, 100, NULL, NULL, 1),"
	" (13, 1, 3, 4, '{\"lr\":0.3}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2),"
	" (14, 1, 4, 0, '{\"lr\":0.4}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0),"
	" (21, 2, 1, 3, '{}', 1, 1, 2, 0.7, 1, 0.7, 1, 1, NULL, NULL, NULL, NULL, 1),"
	" (22, 2, 2, 3, '{}', 1, 1, 3, 0.9, 1, 0.9, 1, 1, NULL, NULL, NULL, NULL, 1),"
	" (23, 2, 3, 3, '{}', 1, 1, 4, 0.8, 1, 0.8, 1, 1, NULL, NULL, NULL, NULL, 1);"
	"INSERT INTO metric_name VALUES (1, 1, 'loss'), (2, 1, 'val_loss');"
	"INSERT INTO metric (task, name, step, value, time_ms) VALUES (12, 2, 0, 0.9, 1), (12, 2, 1, 0.25, 1), (12, 2, 2, NULL, 1), (11, 1, 0, 7, 1);"
	"INSERT INTO history (task, time_ms, state, reason) VALUES (12, 1700000001000, 1, NULL),"
	" (12, 1700000002000, 2, 'started on n1');"
	"INSERT INTO attempt (task, number, token, idx, state, created_ms, exit_code) VALUES"
	" (13, 1, 'aa', 0, 4, 1, 1), (13, 2, 'bb', 0, 4, 1, 2);";

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-read-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	char *path = mem_printf("%s/sluice.db", f->dir);
	assert_int_equal(store_open(path, &f->store, NULL), 0);
	free(path);
	clock_replace(fixed_clock);
	f->text = buf_make(BUF_UNLIMITED);
	run_sql(f, sample);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	node_free(f->root);
	buf_free(&f->text);
	store_close(f->store);
	char *path = mem_printf("%s/sluice.db", f->dir);
	unlink(path);
	free(path);
	rmdir(f->dir);
	clock_replace(NULL);
	free(f);
	return 0;
}

/* The answer as a tree: fails when it is not one JSON value. */
static struct node *parse(struct fixture *f)
{
	struct error err = {0};
	node_free(f->root);
	f->root = NULL;
	if (node_parse_json(buf_text(&f->text), f->text.len, &f->root, &err) < 0)
		fail_msg("%s in %s", err.text, buf_text(&f->text));
	buf_clear(&f->text);
	return f->root;
}

static struct node *at(struct node *node, const char *a, const char *b)
{
	node = node_get(node, a);
	return b ? node_get(node, b) : node;
}

#define WRITE(call)                                                                                                    \
	({                                                                                                             \
		struct json out = json_to(&f->text);                                                                   \
		call;                                                                                                  \
	})

static int read_metrics(struct fixture *f, int64_t experiment, const char *name)
{
	struct pieces pieces = {0};
	struct store_curves asked = {.name = name, .points = 300, .to = INT64_MAX};
	int rc = store_json_metrics(f->store, experiment, &asked, &pieces);
	return rc < 0 ? rc : pieces_finish(&pieces, &f->text);
}

static int read_export(struct fixture *f, int64_t experiment, bool csv)
{
	struct pieces pieces = {0};
	int rc = store_export(f->store, experiment, "/f", csv, &pieces);
	return rc < 0 ? rc : pieces_finish(&pieces, &f->text);
}

static void test_experiment_summary_counts_and_costs(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(WRITE(store_json_experiment(f->store, 1, &out)), 0);
	struct node *e = parse(f);
	assert_string_equal(node_get_string(e, "id"), "e1");
	assert_string_equal(node_get_string(e, "name"), "first \"quoted\"");
	assert_string_equal(node_get_string(e, "state"), "running");
	assert_string_equal(node_get_string(e, "created"), "2023-11-14T22:13:20.000Z");
	assert_int_equal(at(e, "finished", NULL)->type, NODE_NULL);
	assert_int_equal(at(e, "tasks", "total")->integer, 10);
	assert_int_equal(at(e, "tasks", "finished")->integer, 1);
	assert_int_equal(at(e, "tasks", "error")->integer, 1);
	assert_int_equal(at(e, "best", "task")->integer, 2);
	assert_true(at(e, "best", "value")->real == 0.25);
	assert_true(node_get_real(at(e, "best", "parameters"), "lr", 0) == 0.2);
	assert_int_equal(at(e, "spark", NULL)->count, 3);
	assert_string_equal(at(e, "spark", NULL)->items[2]->string, "NaN");
	assert_true(at(e, "cost", "wall_s")->real == 2.6);
	assert_int_equal(at(e, "cost", "cpu_s")->type, NODE_NULL);
	/* only one of the two tasks that ran told its energy */
	assert_string_equal(at(e, "cost", "energy_source")->string, "NVML (1 of 2 tasks)");
	assert_null(node_get(e, "spec"));
}

/* As a caller uses them that has nothing to add. */
static int open_experiment(struct store *store, int64_t experiment, struct json *out)
{
	int rc = store_json_open_experiment(store, experiment, out);
	if (rc == 0)
		json_end(out);
	return rc;
}

static int open_task(struct store *store, int64_t experiment, int64_t number, struct json *out)
{
	int rc = store_json_open_task(store, experiment, number, out);
	if (rc == 0)
		json_end(out);
	return rc;
}

static void test_experiment_detail_has_what_the_page_needs(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(WRITE(open_experiment(f->store, 1, &out)), 0);
	struct node *e = parse(f);
	assert_string_equal(node_get_string(e, "pass"), "flags");
	assert_int_equal(at(e, "resources", "gpus")->integer, 1);
	assert_int_equal(at(e, "search", "seed")->integer, 420);
	assert_int_equal(at(e, "search", "options")->type, NODE_MAP);
	assert_int_equal(at(e, "metrics", NULL)->count, 2);
	assert_string_equal(node_get_string(e, "step_name"), "epoch");
	assert_int_equal(WRITE(open_experiment(f->store, 9, &out)), -ENOENT);
	assert_int_equal(f->text.len, 0);
}

static void test_removed_experiment_is_nowhere(void **state)
{
	struct fixture *f = *state;
	struct store_page page = {.limit = 100};
	assert_int_equal(WRITE(store_json_experiment(f->store, 3, &out)), -ENOENT);
	assert_int_equal(WRITE(store_json_tasks(f->store, 3, &page, &out)), -ENOENT);
	assert_int_equal(read_metrics(f, 3, NULL), -ENOENT);
	assert_int_equal(f->text.len, 0);
	assert_int_equal(WRITE(store_json_experiments(f->store, &page, &out)), 0);
	assert_int_equal(node_get_int(parse(f), "total", 0), 2);
}

static void test_experiments_are_paged_newest_first(void **state)
{
	struct fixture *f = *state;
	struct store_page page = {.limit = 1};
	assert_int_equal(WRITE(store_json_experiments(f->store, &page, &out)), 0);
	struct node *list = parse(f);
	assert_int_equal(at(list, "items", NULL)->count, 1);
	assert_string_equal(node_get_string(at(list, "items", NULL)->items[0], "id"), "e2");
	char *cursor = mem_strdup(node_get_string(list, "next"));
	page.cursor = cursor;
	assert_int_equal(WRITE(store_json_experiments(f->store, &page, &out)), 0);
	list = parse(f);
	assert_string_equal(node_get_string(at(list, "items", NULL)->items[0], "id"), "e1");
	assert_int_equal(at(list, "next", NULL)->type, NODE_NULL);
	free(cursor);
	page = (struct store_page){.limit = 10, .state = "running"};
	assert_int_equal(WRITE(store_json_experiments(f->store, &page, &out)), 0);
	assert_int_equal(node_get_int(parse(f), "total", 0), 1);
	page.state = "nonsense";
	assert_int_equal(WRITE(store_json_experiments(f->store, &page, &out)), -EINVAL);
	page = (struct store_page){.limit = 10, .cursor = "1x"};
	assert_int_equal(WRITE(store_json_experiments(f->store, &page, &out)), -EINVAL);
}

static void test_task_summary_says_unknown_as_null_and_nan_as_nan(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(WRITE(store_json_task(f->store, 1, 2, &out)), 0);
	struct node *t = parse(f);
	assert_string_equal(node_get_string(t, "id"), "e1/2");
	assert_string_equal(node_get_string(t, "experiment"), "e1");
	assert_string_equal(at(t, "last", "value")->string, "NaN");
	assert_true(node_get_real(t, "progress", 0) == 0.2);
	assert_true(node_get_real(t, "elapsed_s", 0) == 8);
	assert_string_equal(at(t, "cost", "energy_source")->string, "not measured");
	assert_int_equal(WRITE(store_json_task(f->store, 1, 4, &out)), 0);
	t = parse(f);
	assert_int_equal(at(t, "best", NULL)->type, NODE_NULL);
	assert_int_equal(at(t, "elapsed_s", NULL)->type, NODE_NULL);
	assert_int_equal(at(t, "progress", NULL)->type, NODE_NULL);
	assert_int_equal(WRITE(store_json_task(f->store, 1, 99, &out)), -ENOENT);
}

static void test_task_detail_has_timeline_and_attempts(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(WRITE(open_task(f->store, 1, 2, &out)), 0);
	struct node *t = parse(f);
	assert_int_equal(at(t, "timeline", NULL)->count, 2);
	assert_string_equal(node_get_string(at(t, "timeline", NULL)->items[1], "state"), "running");
	assert_string_equal(at(t, "metrics", NULL)->items[0]->string, "val_loss");
	assert_int_equal(WRITE(open_task(f->store, 1, 3, &out)), 0);
	t = parse(f);
	assert_int_equal(at(t, "attempts", NULL)->count, 2);
	assert_int_equal(node_get_int(at(t, "attempts", NULL)->items[1], "exit_code", 0), 2);
}

/* The numbers of the tasks, page by page of one task each, as one text. */
static void walk_tasks(struct fixture *f, int64_t experiment, const char *sort, const char *expected)
{
	struct buf seen = buf_make(1024);
	char *cursor = NULL;
	for (int pages = 0; pages < 10; pages++) {
		struct store_page page = {.limit = 1, .sort = sort, .cursor = cursor};
		assert_int_equal(WRITE(store_json_tasks(f->store, experiment, &page, &out)), 0);
		struct node *list = parse(f);
		free(cursor);
		if (at(list, "items", NULL)->count)
			buf_addf(&seen, "%d ", (int)node_get_int(at(list, "items", NULL)->items[0], "number", 0));
		cursor = mem_strdup(node_get_string(list, "next"));
		if (!cursor)
			break;
	}
	free(cursor);
	assert_string_equal(buf_text(&seen), expected);
	buf_free(&seen);
}

static void test_tasks_in_every_order_each_once_over_pages(void **state)
{
	struct fixture *f = *state;
	walk_tasks(f, 1, NULL, "1 2 3 4 ");
	walk_tasks(f, 1, "number", "1 2 3 4 ");
	walk_tasks(f, 1, "-number", "4 3 2 1 ");
	walk_tasks(f, 1, "best", "2 1 3 4 ");
	walk_tasks(f, 1, "-best", "1 2 3 4 ");
	walk_tasks(f, 2, "best", "2 3 1 ");
	walk_tasks(f, 2, "-best", "1 3 2 ");
	walk_tasks(f, 1, "started", "1 2 3 4 ");
	walk_tasks(f, 1, "-started", "2 1 3 4 ");
	walk_tasks(f, 1, "elapsed", "1 2 3 4 ");
	walk_tasks(f, 1, "-elapsed", "2 1 3 4 ");
	struct store_page page = {.limit = 1, .sort = "colour"};
	assert_int_equal(WRITE(store_json_tasks(f->store, 1, &page, &out)), -EINVAL);
	page = (struct store_page){.limit = 1, .cursor = "nan:1"};
	assert_int_equal(WRITE(store_json_tasks(f->store, 1, &page, &out)), -EINVAL);
	page = (struct store_page){.limit = 9, .state = "error"};
	assert_int_equal(WRITE(store_json_tasks(f->store, 1, &page, &out)), 0);
	assert_int_equal(node_get_int(parse(f), "total", 0), 1);
}

static void test_metrics_default_to_the_objective(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(read_metrics(f, 1, NULL), 0);
	struct node *m = parse(f);
	assert_string_equal(node_get_string(m, "name"), "val_loss");
	assert_int_equal(at(m, "tasks", NULL)->count, 1);
	struct node *curve = at(m, "tasks", NULL)->items[0];
	assert_int_equal(node_get_int(curve, "task", 0), 2);
	assert_string_equal(node_get(curve, "value")->items[2]->string, "NaN");
	assert_int_equal(read_metrics(f, 1, "none such"), 0);
	assert_int_equal(at(parse(f), "tasks", NULL)->count, 0);
	assert_int_equal(WRITE(store_json_task_metrics(f->store, 1, 2, 300, STORE_AXIS_STEP, &out)), 0);
	assert_int_equal(node_get(at(parse(f), "metrics", "val_loss"), "step")->count, 3);
}

static void test_a_curve_has_the_places_on_its_axis(void **state)
{
	struct fixture *f = *state;
	run_sql(f,
		"UPDATE metric SET time_ms = 1700000002500 + step * 1000, epoch = CASE step WHEN 2 THEN NULL ELSE "
		"step / 4.0 END WHERE task = 12");
	assert_int_equal(WRITE(store_json_task_metrics(f->store, 1, 2, 300, STORE_AXIS_TIME, &out)), 0);
	struct node *x = node_get(at(parse(f), "metrics", "val_loss"), "x");
	assert_int_equal(x->count, 3);
	assert_true(x->items[0]->real == 0.5 && x->items[2]->real == 2.5);
	assert_int_equal(WRITE(store_json_task_metrics(f->store, 1, 2, 300, STORE_AXIS_EPOCH, &out)), 0);
	x = node_get(at(parse(f), "metrics", "val_loss"), "x");
	assert_true(x->items[1]->real == 0.25);
	assert_int_equal(x->items[2]->type, NODE_NULL);
	assert_int_equal(WRITE(store_json_task_metrics(f->store, 1, 2, 300, STORE_AXIS_STEP, &out)), 0);
	assert_null(node_get(at(parse(f), "metrics", "val_loss"), "x"));
}

static bool holds_step(const struct node *steps, int64_t step)
{
	for (size_t i = 0; i < steps->count; i++)
		if (steps->items[i]->integer == step)
			return true;
	return false;
}

static void test_thinning_keeps_first_last_minimum_maximum_and_nan(void **state)
{
	struct fixture *f = *state;
	run_sql(f,
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)"
		" INSERT INTO metric (task, name, step, value, time_ms) SELECT 14, 2, i, CASE i WHEN 4321 THEN -5.0 WHEN 777 THEN 99.0"
		" WHEN 5000 THEN NULL ELSE 1.0 + (i % 7) END, 1 FROM n");
	for (int64_t points = 4; points <= 5000; points = points * 3 + 1) {
		assert_int_equal(WRITE(store_json_task_metrics(f->store, 1, 4, points, STORE_AXIS_STEP, &out)), 0);
		struct node *curve = at(parse(f), "metrics", "val_loss");
		struct node *steps = node_get(curve, "step");
		assert_true((int64_t)steps->count <= points);
		assert_int_equal(steps->count, node_get(curve, "value")->count);
		assert_int_equal(steps->items[0]->integer, 0);
		assert_int_equal(steps->items[steps->count - 1]->integer, 9999);
		for (size_t i = 1; i < steps->count; i++)
			assert_true(steps->items[i - 1]->integer < steps->items[i]->integer);
		if (points > 4) {
			assert_true(holds_step(steps, 4321));
			assert_true(holds_step(steps, 777));
			assert_true(holds_step(steps, 5000));
		}
	}
}

static void test_rounding_keeps_the_digits_that_tell_neighbours_apart(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *values, *rounded;
	} cases[] = {
		{"0.0013371337", "[0.0013371337]"}, /* nothing to compare it with */
		{"0.123456789), (1.23456789), (12.3456789", "[0.12346,1.2346,12.346]"},
		{"1000.00012345), (1000.00098765", "[1000.00012345,1000.00098765]"},
		{"1000.12346), (1002.98768", "[1000.1235,1002.9877]"},
		{"123456789.0), (-987654321.0", "[123460000,-987650000]"},
		{"NULL), (0.0), (2.5e-13), (0.33333333", "[\"NaN\",0,2.5e-13,0.33333]"},
		{"1e300), (1.23456789e-300", "[1e+300,1.23456789e-300]"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char sql[400];
		struct pieces pieces = {0};
		struct store_curves asked = {.points = 300, .digits = 5, .to = INT64_MAX, .tasks = "4"};
		run_sql(f, "DELETE FROM metric WHERE task = 14");
		snprintf(sql, sizeof(sql),
			 "WITH v(x) AS (VALUES (%s)) INSERT INTO metric (task, name, step, value, time_ms) "
			 "SELECT 14, 2, row_number() OVER (), x, 1 FROM v",
			 cases[i].values);
		run_sql(f, sql);
		assert_int_equal(store_json_metrics(f->store, 1, &asked, &pieces), 0);
		assert_int_equal(pieces_finish(&pieces, &f->text), 0);
		const char *found = strstr(buf_text(&f->text), "\"value\":");
		assert_non_null(found);
		assert_memory_equal(found + strlen("\"value\":"), cases[i].rounded, strlen(cases[i].rounded));
		buf_clear(&f->text);
	}
}

/* Time passes with every look at it. */
static int64_t running_clock(void)
{
	static int64_t now = 1000000;
	return now++;
}

/* The loop turns between the pieces: the same text must come out, however they are cut. */
static void test_an_answer_in_pieces_is_the_answer(void **state)
{
	struct fixture *f = *state;
	struct pieces pieces = {0};
	struct buf whole = buf_make(BUF_UNLIMITED);
	unsigned count = 1;
	run_sql(f,
		"WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
		" INSERT INTO task (id, experiment, number, parameters, created_ms) SELECT i, 1, i, '{}', 1 FROM n");
	run_sql(f,
		"WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)"
		" INSERT INTO metric (task, name, step, value, time_ms) SELECT i, 2, 1, i / 7.0, 1 FROM n");
	clock_replace(running_clock);
	assert_int_equal(
		store_json_metrics(f->store, 1, &(struct store_curves){.points = 300, .to = INT64_MAX}, &pieces), 0);
	while (pieces.make(pieces.ctx, &whole) > 0)
		count++;
	pieces_free(&pieces);
	assert_true(count > 1000);
	struct node *m = NULL;
	assert_int_equal(node_parse_json(buf_text(&whole), whole.len, &m, NULL), 0);
	const struct node *tasks = node_get(m, "tasks");
	assert_int_equal(tasks->count, 5902);
	for (size_t i = 1; i < tasks->count; i++)
		assert_int_equal(node_get_int(tasks->items[i], "task", 0), 99 + (int64_t)i);
	node_free(m);
	buf_free(&whole);
	/* Left in the middle: nothing leaks, nothing is held. */
	assert_int_equal(store_export(f->store, 1, "/f", true, &pieces), 0);
	struct buf part = buf_make(BUF_UNLIMITED);
	assert_int_equal(pieces.make(pieces.ctx, &part), 1);
	pieces_free(&pieces);
	buf_free(&part);
}

static void test_csv_quotes_and_leaves_unknown_empty(void **state)
{
	struct fixture *f = *state;
	run_sql(f, "UPDATE task SET cause = '{\"text\":\"it failed\"}' WHERE id = 13");
	assert_int_equal(read_export(f, 1, true), 0);
	assert_string_equal(buf_text(&f->text),
			    "task,state,lr,kind,best_val_loss,best_epoch,elapsed_s,attempts,cause,wall_s,cpu_s,gpu_s,"
			    "energy_j,at_best_loss,last_loss,at_best_val_loss,last_val_loss\r\n"
			    "1,finished,0.1,\"a,\"\"b\"\"\",0.5,3,2.5,1,,2.5,,,40.5,,7,,\r\n"
			    "2,running,0.2,,0.25,1,8,1,,0.1,,,,,,0.25,NaN\r\n"
			    "3,error,0.3,,,,,2,it failed,,,,,,,,\r\n"
			    "4,waiting,0.4,,,,,0,,,,,,,,,\r\n");
	assert_int_equal(read_export(f, 9, true), -ENOENT);
}

static void test_export_holds_every_task_with_curves_and_attempts(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(read_export(f, 1, false), 0);
	struct node *e = parse(f);
	assert_int_equal(at(e, "tasks", NULL)->type, NODE_LIST);
	assert_int_equal(at(e, "tasks", NULL)->count, 4);
	assert_int_equal(at(e, "counts", "total")->integer, 10);
	struct node *task = at(e, "tasks", NULL)->items[1];
	assert_int_equal(node_get(at(task, "metrics", "val_loss"), "value")->count, 3);
	assert_int_equal(at(at(e, "tasks", NULL)->items[2], "attempts", NULL)->count, 2);
}

static void test_analysis_puts_the_best_first_by_goal(void **state)
{
	struct fixture *f = *state;
	buf_clear(&f->text);
	struct json out = json_to(&f->text);
	json_map(&out);
	struct store_progress walk;
	assert_int_equal(store_json_best(f->store, 2, &walk, &out), 0);
	json_key(&out, "progress");
	json_list(&out);
	while (store_json_progress(f->store, 2, &walk, 2, &out) == 2)
		;
	json_end(&out);
	json_end(&out);
	struct node *a = parse(f);
	assert_int_equal(node_get_int(at(a, "best", NULL)->items[0], "task", 0), 2);
	struct node *progress = at(a, "progress", NULL);
	assert_int_equal(progress->count, 3);
	assert_true(node_get_real(progress->items[2], "value", 0) == 0.8);
	assert_true(node_get_real(progress->items[2], "best", 0) == 0.9);
}

/* One piece of the answer must not cost what all of them cost. */
static void test_a_piece_of_the_progress_reads_its_own_tasks(void **state)
{
	struct fixture *f = *state;
	run_sql(f,
		"WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2099) "
		"INSERT INTO task (experiment, number, state, created_ms, finished_ms, parameters, best) "
		"SELECT 2, i, 3, 1, 1700000000000 + (i * 7919) % 2000, '{}', i FROM n");
	struct json out = json_to(&f->text);
	struct store_progress walk = {.best = NAN};
	json_list(&out);
	int pieces = 0;
	while (store_json_progress(f->store, 2, &walk, 50, &out) == 50)
		pieces++;
	json_end(&out);
	assert_int_equal(pieces, 40);
	struct node *progress = parse(f);
	assert_int_equal(progress->count, 2003);
	int found = 0;
	for (sqlite3_stmt *s = sqlite3_next_stmt(store_db(f->store), NULL); s;
	     s = sqlite3_next_stmt(store_db(f->store), s)) {
		if (!strstr(sqlite3_sql(s), "SELECT number, finished_ms, best"))
			continue;
		found++;
		assert_int_equal(sqlite3_stmt_status(s, SQLITE_STMTSTATUS_SORT, 0), 0);
		assert_in_range(sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 0), 1, 100000);
	}
	assert_int_equal(found, 1);
}

static void test_texts_only_of_known_columns(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_read_text(f->store, 1, "source", &f->text), 0);
	assert_string_equal(buf_text(&f->text), "name: x");
	assert_int_equal(store_read_text(f->store, 2, "source", &f->text), -ENOENT);
	assert_int_equal(store_read_text(f->store, 1, "spec; DROP TABLE task", &f->text), -EINVAL);
}

static void test_the_pace_is_the_median_of_the_newest_of_the_same_program(void **state)
{
	struct fixture *f = *state;
	struct store_pace pace;
	assert_int_equal(store_read_pace(f->store, "model.py", NULL, &pace), 0);
	assert_int_equal(pace.experiment, 1);
	assert_int_equal(pace.median_ms, 2500); /* the one that still runs does not count */
	assert_string_equal(pace.backend, "local");
	free(pace.parameters);
	assert_int_equal(store_read_pace(f->store, "other.py", NULL, &pace), -ENOENT);
	assert_int_equal(store_read_pace(f->store, NULL, NULL, &pace), -ENOENT);
	/* Of a script there is no command; a command is the same or it is another. */
	assert_int_equal(store_read_pace(f->store, "model.py", "[\"model.py\"]", &pace), -ENOENT);
	run_sql(f,
		"UPDATE experiment SET script = 'run', spec = '{\"command\": [\"run\", \"a\"]}', backend = 'slurm' WHERE id = 2;"
		"UPDATE task SET wall_ms = 300 - id WHERE experiment = 2");
	assert_int_equal(store_read_pace(f->store, "run", "[\"run\",\"b\"]", &pace), -ENOENT);
	assert_int_equal(store_read_pace(f->store, "run", "[\"run\",\"a\"]", &pace), 0);
	assert_int_equal(pace.experiment, 2);
	assert_int_equal(pace.median_ms, 278);
	assert_string_equal(pace.backend, "slurm");
	free(pace.parameters);
	/* The newest that has times, and none that is being removed. */
	run_sql(f, "UPDATE experiment SET script = 'model.py', spec = '{}'");
	assert_int_equal(store_read_pace(f->store, "model.py", NULL, &pace), 0);
	assert_int_equal(pace.experiment, 2);
	free(pace.parameters);
	run_sql(f, "UPDATE experiment SET removing = 1 WHERE id = 2");
	assert_int_equal(store_read_pace(f->store, "model.py", NULL, &pace), 0);
	assert_int_equal(pace.experiment, 1);
	free(pace.parameters);
	run_sql(f, "UPDATE task SET wall_ms = NULL WHERE id = 11");
	assert_int_equal(store_read_pace(f->store, "model.py", NULL, &pace), -ENOENT);
}

static void test_a_program_is_known_behind_a_hundred_experiments_of_others(void **state)
{
	struct fixture *f = *state;
	struct store_pace pace;
	run_sql(f,
		"CREATE TEMP TABLE other AS SELECT * FROM experiment WHERE id = 1;"
		"CREATE TEMP TABLE tallied AS SELECT * FROM tally WHERE experiment = 1;"
		"UPDATE other SET script = 'other.py'");
	for (int i = 0; i < 120; i++)
		run_sql(f,
			"UPDATE other SET id = (SELECT max(id) + 1 FROM experiment);"
			"UPDATE tallied SET experiment = (SELECT id FROM other);"
			"INSERT INTO experiment SELECT * FROM other; INSERT INTO tally SELECT * FROM tallied");
	assert_int_equal(store_read_pace(f->store, "model.py", NULL, &pace), 0);
	assert_int_equal(pace.experiment, 1);
	free(pace.parameters);
}

static void test_what_waiting_tasks_wait_for_is_told_once_and_read_everywhere(void **state)
{
	struct fixture *f = *state;
	const struct store_page page = {.limit = 10};
	run_sql(f,
		"UPDATE experiment SET note = 'waits for 1 CPU: e2 has 2 of 2' WHERE id = 1;"
		"INSERT INTO task (id, experiment, number, state, reason, parameters, created_ms) VALUES"
		" (15, 1, 5, 0, 'exit code 1; retry 1 of 3', '{}', 1)");
	struct json out = json_to(&f->text);
	assert_int_equal(store_json_tasks(f->store, 1, &page, &out), 0);
	struct node *items = at(parse(f), "items", NULL);
	assert_int_equal(items->count, 5);
	for (size_t i = 0; i < 3; i++) { /* finished, running, error */
		assert_null(node_get_string(items->items[i], "reason"));
		assert_null(node_get_string(items->items[i], "waiting_for"));
	}
	assert_null(node_get_string(items->items[3], "reason"));
	assert_string_equal(node_get_string(items->items[3], "waiting_for"), "waits for 1 CPU: e2 has 2 of 2");
	assert_string_equal(node_get_string(items->items[4], "reason"), "exit code 1; retry 1 of 3");
	assert_string_equal(node_get_string(items->items[4], "waiting_for"), "waits for 1 CPU: e2 has 2 of 2");

	/* While some of its tasks run it is no news that others wait. */
	out = json_to(&f->text);
	assert_int_equal(store_json_experiment(f->store, 1, &out), 0);
	struct node *e = parse(f);
	assert_null(node_get_string(e, "note"));
	assert_string_equal(node_get_string(e, "waiting_for"), "waits for 1 CPU: e2 has 2 of 2");
	run_sql(f, "UPDATE task SET state = 0 WHERE id = 12");
	out = json_to(&f->text);
	assert_int_equal(store_json_experiment(f->store, 1, &out), 0);
	assert_string_equal(node_get_string(parse(f), "note"), "waits for 1 CPU: e2 has 2 of 2");

	run_sql(f, "UPDATE experiment SET note = NULL");
	out = json_to(&f->text);
	assert_int_equal(store_json_task(f->store, 1, 5, &out), 0);
	assert_string_equal(node_get_string(parse(f), "reason"), "exit code 1; retry 1 of 3");
	out = json_to(&f->text);
	assert_int_equal(store_json_task(f->store, 1, 4, &out), 0);
	assert_null(node_get_string(parse(f), "reason"));
}

/* The newest hundred are listed; the sums have all. */
static void test_energy_lists_the_newest_experiments(void **state)
{
	struct fixture *f = *state;
	static const struct tariff flat = {0}, by_hour = {.price = {.known = true, .by_hour = true}};
	run_sql(f,
		"WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 250)"
		" INSERT INTO experiment (id, name, state, created_ms, spec, parameters, varying, objective, strategy,"
		" seed, planned, backend) SELECT i, i, 3, 1, '{}', '[]', '[]', '[]', 'grid', 1, 2, 'local' FROM n;"
		"INSERT INTO task (experiment, number, state, parameters, created_ms, started_ms, finished_ms, energy_j,"
		" energy_source, attempt) SELECT e.id, k.column1, k.column2, '{}', 1, 1, 2, 10, 'NVML', 1"
		" FROM experiment e, (VALUES (1, 3), (2, 4)) k WHERE e.id > 100;");
	for (int i = 0; i < 2; i++) {
		WRITE(assert_int_equal(store_json_energy(f->store, 0, i ? &by_hour : &flat, &out), 0));
		struct node *answer = parse(f), *list = node_get(answer, "by_experiment");
		assert_int_equal(node_get_int(node_get(answer, "total"), "tasks", 0), 307);
		assert_int_equal(list->count, 100);
		assert_string_equal(node_get_string(list->items[0], "experiment"), "e250");
		assert_string_equal(node_get_string(list->items[99], "experiment"), "e151");
		for (size_t n = 0; n < list->count; n++) {
			assert_int_equal(node_get_int(list->items[n], "tasks", 0), 2);
			assert_int_equal(node_get_int(at(list->items[n], "failed", NULL), "tasks", 0), 1);
		}
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_experiment_summary_counts_and_costs),
		CASE(test_experiment_detail_has_what_the_page_needs),
		CASE(test_removed_experiment_is_nowhere),
		CASE(test_experiments_are_paged_newest_first),
		CASE(test_task_summary_says_unknown_as_null_and_nan_as_nan),
		CASE(test_task_detail_has_timeline_and_attempts),
		CASE(test_tasks_in_every_order_each_once_over_pages),
		CASE(test_metrics_default_to_the_objective),
		CASE(test_a_curve_has_the_places_on_its_axis),
		CASE(test_thinning_keeps_first_last_minimum_maximum_and_nan),
		CASE(test_rounding_keeps_the_digits_that_tell_neighbours_apart),
		CASE(test_an_answer_in_pieces_is_the_answer),
		CASE(test_csv_quotes_and_leaves_unknown_empty),
		CASE(test_export_holds_every_task_with_curves_and_attempts),
		CASE(test_analysis_puts_the_best_first_by_goal),
		CASE(test_a_piece_of_the_progress_reads_its_own_tasks),
		CASE(test_texts_only_of_known_columns),
		CASE(test_energy_lists_the_newest_experiments),
		CASE(test_what_waiting_tasks_wait_for_is_told_once_and_read_everywhere),
		CASE(test_the_pace_is_the_median_of_the_newest_of_the_same_program),
		CASE(test_a_program_is_known_behind_a_hundred_experiments_of_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
