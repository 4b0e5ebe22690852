/* The samples of a task: thinned out, never more than their limit, and never a hole in them. */
#include "../unit.h"

#include "base/limits.h"
#include "base/mem.h"
#include "store/json.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	char dir[64], path[96];
	struct store *store;
	int64_t experiment, task;
};

static int setup(void **state)
{
	static const struct store_experiment plain = {.name = "x",
						      .description = "",
						      .spec = "{}",
						      .parameters = "[]",
						      .varying = "[]",
						      .objective = "[]",
						      .strategy = "grid",
						      .backend = "local",
						      .warnings = "[]",
						      .created_ms = 1};
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-samples-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
	assert_int_equal(store_open(f->path, &f->store, NULL), 0);
	assert_int_equal(store_begin(f->store, NULL), 0);
	assert_int_equal(store_add_experiment(f->store, &plain, &f->experiment), 0);
	struct store_task task = {.experiment = f->experiment, .number = 1, .parameters = "{}", .repeat = 1};
	assert_int_equal(store_add_task(f->store, &task, 1000, &f->task), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(store_commit(f->store, NULL), 0);
	store_close(f->store);
	char *wal = mem_printf("%s-wal", f->path);
	unlink(f->path);
	unlink(wal);
	free(wal);
	rmdir(f->dir);
	free(f);
	return 0;
}

struct seen {
	size_t count;
	uint64_t weight;
	int64_t last_ms;
	double peak, cpu; /* times its weight */
};

static int seen_cb(void *ctx, const struct sample *sample)
{
	struct seen *seen = ctx;
	assert_true(sample->time_ms > seen->last_ms);
	seen->last_ms = sample->time_ms;
	seen->count++;
	seen->weight += sample->weight;
	seen->cpu += sample->host[SAMPLE_HOST_CPU] * sample->weight;
	if (sample->host[SAMPLE_HOST_MEMORY] > seen->peak)
		seen->peak = sample->host[SAMPLE_HOST_MEMORY];
	return 0;
}

static void add(struct fixture *f, size_t gpus, int64_t from, int64_t count)
{
	for (int64_t i = from; i < from + count; i++) {
		struct sample sample;
		sample_init(&sample, 1000 + i * 1000, gpus);
		sample.host[SAMPLE_HOST_CPU] = (double)(i % 4);
		sample.host[SAMPLE_HOST_MEMORY] = i == 777 ? 1e9 : 1e6;
		assert_int_equal(store_add_sample(f->store, f->task, &sample), 0);
	}
}

static int64_t bytes(struct fixture *f)
{
	static const char sql[] = "SELECT sum(length(data) + 24) FROM sample WHERE task = ?1";
	sqlite3_stmt *row = store_bind(f->store, sql, "i", f->task);
	assert_int_equal(store_one(f->store, row), 0);
	int64_t sum = row_int(row, 0);
	store_end(row);
	return sum;
}

static void any_number_of_samples_stays_below_the_limit(void **state)
{
	struct fixture *f = *state;
	for (size_t gpus = 0; gpus <= 8; gpus += 8) {
		struct seen seen = {0};
		assert_int_equal(store_clear_samples(f->store, f->task), 0);
		add(f, gpus, 0, 10000);
		assert_int_equal(store_each_sample(f->store, f->task, seen_cb, &seen), 0);
		assert_int_equal(seen.weight, 10000); /* none was lost, none counts twice */
		assert_int_equal(seen.last_ms, 10000000);
		assert_true(seen.cpu / 10000 > 1.499 && seen.cpu / 10000 < 1.501);
		assert_true(seen.peak == 1e9); /* the peak of memory stays visible */
		assert_true(bytes(f) <= LIMIT_SAMPLES_BYTES);
		assert_true(seen.count >= sample_most_rows(gpus) / 2 && seen.count <= sample_most_rows(gpus));
	}
}

static void few_samples_are_kept_as_they_came(void **state)
{
	struct fixture *f = *state;
	struct seen seen = {0};
	assert_int_equal(store_clear_samples(f->store, f->task), 0);
	add(f, 1, 0, 100);
	assert_int_equal(store_each_sample(f->store, f->task, seen_cb, &seen), 0);
	assert_int_equal(seen.count, 100);
}

static void columns_have_one_length_and_leave_out_what_is_not_known(void **state)
{
	struct fixture *f = *state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	assert_int_equal(store_clear_samples(f->store, f->task), 0);
	add(f, 1, 0, 2);
	assert_int_equal(store_json_samples(f->store, f->experiment, 1, &out), 0);
	assert_non_null(strstr(buf_text(&text),
			       "\"time_s\":[1,2],\"host\":{\"cpu_cores\":[0,1],\"memory_bytes\":"
			       "[1000000,1000000]},\"gpus\":[{\"id\":\"\"}]"));
	assert_int_equal(store_json_samples(f->store, f->experiment, 2, &out), -ENOENT);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_samples_stays_below_the_limit),
		cmocka_unit_test(few_samples_are_kept_as_they_came),
		cmocka_unit_test(columns_have_one_length_and_leave_out_what_is_not_known),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
