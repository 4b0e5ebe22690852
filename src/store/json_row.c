/* Columns as JSON members: see json_row.h. */
#include "store/json_row.h"

#include <math.h>

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

void row_put_bool(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_bool(out, key, row_int(row, first));
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

void row_put_state(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_string(out, key, store_state_name((enum store_state)row_int(row, first)));
}

void row_put_point(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key(out, key);
	if (row_is_null(row, first + 1)) {
		json_put_null(out);
		return;
	}
	json_map(out);
	json_key_real(out, "value", row_real(row, first));
	json_key_int(out, "epoch", row_int(row, first + 1));
	json_end(out);
}

void row_put_figure(double value, const struct cost_figure *figure, struct json *out)
{
	if (isnan(value))
		json_key_null(out, figure->key);
	else
		json_key_real(out, figure->key, value / figure->per);
}

void row_put_cost(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key(out, key);
	json_map(out);
	for (enum figure f = 0; f < FIGURE_COUNT; f++)
		if (cost_figures[f].counted)
			row_put_figure(row_real(row, first++), &cost_figures[f], out);
	const char *source = row_text(row, first), *figures = row_text(row, first + 1);
	json_key_string(out, "energy_source", source ? source : "not measured");
	if (figures)
		json_members(out, figures);
	for (enum figure f = 0; !figures && f < FIGURE_COUNT; f++)
		if (!cost_figures[f].counted)
			json_key_null(out, cost_figures[f].key);
	json_end(out);
}
