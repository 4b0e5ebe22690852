/* A database with a damaged page: whatever is read from it is right, or an error. A list is never shorter than it was. */
#include "base/clock.h"
#include "base/fs.h"
#include "store/access.h"
#include "store/json.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE 4096
#define TASKS 60

static int64_t fixed_clock(void)
{
	return 1700000010000;
}

struct fixture {
	char dir[64], whole[96], copy[96];
	struct store *store;
	int failures; /* that the listener heard of */
};

static void failed_cb(void *ctx, const char *text)
{
	struct fixture *f = ctx;
	assert_true(*text);
	f->failures++;
}

/* Two experiments; enough tasks, metrics and history for trees of several pages, and texts of several pages. */
static void fill(struct store *store)
{
	static const char sql[] =
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
		"INSERT INTO task (id, experiment, number, state, parameters, created_ms, started_ms, finished_ms, best,"
		" best_step, last, last_step, step, attempt, wall_ms, energy_j, energy_source, fidelity, reason, node)"
		" SELECT i, 1 + i % 2, (i + 1) / 2, 2 + i % 5, json_object('lr', i / 10.0, 'pad', hex(zeroblob(150))), 1,"
		" 1700000000000 + i, 1700000001000 + i, 1.0 / i, 3, 0.5, 4, 4, 1, 1000 + i, 1.5 * i, 'NVML', i % 3,"
		" 'reason ' || i, 'node' || i FROM n;"
		"INSERT INTO metric_name VALUES (1, 1, 'loss'), (2, 1, 'val_loss'), (3, 2, 'loss');"
		"INSERT INTO metric (task, name, step, value, time_ms) SELECT t.id, m.id, s.id, t.id + 1.0 / s.id, 1 FROM task t JOIN metric_name m"
		" ON m.experiment = t.experiment, task s;"
		"INSERT INTO history (task, time_ms, state, reason) SELECT id, 1, 0, NULL FROM task UNION ALL"
		" SELECT id, 2, 2, 'started on ' || node FROM task;"
		"INSERT INTO batch (token, experiment, backend, state, created_ms) SELECT 'token' || id, experiment,"
		" 'local', 1, id FROM task;"
		"INSERT INTO attempt (task, number, token, idx, state, created_ms, node, cause) SELECT id, 1, 'token' || id,"
		" 0, state, 1, node, '{\"kind\":\"exit\"}' FROM task;"
		"INSERT INTO search_event SELECT 1 + i % 2, i, i % 2, i, 0, json_object('pad', hex(zeroblob(100)))"
		" FROM (SELECT id AS i FROM task);"
		"INSERT INTO access_token (name, hash, created_ms) SELECT 'token ' || id, hex(zeroblob(30)) || id, 1 FROM task;"
		"INSERT INTO session SELECT hex(zeroblob(30)) || id, 'csrf', 1, 1800000000000 FROM task;";
	char *pad = mem_alloc(9001);
	memset(pad, 'x', 9000);
	assert_int_equal(store_begin(store, NULL), 0);
	for (int i = 0; i < 2; i++) {
		char *spec = mem_printf("{\"pass\":\"flags\",\"resources\":{\"gpus\":1},\"pad\":\"%s\"}", pad);
		struct store_experiment row = {
			.name = "an experiment",
			.description = pad,
			.spec = spec,
			.source_name = "x.yaml",
			.source = pad,
			.parameters = "[{\"name\":\"lr\"},{\"name\":\"pad\"}]",
			.varying = "[\"lr\"]",
			.objective = "[{\"metric\":\"loss\",\"goal\":\"min\"}]",
			.strategy = "grid",
			.strategy_reason = "few",
			.backend = "local",
			.script = "model.py",
			.warnings = "[]",
			.batch_script = pad,
			.created_ms = 1700000000000,
			.seed = 420,
			.planned = 30,
			.parallel = 3,
		};
		int64_t id;
		assert_int_equal(store_add_experiment(store, &row, &id), 0);
		assert_int_equal(id, i + 1);
		free(spec);
	}
	free(pad);
	char *message = NULL;
	if (sqlite3_exec(store_db(store), sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	assert_int_equal(store_update_best(store, 1, false, false), 0);
	assert_int_equal(store_update_best(store, 2, true, false), 0);
	assert_int_equal(store_commit(store, NULL), 0);
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-damage-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->whole, sizeof(f->whole), "%s/whole.db", f->dir);
	snprintf(f->copy, sizeof(f->copy), "%s/copy.db", f->dir);
	clock_replace(fixed_clock);
	assert_int_equal(store_open(f->whole, &f->store, NULL), 0);
	fill(f->store);
	store_close(f->store);
	f->store = NULL;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const ends[] = {"whole.db", "whole.db-wal", "copy.db", "copy.db-wal"};
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		char *path = mem_printf("%s/%s", f->dir, ends[i]);
		unlink(path);
		free(path);
	}
	rmdir(f->dir);
	clock_replace(NULL);
	free(f);
	return 0;
}

