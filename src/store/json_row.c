/* Columns as JSON members: see json_row.h. */
#include "store/json_row.h"

#include "base/log.h"

#include <math.h>

bool row_next(sqlite3_stmt *row)
{
	int rc = sqlite3_step(row);
	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		log_error("store: %s", sqlite3_errmsg(sqlite3_db_handle(row)));
	sqlite3_reset(row);
	return false;
}

void row_put_text(sqlite3_stmt *row, int column, const char *key, struct json *out)
{
	json_key_string(out, key, row_text(row, column));
}

void row_put_json(sqlite3_stmt *row, int column, const char *key, struct json *out)
{
	json_key_raw(out, key, row_text(row, column));
}

void row_put_int(sqlite3_stmt *row, int column, const char *key, struct json *out)
{
	if (row_is_null(row, column))
		json_key_null(out, key);
	else
		json_key_int(out, key, sqlite3_column_int64(row, column));
}

void row_put_time(sqlite3_stmt *row, int column, const char *key, struct json *out)
{
	json_key_time(out, key, sqlite3_column_int64(row, column));
}

void row_put_seconds(sqlite3_stmt *row, int column, const char *key, struct json *out)
{
	if (row_is_null(row, column))
		json_key_null(out, key);
	else
		json_key_real(out, key, (double)sqlite3_column_int64(row, column) / 1000);
}

void row_put_state(sqlite3_stmt *row, int column, const char *key, struct json *out)
{
	json_key_string(out, key, store_state_name((enum store_state)sqlite3_column_int(row, column)));
}

void row_put_point(sqlite3_stmt *row, int value, int step, const char *key, struct json *out)
{
	json_key(out, key);
	if (row_is_null(row, step)) {
		json_null(out);
		return;
	}
	json_map(out);
	json_key_real(out, "value", row_is_null(row, value) ? NAN : sqlite3_column_double(row, value));
	json_key_int(out, "epoch", sqlite3_column_int64(row, step));
	json_end(out);
}

void row_put_cost(sqlite3_stmt *row, int first, struct json *out)
{
	json_key(out, "cost");
	json_map(out);
	row_put_seconds(row, first, "wall_s", out);
	row_put_seconds(row, first + 1, "cpu_s", out);
	row_put_seconds(row, first + 2, "gpu_s", out);
	row_put_int(row, first + 3, "max_rss_bytes", out);
	if (row_is_null(row, first + 4))
		json_key_null(out, "energy_j");
	else
		json_key_real(out, "energy_j", sqlite3_column_double(row, first + 4));
	const char *source = row_text(row, first + 5);
	json_key_string(out, "energy_source", source ? source : "not measured");
	json_end(out);
}
