/* Databases that an earlier version wrote: after the migration everything is still there, and the tally adds up. */
#include "store/json.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

extern const char *const store_migrations[];
extern const size_t store_migration_count;

/* The last version that has every column of these rows. */
#define ROWS_UNTIL 3
/* As version 1 wrote it: later columns have their defaults. */
static const char rows[] =
	"INSERT INTO experiment (id, name, created_ms, spec, source, parameters, varying, objective, strategy, seed, planned,"
	" backend, best_task) VALUES (7, 'old', 1, '{}', 'name: old', '[]', '[]', '[{\"metric\":\"loss\",\"goal\":\"min\"}]',"
	" 'grid', 420, 40, 'local', 3);"
	"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
	"INSERT INTO task (id, experiment, number, state, parameters, created_ms, best, best_step, attempt, wall_ms, cpu_ms,"
	" max_rss, energy_j, energy_source) SELECT i, 7, i, i % 7, json_object('lr', i), 1, 1.0 / i, 2, 1, i * 1000,"
	" CASE WHEN i % 2 THEN i END, CASE WHEN i % 4 THEN i * 1000000000 END, CASE WHEN i % 3 = 0 THEN i * 1.5 END, CASE WHEN i % 3 = 0 THEN 'NVML' END FROM n;"
	"INSERT INTO attempt (task, number, token, idx, state, created_ms, wall_ms, max_rss) SELECT id, 1, 'token' || id, 0,"
	" state, 1, wall_ms, max_rss FROM task;"
	"INSERT INTO history (task, time_ms, state) SELECT id, 1, 0 FROM task;"
	"INSERT INTO metric_name VALUES (1, 7, 'loss');"
	"INSERT INTO metric (task, name, step, value, time_ms) SELECT id, 1, number, best, 1 FROM task;"
	"INSERT INTO access_token (name, hash, created_ms) VALUES ('notebook', 'abc', 1);";

/* The rows of the tally that are not what the tasks add up to. */
static const char wrong[] =
	"WITH fresh AS (SELECT experiment, state, ifnull(energy_source, ''), count(*), ifnull(sum(wall_ms), 0), count(wall_ms),"
	" ifnull(sum(cpu_ms), 0), count(cpu_ms), ifnull(sum(gpu_ms), 0), count(gpu_ms), total(energy_j), count(energy_j)"
	" FROM task GROUP BY 1, 2, 3), kept AS (SELECT * FROM tally WHERE tasks != 0)"
	" SELECT (SELECT count(*) FROM (SELECT * FROM fresh EXCEPT SELECT * FROM kept))"
	" + (SELECT count(*) FROM (SELECT * FROM kept EXCEPT SELECT * FROM fresh))";

struct fixture {
	char dir[64], path[96];
	struct store *store;
};

static void run_sql(const char *path, const char *const list[], size_t count)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (size_t i = 0; i < count; i++) {
		char *message = NULL;
		if (sqlite3_exec(db, list[i], NULL, NULL, &message) != SQLITE_OK)
			fail_msg("%s", message);
	}
	sqlite3_close(db);
}

static int64_t read_number(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *row;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(row), SQLITE_ROW);
	int64_t number = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	sqlite3_close(db);
	return number;
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-migrate-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/sluice.db", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char *log = mem_printf("%s-wal", f->path);
	unlink(f->path);
	unlink(log);
	rmdir(f->dir);
	free(log);
	free(f);
	return 0;
}

static void write_version(struct fixture *f, size_t version)
{
	char mark[40];
	snprintf(mark, sizeof(mark), "PRAGMA user_version=%zu", version);
	unlink(f->path);
	size_t first = version < ROWS_UNTIL ? version : ROWS_UNTIL;
	run_sql(f->path, store_migrations, first);
	run_sql(f->path, (const char *const[]){rows, mark}, 2);
	run_sql(f->path, store_migrations + first, version - first);
}

static void check_everything(struct fixture *f)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	int64_t counts[STORE_STATE_COUNT], total = 0;
	enum store_state before;
	assert_int_equal(store_count_tasks(f->store, 7, counts), 0);
	for (int i = 0; i < STORE_STATE_COUNT; i++)
		total += counts[i];
	assert_int_equal(total, 40);
	assert_int_equal(store_json_open_task(f->store, 7, 3, &w), 0);
	json_end(&w);
	assert_non_null(strstr(buf_text(&text), "\"parameters\":{\"lr\":3}"));
	assert_non_null(strstr(buf_text(&text), "\"attempts\":[{"));
	assert_non_null(strstr(buf_text(&text), "\"metrics\":[\"loss\"]"));
	/* of the task, and of its attempt */
	const char *memory = strstr(buf_text(&text), "\"max_rss_bytes\":3000000000}");
	assert_non_null(memory);
	assert_non_null(strstr(memory + 1, "\"max_rss_bytes\":3000000000}"));
	buf_clear(&text);
	w = json_to(&text);
	assert_int_equal(store_json_task(f->store, 7, 4, &w), 0);
	assert_non_null(strstr(buf_text(&text), "\"max_rss_bytes\":null,"));
	buf_clear(&text);
	assert_int_equal(store_read_text(f->store, 7, "source", &text), 0);
	assert_string_equal(buf_text(&text), "name: old");
	buf_free(&text);
	/* The triggers of the newest version go on from there. */
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_set_task_state(f->store, 3, STORE_STOPPED, NULL, NULL, 2, &before), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_int_equal(before, STORE_FINISHED);
}

