/* The samples of a task: a list of limited length that covers the task's whole life. When it is full, pairs of samples
 * are joined, and from then on as many new ones are joined into one: the resolution halves, and the list is half empty
 * again. See rows.h and json.h. */
#include "base/mem.h"
#include "base/num.h"
#include "base/sample.h"
#include "store/json_row.h"
#include "store/rows.h"
#include "store/rows_row.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char sql_last[] =
	"SELECT seq, time_ms, weight, data, (SELECT weight FROM sample WHERE task = ?1 AND seq = 0) FROM sample "
	"WHERE task = ?1 ORDER BY seq DESC LIMIT 1";
static const char sql_put[] =
	"INSERT OR REPLACE INTO sample (task, seq, time_ms, weight, data) VALUES (?1, ?2, ?3, ?4, ?5)";
static const char sql_each[] = "SELECT seq, time_ms, weight, data FROM sample WHERE task = ?1 ORDER BY seq";
static const char sql_clear[] = "DELETE FROM sample WHERE task = ?1 AND seq >= ?2";
static const char sql_find_task[] = "SELECT t.id, t.started_ms, t.gpus FROM task t JOIN experiment e "
				    "ON e.id = t.experiment AND e.removing = 0 "
				    "WHERE t.experiment = ?1 AND t.number = ?2";

static int sample_read(sqlite3_stmt *row, struct sample *ret)
{
	size_t len = (size_t)sqlite3_column_bytes(row, 3);
	if (!sample_unpack(sqlite3_column_blob(row, 3), len, ret))
		return -EIO;
	ret->time_ms = row_int(row, 1);
	ret->weight = (uint32_t)row_int(row, 2);
	return 0;
}

static int sample_put(struct store *store, int64_t task, int64_t seq, const struct sample *sample)
{
	unsigned char data[SAMPLE_PACKED_MAX];
	struct store_blob blob = {data, sample_pack(sample, data)};
	return store_run(store, sql_put, "iiiib", task, seq, sample->time_ms, (int64_t)sample->weight, &blob);
}

/* Joins the pairs of a full list. */
static int sample_halve(struct store *store, int64_t task)
{
	VEC(struct sample) all = {0};
	sqlite3_stmt *row = store_bind(store, sql_each, "i", task);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct sample sample;
		if ((rc = sample_read(row, &sample)) < 0) {
			store_end(row);
			break;
		}
		vec_push(&all, sample);
	}
	size_t kept = 0;
	for (size_t i = 0; rc == 0 && i < all.len; i += 2) {
		if (i + 1 < all.len)
			sample_join(&all.at[i], &all.at[i + 1]);
		rc = sample_put(store, task, (int64_t)kept++, &all.at[i]);
	}
	if (rc == 0)
		rc = store_run(store, sql_clear, "ii", task, (int64_t)kept);
	free(all.at);
	return rc;
}

int store_add_sample(struct store *store, int64_t task, const struct sample *sample)
{
	struct sample last;
	sqlite3_stmt *row = store_bind(store, sql_last, "i", task);
	int rc = store_step(store, row);
	if (rc < 0)
		return rc;
	int64_t seq = rc > 0 ? row_int(row, 0) : -1;
	uint32_t most = rc > 0 ? (uint32_t)row_int(row, 4) : 1;
	bool bad = rc > 0 && sample_read(row, &last) < 0;
	store_end(row);
	if (bad)
		return -EIO;
	if (seq >= 0 && last.weight < most) {
		sample_join(&last, sample);
		return sample_put(store, task, seq, &last);
	}
	if (seq + 1 >= (int64_t)sample_most_rows(sample->gpu_count)) {
		rc = sample_halve(store, task);
		return rc < 0 ? rc : store_add_sample(store, task, sample);
	}
	return sample_put(store, task, seq + 1, sample);
}

int store_last_sample(struct store *store, int64_t task, struct sample *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_last, "i", task);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	rc = sample_read(row, ret);
	store_end(row);
	return rc;
}

int store_clear_samples(struct store *store, int64_t task)
{
	return store_run(store, sql_clear, "ii", task, (int64_t)0);
}

