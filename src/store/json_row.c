/* Columns as JSON members: see json_row.h. */
#include "store/json_row.h"

int row_put_members(sqlite3_stmt *row, int first, const struct row_member *members, size_t count, struct json *out)
{
	for (size_t i = 0; i < count; i++) {
		members[i].put(row, first, members[i].key, out);
		first += members[i].columns;
	}
	return first;
}

int row_put_list(struct store *store, sqlite3_stmt *row, const char *key, const struct row_member *members,
		 size_t count, struct json *out)
{
	int rc;
	json_key(out, key);
	json_list(out);
	while ((rc = store_step(store, row)) > 0) {
		json_map(out);
		row_put_members(row, 1, members, count, out);
		json_end(out);
	}
	json_end(out);
	return rc;
}

void row_put_text(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_string(out, key, row_text(row, first));
}

void row_put_json(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_raw(out, key, row_text(row, first));
}

void row_put_int(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	if (row_is_null(row, first))
		json_key_null(out, key);
	else
		json_key_int(out, key, row_int(row, first));
}

void row_put_real(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	if (row_is_null(row, first))
		json_key_null(out, key);
	else
		json_key_real(out, key, row_real(row, first));
}

void row_put_time(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_time(out, key, row_int(row, first));
}

void row_put_seconds(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	if (row_is_null(row, first))
		json_key_null(out, key);
	else
		json_key_real(out, key, (double)row_int(row, first) / 1000);
}

void row_put_state(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_string(out, key, store_state_name((enum store_state)row_int(row, first)));
}

void row_put_point(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key(out, key);
	if (row_is_null(row, first + 1)) {
		json_null(out);
		return;
	}
	json_map(out);
	json_key_real(out, "value", row_real(row, first));
	json_key_int(out, "epoch", row_int(row, first + 1));
	json_end(out);
}

void row_put_cost(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key(out, key);
	json_map(out);
	row_put_seconds(row, first, "wall_s", out);
	row_put_seconds(row, first + 1, "cpu_s", out);
	row_put_seconds(row, first + 2, "gpu_s", out);
	row_put_int(row, first + 3, "max_rss_bytes", out);
	row_put_real(row, first + 4, "energy_j", out);
	const char *source = row_text(row, first + 5);
	json_key_string(out, "energy_source", source ? source : "not measured");
	json_end(out);
}
