/* The log goes out in one piece, and nothing of it is lost: not to a kill after the commit, not to reading back what
 * was not written yet, not to a transaction larger than the cache, not to a disk that is full. */
#include "store/sql.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 20000 /* with their texts several times the cache of 2 MB */

struct fixture {
	char dir[64], path[96], wal[112];
	struct store *store;
};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-vfs-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
	snprintf(f->wal, sizeof(f->wal), "%s-wal", f->path);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	assert_int_equal(store_run(f->store, "CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT NOT NULL)", ""), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	store_close(f->store);
	unlink(f->path);
	unlink(f->wal);
	rmdir(f->dir);
	free(f);
	return 0;
}

static int add_lines(struct store *store, int64_t from, int64_t count)
{
	int rc = 0;
	for (int64_t i = from; rc == 0 && i < from + count; i++)
		rc = store_run(store, "INSERT INTO line VALUES (?1, printf('%0300d', ?1))", "i", i);
	return rc;
}

static int64_t read_number(struct store *store, const char *sql)
{
	sqlite3_stmt *q = store_bind(store, sql, "");
	assert_int_equal(store_step(store, q), 1);
	int64_t number = sqlite3_column_int64(q, 0);
	sqlite3_reset(q);
	return number;
}

static void check(struct store *store, int64_t lines)
{
	static const char good[] = "SELECT count(*) FROM line WHERE text = printf('%0300d', id)";
	assert_int_equal(read_number(store, good), lines);
	sqlite3_stmt *q = store_bind(store, "PRAGMA integrity_check", "");
	assert_int_equal(store_step(store, q), 1);
	assert_string_equal(row_text(q, 0), "ok");
	sqlite3_reset(q);
}

static void test_what_was_committed_is_there_after_a_kill(void **state)
{
	struct fixture *f = *state;
	store_close(f->store);
	f->store = NULL;
	pid_t pid = fork();
	if (pid == 0) {
		struct store *store;
		if (store_open(f->path, &store, NULL) < 0)
			_exit(1);
		for (int i = 0; i < 50; i++)
			if (store_begin(store, NULL) < 0 || add_lines(store, 10 * i, 10) < 0 ||
			    store_commit(store, NULL) < 0)
				_exit(1);
		if (store_begin(store, NULL) < 0 || add_lines(store, 1000, 10) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	check(f->store, 500);
}

static void test_a_commit_is_in_the_log_before_it_is_over(void **state)
{
	struct fixture *f = *state;
	struct stat before, after;
	assert_int_equal(stat(f->wal, &before), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(add_lines(f->store, 0, 100), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_int_equal(stat(f->wal, &after), 0);
	assert_true(after.st_size > before.st_size + 30000);
}

static void test_a_transaction_larger_than_the_cache_reads_itself(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(add_lines(f->store, 0, ROWS), 0);
	assert_int_equal(read_number(f->store, "SELECT count(*) FROM line WHERE text = printf('%0300d', id)"), ROWS);
	store_rollback(f->store);
	check(f->store, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(store_begin(f->store, NULL), 0);
		assert_int_equal(add_lines(f->store, i * ROWS, ROWS), 0);
		assert_int_equal(store_commit(f->store, NULL), 0);
		check(f->store, (i + 1) * ROWS);
	}
	store_close(f->store);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	check(f->store, 2 * ROWS);
}

/* A limit on the size of files stands for the full disk: the write fails with another code, in the same place. */
static void test_a_commit_that_cannot_be_written_fails_and_leaves_what_was_there(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, tight;
	struct stat wal;
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(add_lines(f->store, 0, 100), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	assert_int_equal(stat(f->wal, &wal), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	tight = before;
	tight.rlim_cur = (rlim_t)wal.st_size + 10000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	int rc = add_lines(f->store, 100, 1000);
	int written = rc < 0 ? rc : store_commit(f->store, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(written < 0);
	store_rollback(f->store);
	check(f->store, 100);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(add_lines(f->store, 100, 1000), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	store_close(f->store);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	check(f->store, 1100);
}

/* Reading back may have to write first. Where that fails SQLite undoes the transaction: all of it, never a part. */
static void test_a_read_that_fails_undoes_the_whole_transaction(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, tight;
	struct stat wal;
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(add_lines(f->store, 0, ROWS), 0);
	assert_int_equal(stat(f->wal, &wal), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	tight = before;
	tight.rlim_cur = (rlim_t)wal.st_size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	int rc = store_step(f->store, store_bind(f->store, "SELECT sum(length(text)) FROM line", ""));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(rc < 0);
	/* Whoever did not hear of it goes on: nothing of that is kept, and the commit says so. */
	struct error err = {0};
	assert_int_equal(add_lines(f->store, ROWS, 1), -EIO);
	assert_int_equal(store_begin(f->store, NULL), -EIO);
	assert_int_equal(store_commit(f->store, &err), -EIO);
	assert_non_null(strstr(err.text, "undid"));
	check(f->store, 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(add_lines(f->store, 0, 100), 0);
	assert_int_equal(store_commit(f->store, NULL), 0);
	check(f->store, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_committed_is_there_after_a_kill, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_commit_is_in_the_log_before_it_is_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_transaction_larger_than_the_cache_reads_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_read_that_fails_undoes_the_whole_transaction, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_commit_that_cannot_be_written_fails_and_leaves_what_was_there,
						setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