static void test_every_version_is_taken_over_whole(void **state)
{
	struct fixture *f = *state;
	for (size_t version = 1; version < store_migration_count; version++) {
		struct error err = {0};
		write_version(f, version);
		if (store_open(f->path, &f->store, &err) < 0)
			fail_msg("version %zu: %s", version, err.text);
		check_everything(f);
		store_close(f->store);
		assert_int_equal(read_number(f->path, "PRAGMA user_version"), store_migration_count);
		assert_int_equal(read_number(f->path, wrong), 0);
		assert_int_equal(read_number(f->path, "SELECT count(*) FROM metric"), 40);
		assert_int_equal(read_number(f->path, "SELECT count(*) FROM access_token"), 1);
	}
}

/* What was recognised by its words has a column or a kind now. The states: 1 submitted, 2 running, 3 finished. */
static void test_what_was_known_by_its_words_is_kept(void **state)
{
	struct fixture *f = *state;
	write_version(f, 13);
	const char *const reasons[] = {
		"UPDATE task SET reason = 'makes no progress: no metrics for 3 m' WHERE id IN (2, 3)",
		"UPDATE task SET reason = 'no sign of life from its runner for 2 minutes' WHERE id IN (9, 10)",
		"UPDATE task SET reason = 'slower than its siblings: twice' WHERE id IN (16, 17)",
		"UPDATE task SET reason = 'waits for a GPU' WHERE id = 23",
		"UPDATE experiment SET warnings = '[\"no objective is set: x\",\"gpu_type has no \\\"effect\\\"\","
		"\"no value for the objective: y\",\"the energy of task 3 was not measured\",\"left out: n1\","
		"\"the script was replaced at noon\"]'",
	};
	run_sql(f->path, reasons, COUNT_OF(reasons));
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	store_close(f->store);
	assert_int_equal(read_number(f->path, "SELECT count(*) FROM attempt WHERE stall IS NOT NULL"), 1);
	assert_int_equal(
		read_number(f->path, "SELECT task FROM attempt WHERE stall = 'makes no progress: no metrics for 3 m'"),
		2);
	assert_int_equal(
		read_number(f->path, "SELECT sum(task) FROM attempt WHERE slow = 'slower than its siblings: twice'"),
		16);
	assert_int_equal(read_number(f->path, "SELECT count(*) FROM attempt WHERE silent"), 1);
	assert_int_equal(read_number(f->path, "SELECT task FROM attempt WHERE silent"), 9);
	assert_int_equal(
		read_number(
			f->path,
			"SELECT warnings = '[{\"kind\":\"unset\",\"text\":\"no objective is set: x\"},"
			"{\"kind\":\"setting\",\"text\":\"gpu_type has no \\\"effect\\\"\"},"
			"{\"kind\":\"missing\",\"text\":\"no value for the objective: y\"},"
			"{\"kind\":\"energy\",\"text\":\"the energy of task 3 was not measured\"},"
			"{\"kind\":\"nodes\",\"text\":\"left out: n1\"},"
			"{\"kind\":\"script\",\"text\":\"the script was replaced at noon\"}]' FROM experiment WHERE id = 7"),
		1);
}

static void test_a_migration_that_fails_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	write_version(f, 1);
	run_sql(f->path, (const char *const[]){"CREATE TABLE tally (x)"}, 1);
	assert_true(store_open(f->path, &f->store, &err) < 0);
	assert_non_null(strstr(err.text, "tally"));
	assert_int_equal(read_number(f->path, "PRAGMA user_version"), 1);
	assert_int_equal(read_number(f->path, "SELECT count(*) FROM task"), 40);
	assert_int_equal(
		read_number(f->path, "SELECT count(*) FROM pragma_table_info('experiment') WHERE name = 'sweep'"), 0);
}

static void test_a_newer_database_is_refused_and_left_alone(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	write_version(f, 1);
	run_sql(f->path, (const char *const[]){"PRAGMA user_version=99"}, 1);
	assert_int_equal(store_open(f->path, &f->store, &err), -EINVAL);
	assert_non_null(strstr(err.text, "newer sluice"));
	assert_int_equal(read_number(f->path, "PRAGMA user_version"), 99);
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_version_is_taken_over_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_known_by_its_words_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_migration_that_fails_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_newer_database_is_refused_and_left_alone, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