/* One question to the store: its answer as text. */
struct question {
	const char *name;
	int (*ask)(struct store *store, struct buf *out);
};

static int ask_experiments(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	return store_json_experiments(store, &(struct store_page){.limit = 10}, &w);
}

static int ask_experiment(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	return store_json_open_experiment(store, 1, &w);
}

static int ask_tasks(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	return store_json_tasks(store, 1, &(struct store_page){.limit = 1000}, &w);
}

static int ask_sorted(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	return store_json_tasks(store, 2, &(struct store_page){.limit = 7, .sort = "best", .state = "finished"}, &w);
}

static int ask_task(struct store *store, struct buf *out)
{
	int rc = 0;
	for (int64_t number = 1; rc == 0 && number <= TASKS / 2; number++) {
		struct json w = json_to(out);
		rc = store_json_open_task(store, 2, number, &w);
	}
	return rc;
}

static int ask_task_metrics(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	return store_json_task_metrics(store, 1, 3, 0, STORE_AXIS_STEP, &w);
}

static int ask_pieces(int rc, struct pieces *pieces, struct buf *out)
{
	return rc < 0 ? rc : pieces_finish(pieces, out);
}

static int ask_metrics(struct store *store, struct buf *out)
{
	struct pieces pieces = {0};
	struct store_curves asked = {.name = "val_loss", .points = 100, .to = INT64_MAX};
	return ask_pieces(store_json_metrics(store, 1, &asked, &pieces), &pieces, out);
}

static int ask_export(struct store *store, struct buf *out)
{
	struct pieces pieces = {0};
	return ask_pieces(store_export(store, 1, "/f", false, &pieces), &pieces, out);
}

static int ask_csv(struct store *store, struct buf *out)
{
	struct pieces pieces = {0};
	return ask_pieces(store_export(store, 2, "/f", true, &pieces), &pieces, out);
}

static int ask_best(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	struct store_progress progress;
	json_map(&w);
	int rc = store_json_best(store, 1, &progress, &w);
	json_key(&w, "progress");
	json_list(&w);
	if (rc == 0)
		rc = store_json_progress(store, 1, &progress, 1000, &w);
	json_end(&w);
	json_key(&w, "fidelities");
	if (rc >= 0)
		rc = store_json_fidelities(store, 1, &w);
	json_end(&w);
	return rc;
}

static int ask_tokens(struct store *store, struct buf *out)
{
	struct json w = json_to(out);
	return store_json_tokens(store, &w);
}

static int ask_source(struct store *store, struct buf *out)
{
	return store_read_text(store, 2, "source", out);
}

static int task_cb(void *ctx, const struct store_task *row)
{
	buf_addf(ctx, "%lld %d %s %g\n", (long long)row->number, row->state, row->parameters, row->best);
	return 0;
}

static int ask_rows(struct store *store, struct buf *out)
{
	return store_each_task(store, 1, 0, 1000, task_cb, out);
}

static int attempt_cb(void *ctx, const struct store_attempt *row)
{
	buf_addf(ctx, "%lld %lld %s\n", (long long)row->id, (long long)row->task_number, row->token);
	return 0;
}

static int ask_live(struct store *store, struct buf *out)
{
	return store_each_live(store, attempt_cb, out);
}

static int event_cb(void *ctx, const struct store_event *event)
{
	buf_addf(ctx, "%lld %s\n", (long long)event->seq, event->value);
	return 0;
}

static int ask_events(struct store *store, struct buf *out)
{
	return store_each_event(store, 2, event_cb, out);
}

static int ask_numbers(struct store *store, struct buf *out)
{
	int64_t number, event, asked, counts[STORE_STATE_COUNT];
	double value, *rivals = NULL;
	size_t rival_count = 0;
	int rc = store_last_number(store, 1, &number);
	if (rc == 0)
		rc = store_last_event(store, 1, &event);
	if (rc == 0)
		rc = store_last_asked(store, 1, &asked);
	if (rc == 0)
		rc = store_count_tasks(store, 1, counts);
	if (rc == 0)
		rc = store_read_objective(store, 1, 20, "loss", STORE_TAKE_LEAST, 1, &value);
	if (rc == 0)
		rc = store_read_rivals(store, 1, 20, "loss", 30, false, true, &rivals, &rival_count);
	if (rc == 0)
		buf_addf(out, "%lld %lld %lld %lld %g %zu", (long long)number, (long long)event, (long long)asked,
			 (long long)counts[STORE_FINISHED], value, rival_count);
	free(rivals);
	return rc;
}

