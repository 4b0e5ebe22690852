/* Some columns of all tasks of an experiment, for charts with a point a task: see json.h. A row of JSON for each task,
 * some of them a turn. */
#include "store/json.h"
#include "store/query.h"
#include "store/rows.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct columns {
	int64_t experiment, state, after, passed, one_of;
	struct query *query;
	struct filter *filter;
	VEC(size_t) wanted;
	VEC(char *) names; /* as they were asked for */
	struct json json;
};

static void columns_free(void *ctx)
{
	struct columns *columns = ctx;
	query_free(columns->query);
	filter_free(columns->filter);
	for (size_t i = 0; i < columns->names.len; i++)
		free(columns->names.at[i]);
	free(columns->names.at);
	free(columns->wanted.at);
	free(columns);
}

/* Is the task in a sample of one in so many? By a hash: every n-th task may have the same value of a choice that
 * alternates. */
static bool columns_in_sample(int64_t number, int64_t one_of)
{
	uint64_t hash = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return one_of <= 1 || (hash >> 32) % (uint64_t)one_of == 0;
}

static void columns_put_head(struct columns *columns)
{
	char id[24];
	struct json *out = &columns->json;
	snprintf(id, sizeof(id), "e%" PRId64, columns->experiment);
	json_map(out);
	json_key_string(out, "experiment", id);
	json_key(out, "columns");
	json_list(out);
	for (size_t i = 0; i < columns->names.len; i++)
		json_put_string(out, columns->names.at[i]);
	json_end(out);
	json_key_int(out, "one_of", columns->one_of);
	json_key(out, "rows");
	json_list(out);
}

static void columns_put_row(struct columns *columns, int64_t number)
{
	struct json *out = &columns->json;
	json_list(out);
	json_put_int(out, number);
	for (size_t i = 0; i < columns->wanted.len; i++)
		query_put_cell(columns->query, columns->wanted.at[i], out);
	json_end(out);
}

static int columns_make(void *ctx, struct buf *out)
{
	struct columns *columns = ctx;
	struct filter_row row = {query_row_value, query_has_word, columns->query};
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS, number;
	int rc;
	columns->json.out = out;
	if (!columns->json.depth)
		columns_put_head(columns);
	query_begin(columns->query, columns->experiment, columns->after, columns->state);
	while ((rc = query_next(columns->query, &number)) > 0) {
		columns->after = number;
		if (filter_holds(columns->filter, &row)) {
			columns->passed++;
			if (columns_in_sample(number, columns->one_of))
				columns_put_row(columns, number);
		}
		if (clock_mono_ms() >= until)
			break;
	}
	int failed = query_end(columns->query);
	if (rc != 0 || failed < 0)
		return failed < 0 ? failed : rc;
	json_end(&columns->json);
	json_key_int(&columns->json, "total", columns->passed);
	json_end(&columns->json);
	return 0;
}

static int columns_read_names(struct columns *columns, const char *names, struct error *err)
{
	while (names && *names) {
		size_t len, column;
		char *name = query_take_name(names, &len);
		vec_push(&columns->names, name);
		if (columns->names.len > LIMIT_COLUMNS)
			return errorf(err, -EINVAL, "?of= names more than %d columns", LIMIT_COLUMNS);
		int rc = query_find(columns->query, name, &column, err);
		if (rc < 0)
			return rc;
		vec_push(&columns->wanted, column);
		names += len + (names[len] == ',');
	}
	return 0;
}

int store_json_columns(struct store *store, int64_t experiment, const struct store_columns *asked, struct pieces *ret,
		       struct error *err)
{
	struct columns *columns = mem_alloc(sizeof(*columns));
	int64_t last = 0;
	*columns = (struct columns){.experiment = experiment};
	columns->state = asked->state ? store_state_find(asked->state) : -1;
	columns->json = json_to(NULL);
	int rc = query_new(store, experiment, &columns->query);
	if (rc == 0)
		rc = columns_read_names(columns, asked->of, err);
	if (rc == 0)
		rc = query_parse(columns->query, asked->filter ? asked->filter : "", &columns->filter, err);
	if (rc == 0)
		rc = store_last_number(store, experiment, &last);
	if (rc < 0) {
		columns_free(columns);
		return rc;
	}
	columns->one_of = last > asked->most ? (last + asked->most - 1) / asked->most : 1;
	*ret = (struct pieces){columns_make, columns_free, columns};
	return 0;
}