int store_each_sample(struct store *store, int64_t task, store_sample_f each, void *ctx)
{
	sqlite3_stmt *row = store_bind(store, sql_each, "i", task);
	int rc;
	while ((rc = store_step(store, row)) > 0) {
		struct sample sample;
		if ((rc = sample_read(row, &sample)) < 0 || (rc = each(ctx, &sample)) < 0) {
			store_end(row);
			break;
		}
	}
	return rc;
}

typedef VEC(struct sample) sample_list;

static int sample_collect_cb(void *ctx, const struct sample *sample)
{
	sample_list *list = ctx;
	vec_push(list, *sample);
	return 0;
}

/* One figure of all samples, unless none of them knows it. `offset` is its place in struct sample. */
static void sample_put_column(const sample_list *list, const char *key, size_t offset, struct json *out)
{
	bool any = false;
	for (size_t i = 0; i < list->len && !any; i++)
		any = !isnan(*(const double *)((const char *)&list->at[i] + offset));
	if (!any)
		return;
	json_key(out, key);
	json_list(out);
	for (size_t i = 0; i < list->len; i++) {
		double value = *(const double *)((const char *)&list->at[i] + offset);
		if (isnan(value))
			json_put_null(out);
		else
			cost_write_value(num_round(value, 5), out);
	}
	json_end(out);
}

static void sample_put_figures(const char *key, const struct sample_figure *figures, size_t count, struct json *out)
{
	json_key(out, key);
	json_list(out);
	for (size_t i = 0; i < count; i++) {
		json_map(out);
		json_key_string(out, "key", figures[i].key);
		json_key_string(out, "label", figures[i].label);
		json_key_string(out, "unit", figures[i].unit);
		json_end(out);
	}
	json_end(out);
}

static void sample_put_gpus(const sample_list *list, const char *ids, struct json *out)
{
	size_t count = 0;
	for (size_t i = 0; i < list->len; i++)
		count = list->at[i].gpu_count > count ? list->at[i].gpu_count : count;
	json_key(out, "gpus");
	json_list(out);
	for (size_t g = 0; g < count; g++) {
		size_t n = strcspn(ids, ",");
		json_map(out);
		json_key(out, "id");
		json_put_string_n(out, ids, n);
		for (size_t f = 0; f < SAMPLE_GPU_COUNT; f++)
			sample_put_column(list, sample_gpu_figures[f].key,
					  offsetof(struct sample, gpu) + (g * SAMPLE_GPU_COUNT + f) * sizeof(double),
					  out);
		json_end(out);
		ids += n + (ids[n] == ',');
	}
	json_end(out);
}

static void sample_put_list(const sample_list *list, int64_t started_ms, const char *ids, struct json *out)
{
	json_key(out, "time_s");
	json_list(out);
	for (size_t i = 0; i < list->len; i++) {
		int64_t passed = list->at[i].time_ms - started_ms;
		json_put_real(out, (double)(passed > 0 ? passed : 0) / 1000);
	}
	json_end(out);
	json_key(out, "host");
	json_map(out);
	for (size_t f = 0; f < SAMPLE_HOST_COUNT; f++)
		sample_put_column(list, sample_host_figures[f].key, offsetof(struct sample, host) + f * sizeof(double),
				  out);
	json_end(out);
	sample_put_gpus(list, ids, out);
	json_key(out, "figures");
	json_map(out);
	sample_put_figures("host", sample_host_figures, SAMPLE_HOST_COUNT, out);
	sample_put_figures("gpu", sample_gpu_figures, SAMPLE_GPU_COUNT, out);
	json_end(out);
}

int store_json_samples(struct store *store, int64_t experiment, int64_t number, struct json *out)
{
	char id[48];
	sample_list list = {0};
	sqlite3_stmt *row = store_bind(store, sql_find_task, "ii", experiment, number);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	int64_t task = row_int(row, 0), started_ms = row_int(row, 1);
	char *ids = mem_strdup(row_text(row, 2) ? row_text(row, 2) : "");
	store_end(row);
	rc = store_each_sample(store, task, sample_collect_cb, &list);
	snprintf(id, sizeof(id), "e%" PRId64 "/%" PRId64, experiment, number);
	json_map(out);
	json_key_string(out, "task", id);
	sample_put_list(&list, started_ms, ids, out);
	json_end(out);
	free(list.at);
	free(ids);
	return rc;
}