static const struct question questions[] = {
	{"experiments", ask_experiments},
	{"experiment", ask_experiment},
	{"tasks", ask_tasks},
	{"tasks sorted", ask_sorted},
	{"task", ask_task},
	{"task metrics", ask_task_metrics},
	{"metrics", ask_metrics},
	{"export", ask_export},
	{"csv", ask_csv},
	{"analysis", ask_best},
	{"tokens", ask_tokens},
	{"source", ask_source},
	{"rows", ask_rows},
	{"live", ask_live},
	{"events", ask_events},
	{"numbers", ask_numbers},
};

/* A copy with the page overwritten; page -1: as it is. */
static void copy_with(struct fixture *f, const struct buf *whole, long page, char byte)
{
	int fd = open(f->copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, whole->data, whole->len), (ssize_t)whole->len);
	if (page >= 0) {
		char bytes[PAGE];
		memset(bytes, byte, sizeof(bytes));
		assert_int_equal(pwrite(fd, bytes, PAGE, page * PAGE), PAGE);
	}
	close(fd);
}

/* What the copy answers. Returns how many questions failed; an answer that is not the one in `right` is reported. */
static int ask_all(struct fixture *f, long page, struct buf right[])
{
	int failed = 0;
	for (size_t i = 0; i < COUNT_OF(questions); i++) {
		struct buf out = buf_make(BUF_UNLIMITED);
		int rc = questions[i].ask(f->store, &out);
		if (page < 0) {
			assert_int_equal(rc, 0);
			right[i] = out;
			continue;
		}
		if (rc < 0) {
			if (rc == -ENOENT)
				fail_msg("page %ld: '%s' says that there is nothing of that name", page,
					 questions[i].name);
			failed++;
		} else if (out.len != right[i].len || memcmp(out.data, right[i].data, out.len) != 0) {
			fail_msg("page %ld: '%s' is not what it was", page, questions[i].name);
		}
		buf_free(&out);
	}
	return failed;
}

static int check_all(struct store *store)
{
	char table[STORE_TABLE_CHARS] = "";
	struct buf out = buf_make(BUF_UNLIMITED);
	int rc, bad = 0;
	while ((rc = store_check(store, table, &out)) > 0) {
		bad += out.len > 0;
		buf_clear(&out);
	}
	buf_free(&out);
	return rc < 0 ? 1 : bad;
}

static void test_a_damaged_page_is_an_error_and_never_less(void **state)
{
	struct fixture *f = *state;
	struct buf whole = buf_make(BUF_UNLIMITED), right[COUNT_OF(questions)];
	int found = 0, answered = 0, refused = 0, unseen = 0;
	assert_int_equal(fs_read(f->whole, 1u << 30, &whole, NULL), 0);
	copy_with(f, &whole, -1, 0);
	assert_int_equal(store_open(f->copy, &f->store, NULL), 0);
	ask_all(f, -1, right);
	assert_int_equal(check_all(f->store), 0);
	store_close(f->store);
	for (long page = 0; page < (long)(whole.len / PAGE); page++) {
		struct error err = {0};
		copy_with(f, &whole, page, 0);
		f->failures = 0;
		if (store_open(f->copy, &f->store, &err) < 0) {
			assert_true(*err.text);
			refused++;
			continue;
		}
		store_on_failure(f->store, failed_cb, f);
		int failed = ask_all(f, page, right);
		found += failed > 0;
		answered += failed == 0;
		assert_true(failed == 0 || f->failures > 0);
		if (failed)
			unseen += check_all(f->store) == 0;
		store_close(f->store);
	}
	f->store = NULL;
	print_message(
		"# %zu pages: %d refused at the start, %d told, %d not needed, %d of the told not found by the check\n",
		whole.len / PAGE, refused, found, answered, unseen);
	assert_true(found > 20);
	for (size_t i = 0; i < COUNT_OF(questions); i++)
		buf_free(&right[i]);
	buf_free(&whole);
}

/* What was decided on half of the rows must not be kept. */
static void test_a_transaction_with_a_failed_read_is_not_kept(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	int64_t number;
	assert_int_equal(store_open(f->whole, &f->store, NULL), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_set_planned(f->store, 1, 77), 0);
	sqlite3_stmt *row = store_bind(f->store, "SELECT json_extract('{', '$.a')", "");
	assert_int_equal(store_step(f->store, row), -EIO);
	assert_true(store_commit(f->store, &err) < 0);
	assert_non_null(strstr(err.text, "could not be read"));
	row = store_bind(f->store, "SELECT planned FROM experiment WHERE id = 1", "");
	assert_int_equal(store_one(f->store, row), 0);
	assert_int_equal(row_int(row, 0), 30);
	store_end(row);
	/* The next one is a new one. */
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_last_number(f->store, 1, &number), 0);
	assert_int_equal(store_commit(f->store, &err), 0);
	store_close(f->store);
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_damaged_page_is_an_error_and_never_less, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_transaction_with_a_failed_read_is_not_kept, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
