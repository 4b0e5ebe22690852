/* Where a running task is and what it uses now: see json.h. */
#include "store/json.h"

#include "base/num.h"
#include "base/sample.h"
#include "store/rows.h"
#include "store/sql.h"

#include <errno.h>
#include <math.h>

static const char sql_place[] = "SELECT node, gpus, job, started_ms FROM task WHERE id = ?1";

static void place_key_real(struct json *out, const char *key, double value)
{
	json_key(out, key);
	if (isnan(value))
		json_put_null(out);
	else
		json_put_real(out, num_round(value, 5));
}

static int place_write_use(struct store *store, int64_t task, struct json *out)
{
	struct sample sample;
	int rc = store_last_sample(store, task, &sample);
	json_key(out, "use");
	if (rc < 0) {
		json_put_null(out);
		return rc == -ENOENT ? 0 : rc;
	}
	json_map(out);
	json_key_time(out, "time", sample.time_ms);
	place_key_real(out, "cpu_cores", sample.host[SAMPLE_HOST_CPU]);
	place_key_real(out, "memory_bytes", sample.host[SAMPLE_HOST_MEMORY]);
	json_key(out, "gpus");
	json_list(out);
	for (uint32_t i = 0; i < sample.gpu_count; i++) {
		json_map(out);
		place_key_real(out, "util_pct", sample.gpu[i][SAMPLE_GPU_UTIL]);
		place_key_real(out, "memory_bytes", sample.gpu[i][SAMPLE_GPU_MEMORY]);
		place_key_real(out, "power_w", sample.gpu[i][SAMPLE_GPU_POWER]);
		json_end(out);
	}
	json_end(out);
	json_end(out);
	return 0;
}

int store_json_place(struct store *store, int64_t task, struct json *out, struct buf *ret_node)
{
	sqlite3_stmt *row = store_bind(store, sql_place, "i", task);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	json_key_string(out, "node", row_text(row, 0));
	json_key_string(out, "gpus", row_text(row, 1));
	json_key_string(out, "job", row_text(row, 2));
	json_key_time(out, "started", row_int(row, 3));
	buf_add_text(ret_node, row_is_null(row, 0) ? "" : row_text(row, 0));
	store_end(row);
	return place_write_use(store, task, out);
}
